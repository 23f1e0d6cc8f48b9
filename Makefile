# Two commands do everything on a fresh machine (Python 3.11+, pip, no GPU, no hub):
#   make demo   sets up, audits the built-in model on the built-in data, writes runs/demo/report.html
#   make test   sets up, then runs the whole check: lint, types, import law, all tests

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint types docs docs-check clean

demo: .venv/.assay
	$(BIN)/assay audit builtin builtin --out runs/demo

test: .venv/.test lint types
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: .venv/.test
	$(BIN)/mypy

docs: .venv/.test
	$(BIN)/python docs/make.py

clean:
	rm -rf .venv runs

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Assay needs Python 3.11 or newer; say which one with: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.assay: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install -q -c constraints.txt -e .
	touch $@

.venv/.test: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install -q -c constraints.txt -e '.[test]'
	touch .venv/.assay $@
