"""Define the entries of the tables of known differences from NumPy, and the names in the entries' conditions."""

from __future__ import annotations

import fnmatch
from typing import Any, NamedTuple

import numpy as np

import PyGPU

from . import argument_generators as generators
from .comparison import Difference
from .functions import pairs
from .operands import Operand


class _Absent:
    """Mark a parameter for which a call passes no argument."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()


BUILTINS = {one.__name__: one for one in (complex, isinstance, len, list, max, str, tuple)}
"""The functions and classes that conditions use."""


class Entry(NamedTuple):
    """Describe a known difference from NumPy: functions, a condition, PyGPU's behaviour, and the reason.

    `functions` are names, or a pattern such as `fft.*`. The condition is a Python expression. The condition can use the
    names of the function's parameters, and the keys that `names` returns.
    """

    functions: str
    condition: str
    does: str
    reason: str = ""

    def has(self, function: str) -> bool:
        return any(fnmatch.fnmatchcase(function, pattern) for pattern in self.functions.split())

    def matches(self, difference: Difference) -> bool:
        """Return whether this entry describes a given difference."""
        if not self.has(difference.call.function):
            return False
        context = Names(names(difference))
        return bool(eval(self.condition, {"__builtins__": BUILTINS}, context))


class Names(dict[str, Any]):
    """Return the names that a condition can use. A parameter without an argument has the value `ABSENT`."""

    def __missing__(self, name: str) -> Any:
        if name in BUILTINS:
            raise KeyError(name)
        return ABSENT


def names(difference: Difference) -> dict[str, Any]:
    """Return the names that a condition can test, with their values.

    absent : the value of an argument that the call omits
    keywords : the names of the arguments that are passed by keyword
    gpu : the backend is not the CPU
    numpy25 : NumPy 2.5 or newer is installed
    kind, numpy, ours : the kind of the difference and of both outcomes ("value", "objects" or the name of an error)
    foreign : a parameter for an array is a number, a list, a text or None
    text : a parameter for an array, or an element of it, is a text or None
    optional : the number of arguments that the signature does not require
    rejected : the parameters with a value that NumPy mostly rejects
    shapes, dtypes, styles : those of the array arguments
    type_names : the names of the classes of the arguments
    out_kind : how `out` differs from the result
    """
    call = difference.call
    values = dict(call.arguments)
    parameters = {parameter.name: parameter for parameter in pairs()[call.function].parameters()}
    arrays = [value for name, value in values.items() if _is_for_arrays(call.function, name)]
    operands = list(_flat(list(values.values())))
    optional = [
        name for name in values if name in parameters and parameters[name].default is not parameters[name].empty
    ]
    optional += [name for name in values if name not in parameters and not name.startswith("*")]
    found = [one for one in operands if isinstance(one, Operand)]
    return values | {
        "absent": ABSENT,
        "gpu": PyGPU.backend_name() != "cpu",
        "numpy25": np.lib.NumpyVersion(np.__version__) >= "2.5.0",
        "keywords": call.keywords,
        "kind": difference.kind,
        "numpy": difference.numpy,
        "ours": difference.ours,
        "foreign": any(_is_foreign(value) for value in arrays),
        "text": any(one is None or isinstance(one, str) for one in _flat(arrays)),
        "optional": len(optional),
        "rejected": {name for name, value in values.items() if _is_rejected(call.function, name, value)},
        "shapes": [one.shape for one in found],
        "dtypes": {one.dtype for one in found},
        "type_names": {type(one).__name__ for one in values.values()},
        "styles": {one.style for one in found},
        "out_kind": getattr(values.get("out"), "kind", None),
    }


def _is_for_arrays(function: str, name: str) -> bool:
    specification = generators.lookup(function, name)
    return isinstance(specification, str) or name in generators.LISTS_OF_ARRAYS or name == "*arguments"


def _is_foreign(value: Any) -> bool:
    """Return whether a value is a number, list, text or None in place of an array, also as an element of a list of
    arrays."""
    elements = value if type(value) in (list, tuple) else [value]
    return not elements or any(not isinstance(one, Operand) for one in elements)


def _is_rejected(function: str, name: str, value: Any) -> bool:
    specification = generators.lookup(function, name)
    return isinstance(specification, generators.Values) and any(
        type(one) is type(value) and one == value for one in specification.rejected
    )


def _flat(values: Any) -> Any:
    for value in values:
        if type(value) in (list, tuple):
            yield from _flat(value)
        else:
            yield value


def parse(text: str) -> list[Entry]:
    """Read a table of entries. Each has functions, then `if` and the condition, `does`, and `because`."""
    entries = []
    for paragraph in filter(None, text.strip().split("\n\n")):
        fields = {"": "", "if": "", "does": "", "because": ""}
        field = ""
        for line in paragraph.splitlines():
            word, _, rest = line.strip().partition(" ")
            if line.startswith(" ") and word in fields:
                field, line = word, rest
            fields[field] = f"{fields[field]} {line.strip()}".strip()
        entries.append(Entry(fields[""], fields["if"], fields["does"], fields["because"]))
    return entries
