"""What all studies have in common: generated or real images, and a hash of them."""

import csv
import shutil

import numpy as np
import pytest
from PIL import Image

from memclf.exceptions import StudyError
from memclf.studies import load_study, settings_for
from memclf.studies.run import run_study
from memclf.vision.features import PatchColour


@pytest.mark.parametrize("name", ["color", "leaf", "acne"])
def test_load_study__generated_images__say_so_and_do_not_overlap(name):
    study = load_study(settings_for(name, n_train=20, n_test=6))
    assert study.source == "generated"
    assert "generated" in study.note.lower()
    train = {np.ascontiguousarray(image).tobytes() for image in study.train}
    assert not train & {np.ascontiguousarray(image).tobytes() for image in study.test}
    assert study.digest() == load_study(settings_for(name, n_train=20, n_test=6)).digest()
    assert study.digest() != load_study(settings_for(name, n_train=20, n_test=7)).digest()


def test_digest__one_image_or_box_changed__is_another(leaves, skin, tmp_path):
    folder = tmp_path / "leaves"
    shutil.copytree(leaves, folder)
    before = load_study(settings_for("leaf", data=str(folder))).digest()
    victim = sorted((folder / "leaf").iterdir())[17]
    Image.new("RGB", (128, 64), "red").save(victim)
    assert load_study(settings_for("leaf", data=str(folder))).digest() != before
    folder = tmp_path / "skin"
    shutil.copytree(skin, folder)
    before = load_study(settings_for("acne", data=str(folder))).digest()
    with open(folder / "lesions.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    rows[-1]["x0"] = str(int(rows[-1]["x0"]) - 1)
    lines = [",".join(row.values()) for row in rows]
    (folder / "lesions.csv").write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
    assert load_study(settings_for("acne", data=str(folder))).digest() != before


def test_load_study__other_images__do_not_pass_for_the_public_ones(leaves, skin, tmp_path):
    made = load_study(settings_for("leaf", data=str(leaves)))
    assert made.source == "generated"
    folder = tmp_path / "mine"
    shutil.copytree(leaves, folder)
    (folder / "GENERATED.txt").unlink()
    mine = load_study(settings_for("leaf", data=str(folder)))
    assert (mine.source, "Esgario" in mine.note) == ("real", False)
    assert load_study(settings_for("acne", data=str(skin))).source == "generated"


@pytest.mark.parametrize("name", ["color", "acne"])
def test_make__textures__frost_is_made_of_them(name, tmp_path):
    Image.new("RGB", (80, 80), (0, 0, 250)).save(tmp_path / "blue.png")
    asked = {"n_train": 20, "n_test": 5, **({"patch_size": 64} if name == "color" else {})}
    plain = load_study(settings_for(name, **asked))
    blue = load_study(settings_for(name, textures=str(tmp_path), **asked))
    assert str(tmp_path) in blue.note
    frosted, usual = blue.make("frost", 5)[0].astype(int), plain.make("frost", 5)[0].astype(int)
    assert np.mean(frosted[..., 2] - frosted[..., 0]) > np.mean(usual[..., 2] - usual[..., 0]) + 50
    np.testing.assert_array_equal(blue.make("contrast", 5)[0], plain.make("contrast", 5)[0])


def test_run_study__broken_images__are_named_before_training(leaves, tmp_path):
    folder = tmp_path / "leaves"
    shutil.copytree(leaves, folder)
    for name in ("3", "45"):
        (folder / "leaf" / f"{name}.jpg").write_bytes(b"no picture")
    with pytest.raises(StudyError, match="1 images cannot be read.*3.jpg"):
        run_study(settings_for("leaf", data=str(folder)), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_cached__loaded_again__pays_nothing_for_clean_and_corrupted_images(tmp_path, monkeypatch):
    looks = []
    measure = PatchColour.measure
    monkeypatch.setattr(PatchColour, "measure", lambda self, *given: looks.append(1) or measure(self, *given))

    def describe_all():
        data = load_study(settings_for("color", n_train=20, n_test=6)).cached(tmp_path)
        found = [PatchColour().fit_transform(each) for each in (data.train, data.test, data.make("contrast", 3))]
        return np.concatenate(found), len(looks)

    first, paid = describe_all()
    again, paid_again = describe_all()
    assert (paid, paid_again) == (20 + 6 + 6, 20 + 6 + 6)
    assert np.array_equal(first, again)
