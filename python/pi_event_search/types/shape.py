"""How a result becomes JSON: one mechanism for every class.

A shape is a frozen dataclass. Its JSON object has one key a field, in the order of the fields, in
camelCase, without the underscore that keeps a Python keyword apart (`from_` is `from`). Two marks
(metadata) on a field change that:

- `OPTIONAL`: the key is left out while the field has its default;
- `LOCAL`: the key is left out for tool bridges (`serve`), which learn no paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, ClassVar, NamedTuple

OPTIONAL = {"optional": True}
LOCAL = {"local": True}


class _Key(NamedTuple):
    attribute: str
    key: str
    left_out_at: object
    """The value at which the key is left out; `MISSING` when it always stands."""
    local: bool


def camel_case(name: str) -> str:
    """`byte_start` -> `byteStart`, `from_` -> `from`."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(part.capitalize() for part in rest)


_KEYS: dict[type[Shape], tuple[_Key, ...]] = {}


def _keys(shape: type[Shape]) -> tuple[_Key, ...]:
    known = _KEYS.get(shape)
    if known is None:
        known = _KEYS[shape] = _derive_keys(shape)
    return known


def _derive_keys(shape: type[Shape]) -> tuple[_Key, ...]:
    return tuple(
        _Key(
            item.name,
            camel_case(item.name),
            item.default if item.metadata.get("optional") else MISSING,
            bool(item.metadata.get("local")),
        )
        for item in fields(shape)
    )


class Shape:
    """Base of all results; subclasses are frozen, slotted dataclasses."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def to_plain(self, *, local: bool = True) -> dict[str, Any]:
        """The JSON object as plain dicts and lists; `local=False` leaves local fields out."""
        plain: dict[str, Any] = {}
        for attribute, key, left_out_at, is_local in _keys(type(self)):
            if is_local and not local:
                continue
            value = getattr(self, attribute)
            if left_out_at is not MISSING and value == left_out_at:
                continue
            plain[key] = _plain(value, local)
        return plain

    def to_json(self, *, local: bool = True) -> bytes:
        """The JSON object as UTF-8 without white space."""
        return dump(self.to_plain(local=local))


def _plain(value: object, local: bool) -> object:
    # Results nest a handful of fixed levels, so this recursion is bounded by their definitions.
    if isinstance(value, Shape):
        return value.to_plain(local=local)
    if isinstance(value, (tuple, list)):
        return [_plain(item, local) for item in value]
    if isinstance(value, Mapping):
        return dict(value)  # keys come from the record and stay as they are written there
    return value


def dump(plain: object) -> bytes:
    """`plain` as JSON. A lone surrogate (an undecodable byte of a path) becomes U+FFFD."""
    import orjson  # it loads much that an answer for a person's eyes has no use for

    try:
        return orjson.dumps(plain)
    except orjson.JSONEncodeError:
        return orjson.dumps(_without_surrogates(plain))


def whole_characters(text: str) -> str:
    """`text` with U+FFFD for each lone surrogate; neither UTF-8 nor SQLite can hold one."""
    if text.isascii():
        return text
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)


def _without_surrogates(plain: object) -> object:
    if isinstance(plain, str):
        return whole_characters(plain)
    if isinstance(plain, list):
        return [_without_surrogates(item) for item in plain]
    if isinstance(plain, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in plain.items()}
    return plain
