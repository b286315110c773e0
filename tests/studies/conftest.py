"""Folders of generated images in the layouts that the studies read."""

import pytest

from memclf.studies.generated import write_leaves, write_skin


@pytest.fixture(scope="module")
def leaves(tmp_path_factory):
    return write_leaves(tmp_path_factory.mktemp("leaves"), 40, 10, height=64, width=128)


@pytest.fixture(scope="module")
def skin(tmp_path_factory):
    return write_skin(tmp_path_factory.mktemp("skin"), 3, 2, size=256, masks=True)
