# Every target sets itself up: a fresh machine needs Python >= 3.11, make and pip, nothing compiled.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Modules are compiled to bytecode when they are first imported, which most of them never are.
export PYTHONDONTWRITEBYTECODE :=
PIP_INSTALL := $(BIN)/python -m pip install --no-compile
# A worker that dies ends the run; another in its place would wait forever.
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0

.PHONY: help demo numbers docs pictures test coverage draws check bounds bench proofs trials mutants browser gpu format clean
help:           ## print this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Equilibrist needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; say make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) --editable '.[plot]'
	@touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) --quiet --editable '.[dev]'
	@touch $@ $(VENV)/installed

$(VENV)/installed-docs: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) --quiet --editable '.[docs,plot]'
	@touch $@ $(VENV)/installed

demo: $(VENV)/installed          ## train a hold'em bot in minutes, prove its exploitability, play it
	$(BIN)/python examples/demo.py

numbers: $(VENV)/installed       ## recompute known counts of poker, solve Leduc by four methods
	$(BIN)/python examples/known_numbers.py

docs: $(VENV)/installed-docs     ## the documents and the API reference as a website in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html, or with search: $(BIN)/python -m http.server --directory site"

pictures: $(VENV)/installed      ## draw the pictures of the documents again, from solved games
	$(BIN)/python examples/make_pictures.py

test: check                      ## checks, doctests, the fast suite
	$(PYTEST) --durations 30

coverage: $(VENV)/installed-dev  ## the fast suite once more: which lines of the sources does it run?
	$(BIN)/coverage erase
	-$(BIN)/coverage run -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

draws: $(VENV)/installed-dev     ## property tests with new random examples
	$(PYTEST) -m "hypothesis and not slow" --hypothesis-profile fresh tests

check: $(VENV)/installed-dev     ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bounds: $(VENV)/installed-dev    ## kernel tests again, with every index checked
	NUMBA_BOUNDSCHECK=1 $(PYTEST) -m "kernels and not slow" tests

proofs: bounds                   ## bounds, then the slow proofs: whole-deck enumerations
	$(PYTEST) --durations 12 -m slow tests

trials: $(VENV)/installed-dev    ## forged and damaged folders, killed runs, fuzzed texts, neighbours: two hours
	$(BIN)/python trials/forge_folders.py --trials 2400 --jobs 2
	$(BIN)/python trials/kill_runs.py --trials 520
	$(BIN)/python trials/fuzz_parsers.py --trials 1000000
	$(BIN)/python trials/neighbours.py
	$(BIN)/python trials/silence.py

mutants: $(VENV)/installed-dev   ## 300 small changes to the sources, each of which a test should notice
	$(BIN)/python trials/mutants $(OPTIONS)

bench: $(VENV)/installed-dev     ## benchmarks: check results, then print times beside a rival's
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

browser: $(VENV)/installed-dev   ## the page in Chromium (Debian: installed if missing), screenshots in .screenshots/
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || apt-get install -y chromium
	EQUILIBRIST_SCREENSHOTS=.screenshots $(BIN)/python -m pytest -q -rs -m "slow or not slow" tests/web/test_browser.py tests/web/test_browser_spots.py

gpu: $(VENV)/installed-dev       ## the tests that need a GPU, on one
	$(BIN)/python -m pip install --quiet --editable '.[gpu]'
	$(BIN)/python -m pytest -q -m gpu tests

format: $(VENV)/installed-dev    ## rewrite the sources in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:                           ## remove the environment and the caches in this folder
	rm -rf $(VENV) site .mutants .screenshots .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage
