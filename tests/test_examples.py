"""The gallery. All examples run in `make gallery`, which fails if one of them does; here those that are quick."""

import ast
import re
import runpy
import sys

import pytest

import gallery
from site_pages import ROOT, show_cards, write_example

TABLE = re.compile(r"^(\S.*?)  +([\d.]+)  +([\d.]+)$", re.M)
NAMES = [example.stem for example in gallery.list_examples()]


def run(name, *options, monkeypatch):
    monkeypatch.setattr(sys, "argv", [name, *options])
    runpy.run_path(str(gallery.EXAMPLES / f"{name}.py"), run_name="__main__")


@pytest.mark.parametrize(
    ("name", "options"), [("machine_parts", ["--parts", "300"]), ("short_texts", ["--archive", "800"])]
)
def test_example__judged_likeness__beats_equal_weights_in_the_field(name, options, monkeypatch, capsys):
    run(name, *options, monkeypatch=monkeypatch)
    printed = capsys.readouterr().out
    table = {row[0]: [float(number) for number in row[1:]] for row in TABLE.findall(printed)}
    assert {"stage 1 alone, judged", "memory classifier, judged"} <= set(table)
    assert any(row.startswith("plain model") for row in table)
    assert table["stage 1 alone, judged"][1] > table["stage 1 alone, equal weights"][1]
    assert "alike: two usual cases" in printed
    assert "are predicted by the others" in printed


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_example__with_a_picture__runs_and_draws_it(name, tmp_path):
    assert "processor time" in gallery.run_example(gallery.EXAMPLES / f"{name}.py", tmp_path)
    assert gallery.run_example(gallery.EXAMPLES / f"{name}.py", tmp_path).endswith("kept from an earlier run")


def test_gallery__an_example_that_fails__fails_and_shows_its_error(tmp_path, monkeypatch, capsys):
    failing = tmp_path / "failing_example.py"
    failing.write_text('"""An example that fails."""\n\nraise SystemExit("the example of a failure")\n')
    monkeypatch.setattr(gallery, "list_examples", lambda: [failing])
    assert gallery.main(tmp_path) == 1
    assert "the example of a failure" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.json"))


def test_list_of_the_gallery_names_every_example_once():
    listed = re.findall(r"\]\((\w+)\.py\)", (gallery.EXAMPLES / "README.md").read_text())
    assert sorted(listed) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_example__its_head__says_what_it_shows(name):
    title, _, text = ast.get_docstring(ast.parse((gallery.EXAMPLES / f"{name}.py").read_text())).partition("\n\n")
    assert len(title) <= 100
    assert "\n" not in title
    assert len(text.split()) >= 50


def test_page_of_an_example__kept_run__shows_text_picture_output_and_code(tmp_path):
    (tmp_path / "mixed_table.json").write_text('{"seconds": 3.6, "key": ""}')
    (tmp_path / "mixed_table.txt").write_text("what it printed\n")
    page = write_example(ROOT / "examples" / "mixed_table.py", tmp_path)
    assert page.startswith("# A mixed table with gaps")
    assert "(mixed_table.png)" in page
    assert "after 4 s of processor time" in page
    assert "```text\nwhat it printed\n```" in page
    assert "GowerSimilarity(" in page


def test_cards__list_of_examples__have_pictures_and_links():
    cards = show_cards("# Gallery\n\n- [A](a.py): one\n- [B](b.py): two\n")
    assert cards.count('<div class="grid cards" markdown>') == cards.count("</div>") == 1
    assert "-   [![A](a.png)](a.py)\n\n    **[A](a.py)**: one\n\n-   [![B](b.png)](b.py)" in cards
