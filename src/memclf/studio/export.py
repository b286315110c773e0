"""A model folder as a zip file that is sent while it is made."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

from memclf.persist.folder import CARD
from memclf.persist.manifest import MANIFEST, read_manifest

CHUNK = 2**20  # bytes


def stream_model(folder: Path, spec: Path | None = None) -> Iterator[bytes]:
    """Pieces of a zip file with the model as it is now, without the states that an undo needs.

    Unpacked, the folder inside is what `memclf.load` takes. `spec` is put beside it as description.yaml.
    """
    names = [MANIFEST, *read_manifest(folder)["files"], *([CARD] if (folder / CARD).exists() else [])]
    files = [(folder / name, f"model-{folder.name}/{name}") for name in names]
    if spec is not None:
        files.append((spec, "description.yaml"))
    out = _Pieces()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for source, name in files:
            with source.open("rb") as read, packed.open(name, "w", force_zip64=True) as write:
                while piece := read.read(CHUNK):
                    write.write(piece)
                    yield out.take()
    yield out.take()


class _Pieces(io.RawIOBase):
    """A file that can only be written to; what was written is taken away."""

    def __init__(self) -> None:
        super().__init__()
        self._written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, content: bytes) -> int:  # type: ignore[override]
        self._written += content
        return len(content)

    def take(self) -> bytes:
        """What was written since the last time."""
        found, self._written = bytes(self._written), bytearray()
        return found
