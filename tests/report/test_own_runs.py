"""Reports of evaluations of one's own: images in files, a table, texts."""

import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from memclf import MemoryClassifier
from memclf.evaluate import Store, controls_of, evaluate
from memclf.report import build
from memclf.similarity import FunctionSimilarity, RBFSimilarity, TreeSimilarity
from memclf.vision import ImageCollection
from memclf.vision.features import PatchColour
from pictures import squares

SECTIONS = ("headline", "data", "contenders", "memories", "routes", "settings")
WORDS = {"money": "invoice payment refund card bank", "parcel": "courier late address box driver"}
# A finder that refuses packages, as if they were not installed.
BLOCKED = """import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "cv2", "timm", "torchvision", "skorch"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
"""


def shared_words(one, other):
    one, other = set(one.split()), set(other.split())
    return len(one & other) / len(one | other)


def some_texts(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.choice(list(WORDS), n)
    return [" ".join(rng.choice(WORDS[label].split(), 12)) for label in labels], labels


def evaluated(folder, clf, X, y, conditions, **options):
    """The folder of an evaluation with its report, and what the report shows of single cases."""
    models = {"baseline": clf.global_, "memory": clf, **controls_of(clf)}
    evaluate(models, X, y, conditions, store=folder, **options)
    page = build(folder).read_text(encoding="utf-8")
    markdown = (folder / "report.md").read_text(encoding="utf-8")
    return page, markdown, json.loads((folder / "exhibits.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    (train, labels), (X, y) = some_texts(80, 0), some_texts(30, 1)
    estimator = make_pipeline(CountVectorizer(), LogisticRegression(C=3))
    similarity = FunctionSimilarity(shared_words)
    clf = MemoryClassifier(similarity, estimator, 0.3, start="global", random_state=0).fit(train, labels)
    damaged = [" ".join(text.split()[::2]).replace("a", "x").replace("i", "y") for text in X]
    folder = tmp_path_factory.mktemp("texts")
    return evaluated(folder, clf, X, y, {("typos", 1): damaged}, title="Letters & notes")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    values = rng.normal(size=(120, 10))
    y = np.where(values[:, 7] + 0.3 * values[:, 2] > 0, "up", "down")
    names = ["height", "width", "depth", "weight", "a", "b", "c", "colour", "age", "year"]
    frame = pandas.DataFrame(values, columns=names, index=[f"patient {k}" for k in range(120)])
    clf = MemoryClassifier(RBFSimilarity(gamma=0.05), LogisticRegression(), 0.5, start="global", random_state=0)
    clf.fit(frame[:80], y[:80])
    folder = tmp_path_factory.mktemp("table")
    return evaluated(folder, clf, frame[80:], y[80:], {("drift", s): frame[80:] + 0.5 * s for s in (1, 2)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Of the images, and of their run."""
    return tmp_path_factory.mktemp("images")


@pytest.fixture(scope="module")
def images(folder):
    collections = []
    for part, n in (("train", 40), ("test", 20)):
        pixels, labels = squares(n, size=48, seed=n)
        for number, (image, label) in enumerate(zip(pixels, labels, strict=True)):
            (folder / part / str(label)).mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(folder / part / str(label) / f"photo_{number}.png")
        collections.append(ImageCollection(folder / part))
    train, test = collections
    estimator = make_pipeline(PatchColour(graded=True), LogisticRegression())
    clf = MemoryClassifier(TreeSimilarity(features=PatchColour()), estimator, start="global", random_state=0)
    clf.fit(train, train.labels)
    return evaluated(folder / "run", clf, test, test.labels, [("gaussian_noise", 5), ("fog", 2)], at=(32, 32))


@pytest.mark.parametrize("kind", ["texts", "table", "images"])
def test_report__evaluation_of_ones_own__has_all_sections(kind, request):
    page, markdown, found = request.getfixturevalue(kind)
    for name in SECTIONS:
        assert f'<section id="{name}">' in page
    assert ('<section id="opening">' in page) == ("opening" in found) == (kind == "images")
    assert "MemoryClassifier(" in page
    assert "MemoryClassifier(" in markdown
    assert "does not say which data" not in page
    assert found["memories"]
    assert found["routes"]
    assert found["local"]["memories"] == len(found["memories"])
    assert "random_state=0" in page
    assert "scikit-learn" in page


def test_report__texts__shows_texts_by_their_beginning(texts):
    page, markdown, found = texts
    assert "Letters &amp; notes" in page
    assert "Texts of" in page
    assert all(each["case"]["text"] for part in ("memories", "routes", "hardest") for each in found[part])
    assert f"<blockquote>{found['memories'][0]['case']['text']}</blockquote>" in page
    assert found["routes"][0]["key"][:20] in markdown
    assert "picture" not in markdown
    assert "case 0 of" not in page


def test_report__table__shows_telling_columns_and_row_labels(table):
    page, markdown, found = table
    assert "Evaluation on 40 rows" in page
    shown = found["memories"][0]["case"]["columns"]
    assert len(shown) == 8
    assert {"colour", "depth"} <= set(shown)
    assert found["routes"][0]["key"].startswith("patient ")
    assert found["routes"][0]["key"] in page
    assert '<th scope="row">colour</th>' in page
    assert "colour " in markdown
    assert "picture" not in markdown


def test_report__images_in_files__shows_pictures_and_what_the_feature_sees(images):
    page, _, found = images
    assert page.count("data:image/") >= len(found["memories"]) + len(found["routes"])
    assert found["routes"][0]["key"].endswith(".png")
    assert "photo_" in found["memories"][0]["key"]
    assert '<section id="overlays">' in page
    assert "48 pixels wide and 48 high" in page


def test_evaluate__store_elsewhere__writes_no_cases(tmp_path):
    X, y = np.arange(40.0)[:, np.newaxis], np.arange(40) > 20
    clf = MemoryClassifier(RBFSimilarity(), n_memories=2, random_state=0).fit(X, y)
    evaluate({"memory": clf}, X, y, store=Store(tmp_path / "other.sqlite"))
    evaluate({"memory": clf}, X, y, store=tmp_path / "quiet", show=False)
    assert not list(tmp_path.rglob("exhibits.json"))


def test_evaluate__best_memory_classifier__is_the_one_that_is_shown(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] > 0
    good = MemoryClassifier(RBFSimilarity(), LogisticRegression(), n_memories=2, fallback="nearest", random_state=0)
    poor = MemoryClassifier(RBFSimilarity(), LogisticRegression(), n_memories=2, fallback="nearest", random_state=0)
    contenders = {"memory": poor.fit(X, ~y), "better": good.fit(X, y)}
    evaluate(contenders, X, y, {("drift", 1): X + 0.1}, store=tmp_path)
    found = json.loads((tmp_path / "exhibits.json").read_text())
    assert {each["model"] for each in found["memories"]} == {"better"}


def test_evaluate__cases_that_cannot_be_shown__keeps_results_and_warns(tmp_path, monkeypatch):
    X, y = np.arange(40.0)[:, np.newaxis], np.arange(40) > 20
    clf = MemoryClassifier(RBFSimilarity(), n_memories=2, random_state=0).fit(X, y)
    monkeypatch.setattr("memclf.evaluate.exhibits.write_exhibits", lambda *_, **__: 1 / 0)
    with pytest.warns(UserWarning, match="the report will show no single cases: ZeroDivisionError"):
        rows = evaluate({"memory": clf}, X, y, store=tmp_path)
    assert len(rows) == 1
    assert build(tmp_path).is_file()


def test_build__without_torch_and_opencv__gives_the_same_page(images, folder):
    code = f"{BLOCKED}from memclf.report import build; build({str(folder / 'run')!r})"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert "Fog 2" in images[0]
    assert (folder / "run" / "report.html").read_text(encoding="utf-8") == images[0]
