# Each target makes the virtual environment if it is missing and installs what it needs.
# `make test PYTHON=python3.13` leaves .venv alone: each interpreter that is asked for has an environment of its own.
ifdef PYTHON
asked := $(shell $(PYTHON) -c "import sys; print('%d.%d' % sys.version_info[:2])")
$(if $(asked),,$(error PYTHON=$(PYTHON) does not run))
VENV ?= .venv-$(asked)
endif
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
TEST_EXTRAS ?= test
# A file's tests run in one process, so that its fixtures are made once. (Groups by mark need an attribute that
# pytest 9.2 no longer has: pytest-xdist 3.8 ignores them without a word.)
PARALLEL := -n 2 --dist loadfile
PYTEST := $(BIN)/python -m pytest $(PARALLEL)
# Absolute, because tests change directory. `make test OFFSAMPLE_DATA=` runs without the real data sets.
export OFFSAMPLE_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: venv demo test test-fast test-oldest fuzz wheel lint format bench docs clean

venv:
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c "import sys; v = '%d.%d' % sys.version_info[:2]; \
	  sys.exit(0 if '$(asked)' in ('', v) else f'$(VENV) has Python {v}, not $(asked): name another VENV')"

# One stamp per set of extras: reinstalled when pyproject.toml changes.
$(VENV)/.stamp-%: pyproject.toml | venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@

$(VENV)/.stamp: pyproject.toml | venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

## demo: a report of a generated table: open customers-report.html
demo: $(VENV)/.stamp
	$(BIN)/offsample report --demo

## test: the whole suite
test: $(VENV)/.stamp-$(TEST_EXTRAS)
	$(PYTEST)

## test-fast: everything but the long simulations
test-fast: $(VENV)/.stamp-$(TEST_EXTRAS)
	$(PYTEST) -m "not slow"

## test-oldest: the fast tests with the oldest versions that we claim to support
test-oldest:
	$(PYTHON) -m venv --clear $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/oldest.txt --editable .
	$(VENV)-oldest/bin/python -m pytest $(PARALLEL) -m "not slow" -W "ignore::DeprecationWarning"

## fuzz: random runs of every command for FUZZ_MINUTES; mutated files too, where atheris can be installed
FUZZ_MINUTES ?= 30
fuzz: $(VENV)/.stamp-$(TEST_EXTRAS)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check atheris
	$(BIN)/python tests/fuzz/long_run.py $(FUZZ_MINUTES)

## wheel: build it and the sdist, check both, install it in a clean environment, and make the demonstration with it
wheel:
	$(PYTHON) -m venv --clear $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip install --quiet --disable-pip-version-check build twine
	rm -rf dist && $(VENV)-wheel/bin/python -m build --outdir dist
	$(VENV)-wheel/bin/python -m twine check --strict dist/*
	$(PYTHON) -m venv --clear $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	$(VENV)-wheel/bin/python -c "from importlib.resources import files; assert (files('offsample') / 'py.typed').is_file()"
	cd dist && ../$(VENV)-wheel/bin/offsample report --demo --quiet

## lint: formatting, style, types, import directions
lint: $(VENV)/.stamp-lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/.stamp-lint
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

## bench: us and the peers in one process, as ratios; writes benchmarks/RESULTS.md
bench: $(VENV)/.stamp-bench
	$(BIN)/python -m benchmarks all --without stochastic_trees
	@test -x $(VENV)-treeple/bin/python || $(PYTHON) -m venv $(VENV)-treeple
	$(VENV)-treeple/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[bench-treeple]"
	$(VENV)-treeple/bin/python -m benchmarks stochastic_trees

## docs: the site, in site/
docs: $(VENV)/.stamp-docs
	$(BIN)/python -m docs._llms
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf $(VENV) .venv-* build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
