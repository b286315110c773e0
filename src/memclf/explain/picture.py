"""An explanation as a picture: similarities, classes of the cluster, probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from memclf.answers.base import ALONE
from memclf.cases import Collection
from memclf.exceptions import MissingExtraError

SHOWN = 6  # memories in the picture
BLUE, GREY, RED = "#3b6fb5", "#c4c9d1", "#b3261e"


def draw(item: Any, figure: Any = None) -> Any:
    """Draw an `Explanation` into a figure of matplotlib, a new one by default."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError('pictures need matplotlib: pip install "memclf[report]"') from error
    figure = Figure(figsize=(9, 3.4), layout="constrained") if figure is None else figure
    pictures = [show_image(item.case, item.overlay), show_image(item.memory_case, item.overlay)]
    panels = figure.subplots(1, 4 if pictures[0] is not None else 2)
    title = "unknown" if item.answered_by == "none" else str(item.answer)
    figure.suptitle(f"case {item.position}: {title}", fontweight="bold")
    if pictures[0] is not None:
        for panel, picture, name in zip(panels, pictures, ("case", f"memory {item.memory}"), strict=False):
            panel.imshow(picture, cmap="gray")
            panel.set_title(name, fontsize=10)
            panel.set_axis_off()
    _similarities(panels[-2], item)
    _classes(panels[-1], item)
    return figure


def _similarities(panel: Any, item: Any) -> None:
    order = np.argsort(-item.similarities, kind="stable")[:SHOWN][::-1]
    colours = [BLUE if k == item.memory and item.known else GREY for k in order]
    panel.barh([f"memory {k}" for k in order], item.similarities[order], color=colours)
    for position, k in enumerate(order):
        mark = item.thresholds[k]
        panel.plot([mark, mark], [position - 0.4, position + 0.4], color=RED, lw=2)
    panel.set_xlim(0, 1.02)
    panel.set_xlabel("similarity (red: threshold)")
    panel.spines[["top", "right"]].set_visible(False)


def _classes(panel: Any, item: Any) -> None:
    labels = list(item.cluster_classes)
    places = np.arange(len(labels))
    share = np.array([item.cluster_classes[label] for label in labels]) / max(1, item.cluster_size)
    panel.barh(places - 0.2, share, height=0.38, color=GREY, label="share of the memory's cluster")
    if item.probabilities is not None:
        chance = [item.probabilities[label] for label in labels]
        panel.barh(places + 0.2, chance, height=0.38, color=BLUE, label=f"probability ({_name_answering(item)})")
    panel.set_yticks(places, [str(label) for label in labels])
    panel.invert_yaxis()
    panel.set_xlim(0, 1.02)
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.1))


def _name_answering(item: Any) -> str:
    both = item.answered_by in ("memory", "nearest", "global") and item.labels_share >= ALONE
    beside = "measurements" if item.rule.inspects else "labels"
    return f"{item.classifier} and {beside}" if both else item.classifier


def show_image(case: Any, overlay: Any) -> Any:
    """The case as an image, None if it is none.

    An array is an image if it is a batch of one with two or three dimensions more. What an expert feature measured is
    drawn into it.
    """
    if isinstance(case, Collection):
        return case[0] if overlay is None else overlay(case[0], case.info_of(0))
    if not isinstance(case, np.ndarray) or case.dtype == object or case.ndim not in (3, 4):
        return None
    return case[0] if overlay is None else overlay(case[0])
