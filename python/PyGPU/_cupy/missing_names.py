"""List of CuPy's names that `PyGPU.cupy` and `PyGPU.cupyx` lack, with a replacement for each name."""

from __future__ import annotations

__all__ = ["MISSING", "missing_module", "missing_text"]

_HAND_OVER = (
    "share the arrays with CuPy or torch, or pass `a.get()` to SciPy (page: Sparse matrices, images and signals)"
)

MISSING: dict[str, tuple[str, ...]] = {
    "read files with NumPy, and upload the values by `cupy.asarray`": ("cupy.DataSource", "cupy.format_parser"),
    "use `cupy.linalg`, `cupy.matmul` and `cupy.dot`, which call cuBLAS or hipBLAS": (
        "cupy.cublas", "cupy.cuda.cublas",
    ),
    "NumPy 2 removed the function, and no device has a list of its arrays": ("cupy.who",),
    "write the kernel in CUDA C++ with `cupy.RawKernel`, or in Python with Numba (page: Numba)": ("cupyx.jit",),
    "use `PyGPU.linalg`, `PyGPU.matmul` and `PyGPU.einsum`": (
        "cupyx.cusolver", "cupyx.lapack", "cupyx.cutensor", "cupy.cuda.cusolver", "cupy.cuda.cutensor",
    ),
    "use `cupy.linalg.inv`": ("cupyx.linalg",),
    "kernels are not tuned at run time; give `block_size` to the kernel": ("cupyx.optimizing",),
    "use `cupy.random`, or `PyGPU.curandom`, which calls cuRAND": ("cupy.cuda.curand",),
    "use `cupy.sort`, `cupy.argsort` and `PyGPU.scan`": ("cupy.cuda.thrust",),
    "PyGPU selects the algorithm of each call": ("cupy.cuda.cub",),
    "`cupy.RawModule` compiles templates and the C++ standard library without it": ("cupy.cuda.jitify",),
    "use nccl4py, torch or mpi4py (page: Collectives)": ("cupyx.distributed", "cupy.cuda.nccl"),
    "install NVIDIA's libraries by pip, with PyGPU's extra `cuda12-math` or `cuda13-math`": ("cupyx.tools",),
    "write the loop as a `cupy.ElementwiseKernel` with `raw` arguments": ("cupyx.GeneralizedUFunc",),
    f"sparse matrices are not PyGPU's: {_HAND_OVER}": (
        "cupyx.scipy.sparse", "cupyx.cusparse", "cupy.cuda.cusparse",
    ),
    f"PyGPU has no image filters: {_HAND_OVER}": (
        "cupyx.scipy.ndimage",
    ),
    f"signals are filtered by `PyGPU.convolve` and `correlate`; otherwise {_HAND_OVER}": (
        "cupyx.scipy.signal", "cupyx.signal",
    ),
    f"interpolation is `PyGPU.interp` and `polyfit`; otherwise {_HAND_OVER}": (
        "cupyx.scipy.interpolate",
    ),
    f"distances are sums over `a[:, None] - b`; otherwise {_HAND_OVER}": (
        "cupyx.scipy.spatial",
    ),
    f"entropies are sums of `PyGPU.special.entr` and `rel_entr`; otherwise {_HAND_OVER}": (
        "cupyx.scipy.stats",
    ),
    "use `cupyx.scipy.fft.fftn` and `rfftn`; for the other transforms, `scipy.fft` over `a.get()`": (
        "cupyx.scipy.fft.dct", "cupyx.scipy.fft.dctn", "cupyx.scipy.fft.dst", "cupyx.scipy.fft.dstn",
        "cupyx.scipy.fft.idct", "cupyx.scipy.fft.idctn", "cupyx.scipy.fft.idst", "cupyx.scipy.fft.idstn",
        "cupyx.scipy.fft.fht", "cupyx.scipy.fft.ifht",
    ),
    "use `cupy.linalg.solve`, or `scipy.linalg` over `a.get()`": (
        "cupyx.scipy.linalg.lu", "cupyx.scipy.linalg.lu_factor", "cupyx.scipy.linalg.lu_solve",
        "cupyx.scipy.linalg.solve_triangular",
    ),
    "build the matrix by `scipy.linalg` on the host, and upload it by `cupy.asarray`": (
        "cupyx.scipy.linalg.block_diag", "cupyx.scipy.linalg.circulant", "cupyx.scipy.linalg.companion",
        "cupyx.scipy.linalg.convolution_matrix", "cupyx.scipy.linalg.dft", "cupyx.scipy.linalg.fiedler",
        "cupyx.scipy.linalg.fiedler_companion", "cupyx.scipy.linalg.hadamard", "cupyx.scipy.linalg.hankel",
        "cupyx.scipy.linalg.helmert", "cupyx.scipy.linalg.hilbert", "cupyx.scipy.linalg.khatri_rao",
        "cupyx.scipy.linalg.leslie", "cupyx.scipy.linalg.toeplitz",
    ),
    "use `cupy.linalg.eigh` for symmetric matrices, or `scipy.linalg` over `a.get()`": (
        "cupyx.scipy.linalg.expm", "cupyx.scipy.linalg.bandwidth",
    ),
    "create the objects of `cupy.cuda.texture`, which copy and destroy themselves": (
        "cupy.cuda.runtime.createSurfaceObject", "cupy.cuda.runtime.createTextureObject",
        "cupy.cuda.runtime.destroySurfaceObject", "cupy.cuda.runtime.destroyTextureObject",
        "cupy.cuda.runtime.freeArray", "cupy.cuda.runtime.malloc3DArray", "cupy.cuda.runtime.mallocArray",
        "cupy.cuda.runtime.memcpy2DFromArray", "cupy.cuda.runtime.memcpy2DFromArrayAsync",
        "cupy.cuda.runtime.memcpy2DToArray", "cupy.cuda.runtime.memcpy2DToArrayAsync", "cupy.cuda.runtime.memcpy3D",
        "cupy.cuda.runtime.memcpy3DAsync",
    ),
    "create a `cupy.cuda.MemoryPool`, and pass its `malloc` to `cupy.cuda.set_allocator`": (
        "cupy.cuda.runtime.MemPoolProps", "cupy.cuda.runtime.deviceSetMemPool",
        "cupy.cuda.runtime.mallocFromPoolAsync", "cupy.cuda.runtime.memPoolCreate", "cupy.cuda.runtime.memPoolDestroy",
    ),
    "CUDA 12 removed texture references: pass a `cupy.cuda.texture.TextureObject` to the kernel": (
        "cupy.cuda.texture.TextureReference",
    ),
    "`PyGPU.Graph.nodes` lists the nodes of a graph": ("cupy.cuda.runtime.graphDebugDotPrint",),
    "access between devices stays enabled until the end of the process": ("cupy.cuda.runtime.deviceDisablePeerAccess",),
    "PyGPU shares no handles of libraries: `cupy.linalg`, `cupy.matmul` and the operator @ call them": (
        "cupy.cuda.device.get_cublas_handle", "cupy.cuda.device.get_cusolver_handle",
        "cupy.cuda.device.get_cusparse_handle", "cupy.cuda.get_cublas_handle",
    ),
    "IPython's magic is not there: call `cupyx.profiler.benchmark`": ("cupyx.profiler.load_ipython_extension",),
}  # fmt: skip
"""CuPy's names with their modules, grouped by the text that describes the replacement."""


def missing_text(package: str, name: str) -> str | None:
    """Return the text that recommends a replacement for a missing name of CuPy; None for any other name."""
    full = f"{package.removeprefix('PyGPU.')}.{name}"
    return next((text.replace("`", "") for text, names in MISSING.items() if full in names), None)


def missing_module(name: str) -> str | None:
    """Return the text that recommends a replacement for a missing module of CuPy; None for any other module."""
    parts = name.split(".")
    prefixes = (".".join(parts[: end + 1]) for end in range(1, len(parts)))
    return next((text for prefix in prefixes if (text := missing_text(*prefix.rsplit(".", 1)))), None)
