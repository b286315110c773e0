"""The studio: pages on which an expert teaches, looks, doubts and corrects.

`create_studio` is for an ASGI server, `run` for the command ``memclf studio``, and `Project` is the folder that holds
the expert's work. Needs the extra ``studio``; for images ``vision``, too.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memclf.studio.app import create_studio
    from memclf.studio.project import Project
    from memclf.studio.server import run

__all__ = ["Project", "create_studio", "run"]

_HOMES = {"Project": "project", "create_studio": "app", "run": "server"}
_NEEDED = {"fastapi", "jinja2", "pandas", "python_multipart", "uvicorn"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'memclf.studio' has no attribute {name!r}")
    try:
        return getattr(import_module(f"memclf.studio.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _NEEDED:
            raise
        from memclf.exceptions import MissingExtraError

        raise MissingExtraError(f'memclf.studio needs {error.name}: pip install "memclf[studio]"') from error
