"""Run commands in parallel on a shared device, each with a limit of its time and of its host memory."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from file_batches import Piece

# Seconds between two checks of the running commands, and between two measurements of their memory.
POLL = 0.02
MEASURE = 0.5
# Seconds for which an aborted command may still run, so that it can write the stacks of its threads.
GRACE = 3.0
PAGE = os.sysconf("SC_PAGE_SIZE")


class Limit(Enum):
    """Name the limit at which a command was stopped."""

    TIME = "time"
    HOST_MEMORY = "host memory"
    TOTAL_TIME = "total time"


@dataclass
class Job:
    """Hold one command, and its state after it has ended."""

    pieces: tuple[Piece, ...]
    command: list[str]
    log: Path
    report: Path
    seconds: float = 0.0
    status: int | None = None
    # The limit at which the command was stopped, or None if the command ended by itself.
    stopped: Limit | None = None
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    began: float = 0.0
    aborted: float = 0.0

    def start(self, environment: Mapping[str, str]) -> None:
        """Start the command as the leader of a new session, so that it is stopped together with its children."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.began = time.monotonic()
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
            )

    def has_ended(self) -> bool:
        """Return whether the command has ended, and record its status."""
        assert self.process is not None
        self.status = self.process.poll()
        if self.status is None:
            return False
        self.seconds = time.monotonic() - self.began
        self.kill()
        return True

    def stop(self, why: Limit) -> None:
        """Abort the command, which then writes its stacks; kill it if it still runs after `GRACE`."""
        assert self.process is not None
        now = time.monotonic()
        if not self.aborted:
            self.stopped, self.aborted = why, now
            self.process.send_signal(signal.SIGABRT)
        elif now - self.aborted > GRACE:
            self.kill()

    def kill(self) -> None:
        """Kill all remaining processes of the command's session."""
        assert self.process is not None
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return


@dataclass
class Limits:
    """Hold the end of the run, and each command's limits: seconds, host memory, free device memory at its start."""

    seconds: float
    host_bytes: int
    device_bytes: int
    deadline: float


def run(
    jobs: Iterable[Job], processes: int, limits: Limits, environment: Mapping[str, str], ended: Callable[[Job], None]
) -> list[Job]:
    """Run jobs in order, up to `processes` at a time.

    Return the jobs that had not started when the time of the run ended.
    """
    waiting, running = list(jobs), []
    device, measured = DeviceMemory(), 0.0
    while waiting or running:
        now = time.monotonic()
        if now > limits.deadline:
            for job in running:
                job.stop(Limit.TOTAL_TIME)
        elif len(running) < processes and waiting and (not running or device.has_free(limits.device_bytes)):
            running.append(waiting.pop(0))
            running[-1].start(environment)
            continue
        is_measured = now - measured > MEASURE
        used = memory_of_sessions() if is_measured else {}
        measured = now if is_measured else measured
        for job in list(running):
            if job.has_ended():
                running.remove(job)
                ended(job)
            elif now - job.began > limits.seconds:
                job.stop(Limit.TIME)
            elif used.get(job.process.pid if job.process else 0, 0) > limits.host_bytes:
                job.stop(Limit.HOST_MEMORY)
        if not running and now > limits.deadline:
            return waiting
        time.sleep(POLL)
    return waiting


def memory_of_sessions() -> dict[int, int]:
    """Return, for each session, the host memory in bytes that its processes use together."""
    used: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            # Parse only the fields after the program's name, because the name, in parentheses, may contain spaces.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            pages = int((folder / "statm").read_text().split()[1])
        except (OSError, IndexError, ValueError):
            continue  # The process ended before it was measured.
        session = int(fields[3])
        used[session] = used.get(session, 0) + pages * PAGE
    return used


class DeviceMemory:
    """Query the free memory of the devices, at most once a second."""

    def __init__(self) -> None:
        self.program = shutil.which("nvidia-smi")
        self.query_time = 0.0
        self.free: int | None = None

    def has_free(self, needed: int) -> bool:
        """Return whether each device has the requested free memory, or True if no tool reports the free memory."""
        if self.program is not None and time.monotonic() - self.query_time > 1:
            self.query_time = time.monotonic()
            self.free = self._query(self.program)
        return self.free is None or self.free >= needed

    @staticmethod
    def _query(program: str) -> int | None:
        command = [program, "--query-gpu=memory.free", "--format=csv,noheader,nounits"]
        if visible := os.environ.get("CUDA_VISIBLE_DEVICES"):
            command.append(f"--id={visible}")
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
            return min(int(line) for line in done.stdout.split()) << 20
        except (OSError, ValueError, subprocess.SubprocessError):
            return None
