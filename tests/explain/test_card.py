import numpy as np
from sklearn.naive_bayes import GaussianNB

from explain.models import DRIFTED, FAR, X, fit_flowers, fit_parts, y
from memclf import MemoryClassifier
from memclf.answers import ProductAnswer
from memclf.similarity import RBFSimilarity


def test_notebooks_get_html_in_which_labels_are_escaped():
    label = np.where(y == 0, "<b>bold</b>", "plain")
    clf = MemoryClassifier(RBFSimilarity(0.3), GaussianNB(), 0.5).fit(X, label)
    html = clf.explain(np.vstack([X[:1], FAR]))._repr_html_()
    assert html.count("class='memclf'") == 2
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<b>bold" not in html
    assert "below threshold" in html
    assert clf.explain(X[:1])[0]._repr_html_().count("class='memclf'") == 1


def test_card__names_what_is_unmet():
    known = fit_flowers().explain(X[:1])[0]._repr_html_()
    assert "<span class='yes'>known</span>" in known
    strange = fit_parts(answer=ProductAnswer(), unknown_rate=0.1).explain(DRIFTED)
    declined = next(item for item in strange if item.similarity >= item.threshold)
    assert "<span class='no'>too strange to its classifier</span>" in declined._repr_html_()


def test_card__evidence_and_classes_of_the_cluster__are_listed():
    item = fit_parts(answer=ProductAnswer()).explain(DRIFTED[:1])[0]
    html = item._repr_html_()
    for label, count in item.cluster_classes.items():
        assert (f"<td>{label}</td><td>{count} in the cluster</td>" in html) == (
            count > 0 or item.probabilities[label] >= 0.005
        )
