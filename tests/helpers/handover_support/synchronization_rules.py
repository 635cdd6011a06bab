"""Define for each protocol that passes memory between libraries which side must wait, as its standard requires.

`handovers.py` generates only programs that keep these rules. Before the first use by the consumer:

- `PRODUCER`: the consumer names its stream, and the producer makes that stream wait (DLPack, `__dlpack__(stream=...)`).
- `CONSUMER`: the producer names a stream, and the consumer waits for it (array interface, entry `stream`).
- `PROGRAM`: neither side learns of the other's stream, so the program waits. This applies to array interfaces without
  `stream`, to addresses, and to DLPack's exchange table, whose functions do not synchronize: the caller makes the
  consumer's stream wait for the producer's `current_work_stream`.
- `NOBODY`: work of the host is complete when its call returns.

When the consumer deletes its array, the memory may return to its owner while the consumer's last work is pending:

- `OWNER`: the owner has received the consumer's stream, and waits for it before it reuses the memory.
- `PROGRAM`: the owner has not received the stream. The program waits for the consumer's work, or records it by
  `record_stream`, before it deletes the last array.

`illegal_programs.py` contains programs that break these rules.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CONSUMER", "NOBODY", "OWNER", "PRODUCER", "PROGRAM", "RULES", "Rule", "rule_of"]

PRODUCER, CONSUMER, PROGRAM, NOBODY, OWNER = "producer", "consumer", "program", "nobody", "owner"


class Rule(NamedTuple):
    """Name the sides that must wait: before the consumer's first use of the memory, and at its array's deletion."""

    first_use: str
    end: str


RULES: dict[tuple[str, str, str], Rule] = {
    # PyGPU imports by the producer's exchange table, DLPack methods or array interface, and passes its current stream
    # to the producer.
    ("*", "PyGPU", "from_dlpack"): Rule(PRODUCER, PROGRAM),
    ("*", "PyGPU", "asarray"): Rule(PRODUCER, PROGRAM),
    ("*", "PyGPU", "interface"): Rule(CONSUMER, PROGRAM),
    ("torch", "PyGPU", "interface"): Rule(PROGRAM, PROGRAM),
    ("JAX", "PyGPU", "interface"): Rule(PROGRAM, PROGRAM),
    ("*", "PyGPU", "hostile"): Rule(PRODUCER, PROGRAM),
    ("*", "PyGPU", "table"): Rule(PROGRAM, PROGRAM),
    ("*", "PyGPU", "address"): Rule(PROGRAM, PROGRAM),
    # If producer and consumer are both arrays of PyGPU, PyGPU tracks the uses of both, because they share one memory
    # block.
    ("PyGPU", "PyGPU", "from_dlpack"): Rule(PRODUCER, OWNER),
    ("PyGPU", "PyGPU", "asarray"): Rule(PRODUCER, OWNER),
    ("PyGPU", "PyGPU", "interface"): Rule(CONSUMER, OWNER),
    ("PyGPU", "PyGPU", "table"): Rule(PRODUCER, OWNER),
    ("PyGPU", "PyGPU", "address"): Rule(PROGRAM, OWNER),
    ("*", "NumPy", "from_dlpack"): Rule(NOBODY, NOBODY),
    ("*", "NumPy", "asarray"): Rule(NOBODY, NOBODY),
    ("*", "NumPy", "hostile"): Rule(NOBODY, NOBODY),
    # The producer of an array interface does not learn on which stream the consumer works.
    ("*", "torch", "as_tensor"): Rule(PROGRAM, PROGRAM),
    ("*", "torch", "from_dlpack"): Rule(PRODUCER, PROGRAM),
    ("PyGPU", "torch", "from_dlpack"): Rule(PRODUCER, OWNER),
    ("*", "torch", "hostile"): Rule(PROGRAM, PROGRAM),
    ("*", "CuPy", "asarray"): Rule(CONSUMER, PROGRAM),
    ("torch", "CuPy", "asarray"): Rule(PROGRAM, PROGRAM),
    ("JAX", "CuPy", "asarray"): Rule(PROGRAM, PROGRAM),
    ("*", "CuPy", "from_dlpack"): Rule(PRODUCER, PROGRAM),
    ("PyGPU", "CuPy", "from_dlpack"): Rule(PRODUCER, OWNER),
    ("*", "numba", "as_cuda_array"): Rule(PROGRAM, PROGRAM),
    # JAX itself chooses the streams on which it works, and passes none of these streams to other libraries.
    ("*", "JAX", "from_dlpack"): Rule(PRODUCER, PROGRAM),
    ("*", "cuda.core", "view"): Rule(PRODUCER, PROGRAM),
    ("torch", "cuda.core", "view"): Rule(PRODUCER, PROGRAM),
    ("PyGPU", "cuda.core", "view"): Rule(PRODUCER, OWNER),
}
"""Rules by producer, consumer and protocol; ``*`` stands for each producer that has no separate row."""


def rule_of(producer: str, consumer: str, way: str) -> Rule:
    """Return the rule for a protocol by which a producer passes memory to a consumer.

    Raises ------ KeyError If the protocol has no rule.
    """
    return RULES.get((producer, consumer, way)) or RULES["*", consumer, way]
