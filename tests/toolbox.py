"""Functions and classes of an imaginary user, importable by name (also by joblib's workers)."""

import numpy as np


def near(a, b, scale=1.0):
    return float(np.exp(-(abs(a - b) / scale)))


def length_and_first(word):
    return [len(word), ord(word[0])]


def same_word(a, b):
    """Share of the letters that two words have in common."""
    return len(set(a) & set(b)) / max(1, len(set(a) | set(b)))


def near_rows(a, b, scale=1.0):
    return float(np.exp(-scale * ((a - b) ** 2).sum()))


class NearRows:
    """`near_rows` with a name that is the same in every process, as the names of tests must be."""

    def __call__(self, a, b, scale=1.0):
        return near_rows(a, b, scale)

    def __repr__(self):
        return "near_rows"
