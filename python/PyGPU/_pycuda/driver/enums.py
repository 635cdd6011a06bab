"""PyCUDA's enumerations, with the driver's numbers. Written by tools/driver_tables.py."""

from __future__ import annotations

from PyGPU._pycuda.named_enums import NamedNumber

__all__ = [
    "address_mode",
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


class address_mode(NamedNumber):
    """Results of texture reads beyond the edges."""

    __module__ = "PyGPU.driver"

    WRAP = 0
    CLAMP = 1
    MIRROR = 2
    BORDER = 3


class array_cubemap_face(NamedNumber):
    """Faces of a cube map."""

    __module__ = "PyGPU.driver"

    POSITIVE_X = 0
    NEGATIVE_X = 1
    POSITIVE_Y = 2
    NEGATIVE_Y = 3
    POSITIVE_Z = 4
    NEGATIVE_Z = 5


class array_format(NamedNumber):
    """Data types of the channels of a CUDA array."""

    __module__ = "PyGPU.driver"

    UNSIGNED_INT8 = 1
    UNSIGNED_INT16 = 2
    UNSIGNED_INT32 = 3
    SIGNED_INT8 = 8
    SIGNED_INT16 = 9
    SIGNED_INT32 = 10
    HALF = 16
    FLOAT = 32


class compute_mode(NamedNumber):
    """Restrictions on the contexts of a device."""

    __module__ = "PyGPU.driver"

    DEFAULT = 0
    EXCLUSIVE = 1
    PROHIBITED = 2
    EXCLUSIVE_PROCESS = 3


class ctx_flags(NamedNumber):
    """Flags of a context: how the host waits, and which resources the context keeps."""

    __module__ = "PyGPU.driver"

    SCHED_AUTO = 0
    SCHED_SPIN = 1
    SCHED_YIELD = 2
    BLOCKING_SYNC = 4
    SCHED_BLOCKING_SYNC = 4
    SCHED_MASK = 7
    MAP_HOST = 8
    LMEM_RESIZE_TO_MAX = 16
    FLAGS_MASK = 31


class event_flags(NamedNumber):
    """Flags of an event."""

    __module__ = "PyGPU.driver"

    DEFAULT = 0
    BLOCKING_SYNC = 1
    DISABLE_TIMING = 2
    INTERPROCESS = 4


class filter_mode(NamedNumber):
    """Interpolation of texture reads between elements."""

    __module__ = "PyGPU.driver"

    POINT = 0
    LINEAR = 1


class func_cache(NamedNumber):
    """Preferred split of a multiprocessor's on-chip memory between L1 cache and shared memory."""

    __module__ = "PyGPU.driver"

    PREFER_NONE = 0
    PREFER_SHARED = 1
    PREFER_L1 = 2
    PREFER_EQUAL = 3


class function_attribute(NamedNumber):
    """Attributes of a kernel, of which the driver allows some to be set."""

    __module__ = "PyGPU.driver"

    MAX_THREADS_PER_BLOCK = 0
    SHARED_SIZE_BYTES = 1
    CONST_SIZE_BYTES = 2
    LOCAL_SIZE_BYTES = 3
    NUM_REGS = 4
    PTX_VERSION = 5
    BINARY_VERSION = 6
    CACHE_MODE_CA = 7
    MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
    PREFERRED_SHARED_MEMORY_CARVEOUT = 9
    MAX = 16


class graphics_register_flags(NamedNumber):
    """Access of kernels to a graphics resource."""

    __module__ = "PyGPU.driver"

    NONE = 0
    READ_ONLY = 1
    WRITE_DISCARD = 2
    SURFACE_LDST = 4
    TEXTURE_GATHER = 8


class jit_fallback(NamedNumber):
    """Fallbacks of the driver for a module without an image for the device."""

    __module__ = "PyGPU.driver"

    PREFER_PTX = 0
    PREFER_BINARY = 1


class jit_input_type(NamedNumber):
    """Kinds of linker input."""

    __module__ = "PyGPU.driver"

    CUBIN = 0
    PTX = 1
    FATBINARY = 2
    OBJECT = 3
    LIBRARY = 4


class jit_option(NamedNumber):
    """Options of the driver's compiler and linker."""

    __module__ = "PyGPU.driver"

    MAX_REGISTERS = 0
    THREADS_PER_BLOCK = 1
    WALL_TIME = 2
    INFO_LOG_BUFFER = 3
    INFO_LOG_BUFFER_SIZE_BYTES = 4
    ERROR_LOG_BUFFER = 5
    ERROR_LOG_BUFFER_SIZE_BYTES = 6
    OPTIMIZATION_LEVEL = 7
    TARGET_FROM_CUCONTEXT = 8
    TARGET = 9
    FALLBACK_STRATEGY = 10
    GENERATE_DEBUG_INFO = 11
    LOG_VERBOSE = 12
    GENERATE_LINE_INFO = 13


class jit_target(NamedNumber):
    """Architectures for which the driver compiles."""

    __module__ = "PyGPU.driver"

    COMPUTE_10 = 10
    COMPUTE_11 = 11
    COMPUTE_12 = 12
    COMPUTE_13 = 13
    COMPUTE_20 = 20
    COMPUTE_21 = 21
    COMPUTE_30 = 30
    COMPUTE_32 = 32
    COMPUTE_35 = 35
    COMPUTE_37 = 37
    COMPUTE_50 = 50
    COMPUTE_52 = 52
    COMPUTE_53 = 53
    COMPUTE_60 = 60
    COMPUTE_61 = 61
    COMPUTE_62 = 62
    COMPUTE_70 = 70
    COMPUTE_72 = 72
    COMPUTE_75 = 75
    COMPUTE_80 = 80
    COMPUTE_86 = 86
    COMPUTE_90 = 90
    COMPUTE_90A = 65626


class limit(NamedNumber):
    """Limits of a context, such as the stack size of a thread."""

    __module__ = "PyGPU.driver"

    STACK_SIZE = 0
    PRINTF_FIFO_SIZE = 1
    MALLOC_HEAP_SIZE = 2
    DEV_RUNTIME_SYNC_DEPTH = 3
    DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4


class profiler_output_mode(NamedNumber):
    """Output formats of the built-in profiler of CUDA versions before 12."""

    __module__ = "PyGPU.driver"

    KEY_VALUE_PAIR = 0
    CSV = 1


class shared_config(NamedNumber):
    """Widths of the banks of shared memory."""

    __module__ = "PyGPU.driver"

    DEFAULT_BANK_SIZE = 0
    FOUR_BYTE_BANK_SIZE = 1
    EIGHT_BYTE_BANK_SIZE = 2
