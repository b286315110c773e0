"""Paintings on disk: label images of several kinds, legends, and files that are only ever added."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from memclf.exceptions import ImageError
from memclf.vision.features import read_paintings, write_painting

REGIONS = ["background", "leaf", "symptom"]
PAINTING = np.array([[0, 1, 1, 2], [0, 2, 3, 3]])
COLOURS = np.array([(0, 0, 0), (0, 0, 255), (0, 255, 0), (255, 0, 0)], dtype=np.uint8)
LEGEND = {"#000000": "", "#0000ff": "background", "#00FF00": "leaf", "#ff0000": "symptom"}


@pytest.fixture
def folder(tmp_path):
    """Two pictures, 2 and 10, in a folder of their own."""
    (tmp_path / "images").mkdir()
    for name, value in (("2", 20), ("10", 200)):
        Image.fromarray(np.full((2, 4, 3), value, dtype=np.uint8)).save(tmp_path / f"images/{name}.png")
    return tmp_path


def indexed(values):
    image = Image.fromarray(values.astype(np.uint8)).convert("P")
    image.putpalette(COLOURS.ravel().tolist())
    return image


@pytest.mark.parametrize(
    ("image", "options"),
    [
        (Image.fromarray(PAINTING.astype(np.uint8)), {}),
        (Image.fromarray(PAINTING.astype(np.uint16)), {}),
        (indexed(PAINTING), {}),
        (indexed(PAINTING), {"legend": LEGEND}),
        (Image.fromarray(COLOURS[PAINTING]), {"legend": LEGEND}),
        (
            Image.fromarray(np.dstack([COLOURS[PAINTING], 255 * (PAINTING > 0)]).astype(np.uint8)),
            {"legend": {colour: name for colour, name in LEGEND.items() if name}},
        ),
        (
            Image.fromarray((10 * PAINTING).astype(np.uint8)),
            {"legend": {0: "", 10: "background", 20: "leaf", 30: "symptom"}},
        ),
        (Image.fromarray((PAINTING + 4).astype(np.uint8)), {"first": 5}),
    ],
    ids=[
        "grey",
        "16 bits",
        "indexed",
        "indexed by colour",
        "colour",
        "clear layer",
        "grey with a legend",
        "first number",
    ],
)
def test_read_paintings__kinds_of_files__give_the_same_painting(folder, image, options):
    (folder / "painted").mkdir()
    image.save(folder / "painted/2.png")
    images, [painting] = read_paintings(folder / "painted", REGIONS, images=folder / "images", **options)
    assert_array_equal(painting, PAINTING)
    assert images.paths == [folder / "images/2.png"]


def test_read_paintings__images_and_masks__zero_is_the_first_region_and_numbers_are_in_order(folder):
    (folder / "masks").mkdir()
    for name in ("10", "2"):
        Image.fromarray(np.maximum(PAINTING - 1, 0).astype(np.uint8)).save(folder / f"masks/{name}.png")
    images, paintings = read_paintings(folder, REGIONS)
    assert [path.stem for path in images.paths] == ["2", "10"]
    assert_array_equal(paintings[0], np.maximum(PAINTING, 1))


def test_read_paintings__legend_file__is_found_beside_the_paintings(folder):
    Image.fromarray(COLOURS[PAINTING]).save(folder / "10.png")
    (folder / "legend.csv").write_text("".join(f"{colour},{name}\n" for colour, name in LEGEND.items()))
    _, [painting] = read_paintings(folder, REGIONS)
    assert_array_equal(painting, PAINTING)


def test_write_painting__again__keeps_the_first_and_paints_over_it_when_read(folder):
    later = np.array([[3, 0, 0, 0], [0, 0, 0, 1]])
    first = write_painting(folder / "painted", "2", PAINTING)
    content = first.read_bytes()
    assert write_painting(folder / "painted", "2", later).name == "2+2.png"
    assert write_painting(folder / "painted", "2", 2 * (later == 1)).name == "2+3.png"
    assert first.read_bytes() == content
    assert sorted(path.name for path in (folder / "painted").iterdir()) == ["2+2.png", "2+3.png", "2.png"]
    _, [painting] = read_paintings(folder / "painted", REGIONS, images=folder / "images")
    assert_array_equal(painting, [[3, 1, 1, 2], [0, 2, 3, 2]])


def test_write_painting__what_is_no_painting__is_refused_and_nothing_is_written(tmp_path):
    for wrong in (np.zeros((2, 2, 3), dtype=int), np.zeros((2, 2)), np.full((2, 2), 300), np.full((2, 2), -1)):
        with pytest.raises(ImageError, match="wanted are whole numbers from 0 to 255, height x width"):
            write_painting(tmp_path / "painted", "2", wrong)
    assert not (tmp_path / "painted").exists()


def test_read_paintings__what_cannot_be_read__is_named(folder):
    painted = folder / "painted"
    read = lambda **options: read_paintings(painted, REGIONS, images=folder / "images", **options)  # noqa: E731
    with pytest.raises(ImageError, match="painted holds no paintings"):
        read()
    painted.mkdir()
    with pytest.raises(ImageError, match="holds no paintings: they are PNG files named as their pictures are"):
        read()
    with pytest.raises(ImageError, match="there is no folder .*pictures; give the folder of the pictures as images="):
        read_paintings(painted, REGIONS, images=folder / "pictures")
    Image.fromarray(COLOURS[PAINTING]).save(painted / "2.png")
    with pytest.raises(ImageError, match=r"2.png is painted in colours: .*#ff0000 \(2 pixels\).*Say which colour"):
        read()
    with pytest.raises(
        ImageError, match="2.png holds the colours #ff0000, which are no region; known are #000000, #0000"
    ):
        read(legend={colour: name for colour, name in LEGEND.items() if name != "symptom"})
    with pytest.raises(ImageError, match="the legend has the region 'symptoms'; the regions are 'background', 'leaf'"):
        read(legend={"#ff0000": "symptoms"})
    with pytest.raises(ImageError, match="the legend has 'red'; wanted is a whole number or a colour"):
        read(legend={"red": "symptom"})
    with pytest.raises(ImageError, match="there is no legend .*none.csv; it is a file with lines such as #ff0000,sym"):
        read(legend=folder / "none.csv")
    (folder / "wrong.csv").write_text("#ff0000;symptom\n")
    with pytest.raises(ImageError, match="has a line '#ff0000;symptom'; wanted are lines such as #ff0000,symptom"):
        read(legend=folder / "wrong.csv")
    Image.fromarray((PAINTING + 5).astype(np.uint8)).save(painted / "2.png")
    with pytest.raises(
        ImageError, match="2.png holds the values 5, 6, 7, 8, which are no region; known are 1 to 3 and 0"
    ):
        read()
    Image.fromarray(PAINTING.astype(np.uint8)).save(painted / "2.png")
    Image.fromarray(PAINTING[:1].astype(np.uint8)).save(painted / "2+2.png")
    with pytest.raises(ImageError, match=r"2\+2.png has shape \(1, 4\), the painting before it \(2, 4\)"):
        read()
    (painted / "3.png").write_bytes(b"nothing")
    with pytest.raises(ImageError, match="3.png has no picture: there is no image file 3"):
        read()
    (painted / "3.png").rename(painted / "10.png")
    (painted / "2+2.png").unlink()
    with pytest.raises(ImageError, match="10.png cannot be read as a PNG file"):
        read()


def test_write_painting__name_of_a_file_or_in_a_folder__is_the_picture_or_refused(tmp_path):
    painting = np.ones((4, 5), dtype=np.uint8)
    assert write_painting(tmp_path, "leaf7.jpg", painting).name == "leaf7.png"
    with pytest.raises(ImageError, match="without folders; got 'rust/leaf7'"):
        write_painting(tmp_path, "rust/leaf7", painting)
