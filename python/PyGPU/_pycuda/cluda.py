"""Macros with which one kernel source serves CUDA and OpenCL."""

from __future__ import annotations

_WORDS = {
    "local_barrier()": "__syncthreads();",
    "WITHIN_KERNEL": "__device__",
    "KERNEL": 'extern "C" __global__',
    "GLOBAL_MEM": "",
    "LOCAL_MEM": "__shared__",
    "LOCAL_MEM_ARG": "",
    "REQD_WG_SIZE(X,Y,Z)": "__launch_bounds__(X*Y*Z, 1)",
}

_PLACES = {"LID": "threadIdx", "GID": "blockIdx", "LDIM": "blockDim", "GDIM": "gridDim"}

CLUDA_PREAMBLE = "".join(
    [
        *(f"#define {word} {meaning}\n" for word, meaning in _WORDS.items()),
        *(
            f"#define {word}_{number} {place}.{axis}\n"
            for word, place in _PLACES.items()
            for number, axis in enumerate("xyz")
        ),
    ]
)
"""Goes before a source in those words."""
