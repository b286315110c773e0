"""SPECs: what is written is read again, and every mistake is named with its line and the nearest right word."""

import numpy as np
import pytest

from memclf.exceptions import SpecError
from memclf.vision.features import (
    ColourOf,
    CountOf,
    LeafColours,
    LesionFeatures,
    Measurements,
    PlaceOf,
    SharpnessOf,
    measure,
    read_spec,
    write_spec,
)
from memclf.vision.features.measures import REGISTRY
from memclf.vision.features.measures.spec import list_words
from scenes import scene


@measure
def redness(image):
    return {"mean_redness": float(image[:, :, 0].mean())}


class Taught(LesionFeatures):
    """Regions that a SPEC cannot name."""


def spec(folder, text):
    path = folder / "leaf.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_read_spec__file__gives_measurements_with_their_options(tmp_path):
    text = """
    # what I look at
    measurements:
      - measure: colour
      - measure: count
        of: foreground
        kind: red
        smallest: 0.01
    """
    made = read_spec(spec(tmp_path, text))
    assert isinstance(made, Measurements)
    colour, count = made.measurements
    assert isinstance(colour, ColourOf)
    assert colour.of == "foreground"
    assert count.get_params() == {"of": "foreground", "regions": None, "kind": "red", "smallest": 0.01}
    assert made.transform([scene(2)]).shape == (1, 16)


def test_write_spec__measurements__come_back_the_same(tmp_path):
    regions = LeafColours()
    given = Measurements(
        [
            ColourOf("affected", regions=regions),
            CountOf("leaf", regions=regions, kind="yellow"),
            PlaceOf(part="reddest"),
            SharpnessOf("foreground"),
            redness,
        ]
    )
    path = write_spec(given, tmp_path / "a.yaml")
    assert path.read_text() == (
        "regions: LeafColours\nmeasurements:\n- measure: colour\n  of: affected\n- measure: count\n  of: leaf\n"
        "  kind: yellow\n- measure: place\n  of: picture\n  part: reddest\n- measure: sharpness\n  of: foreground\n"
        "- function: redness\n"
    )
    found = read_spec(path, functions=[redness])
    assert found.names == given.names
    np.testing.assert_array_equal(found.transform([scene(3)]), given.transform([scene(3)]))
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


def test_write_spec__taught_regions__are_passed_when_it_is_read(tmp_path):
    regions = Taught()
    path = write_spec(Measurements([ColourOf("lesion", regions=regions)]), tmp_path / "a.yaml")
    assert path.read_text().startswith("# The regions were taught; give them")
    assert "\nregions" not in path.read_text()
    assert read_spec(path, regions=regions).measurements[0].regions is regions
    with pytest.raises(
        SpecError, match="a.yaml, line 4: of cannot be 'lesion'; .* read_spec\\(path, regions=taught\\)"
    ):
        read_spec(path)


def test_write_spec__what_a_spec_cannot_say__is_refused(tmp_path):
    with pytest.raises(SpecError, match="a SPEC holds ready measurements and functions of your own; LesionFeatures is"):
        write_spec(Measurements([LesionFeatures()]), tmp_path / "a.yaml")
    two = Measurements([ColourOf("lesion", regions=Taught()), CountOf("lesion", regions=Taught())])
    with pytest.raises(SpecError, match="a SPEC has regions of one feature, these measurements have 2"):
        write_spec(two, tmp_path / "a.yaml")
    assert not list(tmp_path.iterdir())


def test_list_words__all_measurements__are_a_spec_with_the_defaults(tmp_path):
    made = read_spec(spec(tmp_path, list_words()))
    assert [each.word for each in made.measurements] == list(REGISTRY)
    for each in made.measurements:
        assert each.get_params() == type(each)().get_params()
        assert each.sentence in list_words()


MISTAKES = {
    "a typo in a measurement": (
        "measurements:\n- measure: colour\n- measure: textrue\n",
        "line 3: there is no measurement 'textrue'; did you mean 'texture'? There are 'colour', 'count',",
    ),
    "a typo in an option": (
        "measurements:\n- measure: count\n  knid: red\n",
        "line 3: count has no option 'knid'; did you mean 'kind'? There are 'kind', 'of', 'smallest'",
    ),
    "a typo in a choice": (
        "measurements:\n- measure: count\n  of: picture\n  kind: rde\n",
        "line 4: kind of count cannot be 'rde'; did you mean 'red'? There are 'blue', 'bright',",
    ),
    "a typo in of": (
        "measurements:\n- measure: colour\n  of: forground\n",
        "line 3: of cannot be 'forground'; did you mean 'foreground'?",
    ),
    "a typo at the top": (
        "mesurements:\n- measure: colour\n",
        "line 1: 'mesurements' is no part of a SPEC; did you mean 'measurements'?",
    ),
    "a typo in measure": (
        "measurements:\n- mesure: colour\n  of: picture\n",
        "line 2: 'mesure' does not say what to measure; did you mean 'measure'?",
    ),
    "a typo in regions": (
        "regions: LeafColors\nmeasurements:\n- measure: colour\n  of: leaf\n",
        "line 1: there is no feature 'LeafColors' that finds regions; did you mean 'LeafColours'?",
    ),
    "a number that is none": (
        "measurements:\n- measure: count\n  smallest: many\n",
        "line 3: The 'smallest' parameter of CountOf must be a float in the range [0.0, 1.0]. Got 'many' instead.",
    ),
    "the same twice": (
        "measurements:\n- measure: colour\n- measure: colour\n",
        "two measurements give the number 'foreground_lightness_low'; leave one out",
    ),
    "a key twice": (
        "measurements:\n- measure: colour\n  measure: shape\n",
        "line 3: 'measure' occurs twice; begin the second one with '- measure:'",
    ),
    "a bare word": ("measurements:\n- colour\n", "line 2: write '- measure: colour', and its options below"),
    "no list": ("measurements: colour\n", "line 1: measurements must be a list, with '- measure: colour'"),
    "an empty list": ("measurements: []\n", "line 1: measurements must be a list"),
    "no measurements": ("regions: LeafColours\n", "there is no 'measurements:', which lists what to measure"),
    "nothing": ("", "line 1: a SPEC begins with 'measurements:'"),
    "a list alone": ("- measure: colour\n", "line 1: a SPEC begins with 'measurements:'"),
    "no YAML": ("measurements:\n- measure: [colour\n", "leaf.yaml, line 3: this is not YAML: "),
    "a tab": ("measurements:\n\t- measure: colour\n", "line 2: this is not YAML: found character '\\t'"),
    "the shape of the picture": (
        "measurements:\n- measure: shape\n  of: picture\n",
        "line 2: the picture has no shape of its own",
    ),
    "a function that was not passed": (
        "measurements:\n- function: rednes\n",
        "line 2: the function 'rednes' was not passed: read_spec(path, functions=[rednes]); did you mean 'redness'?",
    ),
    "a function with options": (
        "measurements:\n- function: redness\n  of: picture\n",
        "line 3: a function has no options, got 'of'",
    ),
    "a measurement without a name": ("measurements:\n- measure:\n", "line 2: measure needs one word after it"),
    "something to run": (
        "measurements:\n- measure: count\n  kind: !!python/object/apply:os.getcwd []\n",
        "line 3: this is not YAML: could not determine a constructor for the tag",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_read_spec__mistake__is_named_with_its_line(mistake, tmp_path):
    text, message = MISTAKES[mistake]
    with pytest.raises(SpecError) as caught:
        read_spec(spec(tmp_path, text), functions=[redness])
    assert message in str(caught.value)
    assert str(caught.value).startswith("leaf.yaml, line ")


def test_read_spec__no_file__says_so(tmp_path):
    with pytest.raises(SpecError, match="there is no file .*nothing.yaml; a SPEC is a YAML file"):
        read_spec(tmp_path / "nothing.yaml")
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match="a.yaml cannot be read as text"):
        read_spec(tmp_path / "a.yaml")
    with pytest.raises(SpecError, match="cannot be read as text"):
        read_spec(tmp_path)
    (tmp_path / "a.yaml").write_text("#" * 1_000_001)
    with pytest.raises(SpecError, match="has 1,000,001 bytes; a SPEC is a small file"):
        read_spec(tmp_path / "a.yaml")


def test_read_spec__region_that_the_feature_does_not_find__names_the_nearest(tmp_path):
    made = read_spec(spec(tmp_path, "regions: LesionFeatures\nmeasurements:\n- measure: colour\n  of: lession\n"))
    with pytest.raises(ValueError, match="LesionFeatures finds no region 'lession'; did you mean 'lesion'\\?"):
        made.transform([scene()])


def test_write_spec__numbers_that_are_left_out__are_left_out_again(tmp_path):
    made = Measurements([ColourOf(), SharpnessOf()], leave_out=["foreground_lightness_low"])
    read = read_spec(write_spec(made, tmp_path / "leaf.yaml"))
    assert list(read.leave_out) == ["foreground_lightness_low"]
    assert read.names == made.names


@pytest.mark.parametrize("text", ["leave_out: foreground_area", "leave_out: [foreground_aera]"])
def test_read_spec__leave_out_that_cannot_be__is_an_error(tmp_path, text):
    with pytest.raises(SpecError, match=r"leave_out"):
        read_spec(spec(tmp_path, f"measurements:\n  - measure: shape\n{text}\n"))


def test_read_spec__leave_out_with_a_typo__names_its_line_and_the_nearest(tmp_path):
    text = "measurements:\n  - measure: shape\nleave_out:\n  - foreground_area\n  - foreground_solidty\n"
    with pytest.raises(SpecError, match="line 5: leave_out names 'foreground_solidty'.*mean 'foreground_solidity'"):
        read_spec(spec(tmp_path, text))
