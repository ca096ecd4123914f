"""`dataclass` and `NamedTuple` for this package: the standard ones, made at less cost.

The standard decorator writes up to eight methods for each class as source text and compiles them
(1.3 ms a class, measured on 3.11), and its module loads `inspect`. For the classes behind a search
from the shell that was a third of the time until the answer. Here the methods of a class are
closures over its fields. `typing.NamedTuple` compiles each annotation, 60 in the rows of the index
alone; here they stay text. Type checkers see the standard names; `tests/test_values.py` compares
what both make of every such class of the package.

What the package does not use is missing: ordering, fields of a base class, objects that contain
themselves.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

_NOTHING: Any = object()
_make: Any = collections.namedtuple
"""Without its type, which asks for names that stand in the source."""


class Field:
    """One field. In the body of a class it stands where a default stands."""

    __slots__ = ("annotation", "default", "default_factory", "metadata", "name", "repr")

    def __init__(
        self,
        *,
        default: Any = _NOTHING,
        default_factory: Callable[[], Any] | None = None,
        repr: bool = True,  # noqa: A002 - as the standard library calls it
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = self.annotation = ""
        self.default = default
        self.default_factory = default_factory
        self.repr = repr
        self.metadata = metadata or {}

    @property
    def has_default(self) -> bool:
        """Whether there is a default that all objects share."""
        return self.default is not _NOTHING


def _dataclass(
    *, frozen: bool = False, slots: bool = False, kw_only: bool = False, eq: bool = True
) -> Callable[[type], type]:
    """Gives a class of annotated names the methods of a value, as the standard decorator does."""

    def make(kind: type) -> type:
        found = _own_fields(kind)
        names = tuple(item.name for item in found)
        members = {
            "_fields": found,
            "_frozen": frozen,
            "__match_args__": () if kw_only else names,
            "__init__": _initializer(kind, found, kw_only),
            "__repr__": _repr,
            "__dataclass_fields__": _OfTwin(attrgetter("__dataclass_fields__")),
            "__dataclass_params__": _OfTwin(attrgetter("__dataclass_params__")),
            "__signature__": _OfTwin(_signature),
        }
        if eq:
            members |= _comparison(names, frozen)
        if frozen:
            members |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        if not slots:
            return _completed(kind, found, members)
        if frozen:
            members |= {"__getstate__": _state, "__setstate__": _restore}
        return _made_anew(kind, names, members)

    return make


def _fields(kind: Any) -> tuple[Field, ...]:
    """The fields of a class or an object, in their order."""
    found: tuple[Field, ...] = kind._fields
    return found


def _replace(value: Any, /, **changes: Any) -> Any:
    """A copy of an object, with some fields changed."""
    return type(value)(**{item.name: getattr(value, item.name) for item in value._fields} | changes)


class _TupleMaker(type):
    """Makes what `typing.NamedTuple` makes, which would compile every annotation by itself."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(cls, name, bases, body)
        names = list(body["__annotations__"])
        defaults = [body.pop(name) for name in names if name in body]
        base = _make(name, names, defaults=defaults, module=body["__module__"])
        return type(name, (base,), {**body, "__slots__": ()})


class _NamedTuple(metaclass=_TupleMaker):
    pass


if TYPE_CHECKING:
    from dataclasses import dataclass, field, fields, replace
    from typing import NamedTuple
else:
    dataclass, field, fields, replace = _dataclass, Field, _fields, _replace
    NamedTuple = _NamedTuple

__all__ = ["NamedTuple", "dataclass", "field", "fields", "replace"]


def _own_fields(kind: type) -> tuple[Field, ...]:
    found = []
    for name, annotation in kind.__annotations__.items():
        given = kind.__dict__.get(name, _NOTHING)
        item = given if isinstance(given, Field) else Field(default=given)
        item.name, item.annotation = name, annotation
        found.append(item)
    return tuple(found)


def _completed(kind: type, found: tuple[Field, ...], members: Mapping[str, Any]) -> type:
    """The class with what it lacks, and with plain defaults in place of fields."""
    for item in found:
        if item.has_default:
            setattr(kind, item.name, item.default)
        elif item.name in kind.__dict__:
            delattr(kind, item.name)
    for name, member in members.items():
        setattr(kind, name, member)
    return kind


def _made_anew(kind: type, slots: tuple[str, ...], members: Mapping[str, Any]) -> type:
    """The class once more, for slots can only be given to a class while it is made."""
    left_out = {*slots, "__dict__", "__weakref__"}
    body = {name: member for name, member in kind.__dict__.items() if name not in left_out}
    made = type(kind)(kind.__name__, kind.__bases__, {**body, **members, "__slots__": slots})
    made.__qualname__ = kind.__qualname__
    return made


def _initializer(kind: type, found: tuple[Field, ...], kw_only: bool) -> Callable[..., None]:
    names = tuple(item.name for item in found)
    positional = () if kw_only else names
    known = frozenset(names)
    defaults = {item.name: item.default for item in found if item.has_default}
    factories = [(item.name, item.default_factory) for item in found if item.default_factory]
    finish = getattr(kind, "__post_init__", None)
    set_value = object.__setattr__

    def initialize(self: Any, /, *values: Any, **named: Any) -> None:
        given = defaults | named
        if values:
            given.update(zip(positional, values, strict=False))
        for name, factory in factories:
            if name not in given:
                given[name] = factory()
        if given.keys() != known or (values and not _fit(positional, values, named)):
            _complain(type(self), values, named)
        for name, value in given.items():
            set_value(self, name, value)
        if finish is not None:
            finish(self)

    return initialize


def _fit(positional: tuple[str, ...], values: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
    """Whether there is a name for each value, and no name is given twice."""
    return len(values) <= len(positional) and named.keys().isdisjoint(positional[: len(values)])


def _comparison(names: tuple[str, ...], frozen: bool) -> dict[str, Any]:
    """`__eq__`, and the `__hash__` that goes with it: none for what can change."""
    values: Callable[[Any], Any] = attrgetter(*names)

    def equal(self: Any, other: Any) -> Any:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": hashed if frozen else None}


def _repr(self: Any) -> str:
    shown = (f"{item.name}={getattr(self, item.name)!r}" for item in self._fields if item.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _state(self: Any) -> list[Any]:
    return [getattr(self, item.name) for item in self._fields]


def _restore(self: Any, state: list[Any]) -> None:
    for item, value in zip(self._fields, state, strict=True):
        object.__setattr__(self, item.name, value)


def _refuse_to_set(self: Any, name: str, value: Any) -> NoReturn:
    from dataclasses import FrozenInstanceError  # what callers know and may catch

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


class _OfTwin:
    """What is asked of the standard twin of a class, and only when somebody looks: so `asdict`,
    `replace` and `is_dataclass` of the standard library work, and `help` and `signature`."""

    def __init__(self, look: Callable[[Any], Any]) -> None:
        self._look = look

    def __get__(self, instance: object, kind: Any) -> Any:
        return self._look(_standard_twin(kind))


def _signature(twin: Any) -> Any:
    from inspect import signature  # as above: not for who only uses the class

    return signature(twin)


def _complain(kind: Any, values: tuple[Any, ...], named: Mapping[str, Any]) -> NoReturn:
    """Raises what the standard class says about arguments that do not fit."""
    _standard_twin(kind)(*values, **named)
    raise AssertionError(f"{kind} refuses what its twin takes")


@cache
def _standard_twin(kind: Any) -> Any:
    """The class as the standard library makes it of the same fields."""
    import dataclasses

    described = []
    for item in kind._fields:
        settings: dict[str, Any] = {"repr": item.repr, "metadata": item.metadata}
        if item.default_factory:
            settings["default_factory"] = item.default_factory
        elif item.has_default:
            settings["default"] = item.default
        described.append((item.name, item.annotation, dataclasses.field(**settings)))
    kw_only = not kind.__match_args__
    made = dataclasses.make_dataclass(
        kind.__name__, described, frozen=kind._frozen, kw_only=kw_only
    )
    made.__qualname__ = kind.__qualname__
    return made
