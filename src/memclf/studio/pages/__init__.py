"""The pages of the studio, one module each: `routes(studio)` gives its addresses."""

from memclf.studio.pages import data, edit, memories, numbers

MODULES = (data, numbers, memories, edit)
