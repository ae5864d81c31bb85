"""Schemas from classes: dataclasses whose annotations are the types of a schema."""

from __future__ import annotations

import builtins
import dataclasses
import datetime
import decimal
import enum as enums
import inspect
import json
import types as python_types
import typing
import uuid
from typing import Any, Callable, Dict, List, Mapping, NewType, Optional, Tuple, TypeVar, Union, overload

from ._errors import SchemaError
from ._weir import Info

__all__ = ["ID", "Types", "enum", "field", "input", "interface", "scalar", "type", "union"]

ID = NewType("ID", str)

_T = TypeVar("_T")
_LEAVES: Dict[Any, str] = {int: "Int", float: "Float", bool: "Boolean", str: "String", ID: "ID"}
# Scalars that Python has a class for: the class, its reader.
_KNOWN_SCALARS: Dict[Any, Tuple[str, Callable[[Any], Any]]] = {
    datetime.datetime: ("DateTime", datetime.datetime.fromisoformat),
    datetime.date: ("Date", datetime.date.fromisoformat),
    datetime.time: ("Time", datetime.time.fromisoformat),
    decimal.Decimal: ("Decimal", lambda value: decimal.Decimal(value)),
    uuid.UUID: ("UUID", lambda value: uuid.UUID(value)),
}
_MARK = "__weir__"
_FIELD = "__weir_field__"


@dataclasses.dataclass(frozen=True)
class _Mark:
    """Kind, name and description of a class in the schema."""

    kind: str
    name: str
    description: Optional[str] = None
    read: Optional[Callable[[Any], Any]] = None
    write: Optional[Callable[[Any], Any]] = None


@dataclasses.dataclass(frozen=True)
class _Union:
    name: str
    members: Tuple[Any, ...]
    description: Optional[str]


@dataclasses.dataclass(frozen=True)
class _Resolved:
    """A function that resolves a field of its class."""

    function: Callable[..., Any]
    batch: bool
    name: Optional[str]
    description: Optional[str]
    deprecated: Optional[str]


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in others)


def _mark(cls: Any, kind: str, name: Optional[str], description: Optional[str], **more: Any) -> Any:
    described = description if description is not None else _documentation(cls)
    setattr(cls, _MARK, _Mark(kind, name or cls.__name__, described, **more))
    return cls


def _documentation(cls: Any) -> Optional[str]:
    """The class's own docstring, not the one that dataclasses and enums make."""
    text = cls.__dict__.get("__doc__")
    if not text or text.startswith(cls.__name__ + "(") or text == "An enumeration.":
        return None
    return inspect.cleandoc(text)


def _own_mark(cls: Any) -> Optional[_Mark]:
    mark = getattr(cls, "__dict__", {}).get(_MARK)
    return mark if isinstance(mark, _Mark) else None


def _dataclass(kind: str) -> Any:
    def decorator(
        cls: Any = None, *, name: Optional[str] = None, description: Optional[str] = None
    ) -> Any:
        def make(cls: Any) -> Any:
            described = description if description is not None else _documentation(cls)
            if "__dataclass_fields__" not in cls.__dict__:
                cls = dataclasses.dataclass(cls)
            return _mark(cls, kind, name, described or "")

        return make if cls is None else make(cls)

    return decorator


if typing.TYPE_CHECKING:
    from ._object import object_type as input
    from ._object import object_type as interface
    from ._object import object_type as type
else:
    type = _dataclass("type")
    interface = _dataclass("interface")
    input = _dataclass("input")


@overload
def enum(cls: "typing.Type[_T]", /) -> "typing.Type[_T]": ...
@overload
def enum(
    *, name: Optional[str] = None, description: Optional[str] = None
) -> "Callable[[typing.Type[_T]], typing.Type[_T]]": ...
def enum(cls: Any = None, *, name: Optional[str] = None, description: Optional[str] = None) -> Any:
    """Makes a class of `enum.Enum` an enum: the names of its members are the values."""

    def make(cls: Any) -> Any:
        return _mark(cls, "enum", name, description)

    return make if cls is None else make(cls)


def scalar(
    name: Optional[str] = None,
    *,
    read: Optional[Callable[[Any], Any]] = None,
    write: Optional[Callable[[Any], Any]] = None,
    description: Optional[str] = None,
) -> "Callable[[typing.Type[_T]], typing.Type[_T]]":
    """Makes a class a custom scalar. `read` makes a value of it of JSON, `write` gives JSON for a value."""

    def make(cls: Any) -> Any:
        return _mark(cls, "scalar", name, description, read=read, write=write)

    return make


def union(name: str, members: Tuple[Any, ...], *, description: Optional[str] = None) -> Any:
    """A union of classes, for annotations: `Pet = weir.union("Pet", (Cat, Dog))`."""
    return _Union(name, tuple(members), description)


def field(
    function: Any = None,
    *,
    batch: bool = False,
    name: Optional[str] = None,
    description: Optional[str] = None,
    deprecated: Optional[str] = None,
) -> Any:
    """Makes a method the resolver of a field. With `batch`, `self` is the list of all parents, and the method gives a list:
    its annotation is that of the list, `list[list[Post]]` for `[Post!]!`.
    """

    def make(function: Callable[..., Any]) -> Any:
        setattr(function, _FIELD, _Resolved(function, batch, name, description, deprecated))
        return function

    return make if function is None else make(function)


def _quoted(text: Optional[str], indentation: str) -> str:
    """A description before what it describes."""
    if not text:
        return ""
    return f"{indentation}{json.dumps(text, ensure_ascii=False)}\n"


def _literal(value: Any) -> str:
    """A Python value as a GraphQL literal."""
    if isinstance(value, enums.Enum):
        return value.name
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if dataclasses.is_dataclass(value) and not isinstance(value, builtins.type):
        members = ((it.name, getattr(value, it.name)) for it in dataclasses.fields(value))
        return "{" + ", ".join(f"{_camel(name)}: {_literal(it)}" for name, it in members) + "}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_literal(it)}" for name, it in value.items()) + "}"
    if isinstance(value, (decimal.Decimal, uuid.UUID, datetime.date, datetime.time)):
        return json.dumps(str(value))
    return json.dumps(value, ensure_ascii=False)


class Types:
    """All types that root classes lead to."""

    def __init__(self, roots: Mapping[str, Any], others: Any = ()) -> None:
        self.classes: Dict[Any, str] = {}
        self.attributes: Dict[str, str] = {}
        self.enums: Dict[str, Any] = {}
        self.inputs: Dict[str, Dict[str, Any]] = {}
        self.scalars: Dict[str, Dict[str, Any]] = {}
        self.functions: List[Tuple[str, str, Callable[..., Any]]] = []
        self._definitions: Dict[str, str] = {}
        self._owners: Dict[str, Any] = {}
        for name, root in roots.items():
            self._object(root, name)
        for other in others:
            self._named(other)

    def sdl(self) -> str:
        """The types, each as it was met first."""
        return "\n\n".join(self._definitions.values())

    def _claim(self, name: str, owner: Any) -> bool:
        """True if the type is new; two Python types of one name are an error."""
        known = self._owners.setdefault(name, owner)
        if known is not owner and known != owner:
            raise SchemaError(f"two Python types are called `{name}`: {known!r} and {owner!r}")
        if name in self._definitions:
            return False
        self._definitions[name] = ""
        return True

    def _type(self, annotation: Any, where: str) -> str:
        """The GraphQL type of an annotation."""
        inner, nullable = annotation, False
        if typing.get_origin(annotation) in (Union, python_types.UnionType):
            members = [it for it in typing.get_args(annotation) if it is not builtins.type(None)]
            nullable = len(members) < len(typing.get_args(annotation))
            if len(members) != 1:
                raise SchemaError(f"`{where}`: a union has a name: `weir.union(\"Name\", ({', '.join(map(_name, members))}))`")
            inner = members[0]
        if typing.get_origin(inner) is typing.Annotated:
            inner = typing.get_args(inner)[0]
        if typing.get_origin(inner) in (list, tuple) or _name(typing.get_origin(inner)) in ("Sequence", "Iterable"):
            text = f"[{self._type(typing.get_args(inner)[0], where)}]"
        else:
            text = self._named(inner, where)
        return text if nullable else text + "!"

    def _named(self, python: Any, where: str = "") -> str:
        if python in _LEAVES:
            return _LEAVES[python]
        if python in _KNOWN_SCALARS and _own_mark(python) is None:
            name, read = _KNOWN_SCALARS[python]
            if self._claim(name, python):
                self._definitions[name] = f"scalar {name}"
                self.scalars[name] = {"read": _refusing(read, name), "write": None}
            return name
        if isinstance(python, _Union):
            return self._union(python)
        mark = _own_mark(python)
        if mark is None:
            raise SchemaError(f"`{where}`: {python!r} is no type of a schema: decorate it by `weir.type`")
        define = {"type": self._object, "interface": self._object, "input": self._input, "enum": self._enum}
        if mark.kind == "scalar":
            if self._claim(mark.name, python):
                self._definitions[mark.name] = _quoted(mark.description, "") + f"scalar {mark.name}"
                self.scalars[mark.name] = {"read": mark.read, "write": mark.write}
        else:
            define[mark.kind](python, mark.name)
        return mark.name

    def _union(self, union: _Union) -> str:
        if self._claim(union.name, union):
            members = " | ".join(self._named(it, union.name) for it in union.members)
            self._definitions[union.name] = _quoted(union.description, "") + f"union {union.name} = {members}"
        return union.name

    def _enum(self, python: Any, name: str) -> None:
        if self._claim(name, python):
            values = "\n".join(f"  {it.name}" for it in python)
            mark = _own_mark(python)
            self._definitions[name] = _quoted(mark.description if mark else None, "") + f"enum {name} {{\n{values}\n}}"
            self.enums[name] = python

    def _input(self, python: Any, name: str) -> None:
        if not self._claim(name, python):
            return
        hints = typing.get_type_hints(python, include_extras=True)
        lines, keywords = [], {}
        for it in dataclasses.fields(python):
            graphql = _camel(it.name)
            keywords[graphql] = it.name
            default = ""
            if it.default is not dataclasses.MISSING:
                default = f" = {_literal(it.default)}"
            elif it.default_factory is not dataclasses.MISSING:
                default = f" = {_literal(it.default_factory())}"
            lines.append(f"  {graphql}: {self._type(hints[it.name], f'{name}.{it.name}')}{default}")
        mark = _own_mark(python)
        body = "\n".join(lines)
        self._definitions[name] = _quoted(mark.description if mark else None, "") + f"input {name} {{\n{body}\n}}"
        self.inputs[name] = {"class": python, "keywords": keywords}

    def _object(self, python: Any, name: str) -> None:
        mark = _own_mark(python)
        if mark is None or mark.kind not in ("type", "interface"):
            raise SchemaError(f"{python!r} is no object type: decorate it by `weir.type`")
        if not self._claim(name, python):
            return
        is_interface = mark.kind == "interface"
        if not is_interface:
            self.classes[python] = name
        hints = typing.get_type_hints(python, include_extras=True)
        lines = []
        for it in dataclasses.fields(python) if name not in ("Query", "Mutation", "Subscription") else ():
            if it.name.startswith("_"):
                continue
            graphql = _camel(it.name)
            lines.append(f"  {graphql}: {self._type(hints[it.name], f'{name}.{it.name}')}")
            if not is_interface:
                self.attributes[f"{name}.{graphql}"] = it.name
        for resolved in _resolved(python):
            lines.append(self._resolved(resolved, name, is_interface))
        interfaces = [it for it in python.__mro__[1:] if (own := _own_mark(it)) and own.kind == "interface"]
        implements = " & ".join(self._named(it) for it in interfaces)
        head = f"{mark.kind} {name}" + (f" implements {implements}" if implements else "")
        body = "\n".join(lines)
        self._definitions[name] = _quoted(mark.description, "") + f"{head} {{\n{body}\n}}"
        if is_interface:
            for it in python.__subclasses__():
                if _own_mark(it) is not None:
                    self._named(it)

    def _resolved(self, resolved: _Resolved, owner: str, is_interface: bool) -> str:
        function = resolved.function
        graphql = resolved.name or _camel(function.__name__)
        where = f"{owner}.{graphql}"
        hints = typing.get_type_hints(function, include_extras=True)
        if "return" not in hints:
            raise SchemaError(f"`{where}`: the method has no annotation of what it returns")
        gives = hints["return"]
        if resolved.batch:
            items = typing.get_args(gives)
            if len(items) != 1:
                raise SchemaError(f"`{where}`: a batch returns a list with a value per parent")
            gives = items[0]
        elif owner == "Subscription":
            gives = typing.get_args(gives)[0]
        arguments = []
        parameters = list(inspect.signature(function).parameters.values())[1:]
        for it in parameters:
            if it.name == "info" or hints.get(it.name) is Info:
                continue
            if it.name not in hints:
                raise SchemaError(f"`{where}`: the parameter `{it.name}` has no annotation")
            default = "" if it.default is inspect.Parameter.empty else f" = {_literal(it.default)}"
            arguments.append(f"{_camel(it.name)}: {self._type(hints[it.name], where)}{default}")
        listed = f"({', '.join(arguments)})" if arguments else ""
        if not is_interface:
            is_root = owner in ("Query", "Mutation", "Subscription")
            called = _without_self(function) if is_root else function
            self.functions.append((where, "batch" if resolved.batch else "each", called))
        deprecated = f" @deprecated(reason: {json.dumps(resolved.deprecated)})" if resolved.deprecated else ""
        documentation = resolved.description or (inspect.cleandoc(function.__doc__) if function.__doc__ else None)
        described = _quoted(documentation, "  ")
        return f"{described}  {graphql}{listed}: {self._type(gives, where)}{deprecated}"


def _name(python: Any) -> str:
    return getattr(python, "__name__", repr(python))


def _resolved(python: Any) -> List[_Resolved]:
    """Resolvers of a class and of those it is made of, in the order of definition."""
    found: Dict[str, _Resolved] = {}
    for cls in reversed(python.__mro__):
        for name, value in vars(cls).items():
            resolved = getattr(value, _FIELD, None)
            if isinstance(resolved, _Resolved):
                found[name] = resolved
    return list(found.values())


def _without_self(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a root type, whose objects do not exist, as a function of its other parameters."""
    own = list(inspect.signature(function).parameters.values())

    if inspect.iscoroutinefunction(function):

        async def called_async(**keywords: Any) -> Any:
            return await function(None, **keywords)

        called: Callable[..., Any] = called_async
    else:

        def called_sync(**keywords: Any) -> Any:
            return function(None, **keywords)

        called = called_sync
    called.__signature__ = inspect.Signature(own[1:])  # type: ignore[attr-defined]
    return called


def _refusing(read: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    """A reader whose errors are in words for the client."""

    def reader(value: Any) -> Any:
        try:
            return read(value)
        except (ValueError, TypeError, ArithmeticError):
            raise ValueError(f"{value!r} is no {name}") from None

    return reader
