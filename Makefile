# make bench | make test | make check | make microbench | make lock
PYTHON        ?= python3
JAVA          := $(if $(JAVA_HOME),$(JAVA_HOME)/bin/java,java)
ROWS          ?= 2000000
TRIALS        ?= 6
CONFIGURATION ?= default
RESULTS       ?= results
# local, hdfs or qfs; the latter two are started on this machine for as long as it takes
STORAGE       ?= local
# How the files are to lie, such as replicated:2 or xor:2+1; by default as the storage likes
LAYOUT        ?=
DATANODES     ?= 3
CHUNK_SERVERS ?= 4
# Which of the lab's tests to run
LAB           ?= tests/lab
DATASET       ?= $(if $(CLUSTERLIFT_FS),$(CLUSTERLIFT_FS)/)data/rows-$(ROWS)
# More for spark-submit, such as --master spark://host:7077
SPARK_OPTIONS ?=

VENV      := .venv
SPARK35   := .cache/spark-3.5
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# The packages that build others come first, out of the same lock; then nothing is fetched unpinned.
BUILDERS  := awk '/^(packaging|pip|setuptools|wheel)==/ {on = 1} on {print} !/\\$$/ {on = 0}' requirements.lock
PIP       := -m pip install --quiet --disable-pip-version-check --require-hashes

.DEFAULT_GOAL := help
.PHONY: help toolchain setup bench workloads report test test-e2e test-slow test-probes test-lab check microbench spark35 lock clean

help:
	@echo "make bench [ROWS=$(ROWS)] [TRIALS=$(TRIALS)] [CONFIGURATION=$(CONFIGURATION)]  generate data, run the workloads, print the table"
	@echo "make bench STORAGE=hdfs|qfs [LAYOUT=replicated:2]  the same on a small file system that is started for it"
	@echo "make report      build the page of the experiment that is kept in results/ethernet-upgrade"
	@echo "make test        run the tests"
	@echo "make test-e2e    run those that start Spark as its users do"
	@echo "make test-slow   run those that take minutes: every command of the README"
	@echo "make test-probes run those of the probes between network namespaces, which need root"
	@echo "make test-lab    run those of the lab, which need Docker"
	@echo "make check       lint, format and types"
	@echo "make microbench  the benchmarks of clusterlift itself"

toolchain:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "clusterlift: Python 3.11 or newer is needed, and '$(PYTHON)' is not: install it, or name one: make PYTHON=/path/to/python3" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "clusterlift: '$(PYTHON)' has no venv: install it (Debian: apt-get install python3-venv)" >&2; exit 2; }
	@version=$$("$(JAVA)" -version 2>&1 | sed -nE 's/.* version "(1\.)?([0-9]+).*/\2/p' | head -n 1); \
	  [ "$${version:-0}" -ge 17 ] || { \
	  echo "clusterlift: Java 17 or newer is needed, and '$(JAVA)' is $${version:+version }$${version:-not there}: install it, or set JAVA_HOME" >&2; exit 2; }

setup: toolchain $(VENV)/installed

$(VENV)/installed: requirements.lock pyproject.toml
	@echo "setting up $(VENV); the first time this downloads about 600 MB"
	@$(PYTHON) -m venv $(VENV)
	@$(BUILDERS) > $(VENV)/builders.lock
	@$(VENV)/bin/python $(PIP) -r $(VENV)/builders.lock
	@$(VENV)/bin/python $(PIP) --no-build-isolation -r requirements.lock
	@$(VENV)/bin/python -m pip install --quiet --no-build-isolation --no-deps --editable .
	@touch $@

bench: setup
	@case "$(STORAGE)" in \
	  local) $(MAKE) --no-print-directory workloads ;; \
	  hdfs) clusterlift hdfs run --datanodes $(DATANODES) -- $(MAKE) --no-print-directory workloads ;; \
	  qfs) clusterlift qfs run --chunk-servers $(CHUNK_SERVERS) -- $(MAKE) --no-print-directory workloads ;; \
	  *) echo "clusterlift: STORAGE is '$(STORAGE)': choose local, hdfs or qfs" >&2; exit 2 ;; \
	esac

# On whatever file system DATASET is.
workloads: setup
	@spark-submit $(SPARK_OPTIONS) datagen/generate.py "$(DATASET)" --rows $(ROWS) --reuse \
	  $(if $(LAYOUT),--layout "$(LAYOUT)")
	@spark-submit $(SPARK_OPTIONS) jobs/benchmark.py --dataset "$(DATASET)" --trials $(TRIALS) \
	  --configuration "$(CONFIGURATION)" --results "$(RESULTS)"

# What somebody looks at who is to pay for the switch.
report: setup
	@clusterlift report 1g-rs 2.5g-rs 2.5g-2x --results results/ethernet-upgrade \
	  --output results/ethernet-upgrade/report.html

test: setup
	@pytest -n 2 --dist loadfile -m "not bench and not lab and not slow and not netns and not e2e"

# The entry scripts and commands under the real spark-submit, on real clusters of this machine.
test-e2e: setup
	@pytest -m "e2e and not slow"

# Every command of the README, and a whole benchmark as it is by default.
test-slow: setup
	@pytest -m slow

# The probes with their real tools, between network namespaces: needs root.
test-probes: setup
	@pytest -m netns

# Containers, and links that are shaped: needs a docker engine, and stops the lab that it starts.
test-lab: setup
	@pytest -m lab $(LAB)

check: setup
	@ruff check .
	@ruff format --check .
	@mypy

microbench: setup
	@pytest -m bench -s tests/bench

# Spark 3.5 in an environment of its own, for the tests that hold us to it.
spark35: setup $(SPARK35)/installed

$(SPARK35)/installed: requirements-spark35.lock
	@echo "setting up $(SPARK35)"
	@$(PYTHON) -m venv $(SPARK35)
	@$(SPARK35)/bin/python $(PIP) -r $(VENV)/builders.lock
	@$(SPARK35)/bin/python $(PIP) --no-build-isolation -r requirements-spark35.lock
	@touch $@

lock:
	@for name in requirements requirements-spark35; do \
	  uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --allow-unsafe \
	    --no-header --no-annotate --no-emit-index-url --no-emit-find-links $$name.in -o $$name.lock; \
	done

clean:
	rm -rf $(VENV) .cache data build *.egg-info
