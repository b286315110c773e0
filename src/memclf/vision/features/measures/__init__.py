"""The vocabulary: ready measurements of a picture, its foreground or a region.

A new measurement is a class in a file of this package, its place in `REGISTRY`, and its name in
`memclf.vision.features`.
"""

from memclf.vision.features.measures.base import Measurement
from memclf.vision.features.measures.colour import ColourOf
from memclf.vision.features.measures.count import CountOf
from memclf.vision.features.measures.place import PlaceOf
from memclf.vision.features.measures.shape import ShapeOf
from memclf.vision.features.measures.share import ShareOf
from memclf.vision.features.measures.sharpness import SharpnessOf
from memclf.vision.features.measures.texture import TextureOf

# What SPECs call them.
REGISTRY: dict[str, type[Measurement]] = {
    kind.word: kind for kind in (ColourOf, ShapeOf, ShareOf, TextureOf, PlaceOf, CountOf, SharpnessOf)
}

__all__ = [
    "REGISTRY",
    "ColourOf",
    "CountOf",
    "Measurement",
    "PlaceOf",
    "ShapeOf",
    "ShareOf",
    "SharpnessOf",
    "TextureOf",
]
