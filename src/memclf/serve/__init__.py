"""The HTTP service: `create_app` for an ASGI server, `run` for the command ``memclf serve``.

Needs the extra ``serve``; for models of images ``vision``, too.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memclf.serve.app import create_app
    from memclf.serve.limits import Limits
    from memclf.serve.server import run

__all__ = ["Limits", "create_app", "run"]

_HOMES = {"Limits": "limits", "create_app": "app", "run": "server"}
_NEEDED = {"fastapi", "fastapi_swagger", "prometheus_client", "pydantic", "python_multipart", "uvicorn"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'memclf.serve' has no attribute {name!r}")
    try:
        return getattr(import_module(f"memclf.serve.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _NEEDED:
            raise
        from memclf.exceptions import MissingExtraError

        raise MissingExtraError(f'memclf.serve needs {error.name}: pip install "memclf[serve]"') from error
