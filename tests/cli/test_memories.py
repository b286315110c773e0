"""`memclf memories`: what a model remembers."""

import json

import numpy as np
from PIL import Image


def test_memories__table__has_a_row_per_memory_within_80_columns(run, seeds):
    shown = run("memories", seeds.model)
    assert shown.exit_code == 0, shown.output
    lines = shown.output.splitlines()
    assert max(map(len, lines)) <= 80
    rows = [line.split() for line in lines[2:-1]]
    assert [int(row[1]) for row in rows] == seeds.clf.memory_indices_.tolist()
    assert [int(row[2]) for row in rows] == seeds.clf.cluster_counts_.sum(axis=1).tolist()
    assert lines[-1] == f"{len(rows)} memories stand for 90 training cases."


def test_memories__json__is_one_document_on_stdout(run, seeds):
    shown = run("memories", seeds.model, "--json")
    found = json.loads(shown.stdout)
    assert "remembered case" in shown.stderr
    for k, each in enumerate(found["memories"]):
        assert each["threshold"] == seeds.clf.thresholds_[k]
        assert sum(each["classes"].values()) == each["cases"] == seeds.clf.cluster_counts_[k].sum()
        case = seeds.tables["train"].iloc[each["row"]]
        assert each["values"]["ground"] == case["ground"]


def test_memories__images__are_named_by_file_and_drawn_on_a_sheet(run, patches, tmp_path):
    shown = run("memories", patches.model, "--sheet", tmp_path / "sheet.png")
    assert shown.exit_code == 0, shown.output
    for k in range(2):
        assert patches.clf.memories_.key(k) in shown.output
    sheet = np.asarray(Image.open(tmp_path / "sheet.png"))
    memories = [patches.clf.memories_[k] for k in range(2)]
    # Each memory is on the sheet, enlarged by a whole number: its pixels stand there in blocks.
    for memory in memories:
        side = 160 // 32
        large = memory.repeat(side, axis=0).repeat(side, axis=1)
        places = [(12, 12), (12, 12 + 160 + 12)]
        assert any(np.array_equal(sheet[y : y + 160, x : x + 160], large) for y, x in places)


def test_memories__sheet_of_a_table__is_refused(run, seeds, tmp_path):
    shown = run("memories", seeds.model, "--sheet", tmp_path / "sheet.png")
    assert shown.exit_code == 1
    assert "no images" in shown.stderr
    assert not (tmp_path / "sheet.png").exists()


def test_memories__sheet_of_another_format__is_refused(run, patches, tmp_path):
    shown = run("memories", patches.model, "--sheet", tmp_path / "sheet.tif")
    assert shown.exit_code == 1
    assert ".png" in shown.stderr
