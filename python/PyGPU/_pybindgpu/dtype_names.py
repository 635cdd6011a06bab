"""Names of the ten dtypes that PybindGPU supports, its enumeration `dtype`, and the error for other dtypes."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, overload

import numpy

from PyGPU._names.public import public, public_values

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["SUPPORTED_DTYPES", "UnsupportedDataType", "dtype"]

SUPPORTED_DTYPES = (
    "int16",
    "int32",
    "int64",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
"""The labels: NumPy's names of the supported dtypes, in the order of the values of the enumeration `dtype`."""

_ALIASES = {
    "short_alias": "int16",
    "int_alias": "int32",
    "long_alias": "int64",
    "unsigned_short_alias": "uint16",
    "unsigned_alias": "uint32",
    "unsigned_int_alias": "uint32",
    "unsigned_long_alias": "uint64",
    "float_alias": "float32",
    "double_alias": "float64",
    "complex64_alias": "complex64",
    "complex128_alias": "complex128",
}


class UnsupportedDataType(TypeError):
    """Error for a dtype without an array class in PybindGPU, i.e. not one of `SUPPORTED_DTYPES`.

    Examples
    --------
    >>> from PyGPU.gpuarray import HostAllocator, UnsupportedDataType
    >>> try:
    ...     HostAllocator((3, 5), "bool")
    ... except UnsupportedDataType as error:
    ...     print("refused")
    refused
    """


class _DTypeMeta(type):
    """Metaclass of `dtype`, which makes ``isinstance(x, dtype)`` true for NumPy's dtypes."""

    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) or isinstance(instance, numpy.dtype)


@public("Types and constants")
class dtype(metaclass=_DTypeMeta):
    """Raw data types: NumPy's dtypes, and PybindGPU's enumeration of data types.

    A number selects a member of the enumeration. The members are attributes of the class as well. Any other value is
    passed to `numpy.dtype`.

    Parameters
    ----------
    value : data-type or int
        A value that `numpy.dtype` accepts, or the number of a member. A number that belongs to no member is accepted
        and gets the name ``"???"``.
    align, copy : bool, optional
        Parameters of `numpy.dtype`.
    **metadata
        Further parameters of `numpy.dtype`.

    Returns
    -------
    numpy.dtype or dtype
        The dtype, or for a number the member of the enumeration. Both are instances of `dtype`.

    Attributes
    ----------
    name : str
        Name of the data type, such as ``"float32"``. An alias has the name of the member for which it stands.
    value : int
        The number of the data type.
    __members__ : dict of str to dtype
        The ten data types by their names, eleven aliases whose names end in ``_alias``, and the end marker
        ``__size__``, whose value is the number of data types.

    Notes
    -----
    A member equals any integer of the same value and hashes like it. Functions of PyGPU and NumPy accept members as
    dtypes.

    Raises
    ------
    TypeError
        If `value` is no dtype and no integer.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.dtype("float32"), isinstance(PyGPU.zeros(3).dtype, PyGPU.dtype)
    (dtype('float32'), True)
    >>> PyGPU.dtype.float_alias, str(PyGPU.dtype(0)), PyGPU.dtype.__size__.value
    (<dtype.float32: 6>, 'dtype.int16', 10)
    """

    __slots__ = ("value",)
    __members__: ClassVar[dict[str, dtype]] = {}
    __size__: ClassVar[dtype]

    value: int

    @overload
    def __new__(cls, value: SupportsIndex) -> dtype: ...
    @overload
    def __new__(  # type: ignore[misc]
        cls, value: DTypeLike | None, align: bool = False, copy: bool = False, **metadata: Any
    ) -> numpy.dtype[Any]: ...
    def __new__(  # type: ignore[misc]
        cls, value: DTypeLike | SupportsIndex, align: bool = False, copy: bool = False, **metadata: Any
    ) -> dtype | numpy.dtype[Any]:
        """Return a member for a number, and a NumPy dtype for anything else."""
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            return numpy.dtype(value, align, copy, **metadata)  # type: ignore[arg-type]
        member = super().__new__(cls)
        object.__setattr__(member, "value", number)
        return member

    def __class_getitem__(cls, item: Any) -> Any:
        """Return ``numpy.dtype[...]``, so that `dtype` can be used in annotations."""
        return numpy.dtype[item]

    @property
    def name(self) -> str:
        """The name of the data type, or "???" for a number that belongs to no member."""
        if 0 <= self.value < len(SUPPORTED_DTYPES):
            return SUPPORTED_DTYPES[self.value]
        return "__size__" if self.value == len(SUPPORTED_DTYPES) else "???"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self!r} is constant: its {name!r} cannot be set")

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """The NumPy dtype of a member; `numpy.dtype` reads this attribute to convert the member."""
        if self.name not in SUPPORTED_DTYPES:
            raise AttributeError(f"{self!r} has no dtype")
        return numpy.dtype(self.name)

    def __int__(self) -> int:
        return self.value

    def __index__(self) -> int:
        return self.value

    def __eq__(self, other: object) -> bool:
        if type(other) is type(self):
            return self.value == other.value
        if isinstance(other, int | numpy.integer):
            return self.value == int(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"<dtype.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"dtype.{self.name}"

    def __reduce__(self) -> tuple[type[Any], tuple[int]]:
        return type(self), (self.value,)


def _add_members() -> None:
    members: dict[str, Any] = {label: dtype(value) for value, label in enumerate(SUPPORTED_DTYPES)}
    members |= {alias: members[label] for alias, label in _ALIASES.items()}
    members["__size__"] = dtype(len(SUPPORTED_DTYPES))
    for name, member in members.items():
        setattr(dtype, name, member)
    dtype.__members__.update(members)


_add_members()


def labelled_dtype(candidate: DTypeLike) -> numpy.dtype[numpy.generic]:
    """Convert a dtype argument to a NumPy dtype; raise an error if PybindGPU does not support the dtype.

    Raises
    ------
    UnsupportedDataType
        If the dtype is not one of `SUPPORTED_DTYPES` in the machine's byte order.
    """
    try:
        result = numpy.dtype(candidate)
    except TypeError as error:
        raise UnsupportedDataType(f"{candidate!r} is no dtype; supported are {', '.join(SUPPORTED_DTYPES)}") from error
    if result.name not in SUPPORTED_DTYPES or not result.isnative:
        raise UnsupportedDataType(f"dtype {result} is not supported here; supported are {', '.join(SUPPORTED_DTYPES)}")
    return result


public_values("PybindGPU's classes and constants", "SUPPORTED_DTYPES")
