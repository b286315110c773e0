"""``python -m memclf.cli``."""

from memclf.cli import app

if __name__ == "__main__":
    app(prog_name="memclf")
