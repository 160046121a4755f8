# Two commands need nothing but Python 3.11+ and make: `make report` and `make test`.
PYTHON ?= python3
VENV ?= .venv
ARGS ?=

# an edit of what is compiled, or of how, installs anew
BUILT := pyproject.toml setup.py $(addprefix ctxlib/sources/,claude_scanner.pyx claude_contents.pxi claude_grammar.pxi json_bytes.h xxh3_short.h)

BIN := $(VENV)/bin
LAB_VENV ?= $(VENV)-lab
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
export PYTHONUTF8 := 1

.DEFAULT_GOAL := help
.PHONY: help report test mutations lab lab-test notebooks prices constraints clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1|/' | column -t -s '|'

report: $(VENV)/.report ## read your logs (or the sample) and write the report; ARGS="--since 30d --open"
	@$(BIN)/ctxlib report $(ARGS)

test: $(VENV)/.test ## style, types, unit tests, then every notebook against its stored outputs
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/pytest -W error -rs -n auto --dist loadfile
	@$(BIN)/pytest --nbval --nbval-sanitize-with tests/nbval_sanitize.cfg --nbval-current-env \
		--nbval-cell-timeout 120 -n auto --dist loadscope -p no:cacheprovider notebooks

mutations: $(VENV)/.test ## prove that the notebooks test something: mutate rules, each must fail a cell (minutes)
	@$(BIN)/python tests/mutations/run.py

lab: ## open the notebooks in JupyterLab (an environment of its own: Lab slows every kernel)
	@$(MAKE) --no-print-directory VENV=$(LAB_VENV) .lab-open

.PHONY: .lab-open
.lab-open: $(VENV)/.lab
	@$(BIN)/jupyter lab notebooks

lab-test: ## open a notebook in JupyterLab with Chromium and run it
	@$(MAKE) --no-print-directory VENV=$(LAB_VENV) .lab-test

.PHONY: .lab-test
.lab-test: $(VENV)/.lab-test
	@$(BIN)/pytest -W error -rs -p no:cacheprovider tests/lab

notebooks: $(VENV)/.test ## make the notebooks anew from their .py texts, executed on the sample
	@$(BIN)/python notebooks/refresh.py

prices: $(VENV)/.test ## make the list of Claude's prices anew that comes with the package (after constraints)
	@$(BIN)/python -c 'from pathlib import Path; from ctxlib.models import listed; \
		Path(listed.__file__).with_name("price-list.json").write_bytes(listed.shipped())'

constraints: $(VENV)/.base ## compile constraints.txt anew (needs uv)
	@$(PIP) uv && $(BIN)/uv pip compile --quiet --upgrade --universal --no-header --no-annotate --python-version 3.11 \
		--extra report --extra count --extra test --extra dev --extra browser pyproject.toml --output-file constraints.txt

clean: ## remove the environments and what tools left behind
	rm -rf $(VENV) $(LAB_VENV) dist build ctxlib-report .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf *.egg-info ctxlib/sources/claude_scanner.c ctxlib/sources/claude_scanner*.so ctxlib/sources/claude_scanner*.pyd
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment for all; a stamp says which extras it has, and is renewed when the project's needs change.
$(VENV)/.base:
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else \
		"ctxlib needs Python 3.11 or newer, and %s is %s: try make PYTHON=python3.11" % (sys.executable, sys.version.split()[0]))'
	@echo "making $(VENV) (once)" >&2
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.report: $(BUILT) constraints.txt | $(VENV)/.base
	@echo "installing ctxlib[report] into $(VENV)" >&2
	@$(PIP) --editable '.[report]'
	@touch $@

$(VENV)/.test: $(BUILT) constraints.txt | $(VENV)/.base
	@echo "installing ctxlib[report,count,test,dev,browser] into $(VENV)" >&2
	@$(PIP) --editable '.[report,count,test,dev,browser]'
	@touch $@ $(VENV)/.report

$(VENV)/.lab: $(BUILT) constraints.txt | $(VENV)/.base
	@echo "installing ctxlib[report,lab] into $(VENV)" >&2
	@$(PIP) --editable '.[report,lab]'
	@touch $@ $(VENV)/.report

$(VENV)/.lab-test: $(BUILT) constraints.txt | $(VENV)/.base
	@echo "installing ctxlib[report,lab,test,browser] into $(VENV)" >&2
	@$(PIP) --editable '.[report,lab,test,browser]'
	@touch $@ $(VENV)/.report $(VENV)/.lab
