"""The pages of the studio, one module each: `routes(studio)` gives its addresses."""

from memclf.studio.pages import data, edit, memories, numbers, stress, unknown, why

MODULES = (data, numbers, memories, why, stress, edit, unknown)
