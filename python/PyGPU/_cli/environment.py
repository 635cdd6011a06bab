"""List the environment variables of PyGPU, so that a misspelt variable is reported instead of ignored."""

import difflib
from collections.abc import Iterator, Mapping

KNOWN = frozenset(
    f"PYGPU_{name}"
    for name in (
        "BACKEND", "BLAS", "CACHE", "CACHE_DIR", "CACHE_SIZE", "CPU_BREAK", "CPU_DEVICES", "CPU_OPTIONS", "CPU_ORDER",
        "CUBLAS", "CUDA_ARRAY_INTERFACE_SYNC", "CUFFT", "CURAND", "CUSOLVER", "CXX", "DEVICE", "FUSION",
        "FUSION_COMPILE", "NVRTC", "PINNED_LIMIT", "PROFILE", "RECYCLE", "STAGING_CHUNK", "STAGING_THREADS",
        "STAGING_THRESHOLD", "STRICT", "STRIDED_COPY", "TF32",
    )
)  # fmt: skip
"""Names of the environment variables that docs/environment.md lists."""


def environment_lines(environment: Mapping[str, str]) -> Iterator[str]:
    """Format a line for each environment variable that is set and that `show` prints in no other line."""
    for name, value in sorted(environment.items()):
        if name in KNOWN and name != "PYGPU_BACKEND":
            yield f"{name}: {value}"
        elif name.startswith("PYGPU_") and name not in KNOWN:
            close_matches = difflib.get_close_matches(name, KNOWN, 1)
            yield f"{name}: no variable of PyGPU{f'; {close_matches[0]} is one' if close_matches else ''}"
