# `make demo` and `make test` do all their own set-up: a virtual environment in .venv with everything pinned.
PYTHON ?= python3
VENV = .venv
BIN = $(VENV)/bin
INSTALLED = $(VENV)/installed

.PHONY: demo test lint types tests test-install test-slow test-browser bench bench-baseline clean

demo: $(INSTALLED)
	rm -rf runs/demo
	$(BIN)/lostcfr train configs/quick.yaml --run runs/demo
	$(BIN)/lostcfr evaluate runs/demo --against random,discard-only,balanced --pairs 1000

test: lint types tests test-install

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(INSTALLED)
	$(BIN)/mypy

tests: $(INSTALLED)
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 -m "not install and not slow and not browser"

test-install: $(INSTALLED)
	$(BIN)/python -m pytest -m install

test-slow: $(INSTALLED)
	$(BIN)/python -m pytest -m slow

test-browser: $(INSTALLED)
	$(BIN)/python -m pytest -m browser

bench: $(INSTALLED)
	$(BIN)/python -m pytest bench --benchmark-enable --benchmark-json=build/bench.json
	$(BIN)/python bench/compare.py build/bench.json

bench-baseline: $(INSTALLED)
	$(BIN)/python -m pytest bench --benchmark-enable --benchmark-json=build/bench.json
	$(BIN)/python bench/compare.py build/bench.json --write

$(INSTALLED): pyproject.toml setup.py constraints.txt kernels/dense.pyx
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
		{ echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $(INSTALLED)

clean:
	rm -rf $(VENV) build dist runs *.egg-info kernels/*.so
