# One target per intent; `make help` lists them. Everything is set up in .venv and target/ below this directory and
# nothing outside is touched. CI calls these targets and nothing else.

VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
NATIVE := python/pi_event_search/_core.abi3.so
TYPESCRIPT := .cache/pi/node_modules/.bin
PYTHON_CODE := python tests tools samples $(wildcard benches)

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find rust \( -name '*.rs' -o -name Cargo.toml \) -print 2>/dev/null)

# rustup's default place counts even where the shell profile does not name it yet.
export PATH := $(PATH):$(HOME)/.cargo/bin
# Found by the shell: the make of macOS looks for a plain command in the PATH it was started with.
CARGO := $(shell PATH="$$PATH:$$HOME/.cargo/bin" command -v cargo || echo cargo)
# One interpreter for every cargo call, so that switching between them rebuilds nothing.
export PYO3_PYTHON := $(CURDIR)/$(PY)
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
unexport CONDA_PREFIX
unexport PYTHONHOME
export PIP_NO_INPUT := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# A stamp says what was done; these notice that its result has gone away since.
VENV_LOST := $(shell $(PY) -c "" 2>/dev/null || echo FORCE)
NATIVE_LOST := $(if $(wildcard $(NATIVE)),,FORCE)

FUZZ_SECONDS := 60
FUZZ_TARGETS := tail checkpoint project tree query

.PHONY: help venv build demo pi test lint lint-rust lint-python lint-typescript test-rust test-python test-long fuzz test-wheel wheel \
        bench bench-relevance bench-bridge format samples clean FORCE
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "  make %-16s %s\n", $$1, $$2 }'

venv: $(VENV)/.stamp-tools ## the Python environment with every tool

$(VENV)/.stamp-venv: $(VENV_LOST)
	@python=$$(PYTHON='$(PYTHON)' tools/preflight.sh python) && rm -rf $(VENV) && $$python -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.stamp-tools: $(VENV)/.stamp-venv pyproject.toml
	$(PY) -m pip install --quiet --group dev
	@touch $@

build: $(VENV)/.stamp-build ## build the native module (release) and install the package for development

$(VENV)/.stamp-build: $(VENV)/.stamp-tools $(RUST_SOURCES) $(NATIVE_LOST)
	@tools/preflight.sh rust
	$(PY) -m maturin develop --release --locked
	@touch $@

demo: build ## index your own Pi sessions (reading only) or the samples; show a search, a read, a trace
	@$(PY) tools/demo.py

test: lint test-rust test-python test-wheel ## every check: formatting, lints, types, all tests, the wheel

lint: lint-python lint-rust lint-typescript ## formatting, lints and types, without the tests

lint-python: build
	$(PY) -m ruff check $(PYTHON_CODE)
	$(PY) -m ruff format --check $(PYTHON_CODE)
	$(PY) -m mypy --strict $(PYTHON_CODE)

lint-rust: $(VENV)/.stamp-venv
	@tools/preflight.sh rust
	@tools/preflight.sh lint
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

lint-typescript: ## types and style of the Pi package, where npm is
	@tools/pi.sh --if-any
	@if [ -x $(TYPESCRIPT)/tsc ]; then \
	    export PATH="$(CURDIR)/$(TYPESCRIPT):$$PATH" && tsc -p tests/pi_package && biome check --error-on-warnings .; \
	fi

test-rust: $(VENV)/.stamp-venv ## the Rust tests
	@tools/preflight.sh rust
	$(CARGO) test --workspace --locked

test-python: build ## the Python tests; pass options as PYTEST='-k name -x'
	@tools/pi.sh --if-any
	$(PY) -m pytest -n auto $(PYTEST)

test-long: build pi ## the tests that take hours: a hundred seeds against Pi, thousands of histories and kills
	PI_EVENT_SEARCH_LONG=1 $(PY) -m pytest -n auto --timeout=86400 tests/pi tests/machine tests/crash $(PYTEST)

fuzz: $(VENV)/.stamp-venv ## fuzz the core, FUZZ_SECONDS=60 a target; needs a nightly Rust and cargo-fuzz
	@tools/preflight.sh fuzz
	@for target in $(FUZZ_TARGETS); do \
		mkdir -p target/fuzz-corpus/$$target && echo "fuzzing $$target" && \
		$(CARGO) +nightly fuzz run --fuzz-dir rust/fuzz --target-dir target/fuzz $$target \
			target/fuzz-corpus/$$target rust/fuzz/corpus/$$target -- \
			-max_total_time=$(FUZZ_SECONDS) -max_len=4096 -print_final_stats=1 || exit 1; \
	done

wheel: $(VENV)/.stamp-tools ## the wheel, into dist/
	@tools/preflight.sh rust
	rm -rf dist
	$(PY) -m maturin build --release --locked --out dist

test-wheel: build wheel ## the wheel installed as README says, and the real Pi with the package from it
	@tools/pi.sh --if-any
	PI_EVENT_SEARCH_WHEEL=$$(ls $(CURDIR)/dist/*.whl) $(PY) -m pytest tests/pi_package/test_wheel.py

pi: ## Node and the pinned version of Pi into .cache/pi, for the tests that compare with it
	@tools/pi.sh

bench: build ## speed, memory and size beside floors and other tools; a part as BENCH='--mb 10 100'
	$(PY) -m benches $(BENCH)

bench-bridge: build pi ## how soon the server answers and how long Pi waits, over a history of MB=500
	$(PY) -m benches.bridge

bench-relevance: build ## how high the events that answer known questions rank, against plain BM25
	$(PY) -m benches.relevance

format: $(VENV)/.stamp-tools ## rewrite the sources the way the checks want them
	@tools/preflight.sh lint
	$(CARGO) fmt --all
	$(PY) -m ruff check --fix $(PYTHON_CODE)
	$(PY) -m ruff format $(PYTHON_CODE)

samples: $(VENV)/.stamp-venv ## write samples/sessions afresh from its generator
	$(PY) samples/make_samples.py

clean: ## remove everything that was built, the environment too
	rm -rf $(VENV) target dist .cache $(NATIVE) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find python tests tools samples -name __pycache__ -type d -prune -exec rm -rf {} +
