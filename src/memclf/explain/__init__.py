"""Explanations: the memory behind an answer, in words, as a table, as a picture."""

from memclf.explain.evidence import Evidence
from memclf.explain.explanation import Explanation, Explanations, explain_answers

__all__ = ["Evidence", "Explanation", "Explanations", "explain_answers"]
