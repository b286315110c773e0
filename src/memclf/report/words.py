"""What the report calls things: names for people, one sentence for every term, numbers as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

#: Names of the models, in the order in which they are shown, and what each of them is.
MODELS = {
    "baseline": ("Baseline", "one classifier trained on all training cases (the global classifier)"),
    "memory": ("Memory classifier", "routes a case to a memory, whose local classifier answers"),
    "memory-paper": ("Memory classifier, paper’s feature", "the same with the expert feature as the paper has it"),
    "sturdy": (
        "Sturdy memory classifier",
        "graded memories; the softened classifier times the labels of the memory’s cluster, with rare classes favoured "
        "a bit",
    ),
    "careful": (
        "Careful memory classifier",
        "the sturdy one, but what is unlike the training cases is unknown (at most 5 % of cases like them)",
    ),
    "augmented": ("Feature augmentation", "the network with the expert features joined to its last layer"),
    "majority": ("Majority class", "always answers the commonest training class"),
    "stage1": ("Stage 1 alone", "answers the commonest label of the memory’s cluster, without any classifier"),
    "stage1-paper": ("Stage 1 alone, paper’s feature", "the same with the expert feature as the paper has it"),
    "stage1-sturdy": ("Stage 1 alone, graded", "the same with the graded memories of the sturdy memory classifier"),
    "stage1-balanced": (
        "Stage 1 alone, balanced",
        "the same, but rare classes are weighed up as the sturdy memory classifier does",
    ),
    "ensemble": ("Deep ensemble", "several classifiers like the baseline, whose probabilities are averaged"),
    "prior": ("Baseline × class frequencies", "the baseline, softened (temperature 2), times how common each class is"),
    "prior-balanced": (
        "Baseline × class frequencies, balanced",
        "the same with the frequencies weighed as the sturdy memory classifier does",
    ),
    "random": (
        "Random routing",
        "a memory classifier whose clusters are drawn at random, of the same sizes; a case goes where its name leads",
    ),
}
#: Models that the case studies alone have; an evaluation of one's own may use the same names for something else.
OF_STUDIES = ("memory-paper", "sturdy", "careful", "augmented", "stage1-paper", "stage1-sturdy")
#: What is said instead where there is no sturdy memory classifier to be compared with.
WITHOUT_STURDY = {
    "stage1-balanced": "the same, but rare classes are weighed up",
    "prior-balanced": "the same, but rare classes are weighed up",
}
#: Shorter names, where there is little room.
SHORT = {
    "memory": "Memory",
    "memory-paper": "Memory, paper’s feature",
    "sturdy": "Sturdy memory",
    "careful": "Careful memory",
    "stage1-sturdy": "Stage 1, graded",
    "augmented": "Augmented",
    "stage1-paper": "Stage 1, paper’s feature",
    "stage1-balanced": "Stage 1, balanced",
    "prior-balanced": "Baseline × frequencies, bal.",
    "prior": "Baseline × frequencies",
}
CONTROLS = (
    *("majority", "stage1", "stage1-paper", "stage1-sturdy", "stage1-balanced"),
    *("prior", "prior-balanced", "random", "ensemble"),
)

RECIPES = {
    "vanilla": "Vanilla",
    "adversarial": "Adversarial",
    "augmix": "AugMix",
    "cutmix": "CutMix",
    "noisymix": "NoisyMix",
    "manifold_mixup": "Manifold Mixup",
}
BACKBONES = {
    "efficientnet_lite0": "EfficientNet-Lite0",
    "resnet18": "ResNet18",
    "resnet34": "ResNet34",
    "resnet50": "ResNet50",
    "vgg11": "VGG11",
    "vgg16": "VGG16",
    "preact_resnet18": "PreActResNet18",
}
CORRUPTIONS = {
    "clean": "Clean",
    "elastic_transform": "Elastic",
    "jpeg_compression": "JPEG",
}
#: The rows of the paper's tables, in their order; `memclf.vision.corruptions.PAPER` without loading it.
ORDER = (
    "clean", "fog", "brightness", "contrast", "elastic_transform", "pixelate", "jpeg_compression",
    "speckle_noise", "gaussian_blur", "spatter", "saturate", "gaussian_noise", "shot_noise",
    "impulse_noise", "defocus_blur", "zoom_blur", "frost", "motion_blur", "snow", "glass_blur",
)  # fmt: skip

TERMS = {
    "memory": "A memory is a training case kept as a prototype; a new case is routed to the memory it is alike to.",
    "baseline": "The baseline is the same classifier without memories, trained on all training cases.",
    "gain": "The gain is the accuracy of a model minus that of its baseline on the very same cases, in points.",
    "accuracy": "Accuracy is the share of all test cases answered rightly; “unknown” counts as an error.",
    "balanced": "Balanced accuracy is the mean over the classes of their own accuracies: always answering the "
    "commonest class earns only one over the number of classes there.",
    "interval": "The small print is the 95 % interval: test cases are drawn again and again (bootstrap), for gains "
    "the same ones for both models. An interval that contains 0 means the difference may be chance.",
    "groups": "Cases of one group are drawn together.",
    "corruption": "A corruption changes the test cases, more so at a higher severity; a corruption at one severity is "
    "a condition. The mean is taken over all corrupted conditions.",
    "severity": "Corruptions are fog, noise, blur …, at severities from 1, mild, to 5, which a person would call a "
    "ruined picture.",
    "coverage": "Coverage is the share of cases that get an answer at all; the others are “unknown”.",
    "selective": "Selective accuracy is the accuracy among the cases that got an answer.",
    "stability": "Routing stability is the share of test cases that keep, when corrupted, the memory they had clean.",
    "oracle": "Oracle routing is the accuracy when every corrupted case is sent to the memory it had clean: what the "
    "local classifiers could reach with perfect routing.",
    "control": "A control is a simple rival without the memory classifier’s idea. What a control reaches too does "
    "not come from that idea.",
    "recipe": "A recipe is a way of training the network (AugMix, NoisyMix …); the backbone is the network itself.",
    "bound": "A bound is a promise of theory: at most this share of new cases will be answered wrongly or not at all. "
    "It is about new cases like the training cases, not about corrupted ones. A bound of 1 or more is vacuous: it "
    "promises nothing, since no share is larger than 1.",
}

#: What stands with a table or a figure, on the page and in Markdown.
CAPTIONS = {
    "severities": "Mean over the corruptions at each severity. Bands are 95 % intervals.",
    "thin": "Controls are drawn thin and without bands.",
    "undrawn": "Balanced controls are not drawn.",
    "paper": "A strong colour or a bold number means that the 95 % interval of our difference excludes 0; a pale one "
    "may be chance, as all of the paper’s may (it states no intervals).",
    "ablation": "“+part”: that part alone, put on the memory classifier as the paper has it; “sturdy…”: the sturdy "
    "memory classifier with one part less, more or exchanged. The same networks answer in every row.",
    "memories": "A case is taken by a memory when their similarity, from 0 to 1, reaches the memory’s threshold.",
    "routes": "Test cases, each with the memory that it was routed to. A case below the memory’s threshold is unknown, "
    "or goes to the fallback; so does one whose description is not trusted or that is too strange to the memory’s "
    "classifier.",
    "overlays": "The expert feature’s own view of a picture, clean and corrupted. Where the numbers stay, the route "
    "stays.",
    "gains": "Bold numbers have intervals that exclude 0 (by chance alone about one in twenty would); the others may "
    "be chance.",
    "bounds": "The terms end to end, as shares. A bound that reaches the dashed line is vacuous.",
    "warnings": "Warnings count the controls that do as well as a memory classifier, in accuracy or in balanced "
    "accuracy: a gain that a control has too is no gain.",
}

MINUS = "−"
FIVE = (1, 2, 3, 4, 5)


def model(name: str) -> str:
    return MODELS[name][0] if name in MODELS else name


def who_is_who(present: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Names and explanations of the models that took part, which speak of no others.

    >>> list(who_is_who(["memory", "elsewhere", "baseline"]))
    ['baseline', 'memory']
    """
    there = set(present)
    changed = {} if "sturdy" in there else WITHOUT_STURDY
    return {name: (title, changed.get(name, said)) for name, (title, said) in MODELS.items() if name in there}


def numbered(classes: Iterable[Any]) -> bool:
    """Whether the classes are called by numbers, which say nothing by themselves.

    >>> numbered([0, 1, 2]), numbered(["0", "1"]), numbered(["mild", "severe"])
    (True, True, False)
    """
    found = [str(each) for each in classes]
    return bool(found) and all(re.fullmatch(r"-?\d+(\.\d+)?", each) for each in found)


def label(name: Any, number: bool) -> str:
    """What a class is called in a sentence; `number`: classes are called by numbers here.

    >>> label(1, True), label("2 or 3", True), label("unknown", True), label("mild", False)
    ('class 1', 'class 2 or class 3', 'unknown', 'mild')
    """
    if not number or name is None:
        return "–" if name is None else str(name)
    return " or ".join(each if each == "unknown" else f"class {each}" for each in str(name).split(" or "))


def recipe(name: str) -> str:
    return RECIPES.get(name, name)


def backbone(name: str) -> str:
    return BACKBONES.get(name, name)


def column(name: str) -> str:
    """A recipe or a backbone, whichever it is."""
    return RECIPES.get(name) or BACKBONES.get(name, name)


def corruption(name: str) -> str:
    return CORRUPTIONS.get(name) or name.replace("_", " ").capitalize()


def condition(text: str) -> str:
    """`gaussian_noise 5` as people read it.

    >>> condition("gaussian_noise 5"), condition("clean")
    ('Gaussian noise 5', 'Clean')
    """
    name, _, severity = text.partition(" ")
    return f"{corruption(name)} {severity}".strip()


def place(name: str) -> tuple[int, str]:
    """For sorting corruptions as the paper's tables do, others after them."""
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def rank(name: str) -> tuple[int, str]:
    """For sorting models: the contenders first, then the controls."""
    names = list(MODELS)
    return (names.index(name) if name in names else len(names), name)


def percent(value: float | None, digits: int = 1) -> str:
    """A fraction in per cent, without the sign of per cent.

    >>> percent(0.8005), percent(None)
    ('80.0', '–')
    """
    return "–" if missing(value) else _signed(100 * float(value or 0), digits, False)


def points(value: float | None, digits: int = 1) -> str:
    """A difference of two fractions in points, always with its sign.

    >>> points(0.079), points(-0.0004), points(-0.021)
    ('+7.9', '±0.0', '−2.1')
    """
    return "–" if missing(value) else _signed(100 * float(value or 0), digits, True)


def _signed(number: float, digits: int, plus: bool) -> str:
    text = f"{abs(number):.{digits}f}"
    if not float(text):
        return f"±{text}" if plus else text
    return (MINUS if number < 0 else "+" if plus else "") + text


def two_digits(value: Any) -> str:
    """A similarity or a threshold.

    >>> two_digits(0.666), two_digits(None)
    ('0.67', '–')
    """
    return f"{value:.2f}" if isinstance(value, int | float) else "–"


def missing(value: Any) -> bool:
    return value is None or value != value


def listed(items: Iterable[str]) -> str:
    """Words as in a sentence.

    >>> listed(["fog"]), listed(["fog", "snow", "frost"])
    ('fog', 'fog, snow and frost')
    """
    *head, last = list(items) or [""]
    return f"{', '.join(head)} and {last}" if head else last


def counted(number: int, thing: str) -> str:
    """So many of something.

    >>> counted(1, "corruption"), counted(18, "corruption")
    ('1 corruption', '18 corruptions')
    """
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def severities(levels: Iterable[int]) -> str:
    """Severities as in a sentence; all five, as in the paper, have a name of their own.

    >>> severities([3]), severities([1, 3, 5]), severities([1, 2, 3, 4, 5])
    ('severity 3', 'severities 1, 3 and 5', 'all five severities')
    """
    found = sorted(set(levels))
    if found == list(FIVE):
        return "all five severities"
    return f"severit{'y' if len(found) == 1 else 'ies'} {listed(map(str, found))}"


def colour(text: Any) -> str:
    """A colour as `#rrggbb`; anything else is grey, since it would go into the style of a page.

    >>> colour("#ff4870"), colour("red; background: url(x)")
    ('#ff4870', '#888888')
    """
    return text if isinstance(text, str) and re.fullmatch("#[0-9a-fA-F]{6}", text) else "#888888"


def moment(text: str | None) -> str:
    """A moment as people write it.

    >>> moment("2026-11-16T06:03:04+00:00"), moment("2026-11-16T06:03:04")
    ('2026-11-16 06:03 UTC', '2026-11-16 06:03')
    """
    day, _, rest = str(text or "").partition("T")
    zone = " UTC" if rest.endswith(("+00:00", "Z")) else ""
    return f"{day} {rest[:5]}{zone}".strip()


def duration(seconds: float | None) -> str:
    """Seconds as people say them.

    >>> duration(12.34), duration(200), duration(3 * 3600 + 120)
    ('12 s', '3 min 20 s', '3 h 2 min')
    """
    if missing(seconds):
        return "–"
    whole = round(float(seconds or 0))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
