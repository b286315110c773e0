"""The pages of the studio, one module each: `routes(studio)` gives its addresses."""

from memclf.studio.pages import compare, data, edit, memories, numbers, stress, teach, unknown, why

MODULES = (data, teach, compare, numbers, memories, why, stress, edit, unknown)
