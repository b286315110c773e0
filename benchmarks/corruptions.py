"""Corruptions of memclf beside those of imagecorruptions-imaug, the maintained copy of imagecorruptions.

Both get the same images of 448 x 224 pixels, as uint8 arrays, through their public `corrupt`, with all defaults: memclf
therefore also hashes the pixels of each image to seed its draw. Each side runs in a process of its own with one thread.
For every corruption and severity the two take turns, a few calls each, until both have made `--calls` calls; the first
call of each is not counted (the peer compiles glass blur then, memclf fills its tables). Times are medians over the
calls, averaged over the five severities.

The peer wants opencv-python, which cannot live beside the opencv-contrib-python-headless of memclf. So give it an
environment of its own and say where:

    python -m venv /tmp/peer && /tmp/peer/bin/pip install imagecorruptions-imaug
    python benchmarks/corruptions.py --peer /tmp/peer/bin/python
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version

PAPER = (
    "fog", "brightness", "contrast", "elastic_transform", "pixelate", "jpeg_compression",
    "speckle_noise", "gaussian_blur", "spatter", "saturate", "gaussian_noise", "shot_noise",
    "impulse_noise", "defocus_blur", "zoom_blur", "frost", "motion_blur", "snow",
)  # fmt: skip
SHAPE = (448, 224)
TURN = 3  # calls in a row
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def images(count=4):
    """Coloured noise with the spectrum of photographs (1/f), the same in both processes."""
    import numpy as np

    rng = np.random.default_rng(0)
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(SHAPE[1]), np.fft.fftfreq(SHAPE[0])))
    frequency[0, 0] = 1
    made = []
    for _ in range(count):
        waves = np.fft.fft2(rng.normal(size=(3, *SHAPE))) / frequency
        picture = np.fft.ifft2(waves).real
        picture = picture + picture.mean(axis=0)  # channels of photographs go together
        picture = 128 + 60 * (picture - picture.mean()) / picture.std()
        made.append(np.ascontiguousarray(np.clip(picture, 0, 255).astype(np.uint8).transpose(1, 2, 0)))
    return made


def serve(side):
    """Answer requests on standard input: calls of one condition, timed one by one."""
    import cv2
    import numpy

    cv2.setNumThreads(1)
    if side == "memclf":
        from memclf.vision.corruptions import corrupt as function

        package = "memclf"
    else:
        from imagecorruptions import corrupt as peer

        package = "imagecorruptions-imaug"

        def function(image, name, severity):
            return peer(image, severity=severity, corruption_name=name)

    pictures = images()
    print(json.dumps(f"{package} {version(package)}, numpy {numpy.__version__}, OpenCV {cv2.__version__}"), flush=True)
    for line in sys.stdin:
        name, severity, calls = json.loads(line)
        seconds = []
        for number in range(calls):
            picture = pictures[number % len(pictures)]
            start = time.perf_counter()
            function(picture, name, severity)
            seconds.append(time.perf_counter() - start)
        print(json.dumps(seconds), flush=True)


class Side:
    """A process that runs one of the two."""

    def __init__(self, python, side):
        command = [python, os.path.abspath(__file__), "--serve", side]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **ONE_THREAD}
        )
        self.versions = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        while line and not line.startswith(("[", '"')):  # the peer prints remarks of its own
            line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{' '.join(self.process.args)} has ended; see the head of this file for the peer")
        return json.loads(line)

    def calls(self, name, severity, count):
        self.process.stdin.write(json.dumps([name, severity, count]) + "\n")
        self.process.stdin.flush()
        return self.answer()


def measure(sides, name, calls):
    """Milliseconds of memclf and of the peer, means over the severities of medians over the calls."""
    from statistics import mean, median

    medians = ([], [])
    for severity in range(1, 6):
        seconds = ([], [])
        for side in sides:
            side.calls(name, severity, 1)
        while len(seconds[0]) < calls:
            for side, found in zip(sides, seconds, strict=True):
                found += side.calls(name, severity, TURN)
        for found, kept in zip(seconds, medians, strict=True):
            kept.append(1000 * median(found))
    return mean(medians[0]), mean(medians[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default=sys.executable, help="Python of the environment that holds the peer")
    parser.add_argument("--calls", type=int, default=15, help="counted calls per condition and side")
    parser.add_argument("--quick", action="store_true", help="three calls per condition")
    parser.add_argument("--json", help="keep the table in this file")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)

    ours, theirs = sides = Side(sys.executable, "memclf"), Side(options.peer, "peer")
    print(
        f"Python {platform.python_version()}; {os.cpu_count()} cores, one thread each; {SHAPE[0]} x {SHAPE[1]} pixels"
    )
    print(f"{ours.versions}\n{theirs.versions}\n")
    print(f"{'corruption':18}  {'memclf ms':>9}  {'peer ms':>8}  {'ratio':>6}")
    table = {}
    for name in (*PAPER, "glass_blur"):
        mine, peer = table[name] = measure(sides, name, 3 if options.quick else options.calls)
        print(f"{name:18}  {mine:9.2f}  {peer:8.2f}  {peer / mine:5.1f}x", flush=True)
    mine, peer = (sum(table[name][column] for name in PAPER) for column in (0, 1))
    ratios = [table[name][1] / table[name][0] for name in PAPER]
    print(f"\nthe 18 of the paper: {mine:.1f} ms beside {peer:.1f} ms, {peer / mine:.1f} times faster in total;")
    print(f"mean of the ratios {sum(ratios) / 18:.1f}, smallest {min(ratios):.1f} ({PAPER[ratios.index(min(ratios))]})")
    if options.json:
        with open(options.json, "w") as stream:
            json.dump({"versions": [ours.versions, theirs.versions], "ms": table}, stream, indent=2)
    return None


if __name__ == "__main__":
    main()
