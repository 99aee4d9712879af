# make demo   answers over the example runs, a minute after cloning
# make test   the tests; also on a real Neo4j where one can be reached or started
# make check  format, lint, types, generated pages
# make page   types, lint and unit tests of the page that a report is, with npm
# make docs   write the generated pages again
# make site   build the documentation site; a broken link is an error
# make pictures  take the pictures of the report again, with a Chromium
# make viewers  the tools that open exports, for the tests: pprof, speedscope, XProf
# make protos compile the definitions of protobuf messages
# make soak   the tests of faults, for hours
# make release-check  rehearse a release: build, install, check; nothing is uploaded
# make bench  speed and memory against references of the same run (bench-full: large inputs)
# make PYTHON=/path/to/python … picks the Python (3.11 or newer) that .venv is made with

VENV := .venv
BIN := $(VENV)/bin
BUILD := build
# the folders that pyproject.toml installs as xlagraph.NAME
SUBPACKAGES := $(shell sed -nE 's|^"xlagraph\.([a-z_]+)" = "[a-z_]+"$$|\1|p' pyproject.toml)
# the folder whose modules and packages are directly in xlagraph
PACKAGE := $(shell sed -nE 's|^"xlagraph" = "([a-z_]+)".*|\1|p' pyproject.toml)
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check lint types page docs site pictures protos viewers soak bench bench-full format
.PHONY: lock release-check release-lock clean

help:
	@sed -n 's/^# //p;/^$$/q' Makefile

demo: $(VENV)/package.stamp
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh $(BUILD)/demo

# an ingest of one value takes 150 MB from the system and returns them; a worker that keeps them
# for its next test needs a tenth less of a processor
KEEP_MEMORY := MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=268435456 MALLOC_ARENA_MAX=2

test: $(VENV)/dev.stamp
	$(KEEP_MEMORY) $(BIN)/python -m pytest --numprocesses auto --dist loadgroup --no-loadscope-reorder $(PYTEST_ARGS)

check: lint types
	$(BIN)/python docs/generate.py --check

docs: $(VENV)/dev.stamp
	$(BIN)/python docs/generate.py

site: $(VENV)/docs.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/python docs/build_site.py

pictures: $(VENV)/dev.stamp
	$(BIN)/python docs/take_pictures.py

protos: $(patsubst %.proto,%.binpb,$(wildcard hlo/*.proto exports/*.proto))

%.binpb: %.proto | $(VENV)/dev.stamp
	$(BIN)/python -m grpc_tools.protoc --proto_path=$(dir $<) --descriptor_set_out=$@ $<

soak: $(VENV)/dev.stamp
	$(BIN)/python -m tests.faults.soak

lint: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

# mypy sees the packages under the names by which they are installed
types: $(VENV)/dev.stamp
	@mkdir -p $(BUILD)/typed/xlagraph
	@rm -f $(BUILD)/typed/xlagraph/*
	@ln -sfn $(addprefix ../../../,$(SUBPACKAGES) $(filter-out %__pycache__,$(wildcard $(PACKAGE)/*))) $(BUILD)/typed/xlagraph
	$(BIN)/mypy

# exact versions stand in .ci/page/package.json
PAGE := .ci/page/node_modules
page: $(PAGE)/.package-lock.json
	$(PAGE)/.bin/tsc --project .ci/page/tsconfig.json
	$(PAGE)/.bin/eslint --config .ci/page/eslint.config.js report/page
	node --no-warnings --experimental-detect-module --test tests/report/page/

viewers: $(BUILD)/viewers/stamp

$(BUILD)/viewers/stamp: .ci/viewers | $(VENV)/bin/python
	@sh .ci/viewers $(BUILD)/viewers $(BIN)/python
	@touch $@

$(PAGE)/.package-lock.json: .ci/page/package.json
	cd .ci/page && npm install --silent --no-audit --no-fund --ignore-scripts

bench bench-full: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks.run $(if $(filter bench-full,$@),--full)

format: $(VENV)/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock:
	@sh .ci/make-venv $(BUILD)/lock $(PYTHON)
	$(BUILD)/lock/bin/python -m pip install --quiet . --group dev --group docs
	@sed -n '/^#/p' constraints.txt > $(BUILD)/lock/constraints.txt
	@$(BUILD)/lock/bin/python -m pip freeze --all | grep -v -e '^pip==' -e '^xlagraph ' \
		>> $(BUILD)/lock/constraints.txt
	mv $(BUILD)/lock/constraints.txt constraints.txt

release-check: | $(VENV)/bin/python
	@.ci/release/check $(BUILD)/release $(BIN)/python

# the tools that build and check a release, with their hashes
release-lock: | $(VENV)/bin/python
	@$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --upgrade --generate-hashes --universal --no-header \
		--python-version 3.11 .ci/release/tools.in --output-file .ci/release/tools.txt

clean:
	rm -rf $(VENV) $(BUILD) *.egg-info

# The environments. constraints.txt holds the versions that were tested together.

$(VENV)/bin/python:
	@sh .ci/make-venv $(VENV) $(PYTHON)

$(VENV)/package.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing xlagraph"
	@# setuptools warns at each editable install that the folders may be imported by their names
	@PYTHONWARNINGS="ignore:Editable installation" \
		$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/package.stamp
	@echo "installing what the tests need"
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev
	@touch $@

# after the other: two processes of pip at once write the same files
$(VENV)/docs.stamp: $(VENV)/package.stamp | $(VENV)/dev.stamp
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --group docs
	@touch $@
