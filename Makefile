# What a machine needs: Rust (cargo, rustfmt, clippy), Python 3.11 or newer with venv, a C compiler. Everything else is
# installed by the targets themselves, pinned, into .venv and .tools; nothing outside this folder is changed.

PYTHON ?= python3
CARGO_HOME ?= $(HOME)/.cargo
CARGO_DENY_VERSION := 0.20.2
CARGO_FUZZ_VERSION := 0.13.2
WHEEL_MAX_BYTES := 4000000
PYTEST_ARGS ?=
# Cases outside the samples of large matrices (tests/helpers/sampling.py) are left to `make test-all`.
SAMPLE ?= -m "not matrix"
INSTRUCTIONS ?=
# As compare.py --help has them.
BENCH_ARGS ?=
# How long each fuzzer looks.
FUZZ_SECONDS ?= 60
# The copy of array-api-tests that `make array-api` runs, and how many examples of each test.
ARRAY_API_TESTS ?=
ARRAY_API_EXAMPLES ?= 100
# On each backend.
SOAK_OPERATIONS ?= 200000
FUSION_OPERATIONS ?= 1000000
# Where reports and measurements go.
RESULTS ?= build/results
# Which results `make plots` draws.
PLOTS_OF ?= docs/results

BIN := .venv/bin
# Last on the path, so that a toolchain chosen by the caller wins.
export PATH := $(CURDIR)/.tools/bin:$(PATH):$(CARGO_HOME)/bin
# cargo and maturin build pyo3 against one interpreter; two would rebuild it in turns.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1

RUST_SOURCES := Cargo.toml Cargo.lock pyproject.toml $(shell find src -type f 2>/dev/null)
PACKAGE_FILES := $(shell find python -type f ! -name "*.pyc" ! -name "*.so" 2>/dev/null)
FUZZ_LIMITS = -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -verbosity=0
GPU_PYTHONPATH = PYTHONPATH=$(CURDIR)/build/gpu-package$${PYTHONPATH:+:$$PYTHONPATH}
GPU_ENVIRONMENT = $(GPU_PYTHONPATH) PYGPU_BACKEND=cuda
HIP_ON_CUDA := build/hip-on-cuda/libamdhip64.so.7
HIPRTC_ON_NVRTC := build/hip-on-cuda/libhiprtc.so.7
# AMD's libraries of mathematics, each of which hands its calls on to NVIDIA's.
HIPBLAS_ON_CUBLAS := build/hip-on-cuda/libhipblas.so.3
HIPFFT_ON_CUFFT := build/hip-on-cuda/libhipfft.so.0
HIPRAND_ON_CURAND := build/hip-on-cuda/libhiprand.so.1
HIPSOLVER_ON_CUSOLVER := build/hip-on-cuda/libhipsolver.so.1
HIP_MATHEMATICS := $(HIPBLAS_ON_CUBLAS) $(HIPFFT_ON_CUFFT) $(HIPRAND_ON_CURAND) $(HIPSOLVER_ON_CUSOLVER)
# Their header.
OPENED_BY_NAME := tests/gpu/hip_on_cuda/opened.h
# Those of wheels too, which the loader does not find.
FILES = $$($(GPU_PYTHONPATH) $(PYTHON) -c 'from PyGPU._native import library_files; print(":".join(library_files.$(1)))')
HIP_ENVIRONMENT = $(GPU_PYTHONPATH) PYGPU_BACKEND=hip HIPRTC_ON_NVRTC="$(call FILES,candidates())" \
    HIPBLAS_ON_CUBLAS="$(call FILES,mathematics("cublas")[1])" HIPFFT_ON_CUFFT="$(call FILES,mathematics("cufft")[1])" \
    HIPRAND_ON_CURAND="$(call FILES,mathematics("curand")[1])" HIPSOLVER_ON_CUSOLVER="$(call FILES,mathematics("cusolver")[1])" \
    LD_LIBRARY_PATH=$(CURDIR)/$(dir $(HIP_ON_CUDA))$${LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH}
NVCC ?= $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc /usr/local/cuda/bin/nvcc) nvcc)
# A simulated GPU in place of each vendor's library; what is the same for both is compiled once.
SIMULATED_GPU = PYGPU_SIM_IMAGES=$(CURDIR)/build/simulated/images LD_LIBRARY_PATH=$(CURDIR)/build/simulated$${LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH}
ALL_STAGED := PYGPU_STAGING_THRESHOLD=1 PYGPU_STAGING_CHUNK=4096
# Chunks enough to use each slot of the ring many times, and not so many that the delays of the streams are all there is.
SLOWLY_STAGED := PYGPU_STAGING_THRESHOLD=1 PYGPU_STAGING_CHUNK=65536 PYGPU_SIM_DELAY_US=0-20
DELAYED_TESTS := tests/host/test_staging.py tests/order/test_order.py
# Of the orders that a device may choose.
SEEDS := 1 2 3 4 5
REORDERED_TESTS := tests/order/test_order.py tests/order/test_graph.py tests/order/test_stream.py
# A surrounding conda environment would make maturin refuse to choose between the two.
MATURIN := env -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin

# For what is released: functions of the same code become one, which lld does, rustc's linker on x86-64 Linux. No function's address is
# compared.
SMALL := -C link-arg=-Wl,--icf=all

# Each vendor's libraries of mathematics, of which the simulated one has a part.
SIMULATED_MATHEMATICS := libcublas.so.12 libhipblas.so.3 libcufft.so.11 libhipfft.so.0 libcurand.so.10 libhiprand.so.1 libcusolver.so.11 libhipsolver.so.1
SIMULATED := --manifest-path tests/simulated_driver/Cargo.toml --target-dir build/simulated/target

# The bookkeeping of order with the locks of a model checker.
ORDER_MODEL := --manifest-path tests/order_model/Cargo.toml --target-dir build/order_model

.PHONY: help demo test test-all array-api fuzz soak fusion-soak fusion-mutations instructions .instructions check wheel gpu-test gpu-test-cuda gpu-test-hip gpu-sanitize \
    gpu-bench gpu-bench-kernels gpu-bench-peer .gpu-package .simulated-drivers bench plots order-mutations docs .docs-read links .wheel-held clean distclean \
    .on-cpu .on-cpu-with-torch .from-the-wheel .on-cuda .on-hip .orders-on-cuda .orders-on-hip .rust .simulators-own .order-model .instructions-counted \
    .lint-rust .lint-others .lint-python
.DELETE_ON_ERROR:

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.extension-quick ## Install into .venv and run the main job on a real file, on whatever device there is
	$(BIN)/python examples/demo.py

test: .venv/.extension-dev ## Rust tests, then Python tests on the CPU, simulated CUDA and HIP
	@$(call at_once,$(TESTS))

test-all: ## The same with every case of the large matrices: before an issue ends
	@TEST_ALL=1 $(MAKE) --no-print-directory test SAMPLE=

# Two parts at once, as even a small machine has cores, the longest first: most compute on one, or wait for streams and processes.
# Each runs to its end whatever became of the others; what it says lies in build/parts meanwhile, and what failed is told last.
at_once = rm -rf build/parts; mkdir -p build/parts; $(MAKE) --no-print-directory --keep-going -j2 --output-sync=target $(1) || { \
    grep -hE '^(FAILED|ERROR|error)' build/parts/*.log; \
    echo "Of these parts some failed, or what they need (*** above): $$(cd build/parts && ls | sed -n 's/\.failed$$//p' | tr '\n' ' ')"; exit 1; }
log = build/parts/$(@:.%=%)
part = > $(log).log 2>&1; status=$$?; cat $(log).log; [ $$status = 0 ] || touch $(log).failed; exit $$status

TESTS := .on-cuda .on-hip .on-cpu .from-the-wheel .instructions-counted .wheel-held .rust .order-model .simulators-own .orders-on-cuda .orders-on-hip .on-cpu-with-torch

.on-cpu: .venv/.group-test build/amd/.ready
	@PYGPU_STRICT=1 $(BIN)/python -m pytest tests docs README.md --ignore=tests/gpu --ignore=tests/bindings $(SAMPLE) $(PYTEST_ARGS) $(part)

# What others compile against the package they compile against what the wheel holds, not against this folder.
.from-the-wheel: .venv/.group-test build/dev-package/.made build/fortran/.ready
	@( export PYTHONPATH=$(CURDIR)/build/dev-package; $(BIN)/python -c 'import PyGPU; assert "/dev-package/" in PyGPU.__file__, PyGPU.__file__' && \
	PYGPU_STRICT=1 $(BIN)/python -m pytest tests/bindings $(SAMPLE) $(PYTEST_ARGS) ) $(part)

# What torch is needed for and no GPU; only here, since with it come libraries of the system's that others need not see.
# One that was built for an older NumPy warns of it, and shares memory as well.
TORCH_TESTS := tests/exchange/test_collectives.py tests/exchange/test_torch.py docs/howto/collectives.md docs/howto/torch.md README.md
.on-cpu-with-torch: .venv/.group-test build/torch/.ready
	@( if [ -f build/torch/why-not ]; then echo "no torch: $$(cat build/torch/why-not)"; else . build/torch/environment; fi; \
	PYGPU_STRICT=1 $(BIN)/python -W "ignore:Failed to initialize NumPy:UserWarning" -m pytest \
	    -W "ignore:Failed to initialize NumPy:UserWarning" $(TORCH_TESTS) $(SAMPLE) $(PYTEST_ARGS) ) $(part)

# From the first folder on, and from the last: what one of them has compiled the other finds. On HIP every block comes from the
# driver, which then sees each use after a block's end.
.on-cuda: FOLDERS = tests
.on-hip: FOLDERS = $(shell ls -rd tests/*/)
.on-hip .orders-on-hip: export PYGPU_RECYCLE := 0
.on-cuda .on-hip: .on-%: .venv/.group-test .simulated-drivers build/amd/.ready
	@$(SIMULATED_GPU) PYGPU_BACKEND=$* $(BIN)/python -m pytest $(FOLDERS) $(SAMPLE) $(PYTEST_ARGS) $(part)

# Every copy of ordinary host memory through the ring of pinned slots: on slow streams, and with every call failing in turn; and
# the order of streams in several of the orders that a device may choose.
.orders-on-cuda .orders-on-hip: .orders-on-%: .venv/.group-test .simulated-drivers
	@( failed=0; \
	$(SIMULATED_GPU) PYGPU_BACKEND=$* $(SLOWLY_STAGED) $(BIN)/python -m pytest $(DELAYED_TESTS) $(SAMPLE) $(PYTEST_ARGS) || failed=1; \
	for seed in $(SEEDS); do \
	    $(SIMULATED_GPU) PYGPU_BACKEND=$* PYGPU_SIM_SEED=$$seed $(BIN)/python -m pytest $(REORDERED_TESTS) $(SAMPLE) $(PYTEST_ARGS) || failed=1; \
	done; \
	$(SIMULATED_GPU) PYGPU_BACKEND=$* $(ALL_STAGED) $(BIN)/python -m pytest tests/backend/test_fault_matrix.py $(SAMPLE) $(PYTEST_ARGS) || failed=1; \
	exit $$failed ) $(part)

.rust:
	@cargo test --locked --workspace --exclude pygpu-python $(part)

.simulators-own: .simulated-drivers
	@cargo test --locked $(SIMULATED) $(part)

.order-model:
	@cargo test --locked $(ORDER_MODEL) $(part)

.instructions-counted:
	@$(MAKE) --no-print-directory instructions $(part)

# What an index asks of a wheel, and the self-test of what was installed from it. After the part above, which builds the same one.
.wheel-held: .instructions-counted .venv/.group-check .venv/.group-release
	@( $(MAKE) --no-print-directory build/release-package/.made && $(call held,build/release-wheel/*.whl) && \
	PYTHONPATH=$(CURDIR)/build/release-package PYGPU_BACKEND=cpu $(BIN)/python -m PyGPU test ) $(part)

held = $(BIN)/python -m twine check --strict $(1) && $(BIN)/python -m auditwheel show $(1) && $(BIN)/abi3audit --strict $(1)

# Nothing of it is fetched: what it needs of others is in the group. Warnings are errors, and so are links that lead nowhere.
SITE := PYGPU_BACKEND=cpu $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --doctree-dir build/doctrees -c docs/site
docs: .venv/.extension-dev .venv/.group-docs ## Build the documentation's site into build/site
	$(SITE) docs build/site
	@echo "open build/site/index.html"

# The same without writing, which is more than half of the time, and without running the programs of the gallery.
.docs-read: .venv/.extension-dev .venv/.group-docs
	@$(SITE) -D plot_gallery=0 --builder dummy docs build/site-read $(part)

# The only thing here that asks the network: whether the addresses of other projects are still there.
links: .venv/.extension-dev .venv/.group-docs ## Ask every address that the documentation names
	$(SITE) -D plot_gallery=0 --builder linkcheck docs build/links

# The suite of those who make the standard, from a copy that ARRAY_API_TESTS names, with its submodule:
# git clone --recurse-submodules https://github.com/data-apis/array-api-tests && git checkout 55fcc60179ef
array-api: .venv/.extension-dev .venv/.group-test .venv/.group-array-api ## Run array-api-tests of the folder ARRAY_API_TESTS against PyGPU
	@test -f "$(ARRAY_API_TESTS)/array_api_tests/__init__.py" || \
	    { echo "ARRAY_API_TESTS names a copy of https://github.com/data-apis/array-api-tests with its submodule"; exit 1; }
	cd $(ARRAY_API_TESTS) && PYGPU_STRICT=1 ARRAY_API_TESTS_MODULE=PyGPU ARRAY_API_TESTS_VERSION=2025.12 \
	    $(CURDIR)/$(BIN)/python -m pytest array_api_tests -p no:cacheprovider --disable-deadline --derandomize \
	    --max-examples=$(ARRAY_API_EXAMPLES) --skips-file=$(CURDIR)/tests/array_api/skips.txt \
	    --xfails-file=$(CURDIR)/tests/array_api/xfails.txt $(PYTEST_ARGS)

# Counts, not times: they mean something on a busy machine too. A release build of its own, so that the development
# build in .venv stays; INSTRUCTIONS=--update takes the counts as the new baseline.
instructions: ## Count the instructions of small calls and hold them against benches/instructions.json (needs valgrind)
	@if command -v valgrind > /dev/null; then $(MAKE) --no-print-directory .instructions; \
	else echo "instruction counts are skipped: valgrind is not installed"; fi

.instructions: build/release-package/.made
	@PYTHONPATH=$(CURDIR)/build/release-package $(BIN)/python benches/python/instructions.py $(INSTRUCTIONS)

check: .venv/.extension-dev .venv/.group-check .tools/.cargo-deny-$(CARGO_DENY_VERSION) ## Formatting, lints, spelling, types, stubs, licences, the site
	@$(call at_once,$(CHECKS))

CHECKS := .docs-read .lint-rust .lint-others .lint-python

.lint-rust:
	@( failed=0; \
	cargo fmt --all --check || failed=1; \
	cargo clippy --locked --workspace --all-targets -- -D warnings || failed=1; \
	exit $$failed ) $(part)

.lint-others:
	@( failed=0; \
	cargo fmt --check --all --manifest-path tests/simulated_driver/Cargo.toml || failed=1; \
	cargo clippy --locked --all-targets $(SIMULATED) -- -D warnings || failed=1; \
	cargo fmt --check --manifest-path tests/order_model/Cargo.toml || failed=1; \
	cargo clippy --locked --all-targets $(ORDER_MODEL) -- -D warnings || failed=1; \
	cargo deny --log-level warn check licenses bans sources || failed=1; \
	exit $$failed ) $(part)

.lint-python:
	@( failed=0; \
	$(BIN)/ruff check || failed=1; \
	$(BIN)/ruff format --check || failed=1; \
	$(BIN)/python -m codespell_lib || failed=1; \
	$(BIN)/mypy || failed=1; \
	$(BIN)/abi3audit --strict --assume-minimum-abi3 3.11 python/PyGPU/_core.abi3.so || failed=1; \
	$(BIN)/python -m mypy.stubtest --mypy-config-file pyproject.toml --allowlist stubtest-allowlist.txt PyGPU._core || failed=1; \
	exit $$failed ) $(part)

# What is found goes into build/fuzz; an input that fails is named at the end and kept in fuzz/artifacts or build/fuzz.
fuzz: .tools/.cargo-fuzz-$(CARGO_FUZZ_VERSION) .venv/.extension-dev .venv/.group-test .venv/.group-fuzz ## Let each fuzzer look for FUZZ_SECONDS (needs Rust's nightly toolchain)
	@mkdir -p $(addprefix build/fuzz/,layout dlpack description interfaces)
	for target in layout dlpack description; do \
	    cargo +nightly fuzz run $$target build/fuzz/$$target fuzz/corpus/$$target -- $(FUZZ_LIMITS) || exit 1; \
	done
	if $(BIN)/python -c 'import atheris' 2> /dev/null; then \
	    PYGPU_BACKEND=cpu $(BIN)/python tests/fuzz/fuzz_interfaces.py build/fuzz/interfaces tests/fuzz/corpus \
	        -artifact_prefix=build/fuzz/ $(FUZZ_LIMITS); \
	else echo "no atheris for this Python: the Python side is left to make test"; fi

# On the CPU, and on both simulated GPUs, whose drivers report races, leaks and the like.
soak: .venv/.extension-quick .venv/.group-test .simulated-drivers ## Hold SOAK_OPERATIONS random operations against NumPy, on each backend
	@mkdir -p $(RESULTS)
	PYGPU_BACKEND=cpu $(BIN)/python tests/helpers/soak.py --operations $(SOAK_OPERATIONS) --json $(RESULTS)/soak-cpu.json
	for backend in cuda hip; do \
	    LD_LIBRARY_PATH=$(CURDIR)/build/simulated PYGPU_BACKEND=$$backend $(BIN)/python tests/helpers/soak.py \
	        --operations $(SOAK_OPERATIONS) --json $(RESULTS)/soak-$$backend.json || exit 1; \
	done

# With operations that wait and without, on both simulated GPUs; tests/fusion/test_machine.py runs a short one.
fusion-soak: .venv/.extension-quick .venv/.group-test .simulated-drivers ## Hold FUSION_OPERATIONS operations that wait against NumPy and the mode off
	@mkdir -p $(RESULTS)
	for backend in cuda hip; do \
	    $(SIMULATED_GPU) PYGPU_BACKEND=$$backend $(BIN)/python tests/helpers/fusion_soak.py \
	        --operations $(FUSION_OPERATIONS) --json $(RESULTS)/fusion-soak-$$backend.json || exit 1; \
	done

fusion-mutations: .venv/.group-test .simulated-drivers ## Leave out each place that launches what waits: a test must see it
	@mkdir -p $(RESULTS)
	$(BIN)/python tests/fusion/mutations.py --markdown $(RESULTS)/closing_calls.md

# Not with zig's linker, though that would reach older C libraries: it links an unwinder of its own into the extension, and
# when Python ends a thread inside a call (pthread_exit, up to 3.13) the two unwinders of the process meet, and crash.
wheel: .venv/.group-build .venv/.group-check .venv/.group-release ## Build the release wheel into dist/ and hold its size against the limit
	rm -rf dist
	$(MATURIN) build --release --locked --compression-level 9 --out dist -- $(SMALL)
	@wc -c dist/*.whl | awk -v limit=$(WHEEL_MAX_BYTES) \
	    '{ print $$2 ": " $$1 " of at most " limit " bytes"; if ($$1 > limit) exit 1 }'
	$(call held,dist/*.whl)

# The next six run where there is no Rust: they take the wheel that lies in dist/, and pytest and the peers from PYTHON's
# own packages. PYTEST_ARGS=tests/gpu runs only what needs a device; without it the other tests run on the device too.
gpu-test: ## Run all tests on CUDA, then on HIP over CUDA, with the wheel in dist/ (PYTHON=... has pytest)
	status=0; \
	$(MAKE) gpu-test-cuda || status=$$?; \
	$(MAKE) gpu-test-hip || status=$$?; exit $$status

gpu-test-cuda: .gpu-package ## Run all tests and tests/gpu on CUDA, report in RESULTS
	@mkdir -p $(RESULTS)
	status=0; \
	$(GPU_ENVIRONMENT) $(PYTHON) -m pytest -W default --junitxml=$(RESULTS)/gpu-tests.xml $(PYTEST_ARGS) || status=$$?; \
	$(GPU_ENVIRONMENT) $(PYTHON) tests/gpu/summary.py $(RESULTS)/gpu-tests.xml; exit $$status

gpu-test-hip: .gpu-package $(HIP_ON_CUDA) $(HIPRTC_ON_NVRTC) $(HIP_MATHEMATICS) ## The same on the HIP backend, whose calls a test library hands on to CUDA
	@mkdir -p $(RESULTS)
	status=0; \
	$(HIP_ENVIRONMENT) $(PYTHON) -m pytest -W default --junitxml=$(RESULTS)/gpu-tests-hip.xml $(PYTEST_ARGS) || status=$$?; \
	$(HIP_ENVIRONMENT) $(PYTHON) tests/gpu/summary.py $(RESULTS)/gpu-tests-hip.xml; exit $$status

gpu-sanitize: .gpu-package ## Run compute-sanitizer's memcheck with leak check over the tests that import no peer
	$(GPU_ENVIRONMENT) PYTHON=$(PYTHON) RESULTS=$(RESULTS) tests/gpu/run_sanitizer.sh

gpu-bench: .gpu-package ## Time the wheel in dist/ beside the peers that PYTHON has, into RESULTS (BENCH_ARGS=--quick)
	@mkdir -p $(RESULTS)
	$(GPU_ENVIRONMENT) $(PYTHON) benches/python/import_time.py --json $(RESULTS)/import_time.json
	$(GPU_ENVIRONMENT) $(PYTHON) benches/python/compare.py --json $(RESULTS)/compare.json \
	    --markdown $(RESULTS)/compare.md $(BENCH_ARGS)

gpu-bench-kernels: .gpu-package ## Time launches, kernels and copies within the device, into RESULTS
	@mkdir -p $(RESULTS)
	for bench in launches kernels strided; do \
	    $(GPU_ENVIRONMENT) $(PYTHON) benches/python/$$bench.py --json $(RESULTS)/$$bench.json || exit 1; \
	done

gpu-bench-peer: .gpu-package ## Time what crosses between two GPUs, into RESULTS
	@mkdir -p $(RESULTS)
	$(GPU_ENVIRONMENT) $(PYTHON) benches/python/peer.py --json $(RESULTS)/peer.json

order-mutations: .venv/.created ## Take each wait and each note out of the order of uses: the model checker must see it
	$(BIN)/python tests/order_model/mutations.py

# The machine of the measurement needs no matplotlib.
plots: .venv/.group-bench ## Draw the results of PLOTS_OF (docs/results) into build/plots
	$(BIN)/python benches/python/plots.py $(PLOTS_OF) build/plots

.gpu-package:
	@ls dist/*.whl > /dev/null 2>&1 || { echo "no wheel in dist/: run 'make wheel' where there is Rust"; exit 1; }
	rm -rf build/gpu-package
	$(PYTHON) -m pip install --quiet --no-deps --no-index --target build/gpu-package dist/*.whl

$(HIP_ON_CUDA): tests/gpu/hip_on_cuda/hip_on_cuda.c
	@mkdir -p $(dir $@)
	$(NVCC) -O2 -shared -Xcompiler -fPIC,-Wall -o $@ $< -lcuda

$(HIPRTC_ON_NVRTC): tests/gpu/hip_on_cuda/hiprtc_on_nvrtc.c $(OPENED_BY_NAME)
	@mkdir -p $(dir $@)
	$(NVCC) -O2 -shared -Xcompiler -fPIC,-Wall -o $@ $< -lcuda -ldl -lpthread

$(HIPBLAS_ON_CUBLAS): tests/gpu/hip_on_cuda/hipblas_on_cublas.c $(OPENED_BY_NAME)
$(HIPFFT_ON_CUFFT): tests/gpu/hip_on_cuda/hipfft_on_cufft.c $(OPENED_BY_NAME)
$(HIPRAND_ON_CURAND): tests/gpu/hip_on_cuda/hiprand_on_curand.c $(OPENED_BY_NAME)
$(HIPSOLVER_ON_CUSOLVER): tests/gpu/hip_on_cuda/hipsolver_on_cusolver.c $(OPENED_BY_NAME)
$(HIP_MATHEMATICS):
	@mkdir -p $(dir $@)
	$(CC) -O2 -Wall -shared -fPIC -o $@ $< -ldl -lpthread

# Copied, not linked: a driver that a process has open must not change under it. Cargo knows whether there is anything to do.
.simulated-drivers:
	cargo build --quiet --locked $(SIMULATED)
	cmp -s build/simulated/target/debug/libsimulated_nvrtc.so build/simulated/libnvrtc.so.12 || rm -rf build/simulated/images
	cp --remove-destination build/simulated/target/debug/libsimulated_cuda.so build/simulated/libcuda.so.1
	cp --remove-destination build/simulated/target/debug/libsimulated_hip.so build/simulated/libamdhip64.so.7
	cp --remove-destination build/simulated/target/debug/libsimulated_nvrtc.so build/simulated/libnvrtc.so.12
	cp --remove-destination build/simulated/target/debug/libsimulated_hiprtc.so build/simulated/libhiprtc.so.7
	for name in $(SIMULATED_MATHEMATICS); do \
	    cp --remove-destination build/simulated/target/debug/libsimulated_mathematics.so build/simulated/$$name || exit 1; \
	done

bench: .venv/.extension-release ## Rust and Python benchmarks, each against its peer in one run (BENCH_ARGS=--quick)
	cargo bench
	@mkdir -p $(RESULTS)
	$(BIN)/python benches/python/import_time.py --json $(RESULTS)/import_time.json
	$(BIN)/python benches/python/compare.py --json $(RESULTS)/compare.json $(BENCH_ARGS)

clean: ## Remove what was built; tools and environment stay
	rm -rf target build dist docs/api docs/gallery fuzz/target fuzz/artifacts .venv/.extension-* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f python/PyGPU/*.so
	find python tests benches examples docs -name __pycache__ -type d -exec rm -rf {} + 2> /dev/null || true

distclean: clean ## Also remove .venv and .tools
	rm -rf .venv .tools

# The files below stand for what they name, so that a second run has nothing to do.

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "$(PYTHON) is older than 3.11; name a newer one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet pip==26.3
	touch $@

.venv/.group-%: pyproject.toml .venv/.created
	$(BIN)/python -m pip install --quiet --group $*
	touch $@

# One shared object serves all profiles in turn, hence each stamp removes the others. `dev` has overflow checks and debug assertions,
# for the tests; `quick` builds in half the time of `release`, whose speed the benchmarks show.
.venv/.extension-dev .venv/.extension-quick .venv/.extension-release: .venv/.extension-%: $(RUST_SOURCES) .venv/.group-build
	$(MATURIN) develop --quiet --profile $*
	rm -f .venv/.extension-*
	touch $@

# AMD's HIP runtime, for the tests that ask it why there is no device. Without it they skip, so this never fails.
build/amd/.ready: tests/fetch_amd_runtime.sh tests/unpack_packages.sh
	tests/fetch_amd_runtime.sh build/amd

# A gfortran, where the machine has none, for the examples of bindings. Without it they skip, so this never fails.
build/fortran/.ready: tests/fetch_gfortran.sh tests/unpack_packages.sh
	tests/fetch_gfortran.sh build/fortran

# torch for the CPU, for the tests of what it and PyGPU share without a GPU. Without it they skip, so this never fails.
build/torch/.ready: tests/fetch_torch.sh tests/unpack_packages.sh .venv/.created
	tests/fetch_torch.sh build/torch $(BIN)/python

# The wheel unpacked, as compiled for development or for release; its other files are the same.
build/dev-package/.made build/release-package/.made: build/%-package/.made: $(RUST_SOURCES) $(PACKAGE_FILES) .venv/.group-build
	rm -rf build/$*-wheel build/$*-package
	$(MATURIN) build --quiet $(filter --release,--$*) --locked --out build/$*-wheel $(if $(filter release,$*),-- $(SMALL))
	$(BIN)/python -m pip install --quiet --no-deps --no-index --target build/$*-package build/$*-wheel/*.whl
	touch $@

# An unoptimised build takes less than half as long and is quick enough for a hundred crates.
.tools/.cargo-deny-$(CARGO_DENY_VERSION):
	mkdir -p .tools
	cargo deny --version 2> /dev/null | grep -qx 'cargo-deny $(CARGO_DENY_VERSION)' \
	    || cargo install cargo-deny --quiet --locked --debug --version $(CARGO_DENY_VERSION) --root .tools
	touch $@

.tools/.cargo-fuzz-$(CARGO_FUZZ_VERSION):
	mkdir -p .tools
	cargo fuzz --version 2> /dev/null | grep -qx 'cargo-fuzz $(CARGO_FUZZ_VERSION)' \
	    || cargo install cargo-fuzz --quiet --locked --debug --version $(CARGO_FUZZ_VERSION) --root .tools
	touch $@
