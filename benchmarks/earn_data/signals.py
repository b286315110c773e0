"""Exercises recorded by a watch."""

import numpy as np
import pandas as pd

from .dataset import Dataset, Raw, file_of, near_in

WINDOW = 100  # two seconds at 50 Hz
CHANNELS = ["ax", "ay", "az", "wx", "wy", "wz"]  # acceleration and turning, along three axes


def summarise(window: np.ndarray) -> dict[str, float]:
    """Mean, spread and extremes of each channel, and how fast the arm moves to and fro."""
    found = {}
    for name, values in zip(CHANNELS, window.T, strict=True):
        found |= {f"{name}_mean": values.mean(), f"{name}_sd": values.std()}
        found |= {f"{name}_low": values.min(), f"{name}_high": values.max()}
    turning = window[:, 3:] - window[:, 3:].mean(axis=0)
    power = (np.abs(np.fft.rfft(turning, axis=0)) ** 2).sum(axis=1)[1:]
    return {**found, "tempo": float(power @ np.arange(1, len(power) + 1) / max(power.sum(), 1e-9))}


def read_exercises() -> Raw:
    data = np.load(file_of("seglearn", "data/watch_dataset.npy"), allow_pickle=True).item()
    rows, labels, people = [], [], []
    for series, label, person in zip(data["X"], data["y"], data["subject"], strict=True):
        for start in range(0, len(series) - WINDOW + 1, WINDOW):
            rows.append(summarise(series[start : start + WINDOW]))
            labels.append(str(data["y_labels"][int(label)]))
            people.append(int(person))
    y, groups = np.array(labels), np.array(people)
    return Raw(pd.DataFrame(rows), y, shifted=groups >= 7, unseen=y == "ROW", groups=groups)


def measure_arm(table: pd.DataFrame) -> np.ndarray:
    return table[["ax_mean", "ay_mean", "az_mean", "wx_sd", "wy_sd", "wz_sd"]].to_numpy(float)


DATASETS = [
    Dataset(
        name="exercises",
        title="Which shoulder exercise a watch records",
        source="seglearn (BSD-3): shoulder physiotherapy activity recognition (Burns and others 2018)",
        kind="signal",
        shift="trained on windows of six people, tested on four others; upright rows were never seen",
        reason="A physiotherapist sees how the forearm is held, which gravity shows as the mean acceleration, and "
        "around which axes it turns.",
        read=read_exercises,
        similarity=lambda: near_in(measure_arm, 6),
    ),
]
