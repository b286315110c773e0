"""Where the images of the studies come from: folders in the documented layouts, or generators."""

import csv

import numpy as np
import pytest

from memclf.exceptions import StudyError
from memclf.studies import load_study, settings_for
from memclf.studies.generated import colour_patches, skin_photographs, write_leaves, write_skin
from memclf.studies.leaf import load_leaves
from memclf.studies.lesions import crops, load_lesions
from memclf.vision import ImageCollection


@pytest.fixture(scope="module")
def leaves(tmp_path_factory):
    return write_leaves(tmp_path_factory.mktemp("leaves"), 40, 10, height=64, width=128)


@pytest.fixture(scope="module")
def skin(tmp_path_factory):
    return write_skin(tmp_path_factory.mktemp("skin"), 3, 2, size=256, masks=True)


def test_leaves_follow_the_split_file(leaves, tmp_path):
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


def test_without_a_split_file_a_stratified_fifth_is_for_testing(leaves, tmp_path):
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


def test_a_split_that_names_no_test_images_is_an_error(leaves, tmp_path):
    (tmp_path / "split.csv").write_text("id,split\n1,train\n")
    with pytest.raises(StudyError, match="no image of the data for"):
        load_leaves(leaves, str(tmp_path / "split.csv"))
    (tmp_path / "split.csv").write_text("name,part\n1,train\n")
    with pytest.raises(StudyError, match="needs the columns id and split; id and split are missing or empty"):
        load_leaves(leaves, str(tmp_path / "split.csv"))


def test_a_crop_is_what_the_photograph_shows_around_the_box():
    photographs, lesions = skin_photographs(2, size=256)
    cut = crops(photographs, lesions)
    assert len(cut) == len(lesions)
    inside = 0
    for number, lesion in enumerate(lesions):
        info, crop = cut.info[number], cut[number]
        box = crop[info["y0"] : info["y1"], info["x0"] : info["x1"]]
        photograph = photographs[["face-000", "face-001"].index(lesion["file"])]
        x0, y0, x1, y1 = (lesion[name] for name in ("x0", "y0", "x1", "y1"))
        inside += 1
        assert np.array_equal(box, photograph[y0:y1, x0:x1])
        assert crop.shape[0] == crop.shape[1]
        assert info["area"] == (x1 - x0) * (y1 - y0)
        assert "label" not in info
    assert inside == len(lesions)


def test_photographs_are_corrupted_whole_before_lesions_are_cropped():
    settings = settings_for("acne", n_train=20, n_test=5)
    study = load_study(settings)
    photographs, lesions = skin_photographs(5, seed=1)
    expected = crops(photographs.corrupted("motion_blur", 4), lesions)
    made = study.make("motion_blur", 4)
    assert all(np.array_equal(made[i], expected[i]) for i in range(0, len(lesions), 7))
    alone = study.test.corrupted("motion_blur", 4)
    assert not np.array_equal(made[0], alone[0])
    assert "photographs are corrupted whole" in study.note


def test_photographs_with_masks_are_read_from_a_folder(skin):
    train, photographs, lesions, _ = load_lesions(skin)
    assert len(photographs) == 2
    assert {lesion["split"] for lesion in lesions} == {"test"}
    assert not {info["face"] for info in train.info} & {lesion["face"] for lesion in lesions}
    cut = crops(photographs, lesions)
    for number in range(0, len(cut), 5):
        mask, info = cut.info[number]["mask"], cut.info[number]
        assert mask.shape == cut[number].shape[:2]
        assert mask[info["y0"] : info["y1"], info["x0"] : info["x1"]].sum() == info["area"] > 0


def test_a_mask_alone_says_where_a_lesion_is():
    pixels = np.zeros((200, 200, 3), dtype=np.uint8)
    mask = np.zeros((200, 200), dtype=bool)
    mask[90:110, 20:60] = True
    cut = crops(ImageCollection([pixels], keys=["a"]), [{"file": "a", "label": "nodule", "face": "x", "mask": mask}])
    info = cut.info[0]
    assert (info["x1"] - info["x0"], info["y1"] - info["y0"], info["area"]) == (40, 20, 800)
    assert cut[0].shape == (120, 120, 3)
    with pytest.raises(StudyError, match="neither a box .* nor a mask"):
        crops(ImageCollection([pixels], keys=["a"]), [{"file": "a", "label": "nodule", "face": "x"}])


def test_crops_that_are_files_of_their_own_are_corrupted_as_they_are(tmp_path):
    for number, image in enumerate(colour_patches(12, 64)):
        from PIL import Image

        Image.fromarray(image).save(tmp_path / f"{number}.png")
    lines = [f"{n}.png,{'train' if n < 8 else 'test'},{'ab'[n % 2]},f{n},10,10,30,30\n" for n in range(12)]
    (tmp_path / "lesions.csv").write_text("file,split,label,face,x0,y0,x1,y1\n" + "".join(lines))
    train, test, lesions, _ = load_lesions(tmp_path)
    assert (len(train), len(test), lesions) == (8, 4, None)
    study = load_study(settings_for("acne", data=str(tmp_path)))
    assert study.source == "real"
    assert np.array_equal(study.make("fog", 2)[1], test.corrupted("fog", 2)[1])


def test_lesions_without_a_split_need_one(tmp_path):
    (tmp_path / "lesions.csv").write_text("file,label\na.png,x\n")
    with pytest.raises(StudyError, match="no column split"):
        load_lesions(tmp_path)
    (tmp_path / "lesions.csv").write_text("path,label\na.png,x\n")
    with pytest.raises(StudyError, match="needs the columns file and label; file is missing"):
        load_lesions(tmp_path)


@pytest.mark.parametrize("name", ["color", "leaf", "acne"])
def test_generated_data_say_so_loudly_and_test_images_are_not_training_images(name):
    study = load_study(settings_for(name, n_train=20, n_test=6))
    assert study.source == "generated"
    assert "generated" in study.note.lower()
    train = {np.ascontiguousarray(image).tobytes() for image in study.train}
    assert not train & {np.ascontiguousarray(image).tobytes() for image in study.test}
    assert study.digest() == load_study(settings_for(name, n_train=20, n_test=6)).digest()
    assert study.digest() != load_study(settings_for(name, n_train=20, n_test=7)).digest()


def test_the_authors_pipeline_corrupts_at_their_size():
    settings = settings_for("leaf", n_train=20, n_test=5, preset="authors-299", corrupt_at=(300, 300))
    study = load_study(settings)
    expected = study.test.corrupted("gaussian_blur", 2, preset="authors-299", at=(300, 300))
    assert np.array_equal(study.make("gaussian_blur", 2)[0], expected[0])
    assert "300 x 300" in study.note
    assert "authors-299" in study.note


def test_the_digest_notices_a_single_image_and_a_single_box(leaves, skin, tmp_path):
    import shutil

    from PIL import Image

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


def test_leaves_that_taught_the_feature_stay_out_of_the_test_set(tmp_path):
    import shutil

    from memclf.studies.leaf import describe_teaching, outlined_ids

    write_leaves(tmp_path / "made", 60, 0, height=64, width=128)
    (tmp_path / "data" / "leaf").mkdir(parents=True)
    ids = [*outlined_ids()[:20], *(f"new{n}" for n in range(40))]
    for name, file in zip(ids, sorted((tmp_path / "made" / "leaf").iterdir()), strict=True):
        shutil.copy(file, tmp_path / "data" / "leaf" / f"{name}.jpg")
    lines = [f"{name},{n % 2}\n" for n, name in enumerate(ids)]
    (tmp_path / "data" / "dataset-full.csv").write_text("id,severity\n" + "".join(lines))
    train, test, _ = load_leaves(tmp_path / "data")
    assert len(outlined_ids()) == len(set(outlined_ids())) == 300
    assert len(test) == 12
    assert "none of them a test image" in describe_teaching(test)
    assert "20 of them are TEST images" in describe_teaching(train)


def one_lesion_each(folder, kind=None, side=6):
    """Photographs of 60 pixels with one lesion each, and how they are listed."""
    from PIL import Image

    for number, image in enumerate(colour_patches(8, 64)):
        Image.fromarray(image).save(folder / f"{number}.png")
    end = "" if kind is None else f",{kind}"
    lines = [
        f"{n}.png,{'train' if n < 4 else 'test'},{'ab'[n % 2]},f{n},9,9,{9 + side},{9 + side}{end}" for n in range(8)
    ]
    head = "file,split,label,face,x0,y0,x1,y1" + ("" if kind is None else ",kind")
    (folder / "lesions.csv").write_text("\n".join([head, *lines]))
    return load_study(settings_for("acne", data=str(folder)))


def test_photographs_of_one_lesion_each_may_be_called_what_they_are(tmp_path):
    study = one_lesion_each(tmp_path, "photograph")
    assert "photographs are corrupted whole" in study.note
    assert study.test[0].shape[:2] == (48, 48)


@pytest.mark.parametrize(("side", "warned"), [(6, True), (20, False)])
def test_crops_that_look_like_photographs_are_pointed_out(tmp_path, side, warned):
    study = one_lesion_each(tmp_path, side=side)
    assert study.test[0].shape[:2] == (64, 64)
    assert ("BOXES ARE SMALL" in study.note) == warned


def test_another_kind_of_file_is_an_error(tmp_path):
    with pytest.raises(StudyError, match="the column kind .* holds photograph or crop, the same in all rows"):
        one_lesion_each(tmp_path, "drawing")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("0.png,train\n4.png", "says '' for file 4.png"),
        ("0.png,train\n4.png,val", "says 'val' for file 4.png"),
        ("0.png,train\n1.png,train", "names no lesion for 'test'"),
        ("0.png,train\n0.png,test", "file 0.png into both"),
    ],
)
def test_a_split_of_lesions_that_makes_no_sense_is_an_error(tmp_path, lines, message):
    one_lesion_each(tmp_path)
    (tmp_path / "split.csv").write_text("file,split\n" + lines)
    with pytest.raises(StudyError, match=message):
        load_lesions(tmp_path, str(tmp_path / "split.csv"))


def test_lesions_that_a_split_leaves_out_are_counted(tmp_path):
    one_lesion_each(tmp_path)
    (tmp_path / "other.csv").write_text("file,split\n0.png,train\n1.png,test\n")
    note = load_study(settings_for("acne", data=str(tmp_path), split=str(tmp_path / "other.csv"))).note
    assert "other.csv leaves out 6 of the 8 lesions" in note


def test_a_face_in_both_parts_is_an_error(tmp_path):
    lines = ["a.png,train,x,f1,1,1,9,9\n", "b.png,test,y,f1,1,1,9,9\n"]
    (tmp_path / "lesions.csv").write_text("file,split,label,face,x0,y0,x1,y1\n" + "".join(lines))
    with pytest.raises(StudyError, match="the face f1 is in both train and test"):
        load_lesions(tmp_path)


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ((500, 500, 520, 520), "lesion 1 of a: the box .* lies outside"),
        (("nan", 1, 2, 3), "lesion 1 of a: .*must be four numbers"),
        ((9, 9, 9, 20), "lesion 1 of a: .*is empty"),
    ],
)
def test_a_box_that_makes_no_sense_names_the_photograph(box, message):
    photograph = ImageCollection([np.zeros((100, 100, 3), dtype=np.uint8)], keys=["a"])
    lesion = {"file": "a", "label": "nodule", **dict(zip(("x0", "y0", "x1", "y1"), box, strict=True))}
    with pytest.raises(StudyError, match=message):
        crops(photograph, [lesion])


def test_a_lesion_over_the_edge_keeps_its_mask():
    pixels = np.zeros((100, 100, 3), dtype=np.uint8)
    mask = np.zeros((100, 100), dtype=np.uint8)
    mask[:15, :15] = 1
    lesion = {"file": "a", "label": "nodule", "face": "x", "x0": -5, "y0": -5, "x1": 15, "y1": 15, "mask": mask}
    assert crops(ImageCollection([pixels], keys=["a"]), [lesion]).info[0]["area"] == 225


def test_nobody_s_images_are_taken_for_the_public_ones(leaves, skin, tmp_path):
    import shutil

    made = load_study(settings_for("leaf", data=str(leaves)))
    assert made.source == "generated"
    folder = tmp_path / "mine"
    shutil.copytree(leaves, folder)
    (folder / "GENERATED.txt").unlink()
    mine = load_study(settings_for("leaf", data=str(folder)))
    assert (mine.source, "Esgario" in mine.note) == ("real", False)
    assert load_study(settings_for("acne", data=str(skin))).source == "generated"


def test_a_leaf_without_a_severity_is_an_error(leaves, tmp_path):
    (tmp_path / "leaf").symlink_to(leaves / "leaf")
    (tmp_path / "dataset-full.csv").write_text("id,severity\n0,1\n1,\n2,2\n")
    with pytest.raises(StudyError, match="no severity for 1 images, the first is id 1"):
        load_leaves(tmp_path)


@pytest.mark.parametrize(
    ("lines", "message"),
    [("0,train\n1,tset\n", "says 'tset' for id 1"), ("0,train\n1,test\n0,test\n", "id 0 into both train and test")],
)
def test_a_split_that_contradicts_itself_is_an_error(leaves, tmp_path, lines, message):
    (tmp_path / "split.csv").write_text("id,split\n" + lines)
    with pytest.raises(StudyError, match=message):
        load_leaves(leaves, str(tmp_path / "split.csv"))


def test_images_that_a_split_leaves_out_are_counted(leaves, tmp_path):
    (tmp_path / "split.csv").write_text("id,split\n0,train\n1,train\n2,test\n")
    assert "leaves out 47 of the 50 images" in load_leaves(leaves, str(tmp_path / "split.csv"))[2]


def test_all_broken_images_are_named_before_any_training(leaves, tmp_path):
    import shutil

    from memclf.studies.run import run_study

    folder = tmp_path / "leaves"
    shutil.copytree(leaves, folder)
    for name in ("3", "45"):
        (folder / "leaf" / f"{name}.jpg").write_bytes(b"no picture")
    with pytest.raises(StudyError, match="1 images cannot be read.*3.jpg"):
        run_study(settings_for("leaf", data=str(folder)), tmp_path / "run")
    assert not (tmp_path / "run").exists()
