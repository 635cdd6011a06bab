"""PyCUDA's enumerations, with the driver's numbers."""

from __future__ import annotations

from enum import IntEnum

__all__ = [
    "address_mode",
    "array3d_flags",
    "array_cubemap_face",
    "array_format",
    "compute_mode",
    "ctx_flags",
    "event_flags",
    "filter_mode",
    "func_cache",
    "function_attribute",
    "graphics_register_flags",
    "jit_fallback",
    "jit_input_type",
    "jit_option",
    "jit_target",
    "limit",
    "profiler_output_mode",
    "shared_config",
]

ctx_flags = IntEnum(
    "ctx_flags",
    {
        "SCHED_AUTO": 0,
        "SCHED_SPIN": 1,
        "SCHED_YIELD": 2,
        "BLOCKING_SYNC": 4,
        "SCHED_BLOCKING_SYNC": 4,
        "SCHED_MASK": 7,
        "MAP_HOST": 8,
        "LMEM_RESIZE_TO_MAX": 16,
        "FLAGS_MASK": 31,
    },
    module="PyGPU.driver",
)
event_flags = IntEnum(
    "event_flags", {"DEFAULT": 0, "BLOCKING_SYNC": 1, "DISABLE_TIMING": 2, "INTERPROCESS": 4}, module="PyGPU.driver"
)
array_format = IntEnum(
    "array_format",
    {
        "UNSIGNED_INT8": 1,
        "UNSIGNED_INT16": 2,
        "UNSIGNED_INT32": 3,
        "SIGNED_INT8": 8,
        "SIGNED_INT16": 9,
        "SIGNED_INT32": 10,
        "HALF": 16,
        "FLOAT": 32,
    },
    module="PyGPU.driver",
)
address_mode = IntEnum("address_mode", {"WRAP": 0, "CLAMP": 1, "MIRROR": 2, "BORDER": 3}, module="PyGPU.driver")
filter_mode = IntEnum("filter_mode", {"POINT": 0, "LINEAR": 1}, module="PyGPU.driver")
compute_mode = IntEnum(
    "compute_mode", {"DEFAULT": 0, "EXCLUSIVE": 1, "PROHIBITED": 2, "EXCLUSIVE_PROCESS": 3}, module="PyGPU.driver"
)
func_cache = IntEnum(
    "func_cache", {"PREFER_NONE": 0, "PREFER_SHARED": 1, "PREFER_L1": 2, "PREFER_EQUAL": 3}, module="PyGPU.driver"
)
shared_config = IntEnum(
    "shared_config",
    {"DEFAULT_BANK_SIZE": 0, "FOUR_BYTE_BANK_SIZE": 1, "EIGHT_BYTE_BANK_SIZE": 2},
    module="PyGPU.driver",
)
function_attribute = IntEnum(
    "function_attribute",
    {
        "MAX_THREADS_PER_BLOCK": 0,
        "SHARED_SIZE_BYTES": 1,
        "CONST_SIZE_BYTES": 2,
        "LOCAL_SIZE_BYTES": 3,
        "NUM_REGS": 4,
        "PTX_VERSION": 5,
        "BINARY_VERSION": 6,
        "CACHE_MODE_CA": 7,
        "MAX_DYNAMIC_SHARED_SIZE_BYTES": 8,
        "PREFERRED_SHARED_MEMORY_CARVEOUT": 9,
        "MAX": 16,
    },
    module="PyGPU.driver",
)
jit_option = IntEnum(
    "jit_option",
    {
        "MAX_REGISTERS": 0,
        "THREADS_PER_BLOCK": 1,
        "WALL_TIME": 2,
        "INFO_LOG_BUFFER": 3,
        "INFO_LOG_BUFFER_SIZE_BYTES": 4,
        "ERROR_LOG_BUFFER": 5,
        "ERROR_LOG_BUFFER_SIZE_BYTES": 6,
        "OPTIMIZATION_LEVEL": 7,
        "TARGET_FROM_CUCONTEXT": 8,
        "TARGET": 9,
        "FALLBACK_STRATEGY": 10,
        "GENERATE_DEBUG_INFO": 11,
        "LOG_VERBOSE": 12,
        "GENERATE_LINE_INFO": 13,
    },
    module="PyGPU.driver",
)
jit_target = IntEnum(
    "jit_target",
    {
        "COMPUTE_10": 10,
        "COMPUTE_11": 11,
        "COMPUTE_12": 12,
        "COMPUTE_13": 13,
        "COMPUTE_20": 20,
        "COMPUTE_21": 21,
        "COMPUTE_30": 30,
        "COMPUTE_32": 32,
        "COMPUTE_35": 35,
        "COMPUTE_37": 37,
        "COMPUTE_50": 50,
        "COMPUTE_52": 52,
        "COMPUTE_53": 53,
        "COMPUTE_60": 60,
        "COMPUTE_61": 61,
        "COMPUTE_62": 62,
        "COMPUTE_70": 70,
        "COMPUTE_72": 72,
        "COMPUTE_75": 75,
        "COMPUTE_80": 80,
        "COMPUTE_86": 86,
        "COMPUTE_90": 90,
        "COMPUTE_90A": 65626,
    },
    module="PyGPU.driver",
)
jit_fallback = IntEnum("jit_fallback", {"PREFER_PTX": 0, "PREFER_BINARY": 1}, module="PyGPU.driver")
jit_input_type = IntEnum(
    "jit_input_type", {"CUBIN": 0, "PTX": 1, "FATBINARY": 2, "OBJECT": 3, "LIBRARY": 4}, module="PyGPU.driver"
)
limit = IntEnum(
    "limit",
    {
        "STACK_SIZE": 0,
        "PRINTF_FIFO_SIZE": 1,
        "MALLOC_HEAP_SIZE": 2,
        "DEV_RUNTIME_SYNC_DEPTH": 3,
        "DEV_RUNTIME_PENDING_LAUNCH_COUNT": 4,
    },
    module="PyGPU.driver",
)
graphics_register_flags = IntEnum(
    "graphics_register_flags",
    {"NONE": 0, "READ_ONLY": 1, "WRITE_DISCARD": 2, "SURFACE_LDST": 4, "TEXTURE_GATHER": 8},
    module="PyGPU.driver",
)
array_cubemap_face = IntEnum(
    "array_cubemap_face",
    {"POSITIVE_X": 0, "NEGATIVE_X": 1, "POSITIVE_Y": 2, "NEGATIVE_Y": 3, "POSITIVE_Z": 4, "NEGATIVE_Z": 5},
    module="PyGPU.driver",
)
profiler_output_mode = IntEnum("profiler_output_mode", {"KEY_VALUE_PAIR": 0, "CSV": 1}, module="PyGPU.driver")


class array3d_flags:
    """Flags of three-dimensional arrays.

    Examples
    --------
    >>> from PyGPU.driver import array3d_flags
    >>> array3d_flags.SURFACE_LDST
    2
    """

    ARRAY3D_2DARRAY = 1
    ARRAY3D_LAYERED = 1
    SURFACE_LDST = 2
    CUBEMAP = 4
    TEXTURE_GATHER = 8


setattr(array3d_flags, "2DARRAY", 1)  # PyCUDA's name, which no source can spell

for _made, _said in (
    (ctx_flags, "How the host waits in a context, and what it keeps."),
    (event_flags, "What an event is for."),
    (array_format, "What the elements of an array of the driver are."),
    (address_mode, "What a texture answers beyond its border."),
    (filter_mode, "What a texture answers between its elements."),
    (compute_mode, "Who may have contexts on a device."),
    (func_cache, "What a multiprocessor's fast memory is rather used for."),
    (shared_config, "How wide the banks of shared memory are."),
    (function_attribute, "What can be asked, and in part set, of a kernel."),
    (jit_option, "What the driver's compiler and linker are told."),
    (jit_target, "The architectures for which the driver compiles."),
    (jit_fallback, "What the driver does where it finds no image for the device."),
    (jit_input_type, "What is given to the linker."),
    (limit, "The limits of a context."),
    (graphics_register_flags, "What a graphics resource is used for."),
    (array_cubemap_face, "The sides of a cube of textures."),
    (profiler_output_mode, "How the profiler wrote, before CUDA 12."),
):
    _made.__doc__ = _said
