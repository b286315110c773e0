"""The page of a run: the numbers are those of the store, and the sentences are true."""

import html
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image
from sklearn.linear_model import LogisticRegression

from memclf.evaluate import Store, evaluate, open_store
from memclf.exceptions import MissingExtraError, StoreError
from memclf.report import build, captions, compare, formats
from memclf.report.run import Run


def small(**kinds):
    """A run that is quickly built."""
    skill = {"baseline": (0.9, 0.09), "memory": (0.9, 0.06), "stage1": (0.7, 0.02)}
    few = {"corruptions": ("fog", "snow"), "severities": (1, 5), "exhibits": False, "skill": skill, "n": 60}
    return {**few, **kinds}


class Page(HTMLParser):
    """Tables as lists of rows of text, ids, addresses and pictures without a description."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.ids, self.addresses, self.mute, self.open = [], [], [], [], []
        self.cell = None
        self.text = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids += [given["id"]] if "id" in given else []
        self.addresses += [given[name] for name in ("src", "href") if name in given]
        if tag == "img" and not given.get("alt"):
            self.mute.append(given)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.cell = []
        if tag not in ("meta", "img", "br", "path", "use"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.tables[-1][-1].append(" ".join("".join(self.cell).split()))
            self.cell = None
        if tag in self.open:
            while self.open and self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            return
        self.text.append(data)
        if self.cell is not None:
            self.cell.append(f" {data}")

    @property
    def words(self):
        return " ".join(" ".join(self.text).split()).replace("\u00a0", " ")

    def table(self, first):
        """Rows of the table whose head begins with these words, by their first cell."""
        for rows in self.tables:
            for k, row in enumerate(rows):
                if row[: len(first)] == list(first):
                    return {line[0]: line[1:] for line in rows[k + 1 :]}
        raise AssertionError(f"no table begins with {first}")


@pytest.fixture(scope="module")
def whole(tmp_path_factory, make_run):
    """A complete run with everything in it, its report built; for looking only."""
    run = make_run(tmp_path_factory.mktemp("whole"))
    build(run)
    return run


@pytest.fixture(scope="module")
def page(whole):
    return Page((whole / "report.html").read_text(encoding="utf-8"))


def page_of(run):
    return Page(build(run).read_text(encoding="utf-8"))


def test_the_numbers_of_the_contenders_are_those_of_the_store(whole, page):
    shown = page.table(["Model", "Accuracy", "Balanced"])
    with open_store(whole / "results.sqlite") as store:
        rows = store.rows()
    assert len(shown) == 7
    for model in ("baseline", "memory", "majority", "stage1", "prior", "random"):
        mine = [row for row in rows if row["model"] == model]
        clean = next(row for row in mine if row["corruption"] == "clean")
        corrupted = [row for row in mine if row["corruption"] != "clean"]
        cells = [cell.split()[0] for cell in shown[Run(whole).labels.model(model)]]
        expected = {
            0: clean["accuracy"],
            1: clean["balanced_accuracy"],
            2: np.mean([row["accuracy"] for row in corrupted]),
            3: np.mean([row["balanced_accuracy"] for row in corrupted]),
            6: np.mean([row["coverage"] for row in corrupted]),
        }
        for place, share in expected.items():  # a mean half-way between two digits may go either way
            assert re.fullmatch(r"\d+\.\d", cells[place])
            assert float(cells[place]) == pytest.approx(100 * share, abs=0.05 + 1e-9)


def test_classes_that_are_numbers_are_called_classes(made):
    run = made(**small(exhibits=True, classes=[0, 1, 2]))
    exhibits = json.loads((run / "exhibits.json").read_text().replace('"mild"', '"1"').replace('"severe"', '"2"'))
    exhibits["memories"][1]["classes"] = {"1": 33, "2": 1}
    (run / "exhibits.json").write_text(json.dumps(exhibits))
    text = page_of(run).words
    assert "Memory 1 · class 1" in text
    assert "class 1: 33 cases, class 2: 1" in text
    assert "class 1 , mostly taken for class 2" in text
    assert "class 0 (" in text
    assert "class class" not in text


def test_the_source_of_generated_data_is_told_once(whole, page):
    assert page.words.count("120 generated leaves, 128 x 64 pixels") == 1


def test_overlay__large_numbers_of_a_feature__are_written_in_full(made):
    run = made(**small(exhibits=True))
    exhibits = json.loads((run / "exhibits.json").read_text())
    exhibits["overlays"][0]["numbers"] = {"area": 46130.2, "share": 0.25}
    (run / "exhibits.json").write_text(json.dumps(exhibits))
    assert "area 46,130, share 0.25" in build(run).read_text(encoding="utf-8")


def test_a_legend_of_an_overlay_is_text_and_no_style_comes_from_the_run(made):
    run = made(**small(exhibits=True))
    exhibits = json.loads((run / "exhibits.json").read_text())
    parts = [("leaf", "#ff4870", 0.597), ("bad", "red; background: url(x)", None)]
    exhibits["overlays"][0]["legend"] = [{"name": n, "colour": c, "share": s} for n, c, s in parts]
    (run / "exhibits.json").write_text(json.dumps(exhibits))
    text = build(run).read_text(encoding="utf-8")
    assert '<i style="background:#ff4870"></i>leaf: 59.7 % of the picture' in text
    assert "url(x)" not in text


def test_paper__nothing_of_it_was_run__shows_the_one_column_that_is_compared(whole, page):
    heads = [rows[1] for rows in page.tables if rows[0][1:2] == ["EfficientNet-Lite0"]]
    assert heads[0] == ["Corruption", "Baseline", "Memory", "Paper: baseline", "Paper: memory"]
    assert any("ResNet50, not run" in rows[0] for rows in page.tables)
    assert not any("VGG16, not run" in rows[0] for rows in page.tables)
    assert "the network with the expert features joined is;" in page.words


def test_random_routing_has_no_stability_to_tell(page):
    shown = page.table(["Model", "Accuracy", "Balanced"])
    assert shown["Random routing"][-2:] == ["–", "–"]
    assert shown["Memory classifier"][-1] == "85.0"


def own(folder, X, labels, conditions):
    """Someone's own evaluation of a table."""
    plain = LogisticRegression(max_iter=1000).fit(X, labels)
    store = Store(folder / "results.sqlite")
    evaluate({"baseline": plain, "memory": plain}, X, labels, conditions, store=store)
    store.close()
    return folder


def test_the_sections_come_in_their_order_and_the_contents_lead_to_them(page):
    order = (
        "headline opening method data samples contenders paper severities memories routes overlays masks wrong gains "
        "settings"
    )
    assert [each for each in page.ids if each in order.split()] == order.split()
    assert [each for each in page.addresses if each.startswith("#") and each[1:] in order.split()] == [
        f"#{name}" for name in order.split()
    ]


def test_method__pictures_of_a_route__are_drawn_once_in_both_widths(whole):
    text = (whole / "report.html").read_text(encoding="utf-8")
    schema = text[text.index('<figure class="schema">') : text.index("</figure>", text.index('class="schema"'))]
    assert (schema.count("<image "), schema.count("<use ")) == (2, 4)
    assert "similarity 0.95, threshold 0.70" in schema
    assert "healthy" in schema


def test_method__no_pictures__is_drawn_with_words_alone(made):
    run = made(**small())
    text = page_of(run).words
    assert "How it answers" in text
    assert "a training case" in text
    assert "<image " not in (run / "report.html").read_text(encoding="utf-8")


def test_method__no_memory_classifier__is_left_out(made):
    run = made(**small(skill={"baseline": (0.9, 0.09), "prior": (0.88, 0.08)}))
    assert "How it answers" not in page_of(run).words


def test_samples__each_class__has_its_pictures_and_count(page, whole):
    assert "healthy 30 training images" in page.words
    assert "sample_2_2.jpg" in (whole / "report.md").read_text(encoding="utf-8")


def test_masks__papers_feature__has_its_numbers_and_colours(page):
    assert "F_d = 0.031, F_b = 0.125" in page.words
    assert "green brown" in page.words


def test_generated_data_are_announced_loudly(page):
    assert "GENERATED data, not photographs." in page.words


def test_the_page_is_one_small_offline_file_with_described_pictures(whole, page):
    text = (whole / "report.html").read_text(encoding="utf-8")
    assert len(text) < 5_000_000
    assert not re.search(r"https?:|url\((?!#)|@import|<script|<link|<iframe", text)
    assert all(address.startswith(("#", "data:image/")) for address in page.addresses)
    assert sum(address.startswith("data:image/") for address in page.addresses) > 30
    assert not page.mute
    assert not page.open, "tags that are never closed"
    assert len(set(page.ids)) == len(page.ids)


def test_a_page_with_far_too_many_pictures_leaves_some_out_and_says_so(made):
    run = made(**small(exhibits=True))
    noise = np.random.default_rng(0).integers(0, 256, (300, 300, 3), dtype=np.uint8)
    Image.fromarray(noise).save(run / "exhibits" / "noise.jpg", quality=60)
    assert 30_000 < (run / "exhibits" / "noise.jpg").stat().st_size < 200_000
    exhibits = json.loads((run / "exhibits.json").read_text())
    hard = {
        "case": {"picture": "exhibits/noise.jpg"},
        "key": "x",
        "truth": "a",
        "wrong_share": 1.0,
        "mostly_answered": "b",
    }
    exhibits["hardest"] = [hard] * 150
    (run / "exhibits.json").write_text(json.dumps(exhibits))
    file = build(run)
    assert file.stat().st_size < 5_000_000
    assert re.search(r"\d+ pictures were left out", file.read_text(encoding="utf-8"))


def test_a_partial_run_says_loudly_what_is_missing(made):
    late = ("gaussian_noise", "motion_blur", "snow")
    six = ("fog", "brightness", "contrast", *late)
    run = made(**small(corruptions=six, finished=False, skip=lambda name, corruption, severity: corruption in late))
    page = page_of(run)
    assert "This is a PARTIAL report" in page.words
    assert "The run has not come to its end." in page.words
    assert "7 of 13 rows: Baseline · Vanilla · EfficientNet-Lite0" in page.words
    assert "There are no pictures yet" in page.words
    assert "PARTIAL" in (run / "report.md").read_text(encoding="utf-8")
    assert "opening" not in page.ids
    assert "memories" not in page.ids


def test_a_complete_run_does_not_call_itself_partial(page):
    assert "PARTIAL" not in page.words


def test_a_run_without_any_result_has_a_page_too(made):
    page = page_of(made(**small(finished=False, skip=lambda *_: True)))
    assert "There are no results yet." in page.words
    assert "No condition has been finished yet." in page.words


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(StoreError, match="there is no .*results.sqlite; has the study been started"):
        build(tmp_path)


@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_a_missing_package_names_the_extra_before_anything_is_written(made, monkeypatch, package):
    run = made(**small())
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf'the report needs {package}: pip install "memclf\[report\]"'):
        build(run)
    assert {file.name for file in run.iterdir()} == {"results.sqlite", "paper.json"}


def test_nothing_that_comes_from_the_run_is_taken_for_markup(made):
    nasty = "<script>alert('1')</script> & \"x\" | *y* $z_"
    run = made(classes=[nasty, "b", "c"], settings={"note": nasty, nasty: [nasty]}, **small(exhibits=True))
    exhibits = json.loads((run / "exhibits.json").read_text())
    exhibits["opening"]["truth"] = exhibits["memories"][0]["label"] = exhibits["routes"][0]["key"] = nasty
    exhibits["opening"]["answers"][0]["corrupted"] = nasty
    exhibits["overlays"][0]["numbers"] = {nasty: 0.5}
    (run / "exhibits.json").write_text(json.dumps(exhibits))
    text = build(run).read_text(encoding="utf-8")
    assert "<script" not in text
    assert html.escape("<script>") in text
    assert "<script" not in (run / "report.md").read_text(encoding="utf-8")


def test_pictures_outside_the_run_folder_are_not_shown(made):
    run = made(**small())
    (run.parent / "secret.png").write_bytes(b"")
    (run / "shown.png").write_bytes(b"")
    found = Run(run)
    assert found.picture("shown.png") == (run / "shown.png").resolve()
    for path in ("../secret.png", str(run.parent / "secret.png"), "", None, 5, "absent.png", "."):
        assert found.picture(path) is None


def test_a_damaged_picture_or_entry_does_not_stop_the_report(made):
    run = made(**small(exhibits=True))
    (run / "exhibits" / "memory_0.jpg").write_bytes(b"no picture")
    (run / "exhibits" / "memory_1.jpg").unlink()
    (run / "exhibits" / "opening_clean.jpg").unlink()
    exhibits = json.loads((run / "exhibits.json").read_text())
    exhibits["routes"].append({"condition": "fog 3", "memory": None, "similarity": None})
    exhibits["memories"].append({"number": 7})
    (run / "exhibits.json").write_text(json.dumps(exhibits))
    assert "no picture" in page_of(run).words


@pytest.mark.parametrize(("similarity", "why"), [(0.45, "not similar enough"), (0.9, "which does not answer")])
def test_an_unknown_case_is_not_called_unlike_its_memory_if_it_is_like_it(made, similarity, why):
    run = made(**small(exhibits=True))
    exhibits = json.loads((run / "exhibits.json").read_text())
    exhibits["routes"] = [{**exhibits["routes"][5], "similarity": similarity}]
    (run / "exhibits.json").write_text(json.dumps(exhibits))
    text = build(run).read_text(encoding="utf-8")
    assert f"The nearest memory, 2, {why}" in text
    assert ('class="below"' in text) == (similarity < 0.7)


def test_building_again_gives_the_same_files(whole, drawn):
    made_once = [file for file in whole.rglob("*") if file.suffix in (".html", ".md", ".csv", ".tex", ".png")]
    first = {file: file.read_bytes() for file in made_once}
    drawn.clear()
    build(whole)
    assert {file: file.read_bytes() for file in made_once} == first


def test_gains_by_condition_are_differences_of_rows(whole, page):
    with open_store(whole / "results.sqlite") as store:
        right = {(r["model"], r["corruption"], r["severity"]): r["accuracy"] for r in store.rows()}
    gains = {key[1:]: value - right["baseline", *key[1:]] for key, value in right.items() if key[0] == "memory"}
    heat = page.table(["Corruption", "1", "2", "3", "4", "5", "Mean"])
    for corruption in ("fog", "snow", "gaussian_noise"):
        shown = [cell.split()[0] for cell in heat[Run(whole).labels.corruption(corruption)]]
        assert shown[:5] == [formats.points(gains[corruption, severity]) for severity in range(1, 6)]


def test_a_users_own_evaluation_without_recipes_or_paper_has_a_report(made):
    run = made(**small(study="", pairs=(("", ""),), skill={"baseline": (0.9, 0.09), "memory": (0.9, 0.06)}))
    page = page_of(run)
    assert "The paper’s gain" not in page.words
    assert "paper" not in page.ids


PICTURES = re.compile("picture|network|face|sturdy|photograph|fog|blur", re.IGNORECASE)


def test_the_report_of_a_table_speaks_of_cases_and_of_no_model_that_is_absent(tmp_path):
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = (X[:, 0] > 0).astype(int)
    plain, store = LogisticRegression().fit(X, y), Store(tmp_path / "results.sqlite")
    controls = ("majority", "stage1", "stage1-balanced", "prior", "prior-balanced")
    models = dict.fromkeys(("baseline", "memory", *controls), plain)
    evaluate(models, X, y, {("drift", 1): X + 1, ("drift", 2): X + 2}, store=store)
    store.close()
    page = page_of(tmp_path)
    markdown = (tmp_path / "report.md").read_text(encoding="utf-8")
    for text in (page.words, re.sub(r"\(figures/.*\)", "", markdown)):
        assert not PICTURES.findall(text)
    assert "severities" in page.ids
    compare([tmp_path, tmp_path], tmp_path / "both")
    assert not PICTURES.findall((tmp_path / "both" / "compare.md").read_text(encoding="utf-8"))


def test_a_report_without_controls_does_not_speak_of_them(tmp_path):
    X = np.arange(40.0)[:, np.newaxis]
    page = page_of(own(tmp_path, X, (X[:, 0] > 20).astype(int), {("drift", 1): X + 1}))
    assert "ontrol" not in page.words


def test_severities_are_shown_only_where_every_corruption_has_every_one(tmp_path):
    X = np.arange(40.0)[:, np.newaxis]
    conditions = {("drift", 1): X + 1, ("drift", 3): X + 3, ("dull", 2): X / 2}
    page = page_of(own(tmp_path, X, (X[:, 0] > 20).astype(int), conditions))
    assert "severities" not in page.ids
    assert not (tmp_path / "figures" / "severities.png").exists()
    assert not (tmp_path / "tables" / "severities.csv").exists()


def test_groups_are_told_to_be_drawn_together_only_where_there_are_any(made):
    run = made(**small())
    assert "drawn together" not in page_of(run).words
    store = Store(run / "results.sqlite")
    store.put("groups", [k // 2 for k in range(60)])
    store.close()
    assert "Cases of one group are drawn together." in page_of(run).words


def test_markdown_keeps_what_the_captions_say(made):
    run = made(**small(bounds=True))
    build(run)
    text = (run / "report.md").read_text(encoding="utf-8")
    for name in ("severities", "thin", "gains", "bounds"):
        assert captions.CAPTIONS[name] in text
    assert "*Bounds, 95 % sure, and the terms that add up to them; as shares, so 1 is everything.*" in text
    assert "*Contenders and controls on 60 test cases" in text


def test_an_evaluation_of_ones_own_is_partial_only_where_rows_are_missing(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    plain = LogisticRegression().fit(X, y)
    store = Store(tmp_path / "results.sqlite")
    evaluate({"baseline": plain, "memory": plain}, X, y, {("drift", 1): X + 1}, store=store)
    text = page_of(tmp_path).words
    assert "PARTIAL" not in text
    assert "Not finished" not in text
    assert "1 corrupted condition (1 corruption at severity 1)" in text
    evaluate({"memory": plain}, X, y, {("drift", 2): X + 2}, store=store)
    store.close()
    text = page_of(tmp_path).words
    assert "This is a PARTIAL report" in text
    assert "2 of 3 rows: Baseline" in text
    assert "has not come to its end" not in text
