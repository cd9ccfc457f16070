# Every target sets up what it needs; the first run takes a minute, later ones start at once.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt
# Tests start hundreds of processes, which must not compile everything anew where Python is told to write no bytecode.
COMPILE := $(BIN)/python -m compileall -q src tests

.PHONY: demo serve test types tests later slow flakes bench soak lint docs dist clean

demo: .venv/.runtime
	$(BIN)/optin demo

serve: .venv/.runtime
	$(BIN)/optin serve

test: .venv/.dev system
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(COMPILE)
	@$(MAKE) --no-print-directory -j 2 types tests

# Types are checked while tests wait for one another: in a fresh clone that takes half a minute.
types:
	$(BIN)/mypy

tests:
	$(BIN)/pytest -n 2 --dist loadgroup -m "not slow and not soak"

# Other engines and databases, and other cases of what the daily run states once (tests/later.py).
later: .venv/.dev system
	$(COMPILE)
	$(BIN)/pytest -n 2 --dist loadgroup -m later

# Statistics with a stated false-alarm rate, long batteries, load, and every law on all of its examples: at most 25
# minutes on two cores.
slow: .venv/.dev system
	$(COMPILE)
	$(BIN)/pytest -n 2 --dist loadgroup -m "(slow or hypothesis) and not soak" --hypothesis-profile thorough

# Whatever starts processes, waits or races, again and again: ROUNDS times in each of four ways (CONTRIBUTING.md).
ROUNDS ?= 3
flakes: .venv/.dev system
	$(COMPILE)
	$(BIN)/python tests/flakes.py --rounds $(ROUNDS)

lint: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, to be read offline: build/site/index.html. A link that leads nowhere, or anything loaded from elsewhere, fails.
docs: .venv/.docs
	$(BIN)/python packaging/site.py

# Wheel and sdist, ready to publish: built from what git knows, looked through, and tried where nothing else is installed.
dist: .venv/.uv
	$(BIN)/python packaging/dist.py

bench: .venv/.dev
	$(BIN)/python -m benchmarks

soak: .venv/.dev system
	$(COMPILE)
	$(BIN)/pytest -n 2 --dist loadgroup -m soak

# Debian packages that the tests start themselves; nothing is installed where they are present.
.PHONY: system
system:
	@missing=""; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$$missing postgresql"; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	command -v java >/dev/null || missing="$$missing openjdk-17-jre-headless"; \
	test -z "$$missing" || (apt-get update -qq && apt-get install -y -qq --no-install-recommends $$missing)

.venv/.uv:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet uv
	@touch $@

.venv/.runtime: .venv/.uv pyproject.toml constraints.txt
	$(INSTALL) --editable '.[duckdb,figures,postgres,web]'
	@touch $@

.venv/.dev: .venv/.uv pyproject.toml constraints.txt
	$(INSTALL) --editable '.[dev]'
	$(BIN)/python -m compileall -q -j 2 .venv/lib || true  # some packages carry templates that are no Python
	@touch $@

.venv/.docs: .venv/.uv pyproject.toml constraints.txt
	$(INSTALL) --editable '.[docs]'
	@touch $@

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build src/*.egg-info
