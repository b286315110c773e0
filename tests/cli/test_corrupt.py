"""`memclf corrupt`: corrupted copies of folders, and the sheet."""

import hashlib
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from memclf.cli import app
from memclf.vision import corruptions
from memclf.vision.corruptions import CORRUPTIONS, corrupt, corrupt_folder
from memclf.vision.corruptions.folder import PART, SETTINGS

TWO = ["--corruption", "gaussian_noise", "--corruption", "contrast", "--severity", "1", "--severity", "5"]


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "leaves"
    for number, name in enumerate(["healthy/1.png", "healthy/2.jpg", "rust/a b/3.png"]):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(number).integers(0, 256, (40, 50, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(made / name)
    (made / "labels.csv").write_text("id,label\n")
    return made


def run(*arguments):
    return CliRunner().invoke(app, ["corrupt", *map(str, arguments)])


def contents(out):
    files = (path for path in out.rglob("*") if path.is_file() and path.name != SETTINGS)
    return {path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_corrupt__folder__has_every_image_under_every_condition(folder, tmp_path):
    shown = run(folder, "--out", tmp_path / "out", *TWO)
    assert shown.exit_code == 0, shown.output
    assert "12 files written, 0 were there already" in shown.output
    names = ["healthy/1.png", "healthy/2.png", "rust/a b/3.png"]
    wanted = {f"{c}/{s}/{name}" for c in ("gaussian_noise", "contrast") for s in (1, 5) for name in names}
    assert set(contents(tmp_path / "out")) == wanted


def test_corrupt__copy__has_the_pixels_of_the_library(folder, tmp_path):
    run(folder, "--out", tmp_path / "out", *TWO, "--seed", 4)
    clean = np.asarray(Image.open(folder / "rust/a b/3.png"))
    copy = np.asarray(Image.open(tmp_path / "out/gaussian_noise/5/rust/a b/3.png"))
    np.testing.assert_array_equal(copy, corrupt(clean, "gaussian_noise", 5, seed=4, key="rust/a b/3.png"))


def test_corrupt__other_workers_or_place__same_files(folder, tmp_path):
    run(folder, "--out", tmp_path / "one", *TWO)
    moved = folder.rename(tmp_path / "elsewhere")
    assert run(moved, "--out", tmp_path / "two", *TWO, "--workers", 2).exit_code == 0
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_corrupt__quality__gives_jpeg(folder, tmp_path):
    assert run(folder, "--out", tmp_path / "out", *TWO, "--quality", 85).exit_code == 0
    with Image.open(tmp_path / "out/contrast/1/healthy/1.jpg") as image:
        assert image.format == "JPEG"
    shown = run(folder, "--out", tmp_path / "out2", *TWO, "--quality", 101)
    assert shown.exit_code == 1
    assert "quality must be from 1 to 100, or None for PNG, got 101" in shown.output


def test_corrupt__second_run__writes_only_new_conditions(folder, tmp_path):
    out = tmp_path / "out"
    run(folder, "--out", out, *TWO)
    before = contents(out)
    assert "0 files written, 12 were there already" in run(folder, "--out", out, *TWO).output
    assert (
        "3 files written, 0 were there already"
        in run(folder, "--out", out, "--corruption", "fog", "--severity", 2).output
    )
    assert before.items() < contents(out).items()


def test_corrupt__changed_image__is_corrupted_again(folder, tmp_path):
    out = tmp_path / "out"
    run(folder, "--out", out, *TWO)
    later = time.time() + 10
    os.utime(folder / "healthy/1.png", (later, later))
    assert "4 files written, 8 were there already" in run(folder, "--out", out, *TWO).output


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (["--seed", "1"], "begun with seed=0; this run has seed=1"),
        (["--preset", "cifar-32"], "begun with preset='imagenet-c'; this run has preset='cifar-32'"),
        (["--quality", "85"], "begun with quality=None; this run has quality=85"),
    ],
)
def test_corrupt__other_settings__are_refused(folder, tmp_path, changed, message):
    out = tmp_path / "out"
    run(folder, "--out", out, *TWO)
    before = contents(out)
    shown = run(folder, "--out", out, *TWO, *changed)
    assert shown.exit_code == 1
    assert message in shown.output
    assert "must not be mixed" in shown.output
    assert contents(out) == before


def test_corrupt__other_source_or_lost_settings__is_refused(folder, tmp_path):
    out = tmp_path / "out"
    run(folder, "--out", out, *TWO)
    moved = folder.rename(tmp_path / "elsewhere")
    shown = run(moved, "--out", out, *TWO)
    assert shown.exit_code == 1
    assert "this run has source=" in shown.output
    (out / SETTINGS).write_text("[]")
    assert "must not be mixed" in run(moved, "--out", out, *TWO).output
    (out / SETTINGS).write_text("{")
    assert "is no file of settings" in run(moved, "--out", out, *TWO).output
    (out / SETTINGS).unlink()
    shown = run(moved, "--out", out, *TWO)
    assert shown.exit_code == 1
    assert f"no {SETTINGS} that says how they were made" in shown.output


def test_corrupt__broken_or_small_image__is_named(folder, tmp_path):
    (folder / "rust" / "broken.png").write_bytes(b"no image")
    Image.new("RGB", (20, 90)).save(folder / "rust" / "small.png")
    shown = run(folder, "--out", tmp_path / "out", *TWO)
    assert shown.exit_code == 1
    assert "12 files written" in shown.output
    assert "2 images failed" in shown.output
    assert "broken.png is not an image" in shown.output
    assert "small.png: an image to corrupt must be at least 32 pixels a side" in shown.output


def test_corrupt__killed_run__leaves_no_half_file_and_goes_on(folder, tmp_path):
    for number in range(77):
        (folder / "rust" / f"{number}.png").write_bytes((folder / "healthy/1.png").read_bytes())
    out = tmp_path / "out"
    command = [sys.executable, "-m", "memclf.cli", "corrupt", str(folder), "--out", str(out), *TWO]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(list(out.glob("*/*/*/*.png"))) < 20 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    half_way = contents(out)
    assert 20 <= len(half_way) < 4 * 80
    for path in out.rglob("[!.]*.png"):
        Image.open(path).load()  # whatever bears a final name is whole
    stale = out / "contrast" / "1" / "rust" / f".0.png{PART}"
    stale.parent.mkdir(parents=True, exist_ok=True)
    stale.write_bytes(b"half")

    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{4 * 80 - sum(not name.endswith(PART) for name in half_way)} files written" in done.stdout
    assert not stale.exists()
    assert run(folder, "--out", tmp_path / "in one go", *TWO).exit_code == 0
    assert contents(out) == contents(tmp_path / "in one go")


def test_corrupt__interrupted_run__says_how_to_go_on(folder, tmp_path, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(corruptions, "corrupt_folder", interrupted)
    shown = run(folder, "--out", tmp_path / "out", *TWO)
    assert shown.exit_code == 130
    assert "stopped; the same command goes on from here" in shown.output


def test_corrupt__wrong_arguments__are_explained(folder, tmp_path):
    out = tmp_path / "out"
    assert "Did you mean 'snow'?" in run(folder, "--out", out, "--corruption", "snw").output
    assert "severity must be 1, 2, 3, 4 or 5, got 6" in run(folder, "--out", out, "--severity", 6).output
    assert "there is no folder" in run(tmp_path / "nothing", "--out", out).output
    assert "the next run would corrupt" in run(folder, "--out", folder / "out").output
    assert (
        "textures of frost must be images in a folder"
        in run(folder, "--out", out, "--texture-dir", tmp_path / "nothing").output
    )
    for arguments in ([folder], ["--out", out], [folder, "--sheet", folder, "--out", out]):
        shown = run(*arguments)
        assert shown.exit_code == 2
        assert "give FOLDER and --out FOLDER, or --sheet IMAGE and --out FILE" in shown.output
    assert not out.exists()
    (tmp_path / "empty").mkdir()
    assert "holds no images" in run(tmp_path / "empty", "--out", out).output
    with pytest.raises(ValueError, match="at least one corruption and one severity"):
        corrupt_folder(folder, out, corruptions=[])


def test_corrupt__two_images_for_one_file__are_refused(folder, tmp_path):
    Image.new("RGB", (40, 40)).save(folder / "healthy" / "1.bmp")
    shown = run(folder, "--out", tmp_path / "out", *TWO)
    assert shown.exit_code == 1
    assert "healthy/1.bmp and healthy/1.png" in shown.output
    assert "would both become healthy/1.png" in shown.output


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_corrupt__sheet__shows_one_image_under_all_conditions(folder, tmp_path, suffix):
    shown = run("--sheet", folder / "healthy/1.png", "--out", tmp_path / f"sheet{suffix}")
    assert shown.exit_code == 0, shown.output
    with Image.open(tmp_path / f"sheet{suffix}") as sheet:
        assert sheet.size[0] > 10 * 128
        assert sheet.size[1] > (len(CORRUPTIONS) // 2) * 128


def test_corrupt__sheet_of_wrong_file__is_refused(folder, tmp_path):
    shown = run("--sheet", folder / "none.png", "--out", tmp_path / "sheet.png")
    assert shown.exit_code == 1
    assert "none.png cannot be read" in shown.output
    assert (
        "a sheet is written as .png or .jpg"
        in run("--sheet", folder / "healthy/1.png", "--out", tmp_path / "sheet.svg").output
    )
