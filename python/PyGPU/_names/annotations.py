"""Make `inspect.signature` and `help` show annotations without quotes and without names of private modules.

The annotations of PyGPU's functions are strings (PEP 563), because many of their types are imported only by type
checkers. `inspect.signature` shows a string in quotes.
"""

from __future__ import annotations

import re
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, ForwardRef

if TYPE_CHECKING:
    from inspect import Signature

__all__ = ["readable"]

_PRIVATE = re.compile(r"\b(?:_core\.|builtins\.|_(?=[A-Z]))")
"""The parts of an annotation that `help` omits: private modules, and the first character of a private type's name."""


class _Annotation(str):
    """Text of an annotation, whose value `typing.get_type_hints` evaluates, and whose `repr` has no quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return _PRIVATE.sub("", str.__str__(self))

    def __str__(self) -> str:
        return repr(self)

    def __format__(self, specification: str) -> str:
        return format(repr(self), specification)


def _shown(annotation: Any) -> Any:
    """Wrap an annotation that is a string, so that it is shown without quotes; return other annotations unchanged."""
    if isinstance(annotation, ForwardRef):  # `NamedTuple` converts strings to `ForwardRef`.
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str) and type(annotation) is not _Annotation:
        return _Annotation(annotation)
    return annotation


def _convert_function(function: Any) -> None:
    while isinstance(function, FunctionType):
        # The global namespace of a named tuple's `__new__` has a name that begins with `namedtuple_`.
        if function.__globals__.get("__name__", "").startswith(("PyGPU.", "namedtuple_")):
            # A wrapper may share its dictionary of annotations with a function of another library. The dictionary is
            # therefore replaced instead of changed.
            function.__annotations__ = {name: _shown(each) for name, each in function.__annotations__.items()}
            if signature := vars(function).get("__signature__"):
                vars(function)["__signature__"] = _shown_signature(signature)
        function = vars(function).get("__wrapped__")


def _shown_signature(signature: Signature) -> Signature:
    parameters = [each.replace(annotation=_shown(each.annotation)) for each in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=_shown(signature.return_annotation))


def _convert_class(converted: type) -> None:
    for base in converted.__mro__:
        if base.__module__.partition(".")[0] == "PyGPU":
            if annotations := vars(base).get("__annotations__"):
                annotations.update({name: _shown(each) for name, each in annotations.items()})
            for value in vars(base).values():
                if isinstance(value, FunctionType):
                    _convert_function(value)
                elif isinstance(value, (staticmethod, classmethod)):
                    _convert_function(value.__func__)


def readable(value: Any) -> Any:
    """Make the annotations of a public object and of its methods readable, and return the object.

    Parameters
    ----------
    value : object
        The object of a public name: a function, a class, or an instance whose class is called.

    Returns
    -------
    object
        The same object.
    """
    if isinstance(value, FunctionType):
        _convert_function(value)
    elif isinstance(value, MethodType):
        _convert_function(value.__func__)
    else:
        _convert_class(value if isinstance(value, type) else type(value))
    return value
