"""Measurements joins features, measure makes one of a function, and both can be saved."""

import importlib
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import memclf
from memclf.exceptions import UntrustedTypeError
from memclf.similarity import RBFSimilarity, TreeSimilarity
from memclf.vision import ImageCollection
from memclf.vision.features import (
    ColourOf,
    CountOf,
    ImageFeatures,
    LesionFeatures,
    Measurements,
    PlaceOf,
    ShapeOf,
    SharpnessOf,
    TextureOf,
    measure,
)
from scenes import lit, numbers, scene

IMAGES = [scene(n, seed=n) for n in range(4)]


@measure
def redness(image):
    """How red a picture is, and where."""
    red = image[:, :, 0].astype(int) - image[:, :, 1]
    return {"mean_redness": red.mean() / 255, "red part": red > 20}


class Regions(ImageFeatures):
    """Counts how often it looks for regions."""

    names = ("seen",)

    def __init__(self):
        self.calls = []

    def measure(self, image, info):
        return [1.0]

    def masks(self, image, info=None):
        self.calls.append(1)
        mask = np.zeros(image.shape[:2], dtype=bool)
        mask[60:140, 60:200] = True
        return {"middle": mask}

    def trust(self, X):
        return np.full(len(X), 0.4)


def everything():
    return Measurements(
        [ColourOf(), ShapeOf(), TextureOf("foreground"), PlaceOf(part="reddest"), CountOf(kind="red"), SharpnessOf()]
    )


# ------------------------------------------------------------------------------------------------------- Measurements


def test_measurements__several__are_side_by_side_as_each_alone():
    together = everything()
    alone = [each.transform(IMAGES) for each in together.measurements]
    np.testing.assert_allclose(together.transform(IMAGES), np.hstack(alone), rtol=1e-6, atol=1e-9)
    assert together.names == sum((each.names for each in together.measurements), ())
    assert list(together.get_feature_names_out()) == list(together.names)


def test_measurements__regions_of_several__are_looked_for_once_per_image():
    regions = Regions()
    features = Measurements([kind("middle", regions=regions) for kind in (ColourOf, ShapeOf, CountOf)])
    features.transform(IMAGES)
    assert len(regions.calls) == len(IMAGES)
    np.testing.assert_array_equal(features.trust(IMAGES), [0.4] * 4)


def test_measurements__remembered_images__are_measured_once():
    log = []

    @measure(names=["n"])
    def counting(image):
        log.append(1)
        return {"n": 1.0}

    images = ImageCollection(IMAGES).remembered()
    first = Measurements([counting, ColourOf()])
    for features in (first, clone(first), Measurements([counting, ColourOf()], n_jobs=2)):
        features.transform(images)
        features.trust(images)
        features.inspect(images)
    assert len(log) == len(IMAGES)


def test_measurements__other_features__join_with_details_signs_and_relations():
    box = {"x0": 30, "y0": 30, "x1": 60, "y1": 60}
    images = ImageCollection(IMAGES, info=[{**box, "x1": 60 + 10 * k} for k in range(4)])
    lesion = LesionFeatures()
    features = Measurements([ColourOf(), lesion, redness]).fit(images)
    assert features.names[-4:] == (*LesionFeatures.names, "mean_redness")
    alone = LesionFeatures().fit(images)
    np.testing.assert_allclose(features.transform(images)[:, -4:-1], alone.transform(images))
    np.testing.assert_allclose(features.inspect(images)[:, -21:], alone.inspect(images)[:, -21:])
    assert features.relates
    assert "median_" not in vars(lesion)  # what was given is not fitted itself
    assert features.trust(images).shape == (4,)


def test_measurements__taught_regions__are_not_fitted_again():
    class Taught(Regions):
        def fit(self, X, y=None):
            raise AssertionError("nobody asked for this")

    regions = Taught()
    features = Measurements([regions, ColourOf("middle", regions=regions)]).fit(IMAGES, [0, 1, 0, 1])
    assert features.transform(IMAGES).shape == (4, 13)


def test_measurements__overlay__shows_the_masks_of_all():
    masks = everything().masks(IMAGES[3])
    assert {"foreground", "around foreground", "red blobs", "reddest", "edges"} <= set(masks)
    assert all(mask.shape == IMAGES[3].shape[:2] and mask.dtype == bool for mask in masks.values())
    assert everything().overlay(IMAGES[3]).shape[0] > IMAGES[3].shape[0]


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ([], ValueError, r"Measurements needs at least one measurement, as Measurements\(\[ColourOf\(\)\]\)"),
        ([ColourOf], TypeError, r"takes features of images, got <class .*ColourOf.*; call it: ColourOf\(\)"),
        ([len], TypeError, r"takes features of images, got .*; for your own function: measure\(f\)"),
        ([ColourOf(), ColourOf()], ValueError, "two measurements give the number 'foreground_lightness_low'; leave"),
        ([CountOf(kind="rde")], ValueError, "The 'kind' parameter of CountOf must be a str among"),
        ("colour", ValueError, "The 'measurements' parameter of Measurements must be an instance of 'list'"),
    ],
)
def test_measurements__wrong_input__says_what_to_do(given, kind, message):
    with pytest.raises(kind, match=message):
        Measurements(given).transform(IMAGES)


# ------------------------------------------------------------------------------------------------------------ measure


def test_measure__function__is_a_feature_with_names_and_masks():
    assert redness.names == ("mean_redness",)
    red = np.full((10, 10, 3), (200, 100, 100), dtype=np.uint8)
    assert redness.transform([red])[0, 0] == pytest.approx(100 / 255)
    assert redness.masks(red)["red part"].all()
    assert redness(red)["mean_redness"] == pytest.approx(100 / 255)
    assert clone(redness).transform([red]) == redness.transform([red])
    assert redness.overlay(red).shape[0] > 10


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (lambda image: 0.4, TypeError, "must return a dictionary of numbers, as {'redness': 0.4}; it returned 0.4"),
        (
            lambda image: {"a": "much"},
            TypeError,
            "must return numbers, or boolean arrays .* for 'a' it returned 'much'",
        ),
        (lambda image: {"a": np.nan}, ValueError, "returned nan for 'a'; .* return a finite one for every image"),
        (
            lambda image: {"a": 1.0} if image.shape[0] < 100 else {"b": 1.0},
            ValueError,
            "returned 'b' for this image; its",
        ),
    ],
)
def test_measure__wrong_result__says_what_was_expected(function, kind, message):
    with pytest.raises(kind, match=message):
        measure(function).transform(IMAGES)


def test_measure__function_that_fails_on_grey__asks_for_the_names():
    def picky(image):
        if image.shape[0] < 100:
            raise RuntimeError("too small")
        return {"size": 1.0}

    with pytest.raises(RuntimeError, match="too small") as caught:
        measure(picky).transform(IMAGES)
    assert any('name them: @measure(names=["redness"])' in note for note in caught.value.__notes__)
    assert measure(picky, names=["size"]).transform(IMAGES).tolist() == [[1.0]] * 4
    with pytest.raises(TypeError, match="measure takes a function of an image, got 3"):
        measure(3)


# ------------------------------------------------------------------------------------------------------------- saving

NAME = "mylab_green"
MODULE = '''
from memclf.vision.features import measure

@measure
def green_share(image):
    """How much of the picture is green."""
    green = image[:, :, 1].astype(int) - image[:, :, 0] > 20
    return {"green_share": green.mean(), "green": green}
'''
FRESH = """
import sys, numpy as np, memclf
folder = sys.argv[1]
images = np.load(f"{folder}/images.npy")
own = memclf.load(f"{folder}/own")
sys.path.insert(0, folder)
named = memclf.load(f"{folder}/function", trusted=["mylab_green.green_share"])
import mylab_green
itself = memclf.load(f"{folder}/function", trusted=[mylab_green.green_share])
np.save(f"{folder}/answers.npy", [each.predict(images) for each in (own, named, itself)])
with open(f"{folder}/mylab_green.py") as file:
    changed = file.read().replace("> 20", "> 120")
with open(f"{folder}/mylab_green.py", "w") as file:
    file.write(changed)
import importlib, linecache
importlib.reload(mylab_green)
linecache.checkcache()
try:
    memclf.load(f"{folder}/function", trusted=["mylab_green.green_share"])
except memclf.exceptions.ModelFolderError as error:
    print(error)
"""


@pytest.fixture
def cases():
    rng = np.random.default_rng(0)
    bodies = [(90, 140, 70), (150, 80, 70)]
    images = np.array([scene(int(rng.integers(4)), seed=k, body=bodies[k % 2]) for k in range(16)])
    return images, np.array(["green", "red"])[np.arange(16) % 2]


def classifier(features):
    return memclf.MemoryClassifier(TreeSimilarity(features=features), answer="labels", random_state=0)


@pytest.fixture
def green_share(tmp_path, monkeypatch):
    """A decorated function in a module of its own."""
    (tmp_path / "mylab_green.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mylab_green", raising=False)
    return importlib.import_module(NAME).green_share


def test_save__measurements_and_functions__load_in_a_fresh_process(cases, green_share, tmp_path):
    images, y = cases
    own = classifier(Measurements([ColourOf(), ShapeOf(), CountOf(kind="red")])).fit(images, y)
    function = classifier(Measurements([green_share, ShapeOf()])).fit(images, y)
    for name, clf in (("own", own), ("function", function)):
        memclf.save(clf, tmp_path / name)
    with pytest.raises(UntrustedTypeError, match="the model uses the function mylab_green.green_share"):
        memclf.load(tmp_path / "function")
    given = memclf.load(tmp_path / "function", functions={"mylab_green.green_share": green_share})
    assert given.predict(images).tolist() == function.predict(images).tolist()
    np.save(tmp_path / "images.npy", images)
    shown = subprocess.run([sys.executable, "-c", FRESH, str(tmp_path)], check=True, capture_output=True, text=True)
    wanted = [clf.predict(images).tolist() for clf in (own, function, function)]
    assert np.load(tmp_path / "answers.npy").tolist() == wanted
    assert "the function mylab_green.green_share has changed since the model was saved" in shown.stdout


def test_save__pipeline_of_measurements__loads_without_leave(cases, tmp_path):
    images, y = cases
    similarity = RBFSimilarity(features=make_pipeline(Measurements([ColourOf(), ShapeOf()]), StandardScaler()))
    clf = memclf.MemoryClassifier(similarity, answer="labels", random_state=0).fit(images, y)
    memclf.save(clf, tmp_path / "model")
    assert memclf.load(tmp_path / "model").predict(images).tolist() == clf.predict(images).tolist()


def test_save__region_shared_by_several__is_one_object_again(cases, tmp_path):
    images, y = cases
    regions = LesionFeatures()
    clf = classifier(Measurements([kind("lesion", regions=regions) for kind in (ColourOf, ShapeOf)])).fit(images, y)
    memclf.save(clf, tmp_path / "model")
    colour, shape = memclf.load(tmp_path / "model").similarity_.features_.measurements
    assert colour.regions is shape.regions


def test_measurements__another_lamp__gives_the_same_answers(cases):
    images, y = cases
    clf = classifier(Measurements([ColourOf(), ShapeOf()])).fit(images, y)
    dimmed = np.array([lit(image, 0.9, 0.75, 0.7) for image in images])
    assert (clf.predict(dimmed) == y).mean() > 0.9
    assert numbers(ColourOf(), dimmed[0])["foreground_redness_middle"] < 0


# --------------------------------------------------------------------------------------------------------- leaving out


def test_measurements__leave_out__drops_single_numbers_and_keeps_the_others(tmp_path):
    whole = Measurements([ColourOf(), ShapeOf()])
    some = Measurements([ColourOf(), ShapeOf()], leave_out=["foreground_lightness_low", "foreground_holes"])
    kept = [place for place, name in enumerate(whole.names) if name in some.names]
    assert len(some.names) == len(whole.names) - 2
    np.testing.assert_array_equal(some.transform(IMAGES[:2]), whole.transform(IMAGES[:2])[:, kept])
    np.testing.assert_array_equal(some.trust(IMAGES[:2]), whole.trust(IMAGES[:2]))
    again = memclf.load(memclf.save(some, tmp_path / "some"))
    assert again.names == some.names


@pytest.mark.parametrize(
    ("leave_out", "message"),
    [
        (["foreground_lightnes_low"], "which is no number; did you mean 'foreground_lightness_low'"),
        (ShapeOf().names, "names every number"),
    ],
)
def test_measurements__leave_out_of_what_is_not_there_or_of_all__is_an_error(leave_out, message):
    parts = [ShapeOf()] if "every" in message else [ColourOf()]
    with pytest.raises(ValueError, match=message):
        Measurements(parts, leave_out=leave_out).transform(IMAGES[:1])
