"""Write generated coffee leaves into a folder with one subfolder per grade: data for trying things out.

python tools/generated_leaves.py FOLDER [--count 240] [--seed 0]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from memclf.studies.generated import leaf_pictures
from memclf.vision.files import encode_png

HEIGHT, WIDTH = 192, 384


def write_leaves(folder: Path, count: int, seed: int) -> None:
    """Write the leaves; those that are there already are left as they are."""
    leaves = leaf_pictures(count, height=HEIGHT, width=WIDTH, seed=seed)
    for number, grade in enumerate(leaves.labels.tolist()):
        place = folder / f"grade {grade}" / f"leaf{number:04d}.png"
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(encode_png(leaves[number]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=240)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    write_leaves(given.folder, given.count, given.seed)
