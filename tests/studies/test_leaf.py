"""The leaf study: images from folders in the documented layout, or generated ones."""

import csv
import shutil

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from memclf.exceptions import StudyError
from memclf.studies import load_study, settings_for
from memclf.studies.generated import leaf_pictures, write_leaves
from memclf.studies.leaf import LEAF, describe_teaching, features, graded_ids, load_leaves, outlined_ids, similarity


def test_load_leaves__split_file__is_followed(leaves, tmp_path):
    train, test, how = load_leaves(leaves)
    assert (len(train), len(test)) == (40, 10)
    assert "split.csv" in how
    assert not {train.key(i) for i in range(40)} & {test.key(i) for i in range(10)}
    turned = tmp_path / "turned.csv"
    with open(leaves / "split.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    other = {"train": "test", "test": "train"}
    turned.write_text("id,split\n" + "".join(f"{row['id']},{other[row['split']]}\n" for row in rows))
    assert [len(part) for part in load_leaves(leaves, str(turned))[:2]] == [10, 40]


def test_load_leaves__no_split_file__tests_a_stratified_fifth(leaves, tmp_path):
    (tmp_path / "leaf").symlink_to(leaves / "leaf")
    (tmp_path / "dataset-full.csv").write_text((leaves / "dataset-full.csv").read_text())
    with open(leaves / "dataset-full.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    few = [row for row in rows if row["severity"] in ("1", "2")]
    lines = [f"{row['id']},{row['severity']}\n" for row in few]
    (tmp_path / "dataset-full.csv").write_text("id,severity\n" + "".join(lines))
    train, test, how = load_leaves(tmp_path)
    assert len(test) == pytest.approx(len(few) / 5, abs=1)
    assert np.mean(test.labels == 1) == pytest.approx(np.mean(train.labels == 1), abs=0.15)
    assert "stratified" in how
    again = load_leaves(tmp_path)[1]
    assert [again.key(i) for i in range(len(again))] == [test.key(i) for i in range(len(test))]


def test_load_leaves__split_without_test_images__is_an_error(leaves, tmp_path):
    (tmp_path / "split.csv").write_text("id,split\n1,train\n")
    with pytest.raises(StudyError, match="no image of the data for"):
        load_leaves(leaves, str(tmp_path / "split.csv"))
    (tmp_path / "split.csv").write_text("name,part\n1,train\n")
    with pytest.raises(StudyError, match="needs the columns id and split; id and split are missing or empty"):
        load_leaves(leaves, str(tmp_path / "split.csv"))


@pytest.mark.parametrize(
    ("lines", "message"),
    [("0,train\n1,tset\n", "says 'tset' for id 1"), ("0,train\n1,test\n0,test\n", "id 0 into both train and test")],
)
def test_load_leaves__split_that_contradicts_itself__is_an_error(leaves, tmp_path, lines, message):
    (tmp_path / "split.csv").write_text("id,split\n" + lines)
    with pytest.raises(StudyError, match=message):
        load_leaves(leaves, str(tmp_path / "split.csv"))


def test_load_leaves__images_outside_the_split__are_counted(leaves, tmp_path):
    (tmp_path / "split.csv").write_text("id,split\n0,train\n1,train\n2,test\n")
    assert "leaves out 47 of the 50 images" in load_leaves(leaves, str(tmp_path / "split.csv"))[2]


def test_load_leaves__leaf_without_severity__is_an_error(leaves, tmp_path):
    (tmp_path / "leaf").symlink_to(leaves / "leaf")
    (tmp_path / "dataset-full.csv").write_text("id,severity\n0,1\n1,\n2,2\n")
    with pytest.raises(StudyError, match="no severity for 1 images, the first is id 1"):
        load_leaves(tmp_path)


@pytest.mark.parametrize("taught", [outlined_ids()[:20], graded_ids()[:20], [*outlined_ids()[:20], *graded_ids()[:30]]])
def test_load_leaves__leaves_that_taught_the_feature__are_not_tested(tmp_path, monkeypatch, taught):
    monkeypatch.setattr("memclf.studies.leaf.is_public", lambda folder: True)
    write_leaves(tmp_path / "made", len(taught) + 40, 0, height=64, width=128)
    (tmp_path / "data" / "leaf").mkdir(parents=True)
    ids = [*taught, *(f"new{n}" for n in range(40))]
    for name, file in zip(ids, sorted((tmp_path / "made" / "leaf").iterdir()), strict=True):
        shutil.copy(file, tmp_path / "data" / "leaf" / f"{name}.jpg")
    lines = [f"{name},{n % 2}\n" for n, name in enumerate(ids)]
    (tmp_path / "data" / "dataset-full.csv").write_text("id,severity\n" + "".join(lines))
    train, test, _ = load_leaves(tmp_path / "data")
    assert len(test) == len(ids) // 5
    assert "none of them a test image" in describe_teaching(test)
    assert f"{len(taught)} of them are TEST images" in describe_teaching(train)


@pytest.mark.parametrize("ids", [graded_ids()[:50], [*graded_ids()[:45], *(f"new{n}" for n in range(5))]])
def test_load_leaves__few_leaves_or_none_that_did_not_teach__there_is_a_test_set(tmp_path, monkeypatch, ids):
    monkeypatch.setattr("memclf.studies.leaf.is_public", lambda folder: True)
    write_leaves(tmp_path / "made", 50, 0, height=64, width=128)
    (tmp_path / "data" / "leaf").mkdir(parents=True)
    for name, file in zip(ids, sorted((tmp_path / "made" / "leaf").iterdir()), strict=True):
        shutil.copy(file, tmp_path / "data" / "leaf" / f"{name}.jpg")
    lines = [f"{name},{n % 2}\n" for n, name in enumerate(ids)]
    (tmp_path / "data" / "dataset-full.csv").write_text("id,severity\n" + "".join(lines))
    train, test, how = load_leaves(tmp_path / "data")
    assert ("have not taught" in how) == any(name.startswith("new") for name in ids)
    free = sum(name.startswith("new") for name in ids)
    assert (len(train), len(test)) == ((45, 5) if free else (40, 10))


def test_load_leaves__own_leaves_with_the_same_names__are_tested_as_all_others(leaves, tmp_path):
    (tmp_path / "leaf").symlink_to(leaves / "leaf")
    (tmp_path / "dataset-full.csv").write_text((leaves / "dataset-full.csv").read_text())
    taught = {*outlined_ids(), *graded_ids()}
    test = load_leaves(tmp_path)[1]
    assert taught & {row["id"] for row in test.info}
    assert len(test) == 10


def test_taught_ids__of_the_public_leaves__are_300_and_1097_others():
    outlined, graded = outlined_ids(), graded_ids()
    assert (len(outlined), len(graded), len({*outlined, *graded})) == (300, 1097, 1397)


def test_leaf_study__authors_preset__corrupts_at_their_size():
    settings = settings_for("leaf", n_train=20, n_test=5, preset="authors-299", corrupt_at=(300, 300))
    study = load_study(settings)
    expected = study.test.corrupted("gaussian_blur", 2, preset="authors-299", at=(300, 300))
    assert np.array_equal(study.make("gaussian_blur", 2)[0], expected[0])
    assert "300 x 300" in study.note
    assert "authors-299" in study.note


@pytest.mark.parametrize("literal", [False, True])
def test_similarity__paper_feature__is_1_where_a_tree_on_f_d_and_f_b_gives_the_same_severity(literal):
    leaves = leaf_pictures(40, seed=3, height=64, width=128)
    severities = np.asarray(leaves.labels)
    made = similarity("paper", literal)
    Z = made.fit_describe(leaves, severities)
    feature = features("paper", literal).fit(leaves)
    assert feature.names == ("F_d", "F_b")
    measured = feature.transform(leaves)
    assert measured.shape == (40, 2)
    tree = DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, random_state=0).fit(measured, severities)
    told = tree.predict(measured)
    assert len(set(told.tolist())) > 1
    np.testing.assert_array_equal(made.compare(Z, Z), told[:, None] == told[None])


def test_painted__masks_of_figure_7__are_those_of_the_paper_feature():
    leaf = leaf_pictures(1, seed=3, height=64, width=128)[0]
    masks = features("paper").masks(leaf)
    assert set(LEAF.painted) == {"green", "brown", "discoloured"}
    shown = np.array([masks[name] for name in LEAF.painted])
    assert shown.dtype == bool
    assert shown.sum(axis=0).max() == 1  # a pixel has one colour at most
    assert shown.any(axis=(1, 2))[0]
