"""Run programs in several communicating processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
import time


def free_port() -> int:
    """Return the number of a network port that is currently unused."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def run(script: str, processes: int = 2, seconds: float = 120, **settings: str) -> list[str]:
    """Run a script in several processes and return the output of each.

    If a process fails or exceeds the time limit, an error is raised and the other processes are terminated.
    """
    common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(processes)}
    common |= {"NCCL_NVLS_ENABLE": "0", **settings}
    command = [sys.executable, "-c", textwrap.dedent(script)]
    started = [
        subprocess.Popen(
            command,
            env=os.environ | common | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(processes)
    ]
    end = time.monotonic() + seconds
    try:
        while any(each.poll() is None for each in started) and not any(each.poll() for each in started):
            assert time.monotonic() < end, f"the processes take longer than {seconds} seconds"
            time.sleep(0.02)
    finally:
        failed = [rank for rank, each in enumerate(started) if each.poll()]
        for each in started:
            each.kill()
        said = [each.communicate()[0] for each in started]
    assert not failed, f"process {failed[0]} failed:\n{said[failed[0]]}"
    return said
