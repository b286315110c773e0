"""Why this answer."""

from memclf.explain.evidence import Evidence
from memclf.explain.explanation import Explanation, Explanations, explain

__all__ = ["Evidence", "Explanation", "Explanations", "explain"]
