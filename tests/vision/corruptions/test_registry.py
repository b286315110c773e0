"""What every registered corruption must bring: a label, a family, severities, and its place in the lists."""

import numpy as np
import pytest

from memclf.vision.corruptions import CORRUPTIONS, FAMILIES, PAPER, PRESETS, REGISTRY, SETS, SEVERITIES, corrupt
from memclf.vision.corruptions.registry import Corruption, register, registered
from memclf.vision.corruptions.table import parameters, table


@pytest.mark.parametrize("corruption", REGISTRY.values(), ids=lambda each: each.name)
def test_registry__every_corruption__is_complete(corruption):
    assert corruption.family in FAMILIES
    assert corruption.function.__module__.endswith(f".{corruption.family}")  # each family has its file
    assert corruption.label[0].isupper()
    assert "_" not in corruption.label
    for preset in PRESETS:
        for severity in SEVERITIES:
            assert all(corruption.takes(name) for name in parameters(preset, corruption.name, severity))


def test_registry__tables__hold_the_registered_names():
    assert all(set(rows) == set(REGISTRY) for rows in table().values())


def test_registry__order__is_that_of_imagenet_c():
    assert tuple(REGISTRY) == CORRUPTIONS
    assert CORRUPTIONS[:5] == ("gaussian_noise", "shot_noise", "impulse_noise", "defocus_blur", "glass_blur")
    assert CORRUPTIONS[10:] == (
        *("brightness", "contrast", "elastic_transform", "pixelate", "jpeg_compression"),
        *("speckle_noise", "gaussian_blur", "spatter", "saturate"),
    )


def test_registry__paper__has_eighteen_rows_in_the_order_of_its_tables():
    assert sorted(row for each in REGISTRY.values() if (row := each.paper_row)) == list(range(1, 19))
    assert set(CORRUPTIONS) - set(PAPER) == {"glass_blur"}
    assert PAPER[:3] == ("fog", "brightness", "contrast")
    assert PAPER[-3:] == ("frost", "motion_blur", "snow")
    assert SETS["paper18"] == PAPER
    assert set(PAPER) - set(SETS["acne15"]) == {"fog", "frost", "spatter"}
    assert set(SETS["acne15"]) - set(SETS["acne14"]) == {"snow"}


def test_registry__labels__come_from_names_unless_given():
    assert [REGISTRY[name].label for name in ("gaussian_noise", "jpeg_compression")] == ["Gaussian noise", "JPEG"]


def test_register__a_new_corruption__needs_no_other_list(monkeypatch):
    from memclf.vision.corruptions import apply, registry, table

    monkeypatch.setattr(registry, "_registered", list(registry._registered))
    monkeypatch.setattr(table, "parameters", lambda preset, name, severity: {"by": 10 * severity})

    @register("digital", extra=True)
    def darkness(image, *, by):
        return np.maximum(image, by) - np.uint8(by)

    entries = registered()
    assert list(entries)[-1] == "darkness"
    assert entries["darkness"] == Corruption("darkness", "Darkness", "digital", darkness, None, True)
    assert not entries["darkness"].random
    monkeypatch.setattr(apply, "REGISTRY", entries)
    monkeypatch.setattr(apply, "CORRUPTIONS", tuple(entries))
    assert corrupt(np.full((40, 40, 3), 99, dtype=np.uint8), "darkness", 2)[0, 0, 0] == 79
