"""PyCUDA's `DeviceData` and `OccupancyRecord`, from what the device tells of itself."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from PyGPU import driver
from PyGPU._driver_device_enums import device_attribute

__all__ = ["DeviceData", "OccupancyRecord"]

# How NVIDIA's devices give out registers and shared memory, since Volta: CUDA's own header of occupancies has these.
REGISTER_UNIT = 256
SHARED_UNIT = 128
SHARED_BANKS = 32


class DeviceData:
    """What a device has for each multiprocessor.

    Parameters
    ----------
    dev : Device, optional
        The current one by default.

    Examples
    --------
    >>> from PyGPU.tools import DeviceData
    >>> data = DeviceData()
    >>> data.max_threads >= data.warp_size
    True
    """

    def __init__(self, dev: driver.Device | None = None) -> None:
        device = driver.Context.get_device() if dev is None else dev

        def fact(attr: device_attribute, default: int) -> int:
            try:
                return device.get_attribute(attr)
            except driver.Error:
                return default

        attr = device_attribute
        self.max_threads = fact(attr.MAX_THREADS_PER_BLOCK, 1)
        """Most threads of a block."""
        self.warp_size = fact(attr.WARP_SIZE, 1)
        """Threads of a warp."""
        self.warps_per_mp = max(fact(attr.MAX_THREADS_PER_MULTIPROCESSOR, self.max_threads) // self.warp_size, 1)
        """Most warps that a multiprocessor has at once."""
        self.thread_blocks_per_mp = fact(attr.MAX_BLOCKS_PER_MULTIPROCESSOR, 1)
        """Most blocks that a multiprocessor has at once."""
        self.registers = fact(attr.MAX_REGISTERS_PER_MULTIPROCESSOR, 0)
        """Registers of a multiprocessor; 0 where that means nothing."""
        self.shared_memory = fact(attr.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, fact(attr.MAX_SHARED_MEMORY_PER_BLOCK, 0))
        """Bytes of shared memory of a multiprocessor."""
        self.reserved_shared_memory = fact(attr.RESERVED_SHARED_MEMORY_PER_BLOCK, 0)
        """Bytes of it that the driver takes for each block."""
        self.smem_granularity = SHARED_BANKS
        """Threads that go to shared memory at once."""
        self.smem_alloc_granularity = SHARED_UNIT
        """Bytes in whose multiples shared memory is given out."""
        self.register_allocation_unit = "warp"
        """What registers are given out to."""

    def align(self, bytes: SupportsIndex, word_size: SupportsIndex = 4) -> int:
        """Return a number of bytes rounded up to what is read at once.

        Parameters
        ----------
        bytes : int
            How many.
        word_size : int, optional
            Bytes that a thread reads: 4, 8 or 16.

        Returns
        -------
        int

        Examples
        --------
        >>> from PyGPU.tools import DeviceData
        >>> DeviceData().align(65)
        128
        """
        unit = self.align_bytes(word_size)
        return -(-operator.index(bytes) // unit) * unit

    @staticmethod
    def align_bytes(word_size: SupportsIndex = 4) -> int:
        """Return the bytes to whose multiples rows should be aligned.

        Parameters
        ----------
        word_size : int, optional
            Bytes that a thread reads: 4, 8 or 16.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            For another size.

        Examples
        --------
        >>> from PyGPU.tools import DeviceData
        >>> DeviceData.align_bytes(8)
        128
        """
        sizes = {4: 64, 8: 128, 16: 128}
        size = operator.index(word_size)
        if size not in sizes:
            raise ValueError(f"word_size is 4, 8 or 16, not {size}")
        return sizes[size]

    def align_words(self, word_size: SupportsIndex) -> int:
        """Return `align_bytes` in words.

        Parameters
        ----------
        word_size : int
            Bytes of a word: 4, 8 or 16.

        Returns
        -------
        int

        Examples
        --------
        >>> from PyGPU.tools import DeviceData
        >>> DeviceData().align_words(4)
        16
        """
        return self.align_bytes(word_size) // operator.index(word_size)

    def align_dtype(self, elements: SupportsIndex, dtype_size: SupportsIndex) -> int:
        """Return a number of elements rounded up, so that their bytes are aligned.

        Parameters
        ----------
        elements : int
            How many.
        dtype_size : int
            Bytes of one: 4, 8 or 16.

        Returns
        -------
        int

        Examples
        --------
        >>> from PyGPU.tools import DeviceData
        >>> DeviceData().align_dtype(17, 4)
        32
        """
        size = operator.index(dtype_size)
        return self.align(operator.index(elements) * size, size) // size

    @staticmethod
    def coalesce(thread_count: SupportsIndex) -> int:
        """Return a number of threads rounded up to half a warp.

        Parameters
        ----------
        thread_count : int
            How many.

        Returns
        -------
        int

        Examples
        --------
        >>> from PyGPU.tools import DeviceData
        >>> DeviceData.coalesce(17)
        32
        """
        return -(-operator.index(thread_count) // 16) * 16

    @staticmethod
    def make_valid_tex_channel_count(size: SupportsIndex) -> int:
        """Return the least number of channels that a texture has and that is not less.

        Parameters
        ----------
        size : int
            1 to 4.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            For more than four.

        Examples
        --------
        >>> from PyGPU.tools import DeviceData
        >>> DeviceData.make_valid_tex_channel_count(3)
        4
        """
        valid = {1: 1, 2: 2, 3: 4, 4: 4}
        number = operator.index(size)
        if number not in valid:
            raise ValueError(f"a texture has 1 to 4 channels, not {number}")
        return valid[number]


class OccupancyRecord:
    """How many blocks of a shape a multiprocessor runs at once, and what limits that.

    Parameters
    ----------
    devdata : DeviceData
        Of the device.
    threads : int
        Threads of a block.
    shared_mem : int, optional
        Bytes of shared memory of a block.
    registers : int, optional
        Registers of a thread.

    Raises
    ------
    ValueError
        If not even one block fits: too many threads, bytes or registers.

    Notes
    -----
    For a kernel that is there, `Kernel.active_blocks` asks the driver, which knows better.

    Examples
    --------
    >>> from PyGPU.tools import DeviceData, OccupancyRecord
    >>> record = OccupancyRecord(DeviceData(), 1)
    >>> record.tb_per_mp >= 1, 0 < record.occupancy <= 1
    (True, True)
    """

    def __init__(
        self, devdata: DeviceData, threads: SupportsIndex, shared_mem: SupportsIndex = 0, registers: SupportsIndex = 0
    ) -> None:
        threads, shared, registers = (operator.index(one) for one in (threads, shared_mem, registers))
        if not 1 <= threads <= devdata.max_threads:
            raise ValueError(f"too many threads: {threads}, and a block has 1 to {devdata.max_threads}")
        warps = -(-threads // devdata.warp_size)
        fitting = {"device": devdata.thread_blocks_per_mp, "warps": devdata.warps_per_mp // warps}
        if shared > 0:
            taken = _rounded(shared + devdata.reserved_shared_memory, SHARED_UNIT)
            if taken > devdata.shared_memory:
                raise ValueError(f"too many bytes of shared memory: {shared}, and there are {devdata.shared_memory}")
            fitting["smem"] = devdata.shared_memory // taken
        if registers > 0 and devdata.registers > 0:
            taken = warps * _rounded(registers * devdata.warp_size, REGISTER_UNIT)
            if taken > devdata.registers:
                raise ValueError(f"too many registers: {taken} for a block, and there are {devdata.registers}")
            fitting["regs"] = devdata.registers // taken
        self.tb_per_mp = max(min(fitting.values()), 1)
        """Blocks that run at once on a multiprocessor."""
        self.limited_by = min(fitting, key=lambda name: fitting[name])
        """What allows no more of them: ``'device'``, ``'warps'``, ``'smem'`` or ``'regs'``."""
        self.warps_per_mp = self.tb_per_mp * warps
        """Warps that run at once on a multiprocessor."""
        self.occupancy = min(self.warps_per_mp / devdata.warps_per_mp, 1.0)
        """Which part that is of all that could."""


def _rounded(number: int, unit: int) -> int:
    return -(-number // unit) * unit
