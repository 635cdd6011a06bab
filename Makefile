# What a machine needs: Rust (cargo, rustfmt, clippy), Python 3.11 or newer with venv, a C compiler. The targets install
# everything else, pinned, into .venv and .tools; nothing outside this folder is changed.

PYTHON ?= python3
CARGO_HOME ?= $(HOME)/.cargo
CARGO_DENY_VERSION := 0.20.2
CARGO_FUZZ_VERSION := 0.13.2
WHEEL_MAX_BYTES := 4000000
# Also PYTEST_ARGS; INSTRUCTIONS=--update; BENCH_ARGS, options of benches/python/compare.py; ARRAY_API_TESTS, a folder.
ARRAY_API_EXAMPLES ?= 100
FUZZ_SECONDS ?= 60
SOAK_OPERATIONS ?= 200000
FUSION_OPERATIONS ?= 1000000
# The folder of reports and measurements, and the one whose results `make plots` draws.
RESULTS ?= build/results
PLOTS_OF ?= docs/results
# `make test-all` also runs the cases outside the samples of large matrices: tests/helpers/case_sampling.py.
SAMPLE ?= -m "not matrix"

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
# Last on the path, so that a toolchain chosen by the caller wins.
export PATH := $(CURDIR)/.tools/bin:$(PATH):$(CARGO_HOME)/bin
# cargo and maturin build pyo3 against one interpreter; two would rebuild it in turns.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_COMPILE := 1
# Each run of pytest would otherwise rewrite the assertions of all tests anew, for 15 seconds.
unexport PYTHONDONTWRITEBYTECODE

RUST_SOURCES := Cargo.toml Cargo.lock pyproject.toml $(shell find src -type f 2>/dev/null)
PACKAGE_FILES := $(shell find python -name ".*" -prune -o -type f ! -name "*.pyc" ! -name "*.so" -print 2>/dev/null)
# Without make's job server, whose descriptors a recipe does not inherit.
CARGO := env -u MAKEFLAGS cargo
# Maturin sets these variables for the build script of pyo3. Without them, cargo compiles pyo3 and all crates that depend on
# it again, and so does the next run of maturin.
LIKE_MATURIN = env PYO3_BUILD_EXTENSION_MODULE=1 $(addprefix PYO3_CONFIG_FILE=$(CURDIR)/,$(firstword $(shell ls -t target/maturin/pyo3-config-*.txt 2>/dev/null)))
# A surrounding conda environment would make maturin refuse to choose between the two.
MATURIN := env -u CONDA_PREFIX -u MAKEFLAGS VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin
# In a release lld, rustc's linker on x86-64 Linux, makes functions of the same code one. No function's address is compared.
SMALL := -C link-arg=-Wl,--icf=all
# The simulated GPUs, in place of each vendor's library; an image that suits both is compiled once.
SIMULATED := --manifest-path tests/simulated_driver/Cargo.toml --target-dir build/simulated/target
SIMULATED_GPU = PYGPU_SIM_IMAGES=$(CURDIR)/build/simulated/images LD_LIBRARY_PATH=$(CURDIR)/build/simulated$${LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH}
# The tracking of hazards with the locks of a model checker.
HAZARD_MODEL := --manifest-path tests/hazard_model/Cargo.toml --target-dir build/hazard_model

# The longest first, and a part that others wait for before those of its length.
TESTS := .on-cuda .on-cpu .on-hip .instructions-counted .fusion-on-cuda .from-the-wheel .wheel-held .rust .hazard-model .streams-on-cuda \
    .on-cpu-with-torch .eager-on-cuda .streams-on-hip .simulators-own
CHECKS := .lint-rust .lint-others .lint-python .docs-read

.PHONY: help demo names format pages try test test-all check ci docs links wheel bench plots array-api instructions wheel-check sdist bill release-check fuzz soak fusion-soak \
    fusion-mutations hazard-mutations clean distclean $(TESTS) $(CHECKS)
.DELETE_ON_ERROR:

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
demo: .venv/.extension-quick ## Install into .venv and run the main job on a real file, on whatever device there is
	$(BIN)/python examples/feature_tour.py
names: .venv/.created ## Write the index and the stubs of public names from their declarations, and random kernels
	$(BIN)/python tools/name_index.py && $(BIN)/python tools/random_kernels.py
format: .venv/.group-check ## Format Rust and Python, and correct what ruff can
	$(CARGO) fmt --all && $(BIN)/ruff format -q && $(BIN)/ruff check -q --fix
pages: .venv/.extension-dev .venv/.group-test names ## Write the generated pages and sections of the documentation
	@for page in reference operations functions special random cupy_names performance; do $(BIN)/python docs/make_$$page.py || exit 1; done

# The status 5 of pytest is no failure: the selection has no test for a backend.
try: .venv/.extension-dev .venv/.group-test build/simulated/.ready ## Run the tests of FOLDERS on the CPU and both simulated GPUs: make try FOLDERS=tests/views
	@$(if $(FOLDERS),,echo "name the folders: make try FOLDERS=tests/views"; exit 1)
	PYGPU_BACKEND=cpu PYGPU_STRICT=1 $(PYTEST) $(FOLDERS) $(SAMPLE) $(PYTEST_ARGS) || [ $$? = 5 ]
	@for backend in cuda hip; do echo "on simulated $$backend"; $(SIMULATED_GPU) PYGPU_BACKEND=$$backend \
	    $(PYTEST) $(FOLDERS) $(SAMPLE) $(PYTEST_ARGS) || [ $$? = 5 ] || exit 1; done

check: .venv/.created ## Formatting, lints, spelling, types, stubs, licences, the site
	+@MAKE="$(MAKE)" bash tools/make_in_parallel.sh $(CHECKS)
# The longest parts need these; made before, so that parts begin in their order and the last ones find compiled images.
test: .venv/.extension-dev .venv/.group-test build/amd/.ready build/simulated/.ready ## Rust tests, then Python tests on the CPU, simulated CUDA and HIP
	+@MAKE="$(MAKE)" bash tools/make_in_parallel.sh $(TESTS)
# Make begins a part whose prerequisites are missing after all others; so these are made before, the longest first.
ci: .venv/.group-build ## `make check` and `make test` in one run, with no pause between their parts
	-+@$(MAKE) --no-print-directory --keep-going -j3 .venv/.extension-dev .tools/.cargo-deny-$(CARGO_DENY_VERSION) \
	    build/simulated/.ready .venv/.group-check .venv/.group-docs .venv/.group-test build/amd/.ready
	+@MAKE="$(MAKE)" bash tools/make_in_parallel.sh $(TESTS) $(CHECKS)
test-all: ## The same with every case of the large matrices, and with deferred arithmetic off: before an issue ends
	@TEST_ALL=1 $(MAKE) --no-print-directory test SAMPLE=
	@TEST_ALL=1 PYGPU_FUSION=off $(MAKE) --no-print-directory test SAMPLE= TESTS=".on-cuda .fusion-on-cuda .on-hip"

# What a part prints goes into build/parts and, at its end, to the screen: tools/make_in_parallel.sh.
log = build/parts/$(@:.%=%)
part = > $(log).log 2>&1; status=$$?; cat $(log).log; [ $$status = 0 ] || touch $(log).failed; exit $$status

# Begins with another third of the folders than .on-cuda and .on-hip, so that each part compiles kernels for the others.
.on-cpu: FOLDERS = $(filter-out tests/gpu/ tests/bindings/,$(shell echo tests/[h-z]*/ tests/[a-g]*/))
.on-cpu: .venv/.extension-dev .venv/.group-test build/amd/.ready
	@PYGPU_STRICT=1 $(PYTEST) $(FOLDERS) docs README.md $(SAMPLE) $(PYTEST_ARGS) $(part)

# Programs that compile against the package compile against the files of the wheel, not against this folder. What only this
# part needs is no prerequisite, as for .on-cpu-with-torch: with a missing prerequisite the part would begin after all others.
.from-the-wheel: .venv/.extension-dev .venv/.group-test
	@$(MAKE) --no-print-directory build/dev-package/.made build/fortran/.ready
	@( export PYTHONPATH=$(CURDIR)/build/dev-package; $(BIN)/python -c 'import PyGPU; assert "/dev-package/" in PyGPU.__file__, PyGPU.__file__' && \
	PYGPU_STRICT=1 $(PYTEST) tests/bindings $(SAMPLE) $(PYTEST_ARGS) ) $(part)

# The tests that need torch and no GPU; only here, since torch loads libraries of the system that other tests need not see.
.on-cpu-with-torch: .venv/.extension-dev .venv/.group-test
	@$(MAKE) --no-print-directory build/torch/.ready
	@bash tests/interop/run_with_torch.sh $(BIN)/python $(SAMPLE) $(PYTEST_ARGS) $(part)

# HIP begins with the last folder, so that each part finds images of the others, and sees each use after a block's end.
.on-cuda: FOLDERS = tests --ignore=tests/fusion --ignore=tests/arithmetic
.fusion-on-cuda: FOLDERS = tests/fusion tests/arithmetic
.on-hip: FOLDERS = $(shell ls -rd tests/*/)
.on-hip .streams-on-hip: export PYGPU_RECYCLE := 0
.on-cuda .fusion-on-cuda .on-hip: .venv/.extension-dev .venv/.group-test build/simulated/.ready build/amd/.ready
	@$(SIMULATED_GPU) PYGPU_BACKEND=$(lastword $(subst -, ,$@)) $(PYTEST) $(FOLDERS) $(SAMPLE) $(PYTEST_ARGS) $(part)
.streams-on-cuda .streams-on-hip: .streams-on-%: .venv/.extension-dev .venv/.group-test build/simulated/.ready
	@$(SIMULATED_GPU) PYGPU_BACKEND=$* bash tests/streams/run_execution_orders.sh $(BIN)/python $(SAMPLE) $(PYTEST_ARGS) $(part)

# Folders whose operations are launched otherwise, or not at all, where nothing is deferred; `make test-all` runs the others.
.eager-on-cuda: export PYGPU_FUSION := off
.eager-on-cuda: .venv/.extension-dev .venv/.group-test build/simulated/.ready
	@$(SIMULATED_GPU) PYGPU_BACKEND=cuda $(PYTEST) tests/interop tests/memory tests/streams $(SAMPLE) $(PYTEST_ARGS) $(part)

.rust:
	@$(LIKE_MATURIN) $(CARGO) test --locked --workspace $(part)
.simulators-own: build/simulated/.ready
	@$(CARGO) test --locked $(SIMULATED) $(part)
.hazard-model:
	@$(CARGO) test --locked $(HAZARD_MODEL) $(part)
.instructions-counted:
	@$(MAKE) --no-print-directory instructions $(part)

# Checks of a package index, the self-test of the wheel, and a test of optimized code; after the part that builds the wheel.
.wheel-held: .instructions-counted .venv/.group-check .venv/.group-release .venv/.group-test
	@( $(MAKE) --no-print-directory build/release-package/.made && $(call held,build/release-wheel/*.whl) && \
	export PYTHONPATH=$(CURDIR)/build/release-package PYGPU_BACKEND=cpu && $(BIN)/python -m PyGPU test && \
	$(PYTEST) tests/memory/test_garbage_collection.py $(PYTEST_ARGS) ) $(part)
held = sh tools/release/check_wheel.sh $(BIN) $(WHEEL_MAX_BYTES) $(1)

# Cargo lets one command at a time use a folder of objects, so a part that shares one comes after the build that uses it.
.lint-rust: .venv/.extension-dev
.lint-others: .tools/.cargo-deny-$(CARGO_DENY_VERSION) build/simulated/.ready
.lint-python: .venv/.extension-dev .venv/.group-check
.lint-rust .lint-others .lint-python: .lint-%:
	@BIN=$(BIN) LIKE_MATURIN="$(LIKE_MATURIN)" CARGO="$(CARGO)" SIMULATED="$(SIMULATED)" HAZARD_MODEL="$(HAZARD_MODEL)" bash tools/lint.sh $* $(part)

# Nothing of the site is fetched: the group has all that it needs. Warnings are errors, and so are links that lead nowhere.
SITE := PYGPU_BACKEND=cpu $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --doctree-dir build/doctrees -c docs/site
docs: .venv/.extension-dev .venv/.group-docs ## Build the documentation's site into build/site
	$(SITE) docs build/site
# Writes no page, which takes more than half of the time, and runs no program of the gallery.
.docs-read: .venv/.extension-dev .venv/.group-docs
	@$(SITE) -D plot_gallery=0 --builder dummy docs build/site-read $(part)
links: .venv/.extension-dev .venv/.group-docs ## Ask every address that the documentation names (needs the network)
	$(SITE) -D plot_gallery=0 --builder linkcheck docs build/links
array-api: .venv/.extension-dev .venv/.group-test .venv/.group-array-api ## Run array-api-tests of the folder ARRAY_API_TESTS against PyGPU
	bash tests/array_api/run.sh $(CURDIR)/$(BIN)/python "$(ARRAY_API_TESTS)" $(ARRAY_API_EXAMPLES) $(PYTEST_ARGS)

# Counts, not times: they mean something on a busy machine too. They need a release build of their own, so that the
# development build in .venv stays. INSTRUCTIONS=--update takes the counts as the new baseline.
instructions: .venv/.created $(if $(shell command -v valgrind),build/release-package/.made) ## Count the instructions of small calls and hold them against benches/instruction_counts.json (needs valgrind)
	@PYTHONPATH=$(CURDIR)/build/release-package $(BIN)/python benches/python/instruction_counts.py $(INSTRUCTIONS)

fuzz: .tools/.cargo-fuzz-$(CARGO_FUZZ_VERSION) .venv/.extension-dev .venv/.group-test .venv/.group-fuzz ## Let each fuzzer look for FUZZ_SECONDS (needs Rust's nightly toolchain)
	bash tests/fuzz/run.sh $(BIN)/python $(FUZZ_SECONDS)

# Runs a soak on backends: its name, its operations, the backends. Simulated drivers report races, leaks and the like.
soak_on = mkdir -p $(RESULTS); for backend in $(3); do $(SIMULATED_GPU) PYGPU_BACKEND=$$backend $(BIN)/python tests/helpers/$(1).py \
    --operations $(2) --json $(RESULTS)/$(1)-$$backend.json || exit 1; done
soak: .venv/.extension-quick .venv/.group-test build/simulated/.ready ## Hold SOAK_OPERATIONS random operations against NumPy, on each backend
	$(call soak_on,soak,$(SOAK_OPERATIONS),cpu cuda hip)
fusion-soak: .venv/.extension-quick .venv/.group-test build/simulated/.ready ## Hold FUSION_OPERATIONS operations that wait against NumPy and the mode off
	$(call soak_on,fusion_soak,$(FUSION_OPERATIONS),cuda hip)

fusion-mutations: .venv/.group-test build/simulated/.ready ## Leave out each place that launches pending operations: a test must see it
	mkdir -p $(RESULTS) && $(BIN)/python tests/fusion/flush_mutations.py --markdown $(RESULTS)/closing_calls.md
hazard-mutations: .venv/.created ## Remove each wait and each record of the hazard tracking: the model checker must fail
	$(BIN)/python tests/hazard_model/mutations.py

# Not with zig's linker, though that would reach older C libraries: it links an unwinder of its own into the extension, and
# when Python ends a thread inside a call (pthread_exit, up to 3.13) the two unwinders of the process meet, and crash.
wheel: .venv/.group-build .venv/.group-check .venv/.group-release ## Build the release wheel into dist/ and hold its size against the limit
	rm -rf dist
	$(MATURIN) build --release --locked --compression-level 9 --out dist -- $(SMALL)
	$(call held,dist/*.whl)

# The parts of .github/workflows/release.yml that need no hosted runner. docs/release.md lists the others.
wheel-check: .venv/.group-check .venv/.group-release ## Check the wheels in dist/: description, platform, limited API, size
	$(call held,dist/*.whl)
sdist: .venv/.group-build .venv/.group-release ## Build the source distribution into dist/
	rm -rf dist && $(MATURIN) sdist --out dist && $(BIN)/python -m twine check --strict dist/*.tar.gz
bill: .venv/.group-release ## Write build/PyGPU.cdx.json, the list of crates and headers in the wheel (CycloneDX)
	mkdir -p build && $(BIN)/python tools/release/sbom.py build/PyGPU.cdx.json && $(BIN)/python tools/release/validate_sbom.py build/PyGPU.cdx.json
release-check: ## Run all parts of a release that need no hosted runner, in a new clone of the last commit
	bash tools/release/release_check.sh

# Runs benches: the command of Python, their names, options.
benches = mkdir -p $(RESULTS); for bench in $(2); do $(1) benches/python/$$bench.py --json $(RESULTS)/$$bench.json $(3) || exit 1; done
bench: .venv/.extension-release ## Rust and Python benchmarks, each against its peer in one run (BENCH_ARGS=--quick)
	$(LIKE_MATURIN) $(CARGO) bench
	$(call benches,$(BIN)/python,import_time)
	$(call benches,$(BIN)/python,compare,$(BENCH_ARGS))
plots: .venv/.group-bench ## Draw the results of PLOTS_OF (docs/results) into build/plots
	$(BIN)/python benches/python/plots.py $(PLOTS_OF) build/plots

include tests/gpu/gpu.mk

clean: ## Remove what was built; tools and environment stay
	rm -rf target build dist docs/api docs/gallery fuzz/target fuzz/artifacts .venv/.extension-* .pytest_cache .mypy_cache .ruff_cache .hypothesis python/PyGPU/*.so
	find python tests benches examples docs -name __pycache__ -type d -exec rm -rf {} + 2> /dev/null || true
distclean: clean ## Also remove .venv and .tools
	rm -rf .venv .tools

# The files below stand for what they name, so that a second run has nothing to do.
build/simulated/.ready: $(RUST_SOURCES) $(shell find tests/simulated_driver -type f 2>/dev/null)
	$(CARGO) build --quiet --locked $(SIMULATED)
	bash tests/simulated_driver/install.sh build/simulated/target/debug build/simulated
	touch $@

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "$(PYTHON) is older than 3.11; name a newer one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet pip==26.3
	touch $@

# One pip at a time changes the environment.
.venv/.group-%: pyproject.toml .venv/.created
	flock .venv/.lock $(BIN)/python -m pip install --quiet --group $*
	touch $@

# One shared object serves all profiles in turn, hence each stamp removes the others. Cargo.toml describes the profiles.
.venv/.extension-dev .venv/.extension-quick .venv/.extension-release: .venv/.extension-%: $(RUST_SOURCES) .venv/.group-build
	$(MATURIN) develop --quiet --profile $*
	rm -f .venv/.extension-*
	touch $@

# The wheel unpacked, as compiled for development or for release; its other files are the same.
build/dev-package/.made build/release-package/.made: build/%-package/.made: $(RUST_SOURCES) $(PACKAGE_FILES) .venv/.group-build
	rm -rf build/$*-wheel build/$*-package
	$(MATURIN) build --quiet $(filter --release,--$*) --locked --out build/$*-wheel $(if $(filter release,$*),-- $(SMALL))
	$(BIN)/python -m pip install --quiet --no-deps --no-index --target build/$*-package build/$*-wheel/*.whl
	touch $@

# AMD's HIP runtime, which is asked why there is no device; a gfortran, where the machine has none, for the examples of
# bindings; torch for the CPU. These never fail: without them the tests that need them skip.
build/amd/.ready: tests/fetch_amd_runtime.sh
build/fortran/.ready: tests/fetch_gfortran.sh
build/torch/.ready: tests/fetch_torch.sh .venv/.created
build/amd/.ready build/fortran/.ready build/torch/.ready: build/%/.ready: tests/unpack_debian_packages.sh
	bash $(filter tests/fetch_%,$^) build/$* $(if $(filter torch,$*),$(BIN)/python)

.tools/.cargo-%: | .venv/.created
	CARGO="$(CARGO)" PYTHON=$(BIN)/python bash tools/cargo_tool.sh $(subst -, ,$*)
	mkdir -p .tools && touch $@
