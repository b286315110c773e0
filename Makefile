# Every target sets up what it needs: `make demo` or `make test` may be the very first command.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH_READY := $(VENV)/.bench-ready

.PHONY: help demo test test-arithmetic test-slow lint bench dist clean
help:            ## show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ -/'

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -e ".[dev]"
	@touch $@

$(BENCH_READY): $(READY)
	$(BIN)/pip install -q --disable-pip-version-check -e ".[bench]"
	@touch $@

demo: $(READY)   ## the colour study: one network beside a memory classifier under 54 conditions, with a report
	$(BIN)/memclf study color --out runs/demo

# One thread for each worker: more of them only wait for each other.
test: $(READY)   ## all tests that need no extra data
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -m "not slow" -n auto --dist worksteal

# What hangs on no number (commands, pages, files that lie, interrupted writing) is left to `make test`.
NO_NUMBERS := report studies/test_study_run.py persist/test_hostile.py persist/test_atomic.py \
    test_cli.py test_cli_bound.py test_cli_corrupt.py test_dist.py test_imports.py
test-arithmetic: $(READY)   ## the tests with numbers once more, with what is special to this processor switched off
	OMP_NUM_THREADS=1 $(BIN)/python tests/other_arithmetic.py $(BIN)/python -m pytest -q -m "not slow" \
	    -n auto --dist worksteal $(NO_NUMBERS:%=--ignore=tests/%)

test-slow: $(READY)   ## the tests marked slow
	$(BIN)/python -m pytest -q -m slow

lint: $(READY)   ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(BENCH_READY)   ## the search beside its peers: time, memory and objective as ratios
	$(BIN)/python benchmarks/search.py

dist: $(READY)   ## build the wheel and the source archive
	rm -rf dist
	$(BIN)/python -m build --no-isolation

clean:           ## remove everything that was made
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
