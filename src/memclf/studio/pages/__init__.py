"""The pages of the studio, one module each: `routes(studio)` gives its addresses."""

from memclf.studio.pages import data, numbers

MODULES = (data, numbers)
