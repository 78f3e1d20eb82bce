# make run | gpu | test | lint | bench | content | microbench. A second run installs nothing while the requirements files keep their content.
# Overridable: PORT (8501), PYTHON (first 3.11 or newer found), VENV (.venv), CHROMIUM (a browser of your own),
# POSTGRES (a folder with PostgreSQL's programs).

PORT ?= 8501
VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)

# A stamp carries the checksum of what was installed, so only a changed requirements file installs again.
checksum = $(shell cat $(1) | cksum | cut -d' ' -f1)
VENV_STAMP := $(VENV)/.created
RUN_STAMP := $(VENV)/.run-$(call checksum,requirements.txt)
DEV_STAMP := $(VENV)/.dev-$(call checksum,requirements.txt requirements-dev.txt)
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# $(call need,CHECK,PACKAGES,SENTENCE): passes when CHECK does; root on Debian installs the packages, others read it.
define need
if ! { $(1); } >/dev/null 2>&1; then \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing Debian's $(2) ..."; \
		apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(2) >/dev/null; \
	fi; \
	{ $(1); } >/dev/null 2>&1 || { echo "$(3)" >&2; exit 1; }; \
fi
endef

HAS_CHROMIUM := command -v "$${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome
NO_CHROMIUM := The browser tests need Chromium. Debian: apt-get install chromium. Or set CHROMIUM=/path/to/chromium.
NO_DRIVER := Playwright does not start: see $(BIN)/python -m playwright --version. Debian: apt-get install libatomic1.
# Debian keeps the server's programs off the path; POSTGRES names the folder of your own.
HAS_POSTGRESQL := ls "$${POSTGRES:-/nowhere}"/initdb || ls /usr/lib/postgresql/*/bin/initdb || command -v initdb
NO_POSTGRESQL := The tests of rooms need PostgreSQL. Debian: apt-get install postgresql. \
	Or set POSTGRES to the folder that holds initdb and postgres.
NO_ENSUREPIP = $(PYTHON) cannot make an environment: it has no ensurepip. Debian: apt-get install python3-venv. \
	Or set PYTHON=/path/to/python3.12.
NO_PYTHON := Ridgepoint needs Python 3.11 or newer. Debian: apt-get install python3 python3-venv. \
	Or set PYTHON=/path/to/python3.12.

.PHONY: help run gpu test lint bench content browser microbench database

help:
	@sed -n '1,3s/^# //p' Makefile

run: $(RUN_STAMP)
	@echo "Ridgepoint: http://localhost:$(PORT) (Ctrl+C stops it)"
	@exec $(BIN)/python -m streamlit run app.py --server.port $(PORT) --server.headless true

# The app on this machine alone, with torch beside it: "Run on my GPU" may use the hardware, and
# traces of up to 500 MB are taken.
gpu: $(RUN_STAMP)
	$(PIP_INSTALL) -r requirements-gpu.txt
	@echo "Ridgepoint, on this machine alone: http://localhost:$(PORT) (Ctrl+C stops it)"
	@exec $(BIN)/python -m streamlit run app.py --server.port $(PORT) --server.address localhost \
		--server.maxUploadSize 500 --server.headless true

# Two processes: most of a browser test is waiting. Two Chromiums on two cores starve each other now and then, so what
# fails there is run again by itself, after it was printed: what fails alone too is a fault.
test: lint browser database
	$(BIN)/python -m pytest -n 2 --ignore=tests/e2e
	$(BIN)/python -m pytest -n 2 tests/e2e || $(BIN)/python -m pytest --last-failed --last-failed-no-failures none tests/e2e

lint: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict core
	$(BIN)/python -m pytest tests/test_architecture.py

bench: $(DEV_STAMP) browser database
	$(BIN)/python -m tests.benchmarks

# The GPU benchmarks' own tests, on the CPU. They need torch, which nothing else here does: the first time it is
# installed, or name a Python that has torch, transformers and pytest: make microbench TORCH_PYTHON=/path/to/python.
TORCH_PYTHON ?= $(BIN)/python
microbench: $(DEV_STAMP)
	@$(TORCH_PYTHON) -c 'import torch, transformers, pytest' 2>/dev/null || \
		$(PIP_INSTALL) -r requirements-gpu.txt 'transformers>=5,<6'
	$(TORCH_PYTHON) -m pytest -o addopts="-q --strict-markers" tests/microbench_cpu

content: $(RUN_STAMP)
	$(BIN)/python -m core.cards check
	$(BIN)/python -m core.mock check

browser: $(DEV_STAMP)
	@$(call need,$(HAS_CHROMIUM),chromium fonts-liberation,$(NO_CHROMIUM))
	@$(call need,$(BIN)/python -m playwright --version,libatomic1,$(NO_DRIVER))

database:
	@$(call need,$(HAS_POSTGRESQL),postgresql,$(NO_POSTGRESQL))

$(VENV_STAMP):
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "$(NO_PYTHON)" >&2; exit 1; }
	@$(call need,$(PYTHON) -c 'import ensurepip',python3-venv,$(NO_ENSUREPIP))
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(RUN_STAMP): $(VENV_STAMP)
	@echo "Installing requirements.txt (a minute or two the first time) ..."
	$(PIP_INSTALL) -r requirements.txt
	@touch $@

$(DEV_STAMP): $(VENV_STAMP)
	@echo "Installing requirements-dev.txt (a minute or two the first time) ..."
	$(PIP_INSTALL) -r requirements-dev.txt
	@rm -f $(VENV)/.run-* $(VENV)/.dev-*; touch $@ $(RUN_STAMP)
