"""The pictures of a run, made from a real one: patches of colour, a network, a memory classifier, a store."""

import json

import numpy as np
import pytest
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from memclf import MemoryClassifier
from memclf.evaluate import Condition, Contender, ModelId, Row, Store, controls_of, evaluate, write_exhibits
from memclf.evaluate.exhibits.collect import find_feature
from memclf.similarity import CombinedSimilarity, FunctionSimilarity, RBFSimilarity, TreeSimilarity
from memclf.vision import ImageClassifier, ImageCollection
from memclf.vision.features import ImageFeatures, PatchColour, near_colour
from pictures import squares

CONTENDER = ("vanilla", "efficientnet_lite0", 0)
CONDITIONS = [("gaussian_noise", 3), ("gaussian_noise", 5), ("defocus_blur", 3), ("fog", 2), ("contrast", 5)]
NUMBERS = {"memory": int, "similarity": float, "threshold": float}


def patches(n, seed, size=48, wrong=0.0):
    pixels, labels = squares(n, size=size, seed=seed, wrong=wrong)
    return ImageCollection(pixels, labels, keys=[f"patch {seed}-{i}" for i in range(n)])


def named(estimators):
    controls = {"majority", "stage1", "prior"}
    return [
        Contender(name, each, *(("", "", 0) if name in controls else CONTENDER)) for name, each in estimators.items()
    ]


def write(folder, store, memory, test, train=None, **options):
    """The exhibits of the contender "memory", as they can be read from the run's folder."""
    known = None if train is None else (train, train.labels)
    given = {"make": lambda condition: test.corrupted(*condition), "train": known, **options}
    path = write_exhibits(folder, store, Contender("memory", memory, *CONTENDER), test, **given)
    return json.loads(path.read_text())


class Run:
    """A finished evaluation, and all that its exhibits need."""

    def __init__(self, memory, train, test, conditions=CONDITIONS):
        self.memory, self.train, self.test, self.store = memory, train, test, Store()
        contenders = named({"baseline": memory.global_, "memory": memory, **controls_of(memory)})
        evaluate(contenders, test, test.labels, conditions, store=self.store)

    def write(self, folder, **changes):
        given = {"test": self.test, "train": self.train, "memory": self.memory, **changes}
        return write(folder, self.store, **given)


@pytest.fixture(scope="module")
def run():
    train, test = patches(60, 0, wrong=0.2), patches(30, 1)
    network = ImageClassifier(image_size=32, train="head", epochs=10, local_epochs=3)
    memory = MemoryClassifier(TreeSimilarity(features=PatchColour()), network, start="global", random_state=0)
    return Run(memory.fit(train, train.labels), train, test)


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    run.write(folder)
    return folder


@pytest.fixture(scope="module")
def exhibits(folder):
    return json.loads((folder / "exhibits.json").read_text())


def pictures_in(part):
    if isinstance(part, dict):
        return [path for each in part.values() for path in pictures_in(each)]
    if isinstance(part, list):
        return [path for each in part for path in pictures_in(each)]
    return [part] if isinstance(part, str) and part.startswith("exhibits/") else []


def position(run, key):
    return run.store.cases().keys.index(key)


def condition_of(text):
    name, _, severity = text.partition(" ")
    return (name, int(severity or 0))


def answer(run, model, text, key):
    cases = run.store.cases()
    code = run.store.answers()[model, *CONTENDER, *condition_of(text)][position(run, key)]
    return "unknown" if code < 0 else cases.classes[code]


def test_every_picture_is_there_is_small_and_nothing_else_is(folder, exhibits):
    named = pictures_in(exhibits)
    assert sorted(named) == sorted(f"exhibits/{path.name}" for path in (folder / "exhibits").iterdir())
    for name in named:
        with Image.open(folder / name) as picture:
            assert max(picture.size) <= 400
            assert min(picture.size) >= 96
    assert sum((folder / name).stat().st_size for name in named) < 2_000_000
    assert not list(folder.glob("*.part"))


def test_the_opening_is_a_case_that_the_noise_takes_from_the_baseline(run, exhibits):
    opening = exhibits["opening"]
    assert opening["condition"] == "gaussian_noise 5"
    shown = {each["model"]: each for each in opening["answers"]}
    assert sorted(shown) == ["baseline", "memory", "prior", "stage1"]
    for model in ("baseline", "memory"):
        assert shown[model]["clean"] == answer(run, model, "clean", opening["key"])
        assert shown[model]["corrupted"] == answer(run, model, "gaussian_noise 5", opening["key"])
        rows = [row for row in run.store.rows() if (row["model"], row["corruption"], row["severity"])
                == (model, "gaussian_noise", 5)]  # fmt: skip
        assert shown[model]["accuracy"] == rows[0]["accuracy"]
    assert shown["baseline"]["clean"] == opening["truth"] != shown["baseline"]["corrupted"]
    mostly_right = 2 * opening["memory_right"] >= opening["flips"]
    assert (shown["memory"]["corrupted"] == opening["truth"]) == mostly_right


def written(memory_right, n=20, conditions=((("gaussian_noise", 5), 10),)):
    """A store in which noise takes the first cases from the baseline, and the memory classifier keeps some."""
    store = Store()
    truth = np.arange(n) % 2
    store.put_cases([f"patch 1-{i}" for i in range(n)], truth, ["blue", "red"])
    for model in ("baseline", "memory"):
        for condition, flips in ((("clean", 0), 0), *conditions):
            lost = np.arange(n) < flips
            said = np.where(lost if model == "baseline" else lost & (np.arange(n) >= memory_right), 1 - truth, truth)
            row = Row("color", model, *CONTENDER, *condition, n=n, accuracy=float(np.mean(said == truth)),
                      balanced_accuracy=0.0, coverage=1.0, selective_accuracy=None)  # fmt: skip
            store.add(row, said)
    return store


@pytest.mark.parametrize("memory_right", [2, 8])
def test_the_opening_stands_for_most_cases_be_they_failures_of_the_memory_classifier(run, tmp_path, memory_right):
    store, test = written(memory_right), run.test[:20]
    keys = set()
    for seed in range(4):
        opening = write(tmp_path, store, run.memory, test, seed=seed, n_overlays=0, n_routes=0)["opening"]
        keys.add(opening["key"])
        assert (opening["flips"], opening["memory_right"]) == (10, memory_right)
        shown = {each["model"]: each["corrupted"] for each in opening["answers"]}
        assert (shown["memory"] == opening["truth"]) == (memory_right == 8)
    assert len(keys) > 1


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({("gaussian_noise", 1): 3, ("gaussian_noise", 4): 2, ("fog", 5): 9}, "gaussian_noise 4"),
        ({("gaussian_noise", 5): 0, ("fog", 5): 9, ("snow", 1): 2}, "fog 5"),
        ({("snow", 1): 2, ("frost", 3): 7}, "frost 3"),
        ({("snow", 1): 0, ("gaussian_noise", 3): 0}, "gaussian_noise 3"),
    ],
)
def test_the_opening_prefers_strong_noise_then_the_worst_condition(run, tmp_path, conditions, expected):
    store = written(5, conditions=conditions.items())
    test = run.test[:20]
    found = write(tmp_path, store, run.memory, test, n_overlays=0, n_routes=0)
    assert found["opening"]["condition"] == expected


def test_memories_come_with_their_clusters(run, exhibits):
    memory, labels = run.memory, run.train.labels
    assert [each["number"] for each in exhibits["memories"]] == list(range(len(memory.memory_indices_)))
    for each in exhibits["memories"]:
        row = memory.memory_indices_[each["number"]]
        inside = labels[memory.labels_ == each["number"]]
        assert each["key"] == f"patch 0-{row}"
        assert each["label"] == labels[row]
        assert each["cases"] == len(inside) == sum(each["classes"].values())
        assert each["classes"] == {str(label): int((inside == label).sum()) for label in np.unique(inside)}
        assert each["threshold"] == memory.thresholds_[each["number"]]
        assert len(each["members"]) == 6
        one_class = len(each["classes"]) == 1
        own = {"who": "own", "estimator": "ImageClassifier", "started": "global"}
        assert each["classifier"] == ({"who": "constant", "label": each["label"]} if one_class else own)
    assert any(len(each["classes"]) > 1 for each in exhibits["memories"])


def test_routes_are_those_of_the_evaluation_right_and_wrong_clean_and_corrupted(run, exhibits):
    routes = exhibits["routes"]
    assert len(routes) == 9 == len({each["key"] for each in routes})
    assert sum(each["condition"] == "clean" for each in routes) == 3
    assert len({each["condition"] for each in routes}) >= 4
    assert {each["answer"] == each["truth"] for each in routes} == {True, False}
    for each in routes:
        assert all(isinstance(each[name], kind) for name, kind in NUMBERS.items())
        row = position(run, each["key"])
        assert each["truth"] == run.test.labels[row]
        assert each["answer"] == answer(run, "memory", each["condition"], each["key"])
        assert each["baseline_answer"] == answer(run, "baseline", each["condition"], each["key"])
        gone = run.store.routes(ModelId("memory", *CONTENDER), Condition(*condition_of(each["condition"])))
        assert each["memory"] == gone[row]


def test_overlays_show_one_image_under_conditions_of_different_kinds(run, exhibits):
    shown = exhibits["overlays"]
    assert [each["condition"] for each in shown] == ["clean", "gaussian_noise 3", "defocus_blur 3", "fog 2"]
    assert len({each["key"] for each in shown}) == 1
    row = position(run, shown[0]["key"])
    for each in shown:
        images = run.test if each["condition"] == "clean" else run.test.corrupted(*condition_of(each["condition"]))
        assert each["numbers"] == {"channel": PatchColour().transform(images[[row]])[0, 0]}
        masks = PatchColour().masks(images[row])
        assert {part["name"]: part["share"] for part in each["legend"]} == pytest.approx(
            {name: mask.mean() for name, mask in masks.items()}
        )


def test_every_model_that_looks_at_pictures_answers_to_the_opening(run, tmp_path):
    store, test = written(5), run.test[:20]
    answers = store.answers()
    looking = ("sturdy", "careful", "prior-balanced", "stage1-balanced")
    for model in (*looking, "majority", "random"):
        for condition in (("clean", 0), ("gaussian_noise", 5)):
            name = (model, "", "", 0) if "stage1" in model else (model, *CONTENDER)
            row = Row("color", *name, *condition, n=20, accuracy=0.5, balanced_accuracy=0.5, coverage=1.0,
                      selective_accuracy=None)  # fmt: skip
            store.add(row, answers["baseline", *CONTENDER, *condition])
    found = write(tmp_path, store, run.memory, test, n_overlays=0, n_routes=0)
    shown = [each["model"] for each in found["opening"]["answers"]]
    assert sorted(shown) == sorted(["baseline", "memory", *looking])


def test_who_answers_for_a_memory_is_told_in_words(run, tmp_path):
    numbers = np.unique(run.train.labels, return_inverse=True)[1]
    test = ImageCollection([run.test[i] for i in range(6)], np.arange(6) % 3)
    everything = range(len(run.train))
    lopsided = [i for i in everything if run.memory.labels_[i] < 2 or i < 15]

    def told(rows=everything, **options):
        train = ImageCollection([run.train[i] for i in rows], numbers[rows])
        estimator = make_pipeline(PatchColour(graded=True), LogisticRegression())
        similarity = TreeSimilarity(features=PatchColour())
        memory = MemoryClassifier(similarity, estimator, random_state=0, **options).fit(train, train.labels)
        said = write(tmp_path, Store(), memory, test, train, n_overlays=0)
        assert said["local"] == {"memories": 3, "classifiers": len(set(memory.pool_.trained_with.tolist()))}
        return [each["classifier"] for each in said["memories"]]

    kind = {"estimator": "LogisticRegression"}
    assert {"who": "own", **kind} in told()
    assert all(each == {"who": "global", **kind} for each in told(min_cluster_size=1000))
    some = told(lopsided, min_cluster_size=10)
    assert sum(each["who"] == "shared" and len(each["with"]) == 1 for each in some) == 2
    assert [each["with"] for each in told(min_cluster_size=55)] == [[1, 2], [0, 2], [0, 1]]


def test_hardest__under_corruption__are_the_memory_classifiers_commonest_errors(run, exhibits):
    cases = run.store.cases()
    everything = run.store.answers().items()
    answers = {key: said for key, said in everything if key[0] == "memory" and key[4] != "clean"}
    wrong = np.mean([said != cases.labels for said in answers.values()], axis=0)
    shares = [each["wrong_share"] for each in exhibits["hardest"]]
    assert shares == pytest.approx(np.sort(wrong)[::-1][: len(shares)].tolist())
    for each in exhibits["hardest"]:
        row = position(run, each["key"])
        assert each["wrong_share"] == pytest.approx(wrong[row])
        assert each["truth"] == cases.classes[cases.labels[row]] != each["mostly_answered"]


def test_the_same_seed_shows_the_same_and_old_pictures_go(run, folder, exhibits, tmp_path):
    (tmp_path / "exhibits").mkdir()
    (tmp_path / "exhibits" / "memory_99.png").write_bytes(b"of an earlier run")
    assert run.write(tmp_path) == exhibits
    for name in pictures_in(exhibits):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()
    assert not (tmp_path / "exhibits" / "memory_99.png").exists()
    assert run.write(tmp_path, seed=1)["routes"] != exhibits["routes"]


def test_images_in_files_of_different_sizes_do_as_well(run, tmp_path):
    sizes = [40, 64, 700]
    for number in range(12):
        pixels = patches(12, 1, size=sizes[number % 3])[number]
        place = tmp_path / "data" / ["red", "green", "blue"][number % 3]
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels[: len(pixels) * 4 // 5]).save(place / f"{number}.png")
    test = ImageCollection(tmp_path / "data")
    said = Run(run.memory, run.train, test, CONDITIONS[:2]).write(tmp_path / "run", n_routes=6)
    assert {each["key"] for each in said["routes"]} <= {test.key(i) for i in range(12)}
    for name in pictures_in(said):
        with Image.open(tmp_path / "run" / name) as picture:
            assert max(picture.size) <= 400


def test_without_answers_there_are_only_memories_and_the_clean_overlay(run, tmp_path):
    said = write(tmp_path, Store(), run.memory, run.test)
    assert "opening" not in said
    assert said["routes"] == said["hardest"] == []
    assert len(said["memories"]) == 3
    assert [each["condition"] for each in said["overlays"]] == ["clean"]


def fitted(similarity, train, **options):
    estimator = make_pipeline(PatchColour(graded=True), LogisticRegression())
    return MemoryClassifier(similarity, estimator, start="global", random_state=0, **options).fit(train, train.labels)


def mean_colour(image):
    return image.mean(axis=(0, 1)) / 255


def test_a_similarity_without_masks_has_no_overlays(run, tmp_path):
    memory = fitted(RBFSimilarity(features=mean_colour), run.train, threshold=0.9)
    said = Run(memory, run.train, run.test, CONDITIONS[:1]).write(tmp_path)
    assert said["overlays"] == []
    assert said["memories"]


def test_a_combined_similarity_shows_what_its_part_saw(run, tmp_path):
    graded = FunctionSimilarity(near_colour, batched=True, features=PatchColour(graded=True))
    both = CombinedSimilarity([("mean", RBFSimilarity(features=mean_colour)), ("colour", graded)])
    memory = fitted(both, run.train, threshold=0.5)
    said = Run(memory, run.train, run.test, CONDITIONS[:1]).write(tmp_path)
    assert set(said["overlays"][0]["numbers"]) == {"channel", "red", "green", "blue"}


def test_routes_below_the_threshold_name_the_memory_that_was_nearest(run, tmp_path):
    memory = fitted(RBFSimilarity(features=mean_colour), run.train, threshold=0.999999, n_memories=3)
    said = Run(memory, run.train, run.test, CONDITIONS[:1]).write(tmp_path)
    unknown = [each for each in said["routes"] if each["memory"] == -1]
    assert unknown
    assert all(each["answer"] == "unknown" and each["similarity"] < each["threshold"] for each in unknown)
    assert {each["nearest"] for each in said["routes"]} <= {each["number"] for each in said["memories"]}


class Brightness(ImageFeatures):
    """How bright an image is beside the others of the same call."""

    names = ("brightness",)

    def measure(self, image, info):
        return image.mean()

    def masks(self, image, info=None):
        return {"bright": image.max(axis=2) > 128}

    def relate(self, rows, info):
        return rows - rows.mean(axis=0)


def test_features_that_relate_images_to_each_other_see_all_of_them(run, tmp_path):
    memory = fitted(RBFSimilarity(features=Brightness()), run.train, threshold=0.9)
    said = Run(memory, run.train, run.test, CONDITIONS).write(tmp_path)
    for each in said["routes"]:
        images = run.test if each["condition"] == "clean" else run.test.corrupted(*condition_of(each["condition"]))
        expected = memory.route(images)[position(run, each["key"])].similarity
        assert each["similarity"] == pytest.approx(expected, rel=1e-9)
    clean = said["overlays"][0]
    whole = Brightness().transform(run.test)
    assert clean["numbers"]["brightness"] == pytest.approx(whole[position(run, clean["key"])].item())


def test_write_exhibits__parts_that_do_not_fit_together__are_refused(run, tmp_path):
    with pytest.raises(ValueError, match="test holds 10 cases, the store answers about 30"):
        run.write(tmp_path, test=run.test[:10])
    with pytest.raises(ValueError, match="train holds 10 cases, but the memory classifier was fitted on 60"):
        run.write(tmp_path, train=run.train[:10])
    with pytest.raises(ValueError, match="has 5 cases, the clean test set 30"):
        run.write(tmp_path, make=lambda condition: run.test.corrupted(*condition)[:5])


def test_samples__each_class__are_training_cases_of_it(run, exhibits):
    labels = [each["label"] for each in exhibits["samples"]]
    assert labels == [str(label) for label in np.unique(run.train.labels)]
    assert sum(each["cases"] for each in exhibits["samples"]) == len(run.train)
    assert all(1 <= len(each["samples"]) <= 6 and each["of"] == "training" for each in exhibits["samples"])


def test_masks__feature_to_paint__shows_a_case_of_each_class_clean_and_corrupted(run, tmp_path):
    feature = find_feature(run.memory.similarity_)
    name = next(iter(feature.masks(run.test[0], None)))
    said = write(tmp_path, run.store, run.memory, run.test, paint=(feature, {name: "#804000"}))
    shown = said["masks"]
    assert len({each["truth"] for each in shown}) * 2 == len(shown)
    assert {each["condition"] for each in shown} >= {"clean"}
    assert all((tmp_path / each["painted"]["picture"]).is_file() for each in shown)
    assert not write(tmp_path, run.store, run.memory, run.test)["masks"]
