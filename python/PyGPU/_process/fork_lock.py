"""Create reentrant locks for modules; a forked child process can still take these locks."""

from __future__ import annotations

import os
import threading

__all__ = ["fork_safe_lock"]


def fork_safe_lock() -> threading.RLock:
    """Return a lock that no other thread holds while the process forks.

    The lock and its registration exist until the process ends, so only modules may create such locks. The lock is
    reentrant: in a thread that holds the lock, the garbage collector may run code that takes the lock again.

    Examples
    --------
    >>> from PyGPU._process.fork_lock import fork_safe_lock
    >>> lock = fork_safe_lock()
    >>> with lock, lock:
    ...     print("locked twice")
    locked twice
    """
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
