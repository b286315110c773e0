"""Embeddings that workers of a cluster compute: those of this process."""

import numpy as np

from memclf.cases.executors import name_worker
from memclf.vision import ImageClassifier, ImageCollection
from memclf.vision.nets import network
from pictures import squares, tiny


def test_embed__spread_images__are_embedded_by_workers_with_the_same_result(workers, monkeypatch):
    pixels, y = squares(40)
    clf = ImageClassifier(tiny, image_size=24, epochs=1, pretrained=False, random_state=0, verbose=0).fit(pixels, y)
    here = clf.embed(ImageCollection(pixels))
    where, call = [], network._Embedding.__call__

    def note_where(self, some):
        where.append((name_worker() is not None, len(some)))
        return call(self, some)

    monkeypatch.setattr(network._Embedding, "__call__", note_where)
    images = ImageCollection(pixels).remembered(spread=True)
    with workers.as_current():
        there = clf.embed(images)
    assert sorted(where) == [(True, 8), (True, 32)]
    np.testing.assert_allclose(there, here, rtol=1e-5, atol=1e-6)
    assert (clf.predict(images) == clf.predict(pixels)).all()  # the cluster is gone, the embeddings are here
    assert len(where) == 3
