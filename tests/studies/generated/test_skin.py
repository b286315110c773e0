"""Photographs of skin with lesions whose box and outline are known."""

import csv

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from memclf.studies.generated import skin_photographs, write_skin
from memclf.studies.generated.skin import number_lesions, plan
from memclf.vision import ImageCollection
from memclf.vision.features import LesionFeatures

CLASSES = {"comedone", "papule_pustule", "nodule"}
BOX = ("x0", "y0", "x1", "y1")


def lesion_numbers(n, size=512, seed=0):
    """For each face an array: 0 for skin, else the number of the lesion."""
    return [number_lesions(size, plan(size, seed, index)[0]) for index in range(n)]


@pytest.fixture(scope="module")
def faces():
    photographs, lesions = skin_photographs(24)
    return photographs.loaded(), lesions


def crops(photographs, lesions):
    """Each lesion's surroundings, twice as wide as its box, with the box in them."""
    where = {photographs.key(i): photographs[i] for i in range(len(photographs))}
    images, info = [], []
    for lesion in lesions:
        x0, y0, x1, y1 = (lesion[side] for side in BOX)
        margin = max(x1 - x0, y1 - y0) // 2
        left, top = max(0, x0 - margin), max(0, y0 - margin)
        images.append(where[lesion["file"]][top : y1 + margin, left : x1 + margin])
        info.append({"face": lesion["face"], "x0": x0 - left, "y0": y0 - top, "x1": x1 - left, "y1": y1 - top})
    return ImageCollection(images, [lesion["label"] for lesion in lesions], info=info)


def test_skin_photographs__faces__have_several_lesions(faces):
    photographs, lesions = faces
    keys = [photographs.key(i) for i in range(len(photographs))]
    assert keys[:2] == ["face-000", "face-001"]
    counts = [sum(lesion["file"] == key for lesion in lesions) for key in keys]
    assert min(counts) >= 8
    assert max(counts) <= 30
    assert {lesion["label"] for lesion in lesions} == CLASSES


def test_skin_photographs__boxes__are_those_of_the_outlines(faces):
    _, lesions = faces
    numbered = dict(zip([f"face-{i:03d}" for i in range(24)], lesion_numbers(24), strict=True))
    for lesion in lesions:
        rows, columns = np.nonzero(numbered[lesion["file"]] == lesion["number"])
        box = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        assert [lesion[side] for side in BOX] == box


def test_skin_photographs__lesions__do_not_overlap():
    for size in (128, 512):
        _, lesions = skin_photographs(10, size=size, seed=5)
        for index, numbered in enumerate(lesion_numbers(10, size=size, seed=5)):
            own = [lesion["number"] for lesion in lesions if lesion["file"] == f"face-{index:03d}"]
            assert np.unique(numbered).tolist() == [0, *own]


def test_skin_photographs__skin__has_many_tones_redder_than_blue(faces):
    colours = np.array([np.median(image.reshape(-1, 3), axis=0) for image in faces[0]])
    assert np.all(np.diff(colours, axis=1) < 0)  # red over green over blue
    assert np.ptp(colours[:, 0]) > 80


def test_skin_photographs__one_face__depends_on_seed_and_number_alone(faces):
    photographs, lesions = faces
    few, theirs = skin_photographs(2)
    np.testing.assert_array_equal(few[1], photographs[1])
    np.testing.assert_array_equal(few[0], photographs[0])
    assert theirs == [lesion for lesion in lesions if lesion["file"] in ("face-000", "face-001")]
    np.testing.assert_array_equal(few.loaded(n_jobs=2)[1], photographs[1])


def test_skin_photographs__other_seed__has_other_names():
    """Sizes are relative to the face; a name that meant two faces would mix them."""
    first, second = (skin_photographs(2, seed=seed)[1] for seed in (0, 1))
    assert not {lesion["face"] for lesion in first} & {lesion["face"] for lesion in second}


def test_skin_photographs__features__tell_most_lesions_apart(faces):
    seen = crops(*faces)
    rows = LesionFeatures().transform(seen)
    train = np.array([int(info["face"].split("-")[1]) < 16 for info in seen.info])
    tree = DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, random_state=0).fit(rows[train], seen.labels[train])
    right = np.mean(tree.predict(rows[~train]) == seen.labels[~train])
    assert 0.6 < right < 0.85
    sizes = {label: np.median(rows[seen.labels == label, 0]) for label in CLASSES}
    assert sizes["comedone"] < sizes["papule_pustule"] < sizes["nodule"]


def test_skin_photographs__glare__occurs_in_every_class(faces):
    seen = crops(*faces)
    shining = LesionFeatures().transform(seen)[:, 2]
    for label in CLASSES:
        assert 0 < shining[seen.labels == label].mean() < 0.8


def test_write_skin__folder__loads_and_is_split_by_face(tmp_path):
    folder = write_skin(tmp_path / "skin", 3, 2, size=256, seed=4)
    with open(folder / "lesions.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["file", "split", "label", "face", *BOX]
    loaded = ImageCollection.from_csv(folder / "lesions.csv", where={"split": "train"})
    photographs, lesions = skin_photographs(5, size=256, seed=4)
    ours = [lesion for lesion in lesions if lesion["file"] < "face-003"]
    assert loaded.labels.tolist() == [lesion["label"] for lesion in ours]
    assert [[int(info[side]) for side in BOX] for info in loaded.info] == [[one[side] for side in BOX] for one in ours]
    assert np.abs(loaded[0].astype(int) - photographs[0]).mean() < 4
    train, test = ({row["face"] for row in rows if row["split"] == split} for split in ("train", "test"))
    assert (len(train), len(test)) == (3, 2)
    assert not train & test


def test_write_skin__masks__are_read_by_the_features(tmp_path):
    folder = write_skin(tmp_path, 2, 0, size=256, masks=True)
    loaded = ImageCollection.from_csv(folder / "lesions.csv")
    lesions = skin_photographs(2, size=256)[1]
    numbered = dict(zip(("face-000", "face-001"), lesion_numbers(2, size=256), strict=True))
    areas = [np.count_nonzero(numbered[lesion["file"]] == lesion["number"]) for lesion in lesions]
    features = LesionFeatures(root=folder)
    for position in (0, len(lesions) - 1):
        masks = features.masks(loaded[position], loaded.info[position])
        assert np.count_nonzero(masks["lesion"]) >= areas[position]  # a box may hold a corner of the next lesion
        assert np.count_nonzero(masks["lesion"]) < 1.2 * areas[position]


def test_skin_photographs__too_small__is_refused():
    with pytest.raises(ValueError, match="at least 128 x 128 pixels, got 64"):
        skin_photographs(1, size=64)
