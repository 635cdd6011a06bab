"""Disassemble compiled modules with the tools of the device's vendor."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shutil import which

from PyGPU import _core
from PyGPU._paths import library_files

__all__ = ["assembly", "ptx_of", "sass"]

_WHEELS = ("nvidia/cu13/bin", "nvidia/cuda_nvcc/bin", "nvidia/cuda_nvdisasm/bin", "nvidia/cuda_cuobjdump/bin")
_TRITON = "triton/backends/nvidia/bin"
_FATBIN = struct.pack("<I", 0xBA55ED50)
_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"


def sass(backend: str, image: bytes) -> str:
    """Return the SASS of a CUDA image.

    Parameters
    ----------
    backend : str
        Backend of the image.
    image : bytes
        A cubin, a fatbin, or a library built by nvcc.

    Returns
    -------
    str

    Raises
    ------
    NotSupportedError
        For backends other than CUDA; and for PTX, because it contains no SASS until the driver compiles it at loading.
    BackendUnavailableError
        If neither nvdisasm nor cuobjdump is found; the message lists the searched locations.
    """
    if backend != "cuda":
        raise _core.NotSupportedError(
            f"SASS is the machine code of NVIDIA's GPUs, and the {backend} backend has another: see module.assembly"
        )
    is_cubin = image.startswith(b"\x7fELF") and b".nv_fatbin\0" not in image
    if not is_cubin and not image.startswith((_FATBIN, b"\x7fELF")):
        raise _core.NotSupportedError(
            "the module was loaded as PTX, which the driver translates for itself: compile for the device's own "
            "architecture (-arch=sm_90), or see module.ptx"
        )
    tools = {"cuobjdump": ["-sass"]}
    if is_cubin:  # the tool nvdisasm reads only cubins
        tools = {"nvdisasm": ["-c"], **tools}
    return _run_first(
        tools, image, "so" if b".nv_fatbin\0" in image else "cubin" if is_cubin else "fatbin", _cuda_candidates
    )


def ptx_of(image: bytes) -> str:
    """Return the PTX that a fatbin or a library contains, extracted by cuobjdump."""
    return _run_first({"cuobjdump": ["-ptx"]}, image, "fatbin" if image.startswith(_FATBIN) else "so", _cuda_candidates)


def assembly(backend: str, image: bytes) -> str:
    """Return the disassembly of an image: SASS, AMD's instructions, or the host's instructions.

    Parameters
    ----------
    backend : str
        Backend of the image.
    image : bytes
        The loaded image.

    Returns
    -------
    str

    Raises
    ------
    BackendUnavailableError
        If no disassembler is found; the message lists the searched locations.
    """
    if backend == "cuda":
        return sass(backend, image)
    if backend == "hip":
        return _run_first({"llvm-objdump": ["-d"]}, _unbundled(image), "hsaco", _rocm_candidates)
    arguments = ["-d", "-C", "--no-show-raw-insn"]
    return _run_first({"objdump": arguments, "llvm-objdump": arguments}, image, "so", lambda name: iter(()))


def _cuda_candidates(name: str) -> Iterator[Path]:
    utility = library_files._pathfinder_path("find_nvidia_binary_utility", name)
    if utility:
        yield Path(utility)
    toolkits = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    yield from (Path(toolkit, "bin", name) for toolkit in toolkits if toolkit)
    nvcc = which("nvcc")
    if nvcc:
        yield Path(nvcc).resolve().parent / name
    yield Path("/usr/local/cuda/bin", name)
    yield from (Path(root, folder, name) for root in sys.path if root for folder in (*_WHEELS, _TRITON))
    conda = os.environ.get("CONDA_PREFIX")
    if conda:
        yield Path(conda, "bin", name)


def _rocm_candidates(name: str) -> Iterator[Path]:
    toolkits = [os.environ.get(name) for name in ("ROCM_PATH", "HIP_PATH")]
    yield from (Path(toolkit, folder, name) for toolkit in toolkits if toolkit for folder in ("llvm/bin", "bin"))
    yield Path("/opt/rocm/llvm/bin", name)


def _run_first(tools: dict[str, list[str]], image: bytes, suffix: str, candidates: object) -> str:
    """Write the image to a temporary file, run the first available tool on it, and return the output."""
    failures = []
    for name, options in tools.items():
        on_path = which(name)
        for path in [Path(on_path)] if on_path else candidates(name):  # type: ignore[operator]
            if path.is_file():
                return _run(path, options, image, suffix)
            failures.append(f"\n  {path}: no such file")
        if not on_path:
            failures.append(f"\n  {name}: not on PATH")
    raise _core.BackendUnavailableError(
        f"nothing that disassembles was found: {' or '.join(tools)} is needed ({_installation_hint(tools)}); "
        f"searched:{''.join(failures)}"
    )


def _installation_hint(tools: dict[str, list[str]]) -> str:
    if "cuobjdump" in tools:
        return "part of the CUDA toolkit; set CUDA_HOME to one"
    return "part of binutils and of LLVM" if "objdump" in tools else "part of ROCm; set ROCM_PATH"


def _run(tool: Path, options: list[str], image: bytes, suffix: str) -> str:
    with tempfile.TemporaryDirectory(prefix="pygpu-") as folder:
        file = Path(folder, f"module.{suffix}")
        file.write_bytes(image)
        process = subprocess.run([tool, *options, file], capture_output=True, text=True, errors="replace", check=False)
    if process.returncode != 0:
        raise RuntimeError(f"{tool} {' '.join(options)} ended with {process.returncode}: {process.stderr.strip()}")
    return process.stdout.replace(str(file), "module")


def _unbundled(image: bytes) -> bytes:
    """Return the first code object in a bundle of AMD's compiler."""
    if not image.startswith(_BUNDLE):
        return image
    offset = len(_BUNDLE) + 8
    for _ in range(int.from_bytes(image[offset - 8 : offset], "little")):
        start, length, name_length = struct.unpack_from("<QQQ", image, offset)
        if length and b"host" not in image[offset + 24 : offset + 24 + name_length]:
            return image[start : start + length]
        offset += 24 + name_length
    return image
