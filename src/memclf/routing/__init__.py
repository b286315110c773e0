"""From a case to a memory, or to unknown."""

from memclf.routing.route import Route, Routes, route, route_all
from memclf.routing.thresholds import conformal_thresholds, fit_thresholds

__all__ = ["Route", "Routes", "conformal_thresholds", "fit_thresholds", "route", "route_all"]
