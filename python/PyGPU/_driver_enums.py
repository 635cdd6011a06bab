"""PyCUDA's flags and enumerations about contexts, kernels and images; the numbers are CUDA's."""

from __future__ import annotations

from enum import IntEnum, IntFlag

__all__ = [
    "ctx_flags",
    "event_flags",
    "func_cache",
    "function_attribute",
    "jit_fallback",
    "jit_input_type",
    "jit_option",
    "jit_target",
    "limit",
    "profiler_output_mode",
    "shared_config",
]


class ctx_flags(IntFlag):
    """How a context is made; PyGPU uses the primary one as it is.

    Examples
    --------
    >>> from PyGPU.driver import ctx_flags
    >>> int(ctx_flags.SCHED_AUTO | ctx_flags.MAP_HOST)
    8
    """

    SCHED_AUTO = 0
    SCHED_SPIN = 1
    SCHED_YIELD = 2
    BLOCKING_SYNC = 4
    SCHED_BLOCKING_SYNC = 4
    SCHED_MASK = 7
    MAP_HOST = 8
    LMEM_RESIZE_TO_MAX = 16
    FLAGS_MASK = 31


class event_flags(IntFlag):
    """How an event is made.

    Examples
    --------
    >>> from PyGPU.driver import event_flags
    >>> int(event_flags.DISABLE_TIMING | event_flags.INTERPROCESS)
    6
    """

    DEFAULT = 0
    BLOCKING_SYNC = 1
    DISABLE_TIMING = 2
    INTERPROCESS = 4


class function_attribute(IntEnum):
    """What is known of a kernel.

    Examples
    --------
    >>> from PyGPU.driver import function_attribute
    >>> function_attribute.NUM_REGS.name
    'NUM_REGS'
    """

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
    MAX = 10


class func_cache(IntEnum):
    """What the first-level cache is rather used for.

    Examples
    --------
    >>> from PyGPU.driver import func_cache
    >>> int(func_cache.PREFER_L1)
    2
    """

    PREFER_NONE = 0
    PREFER_SHARED = 1
    PREFER_L1 = 2
    PREFER_EQUAL = 3


class shared_config(IntEnum):
    """Bytes of a bank of shared memory; GPUs from 2014 on have one answer.

    Examples
    --------
    >>> from PyGPU.driver import shared_config
    >>> int(shared_config.FOUR_BYTE_BANK_SIZE)
    1
    """

    DEFAULT_BANK_SIZE = 0
    FOUR_BYTE_BANK_SIZE = 1
    EIGHT_BYTE_BANK_SIZE = 2


class limit(IntEnum):
    """What a context limits.

    Examples
    --------
    >>> from PyGPU.driver import limit
    >>> int(limit.MALLOC_HEAP_SIZE)
    2
    """

    STACK_SIZE = 0
    PRINTF_FIFO_SIZE = 1
    MALLOC_HEAP_SIZE = 2
    DEV_RUNTIME_SYNC_DEPTH = 3
    DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4


class jit_option(IntEnum):
    """What a driver's compiler of PTX is told.

    Examples
    --------
    >>> from PyGPU.driver import jit_option
    >>> int(jit_option.MAX_REGISTERS)
    0
    """

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


class jit_target(IntEnum):
    """The architecture that a driver's compiler of PTX makes code for.

    Examples
    --------
    >>> from PyGPU.driver import jit_target
    >>> int(jit_target.COMPUTE_90)
    90
    """

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


class jit_fallback(IntEnum):
    """What a driver takes of an image without code for the device.

    Examples
    --------
    >>> from PyGPU.driver import jit_fallback
    >>> int(jit_fallback.PREFER_PTX)
    0
    """

    PREFER_PTX = 0
    PREFER_BINARY = 1


class jit_input_type(IntEnum):
    """What a linker is given.

    Examples
    --------
    >>> from PyGPU.driver import jit_input_type
    >>> int(jit_input_type.PTX)
    1
    """

    CUBIN = 0
    PTX = 1
    FATBINARY = 2
    OBJECT = 3
    LIBRARY = 4


class profiler_output_mode(IntEnum):
    """How a profiler of the driver wrote, while there was one.

    Examples
    --------
    >>> from PyGPU.driver import profiler_output_mode
    >>> int(profiler_output_mode.CSV)
    1
    """

    KEY_VALUE_PAIR = 0
    CSV = 1
