"""Pictures that are sent: decoded in a child, whatever they are."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from memclf.exceptions import DataError, ImageError
from memclf.studio.pages.data import safe_path
from memclf.studio.uploads import Decoder
from memclf.vision.files import encode_png


@pytest.fixture(scope="module")
def decoder():
    found = Decoder()
    yield found
    found.close()


def bomb(side):
    """A PNG file of few bytes that says it has side x side pixels, all of them black."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes(1 + side // 8) * side)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_a_picture_comes_back_as_its_pixels(decoder):
    image = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    assert np.array_equal(decoder.decode(encode_png(image)), image)


@pytest.mark.parametrize(
    "content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n" + b"\0" * 50], ids=["empty", "text", "torn"]
)
def test_what_is_no_picture_is_an_error_and_the_next_one_works(decoder, content):
    with pytest.raises(ImageError, match="leaf.png"):
        decoder.decode(content, "leaf.png")
    assert decoder.decode(encode_png(np.zeros((4, 4, 3), dtype=np.uint8))).shape == (4, 4, 3)


def test_a_picture_with_too_many_pixels_is_refused(decoder):
    with pytest.raises(ImageError, match="pixels"):
        decoder.decode(bomb(20_000), "bomb.png")


def test_a_child_that_was_killed_is_started_anew(decoder):
    content = encode_png(np.zeros((4, 4, 3), dtype=np.uint8))
    decoder.decode(content)
    decoder._process.kill()
    decoder._process.join()
    assert decoder.decode(content).shape == (4, 4, 3)


@pytest.mark.parametrize(
    "path",
    ["", "../a.png", "/etc/a.png", "a/../../b.png", "a//b.png", "C:/a.png", "a\\..\\b.png", "a\0.png", "x" * 300],
)
def test_a_path_that_leads_elsewhere_is_refused(path):
    with pytest.raises(DataError, match="cannot be called"):
        safe_path(path)


def as_jpeg(colour):
    found = io.BytesIO()
    Image.fromarray(np.full((24, 24, 3), colour, dtype=np.uint8)).save(found, "JPEG")
    return found.getvalue()


def test_a_dropped_folder_becomes_the_data(client, project):
    names = [f"leaves/{kind}/{kind} {number} <b>.jpg" for kind in ("sound", "ill") for number in range(3)]
    files = [("files", ("file", as_jpeg(20 * place), "image/jpeg")) for place in range(6)]
    half = client.post("/data/files", data={"paths": names[:3]}, files=files[:3])
    assert half.status_code == 200
    done = client.post("/data/files", data={"paths": names[3:], "last": "1"}, files=files[3:])
    assert done.headers["X-Go"] == "/data"
    page = client.get("/data").text
    assert "6 pictures of 2 classes" in page
    assert "<b>.jpg" not in page
    assert "&lt;b&gt;.jpg" in page
    assert project.data.classes == ["ill", "sound"]


@pytest.mark.parametrize("path", ["../../evil.jpg", "/tmp/evil.jpg"])
def test_a_dropped_file_stays_inside_the_project(client, path):
    answer = client.post("/data/files", data={"paths": [path]}, files=[("files", ("file", as_jpeg(9)))])
    assert answer.status_code == 422


def test_a_dropped_file_that_is_no_picture_is_named(client):
    answer = client.post("/data/files", data={"paths": ["a/b.png"]}, files=[("files", ("file", b"text"))])
    assert answer.status_code == 422
    assert "b.png" in answer.text
