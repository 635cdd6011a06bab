"""PyCUDA's classes `DeviceData` and `OccupancyRecord`, whose values are computed from the device's attributes.

PyCUDA reads these values from a table of old architectures. A value that the driver does not report is missing.
"""

from __future__ import annotations

from typing import Any, ClassVar, SupportsInt

from PyGPU import _core
from PyGPU._pycuda.driver.context import Context
from PyGPU._pycuda.driver.device import Device
from PyGPU._pycuda.driver.device_attributes import device_attribute as attribute

__all__ = ["DeviceData", "OccupancyRecord"]


class DeviceData:
    """Limits of a device for kernels, such as the number of registers.

    Parameters
    ----------
    dev : driver.Device, optional
        Device; defaults to the current one.

    Attributes
    ----------
    max_threads, warp_size, thread_blocks_per_mp, warps_per_mp : int
        Maximum number of threads of a block, number of threads of a warp, and maximum numbers of resident blocks and
        warps on a multiprocessor.
    registers, shared_memory : int
        Number of registers, and bytes of shared memory, of a multiprocessor.

    Notes
    -----
    Only attributes that the device reports exist; others raise AttributeError. No driver reports the allocation
    granularity of registers and shared memory. `Kernel.active_blocks` returns the number of blocks that the driver
    computes with this granularity.

    Examples
    --------
    >>> from PyGPU.tools import DeviceData
    >>> DeviceData().warp_size > 0
    True
    """

    _sources: ClassVar = {
        "max_threads": attribute.MAX_THREADS_PER_BLOCK,
        "warp_size": attribute.WARP_SIZE,
        "thread_blocks_per_mp": attribute.MAX_BLOCKS_PER_MULTIPROCESSOR,
        "registers": attribute.MAX_REGISTERS_PER_MULTIPROCESSOR,
        "shared_memory": attribute.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
    }

    def __init__(self, dev: Device | None = None) -> None:
        self._device = dev or Context.get_device()

    def __getattr__(self, name: str) -> int:
        if name == "warps_per_mp":
            threads = self._query(name, attribute.MAX_THREADS_PER_MULTIPROCESSOR)
            return threads // self.warp_size
        if name.startswith("_") or name not in self._sources:
            raise AttributeError(
                f"DeviceData has no {name!r}: drivers do not tell it; Kernel.active_blocks() tells what comes of it"
            )
        return self._query(name, self._sources[name])

    def _query(self, name: str, attribute_number: attribute) -> int:
        try:
            return self._device.get_attribute(attribute_number)
        except _core.Error as error:
            raise AttributeError(f"DeviceData has no {name!r} here: {error}") from error

    def align(self, bytes: SupportsInt, word_size: int = 4) -> int:
        """Round a number of bytes up to the alignment of the device.

        Parameters
        ----------
        bytes : int
            Number of bytes.
        word_size : int, optional
            Size of a word in bytes: 4, 8 or 16.

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
        return -(-int(bytes) // unit) * unit

    def align_bytes(self, word_size: int = 4) -> int:
        """Return the alignment, in bytes, of accesses by words of a given size.

        Parameters
        ----------
        word_size : int, optional
            Size of a word in bytes: 4, 8 or 16.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If `word_size` is not 4, 8 or 16.

        Examples
        --------
        >>> from PyGPU.tools import DeviceData
        >>> DeviceData().align_bytes(8)
        128
        """
        alignments = {4: 64, 8: 128, 16: 128}
        if word_size not in alignments:
            raise ValueError(f"a word has 4, 8 or 16 bytes, not {word_size}")
        return alignments[word_size]

    def align_words(self, word_size: int) -> int:
        """Return the alignment, in words, of accesses by words of a given size.

        Parameters
        ----------
        word_size : int
            Size of a word in bytes: 4, 8 or 16.

        Returns
        -------
        int

        Examples
        --------
        >>> from PyGPU.tools import DeviceData
        >>> DeviceData().align_words(4)
        16
        """
        return self.align_bytes(word_size) // word_size

    def align_dtype(self, elements: SupportsInt, dtype_size: int) -> int:
        """Round a number of elements up to the alignment of the device.

        Parameters
        ----------
        elements : int
            Number of elements.
        dtype_size : int
            Size of an element in bytes: 4, 8 or 16.

        Returns
        -------
        int

        Examples
        --------
        >>> from PyGPU.tools import DeviceData
        >>> DeviceData().align_dtype(17, 4)
        32
        """
        return self.align(int(elements) * dtype_size, dtype_size) // dtype_size

    def coalesce(self, thread_count: SupportsInt) -> int:
        """Round a number of threads up to a multiple of half a warp.

        Parameters
        ----------
        thread_count : int
            Number of threads.

        Returns
        -------
        int

        Examples
        --------
        >>> from PyGPU.tools import DeviceData
        >>> DeviceData().coalesce(17)
        32
        """
        return -(-int(thread_count) // 16) * 16

    @staticmethod
    def make_valid_tex_channel_count(size: int) -> int:
        """Round a number of texture channels up to 1, 2 or 4.

        Parameters
        ----------
        size : int
            Number of channels; at most 4.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            For more than 4 channels.

        Examples
        --------
        >>> from PyGPU.tools import DeviceData
        >>> DeviceData.make_valid_tex_channel_count(3)
        4
        """
        for channels in (1, 2, 4):
            if size <= channels:
                return channels
        raise ValueError(f"a texture has at most 4 channels, not {size}")


class OccupancyRecord:
    """Number of blocks that can reside on a multiprocessor, computed from the limits of the device.

    Parameters
    ----------
    devdata : DeviceData
        Limits of the device.
    threads : int
        Threads per block.
    shared_mem : int, optional
        Bytes of shared memory per block.
    registers : int, optional
        Registers per thread.

    Attributes
    ----------
    tb_per_mp : int
        Number of resident blocks.
    limited_by : str
        The limit that determines `tb_per_mp`: ``'threads'``, ``'warps'``, ``'regs'`` or ``'smem'``.
    warps_per_mp : int
        Number of warps of the resident blocks.
    occupancy : float
        Resident warps as a fraction of the maximum number.

    Raises
    ------
    ValueError
        "too many ..." for a block that does not fit at all.

    Notes
    -----
    The result is an upper bound, because the allocation granularity of registers and shared memory is unknown.
    ``Function.kernel.active_blocks()`` returns the driver's value for a kernel.

    Examples
    --------
    >>> from PyGPU.tools import DeviceData, OccupancyRecord
    >>> record = OccupancyRecord(DeviceData(), 256)  # doctest: +SKIP
    >>> record.occupancy  # doctest: +SKIP
    1.0
    """

    def __init__(self, devdata: DeviceData, threads: int, shared_mem: int = 0, registers: int = 0) -> None:
        if threads > devdata.max_threads:
            raise ValueError("too many threads")
        warps = max(1, -(-threads // devdata.warp_size))
        limits: dict[str, Any] = {"threads": devdata.thread_blocks_per_mp, "warps": devdata.warps_per_mp // warps}
        if registers > 0:
            limits["regs"] = devdata.registers // (registers * devdata.warp_size * warps)
            if limits["regs"] == 0:
                raise ValueError("too many registers")
        if shared_mem > 0:
            limits["smem"] = devdata.shared_memory // shared_mem
            if limits["smem"] == 0:
                raise ValueError("too much shared memory")
        self.tb_per_mp, self.limited_by = min((blocks, name) for name, blocks in limits.items())
        self.warps_per_mp = self.tb_per_mp * warps
        self.occupancy = self.warps_per_mp / devdata.warps_per_mp
