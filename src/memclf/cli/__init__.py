"""The command line: parse, call, print. One file for each group of commands."""

from memclf.cli.main import app

__all__ = ["app"]
