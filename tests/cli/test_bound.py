"""`memclf bound`: what theory promises for a saved classifier, from the files that people have."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import memclf
from memclf import MemoryClassifier, MemorySelector
from memclf.bounds import Bound, generalization_bound
from memclf.cli import app
from memclf.similarity import GowerSimilarity, RBFSimilarity, TreeSimilarity

N = 400


def draw(seed):
    """Two heaps of points, hardly ever mixed up."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    return rng.normal(4 * y[:, None], 0.5, (N, 2)), y


X, Y = draw(0)


def bound(*arguments):
    return CliRunner().invoke(app, ["bound", *map(str, arguments)])


def plain(shown):
    return " ".join(shown.output.split())


def classifier(**settings):
    return MemoryClassifier(RBFSimilarity(gamma=0.1), DummyClassifier(), threshold=0.4, random_state=0, **settings)


def table_of(X, y, **columns):
    return pd.DataFrame({"width": X[:, 0], "height": X[:, 1], **columns, "label": y})


@pytest.fixture(scope="module")
def clf():
    return classifier().fit(X, Y)


@pytest.fixture(scope="module")
def model(clf, tmp_path_factory):
    return memclf.save(clf, tmp_path_factory.mktemp("saved") / "model")


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "cases.csv"
    table_of(X, Y).to_csv(file, index=False)
    return file


def test_bound__table__is_the_bound_of_the_library(clf, model, table):
    shown = bound(model, table)
    assert shown.exit_code == 0, shown.output
    assert shown.output.strip() == str(generalization_bound(clf, X, Y))


def test_bound__npz_file__is_the_bound_of_the_library(clf, model, tmp_path):
    np.savez(tmp_path / "cases.npz", X=X, y=Y)
    shown = bound(model, tmp_path / "cases.npz", "--delta", "0.1", "--given", "memories", "--given", "similarity")
    assert shown.exit_code == 0, shown.output
    wanted = generalization_bound(clf, X, Y, delta=0.1, given=["memories", "similarity"])
    assert shown.output.strip() == str(wanted)


def test_bound__kind_all__is_every_kind_but_held_out(model, table):
    shown = bound(model, table, "--kind", "all", "--kind", "compression")
    assert shown.exit_code == 0, shown.output
    kinds = ("compression", "direct", "cascade", "paper-min", "paper")
    sentences = [line for line in shown.output.splitlines() if line.startswith("The ")]
    assert [line.split()[1] for line in sentences] == list(kinds)
    assert sentences[-1].endswith("vacuous, it promises nothing.")


def test_bound__json_and_plot__are_written(clf, model, table, tmp_path):
    out = bound(model, table, "--kind", "all", "--json", "--plot", tmp_path / "b.png")
    assert out.exit_code == 0, out.output
    found = json.loads(out.stdout)
    assert "at most" in out.stderr
    assert Bound.from_dict(found["bounds"][0]) == generalization_bound(clf, X, Y)
    assert len(found["bounds"]) == 5
    assert (tmp_path / "b.png").read_bytes()[:4] == b"\x89PNG"


def test_bound__labels_that_look_like_numbers__are_read_as_words(tmp_path):
    words = np.array(["NA", "01"])[Y]
    memclf.save(classifier().fit(X, words), tmp_path / "model")
    table_of(X, Y, kind=words).drop(columns="label").to_csv(tmp_path / "cases.csv", index=False)
    shown = bound(tmp_path / "model", tmp_path / "cases.csv", "--target", "kind")
    assert shown.exit_code == 0, shown.output
    assert "at most" in shown.output


def test_bound__whole_labels_written_as_floats__are_matched(clf, model, tmp_path):
    table_of(X, Y.astype(float)).to_csv(tmp_path / "cases.csv", index=False)
    assert bound(model, tmp_path / "cases.csv").output.strip() == str(generalization_bound(clf, X, Y))


def test_bound__columns_in_other_order__are_found_by_name(tmp_path):
    colour = np.array(["1", "2"])[Y]  # words that look like numbers
    sown = pd.to_datetime("2026-03-01") + pd.to_timedelta(np.arange(N) % 30, unit="D")
    cases = table_of(X, Y, colour=colour, sown=sown, soil=pd.Categorical(colour))
    cases = cases.drop(columns="label").rename(columns={"width": "class"})
    clf = MemoryClassifier(GowerSimilarity(), DummyClassifier(), threshold=0.5, random_state=0).fit(cases, Y)
    memclf.save(clf, tmp_path / "model")
    file = tmp_path / "cases.csv"
    cases[["soil", "colour", "height", "sown", "class"]].assign(target=Y, note="new").to_csv(file, index=False)
    shown = bound(tmp_path / "model", file)
    assert shown.exit_code == 0, shown.output
    assert shown.output.strip() == str(generalization_bound(clf, cases, Y))
    cases.drop(columns="height").assign(target=Y).to_csv(file, index=False)
    shown = bound(tmp_path / "model", file)
    assert shown.exit_code == 1
    assert "has other columns than the training data: missing column: 'height'" in plain(shown)
    np.savez(tmp_path / "cases.npz", X=X, y=Y)
    assert "names no columns; give a .csv file" in plain(bound(tmp_path / "model", tmp_path / "cases.npz"))


def test_bound__wrong_cases_for_the_kind__are_refused(model, table, tmp_path):
    others = tmp_path / "others.csv"
    table_of(*draw(1)).to_csv(others, index=False)
    shown = bound(model, others, "--kind", "held-out")
    assert shown.exit_code == 0, shown.output
    assert shown.output.startswith("The held-out bound for")
    for file, kind, message in ((others, "compression", "not the cases that"), (table, "held-out", "is for others")):
        shown = bound(model, file, "--kind", kind)
        assert shown.exit_code == 1
        assert message in plain(shown)


def test_bound__undefined_kind__is_named_and_others_are_shown(tmp_path):
    """Thirty memories for forty cases: the printed bound takes the root of a negative number."""
    few, y = X[:40], Y[:40]
    clf = MemoryClassifier(RBFSimilarity(gamma=50.0), DummyClassifier(), n_memories=30, threshold=1e-9, random_state=0)
    memclf.save(clf.fit(few, y), tmp_path / "model")
    table_of(few, y).to_csv(tmp_path / "cases.csv", index=False)
    shown = bound(tmp_path / "model", tmp_path / "cases.csv", "--kind", "compression", "--kind", "paper")
    assert shown.exit_code == 1
    assert shown.stdout.startswith("The compression bound")
    assert shown.stderr.startswith("error: there is no paper bound: ")
    assert len(shown.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kind", "magic"], "kind must be one of"),
        (["--delta", "1.5"], "delta must be between 0 and 1"),
        (["--given", "luck"], "given must be a list of names among"),
        (["--complexity", "guess"], "complexity must be"),
        (["--target", "colour"], "has no column 'colour'; it has 'width', 'height', 'label'"),
        (["--target", "height"], "holds labels that the classifier does not know"),
        (["--plot", "/nowhere/at/all.png"], "there is no folder /nowhere/at to write all.png into"),
        (["--target", "lable"], "has no column 'lable'; did you mean 'label'?; it has 'width', 'height', 'label'"),
    ],
)
def test_bound__wrong_option__is_one_line(model, table, options, message):
    shown = bound(model, table, *options)
    assert shown.exit_code == 1
    assert message in plain(shown)
    assert shown.stderr.startswith("error: ")
    assert len(shown.stderr.strip().splitlines()) == 1


def test_bound__random_labels__are_called_a_heuristic(tmp_path):
    tree = classifier().set_params(estimator=DecisionTreeClassifier(max_depth=1))
    noisy = np.where(np.random.default_rng(0).random(N) < 0.2, 1 - Y, Y)
    memclf.save(tree.fit(X, noisy), tmp_path / "model")
    table_of(X, noisy).to_csv(tmp_path / "cases.csv", index=False)
    shown = bound(tmp_path / "model", tmp_path / "cases.csv", "--complexity", "random labels")
    assert shown.exit_code == 0, shown.output
    assert "(heuristic: " in shown.output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("width,height\n1,2\n", "has none of the columns label, class, target, y; say --target COLUMN"),
        ("width,label\n1,0\n", "has 1 columns beside the label ('width'); the classifier takes 2"),
        ("width,height,label\n1,tall,0\n", "something else than numbers in the columns 'height'"),
        ("width,height,label\n1,2,0\n", "the cases that the classifier was fitted on: 400, not 1"),
        ("width,height,label\n1,2,red\n", "does not know: 'red'; its classes are 0, 1"),
        ("", "is empty"),
    ],
)
def test_bound__wrong_table__says_what_is_wrong(model, tmp_path, content, message):
    (tmp_path / "cases.csv").write_text(content)
    shown = bound(model, tmp_path / "cases.csv")
    assert shown.exit_code == 1
    assert message in plain(shown)


def test_bound__wrong_npz_file__says_what_is_wrong(model, tmp_path):
    file = tmp_path / "cases.npz"
    np.savez(file, X=X)
    assert "holds no array 'y'; it holds 'X'" in plain(bound(model, file))
    np.savez(file, X=X, y=Y[:5])
    assert "needs one label for each case" in plain(bound(model, file))
    np.savez(file, X=X, y=np.array([{}] * N))
    assert "allow_pickle=False" in plain(bound(model, file))
    file.write_text("no arrays")
    shown = bound(model, file)
    assert shown.exit_code == 1
    assert "error:" in shown.output


def test_bound__other_files_and_models__are_refused(model, tmp_path):
    (tmp_path / "cases.txt").write_text("?")
    assert "this classifier takes a table (.csv, " in plain(bound(model, tmp_path / "cases.txt"))
    assert "there is no file or folder" in plain(bound(model, tmp_path / "nothing.csv"))
    assert "is no model folder" in plain(bound(tmp_path / "nothing", tmp_path / "cases.txt"))
    memclf.save(MemorySelector(n_memories=2, threshold=0.1).fit(X), tmp_path / "selector")
    assert "holds a MemorySelector" in plain(bound(tmp_path / "selector", tmp_path / "cases.txt"))


def test_bound__no_pandas__names_the_extra(model, table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert 'needs pandas: pip install "memclf[tables]"' in plain(bound(model, table))


# ------------------------------------------------------------------------------------------------------------ images


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A folder with one subfolder per class, a CSV file that lists the same images, and a model fitted on them."""
    from memclf.vision import ImageCollection
    from memclf.vision.features import PatchColour
    from pictures import squares

    folder = tmp_path_factory.mktemp("images")
    images, labels = squares(45, size=48, seed=1, wrong=0.3)
    rows = ["path,class"]
    for position, (image, label) in enumerate(zip(images, labels, strict=True)):
        file = folder / "train" / label / f"{position:02}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(file)
        rows.append(f"train/{label}/{file.name},{label}")
    (folder / "train.csv").write_text("\n".join([rows[0], *sorted(rows[1:])]) + "\n")
    train = ImageCollection.from_folder(folder / "train")
    tree = TreeSimilarity(features=PatchColour())
    clf = MemoryClassifier(tree, make_pipeline(PatchColour(), LogisticRegression()), random_state=0)
    memclf.save(clf.fit(train, train.labels), folder / "model")
    return folder


def test_bound__images__are_read_from_folders_lists_and_arrays(pictures, tmp_path):
    from memclf.vision import ImageCollection

    train = ImageCollection.from_folder(pictures / "train")
    np.savez(tmp_path / "train.npz", X=np.asarray(train), y=train.labels)
    shown = [bound(pictures / "model", each) for each in (pictures / "train", pictures / "train.csv")]
    shown.append(bound(pictures / "model", tmp_path / "train.npz"))
    assert [each.exit_code for each in shown] == [0, 0, 0], shown[0].output
    assert shown[0].output.startswith("The compression bound for")
    assert shown[0].output == shown[1].output == shown[2].output


def test_bound__images_without_labels__are_refused(pictures, tmp_path):
    assert "one subfolder per class would tell them" in plain(bound(pictures / "model", pictures / "train" / "red"))
    table_of(X, Y).to_csv(tmp_path / "cases.csv", index=False)
    assert "say which one holds the paths" in plain(bound(pictures / "model", tmp_path / "cases.csv"))


def test_bound__untrusted_type__names_the_option(pictures, tmp_path):
    from memclf.vision import ImageClassifier, ImageCollection
    from memclf.vision.features import PatchColour
    from pictures import tiny

    train = ImageCollection.from_folder(pictures / "train")
    network = ImageClassifier(backbone=tiny, image_size=24, epochs=1, share_backbone=True, random_state=0)
    clf = MemoryClassifier(TreeSimilarity(features=PatchColour()), network, start="global", random_state=0)
    memclf.save(clf.fit(train, train.labels), tmp_path / "model")
    shown = bound(tmp_path / "model", pictures / "train")
    assert shown.exit_code == 1
    assert "--trusted pictures.tiny" in plain(shown)
    shown = bound(tmp_path / "model", pictures / "train", "--trusted", "pictures.tiny")
    assert shown.exit_code == 0, shown.output
    assert "vacuous, it promises nothing." in shown.output


def test_bound__held_out_with_another_kind__is_refused(model, table):
    shown = bound(model, table, "--kind", "held-out", "--kind", "compression")
    assert shown.exit_code == 1
    assert "ask for it by itself" in plain(shown)


def test_bound__complexity__may_be_a_number(model, table):
    shown = bound(model, table, "--complexity", "0.1")
    assert shown.exit_code == 0
    assert "as given" in plain(shown)


def test_bound__empty_file_or_other_separator__is_named(model, tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    assert f"{empty.name} is empty" in plain(bound(model, empty))
    other = tmp_path / "other.csv"
    other.write_text("width;height;label\n1;2;good\n")
    assert "columns must be separated by commas" in plain(bound(model, other))
