"""What PyCUDA's `SourceModule` is told about compiling, in the words that PyGPU's compilers take."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PyGPU import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_NVCC_FLAGS: list[str] = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()
"""Options for whoever gives none; from the variable ``PYCUDA_DEFAULT_NVCC_FLAGS`` at first."""

INCLUDE_FOLDER = Path(__file__).parent / "include"
# Headers of the host that programs include for what a device has anyway (printf, sqrtf, size_t): empty ones do there.
HOST_HEADERS = INCLUDE_FOLDER / "host_headers"
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.MULTILINE)


@dataclass(frozen=True)
class Request:
    """What is compiled, and how."""

    source: str
    options: list[str]
    compiler: str | None
    extern_c: bool
    cache: bool
    folder: str | None

    def load(self) -> _core.Module:
        """Compile and load it on the current device."""
        return _core.load_module(self.source, self.options, self.compiler, self.extern_c, self.cache, self.folder)


def request(
    source: str,
    nvcc: str,
    options: Sequence[str] | None,
    no_extern_c: bool,
    arch: str | None,
    code: str | None,
    cache_dir: str | os.PathLike[str] | bool | None,
    include_dirs: Sequence[str] | None,
) -> Request:
    """Return what PyCUDA's arguments mean."""
    words = list(DEFAULT_NVCC_FLAGS if options is None else options)
    if arch is not None:
        words.append(f"-arch={arch}")
    if code is not None:
        words.append(f"-code={code}")
    words.extend(f"-I{folder}" for folder in (*(include_dirs or ()), INCLUDE_FOLDER))
    is_cuda = _core.backend_name() == "cuda"
    if not is_cuda:
        words = without_resource_usage(words)
    compiler = nvcc if nvcc != "nvcc" and is_cuda else None
    if compiler is None and is_cuda and includes_host_headers(source) and not has_nvcc():
        words.append(f"-I{HOST_HEADERS}")
    return Request(source, words, compiler, not no_extern_c, *cache_of(cache_dir))


def without_resource_usage(words: list[str]) -> list[str]:
    """Return the options without the wish to be told what kernels take, which only NVIDIA's compilers fulfil."""
    text = "\0".join(words)
    for wish in ("-Xptxas\0-v", "-Xptxas=-v", "--ptxas-options\0-v", "--ptxas-options=-v"):
        text = f"\0{text}\0".replace(f"\0{wish}\0", "\0").strip("\0")
    return text.split("\0") if text else []


def includes_host_headers(source: str) -> bool:
    """Return whether a source includes headers of the host, and only such as an empty one can stand for."""
    return any((HOST_HEADERS / name).is_file() for name in INCLUDE.findall(source))


def has_nvcc() -> bool:
    """Return whether the program nvcc is where PyGPU looks for it."""
    folders = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    return any(shutil.which(str(place)) for place in ("nvcc", *(Path(one, "bin", "nvcc") for one in folders if one)))


def cache_of(cache_dir: str | os.PathLike[str] | bool | None) -> tuple[bool, str | None]:
    """Return whether images are kept, and in which folder if not in the user's."""
    if cache_dir is False or (cache_dir is None and "PYCUDA_DISABLE_CACHE" in os.environ):
        return False, None
    if cache_dir is None or cache_dir is True:
        return True, os.environ.get("PYCUDA_CACHE_DIR") or None
    return True, os.fspath(cache_dir)


def virtual_architecture() -> str | None:
    """Return what PTX for the current device is made for; None where there is none."""
    if _core.backend_name() != "cuda":
        return None
    architecture: str = _core.device_properties(_core.current_device())["architecture"]
    return architecture.replace("sm_", "compute_").rstrip("abcdefghijklmnopqrstuvwxyz")
