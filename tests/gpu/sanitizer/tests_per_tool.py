"""Select the tests of each tool of compute-sanitizer, with the tool's options and the environment of the tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

# Test files and folders that do not run under memcheck, each with the reason.
LEFT_OUT = {
    "tests/bindings": "compiles programs, which run in their own processes",
    "tests/commands": "runs commands in their own processes",
    "tests/frameworks": "needs other libraries",
    "tests/gpu/compilers": "compares programs of compilers, which run in their own processes",
    "tests/gpu/interop": "needs other libraries; test_ctypes_nvcc.py, which needs none, is run",
    "tests/gpu/large_arrays": "fills the device",
    "tests/gpu/runner": "uses no device",
    "tests/gpu/sanitizer": "uses no device",
    "tests/gpu/test_exit.py": "runs programs in their own processes",
    "tests/gpu/test_fork.py": "forks, and the tool follows one process",
    "tests/gpu/test_ipc.py": "runs programs in their own processes",
    "tests/gpu/test_two_devices.py": "needs two devices",
    "tests/hazard_model": "uses no device",
    "tests/interop_regressions/test_devices_and_errors.py": "runs programs in their own processes",
    "tests/interop_regressions/test_teardown.py": "runs programs in their own processes",
    "tests/packaging": "uses no device",
    "tests/repository": "uses no device",
    "tests/typing": "uses no device",
}
TAKEN_ANYWAY = ("tests/gpu/interop/test_ctypes_nvcc.py",)

# Files in which each failed call of the driver is also a finding. Many tests in other files make calls fail on purpose.
NO_FAILED_CALL = (
    "tests/gpu/interop/test_ctypes_nvcc.py",
    "tests/gpu/test_memory.py",
    "tests/gpu/test_streams.py",
    "tests/gpu/test_strided_copies.py",
)
# To count a kernel's parameters, PyGPU queries the parameters one after another until this driver call fails.
EXPECTED_CALLS = ("cuFuncGetParamInfo",)

# Tests of kernels that exchange values through shared memory.
SHARED = (
    "tests/arithmetic/test_transposed.py",
    "tests/array/test_strided_kernels.py",
    "tests/cupy/test_cupy_kernels_reduction.py",
    "tests/functions/test_joining.py",
    "tests/functions/test_statistics.py",
    "tests/fusion/disturbances/test_callbacks.py",
    "tests/fusion/test_alignment.py",
    "tests/fusion/test_bit_equality.py",
    "tests/fusion/test_grouping.py",
    "tests/fusion/test_random_programs.py",
    "tests/gpu/products/test_matmul.py",
    "tests/gpu/test_kernels.py",
    "tests/gpu/test_strided_copies.py",
    "tests/kernels/test_reduction.py",
    "tests/kernels/test_scan.py",
    "tests/products/test_matmul.py",
    "tests/products/test_sums_of_products.py",
    "tests/pycuda/test_pycuda_reductions.py",
    "tests/random/test_discrete.py",
    "tests/random/test_reproducibility.py",
    "tests/reductions/test_complex_order.py",
    "tests/reductions/test_decoupled_lookback.py",
    "tests/reductions/test_mean_argument.py",
    "tests/reductions/test_nan_reductions.py",
    "tests/reductions/test_reduceat.py",
    "tests/reductions/test_reductions.py",
    "tests/reductions/test_scans.py",
    "tests/selection/test_indices.py",
    "tests/selection/test_masks.py",
    "tests/selection/test_ufunc_at.py",
    "tests/sorting/test_histograms.py",
    "tests/sorting/test_joint_histograms.py",
    "tests/sorting/test_quantiles.py",
    "tests/sorting/test_searching.py",
    "tests/sorting/test_sets.py",
    "tests/sorting/test_sort.py",
)
# Tests of kernels that do not exchange values through shared memory.
OTHER_KERNELS = (
    "tests/arithmetic/test_casts.py",
    "tests/arithmetic/test_complex_edges.py",
    "tests/arithmetic/test_functions.py",
    "tests/arithmetic/test_logarithms.py",
    "tests/arithmetic/test_row_operands.py",
    "tests/arithmetic/test_unaligned_small_elements.py",
    "tests/arithmetic/test_unaligned_fields.py",
    "tests/array/test_assignment.py",
    "tests/array/test_copying.py",
    "tests/array/test_fills.py",
    "tests/array/test_gather.py",
    "tests/array/test_loop_nests.py",
    "tests/cupy/test_cupy_kernels_elementwise.py",
    "tests/functions/test_convolution.py",
    "tests/functions/test_grids.py",
    "tests/functions/test_padding.py",
    "tests/fusion/test_in_place_writes.py",
    "tests/fusion/test_materialization.py",
    "tests/kernels/test_elementwise.py",
    "tests/kernels/test_stencil_views.py",
    "tests/random/test_continuous.py",
    "tests/random/test_distributions.py",
    "tests/random/test_parameters.py",
    "tests/special/test_special_calls.py",
    "tests/special/test_special_values.py",
    "tests/views/test_complex_parts.py",
)

# Markers of tests that run under no tool: tests that start processes, tests of deliberate misuse, and the cases that
# `make test` omits.
NEVER = "starts_processes or provokes_findings or matrix"
# The file whose tests fill the device or measure its free memory. It runs first and alone. Tests in other files that
# fill the device are omitted, because they take too long under a tool.
WHOLE_DEVICE = "tests/gpu/test_memory.py"

# Without the cache of freed blocks, each array is a separate block of the driver with exactly the array's size. The
# cache hides defects: it rounds sizes up, so an access past the end of an array stays in its block; and it reuses freed
# blocks, which the tool therefore counts as alive and initialized.
EXACT_BLOCKS = {"PYGPU_RECYCLE": "0"}
# Matrix products are computed by PyGPU's kernels, because the tools do not check the kernels of cuBLAS.
OWN_KERNELS = {"PYGPU_BLAS": "own"}
DEFERRED = {"PYGPU_FUSION": "auto"}


@dataclass(frozen=True)
class Tool:
    """Hold the tests, options and environment for one tool of compute-sanitizer."""

    # Files and folders with tests. If empty, the tool runs all tests of the suite except those of `LEFT_OUT`.
    paths: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    # Further markers of tests that this tool does not run.
    never: tuple[str, ...] = ()


TOOLS = {
    # With `--track-stream-ordered-races`, the tool reports races of work on the legacy default stream and on blocking
    # streams, although these streams wait for each other. `--ignore-getprocaddress-notfound` permits queries for
    # functions that an older driver lacks.
    "memcheck": Tool((), ("--track-stream-ordered-races", "no", "--ignore-getprocaddress-notfound"), EXACT_BLOCKS),
    # This option limits the number of analysis threads, because by default the tool in each process uses all cores.
    "racecheck": Tool(SHARED, ("--racecheck-num-workers", "1"), OWN_KERNELS, ("long_under_racecheck",)),
    "initcheck": Tool(SHARED + OTHER_KERNELS, (), EXACT_BLOCKS | OWN_KERNELS),
    "synccheck": Tool(SHARED, (), OWN_KERNELS),
}


def is_strict(files: Sequence[str]) -> bool:
    """Return whether memcheck reports each failed driver call in these files."""
    return set(files) <= set(NO_FAILED_CALL)


def is_below(file: str, path: str) -> bool:
    """Return whether a file is equal to a path or is in the folder of this path."""
    return file == path or file.startswith(path + "/")


def of_suite(files: Sequence[str]) -> list[str]:
    """Return the test files of the suite that run under memcheck."""
    return [file for file in files if file in TAKEN_ANYWAY or not any(is_below(file, path) for path in LEFT_OUT)]
