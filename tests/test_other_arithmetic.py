"""The run on other arithmetic is on other arithmetic, or says that it is not."""

import json
import os
import subprocess
import sys

import pytest

import other_arithmetic
from other_arithmetic import complaints, settings_for

USUAL = {
    "numpy": ["X86_V3", "X86_V4"],
    "fma": False,
    "openblas": ["SkylakeX", "SkylakeX"],
    "torch": "AVX512",
    "opencv": ["AVX2"],
    "ipp": True,
    "numbers": {"numpy": "a", "BLAS": "b"},
}
OTHER = {
    **{"numpy": [], "fma": False, "openblas": ["Prescott", "Prescott"], "torch": "DEFAULT", "opencv": [], "ipp": False},
    "numbers": {"numpy": "c", "BLAS": "d"},
}
BARE = {**OTHER, "torch": None, "openblas": []}  # a machine with nothing to switch off


def test_only_what_is_there_is_switched_off():
    settings = settings_for(USUAL, "Prescott")
    assert settings["NPY_DISABLE_CPU_FEATURES"] == "X86_V3 X86_V4"
    assert settings["OPENBLAS_CORETYPE"] == "Prescott"
    assert settings["ATEN_CPU_CAPABILITY"] == "default"
    assert settings["OPENCV_CPU_DISABLE"] == "AVX2"
    assert settings_for(BARE) == {}
    assert set(settings_for({**BARE, "numpy": ["ASIMDHP"]})) == {"NPY_DISABLE_CPU_FEATURES"}


@pytest.mark.parametrize(
    ("still", "words"),
    [
        ({}, []),
        ({"numpy": ["X86_V4"]}, ["numpy still uses X86_V4"]),
        ({"openblas": ["Prescott", "SkylakeX"]}, ["OpenBLAS still uses Prescott, SkylakeX"]),
        ({"torch": "AVX512"}, ["torch still uses AVX512"]),
        ({"opencv": ["AVX2"], "ipp": True}, ["OpenCV still uses AVX2, IPP"]),
        ({"numbers": USUAL["numbers"]}, ["every sum, product and exponential is the same to the last bit"]),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else "",
)
def test_what_did_not_take_effect_is_named(still, words):
    assert complaints(USUAL, {**OTHER, **still}, settings_for(USUAL, "Prescott")) == words


def test_settings_without_effect_end_the_run(monkeypatch):
    monkeypatch.setattr(other_arithmetic, "ask", lambda settings: USUAL)
    with pytest.raises(SystemExit, match="did not take effect: numpy still uses X86_V3, X86_V4; torch still uses AVX"):
        other_arithmetic.other_arithmetic()


def test_a_core_that_this_build_does_not_know_is_not_asked_for(monkeypatch):
    def ask(settings):
        if not settings:
            return {**USUAL, "openblas": ["NEOVERSEN1"]}
        core = settings.get("OPENBLAS_CORETYPE")
        return {**OTHER, "openblas": ["ARMV8" if core == "ARMV8" else "NEOVERSEN1"]}

    monkeypatch.setattr(other_arithmetic, "ask", ask)
    settings, said = other_arithmetic.other_arithmetic()
    assert settings["OPENBLAS_CORETYPE"] == "ARMV8"
    assert said == "other numbers from: numpy; BLAS"


def test_where_nothing_can_be_switched_off_similarities_are_moved(monkeypatch):
    monkeypatch.setattr(other_arithmetic, "ask", lambda settings: BARE)
    settings, said = other_arithmetic.other_arithmetic()
    assert settings == {"MEMCLF_JITTER": "1"}
    assert said.startswith("nothing can be switched off here")


def test_a_command_runs_with_the_settings_that_are_printed():
    code = (
        f"import json, os; print(json.dumps({{k: os.environ[k] for k in {other_arithmetic.EVERY} if k in os.environ}}))"
    )
    environment = {name: value for name, value in os.environ.items() if name not in other_arithmetic.EVERY}
    found = subprocess.run(
        [sys.executable, other_arithmetic.__file__, sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    *printed, _, last = found.stdout.splitlines()
    assert dict(line.split("=", 1) for line in printed) == json.loads(last) != {}
