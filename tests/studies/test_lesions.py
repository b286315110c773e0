"""The acne study: lesions from folders in the documented layout, or from generated skin."""

import numpy as np
import pytest
from PIL import Image

from memclf.exceptions import StudyError
from memclf.studies import load_study, settings_for
from memclf.studies.generated import colour_patches, skin_photographs
from memclf.studies.lesions import crops, load_lesions
from memclf.vision import ImageCollection


def test_crops__photograph__show_it_around_the_box():
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


def test_acne_study__photographs__are_corrupted_before_cropping():
    settings = settings_for("acne", n_train=20, n_test=5)
    study = load_study(settings)
    photographs, lesions = skin_photographs(5, seed=1)
    expected = crops(photographs.corrupted("motion_blur", 4), lesions)
    made = study.make("motion_blur", 4)
    assert all(np.array_equal(made[i], expected[i]) for i in range(0, len(lesions), 7))
    alone = study.test.corrupted("motion_blur", 4)
    assert not np.array_equal(made[0], alone[0])
    assert "photographs are corrupted whole" in study.note


def test_load_lesions__photographs_with_masks__are_read(skin):
    train, photographs, lesions, _ = load_lesions(skin)
    assert len(photographs) == 2
    assert {lesion["split"] for lesion in lesions} == {"test"}
    assert not {info["face"] for info in train.info} & {lesion["face"] for lesion in lesions}
    cut = crops(photographs, lesions)
    for number in range(0, len(cut), 5):
        mask, info = cut.info[number]["mask"], cut.info[number]
        assert mask.shape == cut[number].shape[:2]
        assert mask[info["y0"] : info["y1"], info["x0"] : info["x1"]].sum() == info["area"] > 0


def test_crops__mask_without_box__is_enough():
    pixels = np.zeros((200, 200, 3), dtype=np.uint8)
    mask = np.zeros((200, 200), dtype=bool)
    mask[90:110, 20:60] = True
    cut = crops(ImageCollection([pixels], keys=["a"]), [{"file": "a", "label": "nodule", "face": "x", "mask": mask}])
    info = cut.info[0]
    assert (info["x1"] - info["x0"], info["y1"] - info["y0"], info["area"]) == (40, 20, 800)
    assert cut[0].shape == (120, 120, 3)
    with pytest.raises(StudyError, match="neither a box .* nor a mask"):
        crops(ImageCollection([pixels], keys=["a"]), [{"file": "a", "label": "nodule", "face": "x"}])


def test_acne_study__files_that_are_crops__are_corrupted_as_they_are(tmp_path):
    for number, image in enumerate(colour_patches(12, 64)):
        Image.fromarray(image).save(tmp_path / f"{number}.png")
    lines = [f"{n}.png,{'train' if n < 8 else 'test'},{'ab'[n % 2]},f{n},10,10,30,30\n" for n in range(12)]
    (tmp_path / "lesions.csv").write_text("file,split,label,face,x0,y0,x1,y1\n" + "".join(lines))
    train, test, lesions, _ = load_lesions(tmp_path)
    assert (len(train), len(test), lesions) == (8, 4, None)
    study = load_study(settings_for("acne", data=str(tmp_path)))
    assert study.source == "real"
    assert np.array_equal(study.make("fog", 2)[1], test.corrupted("fog", 2)[1])


def test_load_lesions__no_split__is_an_error(tmp_path):
    (tmp_path / "lesions.csv").write_text("file,label\na.png,x\n")
    with pytest.raises(StudyError, match="no column split"):
        load_lesions(tmp_path)
    (tmp_path / "lesions.csv").write_text("path,label\na.png,x\n")
    with pytest.raises(StudyError, match="needs the columns file and label; file is missing"):
        load_lesions(tmp_path)


def one_lesion_each(folder, kind=None, side=6):
    """Photographs of 60 pixels with one lesion each, and how they are listed."""
    for number, image in enumerate(colour_patches(8, 64)):
        Image.fromarray(image).save(folder / f"{number}.png")
    end = "" if kind is None else f",{kind}"
    lines = [
        f"{n}.png,{'train' if n < 4 else 'test'},{'ab'[n % 2]},f{n},9,9,{9 + side},{9 + side}{end}" for n in range(8)
    ]
    head = "file,split,label,face,x0,y0,x1,y1" + ("" if kind is None else ",kind")
    (folder / "lesions.csv").write_text("\n".join([head, *lines]))
    return load_study(settings_for("acne", data=str(folder)))


def test_acne_study__column_kind__tells_photographs_from_crops(tmp_path):
    study = one_lesion_each(tmp_path, "photograph")
    assert "photographs are corrupted whole" in study.note
    assert study.test[0].shape[:2] == (48, 48)


@pytest.mark.parametrize(("side", "warned"), [(6, True), (20, False)])
def test_acne_study__small_boxes_in_crops__are_pointed_out(tmp_path, side, warned):
    study = one_lesion_each(tmp_path, side=side)
    assert study.test[0].shape[:2] == (64, 64)
    assert ("BOXES ARE SMALL" in study.note) == warned


def test_acne_study__unknown_kind__is_an_error(tmp_path):
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
def test_load_lesions__wrong_split__is_an_error(tmp_path, lines, message):
    one_lesion_each(tmp_path)
    (tmp_path / "split.csv").write_text("file,split\n" + lines)
    with pytest.raises(StudyError, match=message):
        load_lesions(tmp_path, str(tmp_path / "split.csv"))


def test_load_lesions__lesions_outside_the_split__are_counted(tmp_path):
    one_lesion_each(tmp_path)
    (tmp_path / "other.csv").write_text("file,split\n0.png,train\n1.png,test\n")
    note = load_study(settings_for("acne", data=str(tmp_path), split=str(tmp_path / "other.csv"))).note
    assert "other.csv leaves out 6 of the 8 lesions" in note


def test_load_lesions__face_in_both_parts__is_an_error(tmp_path):
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
def test_crops__wrong_box__names_the_photograph(box, message):
    photograph = ImageCollection([np.zeros((100, 100, 3), dtype=np.uint8)], keys=["a"])
    lesion = {"file": "a", "label": "nodule", **dict(zip(("x0", "y0", "x1", "y1"), box, strict=True))}
    with pytest.raises(StudyError, match=message):
        crops(photograph, [lesion])


def test_crops__lesion_over_the_edge__keeps_its_mask():
    pixels = np.zeros((100, 100, 3), dtype=np.uint8)
    mask = np.zeros((100, 100), dtype=np.uint8)
    mask[:15, :15] = 1
    lesion = {"file": "a", "label": "nodule", "face": "x", "x0": -5, "y0": -5, "x1": 15, "y1": 15, "mask": mask}
    assert crops(ImageCollection([pixels], keys=["a"]), [lesion]).info[0]["area"] == 225
