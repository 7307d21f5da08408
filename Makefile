# Two commands do everything: `make demo` and `make test`. The rest are parts of them.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# numba keeps compiled code here, so that a clean checkout compiles once
export NUMBA_CACHE_DIR ?= $(CURDIR)/$(VENV)/numba

.PHONY: demo test coverage mutants drawn lint fuzz bench docs images tables constraints browser clean

demo: $(VENV)/.demo ## the main job on MUTAG; results under out/
	RWK_DATA="$(CURDIR)/$(VENV)/data" $(BIN)/rwk demo --output out

test: $(VENV)/.dev ## everything that must hold
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tests/compile_first.py
	$(BIN)/python -m pytest -n 2 --dist worksteal

# compiled code is run a second time as Python, with NumPy arrays as vectors (tests/plain_vectors.py): by the tests
# whose problems are small enough for that
PLAIN := $(addprefix tests/test_,svm.py baselines_naive.py baselines_laws.py baselines_features.py plain_bodies.py \
  matching_small.py)
coverage: $(VENV)/.dev ## lines and branches that the tests run, GPU code left out
	$(BIN)/python tests/compile_first.py
	$(BIN)/python -m coverage erase
	RWK_SLOW=1 $(BIN)/python -m coverage run -m pytest -n 2 --dist worksteal
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest $(PLAIN)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --skip-covered --sort=cover
	$(BIN)/python -m coverage json --quiet -o $(VENV)/coverage.json
	$(BIN)/python tests/covered_lines.py $(VENV)/coverage.json 95 --output results/coverage.json

mutants: $(VENV)/.dev ## hand-made mistakes, each of which a test must notice; survivors are an error
	$(BIN)/python tests/mutants/run.py

drawn: $(VENV)/.dev ## COUNT mutants of each package, drawn at random (SEED), with the tests that reach them
	$(BIN)/python tests/mutants/sample.py --count $(or $(COUNT),10) --seed $(or $(SEED),0) --jobs 2

lint: $(VENV)/.dev ## put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

N ?= 10000
fuzz: $(VENV)/.dev ## N hostile inputs of all kinds; what they break is written to fuzz/cases/ as regression cases
	$(BIN)/python -m fuzz --cases $(N) --start $(or $(START),0)

bench: $(VENV)/.dev ## all contenders side by side, one thread each
	$(BIN)/rwk bench

docs: $(VENV)/.dev ## the documentation, under site/; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

images: $(VENV)/.dev ## the pictures of the documentation, under docs/images/
	$(BIN)/python docs/draw.py

tables: $(VENV)/.dev ## the figures of the README, from the records under results/
	$(BIN)/python docs/tables.py

constraints: $(VENV)/.made ## pin the newest versions; use the oldest supported Python: make constraints PYTHON=python3.11
	rm -rf $(VENV)/renewed
	$(PYTHON) -m venv $(VENV)/renewed
	$(VENV)/renewed/bin/python -m pip install --quiet --upgrade pip
	$(VENV)/renewed/bin/python -m pip install --quiet -e '.[dev]' build hatchling pre-commit twine uv
	{ grep '^#' constraints.txt; $(VENV)/renewed/bin/python -m pip freeze --exclude-editable | \
	  sed -E 's/\+[a-z0-9.]+$$//' | grep -E '^[A-Za-z0-9_.-]+=='; } > $(VENV)/constraints.txt
	mv $(VENV)/constraints.txt constraints.txt
	rm -rf $(VENV)/renewed

browser: ## Chromium for the end-to-end test of the explorer (Debian and its relatives)
	@command -v chromedriver >/dev/null || { \
	  run=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	  $$run apt-get update -qq && $$run env DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null; }

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	touch $@

# GraKeL carries MUTAG. It has no build for the newest Pythons: there, the data alone is taken from its package.
$(VENV)/.demo: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e '.[plot]'
	$(PIP) install --only-binary grakel -c constraints.txt grakel 2>/dev/null || $(MAKE) $(VENV)/data/MUTAG
	touch $@

$(VENV)/data/MUTAG: $(VENV)/.made
	$(PIP) download --no-deps --only-binary :all: --python-version 3.12 --dest $(VENV)/wheels grakel
	$(BIN)/python -m zipfile -e $(VENV)/wheels/grakel-*.whl $(VENV)/wheels/grakel
	mkdir -p $(VENV)/data
	cp -r $(VENV)/wheels/grakel/grakel/tests/data/MUTAG $(VENV)/data/

$(VENV)/.dev: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) out
