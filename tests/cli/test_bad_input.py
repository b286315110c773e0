"""What the commands that read a model and data say when these are at fault: one line, exit code 1."""

import json
import shutil

import pytest

COMMANDS = ("evaluate", "explain", "drift", "memories")
WITH_DATA = COMMANDS[:3]


def arguments(command, model, data, *more):
    row = ("--row", "0") if command == "explain" else ()
    label = ("--target", "kind") if command == "evaluate" else ()
    return (command, model, *(() if command == "memories" else (data, *row, *label)), *more)


def said(shown):
    assert shown.exit_code == 1, shown.output
    assert shown.stdout == ""
    (line,) = shown.stderr.splitlines()
    return line


@pytest.mark.parametrize("command", COMMANDS)
def test_model__missing_folder__is_named(run, seeds, tmp_path, command):
    assert "is no model folder" in said(run(*arguments(command, tmp_path / "none", seeds.new)))


@pytest.mark.parametrize("command", COMMANDS)
def test_model__of_a_newer_version__says_so(run, seeds, tmp_path, command):
    shutil.copytree(seeds.model, tmp_path / "model")
    manifest = json.loads((tmp_path / "model" / "manifest.json").read_text())
    manifest["format_version"] += 1
    (tmp_path / "model" / "manifest.json").write_text(json.dumps(manifest))
    line = said(run(*arguments(command, tmp_path / "model", seeds.new)))
    assert str(manifest["format_version"]) in line
    assert "version" in line


@pytest.mark.parametrize("command", WITH_DATA)
def test_data__missing_file__is_named(run, seeds, tmp_path, command):
    assert "none.csv" in said(run(*arguments(command, seeds.model, tmp_path / "none.csv")))


@pytest.mark.parametrize("command", WITH_DATA)
def test_data__other_columns__are_named(run, seeds, tmp_path, command):
    seeds.tables["new"].rename(columns={"width": "weight"}).to_csv(tmp_path / "other.csv", index=False)
    assert "'width'" in said(run(*arguments(command, seeds.model, tmp_path / "other.csv")))


@pytest.mark.parametrize("command", WITH_DATA)
def test_data__without_rows__says_so(run, seeds, tmp_path, command):
    seeds.tables["new"][:0].to_csv(tmp_path / "empty.csv", index=False)
    assert "no rows" in said(run(*arguments(command, seeds.model, tmp_path / "empty.csv")))


def test_evaluate__label_that_the_model_does_not_know__is_named(run, seeds, tmp_path):
    seeds.tables["new"].assign(kind="wheat").to_csv(tmp_path / "wheat.csv", index=False)
    line = said(run("evaluate", seeds.model, tmp_path / "wheat.csv", "--target", "kind"))
    assert "'wheat'" in line
    assert "'oat'" in line


@pytest.mark.parametrize("command", WITH_DATA)
def test_data__broken_image__is_named(run, patches, tmp_path, command):
    shutil.copytree(patches.new, tmp_path / "new")
    broken = sorted((tmp_path / "new").rglob("*.png"))[0]
    broken.write_bytes(broken.read_bytes()[:40])
    row = ("--row", "0") if command == "explain" else ()
    assert broken.name in said(run(command, patches.model, tmp_path / "new", *row))


def test_explain__table_for_a_model_of_images__is_refused(run, patches, seeds):
    assert said(run("explain", patches.model, seeds.new, "--row", "0"))
