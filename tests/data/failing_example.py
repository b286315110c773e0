"""An example that fails, for the test of tools/gallery.py."""

raise SystemExit("the example of a failure")
