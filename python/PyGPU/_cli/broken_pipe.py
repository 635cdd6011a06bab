"""End a command without a traceback if the reader of its output pipe has closed the pipe, as ``head -1`` does."""

import contextlib
import os
import select
import signal
import sys
from collections.abc import Iterator


def _is_output_closed() -> bool:
    """Test whether the standard output is a pipe or socket whose other end is closed."""
    try:
        descriptor = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):
        return False
    poll = select.poll()
    poll.register(descriptor, 0)  # `poll` reports errors even with an empty event mask.
    return any(events & select.POLLERR for _, events in poll.poll(0))


@contextlib.contextmanager
def quiet_end() -> Iterator[None]:
    """Execute a ``with`` block that prints; exit without a traceback if the reader of the output has closed the pipe.

    Raises
    ------
    SystemExit
        If the reader has closed the pipe; the exit status is that of a program that SIGPIPE has ended.
    BrokenPipeError
        If the block wrote to a closed pipe other than the standard output.
    """
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        if not _is_output_closed():
            raise
        # When the process ends, Python flushes the output again. This flush must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
