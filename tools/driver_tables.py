"""Write the tables of driver constants from the Rust crates of CUDA and HIP bindings that cargo has fetched.


    cargo fetch
    python tools/driver_tables.py && ruff format python

The names are PyCUDA's. The numbers are those of CUDA 12.0, the oldest supported version, or of a newer release for
constants that 12.0 lacks. The bindings contain no texts of errors. Therefore the script keeps the texts in the existing
table, and requires that the text of a new error is written by hand. ``tests/packaging/test_driver_tables.py`` compares
the tables with the bindings.
"""

from __future__ import annotations

import os
import re
import runpy
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "PyGPU"
ERRORS = PACKAGE / "_pybindgpu" / "error_table.py"
ENUMS = PACKAGE / "_pycuda" / "driver" / "enums.py"
ATTRIBUTES = PACKAGE / "_pycuda" / "driver" / "device_attributes.py"
PREFERRED = "cuda-12000"

ENUM = re.compile(r"((?:#\[[^\n]*\]\n)*)pub enum (\w+) \{(.*?)\n\}", re.DOTALL)
ALIAS = re.compile(r"pub const (\w+): (\w+) = \w+::(\w+);")
CONSTANT = re.compile(r"pub const (\w+): \w+ = (\d+);")


@dataclass
class Enumeration:
    """Describe an enumeration of PyCUDA: the driver's enumeration, the prefix of its members, and the members used."""

    c_name: str
    prefix: str
    said: str
    names: str
    own: dict[str, int] = field(default_factory=dict)
    """Members of the enumeration that the current bindings lack, with their numbers."""


ENUMERATIONS = {
    "ctx_flags": Enumeration(
        "CUctx_flags_enum",
        "CU_CTX_",
        "Flags of a context: how the host waits, and which resources the context keeps.",
        """
        SCHED_AUTO SCHED_SPIN SCHED_YIELD BLOCKING_SYNC SCHED_BLOCKING_SYNC SCHED_MASK MAP_HOST
        LMEM_RESIZE_TO_MAX FLAGS_MASK
        """,
    ),
    "event_flags": Enumeration(
        "CUevent_flags_enum",
        "CU_EVENT_",
        "Flags of an event.",
        """
        DEFAULT BLOCKING_SYNC DISABLE_TIMING INTERPROCESS
        """,
    ),
    "array_format": Enumeration(
        "CUarray_format_enum",
        "CU_AD_FORMAT_",
        "Data types of the channels of a CUDA array.",
        """
        UNSIGNED_INT8 UNSIGNED_INT16 UNSIGNED_INT32 SIGNED_INT8 SIGNED_INT16 SIGNED_INT32 HALF FLOAT
        """,
    ),
    "address_mode": Enumeration(
        "CUaddress_mode_enum",
        "CU_TR_ADDRESS_MODE_",
        "Results of texture reads beyond the edges.",
        """
        WRAP CLAMP MIRROR BORDER
        """,
    ),
    "filter_mode": Enumeration(
        "CUfilter_mode_enum",
        "CU_TR_FILTER_MODE_",
        "Interpolation of texture reads between elements.",
        """
        POINT LINEAR
        """,
    ),
    "compute_mode": Enumeration(
        "CUcomputemode_enum",
        "CU_COMPUTEMODE_",
        "Restrictions on the contexts of a device.",
        """
        DEFAULT EXCLUSIVE PROHIBITED EXCLUSIVE_PROCESS
        """,
        own={"EXCLUSIVE": 1},
    ),
    "func_cache": Enumeration(
        "CUfunc_cache_enum",
        "CU_FUNC_CACHE_",
        "Preferred split of a multiprocessor's on-chip memory between L1 cache and shared memory.",
        """
        PREFER_NONE PREFER_SHARED PREFER_L1 PREFER_EQUAL
        """,
    ),
    "shared_config": Enumeration(
        "CUsharedconfig_enum",
        "CU_SHARED_MEM_CONFIG_",
        "Widths of the banks of shared memory.",
        """
        DEFAULT_BANK_SIZE FOUR_BYTE_BANK_SIZE EIGHT_BYTE_BANK_SIZE
        """,
    ),
    "function_attribute": Enumeration(
        "CUfunction_attribute_enum",
        "CU_FUNC_ATTRIBUTE_",
        "Attributes of a kernel, of which the driver allows some to be set.",
        """
        MAX_THREADS_PER_BLOCK SHARED_SIZE_BYTES CONST_SIZE_BYTES LOCAL_SIZE_BYTES NUM_REGS PTX_VERSION
        BINARY_VERSION CACHE_MODE_CA MAX_DYNAMIC_SHARED_SIZE_BYTES PREFERRED_SHARED_MEMORY_CARVEOUT MAX
        """,
    ),
    "jit_option": Enumeration(
        "CUjit_option_enum",
        "CU_JIT_",
        "Options of the driver's compiler and linker.",
        """
        MAX_REGISTERS THREADS_PER_BLOCK WALL_TIME INFO_LOG_BUFFER INFO_LOG_BUFFER_SIZE_BYTES
        ERROR_LOG_BUFFER ERROR_LOG_BUFFER_SIZE_BYTES OPTIMIZATION_LEVEL TARGET_FROM_CUCONTEXT TARGET
        FALLBACK_STRATEGY GENERATE_DEBUG_INFO LOG_VERBOSE GENERATE_LINE_INFO
        """,
    ),
    "jit_target": Enumeration(
        "CUjit_target_enum",
        "CU_TARGET_",
        "Architectures for which the driver compiles.",
        """
        COMPUTE_10 COMPUTE_11 COMPUTE_12 COMPUTE_13 COMPUTE_20 COMPUTE_21 COMPUTE_30 COMPUTE_32 COMPUTE_35
        COMPUTE_37 COMPUTE_50 COMPUTE_52 COMPUTE_53 COMPUTE_60 COMPUTE_61 COMPUTE_62 COMPUTE_70 COMPUTE_72
        COMPUTE_75 COMPUTE_80 COMPUTE_86 COMPUTE_90 COMPUTE_90A
        """,
        own={"COMPUTE_10": 10, "COMPUTE_11": 11, "COMPUTE_12": 12, "COMPUTE_13": 13},
    ),
    "jit_fallback": Enumeration(
        "CUjit_fallback_enum",
        "CU_",
        "Fallbacks of the driver for a module without an image for the device.",
        """
        PREFER_PTX PREFER_BINARY
        """,
    ),
    "jit_input_type": Enumeration(
        "CUjitInputType_enum",
        "CU_JIT_INPUT_",
        "Kinds of linker input.",
        """
        CUBIN PTX FATBINARY OBJECT LIBRARY
        """,
    ),
    "limit": Enumeration(
        "CUlimit_enum",
        "CU_LIMIT_",
        "Limits of a context, such as the stack size of a thread.",
        """
        STACK_SIZE PRINTF_FIFO_SIZE MALLOC_HEAP_SIZE DEV_RUNTIME_SYNC_DEPTH DEV_RUNTIME_PENDING_LAUNCH_COUNT
        """,
    ),
    "graphics_register_flags": Enumeration(
        "CUgraphicsRegisterFlags_enum",
        "CU_GRAPHICS_REGISTER_FLAGS_",
        "Access of kernels to a graphics resource.",
        """
        NONE READ_ONLY WRITE_DISCARD SURFACE_LDST TEXTURE_GATHER
        """,
    ),
    "array_cubemap_face": Enumeration(
        "CUarray_cubemap_face_enum",
        "CU_CUBEMAP_FACE_",
        "Faces of a cube map.",
        """
        POSITIVE_X NEGATIVE_X POSITIVE_Y NEGATIVE_Y POSITIVE_Z NEGATIVE_Z
        """,
    ),
    "profiler_output_mode": Enumeration(
        "",
        "",
        "Output formats of the built-in profiler of CUDA versions before 12.",
        """
        KEY_VALUE_PAIR CSV
        """,
        own={"KEY_VALUE_PAIR": 0, "CSV": 1},
    ),
    "device_attribute": Enumeration(
        "CUdevice_attribute_enum",
        "CU_DEVICE_ATTRIBUTE_",
        "Attributes of a device, for `Device.get_attribute`.",
        """
        MAX_THREADS_PER_BLOCK MAX_BLOCK_DIM_X MAX_BLOCK_DIM_Y MAX_BLOCK_DIM_Z MAX_GRID_DIM_X MAX_GRID_DIM_Y
        MAX_GRID_DIM_Z MAX_SHARED_MEMORY_PER_BLOCK SHARED_MEMORY_PER_BLOCK TOTAL_CONSTANT_MEMORY WARP_SIZE
        MAX_PITCH MAX_REGISTERS_PER_BLOCK REGISTERS_PER_BLOCK CLOCK_RATE TEXTURE_ALIGNMENT GPU_OVERLAP
        MULTIPROCESSOR_COUNT KERNEL_EXEC_TIMEOUT INTEGRATED CAN_MAP_HOST_MEMORY COMPUTE_MODE
        MAXIMUM_TEXTURE1D_WIDTH MAXIMUM_TEXTURE2D_WIDTH MAXIMUM_TEXTURE2D_HEIGHT MAXIMUM_TEXTURE3D_WIDTH
        MAXIMUM_TEXTURE3D_HEIGHT MAXIMUM_TEXTURE3D_DEPTH MAXIMUM_TEXTURE2D_LAYERED_WIDTH
        MAXIMUM_TEXTURE2D_LAYERED_HEIGHT MAXIMUM_TEXTURE2D_LAYERED_LAYERS MAXIMUM_TEXTURE2D_ARRAY_WIDTH
        MAXIMUM_TEXTURE2D_ARRAY_HEIGHT MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES SURFACE_ALIGNMENT
        CONCURRENT_KERNELS ECC_ENABLED PCI_BUS_ID PCI_DEVICE_ID TCC_DRIVER MEMORY_CLOCK_RATE
        GLOBAL_MEMORY_BUS_WIDTH L2_CACHE_SIZE MAX_THREADS_PER_MULTIPROCESSOR ASYNC_ENGINE_COUNT
        UNIFIED_ADDRESSING MAXIMUM_TEXTURE1D_LAYERED_WIDTH MAXIMUM_TEXTURE1D_LAYERED_LAYERS
        MAXIMUM_TEXTURE2D_GATHER_WIDTH MAXIMUM_TEXTURE2D_GATHER_HEIGHT MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE
        MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE PCI_DOMAIN_ID
        TEXTURE_PITCH_ALIGNMENT MAXIMUM_TEXTURECUBEMAP_WIDTH MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH
        MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS MAXIMUM_SURFACE1D_WIDTH MAXIMUM_SURFACE2D_WIDTH
        MAXIMUM_SURFACE2D_HEIGHT MAXIMUM_SURFACE3D_WIDTH MAXIMUM_SURFACE3D_HEIGHT MAXIMUM_SURFACE3D_DEPTH
        MAXIMUM_SURFACE1D_LAYERED_WIDTH MAXIMUM_SURFACE1D_LAYERED_LAYERS MAXIMUM_SURFACE2D_LAYERED_WIDTH
        MAXIMUM_SURFACE2D_LAYERED_HEIGHT MAXIMUM_SURFACE2D_LAYERED_LAYERS MAXIMUM_SURFACECUBEMAP_WIDTH
        MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS
        MAXIMUM_TEXTURE1D_LINEAR_WIDTH MAXIMUM_TEXTURE2D_LINEAR_WIDTH MAXIMUM_TEXTURE2D_LINEAR_HEIGHT
        MAXIMUM_TEXTURE2D_LINEAR_PITCH MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT
        COMPUTE_CAPABILITY_MAJOR COMPUTE_CAPABILITY_MINOR MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH
        STREAM_PRIORITIES_SUPPORTED GLOBAL_L1_CACHE_SUPPORTED LOCAL_L1_CACHE_SUPPORTED
        MAX_SHARED_MEMORY_PER_MULTIPROCESSOR MAX_REGISTERS_PER_MULTIPROCESSOR MANAGED_MEMORY MULTI_GPU_BOARD
        MULTI_GPU_BOARD_GROUP_ID HOST_NATIVE_ATOMIC_SUPPORTED SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
        PAGEABLE_MEMORY_ACCESS CONCURRENT_MANAGED_ACCESS COMPUTE_PREEMPTION_SUPPORTED
        CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM COOPERATIVE_LAUNCH MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES DIRECT_MANAGED_MEM_ACCESS_FROM_HOST
        HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED HANDLE_TYPE_WIN32_HANDLE_SUPPORTED
        HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED MAX_BLOCKS_PER_MULTIPROCESSOR GENERIC_COMPRESSION_SUPPORTED
        MAX_PERSISTING_L2_CACHE_SIZE RESERVED_SHARED_MEMORY_PER_BLOCK READ_ONLY_HOST_REGISTER_SUPPORTED
        MEMORY_POOLS_SUPPORTED
        """,
    ),
}


class NoBindings(Exception):
    """Report that the crates with the bindings are missing, because cargo did not fetch them on this machine."""


def crate(name: str, file: str) -> list[Path]:
    """Return the paths of a crate that match `file`; of several versions in Cargo.lock, the newest counts."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    versions = [one["version"] for one in lock["package"] if one["name"] == name]
    newest = max(versions, key=lambda text: [int(part) for part in re.findall(r"\d+", text)])
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    files = sorted(home.glob(f"registry/src/*/{name}-{newest}/src/{file}"))
    if not files:
        raise NoBindings(f"{name} {newest} is not in {home}: run cargo fetch")
    return files


def enumerations(text: str) -> dict[str, dict[str, int]]:
    """Return the members and numbers of each enumeration; a number of the release `PREFERRED` has precedence."""
    enumerations_by_name: dict[str, dict[str, int]] = {}
    for preferred in (True, False):
        for attributes, name, body in ENUM.findall(text):
            if (PREFERRED in attributes or "feature" not in attributes) == preferred:
                for member, number in re.findall(r"(\w+) = (-?\d+),", body):
                    enumerations_by_name.setdefault(name, {}).setdefault(member, int(number))
    for alias, name, member in ALIAS.findall(text):
        if member in enumerations_by_name.get(name, {}):
            enumerations_by_name[name].setdefault(alias, enumerations_by_name[name][member])
    return enumerations_by_name


def driver() -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    """Return the enumerations and the plain constants of CUDA's driver."""
    text = crate("cudarc", "driver/sys/mod.rs")[-1].read_text()
    return enumerations(text), {name: int(number) for name, number in CONSTANT.findall(text)}


def cuda_errors() -> dict[int, str]:
    """Return the names of the errors of CUDA's runtime by number."""
    known = enumerations(crate("cudarc", "runtime/sys/mod.rs")[-1].read_text())["cudaError"]
    return {number: name for name, number in sorted(known.items(), key=lambda item: item[1])}


def hip_errors() -> dict[int, str]:
    """Return the names of the errors of the newest HIP by number."""
    text = crate("cubecl-hip-sys", "bindings/bindings_*.rs")[-1].read_text()
    return {int(number): name for name, number in re.findall(r"pub const hipError_t_(\w+): hipError_t = (\d+);", text)}


def rendered(name: str, known: dict[str, dict[str, int]]) -> str:
    """Return the source of the class `name`; `known` contains the enumerations of the driver."""
    one = ENUMERATIONS[name]
    numbers = {**one.own, **{key.removeprefix(one.prefix): value for key, value in known.get(one.c_name, {}).items()}}
    members = "".join(f"    {member} = {numbers[member]}\n" for member in one.names.split())
    return f'class {name}(NamedNumber):\n    """{one.said}"""\n\n    __module__ = "PyGPU.driver"\n\n{members}'


def enums_module() -> str:
    """Return the source of the module of enumerations."""
    known, _ = driver()
    names = sorted(name for name in ENUMERATIONS if name != "device_attribute")
    listed = "".join(f'    "{name}",\n' for name in names)
    classes = "\n\n".join(rendered(name, known) for name in names)
    return (
        f'"""PyCUDA\'s enumerations, with the driver\'s numbers. Written by tools/driver_tables.py."""\n\n'
        "from __future__ import annotations\n\n"
        f"from PyGPU._pycuda.named_enums import NamedNumber\n\n__all__ = [\n{listed}]\n\n\n{classes}"
    )


def attributes_module() -> str:
    """Return the source of the module of device attributes."""
    known, _ = driver()
    return (
        '"""CUDA\'s device attributes, under PyCUDA\'s names. Written by tools/driver_tables.py."""\n\n'
        "from __future__ import annotations\n\nfrom PyGPU._pycuda.named_enums import NamedNumber\n\n"
        f'__all__ = ["device_attribute"]\n\n\n{rendered("device_attribute", known)}'
    )


def errors_module() -> str:
    """Return the source of the table of errors; the texts are taken from the existing table."""
    table = runpy.run_path(str(ERRORS))
    texts = dict([*table["CUDA_ERRORS"].values(), *table["HIP_ERRORS"].values()])
    cuda, hip = cuda_errors(), hip_errors()
    names_by_table = {
        "CUDA_ERRORS": cuda,
        "HIP_ERRORS": {number: hip[number] for number in sorted(table["HIP_ERRORS"])},
    }
    untold = [name for names in names_by_table.values() for name in names.values() if name not in texts]
    if untold:
        raise SystemExit(f"say in {ERRORS.name} what the runtime says of {', '.join(untold)}")
    text = ERRORS.read_text()
    for variable, names in names_by_table.items():
        rows = "".join(row(number, name, texts[name]) for number, name in names.items())
        start = text.index("{\n", text.index(f"{variable}:")) + 2
        text = text[:start] + rows + text[text.index("\n}\n", start) + 1 :]
    return text


def row(number: int, name: str, text: str) -> str:
    """Format one entry of the table of errors as ruff does."""
    line = f'    {number}: ("{name}", "{text}"),\n'
    if len(line) <= 121:
        return line
    first, second = f'        "{text}",\n', ""
    if len(first) > 121:
        cut = text.rindex(" ", 0, 108) + 1
        first, second = f'        "{text[:cut]}"\n', f'        "{text[cut:]}",\n'
    return f'    {number}: (\n        "{name}",\n{first}{second}    ),\n'


def tables() -> dict[Path, str]:
    """Return the content that each generated file must have."""
    return {ENUMS: enums_module(), ATTRIBUTES: attributes_module(), ERRORS: errors_module()}


def main() -> None:
    """Write the generated files."""
    try:
        texts = tables()
    except NoBindings as error:
        sys.exit(str(error))
    for path, text in texts.items():
        path.write_text(text)


if __name__ == "__main__":
    main()
