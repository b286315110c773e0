"""What theory promises, in the report of a run."""

import csv
import json
import re

import pytest

from memclf.bounds import Assumption, Bound, MemoryTerm, Term
from memclf.report import bounds, build
from memclf.report.run import Run

PAIRS = (("vanilla", "resnet18"), ("augmix", "resnet18"))


def small(**kinds):
    skill = {"baseline": (0.9, 0.09), "memory": (0.9, 0.06)}
    few = {"corruptions": ("fog",), "severities": (1,), "exhibits": False, "skill": skill, "n": 60, "bounds": True}
    return {**few, **kinds}


def plain(text):
    return " ".join(re.sub(r"<[^>]*>", " ", text).replace("\u00a0", " ").split())


def changed(run, change):
    """Rewrite what the folder says about bounds."""
    found = json.loads((run / "bounds.json").read_text())
    change(found)
    (run / "bounds.json").write_text(json.dumps(found))
    return run


def test_a_bound_comes_back_from_its_plain_values():
    bound = Bound(
        "compression",
        0.35,
        0.1,
        400,
        2,
        (Term("errors on the training cases", 0.05, "20 of 400"), Term("confidence", 0.3)),
        (
            MemoryTerm(0, 300, 5, 0.1, "exact", "constants", 0.2, promise=0.4),
            MemoryTerm(None, 9, 1, 0.5, "x", "y", 0.1),
        ),
        (Assumption("memories", "memories are training cases", True), Assumption("proof", "it is right", None, "?")),
    )
    assert Bound.from_dict(bound.as_dict()) == bound
    assert Bound.from_dict(json.loads(json.dumps(bound.as_dict()))) == bound
    with pytest.raises(KeyError):
        Bound.from_dict({"kind": "compression"})


def test_a_run_with_bounds_has_a_section_near_the_end_a_table_and_a_figure(made):
    run = made(**small())
    page = build(run).read_text(encoding="utf-8")
    assert [page.index(f'id="{name}"') for name in ("gains", "promises", "settings")] == sorted(
        page.index(f'id="{name}"') for name in ("gains", "promises", "settings")
    )
    assert '<a href="#promises">What theory promises</a>' in page
    markdown = (run / "report.md").read_text(encoding="utf-8")
    for text in (plain(page), markdown):
        assert "not about corrupted ones" in text
        assert "vacuous: it promises nothing" in text
        assert "the best bound from the training cases (compression) promises at most 35.0 % wrong" in text
        assert "of the 120 clean test cases 10.0 % are answered wrongly" in text
        assert "like them promises at most 12.5 % wrong" in text
        assert "the memories come from a pool of their own (fit chooses them); direct and paper" in text
    assert "![Stacked bars: compression 0.35" in markdown
    assert (run / "figures" / "bounds_memory.png").read_bytes()[:4] == b"\x89PNG"
    assert (run / "tables" / "bounds.tex").is_file()


def test_the_table_tells_values_terms_and_what_is_not_met(made):
    run = made(**small())
    build(run)
    with (run / "tables" / "bounds.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["Bound"]: row for row in csv.DictReader(file)}
    assert list(rows) == ["compression", "direct", "paper", "held-out", "cascade"]
    assert rows["compression"]["So it promises"] == "at most 35.0 % wrong"
    assert rows["direct"]["So it promises"] == "at most 60.0 % wrong, were its assumptions met"
    assert rows["paper"]["So it promises"] == "nothing: vacuous"
    assert rows["cascade"]["So it promises"] == "not defined: too few cases"
    assert [rows[kind]["Not met"] for kind in ("compression", "direct", "held-out")] == ["none", "memories", "none"]
    assert [rows[kind]["Value"] for kind in rows] == ["0.350", "0.600", "16.050", "0.125", ""]
    terms = [float(value) for name, value in rows["paper"].items() if name.startswith("Terms: ") and value]
    assert sum(terms) == pytest.approx(16.05)
    assert [rows[kind]["Terms: Errors"] for kind in rows] == ["0.050", "0.050", "0.050", "0.100", ""]


def test_a_run_without_bounds_has_no_such_section(made):
    run = made(**small(bounds=False))
    page = build(run).read_text(encoding="utf-8")
    assert "promises" not in page
    assert "What theory promises" not in (run / "report.md").read_text(encoding="utf-8")
    assert not (run / "tables" / "bounds.csv").exists()
    assert not list((run / "figures").glob("bounds*"))


def test_several_classifiers_are_told_apart(made):
    skill = {"baseline": (0.9, 0.09), "memory": (0.9, 0.06), "sturdy": (0.9, 0.05)}
    run = made(**small(pairs=PAIRS, skill=skill))
    page = plain(build(run).read_text(encoding="utf-8"))
    for name in ("Memory classifier · AugMix", "Sturdy memory classifier · Vanilla"):
        assert f"{name}: the best bound" in page
    names = {file.name for file in (run / "figures").glob("bounds*")}
    models = [f"{model}_{recipe}" for model in ("memory", "sturdy") for recipe in ("vanilla", "augmix")]
    assert names == {f"bounds_{each}_resnet18.png" for each in models}
    linked = re.findall(r"figures/(bounds[^)]*)\)", (run / "report.md").read_text(encoding="utf-8"))
    assert set(linked) == names


def test_bounds_that_promise_nothing_are_not_dressed_up(made):
    def keep(*kinds):
        def change(found):
            for each in found["contenders"]:
                each["bounds"] = [bound for bound in each["bounds"] if bound["kind"] in kinds]

        return change

    run = made(**small())
    (remark,) = bounds.remarks(Run(changed(run, keep("direct", "paper", "held-out"))))
    assert "no bound from the training cases promises anything: those below 1 (direct) rest on unmet" in remark
    (remark,) = bounds.remarks(Run(changed(run, keep("paper"))))
    assert remark == "Memory classifier: every bound from the training cases is vacuous."


def test_damaged_entries_do_not_stop_the_report_and_words_are_no_markup(made):
    nasty = "<script>alert(1)</script>"

    def change(found):
        whole = found["contenders"][0]
        whole["missing"] = {nasty: nasty}
        whole["bounds"][0]["assumptions"][0]["text"] = nasty
        endless = [{**whole["bounds"][0], "terms": [{"name": "errors", "value": float("inf")}]}]
        found["contenders"] += [{}, None, {**whole, "bounds": [{}]}, {**whole, "bounds": endless}]

    run = changed(made(**small()), change)
    assert "<script" not in build(run).read_text(encoding="utf-8")
    assert "<script" not in (run / "report.md").read_text(encoding="utf-8")
    assert len(Run(run).bounds) == 1
