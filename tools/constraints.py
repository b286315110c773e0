"""The two lists of versions that the Makefile installs with: `python tools/constraints.py oldest | tested`.

`oldest` prints every lower bound of pyproject.toml as an exact version (for `make test-oldest`); nothing else says what
they are, so the test and the promise cannot disagree. `tested` prints the versions of everything that is installed
beside the Python that runs this (for `make lock`).
"""

import platform
import re
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
OURS = {PROJECT["name"], "pip", "setuptools", "wheel"}  # the project itself and what comes with a new venv
HEADER = """\
# The versions that the tests ran with. `make lock` wrote this file, with Python {python} on {system} {machine}.
# They are constraints: pip installs none of them unless something asks for it, so packages for Linux alone (nvidia-*,
# triton) do no harm elsewhere. Where a version does not exist for your Python or machine, do without them:
# `make clean`, then `make CONSTRAINTS= test`."""


def oldest() -> list[str]:
    """`name==bound` for each `name>=bound` or `name==bound` in the dependencies and extras."""
    extras = PROJECT["optional-dependencies"].values()
    pins = set()
    for requirement in sum(extras, PROJECT["dependencies"]):
        if requirement.startswith(f"{PROJECT['name']}["):  # an extra that names other extras
            continue
        bound = re.fullmatch(r"([\w.-]+)[>=]=([\d.]+)", requirement)
        if not bound:
            raise SystemExit(f"pyproject.toml gives no plain lower bound for {requirement!r}")
        pins.add(f"{bound[1]}=={bound[2]}")
    return sorted(pins)


def tested() -> list[str]:
    """`name==version` for everything that is installed, below a header."""
    header = HEADER.format(python=platform.python_version(), system=platform.system(), machine=platform.machine())
    found = {re.sub(r"[-_.]+", "-", each.name).lower(): each.version for each in distributions()}
    return [header, *(f"{name}=={found[name]}" for name in sorted(found.keys() - OURS))]


if __name__ == "__main__":
    ways = {"oldest": oldest, "tested": tested}
    if sys.argv[1:2] not in [[way] for way in ways]:
        raise SystemExit(__doc__)
    print("\n".join(ways[sys.argv[1]]()))
