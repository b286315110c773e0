"""A user's own data: from files to a fitted classifier, an honest comparison, and answers."""

from memclf.own.advice import Advice, advise
from memclf.own.fit import Comparison, FittedData, compare_answers, fit_data

__all__ = ["Advice", "Comparison", "FittedData", "advise", "compare_answers", "fit_data"]
