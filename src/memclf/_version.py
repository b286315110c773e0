"""The version, written once: pyproject.toml and model folders read it here."""

__version__ = "0.2.0"
