"""Divide test files among processes by the times of an earlier run: split long files, and batch short files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import reports

# Estimated seconds per byte of a test file that no earlier result lists. The number affects only the order of the
# files.
SECONDS_PER_BYTE = 1e-3


@dataclass(frozen=True, order=True)
class Piece:
    """Identify a test file, or one of several parts of its tests."""

    file: str
    part: int = 0
    parts: int = 1

    def __str__(self) -> str:
        return self.file if self.parts == 1 else f"{self.file} ({self.part + 1} of {self.parts})"


class Estimate(NamedTuple):
    """Hold the run time of a test file in seconds, and whether an earlier run measured it."""

    seconds: float
    is_measured: bool


Estimates = Mapping[str, Estimate]


def estimates(files: Sequence[str], earlier: Iterable[Path]) -> dict[str, Estimate]:
    """Return the run time of each file in seconds, from the last result that lists it, or estimated by its size."""
    known: dict[str, float] = {}
    for path in earlier:
        known |= reports.seconds_of_files(json.loads(path.read_text())) if path.exists() else {}
    return {
        file: Estimate(known.get(file, Path(file).stat().st_size * SECONDS_PER_BYTE), file in known) for file in files
    }


def pieces(files: Sequence[str], seconds: Estimates, most: float) -> list[Piece]:
    """Divide each file with a measured time into parts of about `most` seconds."""
    made = []
    for file in files:
        parts = max(1, round(seconds[file].seconds / most)) if seconds[file].is_measured else 1
        made += [Piece(file, part, parts) for part in range(parts)]
    return made


def batches(chosen: Sequence[Piece], seconds: Estimates, most: float) -> list[tuple[Piece, ...]]:
    """Group test files into batches of up to `most` seconds, longest first.

    A part of a file, or a file without a measured time, is a separate batch.
    """

    def of(piece: Piece) -> float:
        return seconds[piece.file].seconds / piece.parts

    ordered = sorted(chosen, key=lambda piece: (-of(piece), piece))
    alone = [piece for piece in ordered if piece.parts > 1 or not seconds[piece.file].is_measured or of(piece) >= most]
    result = [(piece,) for piece in alone]
    batch: list[Piece] = []
    for piece in sorted(set(ordered) - set(alone), key=ordered.index):
        if batch and sum(map(of, batch)) + of(piece) > most:
            result.append(tuple(batch))
            batch = []
        batch.append(piece)
    return [*result, tuple(batch)] if batch else result
