"""Define the performance goals of PyGPU, on one H200 with 16 cores and on the CPU backend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MIB, GIB = 1 << 20, 1 << 30
SUBJECT, REFERENCE, FLOOR = "PyGPU", "NumPy", "floor"
OTHERS = (SUBJECT, REFERENCE, FLOOR)
RATE, TIME = "GB/s", "ns"
Figures = dict[str, float]


@dataclass(frozen=True)
class Goal:
    """Define one goal: a measured case, and the limit of its value.

    The limit may be the driver's own time plus a fixed amount.
    """

    what: str
    unit: str
    # Name of a case in small_calls.py or of a transfer in transfers.py. Only transfers have a `size`, and a `floor`:
    # the name of the driver's own transfer.
    name: str
    limit: float
    over_floor: bool = False
    size: int = 0
    floor: str = ""
    # The derivation of the limit in words, unless the limit is a fixed value.
    why: str = ""

    def figures(self, results: dict[str, Any]) -> Figures:
        """Return the measured values of the goal's case, by library."""
        if self.unit == TIME:
            return next((case["nanoseconds"] for case in results["calls"] if case["case"] == self.name), {})
        bus = self._rates(results, self.floor).get(FLOOR)
        return self._rates(results, self.name) | ({} if bus is None else {FLOOR: bus})

    def _rates(self, results: dict[str, Any], way: str) -> Figures:
        rows = (row for row in results["transfers"] if (row["way"], row["bytes"]) == (way, self.size))
        return next((row["gigabytes_per_second"] for row in rows), {})

    def evaluate(self, results: dict[str, Any]) -> dict[str, Any]:
        """Return the goal, the measured values, and whether PyGPU meets the goal, as a dictionary."""
        figures = self.figures(results)
        own, floor = figures.get(SUBJECT), figures.get(FLOOR)
        peers = {name: value for name, value in figures.items() if name not in OTHERS}
        best = (max if self.unit == RATE else min)(peers, key=peers.__getitem__) if peers else None
        limit = None if self.over_floor and floor is None else self.limit + (floor or 0) * self.over_floor
        within = None
        if own is not None and limit is not None:
            within = own >= limit if self.unit == RATE else own <= limit
        return {
            "what": self.what,
            "unit": self.unit,
            "PyGPU": own,
            "goal": limit,
            "goal_is": self.why,
            "within": within,
            "floor": floor,
            "best_peer": best,
            "best_peer_figure": peers.get(best) if best else None,
        }


def call(what: str, name: str, limit: float, over_floor: bool = False) -> Goal:
    """Define the goal of a small call, in nanoseconds."""
    return Goal(what, TIME, name, limit, over_floor, why=f"driver + {limit} ns" if over_floor else "")


def transfer(what: str, way: str, size: int, limit: float, floor: str) -> Goal:
    """Define the goal of a transfer of one size, relative to the driver's copy of pinned memory."""
    return Goal(what, RATE, way, limit, size=size, floor=floor)


UP, DOWN = "to device, pinned", "into pinned"
FRESH, DROPPED = "from device, fresh", "from device, dropped"

GOALS = [
    transfer("to_gpu, pageable float32, 256 MiB", "to device", 256 * MIB, 44, UP),
    transfer("to_gpu, pageable float32, 1 GiB", "to device", GIB, 50, UP),
    transfer("to_gpu, 16 MiB", "to device", 16 * MIB, 28, UP),
    transfer("get, 256 MiB, fresh result memory every time", FRESH, 256 * MIB, 32, DOWN),
    transfer("get, 1 GiB, fresh result memory every time", FRESH, GIB, 32, DOWN),
    transfer("get in a loop whose result is dropped, 256 MiB", DROPPED, 256 * MIB, 48, DOWN),
    transfer("get in a loop whose result is dropped, 1 GiB", DROPPED, GIB, 50, DOWN),
    transfer("to_gpu of a strided host array (every second column), 256 MiB", "to device, strided", 256 * MIB, 25, UP),
    call("to_gpu of 5 floats", "to_gpu(five floats)", 6500),
    call("get of 5 floats", "get() of five floats", 8000),
    call("empty((3, 3)) and its drop", "empty((3, 3), f32)", 900),
    call("a[1:3]", "a[1:3]", 250),
    call("a[1]", "a[1]", 250),
    call("a[..., 1:4:2]", "a[..., 1:4:2]", 250),
    call("shape", "a.shape", 60),
    call("dtype", "a.dtype", 60),
    call("ptr", "ptr", 60),
    call("`__cuda_array_interface__`", "__cuda_array_interface__", 400),
    call("`__dlpack__()`", "__dlpack__()", 300),
    call("from_dlpack of a torch tensor", "from_dlpack(torch's)", 900),
    call("torch.from_dlpack of ours", "torch.from_dlpack(array)", 1500),
    call("event record", "event.record(stream)", 60, over_floor=True),
    call("stream wait", "stream.wait_event(event)", 60, over_floor=True),
    call("synchronize of an idle stream", "stream.synchronize()", 60, over_floor=True),
]


# On the CPU backend `to_gpu` and `get` are plain copies, so NumPy's copy is the reference. The required rate is
# `OF_NUMPY` times NumPy's rate, so that PyGPU reaches the goal despite noise of 10 %.
COPIES = {"to_gpu": "to device", "get in a loop whose result is dropped": DROPPED, "set": "into device"}
OF_NUMPY = 0.9


def copies(results: dict[str, Any]) -> list[Goal]:
    """Define the CPU backend's goals for transfers, relative to NumPy's copies of the same sizes in the same run."""
    return [
        Goal(f"{what}, {row['bytes'] / MIB:g} MiB", RATE, way, OF_NUMPY * rate, size=row["bytes"], why="0.9 of NumPy's")
        for what, way in COPIES.items()
        for row in results["transfers"]
        if row["way"] == way and row["bytes"] >= MIB
        if (rate := row["gigabytes_per_second"].get(REFERENCE)) is not None
    ]


def evaluate(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Evaluate all goals for the backend that was measured."""
    return [goal.evaluate(results) for goal in (copies(results) if results["backend"] == "cpu" else GOALS)]
