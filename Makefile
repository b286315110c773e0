# Every target sets up what it needs: `make demo` or `make test` may be the very first command.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH_READY := $(VENV)/.bench-ready
DOCS_READY := $(VENV)/.docs-ready
OLDEST := .venv-oldest
OLDEST_PYTHON ?= python3.11

# The versions to install; `make CONSTRAINTS= test` in a clean tree takes the newest that pyproject.toml allows.
CONSTRAINTS ?= constraints/tested.txt
INSTALL := pip install -q --disable-pip-version-check
PINNED := $(INSTALL) $(if $(CONSTRAINTS),-c $(CONSTRAINTS))

# One thread for each worker: more of them only wait for each other. Bytecode is kept even where the environment says
# not to: workers and the processes that tests start would compile everything anew.
export PYTHONDONTWRITEBYTECODE :=
# `make test ARGS="..."` hands more to pytest.
SUITE := -m pytest -q -n auto --dist worksteal
QUICK := $(SUITE) -m "not slow and not pages" $(ARGS)
WHOLE := $(SUITE) -m "not slow" $(ARGS)

.PHONY: help demo studio tour facts test test-pages coverage test-arithmetic test-slow test-oldest test-archive test-dist lint gallery docs bench dist lock clean
help:            ## show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ -/'

$(READY): pyproject.toml $(CONSTRAINTS)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/$(PINNED) -e ".[dev]"
	@touch $@

$(BENCH_READY): $(READY)
	$(BIN)/$(PINNED) -e ".[bench]"
	@touch $@

$(DOCS_READY): $(READY)
	$(BIN)/$(PINNED) -e ".[docs]"
	@touch $@

# The venv of its own is made anew whenever a bound may have moved.
$(OLDEST)/.ready: pyproject.toml tools/constraints.py
	$(OLDEST_PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python tools/constraints.py oldest > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/$(INSTALL) -c $(OLDEST)/constraints.txt -e ".[dev]"
	@touch $@

demo: $(READY)   ## the colour study: one network beside a memory classifier under 54 conditions, with a report
	$(BIN)/memclf study color --out runs/demo
	@printf '%s\n' '' 'Three things to try next:' \
	    '  open runs/demo/report.html                                       the report of this run' \
	    '  $(BIN)/memclf studio runs/demo/models/vanilla-efficientnet_lite0-seed0/memory --project runs/demo-studio' \
	    '                                                                   its memories, reasons and limits, in the browser' \
	    '  $(BIN)/memclf fit YOUR.csv --target COLUMN --out MODEL        a memory classifier of your own data'

studio: $(READY) ## the studio on generated leaves, in the browser; Ctrl-C stops it
	@echo 'drawing 240 leaves'
	@$(BIN)/python tools/generated_leaves.py runs/leaves
	$(BIN)/memclf studio --data runs/leaves --project runs/studio

tour: $(READY)   ## the screenshots of docs/studio.md: a browser walks through the studio with generated leaves
	STUDIO_TOUR=docs/pictures $(BIN)/python -m pytest -q -n 0 tests/studio/test_story.py

test: $(READY)   ## all tests that need neither extra data nor a browser
	OMP_NUM_THREADS=1 $(BIN)/python $(QUICK)

test-pages: $(READY)   ## the tests that look at reports and the studio in Chromium; skipped where there is none
	OMP_NUM_THREADS=1 $(BIN)/python $(SUITE) -m pages $(ARGS)

# pyproject.toml says which packages are the core, and at least how much of them the tests must run.
coverage: $(READY)   ## both, and the share of lines and branches of the core that they run
	OMP_NUM_THREADS=1 $(BIN)/python $(WHOLE) --cov --cov-report=term:skip-covered

facts:           ## lines, parameters, imports and cycles of the source, and the files that everyday changes touch
	@$(PYTHON) tools/facts.py

# What hangs on no number (commands, pages, files that lie, interrupted writing) is left to `make test`.
NO_NUMBERS := report studies/test_run.py persist/test_hostile.py persist/test_atomic.py \
    cli test_dist.py test_architecture.py
test-arithmetic: $(READY)   ## the tests with numbers once more, with what is special to this processor switched off
	OMP_NUM_THREADS=1 $(BIN)/python tests/other_arithmetic.py $(BIN)/python $(QUICK) $(NO_NUMBERS:%=--ignore=tests/%)

test-slow: $(READY)   ## the tests marked slow
	$(BIN)/python -m pytest -q -m slow

test-oldest: $(OLDEST)/.ready   ## the tests with the oldest versions that pyproject.toml promises, on Python 3.11
	OMP_NUM_THREADS=1 $(OLDEST)/bin/python $(WHOLE)

test-dist: $(READY)   ## the wheel in clean environments, without and with each extra; downloads several GB
	$(BIN)/python -m pytest -q -m slow tests/test_dist.py $(ARGS)

# `make test-archive ON="python tests/other_arithmetic.py"` runs them on other arithmetic.
test-archive: $(READY)   ## the tests of the source archive, unpacked somewhere else, on the source in it
	@there=$$(mktemp -d) && trap 'rm -rf "$$there"' EXIT && \
	$(BIN)/python -m build --no-isolation --sdist --outdir "$$there" > /dev/null && \
	tar -xzf "$$there"/memclf-*.tar.gz -C "$$there" --strip-components=1 && cd "$$there" && \
	PATH="$(abspath $(BIN)):$$PATH" PYTHONPATH="$$there/src" OMP_NUM_THREADS=1 $(ON) python $(QUICK)

lint: $(READY)   ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

gallery: $(READY)   ## run the examples and keep what they print and draw, in .gallery/; fails if one of them does
	$(BIN)/python tools/gallery.py

# The theme advertises its successor on every build; CONTRIBUTING.md says what we make of it. With --quiet, --strict
# would see no warning.
docs: $(DOCS_READY) gallery   ## the site, in site/: every link and public name is checked, nothing comes from another host
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python tools/check_site.py site

bench: $(BENCH_READY)   ## the search beside its peers: time, memory and objective as ratios; cost against n
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/scale.py --json runs/scale.json --plot docs/pictures/scale.png

dist: $(READY)   ## build the wheel and the source archive
	rm -rf dist
	$(BIN)/python -m build --no-isolation

lock:            ## renew constraints/tested.txt: the newest versions that pyproject.toml allows, in a venv made for it
	@there=$$(mktemp -d) && trap 'rm -rf "$$there"' EXIT && \
	$(PYTHON) -m venv "$$there" && "$$there"/bin/$(INSTALL) ".[dev,bench,docs,earn,arch]" && \
	"$$there"/bin/python tools/constraints.py tested > "$$there"/tested.txt && \
	cp "$$there"/tested.txt constraints/tested.txt
	@echo "constraints/tested.txt is new: run make lint and make test before you commit it"

clean:           ## remove what was installed and built; runs/ stays
	rm -rf $(VENV) $(OLDEST) dist site .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .gallery
