"""From a case to a memory, or to unknown."""

from memclf.routing.conformal import Usual, conformal_thresholds
from memclf.routing.route import Route, Routes, route, route_all, similarities
from memclf.routing.threshold import CONFORMAL, fit_thresholds

__all__ = [
    "CONFORMAL",
    "Route",
    "Routes",
    "Usual",
    "conformal_thresholds",
    "fit_thresholds",
    "route",
    "route_all",
    "similarities",
]
