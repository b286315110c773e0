"""The model card beside a saved model, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SHOWN = 50  # memories in the table


def model_card(manifest: Mapping[str, Any], needs: Sequence[str] = ()) -> str:
    """The card; `needs` is what the caller of `load` has to allow."""
    training, schema = manifest["training"], manifest["input"]
    lines = [
        f"# {manifest['kind']}",
        "",
        f"Saved {manifest['created']} with memclf {manifest['versions']['memclf']}.",
        "",
        "## What it does",
        "",
        f"It remembers {training['memories']} of its {training['cases']} training cases. A new case is compared with "
        "them; the most similar one",
    ]
    if "by_memory" in training:
        lines[-1] += " is the memory whose classifier answers, if its threshold is met."
        lines += [
            "",
            f"- classes: {_line(', '.join(manifest['classes']))}",
            f"- when no threshold is met: {training['fallback']}"
            + (f" (label `{_line(training['unknown_label'])}`)" if training["fallback"] == "unknown" else ""),
        ]
    else:
        lines[-1] += " names its cluster."
        lines.append("")
    lines += [
        f"- similarity: `{_line(training['similarity'])}`",
        f"- threshold of the search: {training['threshold']:g}; {training['coverage']:.1%} of the training cases reach "
        f"it; mean similarity {training['mean_similarity']:.3f}",
        f"- input: {schema['kind']}"
        + (f" with {schema['n_features']} columns" if "n_features" in schema else "")
        + (
            f" ({_line(', '.join(schema['columns'][:12]))}{', ...' if len(schema['columns']) > 12 else ''})"
            if "columns" in schema
            else ""
        ),
        "",
    ]
    if "by_memory" in training:
        lines += ["## Memories", "", "| memory | training row | cases | classes | threshold | classifier |"]
        lines.append("|---|---|---|---|---|---|")
        for number, each in enumerate(training["by_memory"][:SHOWN]):
            classes = ", ".join(f"{label}: {n}" for label, n in each["classes"].items())
            lines.append(
                f"| {number} | {each['row']} | {each['cases']} | {_line(classes)} | {each['threshold']:.3f} | "
                f"{each['classifier']} ({each['origin']}) |"
            )
        if len(training["by_memory"]) > SHOWN:
            lines.append(f"| ... | | | {len(training['by_memory']) - SHOWN} more | | |")
        lines.append("")
    lines += ["## Parameters", "", "| parameter | value |", "|---|---|"]
    lines += [f"| {name} | `{_line(value)}` |" for name, value in manifest["parameters"].items()]
    lines += ["", "## Loading", ""]
    trusted = f", trusted={list(needs)}" if needs else ""
    lines += ["```", "import memclf", f"model = memclf.load(folder{trusted})", "```", ""]
    lines += [f"Versions: {', '.join(f'{name} {version}' for name, version in manifest['versions'].items())}.", ""]
    return "\n".join(lines)


def _line(text: str) -> str:
    """Text that stays in its line and in its cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
