"""The pages of the studio, one module each: `routes(studio)` gives its addresses."""

from memclf.studio.pages import data, memories, numbers, unknown, why

MODULES = (data, numbers, memories, why, unknown)
