"""Push, pop and configure primary contexts, which are the only contexts that PyGPU uses.

A context corresponds to a device. Each thread has a stack of contexts, which determines its current device. A missing
`pop` is no error. The classes `Context` and `Device` use each other and are therefore both in ``driver/device.py``.
`Context` derives from `PrimaryContext`.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from PyGPU import _core

if TYPE_CHECKING:
    from PyGPU._pycuda.driver.device import Context

__all__ = ["PrimaryContext", "innermost"]


class _Stack(threading.local):
    """Per-thread state: the stack of pushed contexts, of which the last one is current."""

    def __init__(self) -> None:
        self.contexts: list[PrimaryContext] = []


_stack = _Stack()


class PrimaryContext:
    """Base class of `Context` with the methods that do not use the class `Device`.

    Parameters
    ----------
    device : PyGPU.Device
        Device of the context.
    """

    def __init__(self, device: _core.Device) -> None:
        self._device = device
        self._is_detached = False

    def _check(self) -> None:
        if self._is_detached:
            raise _core.InvalidValueError("the context was detached")

    def push(self) -> None:
        """Push the context on this thread's stack of contexts, and thereby make the context current.

        Raises
        ------
        LogicError
            If the context is detached.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> context = drv.Device(0).retain_primary_context()
        >>> context.push()
        >>> context.pop()
        """
        self._check()
        self._device.make_current()
        _stack.contexts.append(self)

    @staticmethod
    def pop() -> None:
        """Pop the current context from this thread's stack; the next context on the stack becomes current again.

        Raises
        ------
        LogicError
            If this thread's stack of contexts is empty.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> context = drv.Device(0).make_context()
        >>> drv.Context.pop()
        """
        if not _stack.contexts:
            raise _core.InvalidValueError("Context.pop(): this thread has pushed no context")
        _stack.contexts.pop()
        _restore()

    def detach(self) -> None:
        """Detach the context; if it is current, the next context on the stack becomes current.

        Raises
        ------
        LogicError
            If the context is already detached.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Device(0).make_context().detach()
        """
        self._check()
        self._is_detached = True
        was_current = bool(_stack.contexts) and _stack.contexts[-1] is self
        _stack.contexts[:] = [context for context in _stack.contexts if context is not self]
        if was_current:
            _restore()

    @staticmethod
    def synchronize() -> None:
        """Wait for all work on the current device.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Context.synchronize()
        """
        _core.synchronize()

    @staticmethod
    def get_limit(lim: int) -> int:
        """Return a resource limit of the current context, such as its stack size.

        Parameters
        ----------
        lim : int
            A member of `limit`.

        Returns
        -------
        int

        Raises
        ------
        NotSupportedError
            If the driver does not support the limit.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Context.get_limit(drv.limit.STACK_SIZE)  # doctest: +SKIP
        1024
        """
        return _core.context_limit(int(lim))

    @staticmethod
    def set_limit(lim: int, value: int) -> None:
        """Set a resource limit of the current context, such as its stack size.

        Parameters
        ----------
        lim : int
            A member of `limit`.
        value : int
            The new value, in bytes or as a count, depending on the limit.

        Raises
        ------
        NotSupportedError
            If the driver does not support the limit.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Context.set_limit(drv.limit.PRINTF_FIFO_SIZE, 1 << 20)  # doctest: +SKIP
        """
        _core.set_context_limit(int(lim), value)

    @staticmethod
    def get_cache_config() -> int:
        """Return the preferred split of on-chip memory between L1 cache and shared memory.

        Returns
        -------
        int
            A member of `func_cache`.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Context.get_cache_config()  # doctest: +SKIP
        0
        """
        return _core.context_cache_preference()

    @staticmethod
    def set_cache_config(cc: int) -> None:
        """Set the preferred split of on-chip memory between L1 cache and shared memory.

        Parameters
        ----------
        cc : int
            A member of `func_cache`.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Context.set_cache_config(drv.func_cache.PREFER_L1)  # doctest: +SKIP
        """
        _core.set_context_cache_preference(int(cc))

    @staticmethod
    def get_shared_config() -> int:
        """Return the bank width of shared memory, which is always the default: current GPUs have no other width.

        Returns
        -------
        int
            A member of `shared_config`.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Context.get_shared_config() == drv.shared_config.FOUR_BYTE_BANK_SIZE
        True
        """
        from PyGPU._pycuda.driver.enums import shared_config

        return shared_config.FOUR_BYTE_BANK_SIZE

    @staticmethod
    def set_shared_config(sc: int) -> None:
        """Do nothing, because the bank width of shared memory is fixed on current GPUs.

        Parameters
        ----------
        sc : int
            A member of `shared_config`.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Context.set_shared_config(drv.shared_config.DEFAULT_BANK_SIZE)
        """

    def enable_peer_access(self, peer: Context, flags: int = 0) -> None:
        """Allow kernels on this context's device to access the memory of another context's device.

        Parameters
        ----------
        peer : Context
            Context of the device whose memory becomes accessible.
        flags : int, optional
            Accepted for compatibility with PyCUDA; pass 0.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> first, second = (drv.Device(i).retain_primary_context() for i in range(2))  # doctest: +SKIP
        >>> first.enable_peer_access(second)  # doctest: +SKIP
        """
        self._device.enable_peer_access(peer._device)

    def disable_peer_access(self, peer: Context) -> None:
        """Do nothing: all libraries share the primary contexts, and another library may be using the peer access.

        Parameters
        ----------
        peer : Context
            Accepted for compatibility with PyCUDA; it has no effect.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> context = drv.Context.get_current()
        >>> context.disable_peer_access(context)
        """

    @staticmethod
    def get_api_version() -> int:
        """Return the version of the context's API.

        Returns
        -------
        int

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Context.get_api_version()
        3020
        """
        return 3020

    @property
    def handle(self) -> int:
        """The driver's handle of the primary context; 0 if the backend has no contexts."""
        return _core.context_handle(self._device)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PrimaryContext) and self._device == other._device

    def __hash__(self) -> int:
        return hash(self._device)

    def __repr__(self) -> str:
        return f"<PyGPU.driver.Context of {self._device}>"


def innermost() -> PrimaryContext | None:
    """Return the context on top of this thread's stack; None if the stack is empty."""
    return _stack.contexts[-1] if _stack.contexts else None


def _restore() -> None:
    """Make the device of the top context on the stack current; do nothing if the stack is empty."""
    if _stack.contexts:
        _stack.contexts[-1]._device.make_current()
