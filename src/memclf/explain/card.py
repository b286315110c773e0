"""An explanation as a card for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

from memclf.explain.sentences import UNMET, find_unmet

COLUMNS = 6  # of a case beside its memory

STYLE = """<style>
.memclf{font:14px/1.45 system-ui,sans-serif;border:1px solid #8886;border-radius:8px;padding:10px 14px;margin:8px 0;
max-width:46rem}
.memclf b{font-size:1.1em}.memclf .no{color:#b3261e}.memclf .yes{color:#1b7a3d}
.memclf .bar{position:relative;height:12px;background:#8882;border-radius:6px;margin:6px 0 2px}
.memclf .bar i{position:absolute;left:0;top:0;bottom:0;border-radius:6px;background:#3b6fb5}
.memclf .bar u{position:absolute;top:-3px;bottom:-3px;width:2px;background:#b3261e}
.memclf small{opacity:.75}
.pair{display:flex;flex-wrap:wrap;gap:1rem}.pair figure{margin:0}
.pair img{max-width:min(22rem,100%);border-radius:6px}.pair figcaption{font-size:.85rem;opacity:.75}
.memclf table{font:inherit;border-collapse:collapse;margin:6px 0}.memclf td{padding:1px 12px 1px 0}
</style>"""


def card(item: Any, name: str = "", pictures: str = "") -> str:
    """One `Explanation` as a box for a notebook.

    `name` is what the case is called, `pictures` the HTML of the case and its memory where they are images.
    """
    state = f"<span class='{'yes' if item.known else 'no'}'>{UNMET[find_unmet(item)]}</span>"
    label = "unknown" if item.answered_by == "none" else escape(str(item.answer))
    called = escape(name or f"case {item.position}")
    lines = [
        f"<div class='memclf'><b>{called}: {label}</b> &nbsp;{state}{pictures or '<br>'}{escape(item.sentence)}",
        f"<div class='bar'><i style='width:{100 * item.similarity:.1f}%'></i>"
        f"<u style='left:{100 * item.threshold:.1f}%'></u></div>",
        f"<small>similarity {item.similarity:.3f} to memory {item.memory}; the red mark is its threshold</small>",
    ]
    if item.runner_up is not None:
        lines.append(
            f"<br><small>runner-up: memory {item.runner_up} (training case {item.runner_up_row}), similarity "
            f"{item.runner_up_similarity:.3f}, margin {item.margin:.3f}</small>"
        )
    compared = item.compare_with_memory()
    if rows := compared[:COLUMNS]:
        cells = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        lines.append(
            f"<table><tr><td></td><td><small>case</small></td><td><small>memory</small></td></tr>{cells}</table>"
        )
    lines += [f"<small>and {len(compared) - COLUMNS} more</small>"] if len(compared) > COLUMNS else []
    cells = "".join(
        f"<tr><td>{escape(str(label))}</td><td>{count} in the cluster</td><td>"
        + ("" if item.probabilities is None else f"probability {item.probabilities[label]:.2f}")
        + "</td></tr>"
        for label, count in item.cluster_classes.items()
        if count or (item.probabilities or {}).get(label, 0) >= 0.005
    )
    lines.append(f"<table>{cells}</table>")
    lines += [f"<b>{escape(item.contradiction)}</b><br>"] if item.contradiction else []
    lines += [f"<small>alike: {escape(item.say_likeness())}</small><br>"] if item.likeness else []
    lines += [f"<small>{escape(str(each))}</small><br>" for each in item.evidence]
    lines += [f"<small>{escape(item.promise)}</small>"] if item.promise else []
    return "".join(lines) + "</div>"
