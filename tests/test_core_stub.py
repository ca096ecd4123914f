"""The stub of the native module says what the built module is."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import GetSetDescriptorType, MemberDescriptorType

import pytest
from pi_event_search import _core

STUB = ast.parse(Path(_core.__file__).with_name("_core.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
CONSTANTS = {
    node.target.id: ast.unparse(node.annotation)
    for node in STUB.body
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
}
ALIASES = {name for name, kind in CONSTANTS.items() if kind == "TypeAlias"}


def test_every_public_name_is_in_both() -> None:
    stated = {*CLASSES, *FUNCTIONS, *CONSTANTS} - ALIASES
    assert stated == {name for name in vars(_core) if not name.startswith("_")}


@pytest.mark.parametrize("name", sorted(set(CONSTANTS) - ALIASES))
def test_constants(name: str) -> None:
    kind = CONSTANTS[name].removeprefix("Final[").removesuffix("]")
    value = getattr(_core, name)
    if kind.startswith("list["):
        assert isinstance(value, list)
        assert value
        assert all(isinstance(item, str) for item in value)
    else:
        assert type(value).__name__ == kind


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    built = inspect.signature(getattr(_core, name))
    assert list(parameters(FUNCTIONS[name])) == list(built.parameters)
    assert all(p.default is inspect.Parameter.empty for p in built.parameters.values())


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name: str) -> None:
    node, built = CLASSES[name], getattr(_core, name)
    assert isinstance(built, type)
    if any(ast.unparse(base) == "Exception" for base in node.bases):
        assert issubclass(built, Exception)
        return
    members = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
    public = {member for member in vars(built) if not member.startswith("_")}
    assert public == {member for member in members if not member.startswith("_")}
    for member, stated in members.items():
        if member == "__new__":
            assert list(parameters(stated)) == list(inspect.signature(built).parameters)
        elif "property" in decorators(stated):
            assert isinstance(vars(built)[member], (GetSetDescriptorType, MemberDescriptorType))
        else:
            real = inspect.signature(vars(built)[member])
            bound = "staticmethod" not in decorators(stated)
            assert list(parameters(stated)) == list(real.parameters)[bound:]
    if "__new__" not in members:
        with pytest.raises(TypeError, match=r"(?i)no constructor|cannot create"):
            built()
    assert "final" in decorators(node)
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Derived", (built,), {})


@pytest.mark.parametrize("node", [*CLASSES.values(), *FUNCTIONS.values()], ids=lambda n: n.name)
def test_everything_is_documented(node: ast.ClassDef | ast.FunctionDef) -> None:
    assert ast.get_docstring(node)


def parameters(function: ast.FunctionDef) -> Iterator[str]:
    """Names without the object itself, `*` where the positional ones end."""
    arguments = function.args
    assert not arguments.defaults
    assert arguments.vararg is arguments.kwarg is None
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    yield from (name for name in names if name not in ("self", "cls"))


def decorators(node: ast.ClassDef | ast.FunctionDef) -> set[str]:
    return {ast.unparse(decorator) for decorator in node.decorator_list}
