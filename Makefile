# Each target makes its own virtual environment if there is none, and installs what it needs.
# PYTHON names the interpreter to make it with (3.10 to 3.12).
PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
DEMO ?= demo

# In a variable, because a comma would end the argument of a call.
DEVELOPMENT := .[dev,cluster]

BIN := $(VENV)/bin
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: demo test test-slow lint bench reliability mutants docs docs-check clean help

help:
	@echo "make demo         install, write the sample benchmark, run it, hold it against known answers"
	@echo "make test         install with the development tools and run all tests"
	@echo "make test-slow    model classes of the harness for minutes: which frames arrive, served models"
	@echo "make lint         ruff, ruff format and mypy --strict on the three packages"
	@echo "make bench        print the benchmarks' figures with their aims, and those that were missed"
	@echo "make reliability  faults, kills, crowds and random input: what was tried, what was lost"
	@echo "make mutants      small faults put into the code: which of them no test notices (hours)"
	@echo "make docs         build the documentation into site/"
	@echo "make docs-check   run the commands of the documentation and compare what they print"
	@echo "make clean        remove what the other targets wrote, the virtual environment included"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if (3, 10) <= sys.version_info[:2] <= (3, 12) else "Python 3.10 to 3.12 is needed, this is " + sys.version.split()[0] + "; name another with: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	# uv installs the same packages several times faster; pip does where it cannot be had.
	$(BIN)/python -m pip install --quiet uv || true

# $(call install,WHAT): installs with uv, or with pip where uv is absent or fails.
define install
	@echo "Installing $(1) (about 6 GB with torch; minutes where nothing is cached) ..."
	@if ! { [ -x $(BIN)/uv ] && $(BIN)/uv pip install --quiet --python $(BIN)/python -e '$(1)'; }; \
	then $(BIN)/python -m pip install --quiet -e '$(1)'; fi
endef

$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(call install,.)
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(call install,$(DEVELOPMENT))
	@touch $@ $(VENV)/.core

$(DEMO)/store/causalvqa/manifest.json: $(VENV)/.core
	$(BIN)/video-reasoning sample --out $(DEMO)

demo: export VIDEO_REASONING_HOME := $(abspath $(DEMO))/store
demo: export HF_HUB_OFFLINE := 1
demo: $(DEMO)/store/causalvqa/manifest.json
	@rm -rf $(DEMO)/results
	@for model in sample_observer random_choice; do \
	  echo; echo "== lmms_eval --model $$model"; \
	  $(BIN)/lmms_eval --model $$model \
	    --tasks blackswan_detective_mcq,tvbench_tomato_direction,causalvqa_debug \
	    --output_path $(DEMO)/results --log_samples --verbosity WARNING \
	    2>$(DEMO)/$$model.log || { tail -n 40 $(DEMO)/$$model.log; exit 1; }; \
	done
	@echo; echo "== video-reasoning check-sample $(DEMO)/results"
	@$(BIN)/video-reasoning check-sample $(DEMO)/results
	@echo; $(BIN)/video-reasoning report $(DEMO)/results --out $(DEMO)/report.html

test: $(VENV)/.dev
	HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

test-slow: $(VENV)/.dev
	HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m slow

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	# Type checkers do not follow an editable install's mapping of folders to import names.
	@mkdir -p .types/video_reasoning
	@ln -sfn ../../metrics .types/video_reasoning/metrics
	@ln -sfn ../../preprocessing .types/video_reasoning/preprocessing
	@ln -sfn ../../lmms_eval_tasks .types/video_reasoning/tasks
	MYPYPATH=.types $(BIN)/mypy --strict -p video_reasoning.metrics \
	  -p video_reasoning.preprocessing -p video_reasoning.tasks

bench: $(VENV)/.dev
	@printed=$$(mktemp); trap 'rm -f "$$printed"' EXIT; \
	for script in tests/benchmarks/bench_*.py; do \
	  echo "== $$script"; $(BIN)/python -m tests.benchmarks.$$(basename $$script .py); \
	done | tee "$$printed"; \
	echo; echo "== Aims that were missed"; grep MISSED "$$printed" || echo none

reliability: $(VENV)/.dev
	@failed=; for script in tests/reliability/check_*.py; do \
	  echo; echo "== $$script"; \
	  $(BIN)/python -m tests.reliability.$$(basename $$script .py) || failed="$$failed $$script"; \
	done; \
	if [ -n "$$failed" ]; then echo "Something was lost in:$$failed"; exit 1; fi

mutants: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet 'cosmic-ray>=8.4'
	$(BIN)/python -m tests.reliability.mutants --nice 19

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(call install,.[docs])
	@touch $@

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

docs-check: $(VENV)/.dev
	$(BIN)/python -m tests.docs.check

clean:
	rm -rf $(VENV) $(DEMO) .types build site *.egg-info .pytest_cache .mypy_cache .ruff_cache
