"""The pages of the studio, one module each: `routes(studio)` gives its addresses."""

from memclf.studio.pages import data, edit, memories, numbers, stress

MODULES = (data, numbers, memories, stress, edit)
