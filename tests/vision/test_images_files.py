"""Images in files: formats, orientation, limits, folders and CSV files, and when they are read."""

import csv
import io
import pickle
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from memclf.exceptions import ImageError
from memclf.vision import ImageCollection, read_image

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (12, 18, 3), dtype=np.uint8)


def saved(path, pixels=PIXELS, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)
    return path


def png_header(width, height):
    """The beginning of a PNG file that claims a size and holds next to nothing."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    start = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", start) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


# ---------------------------------------------------------------------------------------------- formats


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".tif", ".ppm"])
def test_lossless_formats_give_the_pixels_back(tmp_path, suffix):
    np.testing.assert_array_equal(read_image(saved(tmp_path / f"image{suffix}")), PIXELS)


@pytest.mark.parametrize("suffix", [".jpg", ".webp", ".gif"])
def test_lossy_formats_give_nearly_the_pixels_back(tmp_path, suffix):
    smooth = np.linspace(0, 255, 24 * 24, dtype=np.uint8).reshape(24, 24, 1).repeat(3, axis=2)
    read = read_image(saved(tmp_path / f"image{suffix}", smooth))
    assert read.dtype == np.uint8
    assert np.abs(read.astype(int) - smooth).max() < 12


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", [".jpg", ".png"])
def test_photographs_are_turned_upright(tmp_path, orientation, suffix):
    upright = np.zeros((16, 32, 3), dtype=np.uint8)
    upright[:8, :16] = 255, 0, 0  # red top left, green top right, blue bottom left
    upright[:8, 16:] = 0, 255, 0
    upright[8:, :16] = 0, 0, 255
    # What a camera in that position stores: the inverse of what the reader has to do.
    stored = {
        1: upright,
        2: upright[:, ::-1],
        3: upright[::-1, ::-1],
        4: upright[::-1],
        5: upright.transpose(1, 0, 2),
        6: np.rot90(upright, 1),
        7: upright[::-1, ::-1].transpose(1, 0, 2),
        8: np.rot90(upright, -1),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    read = read_image(saved(tmp_path / f"photo{suffix}", np.ascontiguousarray(stored), exif=exif.tobytes()))
    assert read.shape == upright.shape
    assert np.abs(read[4::8, 8::16].astype(int) - upright[4::8, 8::16]).max() < 10


def test_grey_files_of_16_bits_keep_their_upper_8(tmp_path):
    grey = np.array([[0, 255, 256], [32768, 65279, 65535]], dtype=np.uint16)
    read = read_image(saved(tmp_path / "grey.png", grey))
    np.testing.assert_array_equal(read[:, :, 0], grey >> 8)
    assert (read == read[:, :, :1]).all()


def test_floating_point_files_are_read_as_floating_point_arrays_are(tmp_path):
    values = np.array([[0.0, 0.4], [0.999, 1.0]], dtype=np.float32)
    read = read_image(saved(tmp_path / "float.tif", values))
    np.testing.assert_array_equal(read[:, :, 0], [[0, 102], [255, 255]])
    with pytest.raises(ImageError, match=r"large.tif holds float32 from 0.0 to 255.0; .*: divide it by 255"):
        read_image(saved(tmp_path / "large.tif", values * 255))


def test_read_image__32_bit_integers_of_16_bits__are_read_as_those(tmp_path):
    grey = np.array([[0, 255], [32768, 65535]], dtype=np.int32)
    np.testing.assert_array_equal(read_image(saved(tmp_path / "grey.tif", grey))[:, :, 0], grey >> 8)


@pytest.mark.parametrize("values", [[[0, 70000]], [[-5, 9]], [[0, 200]]], ids=["large", "negative", "8 bits"])
def test_read_image__32_bit_integers_of_unknown_range__says_what_to_do(tmp_path, values):
    file = saved(tmp_path / "deep.tif", np.array(values, dtype=np.int32))
    with pytest.raises(ImageError, match=r"deep.tif is a 32-bit image with values .* Convert it to 8 or 16") as error:
        read_image(file)
    assert "broken" not in str(error.value)


def test_files_of_one_bit_are_black_and_white(tmp_path):
    Image.fromarray(np.eye(9, dtype=np.uint8) * 255).convert("1").save(tmp_path / "bits.png")
    np.testing.assert_array_equal(read_image(tmp_path / "bits.png")[:, :, 1], np.eye(9) * 255)


def test_palettes_with_transparency_are_laid_on_white(tmp_path):
    image = Image.fromarray(np.array([[0, 1], [2, 1]], dtype=np.uint8), mode=None).convert("P")
    image.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
    image.save(tmp_path / "palette.png", transparency=1)
    expected = [[(255, 0, 0), (255, 255, 255)], [(0, 0, 255), (255, 255, 255)]]
    np.testing.assert_array_equal(read_image(tmp_path / "palette.png"), expected)


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_files_with_transparency_are_laid_on_white(tmp_path, mode):
    Image.new(mode, (4, 3), 0).save(tmp_path / "clear.png")
    assert (read_image(tmp_path / "clear.png") == 255).all()


def test_printers_colours_are_converted(tmp_path):
    Image.new("CMYK", (20, 10), (0, 255, 255, 0)).save(tmp_path / "print.jpg", quality=95)
    read = read_image(tmp_path / "print.jpg")
    assert read.shape == (10, 20, 3)
    assert np.abs(read.astype(int) - [255, 0, 0]).max() < 5


def test_an_animation_shows_its_first_picture(tmp_path):
    frames = [Image.new("RGB", (6, 5), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:])
    assert (read_image(tmp_path / "moving.gif") == [255, 0, 0]).all()


# ---------------------------------------------------------------------------------------------- broken files


def test_a_truncated_file_is_named(tmp_path):
    for suffix in (".jpg", ".png"):
        whole = saved(tmp_path / f"whole{suffix}", RNG.integers(0, 256, (64, 64, 3), dtype=np.uint8)).read_bytes()
        cut = tmp_path / f"cut{suffix}"
        cut.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(ImageError, match=f"cut{suffix} is broken or truncated"):
            read_image(cut)


def test_an_empty_file_is_named(tmp_path):
    (tmp_path / "empty.png").touch()
    with pytest.raises(ImageError, match="empty.png is empty"):
        read_image(tmp_path / "empty.png")


def test_a_file_that_is_no_image_is_named(tmp_path):
    (tmp_path / "text.jpg").write_text("I am not an image")
    with pytest.raises(ImageError, match="text.jpg is not an image of a known format"):
        read_image(tmp_path / "text.jpg")


def test_missing_files_and_folders_are_named(tmp_path):
    with pytest.raises(ImageError, match="none.png cannot be read: No such file"):
        read_image(tmp_path / "none.png")
    with pytest.raises(ImageError, match="cannot be read: Is a directory"):
        read_image(tmp_path)


def test_an_absurdly_large_image_is_refused_before_it_is_decoded(tmp_path):
    path = tmp_path / "bomb.png"
    path.write_bytes(png_header(60_000, 60_000))
    with pytest.raises(ImageError, match="bomb.png has (60000 x 60000|more) pixels"):
        read_image(path)
    with pytest.raises(ImageError, match="bomb.png"):
        ImageCollection([path])[0]


def test_the_limit_of_pixels_can_be_lowered_and_raised(tmp_path):
    path = saved(tmp_path / "image.png")
    with pytest.raises(ImageError, match=r"image.png has 18 x 12 pixels, more than max_pixels=215"):
        read_image(path, max_pixels=215)
    assert read_image(path, max_pixels=216).shape == (12, 18, 3)
    with pytest.raises(ImageError, match="more than max_pixels=215"):
        ImageCollection([path], max_pixels=215)[:][0]


def test_the_callers_limit_goes_above_pillows_own(tmp_path, monkeypatch):
    path = saved(tmp_path / "image.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50)  # of which Pillow refuses the double, and warns from it on
    with pytest.raises(ImageError, match="image.png has more pixels than max_pixels=40"):
        read_image(path, max_pixels=40)
    assert read_image(path, max_pixels=216).shape == (12, 18, 3)
    assert Image.MAX_IMAGE_PIXELS == 50


def test_the_limit_of_bytes_is_checked_before_reading(tmp_path):
    path = saved(tmp_path / "image.png")
    size = path.stat().st_size
    with pytest.raises(ImageError, match=f"image.png has {size} bytes, more than max_bytes={size - 1}"):
        read_image(path, max_bytes=size - 1)
    assert read_image(path, max_bytes=size).shape == (12, 18, 3)


# ---------------------------------------------------------------------------------------------- folders


@pytest.fixture
def folder(tmp_path):
    for name in ("healthy/b.png", "healthy/a.PNG", "sick/deep/er/c.jpg", "sick/.hidden.png", ".cache/d.png"):
        saved(tmp_path / "images" / name)
    (tmp_path / "images" / "notes.txt").write_text("not an image")
    return tmp_path / "images"


def test_a_folder_per_class_gives_images_in_order_and_their_labels(folder):
    for images in (ImageCollection(folder), ImageCollection.from_folder(str(folder))):
        assert [images.key(position) for position in range(3)] == [
            "healthy/a.PNG",
            "healthy/b.png",
            "sick/deep/er/c.jpg",
        ]
        assert images.labels.tolist() == ["healthy", "healthy", "sick"]
        assert images.paths[1] == folder / "healthy" / "b.png"
        assert repr(images) == "ImageCollection(3 files, 2 classes)"


def test_a_folder_of_images_alone_has_no_labels(tmp_path):
    saved(tmp_path / "one.png")
    images = ImageCollection(tmp_path)
    assert images.labels is None
    assert len(images) == 1


def test_images_beside_class_folders_are_refused(folder):
    saved(folder / "stray.png")
    with pytest.raises(ImageError, match=r"holds both class folders and loose images \(stray.png\)"):
        ImageCollection(folder)


def test_folders_without_images_and_files_in_their_place_are_refused(tmp_path):
    with pytest.raises(ImageError, match="holds no images"):
        ImageCollection(tmp_path)
    with pytest.raises(ImageError, match="there is no folder .*absent"):
        ImageCollection.from_folder(tmp_path / "absent")
    with pytest.raises(ImageError, match=r"one.png is neither a folder nor a CSV file; wrap a single image's path"):
        ImageCollection(saved(tmp_path / "one.png"))


def test_the_key_of_a_file_does_not_depend_on_where_the_folder_is(folder, tmp_path):
    moved = folder.rename(tmp_path / "elsewhere")
    noisy = ImageCollection(moved).corrupted("gaussian_noise", 1)
    assert noisy.key(0) == "healthy/a.PNG"


# ---------------------------------------------------------------------------------------------- CSV files


def listed(tmp_path, rows, name="list.csv", encoding="utf-8"):
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
    (tmp_path / name).write_text(text.getvalue(), encoding=encoding)
    return tmp_path / name


@pytest.fixture
def table(tmp_path):
    rows = []
    for number in range(4):
        saved(tmp_path / "leaf" / f"{number}.png", np.full((4, 4, 3), number, dtype=np.uint8))
        rows.append({"id": number, "severity": number % 2, "split": "train" if number else "test", "x0": number + 0.5})
    return listed(tmp_path, rows)


def test_a_csv_file_gives_paths_by_a_pattern_labels_and_info(table):
    images = ImageCollection.from_csv(table, path="leaf/{id}.png", label="severity")
    assert [image[0, 0, 0] for image in images] == [0, 1, 2, 3]
    assert images.labels.tolist() == [0, 1, 0, 1]
    assert images.info[2] == {"id": "2", "split": "train", "x0": "2.5"}
    assert images.key(3) == "leaf/3.png"


def test_rows_of_a_csv_file_are_chosen_by_their_values(table):
    images = ImageCollection.from_csv(
        table, path="leaf/{id}.png", label="severity", where={"split": "train", "severity": 1}
    )
    assert [image[0, 0, 0] for image in images] == [1, 3]


def test_usual_names_of_columns_are_found(tmp_path):
    saved(tmp_path / "a.png")
    images = ImageCollection(listed(tmp_path, [{"note": "n", "file": "a.png", "class": "x"}], encoding="utf-8-sig"))
    assert images.labels.tolist() == ["x"]
    assert images[0].shape == (12, 18, 3)


def test_paths_may_be_relative_to_another_folder(tmp_path):
    saved(tmp_path / "pictures" / "a.png")
    file = listed(tmp_path, [{"path": "a.png"}])
    with pytest.raises(ImageError, match="there is no file .*a.png"):
        ImageCollection(file)
    images = ImageCollection.from_csv(file, root=tmp_path / "pictures")
    assert images.labels is None
    assert len(images) == 1


def test_mistakes_about_a_csv_file_are_explained(table, tmp_path):
    with pytest.raises(ImageError, match=r"has the columns \['id', .*\]; say which one holds the paths"):
        ImageCollection(table)
    with pytest.raises(ImageError, match="has no column 'stage'; it has"):
        ImageCollection.from_csv(table, path="leaf/{id}.png", label="stage")
    with pytest.raises(ImageError, match="has no column 'fold'"):
        ImageCollection.from_csv(table, path="leaf/{id}.png", where={"fold": "1"})
    with pytest.raises(ImageError, match="lists no images with {'split': 'exam'}"):
        ImageCollection.from_csv(table, path="leaf/{id}.png", where={"split": "exam"})
    with pytest.raises(ImageError, match="path='leaf/{name}.png' does not fit the columns"):
        ImageCollection.from_csv(table, path="leaf/{name}.png")
    with pytest.raises(ImageError, match=r"4 of \d+ files do not exist: .*0.jpg, .*1.jpg"):
        ImageCollection.from_csv(table, path="leaf/{id}.jpg")
    with pytest.raises(ImageError, match="cannot be read as a CSV file"):
        ImageCollection.from_csv(tmp_path / "none.csv")
    (tmp_path / "ragged.csv").write_text("path,label\na.png,1\nb.png\n")
    with pytest.raises(ImageError, match="row 2 of .*ragged.csv has more or fewer values than the columns"):
        ImageCollection(tmp_path / "ragged.csv")
    (tmp_path / "bytes.csv").write_bytes(b"path\n\xff\xfe\n")
    with pytest.raises(ImageError, match="bytes.csv cannot be read as a CSV file"):
        ImageCollection(tmp_path / "bytes.csv")


# ---------------------------------------------------------------------------------------------- laziness


def test_nothing_is_read_before_it_is_needed(tmp_path):
    paths = [saved(tmp_path / f"{number}.png") for number in range(3)]
    images = ImageCollection(paths, labels=[0, 1, 0])
    paths[1].unlink()
    broken = images.corrupted("contrast", 2)[[1, 2]]
    assert broken.labels.tolist() == [1, 0]
    assert images[0].shape == (12, 18, 3)
    with pytest.raises(ImageError, match="1.png cannot be read"):
        images[1]
    with pytest.raises(ImageError, match="1.png cannot be read"):
        list(broken)


def test_loaded_images_do_not_need_their_files_any_more(tmp_path):
    images = ImageCollection([saved(tmp_path / "a.png")])
    loaded = images.loaded()
    (tmp_path / "a.png").unlink()
    np.testing.assert_array_equal(loaded[0], PIXELS)
    assert loaded.key(0) == images.key(0)
    assert loaded.paths == [None]


def test_pickles_of_files_hold_paths_and_no_pixels(tmp_path):
    big = RNG.integers(0, 256, (300, 300, 3), dtype=np.uint8)
    images = ImageCollection([saved(tmp_path / "a.png", big)])
    content = pickle.dumps(images)
    assert len(content) < 5000
    np.testing.assert_array_equal(pickle.loads(content)[0], big)


def test_pickles_of_relative_paths_are_read_from_another_folder(tmp_path, monkeypatch):
    saved(tmp_path / "a.png")
    monkeypatch.chdir(tmp_path)
    images = ImageCollection(["a.png", PIXELS[:5]])
    content = pickle.dumps(images)
    assert images.paths == [Path("a.png"), None]
    monkeypatch.chdir(tmp_path.parent)
    again = pickle.loads(content)
    np.testing.assert_array_equal(again[0], PIXELS)
    assert again.joined([PIXELS])[2].shape == PIXELS.shape


def test_packed__images_take_rows_along_and_no_pixels(tmp_path):
    big = RNG.integers(0, 256, (300, 300, 3), dtype=np.uint8)
    images = ImageCollection([saved(tmp_path / "a.png", big), saved(tmp_path / "b.png")])
    asked = []

    def means(some):
        asked.append(len(some))
        return np.array([image.mean() for image in some])

    assert images.packed() is images
    once = images.remembered()
    rows, mild = once.compute_once("mean", means), once.perturbed().compute_once("mean", means)
    content = pickle.dumps(once.packed()[[1, 0]])
    assert len(content) < 10_000
    again = pickle.loads(content)
    np.testing.assert_array_equal(again.compute_once("mean", means), rows[::-1])
    np.testing.assert_array_equal(again.perturbed()[:1].compute_once("mean", means), mild[1:])
    assert asked == [2, 2]
    np.testing.assert_array_equal(again[1], big)


def test_files_and_arrays_may_stand_side_by_side(tmp_path):
    images = ImageCollection([saved(tmp_path / "a.png"), PIXELS[:5]])
    assert [image.shape for image in images] == [(12, 18, 3), (5, 18, 3)]
    assert images.paths == [tmp_path / "a.png", None]


def test_the_same_image_gets_the_same_draw_from_a_file_in_any_order(tmp_path):
    paths = [saved(tmp_path / f"{number}.png", np.full((40, 40, 3), 99, dtype=np.uint8)) for number in range(3)]
    noisy = ImageCollection(paths).corrupted("gaussian_noise", 2)
    assert not np.array_equal(noisy[0], noisy[1])
    np.testing.assert_array_equal(noisy[[2, 0]][1], noisy[0])


def test_remembered__files__are_read_once(tmp_path, monkeypatch):
    from memclf.vision import images as module

    files = []
    for position in range(6):
        files.append(tmp_path / f"{position}.png")
        Image.fromarray(np.arange(4800, dtype=np.uint16).reshape(40, 40, 3).astype(np.uint8) + position).save(files[-1])
    reads = []
    real = module.read_image
    monkeypatch.setattr(module, "read_image", lambda path, **limits: reads.append(path.name) or real(path, **limits))
    images = ImageCollection(files)
    once = images.remembered()
    assert not reads
    assert [image[0, 0, 0] for image in once] == [image[0, 0, 0] for image in once[::-1][::-1]]
    assert sorted(reads) == [file.name for file in files]
    assert once.remembered() is once
    np.testing.assert_array_equal(once[[4, 1]][0], real(files[4]))
    assert len(reads) == 6
    assert (once.corrupted("contrast", 5)[3] != once[3]).any()
    small = images.remembered(max_bytes=2 * 40 * 40 * 3)
    _ = list(small), list(small)
    assert len(reads) == 6 + 1 + 6 + 4


def test_remembered__arrays__share_their_pixels():
    pixels = np.zeros((3, 40, 40, 3), dtype=np.uint8)
    images = ImageCollection(pixels)
    assert np.shares_memory(images.remembered()[1], pixels)
    noisy = images.corrupted("gaussian_noise", 1, seed=3)
    once = noisy.remembered()
    assert once[1] is once[1]
    assert noisy[1] is not noisy[1]
    np.testing.assert_array_equal(once[1], noisy[1])


def test_read_image__path_with_a_protocol__is_read_through_fsspec():
    content = io.BytesIO()
    Image.fromarray(np.full((8, 9, 3), 50, dtype=np.uint8)).save(content, "PNG")
    files = pytest.importorskip("fsspec").filesystem("memory")
    files.pipe({"/leaves/one.png": content.getvalue(), "/leaves/broken.png": b"nothing"})
    assert read_image("memory://leaves/one.png").shape == (8, 9, 3)
    for url, told in [
        ("memory://leaves/none.png", "cannot be read: FileNotFoundError"),
        ("nonsense://one.png", "cannot be read: ValueError: Protocol not known"),
        ("memory://leaves/broken.png", "is not an image of a known format"),
    ]:
        with pytest.raises(ImageError, match=f"{url} {told}"):
            read_image(url)
    with pytest.raises(ImageError, match="more than max_bytes=10"):
        read_image("memory://leaves/one.png", max_bytes=10)
