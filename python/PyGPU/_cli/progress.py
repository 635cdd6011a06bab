"""The bar of a command that takes a while."""

from typing import TextIO


class Progress:
    """A bar on one line, only where somebody watches."""

    WIDTH = 30

    def __init__(self, steps: int, stream: TextIO) -> None:
        self._steps = steps
        self._done = 0
        self._stream = stream if stream.isatty() else None

    def step(self, what: str) -> None:
        """Say what comes next, after what is done."""
        if self._stream is not None:
            filled = self.WIDTH * self._done // max(self._steps, 1)
            bar = "#" * filled + "." * (self.WIDTH - filled)
            # To the line's beginning, and what was longer is wiped out.
            self._stream.write(f"\r\x1b[K[{bar}] {what}")
            self._stream.flush()
        self._done += 1

    def end(self) -> None:
        """Leave the line as it was."""
        if self._stream is not None:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
