"""A user's own data: from files to a fitted classifier, an honest comparison, and answers."""

from memclf.own.advice import Advice, advise
from memclf.own.fit import Comparison, FittedData, compare_answers, fit_cases, fit_data
from memclf.own.predict import Predicted, predict_file

__all__ = [
    "Advice",
    "Comparison",
    "FittedData",
    "Predicted",
    "advise",
    "compare_answers",
    "fit_cases",
    "fit_data",
    "predict_file",
]
