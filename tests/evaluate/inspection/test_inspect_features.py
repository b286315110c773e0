"""inspect_features: which measurements tell classes apart, and which of them survive changes."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

import memclf
from memclf.evaluate.inspection import scores
from memclf.evaluate.inspection.inspect import _draw
from memclf.vision import ImageCollection
from memclf.vision.features import LesionFeatures, Measurements, measure

N = 30


SQUARE = (slice(4, 24), slice(4, 24))  # not in the middle, where light from one side changes nothing


def draw(seed, label):
    """A square that is brighter than what is around it for one of the classes; the light hardly differs."""
    rng = np.random.default_rng(seed)
    image = np.full((64, 64, 3), 110.0)
    image[SQUARE] = 106 + 9 * label + rng.normal(0, 1)
    return np.clip(image + rng.normal(0, 3, image.shape), 0, 255).astype(np.uint8)


def look(image):
    """The mean of the square, and of what is around it."""
    square = image[SQUARE].mean()
    return square, (image[:28, :28].sum() - image[SQUARE].sum()) / (3 * (28 * 28 - 20 * 20))


@measure
def brightness(image):
    """Tells the classes apart as well as `contrast`, as long as the light does not change."""
    return {"brightness": look(image)[0]}


@measure
def contrast(image):
    square, around = look(image)
    return {"contrast": square / max(1.0, around)}


@measure
def grain(image):
    return {"grain": float(image[::3, ::5].std() % 0.01)}


LABELS = np.arange(N) % 2
IMAGES = np.array([draw(k, label) for k, label in enumerate(LABELS)])


@pytest.fixture(scope="module")
def found():
    return memclf.inspect_features(Measurements([brightness, contrast, grain]), IMAGES, LABELS)


def by_name(found):
    return {each.name: each for each in found.measurements}


def test_inspect_features__images__ranks_absolute_brightness_below_relative(found):
    rows = by_name(found)
    assert rows["brightness"].separation > 0.9
    assert rows["contrast"].separation > 0.9
    assert rows["contrast"].steadiness > rows["brightness"].steadiness + 0.1
    assert rows["contrast"].corrupted["brightness"] > rows["brightness"].corrupted["brightness"] + 0.2
    assert rows["grain"].separation < 0.4


def test_inspect_features__images__reports_every_corruption_but_judges_without(found):
    rows = by_name(found)
    assert len(rows["contrast"].corrupted) == 19 == len(found.labels)
    assert rows["contrast"].corrupted_steadiness == pytest.approx(np.mean(list(rows["contrast"].corrupted.values())))
    assert 0 < rows["contrast"].corrupted_separation <= 1
    assert rows["grain"].verdict == "says little"
    assert found.severity == 3
    assert (found.n_cases, found.n_corrupted, found.classes) == (N, N, ("0", "1"))


def test_inspect_features__advice__names_the_good_and_the_fragile_one(found):
    first, second = found.advice.split(". ", 1)
    assert "contrast" in first
    assert "brightness" not in first
    assert second.startswith("Do not rely on brightness: it tells the classes apart here")


def test_inspect_features__table__has_the_most_useful_first(found):
    assert [row["name"] for row in found.table] == ["contrast", "brightness", "grain"]
    assert found.table[0]["under fog"] == by_name(found)["contrast"].corrupted["fog"]
    frame = found.to_frame()
    assert list(frame["name"]) == ["contrast", "brightness", "grain"]
    assert json.loads(json.dumps(found.as_dict()))["measurements"][0]["name"] == "contrast"
    assert "contrast" in str(found).splitlines()[1]


def test_inspect_features__plot__draws_and_names_the_numbered_points(found):
    ax = found.plot()
    texts = [each.get_text() for each in ax.texts]
    assert " 1  contrast" in texts
    assert any("brightness" in each for each in texts)
    assert len(ax.collections) == 3


def test_inspect_features__same_seed__gives_the_same_numbers():
    features = Measurements([contrast])
    one, two = (memclf.inspect_features(features, ImageCollection(IMAGES[:12]), LABELS[:12]) for _ in range(2))
    assert one.table == two.table


def test_inspect_features__details__are_inspected_too():
    box = {"x0": 20, "y0": 20, "x1": 44, "y1": 44}
    images = ImageCollection(IMAGES[:8], info=[box] * 8)
    names = [each.name for each in memclf.inspect_features(LesionFeatures(), images, LABELS[:8]).measurements]
    assert names == [*LesionFeatures.names, *LesionFeatures.details]


# ------------------------------------------------------------------------------------------------- tables and the rest


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 300
    y = rng.integers(0, 3, n)
    length = 100 + 10 * y + rng.normal(0, 2, n)
    return pd.DataFrame(
        {
            "length": length,
            "twice": 2 * length,
            "middle": np.where(y == 1, 0.5, rng.choice([0.0, 1.0], n)) + rng.normal(0, 0.1, n),
            "noise": rng.normal(size=n),
            "kind": rng.choice(["a", "b"], n),
            "part": np.where(rng.random(n) < 0.2, np.nan, y + rng.normal(0, 1, n)),
        }
    ), y


def test_inspect_features__table__takes_a_column_transformer(table):
    X, y = table
    numbers = ["length", "twice", "middle", "noise"]
    features = make_column_transformer(
        (StandardScaler(), numbers),
        (OrdinalEncoder(), ["kind"]),
        (SimpleImputer(), ["part"]),
        verbose_feature_names_out=False,
    )
    found = memclf.inspect_features(features, X, y)
    rows = by_name(found)
    assert list(rows) == [*numbers, "kind", "part"]
    assert set(rows["length"].corrupted) == {"noise", "scale", "another", "gap"}
    assert rows["length"].separation > 0.8
    assert rows["length"].overlap > 0.99
    assert {rows["length"].verdict, rows["twice"].verdict} == {"good", "repeats"}
    assert rows["middle"].separation > 0.3  # a rank statistic would see nothing
    assert rows["noise"].separation < 0.15
    assert rows["kind"].verdict == "says little"
    assert rows["kind"].steadiness == 1
    assert 0.5 < rows["part"].steadiness < 0.95
    assert found.severity is None


def test_inspect_features__plain_array__columns_are_the_measurements():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 40)
    X = np.column_stack([rng.normal(3 * (y == "b"), 1), rng.normal(size=80), np.ones(80)])
    found = memclf.inspect_features(None, X, y)
    assert [each.name for each in found.measurements] == ["column 0", "column 1", "column 2"]
    assert [each.verdict for each in found.measurements] == ["good", "says little", "says little"]
    assert found.advice == (
        "Build on column 0: it tells the classes apart and stays nearly the same when the cases change a little. "
        "column 1 and column 2 say little about the classes and can be left out."
    )


def test_inspect_features__twenty_cases__does_not_call_luck_good():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 10)
    found = memclf.inspect_features(None, rng.normal(size=(20, 30)), y)
    best = max(found.measurements, key=lambda each: each.separation)
    assert best.separation > 0.3  # one of thirty coins looks as if it knew
    assert best.verdict == "unsure"
    assert best.interval[0] < best.separation < best.interval[1]
    assert "may be luck too: 20 cases are too few to say." in found.build_on
    assert found.advice.endswith("measure more cases before you choose.")


def test_separation_interval__of_repeated_cases__is_as_wide_as_that_of_groups():
    y = np.repeat([0, 1], 40)
    said = np.where(np.arange(80) % 4 == 0, 1 - y, y)
    alone = scores.separation_interval(said, y, None)
    grouped = scores.separation_interval(said, y, np.arange(80) // 4)
    assert grouped[0] < alone[0] < scores.separation(said, y) < alone[1] < grouped[1]


def test_inspect_features__texts__have_separation_and_overlap_alone():
    texts = ["red apple", "green apple", "red pear", "green pear"] * 6
    found = memclf.inspect_features(TfidfVectorizer(), texts, ["apple", "apple", "pear", "pear"] * 6)
    rows = by_name(found)
    assert rows["apple"].separation == 1
    assert rows["red"].separation == 0
    assert rows["apple"].steadiness is None
    assert found.advice.startswith("Build on apple: it tells the classes apart.")
    assert found.plot().get_xlim()[1] > 1


def test_inspect_features__groups__never_lie_on_both_sides_of_a_fold():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(20), 6)
    y = rng.integers(0, 2, 20)[group]
    X = np.column_stack([group + rng.normal(0, 0.01, 120), y + rng.normal(0, 0.2, 120)])  # who it is, and what it has
    alone = memclf.inspect_features(None, X, y).measurements[0].separation
    held = memclf.inspect_features(None, X, y, groups=group).measurements[0].separation
    assert alone > 0.4
    assert held < alone - 0.2


def test_inspect_features__fitted_features__are_used_as_they_are(table):
    X, y = table
    scaler = StandardScaler().fit(X[["length", "noise"]] * 3)
    before = scaler.mean_.copy()
    memclf.inspect_features(make_pipeline(scaler), X[["length", "noise"]], y)
    np.testing.assert_array_equal(scaler.mean_, before)


@pytest.mark.parametrize(
    ("features", "X", "y", "kind", "message"),
    [
        (
            None,
            np.zeros((4, 2)),
            [0, 0, 0, 0],
            ValueError,
            "needs at least two classes with two cases each, got 4 of 0",
        ),
        (None, np.zeros((4, 2)), [0, 0, 0, 1], ValueError, "got 3 of 0, 1 of 1"),
        (None, np.zeros((4, 2)), [0, 1, 0, 1, 1], ValueError, "there are 4 cases and 5 classes; each case needs one"),
        (
            len,
            np.zeros((4, 2)),
            [0, 1, 0, 1],
            TypeError,
            "features must be a transformer, got <built-in function len>;",
        ),
        (None, pd.DataFrame({"a": list("wxyz")}), [0, 1, 0, 1], TypeError, "the features must give numbers .* encoder"),
    ],
)
def test_inspect_features__wrong_input__says_what_is_needed(features, X, y, kind, message):
    with pytest.raises(kind, match=message):
        memclf.inspect_features(features, X, y)


def test_inspect_features__many_images__are_sampled_with_all_classes(monkeypatch):
    from memclf.evaluate.inspection import inspect

    monkeypatch.setattr(inspect, "MOST", 10)
    monkeypatch.setattr(inspect, "CORRUPTED", 4)
    y = np.where(np.arange(N) < 2, "rare", np.where(LABELS, "b", "a"))
    found = memclf.inspect_features(contrast, IMAGES, y)
    assert 10 <= found.n_cases <= 12
    assert found.n_corrupted < 8
    assert found.classes == ("a", "b", "rare")


# ------------------------------------------------------------------------------------------------------------- scores


def test_steadiness__units__do_not_matter_and_shifts_do():
    row = np.random.default_rng(0).normal(size=200)
    noisy = row + 0.1 * np.random.default_rng(1).normal(size=200)
    one = scores.steadiness(row, [noisy], row)
    assert 0.85 < one < 0.99
    assert scores.steadiness(7 - 3 * row, [7 - 3 * noisy], 7 - 3 * row) == pytest.approx(one)
    wild = np.where(np.arange(200) < 2, 1e9, row)
    assert scores.steadiness(wild, [wild + 0.1], wild) < 0.99  # two wild values do not make it look steady
    assert scores.steadiness(row, [row + 1], row) < 0.7  # which a correlation would call perfect
    assert scores.steadiness(row, [np.random.default_rng(2).permutation(row)], row) < 0.15
    assert scores.steadiness(np.ones(9), [np.ones(9)], np.ones(9)) == 1
    assert scores.steadiness(np.ones(9), [np.zeros(9)], np.ones(9)) == 0
    two = np.repeat([0.0, 1.0], 100) + 0.01 * row  # two heaps: which is the first of a heap does not matter
    assert scores.steadiness(two, [two + 0.01 * noisy], two) > 0.95


def test_separate__classes_and_versions__are_scored_between_chance_and_one():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    folds = [(np.flatnonzero(np.arange(120) % 4 != k), np.flatnonzero(np.arange(120) % 4 == k)) for k in range(4)]
    values = y + rng.normal(0, 0.05, 120)
    gone = np.where(np.arange(120) < 60, values, np.nan)
    clean, same, moved = (scores.separation(each, y) for each in scores.classify(values, y, folds, [gone, values + 5]))
    assert clean == 1
    assert same == pytest.approx(1)
    assert moved == 0
    assert scores.separation(scores.classify(rng.normal(size=120), y, folds, [])[0], y) < 0.2


def test_overlap__follows_from_the_others__is_predictable():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 400))
    shared, predictable = scores.overlap(np.column_stack([a, b, a + b, c, np.exp(a), np.zeros(400)]))
    assert shared[0, 4] == pytest.approx(1)
    assert shared[0, 3] < 0.15
    assert (np.diag(shared) == 0).all()
    assert predictable[2] > 0.6
    assert predictable[3] < 0.1
    assert predictable[5] == 0


@pytest.mark.parametrize("n", [40, 41, 42, 43, 44])
def test_draw__hardly_more_cases_than_wanted__is_possible(n):
    rows = _draw(np.arange(n) % 3, 40, 0)
    assert 40 <= len(rows) <= n
    assert len(np.unique(rows)) == len(rows)
