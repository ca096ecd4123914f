"""Our decorator against the standard one, on every class of the package that it makes."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import typing
from collections.abc import Callable, Iterator
from typing import Any

import pi_event_search
import pytest
from pi_event_search.types import Coverage, Hit, TextRange
from pi_event_search.values import dataclass, field, fields, replace


def _modules() -> Iterator[Any]:
    for module in pkgutil.walk_packages(pi_event_search.__path__, "pi_event_search."):
        if not module.name.endswith("__main__"):
            yield importlib.import_module(module.name)


CLASSES = sorted(
    {
        value
        for module in _modules()
        for value in vars(module).values()
        if isinstance(value, type) and "_fields" in vars(value) and not issubclass(value, tuple)
    },
    key=lambda kind: f"{kind.__module__}.{kind.__qualname__}",
)
TUPLES = sorted(
    {
        value
        for module in _modules()
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, tuple)
        and value.__module__.startswith("pi_event_search")
    },
    key=lambda kind: f"{kind.__module__}.{kind.__qualname__}",
)


def _standard(kind: Any) -> Any:
    """The class by the standard decorator, from what the class itself says of its fields."""
    own: tuple[Any, ...] = kind._fields
    body: dict[str, Any] = {item.name: item.default for item in own if item.has_default}
    body |= {
        item.name: dataclasses.field(default_factory=item.default_factory)
        for item in own
        if item.default_factory
    }
    body |= {"__annotations__": kind.__annotations__, "__module__": kind.__module__}
    made = type(kind.__name__, (), body)
    kw_only = not kind.__match_args__
    eq = "__eq__" in vars(kind)
    return dataclasses.dataclass(frozen=kind._frozen, kw_only=kw_only, eq=eq)(made)


def _outcome(action: Callable[[], Any]) -> object:
    try:
        action()
    except Exception as error:
        return type(error), str(error).replace("Hit.", "").replace("_Twin.", "")
    return None


def test_there_are_classes_to_compare() -> None:
    assert {Hit, Coverage, TextRange} <= set(CLASSES)
    assert len(CLASSES) > 60
    assert len(TUPLES) > 20


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__qualname__)
def test_a_class_is_what_the_standard_decorator_would_make(kind: Any) -> None:
    standard = _standard(kind)
    assert inspect.signature(kind) == inspect.signature(standard)
    assert kind.__match_args__ == standard.__match_args__
    assert list(map(dataclasses.is_dataclass, [kind])) == [True]
    assert (kind.__hash__ is None) == (standard.__hash__ is None)
    given: dict[str, Any] = {item.name: f"{item.name} value" for item in fields(kind)}
    if hasattr(kind, "__post_init__"):
        return  # a request, which refuses such values; see test_requests.py
    one, other, model = kind(**given), kind(**given), standard(**given)
    assert dataclasses.asdict(one) == dataclasses.asdict(model) == given
    assert (one == other) == (model == standard(**given))
    assert one != model
    for item in fields(kind):
        if item.repr:
            assert f"{item.name}='{item.name} value'" in repr(one)
    assert repr(one).startswith(f"{kind.__qualname__}(")
    name = next(iter(given))
    changed = replace(one, **{name: "changed"})
    assert getattr(changed, name) == "changed"
    assert getattr(dataclasses.replace(one, **{name: "changed"}), name) == "changed"
    if "__eq__" in vars(kind):
        assert changed != one
        assert copy.copy(one) == one
        assert pickle.loads(pickle.dumps(one)) == one
    if kind._frozen:
        for attribute in (name, "no_such_field"):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(one, attribute, 1)
            with pytest.raises(dataclasses.FrozenInstanceError):
                delattr(one, attribute)


@pytest.mark.parametrize("kind", TUPLES, ids=lambda kind: kind.__qualname__)
def test_a_tuple_is_what_typing_would_make(kind: Any) -> None:
    names = list(kind.__annotations__)
    by_typing: Any = typing.NamedTuple
    standard = by_typing(kind.__name__, [(name, Any) for name in names])
    assert list(kind._fields) == names
    assert kind.__match_args__ == standard.__match_args__
    values = [f"{name} value" for name in names]
    one = kind(*values)
    assert one == kind(**dict(zip(names, values, strict=True))) == kind._make(values)
    assert one == standard(*values) == tuple(values)
    assert repr(one) == repr(standard(*values))
    assert one._replace(**{names[0]: 1}) == (1, *values[1:])
    assert pickle.loads(pickle.dumps(one)) == one
    assert type(pickle.loads(pickle.dumps(one))) is kind
    with pytest.raises(AttributeError):
        setattr(one, names[0], 1)
    with pytest.raises(AttributeError):
        one.no_such_field = 1


@dataclass(frozen=True, slots=True)
class _Ours:
    first: int
    second: int = 2
    third: list[int] = field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class _Theirs:
    first: int
    second: int = 2
    third: list[int] = dataclasses.field(default_factory=list)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((), {}),
        ((1,), {}),
        ((1, 2, [3]), {}),
        ((1, 2, [3], 4), {}),
        ((1,), {"first": 1}),
        ((1,), {"third": [4]}),
        ((1,), {"fourth": 4}),
        ((), {"second": 1}),
        ((1, 2), {"second": 1}),
    ],
)
def test_arguments_that_do_not_fit_are_refused_alike(
    values: tuple[Any, ...], named: dict[str, Any]
) -> None:
    def told(kind: Any) -> object:
        return _outcome(lambda: kind(*values, **named))

    ours, theirs = told(_Ours), told(_Theirs)
    assert str(ours).replace("_Ours", "_Theirs") == str(theirs)
    if theirs is None:
        one, model = _Ours(*values, **named), _Theirs(*values, **named)
        assert dataclasses.astuple(one) == dataclasses.astuple(model)


def test_each_object_has_its_own_default() -> None:
    assert _Ours(1).third is not _Ours(1).third


def test_values_that_are_equal_have_one_hash() -> None:
    assert hash(TextRange(1, 2)) == hash(TextRange(1, 2))
    assert {TextRange(1, 2): 1}[TextRange(1, 2)] == 1
