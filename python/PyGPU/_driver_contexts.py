"""PyCUDA's `Context`: the primary context of a device, under PyCUDA's methods, on a stack of each thread.

PyGPU, like every library over CUDA's runtime, uses the primary context, so there is nothing to make or to destroy. What
the stack decides is the thread's current device. What is left on it at exit harms nobody.
"""

from __future__ import annotations

import operator
import threading
from typing import SupportsIndex

from PyGPU import _core
from PyGPU._driver_devices import Device
from PyGPU._driver_enums import func_cache, shared_config
from PyGPU._driver_errors import INVALID_CONTEXT, logic_error

__all__ = ["Context"]


class _Stack(threading.local):
    """The contexts of a thread, and the device that was current before the first."""

    def __init__(self) -> None:
        self.contexts: list[Context] = []
        self.outside: int = 0


_stack = _Stack()


def _invalid(operation: str, text: str) -> _core.LogicError:
    return logic_error(operation, INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", text)


def _current_device() -> Device:
    return Device(_core.current_device())


class Context:
    """The primary context of a device, as `Device.make_context` and `Device.retain_primary_context` give it.

    Parameters
    ----------
    device : Device
        Whose.

    Examples
    --------
    >>> from PyGPU import driver
    >>> context = driver.Device(0).make_context()
    >>> driver.Context.get_current() is context
    True
    >>> driver.Context.synchronize()
    >>> context.pop()
    >>> context.detach()
    """

    __slots__ = ("__weakref__", "_device", "_is_ended")

    def __init__(self, device: Device) -> None:
        self._device = device
        self._is_ended = False

    def push(self) -> None:
        """Put it on the thread's stack, and make its device the current one.

        Raises
        ------
        LogicError
            After `detach`.

        Examples
        --------
        >>> from PyGPU import driver
        >>> context = driver.Device(0).retain_primary_context()
        >>> context.push()
        >>> context.pop()
        """
        if self._is_ended:
            raise _invalid("cuCtxPushCurrent", f"the context of {self._device.native} was detached")
        found = _core.current_device()
        _core.set_device(self._device.native)
        if not _stack.contexts:
            _stack.outside = found
        _stack.contexts.append(self)

    @staticmethod
    def pop() -> None:
        """Take the current context from the thread's stack, and make the device below it the current one.

        Raises
        ------
        LogicError
            If there is none.

        Examples
        --------
        >>> from PyGPU import driver
        >>> context = driver.Device(0).make_context()
        >>> driver.Context.pop()
        """
        if not _stack.contexts:
            raise _invalid("cuCtxPopCurrent", "the thread has no context on its stack")
        _stack.contexts.pop()
        _activate()

    def detach(self) -> None:
        """End the context. If it is the thread's current one, that below it becomes it.

        Arrays and other memory of the device stay: the primary context is everybody's.

        Raises
        ------
        LogicError
            If it was ended before.

        Examples
        --------
        >>> from PyGPU import driver
        >>> context = driver.Device(0).make_context()
        >>> context.detach()
        """
        if self._is_ended:
            raise _invalid("cuCtxDetach", f"the context of {self._device.native} was detached already")
        self._is_ended = True
        _stack.contexts[:] = [context for context in _stack.contexts if context is not self]
        _activate()

    @staticmethod
    def attach(flags: SupportsIndex = 0) -> Context:
        """Return the current context once more, to be detached by itself.

        Parameters
        ----------
        flags : int, optional
            Must be 0.

        Returns
        -------
        Context

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Context.attach().detach()
        """
        if operator.index(flags) != 0:
            raise logic_error("cuCtxAttach", 1, "CUDA_ERROR_INVALID_VALUE", "flags must be 0")
        return Context(Context.get_device())

    @staticmethod
    def get_current() -> Context | None:
        """Return the context on top of the thread's stack.

        Returns
        -------
        Context or None

        Examples
        --------
        >>> from PyGPU import driver
        >>> context = driver.Device(0).make_context()
        >>> driver.Context.get_current() is context
        True
        >>> context.pop()
        """
        return _stack.contexts[-1] if _stack.contexts else None

    @staticmethod
    def get_device() -> Device:
        """Return the thread's current device.

        Returns
        -------
        Device

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Context.get_device().native == driver.Device(0).native
        True
        """
        return _stack.contexts[-1]._device if _stack.contexts else _current_device()

    @staticmethod
    def synchronize() -> None:
        """Wait until the thread's current device has nothing left to do.

        Raises
        ------
        Error
            Also for what failed earlier on the device, while nobody waited for it.

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Context.synchronize()
        """
        _core.synchronize()

    @staticmethod
    def set_limit(limit: SupportsIndex, value: SupportsIndex) -> None:
        """Limit what kernels of the current device may use.

        Parameters
        ----------
        limit : limit
            For example ``limit.STACK_SIZE``.
        value : int
            Bytes, or how many.

        Raises
        ------
        Error
            When the driver refuses; `NotSupportedError` on backends that have no limits.

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Context.set_limit(driver.limit.MALLOC_HEAP_SIZE, 1 << 24)  # doctest: +SKIP
        """
        _core.set_context_limit(limit, value)

    @staticmethod
    def get_limit(limit: SupportsIndex) -> int:
        """Return what kernels of the current device may use.

        Parameters
        ----------
        limit : limit
            For example ``limit.STACK_SIZE``.

        Returns
        -------
        int

        Raises
        ------
        Error
            When the driver refuses; `NotSupportedError` on backends that have no limits.

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Context.get_limit(driver.limit.STACK_SIZE)  # doctest: +SKIP
        1024
        """
        return _core.context_limit(limit)

    @staticmethod
    def set_cache_config(cc: SupportsIndex) -> None:
        """Set what the first-level cache is rather used for, where a kernel does not say.

        Parameters
        ----------
        cc : func_cache
            For example ``func_cache.PREFER_L1``. A preference: a device may have no choice.

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Context.set_cache_config(driver.func_cache.PREFER_NONE)
        """
        _core.set_context_cache(func_cache(operator.index(cc)))

    @staticmethod
    def get_cache_config() -> func_cache:
        """Return what the first-level cache is rather used for.

        Returns
        -------
        func_cache

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Context.get_cache_config().name
        'PREFER_NONE'
        """
        return func_cache(_core.context_cache())

    @staticmethod
    def set_shared_config(config: SupportsIndex) -> None:
        """Do nothing: no device since 2014 has banks of more than one size.

        Parameters
        ----------
        config : shared_config
            The size.

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Context.set_shared_config(driver.shared_config.EIGHT_BYTE_BANK_SIZE)
        """
        shared_config(operator.index(config))

    @staticmethod
    def get_shared_config() -> shared_config:
        """Return the bytes of a bank of shared memory.

        Returns
        -------
        shared_config

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Context.get_shared_config().name
        'FOUR_BYTE_BANK_SIZE'
        """
        return shared_config.FOUR_BYTE_BANK_SIZE

    @staticmethod
    def enable_peer_access(peer: Context, flags: SupportsIndex = 0) -> None:
        """Let the current device read the memory of another context's device.

        Parameters
        ----------
        peer : Context
            The other one.
        flags : int, optional
            Must be 0.

        Raises
        ------
        Error
            When no path leads there.

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Context.enable_peer_access(other)  # doctest: +SKIP
        """
        if operator.index(flags) != 0:
            raise logic_error("cuCtxEnablePeerAccess", 1, "CUDA_ERROR_INVALID_VALUE", "flags must be 0")
        Context.get_device().native.enable_peer_access(peer._device.native)

    @staticmethod
    def disable_peer_access(peer: Context, flags: SupportsIndex = 0) -> None:
        """End what `enable_peer_access` began.

        Parameters
        ----------
        peer : Context
            The other one.
        flags : int, optional
            Must be 0.

        Raises
        ------
        Error
            When it was not enabled.

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Context.disable_peer_access(other)  # doctest: +SKIP
        """
        if operator.index(flags) != 0:
            raise logic_error("cuCtxDisablePeerAccess", 1, "CUDA_ERROR_INVALID_VALUE", "flags must be 0")
        _core.disable_peer_access(Context.get_device().native, peer._device.native)

    def get_api_version(self) -> int:
        """Return the version of the interface that the context has.

        Returns
        -------
        int

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Device(0).retain_primary_context().get_api_version() >= 3010
        True
        """
        return _core.context_version(self._device.native)

    @property
    def handle(self) -> int:
        """The driver's handle; 0 where a backend has no contexts."""
        return _core.context_handle(self._device.native)

    def __repr__(self) -> str:
        ended = ", detached" if self._is_ended else ""
        return f"<PyGPU.driver.Context of {self._device.native}{ended}>"


def _activate() -> None:
    """Make the device on top of the stack the current one; that of before the first context if there is none."""
    _core.set_device(_stack.contexts[-1]._device.native if _stack.contexts else _stack.outside)
