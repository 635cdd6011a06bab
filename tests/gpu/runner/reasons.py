"""Determine from a job's end and its report why its tests must run again."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import jobs
import reports

# pytest's exit statuses of a run to the end: all passed, some failed, all deselected.
COMPLETE = (0, 1, 5)


class Cause(Enum):
    """Why a job did not simply pass."""

    FAILURE = "a test failed"
    NO_MEMORY = "no device memory"
    STOP = "stopped"
    SIGNAL = "crashed: signal"
    STATUS = "exit status"


class Reason(NamedTuple):
    """A cause and its detail, such as the limit or the signal."""

    cause: Cause
    detail: str = ""

    def __str__(self) -> str:
        if self.cause is Cause.STOP:
            return f"{self.cause.value}: {self.detail}"
        return f"{self.cause.value} {self.detail}".rstrip()

    @property
    def may_be_of_others(self) -> bool:
        """Whether other processes on the device may be the cause, so that a second run decides."""
        return self.cause is not Cause.FAILURE

    @property
    def has_lost_tests(self) -> bool:
        """Whether the process ended before its last test."""
        return self.cause not in (Cause.FAILURE, Cause.NO_MEMORY)


def reason_of(job: jobs.Job, cases: Sequence[reports.Case]) -> Reason | None:
    """Return why a job's tests, or some of them, must run again alone, or None."""
    status = job.status or 0
    if job.stopped is not None:
        return Reason(Cause.STOP, job.stopped.value)
    if status not in COMPLETE and not reports.failures(cases):
        return Reason(Cause.SIGNAL, str(-status)) if status < 0 else Reason(Cause.STATUS, str(status))
    if reports.lacks_memory(cases):
        return Reason(Cause.NO_MEMORY)
    return Reason(Cause.FAILURE) if reports.failures(cases) else None
