"""The contracts between the parts, written once. Nothing of memclf is imported here.

`isinstance` with one of these protocols checks whether an object has the methods it names.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Table(Protocol):
    """A data frame of pandas or polars: named columns, each with its own type."""

    columns: Any
    shape: Any


@runtime_checkable
class Slices(Protocol):
    """What gives blocks of rows, as an array or a dataset of h5py or zarr does."""

    dtype: Any
    ndim: Any
    shape: Any

    def __len__(self) -> int: ...

    def __getitem__(self, part: Any) -> Any: ...


@runtime_checkable
class Delays(Protocol):
    """A collection of Dask: its chunks are computed when they are needed."""

    def to_delayed(self) -> Any: ...


@runtime_checkable
class Splits(Protocol):
    """A splitter as scikit-learn has them: it cuts cases into folds."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any: ...


@runtime_checkable
class Compares(Protocol):
    """What the search and routing need of a similarity: it is cheap and takes descriptions."""

    def compare(self, A: Any, B: Any) -> Any: ...


@runtime_checkable
class Contributes(Protocol):
    """A similarity that says what each measurement adds to the similarity of two cases."""

    measurements_: Any
    usual_similarity: float

    def contributions(self, a: Any, b: Any) -> Any: ...


@runtime_checkable
class Collects(Protocol):
    """A feature or classifier that makes a collection of plain data.

    An array or a list of paths becomes images. A feature of this kind takes all cases of a call at once, has its own
    workers, and the collection caches what it measured.
    """

    def collect(self, X: Any) -> Any: ...


@runtime_checkable
class Trusts(Protocol):
    """Features or similarities that rate descriptions from 0 to 1 (trusted), or give None."""

    def trust(self, X: Any) -> Any: ...


@runtime_checkable
class Draws(Protocol):
    """Features that can draw what they measure into a case, with a name for each number."""

    def overlay(self, image: Any, info: Any = None) -> Any: ...

    def transform(self, X: Any) -> Any: ...

    def get_feature_names_out(self, input_features: Any = None) -> Any: ...


@runtime_checkable
class Inspects(Protocol):
    """Features that measure more of a case than cases are compared by."""

    def inspect(self, X: Any) -> Any: ...


@runtime_checkable
class Fits(Protocol):
    """Anything that learns from cases and labels."""

    def fit(self, X: Any, y: Any) -> Any: ...


@runtime_checkable
class FitTransforms(Protocol):
    """A transformer that can learn from cases and transform them in one go."""

    def fit_transform(self, X: Any, y: Any = None) -> Any: ...


@runtime_checkable
class Embeds(Protocol):
    """A classifier that can embed cases: one row of numbers per case, before the last layer."""

    def embed(self, X: Any) -> Any: ...


@runtime_checkable
class DecidesFromEmbeddings(Protocol):
    """A network that predicts from embeddings, which networks of one `backbone_` share."""

    backbone_: Any

    def embed(self, X: Any) -> Any: ...

    def predict_embedded(self, E: Any, X: Any) -> Any: ...

    def predict_proba_embedded(self, E: Any, X: Any) -> Any: ...


@runtime_checkable
class Continues(Protocol):
    """A fitted classifier whose training can go on with the cases of one cluster."""

    def continued(self, X: Any, y: Any, *, seed: int | None = None) -> Any: ...


@runtime_checkable
class SharesParts(Protocol):
    """A network whose copies may share its backbone, as when only the last layer is trained."""

    share_backbone: bool
    train: str


# scikit-learn lets these methods appear and vanish with an estimator's parameters and parts (`available_if`). The class
# then always has them and an instance may not, so that `isinstance` would be wrong.


def transforms(features: Any) -> bool:
    """Whether features take a batch of cases, as scikit-learn's transformers do."""
    return hasattr(features, "transform")  # see above: available_if


def gives_probabilities(classifier: Any) -> bool:
    """Whether a classifier gives the probability of each class."""
    return hasattr(classifier, "predict_proba")  # see above: available_if


def gives_scores(classifier: Any) -> bool:
    """Whether a classifier gives one score per class (for two classes: one score)."""
    return hasattr(classifier, "decision_function")  # see above: available_if


def fits_in_parts(estimator: Any) -> bool:
    """Whether an estimator can go on learning from more cases."""
    return hasattr(estimator, "partial_fit")  # see above: available_if
