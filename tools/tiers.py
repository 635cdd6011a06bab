"""Define the tiers of public names.

A tier states how stable a name is promised to be (docs/policies.md). The group in a name's declaration determines the
tier of the name. `EXCEPTIONS` lists the names with another tier. Modules have no declaration, so `MODULES` lists them.
A name in ``PyGPU.backend`` without a declaration belongs to PybindGPU's interface.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

STABLE, COMPATIBILITY, EXPERIMENTAL = "stable", "compatibility", "experimental"

GROUPS = {
    "Making arrays": STABLE,
    "Files": STABLE,
    "Functions of each element": STABLE,
    "Reductions": STABLE,
    "Order": STABLE,
    "Sets": STABLE,
    "Other shapes": STABLE,
    "Joining and splitting": STABLE,
    "Moving and repeating elements": STABLE,
    "Slopes, areas, filters, polynomials": STABLE,
    "Functions applied to parts of an array": STABLE,
    "Matrices and grids": STABLE,
    "Types and constants": STABLE,
    "Comparing arrays": STABLE,
    "Products": STABLE,
    "Scans": STABLE,
    "Selection": STABLE,
    "Views": STABLE,
    "Pinned host memory": STABLE,
    "Devices": STABLE,
    "Streams and events": STABLE,
    "Kernels": STABLE,
    "Memory": STABLE,
    "When it is computed": STABLE,
    "What was found": STABLE,
    "Exceptions": STABLE,
    "Bindings": STABLE,
    "Modules": COMPATIBILITY,
    "NumPy's own": STABLE,
    "PybindGPU's classes and constants": COMPATIBILITY,
}
"""The groups of the reference, in the order of the page, and the tiers of their names."""

EXCEPTIONS = {
    # A shared handle is a pickle of internals, which differ between versions, and sharing was never tested on an AMD
    # GPU.
    "SharedHandle": EXPERIMENTAL,
    "open_shared": EXPERIMENTAL,
    # Conditional nodes exist only for CUDA 12.4 and newer, and on the CPU.
    "GraphBody": EXPERIMENTAL,
    "GraphCondition": EXPERIMENTAL,
    # Tensor maps exist only for compute capability 9.0 and newer.
    "TensorMap": EXPERIMENTAL,
    # The report describes how PyGPU defers operations; the rules of deferral may change.
    "fusion_report": EXPERIMENTAL,
}
"""Declared names whose tier differs from that of their group, each with the reason."""

MODULES = {
    "allocators": COMPATIBILITY,
    "autoinit": COMPATIBILITY,
    "autoprimaryctx": COMPATIBILITY,
    "backend": COMPATIBILITY,
    "characterize": COMPATIBILITY,
    "compiler": COMPATIBILITY,
    "cumath": COMPATIBILITY,
    "cupy": COMPATIBILITY,
    "cupyx": COMPATIBILITY,
    "curandom": COMPATIBILITY,
    # Dask itself calls its array backends experimental.
    "dask": EXPERIMENTAL,
    "debug": COMPATIBILITY,
    "device_array": COMPATIBILITY,
    "driver": COMPATIBILITY,
    "elementwise": COMPATIBILITY,
    "emath": STABLE,
    "fft": STABLE,
    "gpuarray": COMPATIBILITY,
    "lib": STABLE,
    "linalg": STABLE,
    "nvml": COMPATIBILITY,
    "profile": EXPERIMENTAL,
    "random": STABLE,
    "reduction": COMPATIBILITY,
    "runtime": COMPATIBILITY,
    "scan": COMPATIBILITY,
    "special": STABLE,
    "testing": STABLE,
    "tools": COMPATIBILITY,
    "typing": STABLE,
}
"""The tiers of the public modules; the names in a module have the tier of the module."""


def tiers(names: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the tier of each declared name and of each module; the argument contains names with their groups."""
    return {**{name: EXCEPTIONS.get(name, GROUPS[group]) for name, group in names}, **MODULES}


def errors(names: Iterable[str], modules: Iterable[str]) -> Iterator[str]:
    """Return an error message for each entry of a table without a name, and for each module without a tier."""
    declared, public = set(names), set(modules)
    yield from (
        f"tools/tiers.py: EXCEPTIONS: no declared name {name!r}" for name in sorted(EXCEPTIONS.keys() - declared)
    )
    yield from (f"tools/tiers.py: MODULES: no module {name!r}" for name in sorted(MODULES.keys() - public))
    yield from (f"tools/tiers.py: MODULES: {name} has no tier" for name in sorted(public - MODULES.keys()))
