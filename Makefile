# make bench | make aa | make test | make check | make help
PYTHON        ?= python3
JAVA          := $(if $(JAVA_HOME),$(JAVA_HOME)/bin/java,java)
ROWS          ?= 1000000
# Trials of each workload in a run. Default: of `make bench`, 2.
TRIALS        ?= $(if $(filter aa runs,$(MAKECMDGOALS)),6)
# The time that `make bench` may take, with all that it starts Spark for.
MINUTES       ?= 5
# In place of MINUTES: runs of a configuration, each a Spark application. Of one run alone no change can be claimed.
RUNS          ?= $(if $(filter aa,$(MAKECMDGOALS)),12,$(if $(filter runs,$(MAKECMDGOALS)),3))
CONFIGURATION ?= $(if $(filter aa,$(MAKECMDGOALS)),aa,default)
RESULTS       ?= results
# local, hdfs, qfs or s3. All but local run on this machine for the length of the benchmark.
STORAGE       ?= local
# The layout of the files, such as replicated:2 or xor:2+1. Default: what the storage chooses.
LAYOUT        ?=
DATANODES     ?= 3
CHUNK_SERVERS ?= 4
# Of s3, which is a Ceph: its OSDs. Default: as many as LAYOUT needs, and 3 at least.
OSDS          ?=
# How many examples of a property `make test` tries.
EXAMPLES      ?= 20
# Which of the lab's tests `make test-lab` runs.
LAB           ?= tests/lab
# How many commands `make test-kill` kills.
KILLS         ?= 10
# What `make test` and `make test-kill` choose at random follows from it; without one, each run has another.
SEED          ?=
DATASET       ?= $(if $(CLUSTERLIFT_FS),$(CLUSTERLIFT_FS)/)data/rows-$(ROWS)
# Options for spark-submit. On a cluster, name it here: --master spark://host:7077
SPARK_OPTIONS ?= $(LOCAL_SPARK)
# Spark's 200 shuffle partitions suit a cluster. On one machine, with little data, most of a trial would be
# the scheduling of empty tasks.
LOCAL_SPARK   := --conf spark.sql.shuffle.partitions=8
REPARTITION   ?= $(if $(findstring --master,$(SPARK_OPTIONS)),200,8)

# The arguments of `clusterlift report`, and which figure of it `make figure` draws.
REPORT        ?= 1g-rs 2.5g-rs 2.5g-2x --results results/ethernet-upgrade
NAME          ?=

# What is chosen reaches the commands as it is: a character that means something to make or to the shell stays
# itself.
CHOSEN  := ROWS TRIALS MINUTES RUNS CONFIGURATION RESULTS STORAGE LAYOUT DATANODES CHUNK_SERVERS OSDS \
  DATASET REPARTITION NAME KILLS SEED EXAMPLES
literal  = $(if $(filter file,$(origin $(1))),$($(1)),$(value $(1)))
$(foreach name,$(CHOSEN),$(eval override $(name) := $$(call literal,$(name))))
define newline


endef
quoted   = '$(subst $(newline), ,$(subst ','\'',$($(1))))'

VENV      := .venv
SPARK33   := .cache/spark-3.3
SPARK35   := .cache/spark-3.5
CLASSES   := .cache/spark-classes.jsa
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# Python compiles a module when it is first imported, and keeps that: compiling all of them takes half of an
# installation, and each of a test's processes would compile again what it may not keep.
unexport PYTHONDONTWRITEBYTECODE
# The packages that build others come first, from the same lock file: nothing unpinned is downloaded.
BUILDERS  := .cache/builders.lock
# What a uv that is there installs in half the time. Without one, or with UV= on the command line, pip does.
UV        ?= $(shell uv --version > /dev/null 2>&1 && echo uv)
environment = $(if $(UV),$(UV) venv --quiet --allow-existing --python '$(PYTHON)' $(1),$(PYTHON) -m venv $(1))
install   = $(if $(UV),$(UV) pip install --quiet --python $(1)/bin/python,$(1)/bin/python \
  -m pip install --quiet --disable-pip-version-check --no-compile) --no-build-isolation
locked    = $(install) --require-hashes
# The jars of Spark are compressed as they are. In a wheel that compresses them once more, they take twice the time.
STORED    := .cache/stored.cfg
export DIST_EXTRA_CONFIG := $(CURDIR)/$(STORED)
# Do a part of a set-up, and print what it takes.
part      = printf '%s' '  $(1): ' && began=$$(date +%s) && $(2) && \
  echo "$$(($$(date +%s) - began)) s; $(VENV) has $$(du -sm $(VENV) | cut -f 1) MB"
PYTEST    := pytest --durations=25
# For tests that measure real links, which a busy machine disturbs: a failure has to repeat, and the first is printed, too.
AGAIN     := --reruns 1 --rerun-show-tracebacks -rR
# A file's tests share what they start. In alphabetical order, the long files of tests/spark come before the short ones.
PARALLEL  := -n 3 --dist loadfile --no-loadscope-reorder
# The files that take longest, which are to be begun first: at the end, one process would work alone.
LONG_SCRIPTS := $(addprefix tests/,spark/test_s3a.py spark/test_hdfs.py e2e/test_installed.py e2e/test_pythons.py)
LONG_PROBES  := tests/probes/test_ssh.py
# These files before the others of some directories.
with_first = $(1) $(filter-out $(1),$(sort $(wildcard $(2:%=%/test_*.py))))
# What spark-submit runs, by the Python of the cluster.
RECORDING := jobs datagen harness/__init__.py $(addprefix harness/,base eventlog model node trials work) \
  $(addprefix harness/records/,checksums.py directories.py files.py node_names.py outputs.py run_lock.py \
    writer.py) harness/statistics/steadiness.py
# What an older Python has to read until it is told that it is too old.
ENTERED   := jobs/benchmark.py datagen/generate.py datagen/observe.py harness/base/entry.py $(addsuffix /__init__.py,harness harness/base)
# What `make test` leaves to other targets: it takes minutes, or needs root, Docker or a quiet machine.
APART     := bench e2e kill lab probes

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || { \
	  echo "clusterlift: Python 3.10 or newer is needed, and '$(PYTHON)' is not: install it, or name one: make PYTHON=/path/to/python3" >&2; exit 2; }
	@$(if $(UV),true,$(PYTHON) -c 'import ensurepip, venv') 2>/dev/null || { \

help:
	@echo "make bench [ROWS="$(call quoted,ROWS)"] [MINUTES="$(call quoted,MINUTES)"] [CONFIGURATION="$(call quoted,CONFIGURATION)"]"
	@echo "                   generate data, run the workloads for MINUTES, or RUNS=N times, and print the table,"
	@echo "                   beside the configuration that was measured on the same data before; again: add to it"
	@echo "make bench STORAGE=hdfs|qfs|s3 [LAYOUT=replicated:2]  the same on a small file system on this machine"
	@echo "make aa [RUNS=12]  how much identical runs differ on this machine; takes STORAGE and all others, too"
	@echo "make report        build the report of the experiment in results/ethernet-upgrade"
	@echo "make figure NAME=change [REPORT='BEFORE AFTER --results DIRECTORY']"
	@echo "                   draw one figure of that report, or of another, into build/; top: as the README shows it"
	@echo "make check         lint, format, types of code and tests, which room imports which, Pythons 3.8 and 3.10, and a table of its size"
	@echo "make test [SEED=N]  the tests of every room; with a seed, the same examples of properties each time"
	@echo "make test-scripts  one run of each script under the real spark-submit; datasets on real file systems"
	@echo "make test-e2e      scripts and commands as users run them, beyond what test-scripts runs"
	@echo "make test-slow     every command of the README and of docs/; an OSD of Ceph is lost; each benchmark with little work;"
	@echo "                   the longest cases of other tests"
	@echo "make test-hostile  hosts that answer garbage"
	@echo "make test-probes   the probes with their real tools, between network namespaces; needs root"
	@echo "make test-lab      the lab; needs Docker"
	@echo "make test-kill [KILLS="$(call quoted,KILLS)"] [SEED=N]  kill commands at random moments"
	@echo "make test-all      all of these"
	@echo "make microbench    how fast clusterlift itself is"

toolchain:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || { \
	  echo "clusterlift: Python 3.10 or newer is needed, and '$(PYTHON)' is not: install it, or name one: make PYTHON=/path/to/python3" >&2; exit 2; }
	@$(if $(UV),true,$(PYTHON) -c 'import ensurepip, venv') 2>/dev/null || { \
	  echo "clusterlift: '$(PYTHON)' has no venv: install it (Debian: apt-get install python3-venv)" >&2; exit 2; }
	@version=$$("$(JAVA)" -version 2>&1 | sed -nE 's/.* version "(1\.)?([0-9]+).*/\2/p' | head -n 1); \
	  [ "$${version:-0}" -ge 17 ] || { \
	  echo "clusterlift: Java 17 or newer is needed, and '$(JAVA)' is $${version:+version }$${version:-not there}: install it, or set JAVA_HOME" >&2; exit 2; }

# What users need.
tool: $(VENV)/tool

# What developers need.
setup: $(VENV)/installed

# With --jobs, too, an environment waits for these; order-only, because it need not be built again after them.
$(VENV)/tool $(SPARK33)/installed $(SPARK35)/installed: | toolchain $(BUILDERS) $(STORED)

$(BUILDERS): requirements-bench.lock
	@mkdir -p $(@D)
	@$(call entries,packaging|pip|setuptools|wheel) $< > $@

$(STORED):
	@mkdir -p $(@D)
	@printf '[bdist_wheel]\ncompression = stored\n' > $@

# The entries of some packages in a lock file.
entries   = awk '/^($(1))==/ {on = 1} on {print} !/\\$$/ {on = 0}'

$(VENV)/tool: requirements-bench.lock pyproject.toml setup.py
	@echo "setting up $(VENV); the first time, this downloads about 510 MB, 456 of them Spark"
	@$(call part,Python,$(call environment,$(VENV)) && $(call locked,$(VENV)) -r $(BUILDERS))
	@$(call entries,py4j|pyspark) $< > .cache/spark.lock
	@$(call part,Spark,$(call locked,$(VENV)) -r .cache/spark.lock)
	@$(call part,libraries,$(call locked,$(VENV)) -r $<)
	@$(call part,clusterlift,PYTHONWARNINGS=ignore $(call install,$(VENV)) --no-deps --editable .)
	@touch $@
	@echo "ready: '. $(VENV)/bin/activate' makes clusterlift a command; 'make bench' tries it on this machine"

$(VENV)/installed: requirements.lock $(VENV)/tool
	@echo "adding to $(VENV) what reports, checks and tests need; the first time, this downloads about 200 MB"
	@$(call part,libraries,$(call locked,$(VENV)) -r $<)
	@# For tests and tools, which import jobs, datagen and harness by these names from any directory.
	@$(VENV)/bin/python -c "import pathlib, sysconfig; \
	  pathlib.Path(sysconfig.get_path('purelib'), 'checkout.pth').write_text(f'{pathlib.Path.cwd()}\n')"
	@touch $@

bench: tool
	+@$(call on_storage,table)

# Identical runs, which should not differ.
aa: tool
	+@$(call on_storage,runs)
	@clusterlift ready $(call quoted,CONFIGURATION) --allow-no-probes --results $(call quoted,RESULTS) || true

# Make a target while the file system is up.
on_storage = case $(call quoted,STORAGE) in \
  local) $(call again,$(1)) ;; \
  hdfs) clusterlift local hdfs run --datanodes $(call quoted,DATANODES) -- $(call again,$(1)) ;; \
  qfs) clusterlift local qfs run --chunk-servers $(call quoted,CHUNK_SERVERS) -- $(call again,$(1)) ;; \
  s3) clusterlift local s3 run $(if $(OSDS),--osds $(call quoted,OSDS)) $(if $(LAYOUT),--layout $(call quoted,LAYOUT)) -- \
    $(call again,$(1)) ;; \
  *) echo "clusterlift: STORAGE is '"$(call quoted,STORAGE)"': choose local, hdfs, qfs or s3" >&2; exit 2 ;; \
esac
again = $(MAKE) --no-print-directory $(1) RUNS=$(call quoted,RUNS) CONFIGURATION=$(call quoted,CONFIGURATION)

# On whatever file system DATASET is.
table: tool
	@exec clusterlift bench $(if $(RUNS),--runs $(call quoted,RUNS),--minutes $(call quoted,MINUTES)) --rows $(call quoted,ROWS) \
	  --dataset $(call quoted,DATASET) $(if $(LAYOUT),--layout $(call quoted,LAYOUT)) --configuration $(call quoted,CONFIGURATION) \
	  --results $(call quoted,RESULTS) $(SPARK_OPTIONS) -- $(if $(TRIALS),--trials $(call quoted,TRIALS)) --repartition $(call quoted,REPARTITION)

# The same command continues where it was interrupted.
runs: tool
	@spark-submit $(SPARK_OPTIONS) datagen/generate.py $(call quoted,DATASET) --rows $(call quoted,ROWS) --reuse \
	  $(if $(LAYOUT),--layout $(call quoted,LAYOUT))
	@exec clusterlift run --runs $(call quoted,RUNS) $(SPARK_OPTIONS) -- --dataset $(call quoted,DATASET) --trials $(call quoted,TRIALS) \
	  --repartition $(call quoted,REPARTITION) --configuration $(call quoted,CONFIGURATION) --results $(call quoted,RESULTS)

report: setup
	@clusterlift report $(REPORT) --output results/ethernet-upgrade/report.html

# One figure of that report, or of another one, as SVG and PNG in build/.
figure: setup
	@python -m tests.figure $(call quoted,NAME) $(REPORT)

check: setup
	@ruff check .
	@ruff format --check .
	@mypy
	@lint-imports --no-logo --no-cache
	@vermin --target=3.8- --violations --no-tips --quiet $(RECORDING)
	@vermin --target=3.10- --violations --no-tips --quiet clusterlift harness
	@vermin --target=2.7- --target=3.1- --violations --no-tips --quiet $(ENTERED)
	@python -m tests.size

test: setup classes
	@EXAMPLES=$(call quoted,EXAMPLES) $(PYTEST) $(PARALLEL) $(if $(SEED),--hypothesis-seed $(call quoted,SEED)) \
	  -m "not slow and not daemons" $(APART:%=--ignore=tests/%)

test-scripts: setup classes
	@$(PYTEST) $(PARALLEL) -m "smoke or (daemons and not slow)" $(call with_first,$(LONG_SCRIPTS),tests/e2e tests/spark)

test-e2e: setup classes
	@$(PYTEST) -n 2 --dist loadfile -m "not slow and not smoke and not daemons" tests/e2e

test-slow: setup classes
	@$(PYTEST) -m slow tests/e2e tests/spark tests/unit tests/probes

test-hostile: setup
	@HOSTILE=20 $(PYTEST) $(PARALLEL) tests/hostile

# These wait for their transfers: four processes together keep two processors busy for two thirds of the time.
test-probes: setup
	@$(PYTEST) -n 4 --dist loadfile --no-loadscope-reorder $(AGAIN) -m "not slow" $(call with_first,$(LONG_PROBES),tests/probes)

# Stops the lab that it starts.
test-lab: setup
	@$(PYTEST) $(AGAIN) $(LAB)

test-kill: setup classes
	@KILLS=$(call quoted,KILLS) SEED=$(call quoted,SEED) pytest tests/kill/test_kills.py

test-all: EXAMPLES = 100
test-all: check spark33 spark35 test test-scripts test-e2e test-slow test-hostile test-probes test-lab test-kill

microbench: setup
	@pytest -s tests/bench

# Older Sparks in environments of their own, for the tests that prove that they still work.
spark33: setup $(SPARK33)/installed
spark35: setup $(SPARK35)/installed

$(SPARK33)/installed: requirements-spark33.lock
	@$(older_spark)

$(SPARK35)/installed: requirements-spark35.lock
	@$(older_spark)

older_spark = echo "setting up $(@D)" && $(call environment,$(@D)) && $(call locked,$(@D)) -r $(BUILDERS) && \
  $(call locked,$(@D)) -r $< && touch $@

# For tests, which start Spark often: with its classes as a JVM has them in memory, a start takes a third less.
classes: setup $(CLASSES)

$(CLASSES): $(VENV)/installed
	@mkdir -p $(@D)
	@rm -f $@
	@directory=$$(mktemp -d) && trap 'rm -rf "$$directory"' EXIT && \
	  SPARK_SUBMIT_OPTS='-XX:ArchiveClassesAtExit=$(CURDIR)/$@ -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xlog:cds*=off' \
	  spark-submit --master 'local[2]' $(LOCAL_SPARK) datagen/generate.py "$$directory/rows" --rows 1000 > "$$directory/log" 2>&1 \
	  || { cat "$$directory/log" >&2; exit 1; }

# What `make bench` installs has the versions of all the rest.
lock:
	@compile='uv pip compile --quiet --upgrade --universal --generate-hashes --allow-unsafe --no-header --no-annotate \
	  --no-emit-index-url --no-emit-find-links'; \
	$$compile --python-version 3.10 requirements.in -o requirements.lock; \
	$$compile --python-version 3.10 --constraints requirements.lock requirements-bench.in -o requirements-bench.lock; \
	for name in requirements-spark33 requirements-spark35; do $$compile --python-version 3.8 $$name.in -o $$name.lock; done

clean:
	rm -rf $(VENV) .cache data build *.egg-info
