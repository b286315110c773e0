"""Serving: a saved model behind HTTP, asked by one client, by sixteen at once, and by strangers.

The model is fitted and saved, `memclf serve` runs as a process of its own, and the standard library asks it. You learn
what a request and an answer look like, that a case which does not fit fails alone, what sixteen clients gain because
their cases share batches, and how the share of unknown cases in `/metrics` shows that machines of a new kind have come.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.request import Request, urlopen

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import memclf
from memclf.similarity import RBFSimilarity

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", help="write the picture to this file")
picture = parser.parse_args().picture


def draw_machines(n, seed, new_kind=0.0):
    """Hours and vibration of machines, and whether each is worn; some may be of a kind that vibrates otherwise."""
    rng = np.random.default_rng(seed)
    hours, vibration = rng.integers(0, 5000, n), rng.gamma(2.0, 1.0, n)
    worn = hours / 2500 + vibration / 3 + rng.normal(0, 0.3, n) > 2
    vibration += 12 * (rng.random(n) < new_kind)
    return pd.DataFrame({"hours": hours, "vibration": vibration.round(2)}), np.where(worn, "worn", "fine")


X, y = draw_machines(500, seed=0)
local = make_pipeline(StandardScaler(), LogisticRegression())
clf = memclf.MemoryClassifier(RBFSimilarity(features=StandardScaler()), local, threshold=0.4, random_state=0).fit(X, y)
folder = tempfile.TemporaryDirectory()
memclf.save(clf, f"{folder.name}/machines")
service = subprocess.Popen(
    [sys.executable, "-m", "memclf.cli", "serve", f"{folder.name}/machines", "--port", "0"],
    stderr=subprocess.PIPE,
    text=True,
)
address = re.search(r"http://\S+", service.stderr.readline())[0]


def ask(cases):
    """The answers to some cases, and how many milliseconds they took."""
    began = time.perf_counter()
    body, head = json.dumps({"cases": cases}).encode(), {"Content-Type": "application/json"}
    with urlopen(Request(f"{address}/v1/predict", body, head)) as reply:
        return json.load(reply)["answers"], 1000 * (time.perf_counter() - began)


answers, _ = ask([{"hours": 4200, "vibration": 1.9}, {"hours": 90, "vibration": 40}, {"hours": "many", "vibration": 2}])
for answer in answers:
    print(json.dumps(answer))

X_new, y_new = draw_machines(400, seed=1)
cases, times = X_new.to_dict("records"), {}
for clients in (1, 16):
    began = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        replies = list(pool.map(ask, [[case] for case in cases]))
    times[clients] = [milliseconds for _, milliseconds in replies]
    rate = len(cases) / (time.perf_counter() - began)
    print(f"{clients:2} clients: {rate:4.0f} requests a second, half of them within {np.median(times[clients]):.0f} ms")
right = np.mean([answer[0]["answer"] == truth for (answer, _), truth in zip(replies, y_new, strict=True)])
print(f"right: {right:.1%}, and {local.fit(X, y).score(X_new, y_new):.1%} for one plain model")

unknown = []
for day in range(1, 15):
    ask(draw_machines(250, seed=10 + day, new_kind=0.0 if day < 7 else 0.06 * (day - 6))[0].to_dict("records"))
    with urlopen(f"{address}/metrics") as page:
        unknown.append(float(re.search(r"^memclf_unknown_rate (\S+)", page.read().decode(), re.M)[1]))
print("memclf_unknown_rate, day by day:", *[f"{share:.0%}" for share in unknown])
service.terminate()
print(service.communicate()[1].splitlines()[-1])

if picture:
    figure, (left, right) = plt.subplots(1, 2)
    bins = np.linspace(0, np.quantile(times[16], 0.99), 41)
    for (clients, milliseconds), colour in zip(times.items(), ("#9aa1ab", "#0b7a70"), strict=True):
        label = f"{clients} client{'s' * (clients > 1)}"
        left.hist(milliseconds, bins=bins, color=colour, alpha=0.8, label=label)
    left.set(title="400 requests of one case each", xlabel="milliseconds until the answer", ylabel="requests")
    left.legend()
    right.bar(range(1, 15), [100 * share for share in unknown], color=["#c8cdd4"] * 6 + ["#b3261e"] * 8)
    right.set(title="From day 7 on, some machines are of a new kind", xlabel="day", ylabel="memclf_unknown_rate, %")
    figure.savefig(picture)
