"""SPECs: a description as a small YAML file that names measurements and their options.

    regions: LeafColours          # who finds the regions; left out where none are named
    measurements:
      - measure: colour
        of: leaf
      - measure: count
        of: leaf
        kind: red
      - function: veins           # a function of one's own
    leave_out:                    # single numbers that are not used
      - leaf_lightness_low

Everything is checked before anything is measured, and an error names the line, the word and the nearest right one.
Only which regions a feature finds is known from the first picture; that error names no line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import yaml
from sklearn.utils._param_validation import InvalidParameterError, StrOptions

from memclf.exceptions import SpecError
from memclf.vision.features.base import ImageFeatures
from memclf.vision.features.leaf import LeafColours
from memclf.vision.features.lesion import LesionFeatures
from memclf.vision.features.measures import REGISTRY
from memclf.vision.features.measures.base import Measurement
from memclf.vision.features.measures.own import OwnMeasurement, measure
from memclf.vision.features.measures.sight import FOREGROUND, PICTURE, name_nearest
from memclf.vision.features.measures.together import Measurements
from memclf.vision.features.patch import PatchColour

TOP = ("measurements", "regions", "leave_out")
# Features that find regions without being taught.
FINDERS = {kind.__name__: kind for kind in (LeafColours, LesionFeatures, PatchColour)}
LONGEST = 1_000_000  # bytes


def read_spec(path: str | os.PathLike[str], *, regions: Any = None, functions: Iterable[Any] = ()) -> Measurements:
    """The measurements that a SPEC names.

    Reading a SPEC runs no code: functions must be passed, and features that find regions are memclf's own.

    Parameters
    ----------
    path : path
        A YAML file; `write_spec` writes one, ``memclf measure --words`` lists all words.
    regions : object with `masks(image)`, or None
        A feature that finds the regions that the SPEC names, as taught `TaughtRegions`. It goes before what the SPEC
        itself says.
    functions : iterable of functions
        Your own functions that the SPEC names, plain or made by `measure`.
    """
    path = Path(path)
    try:
        if path.stat().st_size > LONGEST:
            raise SpecError(f"{path} has {path.stat().st_size:,} bytes; a SPEC is a small file")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SpecError(f"there is no file {path}; a SPEC is a YAML file that names measurements") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{path} cannot be read as text: {error}") from error
    known = {_name(each): each if isinstance(each, OwnMeasurement) else measure(each) for each in functions}
    return _Reader(path.name, text, regions, known).read()


def write_spec(measurements: Measurements, path: str | os.PathLike[str]) -> Path:
    """Write measurements as a SPEC, which `read_spec` reads; return its path.

    Options that have their defaults are left out. Regions are named where a feature of memclf finds them as it comes;
    taught ones are passed to `read_spec`.
    """
    entries: list[dict[str, Any]] = []
    for each in measurements.measurements:
        if isinstance(each, OwnMeasurement):
            entries.append({"function": _name(each)})
        elif REGISTRY.get(type(each).word if isinstance(each, Measurement) else "") is type(each):
            params = each.get_params(deep=False)
            changed = {name: params[name] for name, usual in type(each).options().items() if params[name] != usual}
            entries.append({"measure": each.word, "of": each.of, **changed})
        else:
            raise SpecError(
                f"a SPEC holds ready measurements and functions of your own; {type(each).__name__} is neither"
            )
    finders = {id(each.regions): each.regions for each in measurements.measurements if isinstance(each, Measurement)}
    found = [each for each in finders.values() if each is not None]
    if len(found) > 1:
        raise SpecError(f"a SPEC has regions of one feature, these measurements have {len(found)}")
    head = {"regions": type(found[0]).__name__} if found and _is_as_it_comes(found[0]) else {}
    note = "" if head or not found else "# The regions were taught; give them: read_spec(path, regions=...)\n"
    tail = {"leave_out": list(measurements.leave_out)} if measurements.leave_out else {}
    text = note + yaml.safe_dump({**head, "measurements": entries, **tail}, sort_keys=False, allow_unicode=True)
    path = Path(path)
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)
    return path


def list_words() -> str:
    """All that a SPEC may say, as a SPEC: every measurement with its options, and what it says."""
    lines = ["# of: foreground, picture, or the name of a region", "measurements:"]
    for word, kind in REGISTRY.items():
        lines += [f"  # {kind.sentence}", f"  - measure: {word}", f"    of: {kind().of}"]
        for option, usual in kind.options().items():
            words = [
                each.options for each in kind._parameter_constraints.get(option, ()) if isinstance(each, StrOptions)
            ]
            listed = f"  # {', '.join(sorted(words[0]))}" if words else ""
            lines.append(f"    {option}: {yaml.safe_dump(usual).split(chr(10))[0]}{listed}")
    return "\n".join(lines) + "\n"


class _Reader:
    """Reads one SPEC; errors name the file and the line."""

    def __init__(self, name: str, text: str, regions: Any, functions: Mapping[str, OwnMeasurement]):
        self.name = name
        self.text = text
        self.regions = regions
        self.functions = functions

    def read(self) -> Measurements:
        try:
            self.loader = yaml.SafeLoader(self.text)
            top = self.loader.get_single_node()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self.fail(mark.line if mark else 0, f"this is not YAML: {error.problem or error.context}")
        except yaml.YAMLError as error:
            self.fail(0, f"this is not YAML: {error}")
        if not isinstance(top, yaml.MappingNode):
            self.fail(0, "a SPEC begins with 'measurements:' and lists one '- measure: ...' below it")
        entries = self.mapping(top)
        for key, (line, _) in entries.items():
            if key not in TOP:
                self.fail(line, f"{key!r} is no part of a SPEC; {name_nearest(key, TOP)}")
        if "measurements" not in entries:
            self.fail(top.start_mark.line, "there is no 'measurements:', which lists what to measure")
        if self.regions is None and "regions" in entries:
            self.regions = self.find_regions(*entries["regions"])
        line, items = entries["measurements"]
        if not isinstance(items, yaml.SequenceNode) or not items.value:
            self.fail(line, "measurements must be a list, with '- measure: colour' on a line of its own for each")
        left_out = self.read_left_out(*entries["leave_out"]) if "leave_out" in entries else []
        made = Measurements([self.read_entry(item) for item in items.value], leave_out=[name for _, name in left_out])
        try:
            made._validate_params()
        except (TypeError, ValueError) as error:
            wrong = [at for at, name in left_out if str(error).startswith(f"leave_out names {name!r},")]
            self.fail(wrong[0] if wrong else line, str(error))
        return made

    def read_entry(self, item: Any) -> ImageFeatures:
        """One measurement of the list."""
        line = item.start_mark.line
        if not isinstance(item, yaml.MappingNode):
            word = item.value if isinstance(item, yaml.ScalarNode) else "colour"
            self.fail(line, f"write '- measure: {word}', and its options below, in the column of 'measure'")
        given = self.mapping(item)
        if "function" in given:
            return self.find_function(given)
        if "measure" not in given:
            misspelt = [key for key in given if key not in ("of",) and not _is_option(key)]
            word = misspelt[0] if misspelt else next(iter(given), "")
            self.fail(line, f"{word!r} does not say what to measure; {name_nearest(word, ('measure', 'function'))}")
        line, word = self.word(given.pop("measure"), "measure")
        if word not in REGISTRY:
            self.fail(line, f"there is no measurement {word!r}; {name_nearest(word, REGISTRY)}")
        kind = REGISTRY[word]
        allowed = ("of", *kind.options())
        options: dict[str, Any] = {}
        for key, (line, node) in given.items():
            if key not in allowed:
                self.fail(line, f"{word} has no option {key!r}; {name_nearest(key, allowed)}")
            try:
                options[key] = self.loader.construct_object(node, deep=True)
            except yaml.MarkedYAMLError as error:
                self.fail(line, f"this is not YAML: {error.problem}")
            self.check_choice(line, kind, key, options[key])
        self.check_of(given, options)
        made = kind(
            **options, regions=self.regions if options.get("of", kind().of) not in (FOREGROUND, PICTURE) else None
        )
        try:
            made._validate_params()
        except (TypeError, ValueError) as error:
            named = (
                [key for key in given if f"'{key}'" in str(error)] if isinstance(error, InvalidParameterError) else []
            )
            self.fail(given[named[0]][0] if named else item.start_mark.line, str(error))
        return made

    def read_left_out(self, line: int, node: Any) -> list[tuple[int, str]]:
        """Lines and names of single numbers."""
        if not isinstance(node, yaml.SequenceNode):
            self.fail(line, "leave_out must be a list, with '- name of a number' on a line of its own for each")
        return [self.word((each.start_mark.line, each), "leave_out") for each in node.value]

    def check_choice(self, line: int, kind: type[Measurement], key: str, value: Any) -> None:
        """An option with a fixed list of words has one of them."""
        for choice in kind._parameter_constraints.get(key, ()):
            if isinstance(choice, StrOptions) and value not in choice.options:
                self.fail(line, f"{key} of {kind.word} cannot be {value!r}; {name_nearest(str(value), choice.options)}")

    def check_of(self, given: Mapping[str, tuple[int, Any]], options: Mapping[str, Any]) -> None:
        """Without a feature that finds regions, there are only the foreground and the picture."""
        of = options.get("of", FOREGROUND)
        if self.regions is None and of not in (FOREGROUND, PICTURE):
            hint = "a region needs one who finds it: 'regions: LeafColours' above, or read_spec(path, regions=taught)"
            self.fail(given["of"][0], f"of cannot be {of!r}; {name_nearest(str(of), (FOREGROUND, PICTURE))}; {hint}")

    def find_function(self, given: Mapping[str, tuple[int, Any]]) -> OwnMeasurement:
        """A function that was passed."""
        line, name = self.word(given["function"], "function")
        if extra := [key for key in given if key != "function"]:
            self.fail(given[extra[0]][0], f"a function has no options, got {extra[0]!r}")
        if name not in self.functions:
            known = f"; {name_nearest(name, self.functions)}" if self.functions else ""
            self.fail(line, f"the function {name!r} was not passed: read_spec(path, functions=[{name}]){known}")
        return self.functions[name]

    def find_regions(self, line: int, node: Any) -> Any:
        """A feature of memclf that finds regions as it comes."""
        _, name = self.word((line, node), "regions")
        if name not in FINDERS:
            self.fail(line, f"there is no feature {name!r} that finds regions; {name_nearest(name, FINDERS)}")
        return FINDERS[name]()

    def word(self, found: tuple[int, Any], what: str) -> tuple[int, str]:
        """The line and the text of a single word."""
        line, node = found
        if not isinstance(node, yaml.ScalarNode) or not node.value:
            self.fail(line, f"{what} needs one word after it")
        return line, str(node.value)

    def mapping(self, node: Any) -> dict[str, tuple[int, Any]]:
        """Key -> line and value; a key occurs once."""
        found: dict[str, tuple[int, Any]] = {}
        for key, value in node.value:
            name = str(key.value)
            if name in found:
                self.fail(key.start_mark.line, f"{name!r} occurs twice; begin the second one with '- measure:'")
            found[name] = (key.start_mark.line, value)
        return found

    def fail(self, line: int, message: str) -> NoReturn:
        raise SpecError(f"{self.name}, line {line + 1}: {message}")


def _name(function: Any) -> str:
    """The name by which a SPEC knows a function."""
    own = function.function if isinstance(function, OwnMeasurement) else function
    try:
        return str(own.__name__)
    except AttributeError:
        raise SpecError(f"{own!r} has no name that a SPEC could use; define it with def") from None


def _is_option(key: str) -> bool:
    return any(key in kind.options() for kind in REGISTRY.values())


def _is_as_it_comes(regions: Any) -> bool:
    """Whether a feature finds regions without being taught, with its defaults."""
    kind = FINDERS.get(type(regions).__name__)
    return kind is type(regions) and vars(regions) == vars(kind())
