"""Kinds of cases, their names, and the data in one sentence."""

import numpy as np
import pytest
import scipy.sparse as sp
from PIL import Image

from memclf.evaluate.kinds import describe_data, has_own_names, kind_of, name_cases, shorten
from memclf.vision import ImageCollection

IMAGES = np.zeros((3, 32, 40, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (ImageCollection(IMAGES), "images"),
        (IMAGES, "images"),
        (list(IMAGES), "images"),
        (np.zeros((3, 2)), "table"),
        (sp.csr_array(np.eye(3)), "table"),
        ([[1.0, 2.0], [3.0, 4.0]], "table"),
        (["a", "b"], "texts"),
        (np.array(["a", "b"]), "texts"),
        (np.array(["a", "b"], dtype=object), "texts"),
        ([{1, 2}, {3}], "cases"),
        ([], "cases"),
    ],
)
def test_kind_of__container__is_recognised(X, kind):
    assert kind_of(X) == kind


def test_name_cases__table__row_labels_name_the_rows():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": [1.0, 2.0]}, index=["Ann", "Ben"])
    assert name_cases(frame) == ["Ann", "Ben"]
    assert name_cases(frame.reset_index(drop=True)[1:]) == ["row 1"]
    assert kind_of(frame) == "table"
    assert describe_data(frame) == "rows of a table with 1 columns: size"


def test_name_cases__images__files_name_themselves(tmp_path):
    for name in ("a.png", "b.png"):
        Image.fromarray(IMAGES[0]).save(tmp_path / name)
    images = ImageCollection(tmp_path)
    assert name_cases(images) == ["a.png", "b.png"]
    assert has_own_names(images)
    assert name_cases([tmp_path / "a.png"]) == ["a.png"]
    assert name_cases(ImageCollection(IMAGES)) == ["image 0", "image 1", "image 2"]
    assert not has_own_names(ImageCollection(IMAGES))


def test_name_cases__texts__begin_of_the_text_is_the_name():
    (name,) = name_cases(["word " * 40])
    assert name.startswith("word word")
    assert name.endswith("…")
    assert len(name) <= 60


def test_shorten__word_without_spaces__is_cut_all_the_same():
    assert shorten("x" * 100, 20) == "x" * 19 + " …"


def test_describe_data__images_of_several_sizes__tells_the_range():
    images = [np.zeros((20, 30, 3), dtype=np.uint8), np.zeros((40, 30, 3), dtype=np.uint8)]
    assert describe_data(images) == "images, 30 pixels wide and 20 to 40 high"
