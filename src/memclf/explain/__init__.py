"""Explanations: the memory behind an answer, in words, as a table, as a picture."""

from memclf.explain.evidence import Evidence
from memclf.explain.explanation import Explanation, Explanations, explain_answers
from memclf.explain.rows import AnswerRow, answer_rows, list_rows

__all__ = ["AnswerRow", "Evidence", "Explanation", "Explanations", "answer_rows", "explain_answers", "list_rows"]
