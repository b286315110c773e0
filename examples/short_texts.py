"""Short texts, sorted into departments by a likeness that an expert taught with comparisons.

Messages to a shop are about a delivery, an invoice, an account or a fault. There is an archive of 2,000 messages
without labels, and 40 messages that someone has sorted; among these, each department's messages are mostly about one
product, so that products seem to tell the department. In the field they do not.

The words are measured with scikit-learn alone: TF-IDF and a latent semantic analysis (LSA) of 20 numbers, learned from
the archive. Some of these numbers follow what a message asks for, others the product. An expert compares messages of
the archive ("is this one more like the first or the second?"), and JudgedSimilarity learns which numbers count. The
expert is simulated: messages for one department are alike, one answer in ten is the wrong way round, and a question
whose answer she cannot tell is skipped.

Beside the memory classifier: the majority class, plain models on the words and on the 20 numbers, and stage 1 alone
(each memory answers with the commonest class of its cluster) with equal weights and with the taught likeness.

LSA knows no words but those of the archive. For texts of your own install a sentence embedder, for instance
``pip install sentence-transformers``, and give its function as features, in place of TF-IDF and LSA:
``FunctionTransformer(SentenceTransformer("all-MiniLM-L6-v2").encode)``.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from memclf import MemoryClassifier
from memclf.evaluate import accuracy, balanced_accuracy
from memclf.similarity import JudgedSimilarity, RBFSimilarity

ASKS = {
    "delivery": "parcel courier arrive ship tracking address depot late waiting doorstep van postman customs sent",
    "invoice": "charged refund paid amount receipt reminder tax bank rate discount price bill overdue credit",
    "account": "password login profile email register username app settings privacy newsletter delete sign code page",
    "fault": "broken noise crack loose stopped smell leaks scratched dead rattles wobbles burnt stuck torn",
}
PRODUCTS = {
    "lamp": "lamp bulb shade cord dimmer",
    "bicycle": "bicycle saddle chain pedal wheel",
    "kettle": "kettle lid spout handle filter",
    "printer": "printer toner tray scanner paper",
}
FILLERS = "please hello my the again since yesterday help what now still urgent thanks really about with order week"
DEPARTMENTS = list(ASKS)


def write_messages(n: int, rng: np.random.Generator, tells: float) -> tuple[list[str], np.ndarray]:
    """n messages; with chance `tells` a message is about its department's own product."""
    topics = rng.integers(0, 4, n)
    texts = []
    for topic in topics:
        product = list(PRODUCTS)[topic if rng.random() < tells else rng.integers(0, 4)]
        words = [
            *rng.choice(ASKS[DEPARTMENTS[topic]].split(), 2, replace=False),
            *rng.choice(PRODUCTS[product].split(), 2, replace=False),
            *rng.choice(FILLERS.split(), 4, replace=False),
        ]
        texts.append(" ".join(rng.permutation(words)))
    return texts, np.array(DEPARTMENTS)[topics]


def answer(
    questions: list[tuple[int, int, int]], labels: np.ndarray, rng: np.random.Generator
) -> list[tuple[int, int, int]]:
    """The expert's answers, where the two messages are for different departments."""
    said = []
    for i, j, k in questions:
        if (labels[i] == labels[j]) == (labels[i] == labels[k]):
            continue  # "I cannot say": the expert skips the question
        nearer = (labels[i] == labels[j]) ^ (rng.random() < 0.1)
        said.append((i, j, k) if nearer else (i, k, j))
    return said


def fit_models(numbers: object, likeness: JudgedSimilarity, X: list[str], y: np.ndarray) -> dict[str, object]:
    on_numbers = make_pipeline(numbers, StandardScaler(), LogisticRegression())
    common = {"threshold": 0.7, "fallback": "nearest", "random_state": 0}
    models = {
        "majority class": DummyClassifier(),
        "plain model on words": make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression()),
        "plain model on the 20 numbers": on_numbers,
        "stage 1 alone, equal weights": MemoryClassifier(RBFSimilarity(features=numbers), answer="labels", **common),
        "stage 1 alone, judged": MemoryClassifier(likeness, answer="labels", **common),
        "memory classifier, judged": MemoryClassifier(likeness, on_numbers, start="global", **common),
    }
    return {name: model.fit(X, y) for name, model in models.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--archive", type=int, default=2000, help="messages without labels (default 2000)")
    parser.add_argument("--questions", type=int, default=300, help="questions to the expert (default 300)")
    parser.add_argument("--runs", type=int, default=5, help="repetitions with new data (default 5)")
    options = parser.parse_args()
    rows = []
    for seed in range(options.runs):
        rng = np.random.default_rng(seed)
        archive, topics = write_messages(options.archive, rng, tells=0.0)
        lsa = make_pipeline(TfidfVectorizer(sublinear_tf=True), TruncatedSVD(20, random_state=0)).fit(archive)
        numbers = FrozenEstimator(lsa)  # learned from the archive once, and not again from 40 messages

        likeness = JudgedSimilarity(numbers).fit(archive)
        for _ in range(4):
            asked = likeness.questions(archive, options.questions // 4)
            likeness.judge(archive, triplets=answer(asked, topics, rng))

        models = fit_models(numbers, likeness, *write_messages(40, rng, tells=0.8))
        tests = {"as sorted": write_messages(1000, rng, 0.8), "field": write_messages(1000, rng, 0.0)}
        for test, (texts, y) in tests.items():
            for name, model in models.items():
                found = model.predict(texts)
                marks = {"accuracy": accuracy(y, found), "balanced": balanced_accuracy(y, found)}
                rows.append({"test": test, "model": name, **marks})
    print(f"What the expert taught in the last run: {likeness.sentence}\n{likeness.consistency_}\n")
    print(models["memory classifier, judged"].explain(tests["field"][0][:1])[0])
    print(f"\nPercent, mean of {options.runs} runs, 40 sorted messages (accuracy / balanced accuracy)")
    mean = 100 * pd.DataFrame(rows).groupby(["model", "test"], sort=False).mean().unstack("test")
    print(f"{'':32}{'as sorted':>15}{'field':>15}")
    for name, row in mean.iterrows():
        cells = [f"{row['accuracy', test]:.1f} / {row['balanced', test]:.1f}" for test in tests]
        print(f"{name:32}{cells[0]:>15}{cells[1]:>15}")


if __name__ == "__main__":
    main()
