"""The classifiers inside the clusters."""

from memclf.local.pool import Pool, ask, assign, fit_pool

__all__ = ["Pool", "ask", "assign", "fit_pool"]
