"""Build a C extension that acts as a badly behaved library: it calls PyGPU's callbacks without the GIL and after exit.

``library()`` builds the extension with the machine's C compiler, once for each source and interpreter, and imports it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from pathlib import Path
from types import ModuleType

SOURCE = Path(__file__).with_name("hostile.c")
# Only one thread at a time may run `library`: in Python 3.11, `sysconfig.get_config_var` returns None
# while another thread makes the first call of the function.
LOCK = threading.Lock()


def compiler() -> str | None:
    """Return the machine's C compiler, or None if the compiler or Python's headers are missing."""
    has_headers = Path(sysconfig.get_path("include"), "Python.h").exists()
    candidates = [os.environ.get("CC", ""), "cc", "gcc", "clang"]
    found = next((path for name in candidates if name and (path := shutil.which(shlex.split(name)[0]))), None)
    return found if has_headers else None


def build(folder: Path) -> Path:
    """Return the path of the C extension in a folder; build the extension if the folder does not contain it."""
    compile_with = compiler()
    assert compile_with, "there is no C compiler, or Python's headers are missing"
    key = hashlib.sha256(SOURCE.read_bytes() + sys.version.encode()).hexdigest()[:16]
    made = folder / key / f"hostile{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=made.parent) as temporary:
            unfinished = Path(temporary, made.name)
            include = sysconfig.get_path("include")
            options = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-fPIC", "-shared", f"-I{include}"]
            if sys.platform == "darwin":
                options += ["-undefined", "dynamic_lookup"]
            subprocess.run([compile_with, *options, str(SOURCE), "-o", str(unfinished), "-lpthread"], check=True)
            unfinished.replace(made)  # `replace` is atomic: other processes may build the file, too.
    return made


def folder() -> Path:
    """Return the cache folder, which belongs to this user.

    It is outside of the source tree, because the tree may be read-only.
    """
    return Path(tempfile.gettempdir(), f"pygpu-hostile-{os.getuid()}")


def library() -> ModuleType:
    """Import the extension as a module."""
    with LOCK:
        if "hostile" not in sys.modules:
            specification = importlib.util.spec_from_file_location("hostile", build(folder()))
            assert specification
            assert specification.loader
            module = importlib.util.module_from_spec(specification)
            specification.loader.exec_module(module)
            sys.modules["hostile"] = module
        return sys.modules["hostile"]
