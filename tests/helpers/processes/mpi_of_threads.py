"""Simulate MPI processes by threads: provide the methods of mpi4py's communicator that a program uses."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class World:
    """Act as the group of all threads, which corresponds to MPI's COMM_WORLD."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.barrier = threading.Barrier(size)
        self.sent: Any = None
        self.parts: list[Any] = [None] * size

    def run(self, program: Callable[[Comm], None]) -> None:
        """Run a program in each thread. If the program fails in a thread, raise the exception of that thread."""
        failed: list[BaseException] = []

        def run_one(rank: int) -> None:
            try:
                program(Comm(self, rank))
            except BaseException as error:
                failed.append(error)
                self.barrier.abort()  # Otherwise the other threads would wait forever for this thread.

        threads = [threading.Thread(target=run_one, args=(rank,)) for rank in range(self.size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]


class Comm:
    """Act as the communicator of one thread."""

    def __init__(self, world: World, rank: int) -> None:
        self.world, self.rank = world, rank

    def scatter(self, sendbuf: Any, root: int) -> Any:
        if self.rank == root:
            self.world.sent = sendbuf
        self.world.barrier.wait(60)
        return self.world.sent[self.rank]

    def gather(self, sendbuf: Any, root: int) -> list[Any] | None:
        self.world.parts[self.rank] = sendbuf
        self.world.barrier.wait(60)
        return list(self.world.parts) if self.rank == root else None
