"""Run the examples and keep what each printed and drew, for the gallery of the site (`make gallery`).

`python tools/gallery.py [FOLDER]` runs every script in examples/, several at once, and keeps NAME.txt, NAME.png and
NAME.json (seconds of processor time, and the key below) in FOLDER, .gallery by default. An example runs again only
where it, memclf or Python changed. If one fails, so does this, and its error is shown. tools/site_pages.py makes the
pages.
"""

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
STYLE = Path(__file__).with_name("gallery.matplotlibrc")
KEPT = ROOT / ".gallery"
LONGEST = 600  # seconds on the clock, on a machine that others use as well
LIMIT = 60  # seconds of processor time; beyond it is said, and no failure, since processors differ


def list_examples() -> list[Path]:
    """The scripts of the gallery."""
    return sorted(EXAMPLES.glob("*.py"))


def make_key(example: Path) -> str:
    """What the output of an example hangs on: the script, its style, the source of memclf, and Python."""
    found = hashlib.sha256(sys.version.encode())
    for file in [example, STYLE, *sorted((ROOT / "src").rglob("*.py")), *sorted((ROOT / "src").rglob("*.csv"))]:
        found.update(os.path.relpath(file, ROOT).encode() + file.read_bytes())
    return found.hexdigest()


def run_example(example: Path, folder: Path = KEPT) -> str:
    """Run one example unless its output is there; returns one line that says how it went."""
    about, key = folder / f"{example.stem}.json", make_key(example)
    picture, printed, errors = (folder / f"{example.stem}.{ending}" for ending in ("png", "txt", "err"))
    if about.is_file() and json.loads(about.read_text(encoding="utf-8"))["key"] == key:
        return f"{example.stem}: kept from an earlier run"
    for file in (about, picture):
        file.unlink(missing_ok=True)
    setting = {**os.environ, "MATPLOTLIBRC": str(STYLE), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(example), "--picture", str(picture)]
    with open(printed, "w") as out, open(errors, "w") as err:
        process = subprocess.Popen(command, env=setting, stdout=out, stderr=err)
        patience = Timer(LONGEST, process.kill)
        patience.start()
        _, status, used = os.wait4(process.pid, 0)  # tells what this child took, and its own children
        process.returncode = os.waitstatus_to_exitcode(status)
        patience.cancel()
    if process.returncode or not picture.is_file():
        said = printed.read_text(encoding="utf-8") + errors.read_text(encoding="utf-8")
        raise RuntimeError(f"examples/{example.name} failed (exit code {process.returncode}):\n{said}")
    seconds = used.ru_utime + used.ru_stime
    about.write_text(json.dumps({"seconds": round(seconds, 1), "key": key}), encoding="utf-8")
    slow = f", more than the {LIMIT} s that an example should take" if seconds > LIMIT else ""
    return f"{example.stem}: {seconds:.0f} s of processor time{slow}"


def main(folder: Path) -> int:
    """Run all examples; returns how many failed."""
    folder.mkdir(exist_ok=True, parents=True)
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for future in [pool.submit(run_example, example, folder) for example in list_examples()]:
            try:
                print(future.result(), flush=True)
            except RuntimeError as error:
                failed += 1
                print(error, file=sys.stderr, flush=True)
    return failed


if __name__ == "__main__":
    raise SystemExit(bool(main(Path(sys.argv[1]) if sys.argv[1:] else KEPT)))
