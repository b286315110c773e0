"""`memclf measure`: a folder and a SPEC to a table, a page and JSON."""

import json
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import memclf
from memclf.cli import app
from memclf.vision.features import ColourOf, Measurements, TaughtRegions, read_spec, write_spec
from memclf.vision.features.measures import REGISTRY

SPEC = "measurements:\n- measure: colour\n- measure: count\n  of: foreground\n  kind: red\n"


def run(*arguments):
    return CliRunner().invoke(app, ["measure", *map(str, arguments)], env={"COLUMNS": "160"})


def square(seed, colour):
    rng = np.random.default_rng(seed)
    image = np.full((48, 64, 3), 190.0)
    image[12:36, 16:48] = colour
    return np.clip(image + rng.normal(0, 4, image.shape), 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("squares") / "two kinds"
    for name, colour in (("green & <blue>", (90, 150, 110)), ("red", (170, 80, 80))):
        (root / name).mkdir(parents=True)
        for seed in range(6):
            Image.fromarray(square(seed, colour)).save(root / name / f"{seed}.png")
    return root


@pytest.fixture(scope="module")
def made(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    (out / "spec.yaml").write_text(SPEC)
    shown = run(folder, "--features", out / "spec.yaml", "--report", out / "page.html", "--json")
    assert shown.exit_code == 0, shown.output
    (out / "all.json").write_text(shown.stdout)
    return out, shown.stderr


class Page(HTMLParser):
    """Headings, words, pictures, and whether every tag is closed."""

    VOID = {"meta", "img", "link", "br", "path", "use"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text, self.images, self.ids = [], [], "", [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        about = dict(attrs)
        self.ids |= {about["id"]} if "id" in about else set()
        self.images += [about] if tag == "img" else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_measure__folder_and_spec__prints_the_table_and_the_advice(made):
    out, shown = made
    assert "12 cases of 2 classes" in shown
    assert "foreground_redness_middle" in shown
    assert "classes apart" in " ".join(shown.split())
    assert f"report: {out / 'page.html'}" in shown


def test_measure__json__holds_every_measurement(made):
    found = json.loads((made[0] / "all.json").read_text())
    assert found["classes"] == ["green & <blue>", "red"]
    names = {row["name"] for row in found["measurements"]}
    assert names == set(read_spec(made[0] / "spec.yaml").names)
    assert 0 <= found["measurements"][0]["under fog"] <= 1


def test_measure__page__is_whole_and_shows_everything(made):
    text = (made[0] / "page.html").read_text()
    page = Page(text)
    assert page.open == []
    assert {"advice", "table", "looks", "corruptions", "made"} <= page.ids
    for words in ("two kinds", "foreground redness middle", "green & <blue>", "measure: colour", "Gaussian noise"):
        assert words in page.text
    assert len(page.images) == 4  # two measurements, two classes
    assert all(each["src"].startswith("data:image/jpeg;base64,") and each["alt"] for each in page.images)
    assert page.tags.count("svg") == 2  # for a wide and for a narrow page
    assert "http" not in text.replace("http-equiv", "")
    assert "<blue>" not in text  # names of classes are escaped
    assert sorted(path.name for path in made[0].iterdir()) == ["all.json", "page.html", "spec.yaml"]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_measure__page_in_a_browser__never_scrolls_sideways(made, chromium, width, scheme):
    page = chromium.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.goto((made[0] / "page.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("[...document.images].every(each => each.naturalWidth > 0)")
    assert not problems
    page.close()


def test_measure__words__are_a_spec(tmp_path):
    shown = run("--words")
    assert shown.exit_code == 0
    (tmp_path / "all.yaml").write_text(shown.output)
    assert len(read_spec(tmp_path / "all.yaml").measurements) == len(REGISTRY)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give FOLDER and --features SPEC, or --words for what a SPEC may say"),
        (("FOLDER", "--features", "nothing.yaml"), "there is no file nothing.yaml; a SPEC is a YAML file"),
        (("nowhere", "--features", "SPEC"), "there is no file or folder nowhere"),
        (
            ("FOLDER", "--features", "TYPO"),
            "typo.yaml, line 2: there is no measurement 'color'; did you mean 'colour'?",
        ),
        (("FLAT", "--features", "SPEC"), "has no labels: one subfolder per class would tell them"),
        (("FOLDER", "--features", "SPEC", "--report", "no/where.html"), "there is no folder"),
        (("FOLDER", "--features", "SPEC", "--workers", 0), "0 workers would do nothing; give 1 or more, or -1"),
        (("LIST", "--features", "SPEC", "--path", "photo"), "path='photo' does not fit the columns ['where', 'label']"),
        (("FOLDER", "--features", "SPEC", "--groups", "face"), "has no column 'face' for the groups; it has none"),
    ],
)
def test_measure__wrong_input__is_one_line(folder, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(SPEC)
    (tmp_path / "typo.yaml").write_text(SPEC.replace("colour", "color"))
    (tmp_path / "list.csv").write_text("where,label\na.png,red\n")
    places = {"FOLDER": folder, "FLAT": folder / "red", "LIST": "list.csv", "SPEC": "spec.yaml", "TYPO": "typo.yaml"}
    shown = run(*(places.get(each, each) for each in arguments))
    assert shown.exit_code in (1, 2)
    assert message in " ".join(shown.output.split())
    assert "Traceback" not in shown.output


def test_measure__list_with_a_column_of_its_own__reads_the_paths_there(folder, tmp_path):
    rows = [f"{name},{seed},{name}" for name in ("green & <blue>", "red") for seed in range(3)]
    (tmp_path / "list.csv").write_text("\n".join(["folder,number,label", *rows]))
    (tmp_path / "spec.yaml").write_text("measurements:\n- measure: colour\n  of: picture\n")
    shown = run(
        tmp_path / "list.csv", "--features", tmp_path / "spec.yaml", "--path", f"{folder}/{{folder}}/{{number}}.png"
    )
    assert shown.exit_code == 0, shown.output
    assert "6 cases of 2 classes" in shown.output


def test_measure__taught_regions__are_those_of_the_folder(folder, tmp_path):
    image, painting = square(0, (170, 80, 80)), np.zeros((48, 64), dtype=np.uint8)
    painting[2:8, 4:60], painting[16:32, 20:44] = 1, 2
    taught = TaughtRegions(["ground", "square"], showings=20).fit([image], [painting])
    memclf.save(taught, tmp_path / "taught")
    write_spec(Measurements([ColourOf("square", regions=taught)]), tmp_path / "spec.yaml")
    for file in folder.glob("*/[01].png"):
        (tmp_path / "few" / file.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(file, tmp_path / "few" / file.parent.name)
    shown = run(tmp_path / "few", "--features", tmp_path / "spec.yaml", "--regions", tmp_path / "taught")
    assert shown.exit_code == 0, shown.output
    assert "square_redness_middle" in shown.output
    shown = run(folder, "--features", tmp_path / "spec.yaml", "--regions", tmp_path / "nothing")
    assert shown.exit_code == 1
    assert "nothing" in shown.output
