"""Determine why the tests of a job must run again, from the job's exit status and its report."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import jobs
import reports

# Exit statuses of pytest after a complete run: all tests passed, some failed, or all were deselected.
COMPLETE = (0, 1, 5)


class Cause(Enum):
    """Name the causes for which the tests of a job must run again."""

    FAILURE = "a test failed"
    NO_MEMORY = "no device memory"
    STOP = "stopped"
    SIGNAL = "crashed: signal"
    STATUS = "exit status"


class Reason(NamedTuple):
    """Hold a cause and its detail, such as the limit or the signal."""

    cause: Cause
    detail: str = ""

    def __str__(self) -> str:
        if self.cause is Cause.STOP:
            return f"{self.cause.value}: {self.detail}"
        return f"{self.cause.value} {self.detail}".rstrip()

    @property
    def may_be_of_others(self) -> bool:
        """Return whether other processes may have caused the failure; if so, the outcome of a second run counts."""
        return self.cause is not Cause.FAILURE

    @property
    def has_lost_tests(self) -> bool:
        """Return whether the process ended before its last test."""
        return self.cause not in (Cause.FAILURE, Cause.NO_MEMORY)


def reason_of(job: jobs.Job, cases: Sequence[reports.Case]) -> Reason | None:
    """Return why some tests of a job must run again alone, or None."""
    status = job.status or 0
    if job.stopped is not None:
        return Reason(Cause.STOP, job.stopped.value)
    if status not in COMPLETE and not reports.failures(cases):
        return Reason(Cause.SIGNAL, str(-status)) if status < 0 else Reason(Cause.STATUS, str(status))
    if reports.lacks_memory(cases):
        return Reason(Cause.NO_MEMORY)
    return Reason(Cause.FAILURE) if reports.failures(cases) else None
