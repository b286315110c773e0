"""One case as a container of the kind that a classifier was fitted on."""

import numpy as np
import pytest

from memclf.cases.join import wrap_case
from memclf.vision import ImageCollection

IMAGES = ImageCollection(np.zeros((3, 40, 40, 3), dtype=np.uint8), keys=["a", "b", "c"])


def test_wrap_case__collection_of_one__is_taken_as_it_is():
    assert wrap_case(IMAGES[1:2], IMAGES).key(0) == "b"
    assert len(wrap_case(IMAGES[0], IMAGES)) == 1


def test_wrap_case__several_images__are_refused():
    with pytest.raises(ValueError, match="one case is wanted"):
        wrap_case(IMAGES, IMAGES)
