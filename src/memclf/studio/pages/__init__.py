"""The pages of the studio, one module each: `routes(studio)` gives its addresses."""

from memclf.studio.pages import compare, data, numbers, teach

MODULES = (data, teach, compare, numbers)
