# Targets for a machine with a GPU, without a Rust compiler: they use the wheel in dist/, and the pytest and the peer libraries
# of PYTHON. GPU_TEST_ARGS are files, folders and options of tests/gpu/runner/run_tests.py; GPU_TEST_ARGS=tests/gpu selects the
# tests that need a device. With TEST_ALL=1 in the environment, two files that compile thousands of kernels test every
# combination; GPU_TEST_ARGS="--total 1200" gives them the time. SANITIZE_ARGS are those of tests/gpu/sanitize.py.

GPU_PYTHONPATH = PYTHONPATH=$(CURDIR)/build/gpu-package$${PYTHONPATH:+:$$PYTHONPATH}
ON_CUDA = $(GPU_PYTHONPATH) PYGPU_BACKEND=cuda
ON_HIP = $(GPU_PYTHONPATH) PYTHON="$(PYTHON)" bash tests/gpu/hip_on_cuda/environment.sh
SANITIZER_TOOLS ?= memcheck racecheck initcheck synccheck

.PHONY: gpu-test gpu-test-cuda gpu-test-hip gpu-large gpu-sanitize gpu-bench gpu-bench-kernels gpu-bench-peer .gpu-package

# Runs all tests on a backend, in parallel by files. Arguments: environment of the tests, name of the report.
gpu_tests = $(1) $(PYTHON) tests/gpu/runner/run_tests.py --json $(RESULTS)/$(2).json $(GPU_TEST_ARGS) -- $(PYTEST_ARGS)
gpu-test: ## Run all tests on CUDA, then on HIP over CUDA, with the wheel in dist/ (PYTHON=... has pytest)
	$(MAKE) --keep-going gpu-test-cuda gpu-test-hip
gpu-test-cuda: .gpu-package ## Run all tests and tests/gpu on CUDA, report in RESULTS
	$(call gpu_tests,$(ON_CUDA),gpu-tests)
gpu-test-hip: .gpu-package ## The same on the HIP backend, whose calls a test library hands on to CUDA
	$(call gpu_tests,$(ON_HIP),gpu-tests-hip)

gpu-large: .gpu-package ## Check each kind of operation on arrays of more than 2^31 elements, report in RESULTS (LARGE_ARGS)
	mkdir -p $(RESULTS) && $(ON_CUDA) $(PYTHON) tests/gpu/large_arrays/run_large.py --json $(RESULTS)/large.json $(LARGE_ARGS)

gpu-sanitize: .gpu-package ## Run tests under each of compute-sanitizer's SANITIZER_TOOLS, ten minutes each, reports in RESULTS
	@failed=; for tool in $(SANITIZER_TOOLS); do $(ON_CUDA) $(PYTHON) tests/gpu/sanitize.py --tool $$tool \
	    --json $(RESULTS)/sanitizer-$$tool.json $(SANITIZE_ARGS) || failed="$$failed $$tool"; done; \
	[ -z "$$failed" ] || { echo "findings, or files that were not finished:$$failed"; exit 1; }

gpu-bench: .gpu-package ## Time the wheel in dist/ beside the peers that PYTHON has, into RESULTS (BENCH_ARGS=--quick)
	$(call benches,$(ON_CUDA) $(PYTHON),import_time)
	$(call benches,$(ON_CUDA) $(PYTHON),compare,$(BENCH_ARGS))
gpu-bench-kernels: .gpu-package ## Time launches, kernels and copies within the device, into RESULTS
	$(call benches,$(ON_CUDA) $(PYTHON),launches kernels strided)
gpu-bench-peer: .gpu-package ## Time what crosses between two GPUs, into RESULTS
	$(call benches,$(ON_CUDA) $(PYTHON),peer_transfers)

.gpu-package:
	@ls dist/*.whl > /dev/null 2>&1 || { echo "no wheel in dist/: run 'make wheel' where there is Rust"; exit 1; }
	rm -rf build/gpu-package
	$(PYTHON) -m pip install --quiet --no-deps --no-index --target build/gpu-package dist/*.whl
