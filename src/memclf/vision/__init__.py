"""Images: collections of them, corruptions, expert features, and networks as estimators.

Large packages are loaded on first use: torch for networks, OpenCV and Pillow for the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memclf.vision.corruptions import CORRUPTIONS, corrupt
    from memclf.vision.files import read_image
    from memclf.vision.images import ImageCollection
    from memclf.vision.nets import ImageClassifier

__all__ = ["CORRUPTIONS", "ImageClassifier", "ImageCollection", "corrupt", "features", "read_image"]

_HOMES = {
    "CORRUPTIONS": "corruptions",
    "corrupt": "corruptions",
    "ImageCollection": "images",
    "read_image": "files",
    "ImageClassifier": "nets",
}
_NEEDED = {"PIL", "cv2", "torch", "torchvision", "timm", "skorch", "safetensors"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES and name not in ("corruptions", "features", "images", "nets"):
        raise AttributeError(f"module 'memclf.vision' has no attribute {name!r}")
    try:
        module = import_module(f"memclf.vision.{_HOMES.get(name, name)}")
        return getattr(module, name) if name in _HOMES else module
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _NEEDED:
            raise
        from memclf.exceptions import MissingExtraError

        alone = ', or "memclf[corruptions]" for corruptions alone' if _HOMES.get(name, name) == "corruptions" else ""
        raise MissingExtraError(f'memclf.vision needs {error.name}: pip install "memclf[vision]"{alone}') from error


def __dir__() -> list[str]:
    return sorted([*__all__, "corruptions", "images", "nets"])
