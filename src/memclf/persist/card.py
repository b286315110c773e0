"""The model card beside a saved model, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SHOWN = 50  # memories in the table


def write_card(manifest: Mapping[str, Any], needed: Sequence[str] = ()) -> str:
    """The card; `needed` is what the caller of `load` has to allow."""
    training = manifest["training"]
    lines = [
        *_write_header(manifest),
        f"# {manifest['kind']}",
        "",
        f"Saved {manifest['created']} with memclf {manifest['versions']['memclf']}.",
        "",
        "## What it does",
        "",
        *_describe(manifest),
        "",
    ]
    if "by_memory" in training:
        lines += ["## Memories", "", "| memory | training row | cases | classes | threshold | classifier |"]
        lines.append("|---|---|---|---|---|---|")
        for number, each in enumerate(training["by_memory"][:SHOWN]):
            classes = ", ".join(f"{label}: {n}" for label, n in each["classes"].items())
            lines.append(
                f"| {number} | {each['row']} | {each['cases']} | {_flatten(classes)} | {each['threshold']:.3f} | "
                f"{each['classifier']} ({each['origin']}) |"
            )
        if len(training["by_memory"]) > SHOWN:
            lines.append(f"| ... | | | {len(training['by_memory']) - SHOWN} more | | |")
        lines.append("")
    lines += ["## Parameters", "", "| parameter | value |", "|---|---|"]
    lines += [f"| {name} | `{_flatten(value)}` |" for name, value in manifest["parameters"].items()]
    lines += ["", "## Loading", ""]
    trusted = f", trusted={list(needed)}" if needed else ""
    lines += ["```", "import memclf", f"model = memclf.load(folder{trusted})", "```", ""]
    lines += [f"Versions: {', '.join(f'{name} {version}' for name, version in manifest['versions'].items())}.", ""]
    return "\n".join(lines)


def _write_header(manifest: Mapping[str, Any]) -> list[str]:
    """What model hubs read: YAML between two lines of dashes.

    It names no licence, since the licence of a model is its owner's choice, and no metrics, since training measures
    none that hold for other data.
    """
    images = manifest["input"]["kind"] in ("ImageCollection", "images")
    columns = "columns" in manifest["input"] or "n_features" in manifest["input"]
    task = "image-classification" if images else "tabular-classification" if columns else None
    lines = ["library_name: memclf"]
    if task is not None and manifest["classes"]:
        lines.append(f"pipeline_tag: {task}")
    tags = ["memclf", "memory-classifier", "interpretable", "abstention"] if manifest["classes"] else ["memclf"]
    return ["---", *lines, "tags:", *(f"- {tag}" for tag in tags), "---", ""]


def _describe(manifest: Mapping[str, Any]) -> list[str]:
    training = manifest["training"]
    if "numbers" in training:
        return [f"It measures in an image: {_flatten(', '.join(training['numbers']))}."]
    if "alike" in training:
        return [_flatten(f"It says how alike two cases are: {training['alike']}. {training['learned']}".rstrip())]
    return _describe_memories(manifest) if "memories" in training else _describe_network(manifest)


def _describe_memories(manifest: Mapping[str, Any]) -> list[str]:
    training, schema = manifest["training"], manifest["input"]
    first = (
        f"It remembers {training['memories']} of its {training['cases']} training cases. A new case is compared with "
        "them; the most similar one"
    )
    if "by_memory" in training:
        lines = [
            f"{first} is its memory, if its threshold is met.",
            "",
            f"- who answers: {_flatten(training['who'])}",
            f"- answers by: `{_flatten(training['answer'])}`",
            f"- classes: {_flatten(', '.join(manifest['classes']))}",
            f"- when no threshold is met: {training['fallback']}"
            + (f" (label `{_flatten(training['unknown_label'])}`)" if training["fallback"] == "unknown" else ""),
        ]
    else:
        lines = [f"{first} names its cluster.", ""]
    columns = _flatten(", ".join(schema.get("columns", [])[:12])) + (
        ", ..." if len(schema.get("columns", [])) > 12 else ""
    )
    return [
        *lines,
        f"- similarity: `{_flatten(training['similarity'])}`",
        f"- threshold of the search: {training['threshold']:g}; {training['coverage']:.1%} of the training cases reach "
        f"it; mean similarity {training['mean_similarity']:.3f}",
        f"- input: {schema['kind']}"
        + (f" with {schema['n_features']} columns" if "n_features" in schema else "")
        + (f" ({columns})" if "columns" in schema else ""),
    ]


def _describe_network(manifest: Mapping[str, Any]) -> list[str]:
    height, width = manifest["input"]["height_and_width"]
    return [
        f"A network that classifies images of {height} x {width} pixels (height x width; others are resized).",
        "",
        f"- classes: {_flatten(', '.join(manifest['classes']))}",
        f"- trained for {manifest['training']['epochs']} epochs; last loss {manifest['training']['last_loss']:.3f}",
    ]


def _flatten(text: str) -> str:
    """Text that stays in its line and in its cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
