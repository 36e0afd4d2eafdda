# SPDX-License-Identifier: Apache-2.0
# What a person does here: make run, make test. Everything else is the flashbed command: .venv/bin/flashbed --help

VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
MEDIA_BUILD = build/media
IOSCHED_BUILD = build/iosched

# Containers often set it. Without kept byte code, each command compiles the lab and pandas again, which takes 7 s
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup run test test-long lint bench accuracy yaffs2-figures kernel-size papers columns result-tables image-wheel faults planted-bugs reliability first-answer clean

help:
	@echo "make setup      install what is missing: Debian packages (root or sudo), a Python environment in $(VENV)"
	@echo "make run        measure FAT16, ext2 and F2FS on a modelled USB stick in use; ends with the path of the report"
	@echo "make test       all tests, some 20 minutes on 2 cores"
	@echo "make test-long  the tests that take longer"
	@echo "make bench      what a cell costs, how fast the models are, how long the first answer takes, also on a busy host; 90 minutes"
	@echo "make first-answer  how long \`make run\` takes from nothing, by stage (OPTIONS=\"--base REVISION --busy 2 --new-debian\")"
	@echo "make accuracy   check the models against measured devices and arithmetic, and write docs/generated/accuracy.md"
	@echo "make yaffs2-figures  measure YAFFS2 in guests, and write docs/generated/yaffs2-figures.md"
	@echo "make kernel-size  build and measure the appliance's kernels, and write docs/generated/kernel-size.md"
	@echo "make columns    write the table of the columns of results in docs/studies.md"
	@echo "make result-tables  write the tables of results in docs/ from the stored results (OPTIONS=\"--only logger\")"
	@echo "make papers     write docs/generated/papers.md from the stored results of the studies after papers"
	@echo "make image-wheel  a wheel in dist/ with all that is built for make run, for hosts that build nothing (IMAGE_OF=\"quick lee2013\")"
	@echo "make faults     disturb runs: kill, stop, fill the disk, damage files (OPTIONS=\"--faults 300 --seed 1 --minutes 60\")"
	@echo "make planted-bugs  plant bugs in programs, file systems and media, find them by power cuts, write docs/survive.md"
	@echo "make reliability  write docs/generated/reliability.md from the records of what was tried to break it"
	@echo "make clean      remove what was built here (the cache in ~/.cache/flashbed stays)"

setup:
	@setup/debian
	@$(MAKE) -s --no-print-directory $(STAMP)

# Python compiles what it imports: pip would compile all of it first, on one core
$(STAMP): pyproject.toml
	@echo "setup: Python environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --disable-pip-version-check --no-compile -q -e .
	@touch $@

$(STAMP)-dev: $(STAMP)
	@setup/debian bzip2 chromium fio gnupg libnfs-utils lz4 lzop mmdebstrap mtd-utils nilfs-tools qemu-system-arm qemu-system-x86 qemu-utils uidmap unyaffs zstd
	@$(BIN)/pip install --disable-pip-version-check --no-compile -q -e '.[dev]'
	@touch $@

STUDY ?= quick
run: setup
	@$(BIN)/flashbed run $(STUDY)

lint: setup lint-python lint-modules

.PHONY: lint-python lint-modules
lint-python: $(STAMP)-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo
lint-modules:
	kernel/checkpatch

# Each suite in C runs on one core. Two run at a time, the longest first; sfsload's keeps times, so it has a core to itself
C_SUITES = test-yaffs2 test-media test-media-ftl test-iosched test-appliance test-distil
.PHONY: $(C_SUITES) test-sfsload test-image test-unit
$(C_SUITES) test-sfsload: $(STAMP)-dev
SLOWEST ?= 25
PYTEST = $(BIN)/pytest --dist worksteal --durations $(SLOWEST)
CHOSEN ?= not long

# What tests take of the cache: the time limit of a test is too short for a build of a kernel
test-image:
	$(BIN)/flashbed image build
	$(BIN)/flashbed image build survive
test-unit: $(STAMP)-dev
	$(PYTEST) -n 1 -m "$(CHOSEN)" tests/unit

test: BEGAN := $(shell date +%s)
test: setup
	$(MAKE) -j 2 --output-sync=target --no-print-directory test-image lint-python $(C_SUITES) test-unit
	$(MAKE) -j 2 --output-sync=target --no-print-directory lint-modules test-sfsload
	$(PYTEST) -n 3 -m "$(CHOSEN)" tests/machine tests/e2e
	@echo "make test: passed in $$(($$(date +%s) - $(BEGAN))) s"

test-long:
	$(MAKE) test CHOSEN="long or not long" OF_FTL="CUTS=100000" OF_YAFFS2="alternate cuts CUTS=5000" OF_APPLIANCE="RUNS=3000000"
	$(BIN)/python -m faults.campaign --faults 100 --seed 2

# Targets and values beside `test`; their names are none that a Makefile of a part has
OF_YAFFS2 = cuts CUTS=200
test-media:
	$(MAKE) -C media test BUILD=$(CURDIR)/$(MEDIA_BUILD)
test-media-ftl:
	$(MAKE) -C kernel/media_ftl/tests test $(OF_FTL) BUILD=$(CURDIR)/build/media_ftl
test-iosched:
	$(MAKE) -C kernel/iosched/tests test BUILD=$(CURDIR)/$(IOSCHED_BUILD)
test-yaffs2:
	$(MAKE) -C kernel/yaffs2 test $(OF_YAFFS2) BUILD=$(CURDIR)/build/yaffs2
test-sfsload:
	$(MAKE) -C sfsload test BUILD=$(CURDIR)/build/sfsload
test-appliance:
	$(MAKE) -C appliance/user test $(OF_APPLIANCE) BUILD=$(CURDIR)/build/appliance
test-distil:
	$(MAKE) -C appliance/distil test BUILD=$(CURDIR)/build/distil

# SIZE=tiny: only to see that it runs. BASE: the revision that the first answer is compared with
SIZE ?=
BASE ?= e955aee
bench: setup $(STAMP)-dev
	$(MAKE) -C media bench BUILD=$(CURDIR)/$(MEDIA_BUILD) SIZE=$(SIZE)
	$(BIN)/python -m bench.cell_price $(if $(SIZE),--cells 1) $(STUDY)
	$(BIN)/python -m bench.large_study $(if $(SIZE),--repetitions 100 --reports)
	$(BIN)/python -m bench.several_cpus $(if $(SIZE),--quick)
	$(BIN)/python -m bench.kernel_objects $(if $(SIZE),--objects 2)
	$(if $(SIZE),,$(BIN)/python -m bench.first_answer --base $(BASE))
	$(if $(SIZE),,$(BIN)/python -m bench.first_answer --base $(BASE) --busy 2)

first-answer: setup $(STAMP)-dev
	$(BIN)/python -m bench.first_answer $(OPTIONS)

# OPTIONS=--check writes nothing, and fails if the page would change; --quick of yaffs2-figures looks at two rows
OPTIONS ?=
accuracy: setup $(STAMP)-dev
	$(BIN)/python -m pages.accuracy $(OPTIONS)

yaffs2-figures: setup $(STAMP)-dev
	$(BIN)/flashbed image build
	$(BIN)/python -m pages.yaffs2 $(OPTIONS)

# OPTIONS=--stored measures no price that is not there
kernel-size: setup $(STAMP)-dev
	$(BIN)/python -m pages.kernel_size $(OPTIONS)

# OPTIONS=--partial writes it with results missing, and marks them; "--only lee2013" writes the section of this study
papers: setup $(STAMP)-dev
	$(BIN)/python -m pages.papers $(OPTIONS)

columns: setup $(STAMP)-dev
	$(BIN)/python -m pages.columns_table $(OPTIONS)

# OPTIONS="--only logger" renews the tables of this study alone
result-tables: setup $(STAMP)-dev
	$(BIN)/python -m pages.result_tables $(OPTIONS)

IMAGE_OF ?= quick
image-wheel: setup
	rm -rf build/image-wheel
	mkdir -p build dist
	cp -r setup/image-wheel build/image-wheel
	$(BIN)/flashbed image export $(IMAGE_OF) -o build/image-wheel/flashbed_image/image.flashbed
	$(BIN)/pip wheel --disable-pip-version-check -q --no-deps -w dist build/image-wheel
	@ls dist/flashbed_image-*.whl

# OPTIONS="--faults 300 --seed 1 --minutes 60 --log FILE"
faults: setup $(STAMP)-dev
	$(BIN)/python -m faults.campaign $(OPTIONS)

# OPTIONS="--only program": plants only the bugs of this layer, and writes nothing
planted-bugs: setup $(STAMP)-dev
	$(BIN)/flashbed image build
	$(BIN)/python -m pages.planted_bugs $(OPTIONS)

# OPTIONS="--measure all": carries out what the page tells of, about half an hour; "--campaign LOG": takes in a log of make faults
reliability: setup $(STAMP)-dev
	$(BIN)/python -m pages.reliability $(OPTIONS)

clean:
	rm -rf $(VENV) build reports .pytest_cache .mypy_cache .ruff_cache .hypothesis
