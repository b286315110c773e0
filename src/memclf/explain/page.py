"""Explanations as one HTML page that needs nothing else: pictures are in it."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from memclf.explain.card import STYLE, card
from memclf.explain.pair import show_pair
from memclf.explain.picture import SHOWN

LOOK = """<style>
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;background:#fff;color:#1c1f24}
h1{font-size:1.3rem}h2{font-size:1rem;margin:2rem 0 .5rem}
.others{border-collapse:collapse;font-size:.9rem}.others td{padding:2px 12px 2px 0}
.others .bar{position:relative;width:12rem;height:10px;background:#8883;border-radius:5px}
.others .bar i{position:absolute;left:0;top:0;bottom:0;border-radius:5px;background:#3b6fb5}
.others .bar u{position:absolute;top:-3px;bottom:-3px;width:2px;background:#d0473d}
.memclf{max-width:none!important}
@media (prefers-color-scheme:dark){body{background:#15181d;color:#e4e7ec}
.memclf .no{color:#ff8a80!important}.memclf .yes{color:#7bd88f!important}.memclf .bar u{background:#ff8a80!important}
.memclf .bar i,.others .bar i{background:#7aa7e8!important}}
</style>"""


def make_page(explanations: Any, title: str, names: Any = None) -> str:
    """Explanations as the text of an HTML file, for light and dark screens.

    Parameters
    ----------
    explanations : iterable of Explanation
    title : str
    names : list of str or None
        What each case is called; None: by its position.
    """
    parts = []
    for number, item in enumerate(explanations):
        name = f"case {item.position}" if names is None else names[number]
        parts.append(f"<h2>{escape(name)}</h2>{show_pair(item, name)}{card(item, name)}{_others(item)}")
    return (
        f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{escape(title)}</title>"
        f"<meta name='viewport' content='width=device-width,initial-scale=1'>{STYLE}{LOOK}</head>"
        f"<body><h1>{escape(title)}</h1>{''.join(parts)}</body></html>\n"
    )


def _others(item: Any) -> str:
    """The most similar memories as bars, each with its threshold."""
    order = np.argsort(-item.similarities, kind="stable")[:SHOWN]
    if len(order) < 2:
        return ""
    rows = [
        f"<tr><td>memory {k}</td><td><div class='bar'><i style='width:{100 * item.similarities[k]:.1f}%'></i>"
        f"<u style='left:{100 * item.thresholds[k]:.1f}%'></u></div></td><td>{item.similarities[k]:.3f}</td>"
        f"<td>threshold {item.thresholds[k]:.3f}</td></tr>"
        for k in order
    ]
    return f"<table class='others'>{''.join(rows)}</table>"
