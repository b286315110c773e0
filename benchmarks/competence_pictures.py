"""The pictures of docs/competence.md, from a finished run of the leaf study (`memclf study leaf --ablate`).

python benchmarks/competence_pictures.py runs/leaf --data ../shared/data/leaf --out docs/pictures
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import memclf
from memclf.evaluate import Results, open_store
from memclf.evaluate.store import CLEAN
from memclf.studies import load_study, settings_for

NETWORK, MEMORY, TOGETHER, GREY = "#c2570c", "#a9791c", "#6f42b5", "#667080"
SHOWN = (("clean", 0), ("defocus_blur", 4), ("fog", 3), ("gaussian_noise", 3))


def opinions(clf, study, case, out):
    """One leaf under several conditions, and what network and memory say about it."""
    figure, panels = plt.subplots(2, len(SHOWN), figsize=(11, 4.3), height_ratios=(1, 1.25), layout="constrained")
    truth = study.test.labels[case]
    for column, (corruption, severity) in enumerate(SHOWN):
        image = study.test[[case]] if corruption == "clean" else study.test[[case]].corrupted(corruption, severity)
        told = clf.explain(image)[0]
        above, below = panels[:, column]
        above.imshow(image[0])
        above.set_axis_off()
        above.set_title("clean" if not severity else f"{corruption.replace('_', ' ')} {severity}", fontsize=11)
        places = np.arange(len(clf.classes_))
        for shift, colour, chances in (
            (-0.27, NETWORK, told.local),
            (0, MEMORY, told.labels),
            (0.27, TOGETHER, told.probabilities),
        ):
            below.bar(places + shift, list(chances.values()), 0.26, color=colour)
        below.axvspan(truth - 0.45, truth + 0.45, color="#000", alpha=0.07, lw=0)
        below.set_xticks(places, [str(label) for label in clf.classes_])
        below.set_ylim(0, 1)
        below.set_xlabel("severity of the disease; shaded: true")
        below.spines[["top", "right"]].set_visible(False)
        if column:
            below.set_yticklabels([])
        name = "" if told.competence is None else f"competence {told.competence:.3f}"
        below.set_title(name, fontsize=9, color=GREY)
    panels[1, 0].set_ylabel("probability")
    names = ("local network", "labels of the memory's cluster", "together")
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in (NETWORK, MEMORY, TOGETHER)]
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(out / "competence_opinions.png", dpi=110)


def severities(run, out):
    """Accuracy and balanced accuracy over the severities, of those who matter."""
    with open_store(run / "results.sqlite") as store:
        results = Results(store)
    names = {name.model: name for name in results.counted}
    levels = [0, *sorted({severity for _, severity in results.common})]
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharex=True)
    styles = (
        ("baseline", "network", NETWORK, "-"),
        ("memory", "memory classifier as in the paper", "#0b69a8", "-"),
        ("prior", "control: network x class frequencies", "#b0609a", "--"),
        ("stage1-sturdy", "control: memory's labels alone", MEMORY, "--"),
        ("sturdy", "both, weighed (sturdy)", TOGETHER, "-"),
    )
    for panel, balanced in zip(panels, (False, True), strict=True):
        for model, name, colour, line in styles:
            values = []
            for level in levels:
                asked = [each for each in (CLEAN, *results.common) if each.severity == level]
                values.append(100 * results.mean(names[model], asked, balanced=balanced).value)
            panel.plot(levels, values, line, color=colour, marker="o", ms=4, label=name)
        panel.set_xticks(levels, ["clean", *map(str, levels[1:])])
        panel.set_xlabel("severity of the corruption (mean over 18 kinds)")
        panel.set_title("balanced accuracy, %" if balanced else "accuracy, %", fontsize=11)
        panel.grid(axis="y", color="#ddd")
        panel.spines[["top", "right"]].set_visible(False)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(out / "competence_severities.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--data", required=True)
    parser.add_argument("--model", type=Path, help="folder of a sturdy model; by default that of the run")
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    parser.add_argument("--case", type=int, default=150, help="position of the leaf among the test images")
    asked = parser.parse_args()
    study = load_study(settings_for("leaf", data=asked.data))
    own = asked.run / "models" / "vanilla-efficientnet_lite0-seed0" / "sturdy"
    opinions(memclf.load(asked.model or own), study, asked.case, asked.out)
    severities(asked.run, asked.out)


if __name__ == "__main__":
    main()
