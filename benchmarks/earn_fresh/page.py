"""The page of the fresh tables: means, intervals, auto beside its parts and an oracle, all numbers."""

from __future__ import annotations

from pathlib import Path

from earn_page import (
    SURELY,
    Results,
    against_parts,
    all_scores,
    describe_data,
    mean_gain,
    means,
    say_as_asked,
    say_oracle,
)

from . import DATASETS


def write_page(folder: Path, docs: Path) -> None:
    """Write ``earn_fresh.md`` into the folder of the docs."""
    results = Results(folder, DATASETS)
    parts, verdict = against_parts(results)
    seeds = " ".join(map(str, results.seeds))
    (docs / "earn_fresh.md").write_text(
        f"""# {len(results.data)} further tables

The [benchmark](earn.md) may flatter `answer="auto"`: earlier forms of it had been run on those data when three of its
rules were written. So {len(results.data)} more tables were collected after auto was finished, each cut by a column
that means something: sex, year, region, school, brand, class. They were to help to develop auto further; changes
were tried on them and none was taken (below). Since then two faults of auto were mended: of several thousand
held-out cases it learned from every second or third in the order of the file, and the product was judged on cases
that it had seen with their memories taken away. The rows are of auto without them; no mean moved by more than 0.2.

The expert's similarity of each table was written from the meaning of its columns before any classifier was run, and no
similarity was changed. After plain classifiers had been run on cases like training, three tables were mended: a wrong
class in diamonds; guests of an unknown country (hotel) and designated hitters (baseball) left out. In continents and
storms the same country or storm is in training and test, so that "like training" is easy there. Accuracy / balanced
accuracy in %.

Made by `python benchmarks/earn.py --fresh --out runs/fresh --seeds {seeds}` and
`python benchmarks/earn.py --fresh --out runs/fresh --page docs` (`pip install "memclf[earn]"`).

## Means over the tables

{means(results)}

{mean_gain(results)}

Intervals are over tables (bootstrap, 95 %). [The benchmark](earn.md) says who the contenders are and what the columns
mean.

## Auto beside the best of its parts

In brackets: auto minus the best of plain, stage 1 and paper on that column, with a paired 95 % interval over test
cases. {SURELY}

{parts}

{verdict}

{say_as_asked(results)}

{say_oracle(results)}

## What was tried and not taken

Six kinds of changes of auto were tried, in about a dozen variants, on what all parts say about these tables (seed 0).
None was taken: none raised more than one of the four means by more than chance, and all but one left as many or more
losses (the fifth kind had one fewer, for half a point of balanced accuracy).

- Further shifts to learn from: folds that hold out the upper or lower part of a column, or a category.
- Two ways to combine the parts, one learned on cases as they are and one on shifted ones. How strange and far a case
  is, how sure the classifier is and whether the labels agree with it say which of the two counts.
- The fits of all folds answer together.
- A forest on the columns that the expert compares, as a further part.
- Rare classes are weighed up less where a case is strange or far.
- Rare classes are weighed up only as far as it costs no more than a point of accuracy on shifted cases, too.

## All numbers, cases like training

{all_scores(results, "test")}

## All numbers, shifted

{all_scores(results, "shifted")}

## The tables

{describe_data(results, DATASETS)}
"""
    )
