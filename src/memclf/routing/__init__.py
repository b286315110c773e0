"""From a case to a memory, or to unknown."""

from memclf.routing.conformal import conformal_thresholds, distance, tell_widths, widths
from memclf.routing.route import Route, Routes, route, route_all, similarities
from memclf.routing.threshold import CONFORMAL, fit_thresholds

__all__ = [
    "CONFORMAL",
    "Route",
    "Routes",
    "conformal_thresholds",
    "distance",
    "fit_thresholds",
    "route",
    "route_all",
    "similarities",
    "tell_widths",
    "widths",
]
