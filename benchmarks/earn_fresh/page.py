"""The page of the fresh tables: means, intervals, auto beside its parts and an oracle, all numbers."""

from __future__ import annotations

from pathlib import Path

from earn_page import Results, against_parts, all_scores, describe_data, mean_gain, means, say_oracle

from . import DATASETS


def write_page(folder: Path, docs: Path) -> None:
    """Write ``earn_fresh.md`` into the folder of the docs."""
    results = Results(folder, DATASETS)
    parts, verdict = against_parts(results)
    seeds = " ".join(map(str, results.seeds))
    (docs / "earn_fresh.md").write_text(
        f"""# {len(results.data)} fresh tables

The [benchmark](earn.md) may flatter `answer="auto"`: earlier forms of it had been run on those data when three of its
rules were written. So {len(results.data)} more tables were collected after auto was finished, each with a shift that
came about by itself: another sex, year, region, school or brand. The expert's similarity of each was written from the
meaning of its columns before any classifier was run, and none was changed. Accuracy / balanced accuracy in %.

Made by `python benchmarks/earn.py --fresh --out runs/fresh --seeds {seeds}` and
`python benchmarks/earn.py --fresh --out runs/fresh --page docs` (`pip install "memclf[earn]"`).

## Means over the tables

{means(results)}

{mean_gain(results)}

Intervals are over tables (bootstrap, 95 %). [The benchmark](earn.md) says who the contenders are and what the columns
mean.

## Auto beside the best of its parts

In brackets: auto minus the best of plain, stage 1 and paper on that column, with a paired 95 % interval over test
cases. **!** marks what is more than 1.5 points and surely behind.

{parts}

{verdict}

{say_oracle(results)}

## What was tried and not taken

Six changes of auto were tried on what all parts say about these tables (seed 0). None was taken, because none cut the
losses, and none moved more than one of the four means by more than chance: folds that hold out the upper or lower
part of a column, or a category, as further shifts to learn from; two beliefs, one learned on cases as they are and
one on shifted ones, with a gate that goes by strangeness, distance, doubt and disagreement; all fits of the folds
answering together; a forest on the columns that the expert compares, as a further part; weighing rare classes up less
on strange and far cases; and letting that cost no accuracy on shifted cases either.

## All numbers, cases like training

{all_scores(results, "test")}

## All numbers, shifted

{all_scores(results, "shifted")}

## The tables

{describe_data(results, DATASETS)}
"""
    )
