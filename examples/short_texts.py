"""Short texts: messages to a shop, sorted by a likeness that an expert taught with comparisons.

There is an archive of 2,000 messages without labels and 40 that are sorted; among these, each department's messages are
mostly about one product, so that products seem to tell the department. In the field they do not. The words become 20
numbers (TF-IDF and a latent semantic analysis, both of scikit-learn), some of which follow what a message asks for and
others the product. The expert compares messages, and `JudgedSimilarity` learns which numbers count. She is simulated:
one answer in ten is the wrong way round, and she skips what she cannot tell. Compare like with like: on words the plain
model falls in the field, on the 20 numbers it does as well as the taught likeness. A sentence embedder goes in the same
place: ``FunctionTransformer(SentenceTransformer(...).encode)``.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from memclf import MemoryClassifier
from memclf.evaluate import accuracy
from memclf.similarity import JudgedSimilarity, RBFSimilarity

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--archive", type=int, default=2000, help="messages without labels (default 2000)")
parser.add_argument("--picture", help="write the picture to this file")
options = parser.parse_args()

ASKS = {
    "delivery": "parcel courier arrive ship tracking address depot late waiting doorstep van postman customs sent",
    "invoice": "charged refund paid amount receipt reminder tax bank rate discount price bill overdue credit",
    "account": "password login profile email register username app settings privacy newsletter delete sign code page",
    "fault": "broken noise crack loose stopped smell leaks scratched dead rattles wobbles burnt stuck torn",
}
PRODUCTS = ["lamp bulb shade cord dimmer", "bicycle saddle chain pedal wheel", "kettle lid spout handle filter"]
PRODUCTS += ["printer toner tray scanner paper"]
FILLERS = "please hello my the again since yesterday help what now still urgent thanks really about with order week"
rng = np.random.default_rng(0)


def write_messages(n, tells):
    """n messages and their departments; with chance `tells` one is about its department's own product."""
    topics = rng.integers(0, 4, n)
    products = np.where(rng.random(n) < tells, topics, rng.integers(0, 4, n))
    texts = []
    for topic, product in zip(topics, products, strict=True):
        sources = {list(ASKS.values())[topic]: 2, PRODUCTS[product]: 2, FILLERS: 4}
        words = [word for source, count in sources.items() for word in rng.choice(source.split(), count, replace=False)]
        texts.append(" ".join(rng.permutation(words)))
    return texts, np.array(list(ASKS))[topics]


archive, topics = write_messages(options.archive, tells=0.0)
embedding = make_pipeline(TfidfVectorizer(sublinear_tf=True), TruncatedSVD(20, random_state=0)).fit(archive)
numbers = FrozenEstimator(embedding)  # learned from the archive once, and not again from 40 messages
likeness = JudgedSimilarity(numbers).fit(archive)
for _ in range(4):
    said = []
    for i, j, k in likeness.questions(archive, 75):
        if (topics[i] == topics[j]) != (topics[i] == topics[k]):  # else the expert cannot tell
            nearer = (topics[i] == topics[j]) ^ (rng.random() < 0.1)
            said.append((i, j, k) if nearer else (i, k, j))
    likeness.judge(archive, triplets=said)
print(f"{likeness.sentence}\n{likeness.consistency_}\n")

X, y = write_messages(40, tells=0.8)
on_numbers = make_pipeline(numbers, StandardScaler(), LogisticRegression())
common = {"threshold": 0.7, "fallback": "nearest", "random_state": 0}
models = {
    "plain model on words": make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression()),
    "plain model on the 20 numbers": on_numbers,
    "stage 1 alone, equal weights": MemoryClassifier(RBFSimilarity(features=numbers), answer="labels", **common),
    "stage 1 alone, judged": MemoryClassifier(likeness, answer="labels", **common),
    "memory classifier, judged": MemoryClassifier(likeness, on_numbers, start="global", **common),
}
tests = {"as sorted": write_messages(1000, 0.8), "field": write_messages(1000, 0.0)}
table = pd.DataFrame(index=list(models), columns=list(tests), dtype=float)
for name, model in models.items():
    model.fit(X, y)
    table.loc[name] = [100 * accuracy(truth, model.predict(new)) for new, truth in tests.values()]
print(f"accuracy in %, 40 sorted messages\n{table.round(1).to_string()}\n")
print(models["memory classifier, judged"].explain(tests["field"][0][:1])[0])

if options.picture:
    figure, (left, right) = plt.subplots(1, 2, width_ratios=[1, 1.25])
    new, truth = tests["field"]
    described = likeness.describe([new[row] for row in np.argsort(truth, kind="stable")[::5]])
    left.imshow(likeness.compare(described, described), cmap="Greens", vmin=0.2, vmax=1)
    left.set_xticks(np.arange(25, 200, 50), np.unique(truth))
    left.set(title="Taught likeness of 200 messages", yticks=[])
    places = np.arange(len(table))[::-1]
    right.hlines(places, table["field"], table["as sorted"], color="#c8cdd4", lw=5)
    right.scatter(table["as sorted"], places, s=90, color="#9aa1ab", label="as sorted", zorder=3)
    right.scatter(table["field"], places, s=90, color="#0b7a70", label="field", zorder=3)
    right.set_yticks(places, table.index)
    right.set(title="From the archive to the field", xlabel="% right")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower right", ncols=2)
    figure.savefig(options.picture)
