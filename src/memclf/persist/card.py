"""The model card beside a saved model, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SHOWN = 50  # memories in the table


def model_card(manifest: Mapping[str, Any]) -> str:
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
            f"- classes: {', '.join(manifest['classes'])}",
            f"- when no threshold is met: {training['fallback']}"
            + (f" (label `{training['unknown_label']}`)" if training["fallback"] == "unknown" else ""),
        ]
    else:
        lines[-1] += " names its cluster."
        lines.append("")
    lines += [
        f"- similarity: `{' '.join(training['similarity'].split())}`",
        f"- threshold of the search: {training['threshold']:g}; {training['coverage']:.1%} of the training cases reach "
        f"it; mean similarity {training['mean_similarity']:.3f}",
        f"- input: {schema['kind']}"
        + (f" with {schema['n_features']} columns" if "n_features" in schema else "")
        + (
            f" ({', '.join(schema['columns'][:12])}{', ...' if len(schema['columns']) > 12 else ''})"
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
                f"| {number} | {each['row']} | {each['cases']} | {classes} | {each['threshold']:.3f} | "
                f"{each['classifier']} ({each['origin']}) |"
            )
        if len(training["by_memory"]) > SHOWN:
            lines.append(f"| ... | | | {len(training['by_memory']) - SHOWN} more | | |")
        lines.append("")
    lines += ["## Parameters", "", "| parameter | value |", "|---|---|"]
    lines += [f"| {name} | `{' '.join(value.split())}` |" for name, value in manifest["parameters"].items()]
    lines += ["", "## Loading", ""]
    needs = [f"{each['module']}.{each['name']}" for each in manifest["functions"]]
    trusted = f", trusted={needs}" if needs else ""
    lines += ["```", "import memclf", f"model = memclf.load(folder{trusted})", "```", ""]
    lines += [f"Versions: {', '.join(f'{name} {version}' for name, version in manifest['versions'].items())}.", ""]
    return "\n".join(lines)
