"""Find misspelt names among the environment variables that begin with ``PYGPU_``."""

import difflib
from collections.abc import Iterator, Mapping

KNOWN = frozenset(
    f"PYGPU_{name}"
    for name in (
        "BACKEND", "BLAS", "CACHE", "CACHE_DIR", "CACHE_SIZE", "CHECK_STREAMS", "CPU_BREAK", "CPU_DEVICES",
        "CPU_OPTIONS", "CPU_ORDER",
        "CUBLAS", "CUDA_ARRAY_INTERFACE_SYNC", "CUFFT", "CURAND", "CUSOLVER", "CXX", "DEVICE", "FUSION",
        "FUSION_COMPILE", "NVRTC", "PINNED_LIMIT", "PROFILE", "RECYCLE", "STAGING_CHUNK", "STAGING_THREADS",
        "STAGING_THRESHOLD", "STRICT", "STRIDED_COPY", "TF32",
    )
)  # fmt: skip
"""Names of the environment variables that docs/environment.md lists."""


def environment_lines(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each environment variable of PyGPU that is set, and a warning for each unknown name."""
    for name, value in sorted(environment.items()):
        if name in KNOWN and name != "PYGPU_BACKEND":
            yield f"{name}: {value}"
        elif name.startswith("PYGPU_") and name not in KNOWN:
            close_matches = difflib.get_close_matches(name, KNOWN, 1)
            yield f"{name}: no variable of PyGPU{f'; {close_matches[0]} is one' if close_matches else ''}"
