"""From a case to a memory, or to unknown."""

from memclf.routing.route import Route, Routes, route, route_all, similarities
from memclf.routing.threshold import fit_thresholds

__all__ = ["Route", "Routes", "fit_thresholds", "route", "route_all", "similarities"]
