"""A mixed table with gaps: numbers, words, missing values, and a ward that was never seen.

Who stays overnight depends on the age in one ward, on fever in the second and on the age the other way round in the
third, so that one linear rule is wrong somewhere. The expert says only that the ward counts three times as much as
anything else. You learn how `GowerSimilarity` compares numbers, words and gaps, what more gaps cost each model, and
what happens to patients of a ward that the table did not hold: the plain models answer, the memory classifier says
unknown.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from memclf import MemoryClassifier
from memclf.evaluate import StageOne, coverage, evaluate
from memclf.similarity import GowerSimilarity

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", help="write the picture to this file")
picture = parser.parse_args().picture


def draw_patients(n, seed, gaps=0.1):
    """Patients of three wards; `gaps` is the share of ages and temperatures that are missing."""
    rng = np.random.default_rng(seed)
    ward = rng.choice(["heart", "lung", "bone"], n)
    age, fever = rng.integers(20, 90, n).astype(float), rng.normal(37.5, 0.8, n).round(1)
    stays = np.select([ward == "heart", ward == "lung"], [age > 60, fever > 37.5], age < 40)
    table = pd.DataFrame({"ward": ward, "age": age, "fever": fever, "sex": rng.choice(["f", "m"], n)})
    for column in ("age", "fever"):
        table.loc[rng.random(n) < gaps, column] = np.nan
    return table, np.where(stays, "stays", "goes home")


X, y = draw_patients(800, seed=0)
numbers = make_column_transformer(
    (make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()), ["age", "fever"]),
    (OneHotEncoder(handle_unknown="ignore"), ["ward", "sex"]),
)
linear = make_pipeline(numbers, LogisticRegression())
clf = MemoryClassifier(GowerSimilarity(weights={"ward": 3}), linear, threshold=0.6, random_state=0).fit(X, y)
models = {
    "logistic regression": linear.fit(X, y),
    "stage 1 alone": StageOne(clf),
    "memory classifier": clf,
    "forest": make_pipeline(numbers, RandomForestClassifier(random_state=0)).fit(X, y),
}

X_test, y_test = draw_patients(1000, seed=10)
more_gaps = {("gaps", share): draw_patients(1000, 10, share / 100)[0] for share in (0, 20, 30, 40, 50, 60)}
rows = pd.DataFrame(evaluate(models, X_test, y_test, more_gaps)).query("corruption == 'gaps'")
table = 100 * rows.pivot_table("accuracy", "model", "severity").loc[list(models)]
print("accuracy in %, by the share of ages and temperatures that are missing (10 % in training)")
print(table.round(1).to_string(), "\n")

strangers = X_test.assign(ward="eye")
for name, model in models.items():
    print(f"{name:20} answers {coverage(y_test, model.predict(strangers)):5.0%} of patients from a ward it never saw")
print(f"\n{clf.explain(X_test[:1])[0]}\n\n{clf.explain(strangers[:1])[0].sentence}")

if picture:
    figure, (left, right) = plt.subplots(1, 2, width_ratios=[1.1, 1])
    table.T.plot(ax=left, marker="o", legend=False)
    left.set(title="More gaps than in training", xlabel="% of ages and temperatures missing", ylabel="% right")
    left.legend(fontsize=9)
    names = [f"{each.ward}, {each.age:.0f}, {each.fever}°, {each.sex}" for each in clf.memories_.itertuples()]
    around = pd.DataFrame(clf.cluster_counts_, names, clf.classes_)
    around.plot.barh(stacked=True, ax=right, color=["#b9d8d3", "#0b7a70"], width=0.6, legend=False)
    right.set(title="The remembered patients", xlabel="training patients around each")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower right", ncols=2)
    figure.savefig(picture)
