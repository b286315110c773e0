"""`memclf explain`: the remembered case behind an answer."""

import base64
import io
import json
import re

import numpy as np
import pytest
from PIL import Image


def words(text):
    return " ".join(text.split())


def test_explain__row_of_a_table__has_the_sentence_and_both_rows(run, seeds):
    case = seeds.tables["new"].drop(columns="kind").iloc[[7]]
    (wanted,) = seeds.clf.explain(case)
    shown = run("explain", seeds.model, seeds.new, "--row", 7)
    assert shown.exit_code == 0, shown.output
    assert wanted.sentence in words(shown.output)
    assert max(map(len, shown.output.splitlines())) <= 80
    assert f"{wanted.similarity:.3f}" in shown.output.split("similarity  ")[1].splitlines()[0]
    memory = seeds.tables["train"].iloc[wanted.memory_row]
    assert re.search(rf"ground +{case['ground'].iloc[0]} +{memory['ground']}", shown.output)


def test_explain__several_rows_as_json__are_those_of_the_library(run, seeds):
    found = json.loads(run("explain", seeds.model, seeds.new, "--row", 3, "--row", 0, "--json").stdout)["cases"]
    wanted = seeds.clf.explain(seeds.tables["new"].drop(columns="kind").iloc[[3, 0]])
    assert [each["row"] for each in found] == [3, 0]
    for each, item in zip(found, wanted, strict=True):
        assert each["sentence"] == item.sentence
        assert (each["answer"], each["memory"], each["known"]) == (item.answer, item.memory, item.known)
        assert each["similarity"] == pytest.approx(item.similarity)


def test_explain__table_without_row__asks_which(run, seeds):
    shown = run("explain", seeds.model, seeds.new)
    assert shown.exit_code == 2
    assert "60 cases; say which with --row" in shown.stderr


def test_explain__row_beyond_the_last__is_an_error(run, seeds):
    shown = run("explain", seeds.model, seeds.new, "--row", 60)
    assert shown.exit_code == 1
    assert "beyond the last case" in shown.stderr


def test_explain__image_file__page_holds_both_pictures_and_loads_nothing(run, patches, tmp_path):
    image = sorted(patches.new.rglob("*.png"))[0]
    shown = run("explain", patches.model, image, "--html", tmp_path / "why.html")
    assert shown.exit_code == 0, shown.output
    page = (tmp_path / "why.html").read_text()
    assert "http" not in page
    assert "prefers-color-scheme:dark" in page
    pictures = re.findall(r"src='data:image/png;base64,([^']+)'", page)
    assert len(pictures) == 2
    shapes = [np.asarray(Image.open(io.BytesIO(base64.b64decode(each)))).ndim for each in pictures]
    assert shapes == [3, 3]
    (wanted,) = patches.clf.explain([np.asarray(Image.open(image))])
    assert f"memory {wanted.memory} (training case {wanted.memory_row})" in page


def test_explain__html_in_missing_folder__is_refused_before_the_work(run, patches, tmp_path):
    shown = run("explain", patches.model, patches.new, "--row", 0, "--html", tmp_path / "none" / "why.html")
    assert shown.exit_code == 1
    assert "there is no folder" in shown.stderr


def test_explain__markup_in_a_name__stays_text_in_the_page(seeds):
    from memclf.explain.page import make_page

    items = seeds.clf.explain(seeds.tables["new"].drop(columns="kind").iloc[[0]])
    page = make_page(items, "<script>1</script>", ["<b>case</b>"])
    assert "<script>" not in page
    assert "&lt;b&gt;case" in page
