# From a fresh clone, with Python 3.11+ and make: `make demo` shows what biasledger does, `make test` runs its tests.
# Everything is installed into .venv, and again only when pyproject.toml or constraints.txt changed.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VENV ?= .venv
PYTHON ?= $(shell for candidate in python3.11 python3.12 python3.13 python3 python; do \
	if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	echo "$$candidate"; break; fi; done)

INSTALLED := $(VENV)/.installed
SPARK_INSTALLED := $(VENV)/.spark-installed
# Wherever a user keeps Python from writing what it compiled, every worker and every program that a test starts would compile
# everything anew: a tenth of the suite.
unexport PYTHONDONTWRITEBYTECODE

# Recipes change folder, so programs are called by their full path.
BIN = $(abspath $(VENV))/bin
# `biasledger build` ends with 1 when there are alarms, which is what the biased simulator must give; any other code,
# 0 among them, is an error.
EXPECT_ALARMS = code=0; $(1) || code=$$?; if [ $$code -ne 1 ]; then \
	echo "expected exit code 1 (alarms) of: $(1), got $$code" >&2; exit 1; fi

.PHONY: help install demo picture test test-slow test-all spark-test test-long check check-fast coverage lint types sql warehouse docs site smoke bench fuzz audit clean

help:
	@echo "make demo    audit a simulated model: collect its answers, build the warehouse, print the findings"
	@echo "make test    run the Python tests but for the slow ones"
	@echo "make test-slow   run the slow ones: warehouses of their own, published data, benchmarks, kills"
	@echo "make spark-test  the models on Apache Spark against DuckDB; installs pyspark, needs Java 17 or newer"
	@echo "make test-long   run what CI leaves out, on Spark too: before a release and after a change of SQL, biasledger/spark or benchmarks"
	@echo "make docs    one HTML page about every table: columns, tests, where each comes from"
	@echo "make site    the documents as a site, in build/site"
	@echo "make test-all    run both"
	@echo "make check   what a reviewer would run: lint, types, sql, test-all, warehouse, smoke"
	@echo "make check-fast  lint, types and the tests of single functions: under a minute, for while you write"
	@echo "make bench   measure how answers are read, how often verdicts are wrong, and speed, at small sizes"
	@echo "make coverage print which lines and branches of the measures and findings their own tests reach"
	@echo "make picture take the documents' pictures of the demo's report and explorer anew; needs make demo before, and Chromium"
	@echo "make fuzz    damage specs, files, answers, journals and packs at random for some minutes (TIMES=50: as often as in make test)"
	@echo "make audit   look the locked dependencies up among known vulnerabilities; ends with an error where it cannot ask about one"
	@echo "make clean   remove what was built; $(VENV) stays"

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	@if ! "$(PYTHON)" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
		echo "biasledger needs Python 3.11 or newer with its venv module: install it, or say where it is with" \
			"make PYTHON=/path/to/python3.11" >&2; \
		exit 1; \
	fi
	@echo "Installing into $(VENV): a few minutes the first time …"
	@"$(PYTHON)" -m venv --clear "$(VENV)"
	@"$(VENV)/bin/python" -m pip install --quiet --editable ".[dev]" --constraint constraints.txt
	@touch "$@"

demo: $(INSTALLED)
	@rm -rf build/demo
	@"$(BIN)/biasledger" init --all build/demo
	@cd build/demo; "$(BIN)/biasledger" collect audits/products.yml --target simulator
	@cd build/demo; "$(BIN)/biasledger" collect audits/recommendations.yml --target simulator --domain music --subjects 50
	@cd build/demo; "$(BIN)/biasledger" collect audits/resumes.yml --target simulator
	@cd build/demo; "$(BIN)/biasledger" collect audits/rankings.yml --target simulator
	@cd build/demo; "$(BIN)/biasledger" collect audits/restaurants.yml --target simulator --domain Boston --domain Toronto \
		--with locations
	@cd build/demo; "$(BIN)/biasledger" collect audits/stereotypes.yml --target simulator --trials 3
	@cd build/demo; $(call EXPECT_ALARMS,"$(BIN)/biasledger" build)
	@cd build/demo; "$(BIN)/biasledger" report
	@echo
	@echo "The alarms are the bias planted in the simulated model, which goes by words and names of race, by places and by occupations; gender alone raises none."
	@echo "The project is in build/demo, its tables are in build/demo/warehouse.duckdb, its report is build/demo/report.html. Why those alarms:"
	@echo "  cd build/demo && $(BIN)/biasledger findings --status alarm --why"

# The pictures of the documents: the top of the demo's report, and each view of its explorer. Needs Chromium.
picture: $(INSTALLED)
	@"$(BIN)/python" -m tests.python.report.picture build/demo docs

PYTEST = "$(BIN)/python" -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder
test: MARKED := not slow
# What builds warehouses of its own, reads published data, simulates hundreds of audits or kills programs again and again.
test-slow: MARKED := slow and not long
# Both in one run, which builds once what fast and slow tests share.
test-all: MARKED := not long
test test-slow test-all: $(INSTALLED)
	@$(PYTEST) -m "$(MARKED)"

# The models on Spark against those on DuckDB; pyspark is large, and nothing else needs it. Without Java tests on Spark are
# skipped, and fail where CI is true. test-long also runs long tests of other folders.
spark-test test-long: export BIASLEDGER_SPARK_REQUIRED = $(CI)
spark-test: WHICH := -m "not long" tests/python/spark
test-long: WHICH := -m long
spark-test test-long: $(SPARK_INSTALLED)
	@"$(BIN)/python" -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder $(WHICH)

$(SPARK_INSTALLED): $(INSTALLED)
	@"$(BIN)/python" -m pip install --quiet --editable ".[spark]" "pyspark[connect]" --constraint constraints.txt
	@touch "$@"

check: lint types sql test-all warehouse smoke
	@echo "make check: everything passed."

# Tests that build no warehouse, start no program and simulate no audits: each file takes a few seconds at most.
FAST := $(wildcard $(addprefix tests/python/, cli/test_printing.py comparing/test_formats.py \
	comparing/test_sentences.py explain/test_marks.py lmrec/test_masking.py lmrec/test_quality.py lmrec/test_yelp.py packaging/test_arrows.py) \
	$(addprefix tests/python/collector/test_, answers.py costs.py decisions.py http_replies.py item_answers.py journal.py \
	json_path.py key_forms.py names.py pacing.py prompts.py rate_headers.py redaction.py replacing.py replay.py short_lists.py \
	slots.py spec*.py subjects.py targets_file.py typos.py) \
	$(addprefix tests/python/measures/test_, adjustment.py intervals.py lengths.py markers.py strata.py tables.py text_units.py \
	*_inputs*.py *_tables.py))
check-fast: lint types
	@"$(BIN)/python" -m pytest --numprocesses auto --dist loadfile --quiet --durations=0 --durations-min=5 $(FAST)
	@echo "make check-fast: everything passed; make check runs the rest."

lint: $(INSTALLED)
	@"$(BIN)/ruff" check .
	@"$(BIN)/ruff" format --check .

types: $(INSTALLED)
	@"$(BIN)/mypy"

# The warehouse by hand, as an analyst with dbt would build it: every model and every quality test on simulated answers.
warehouse sql docs: export BIASLEDGER_LEDGER = $(CURDIR)/build/warehouse/ledger.duckdb
warehouse sql docs: export BIASLEDGER_WAREHOUSE = $(CURDIR)/build/warehouse/warehouse.duckdb
warehouse sql docs: export DBT_TARGET_PATH = $(CURDIR)/build/warehouse/target
warehouse sql docs: export DBT_LOG_PATH = $(CURDIR)/build/warehouse/logs
warehouse: $(INSTALLED)
	@rm -rf build/warehouse
	@"$(BIN)/biasledger" collect audits/products.yml --target simulator
	@"$(BIN)/biasledger" collect audits/recommendations.yml --target simulator --domain music --subjects 3 \
		--with robustness --with personality --with indirect
	@"$(BIN)/biasledger" collect audits/resumes.yml --target simulator
	@"$(BIN)/biasledger" collect audits/rankings.yml --target simulator
	@"$(BIN)/biasledger" collect audits/restaurants.yml --target simulator --domain Boston --with relationships --with locations
	@"$(BIN)/biasledger" collect audits/stereotypes.yml --target simulator --trials 3
	@"$(BIN)/dbt" build --profiles-dir . --exclude tag:alarm

# sqruff reads the models as dbt compiles them, which needs a ledger.
sql: warehouse
	@"$(BIN)/sqruff" lint --parsing-errors models analyses tests/dbt
	@"$(BIN)/sqruff" lint --parsing-errors biasledger/reporting/queries --config .sqruff-report
	@"$(BIN)/python" -m biasledger.spark.lint build/warehouse/target/compiled/biasledger/models build/warehouse/warehouse.duckdb

# dbt's own documentation of all tables as a single page, with the types that a build gives them.
docs: warehouse
	@"$(BIN)/dbt" docs generate --static --no-compile --profiles-dir . --quiet
	@cp build/warehouse/target/static_index.html build/tables.html
	@echo "Every table, its columns, tests and origins: build/tables.html"

# The documents as a site, by tools in an environment of their own; a link that leads nowhere is an error.
site: $(INSTALLED)
	@"$(BIN)/python" -m venv --clear build/site-tools
	@build/site-tools/bin/python -m pip install --quiet "mkdocs-material>=9.6,<10"
	@NO_MKDOCS_2_WARNING=1 build/site-tools/bin/mkdocs build --strict --config-file site/mkdocs.yml
	@echo "The site: build/site/index.html"

# What someone gets who only pip-installed: the wheel, without the developers' extras, in an environment of its own.
smoke: $(INSTALLED)
	@rm -rf build/smoke
	@"$(BIN)/python" -m build --wheel --no-isolation --outdir build/smoke/dist . >/dev/null
	@"$(BIN)/python" -m venv build/smoke/venv
	@build/smoke/venv/bin/python -m pip install --quiet --no-compile --constraint constraints.txt build/smoke/dist/*.whl
	@build/smoke/venv/bin/biasledger init build/smoke/project
	@cd build/smoke/project; ../venv/bin/biasledger collect audits/products.yml --target simulator
	@cd build/smoke/project; $(call EXPECT_ALARMS,../venv/bin/biasledger build)

bench: $(INSTALLED)
	@"$(BIN)/python" -m benchmarks

# Which lines and branches of the measures and findings their own tests reach.
MEASURED := tests/python/measures tests/python/lmrec tests/python/cli/test_findings.py tests/python/cli/test_printing.py
coverage: export COVERAGE_FILE = $(CURDIR)/build/coverage
coverage: $(INSTALLED)
	@"$(BIN)/python" -m pip install --quiet --editable ".[coverage]" --constraint constraints.txt
	@mkdir -p build
	@"$(BIN)/python" -m pytest --quiet -m "not slow" --cov=biasledger.measures --cov=biasledger.findings --cov-branch $(MEASURED)

# The suite's fuzzers with so many times its examples, and new ones each time.
TIMES ?= 50
fuzz: $(INSTALLED)
	@BIASLEDGER_FUZZ_TIMES=$(TIMES) "$(BIN)/python" -m pytest tests/python/fuzz --numprocesses auto

# In an environment of its own: what audits is no dependency of what it audits.
audit: $(INSTALLED)
	@"$(BIN)/python" -m venv --clear build/audit
	@build/audit/bin/python -m pip install --quiet "pip-audit>=2.9,<3"
	@build/audit/bin/pip-audit --strict --require-hashes --disable-pip --requirement requirements.lock

clean:
	rm -rf build dist target logs .pytest_cache .mypy_cache .ruff_cache .hypothesis
