"""Schemas from classes: dataclasses whose annotations are the types of a schema."""

from __future__ import annotations

import base64
import builtins
import dataclasses
import datetime
import decimal
import enum as enums
import inspect
import json
import re
import types as python_types
import typing
import uuid
from typing import Any, Callable, Dict, List, Mapping, NewType, Optional, Tuple, TypeVar, Union, overload

from ._errors import SchemaError
from ._functions import Loader
from ._weir import Info, Upload

__all__ = ["ID", "Types", "enum", "field", "input", "interface", "named", "scalar", "type", "union"]

ID = NewType("ID", str)

_T = TypeVar("_T")
_LEAVES: Dict[Any, str] = {int: "Int", float: "Float", bool: "Boolean", str: "String", ID: "ID"}
# Scalars that Python has a class for: the class, its reader, and its writer if JSON has no form of the class.
_KNOWN_SCALARS: Dict[Any, Tuple[Any, ...]] = {
    datetime.datetime: ("DateTime", datetime.datetime.fromisoformat),
    datetime.date: ("Date", datetime.date.fromisoformat),
    datetime.time: ("Time", datetime.time.fromisoformat),
    decimal.Decimal: ("Decimal", lambda value: decimal.Decimal(value)),
    uuid.UUID: ("UUID", lambda value: uuid.UUID(value)),
    bytes: ("Base64", lambda text: base64.b64decode(text, validate=True), lambda value: base64.b64encode(value).decode()),
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
    authorize: Optional[Callable[..., Any]] = None


@dataclasses.dataclass(frozen=True)
class Function:
    """A function at a field."""

    coordinate: str
    kind: str
    function: Callable[..., Any]
    loader: Optional[Loader[Any]] = None
    is_method_of_root: bool = False


@dataclasses.dataclass(frozen=True)
class _Named:
    """The name that an annotation gives a type."""

    name: str


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
    load: Optional[Loader[Any]] = None
    authorize: Optional[Callable[..., Any]] = None


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
        cls: Any = None,
        *,
        name: Optional[str] = None,
        description: Optional[str] = None,
        authorize: Optional[Callable[..., Any]] = None,
    ) -> Any:
        def make(cls: Any) -> Any:
            described = description if description is not None else _documentation(cls)
            if "__dataclass_fields__" not in cls.__dict__:
                cls = dataclasses.dataclass(cls)
            return _mark(cls, kind, name, described or "", authorize=authorize)

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
    load: Optional[Loader[Any]] = None,
    authorize: Optional[Callable[..., Any]] = None,
) -> Any:
    """Makes a method the resolver of a field. With `batch`, `self` is the list of all parents, and the method gives a list:
    its annotation is that of the list, `list[list[Post]]` for `[Post!]!`. With `load`, the method gives the key of a loader.
    `authorize` is a guard, as `Schema.authorize` takes it.
    """

    def make(function: Callable[..., Any]) -> Any:
        setattr(function, _FIELD, _Resolved(function, batch, name, description, deprecated, load, authorize))
        return function

    return make if function is None else make(function)


def named(name: str) -> Any:
    """The name of an enum that is a `Literal`: `Annotated[Literal["UP", "DOWN"], weir.named("Order")]`."""
    return _Named(name)


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


def _default(value: Any, annotation: Any) -> str:
    """A default as a GraphQL literal; a text where a `Literal` stands is an enum's value."""
    if isinstance(value, str) and _literal_values(annotation) is not None:
        return value
    if isinstance(value, bytes):
        return json.dumps(base64.b64encode(value).decode())
    return _literal(value)


def _literal_values(annotation: Any) -> Optional[Tuple[Any, ...]]:
    """The values of a `Literal`, behind `Annotated` and `| None`."""
    origin = typing.get_origin(annotation)
    if origin is typing.Literal:
        return typing.get_args(annotation)
    if origin is typing.Annotated:
        return _literal_values(typing.get_args(annotation)[0])
    if origin in (Union, python_types.UnionType):
        found = [_literal_values(it) for it in typing.get_args(annotation) if it is not builtins.type(None)]
        return found[0] if len(found) == 1 else None
    return None


def _bindings(python: Any, outer: Mapping[Any, Any]) -> Dict[Any, Any]:
    """The types that stand for the type variables of a class and of those it inherits from."""
    found: Dict[Any, Any] = {}
    origin = typing.get_origin(python)
    if origin is not None:
        arguments = [_bound(it, outer) for it in typing.get_args(python)]
        found.update(zip(origin.__parameters__, arguments))
        python = origin
    for base in getattr(python, "__orig_bases__", ()):
        if isinstance(typing.get_origin(base), builtins.type) and typing.get_origin(base) is not typing.Generic:
            found.update(_bindings(base, found))
    return found


def _bound(annotation: Any, bindings: Mapping[Any, Any]) -> Any:
    """The annotation with types for its variables."""
    if isinstance(annotation, TypeVar):
        return bindings.get(annotation, annotation)
    variables = getattr(annotation, "__parameters__", ())
    if not variables or isinstance(annotation, builtins.type):
        return annotation
    return annotation[tuple(bindings.get(it, it) for it in variables)]


class Types:
    """All types that root classes lead to."""

    def __init__(self, roots: Mapping[str, Any], others: Any = ()) -> None:
        self.classes: Dict[Any, str] = {}
        self.attributes: Dict[str, str] = {}
        self.enums: Dict[str, Any] = {}
        self.inputs: Dict[str, Dict[str, Any]] = {}
        self.scalars: Dict[str, Dict[str, Any]] = {}
        self.functions: List[Function] = []
        self.guards: List[Tuple[str, Callable[..., Any]]] = []
        self._variables: List[Mapping[Any, Any]] = [{}]
        self._literals: Dict[Any, str] = {}
        self._definitions: Dict[str, str] = {}
        self._owners: Dict[str, Any] = {}
        self._roots: Dict[str, str] = {}
        for operation, root in roots.items():
            mark = _own_mark(root)
            self._roots[operation] = mark.name if mark is not None else operation
        for operation, root in roots.items():
            self._object(root, self._roots[operation])
        for other in others:
            self._named(other)

    def sdl(self) -> str:
        """The types, each as it was met first."""
        definitions = list(self._definitions.values())
        if any(operation != name for operation, name in self._roots.items()):
            members = " ".join(f"{operation.lower()}: {name}" for operation, name in self._roots.items())
            definitions.insert(0, f"schema {{ {members} }}")
        return "\n\n".join(definitions)

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
        annotation = _bound(annotation, self._variables[-1])
        inner, nullable = annotation, False
        if typing.get_origin(annotation) in (Union, python_types.UnionType):
            members = [it for it in typing.get_args(annotation) if it is not builtins.type(None)]
            nullable = len(members) < len(typing.get_args(annotation))
            if len(members) != 1:
                raise SchemaError(f"`{where}`: a union has a name: `weir.union(\"Name\", ({', '.join(map(_name, members))}))`")
            inner = members[0]
        own_name: Optional[str] = None
        if typing.get_origin(inner) is typing.Annotated:
            inner, *notes = typing.get_args(inner)
            own_name = next((it.name for it in notes if isinstance(it, _Named)), None)
        while isinstance(inner, NewType) and inner not in _LEAVES and _own_mark(inner) is None:
            inner = inner.__supertype__
        if typing.get_origin(inner) in (list, tuple) or _name(typing.get_origin(inner)) in ("Sequence", "Iterable"):
            text = f"[{self._type(typing.get_args(inner)[0], where)}]"
        else:
            text = self._named(inner, where, own_name)
        return text if nullable else text + "!"

    def _named(self, python: Any, where: str = "", own_name: Optional[str] = None) -> str:
        if python in _LEAVES:
            return _LEAVES[python]
        if python is Upload:
            if self._claim("Upload", python):
                self._definitions["Upload"] = "scalar Upload"
            return "Upload"
        if typing.get_origin(python) is typing.Literal:
            return self._literal_enum(python, where, own_name)
        if _own_mark(typing.get_origin(python)) is not None:
            return self._generic(python)
        if python in _KNOWN_SCALARS and _own_mark(python) is None:
            name, read, *write = _KNOWN_SCALARS[python]
            if self._claim(name, python):
                self._definitions[name] = f"scalar {name}"
                self.scalars[name] = {"read": _refusing(read, name), "write": write[0] if write else None}
            return str(name)
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

    def _literal_enum(self, literal: Any, where: str, own_name: Optional[str]) -> str:
        """An enum of the texts of a `Literal`; equal ones are one enum, named where the first stands."""
        values = typing.get_args(literal)
        if not all(isinstance(it, str) and re.fullmatch("[_A-Za-z][_0-9A-Za-z]*", it) for it in values):
            raise SchemaError(f"`{where}`: a Literal is an enum of texts that are names, not {literal!r}")
        known = self._literals.get(values)
        if known is not None and own_name in (None, known):
            return known
        name = own_name or "".join(part[:1].upper() + part[1:] for part in re.findall("[_0-9A-Za-z]+", where))
        self._literals[values] = name
        if self._claim(name, literal):
            listed = "\n".join(f"  {it}" for it in values)
            self._definitions[name] = f"enum {name} {{\n{listed}\n}}"
        return name

    def _generic(self, python: Any) -> str:
        """The type that a generic class is with types for its variables: `Page[User]` is `UserPage`."""
        origin = typing.get_origin(python)
        mark = _own_mark(origin)
        arguments = [_bound(it, self._variables[-1]) for it in typing.get_args(python)]
        if mark is None or any(isinstance(it, TypeVar) for it in arguments):
            raise SchemaError(f"{python!r} has a type variable that stands for no type")
        name = "".join(self._type_word(it) for it in arguments) + mark.name
        define = self._input if mark.kind == "input" else self._object
        define(origin[tuple(arguments)], name)
        return name

    def _type_word(self, annotation: Any) -> str:
        """A type in the name of a generic one: `list[User]` is `UserList`."""
        text = self._type(annotation, "").rstrip("!")
        word = re.sub("[^_0-9A-Za-z]", "", text)
        return word + "List" * text.count("[")

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
        origin = typing.get_origin(python) or python
        hints = typing.get_type_hints(origin, include_extras=True)
        lines, keywords = [], {}
        self._variables.append(_bindings(python, self._variables[-1]))
        for it in dataclasses.fields(origin):
            graphql = _camel(it.name)
            keywords[graphql] = it.name
            default = ""
            if it.default is not dataclasses.MISSING:
                default = f" = {_default(it.default, hints[it.name])}"
            elif it.default_factory is not dataclasses.MISSING:
                default = f" = {_default(it.default_factory(), hints[it.name])}"
            lines.append(f"  {graphql}: {self._type(hints[it.name], f'{name}.{it.name}')}{default}")
        self._variables.pop()
        mark = _own_mark(origin)
        body = "\n".join(lines)
        self._definitions[name] = _quoted(mark.description if mark else None, "") + f"input {name} {{\n{body}\n}}"
        self.inputs[name] = {"class": origin, "keywords": keywords}

    def _object(self, python: Any, name: str) -> None:
        origin = typing.get_origin(python) or python
        mark = _own_mark(origin)
        if mark is None or mark.kind not in ("type", "interface"):
            raise SchemaError(f"{python!r} is no object type: decorate it by `weir.type`")
        if not self._claim(name, python):
            return
        is_interface = mark.kind == "interface"
        if not is_interface:
            self.classes[origin] = name
        if mark.authorize is not None:
            self.guards.append((name, mark.authorize))
        hints = typing.get_type_hints(origin, include_extras=True)
        lines = []
        self._variables.append(_bindings(python, self._variables[-1]))
        for it in dataclasses.fields(origin) if name not in self._roots.values() else ():
            if it.name.startswith("_"):
                continue
            graphql = _camel(it.name)
            lines.append(f"  {graphql}: {self._type(hints[it.name], f'{name}.{it.name}')}")
            if not is_interface:
                self.attributes[f"{name}.{graphql}"] = it.name
        for resolved in _resolved(origin):
            lines.append(self._resolved(resolved, name, is_interface))
        self._variables.pop()
        interfaces = [it for it in origin.__mro__[1:] if (own := _own_mark(it)) and own.kind == "interface"]
        implements = " & ".join(self._named(it) for it in interfaces)
        head = f"{mark.kind} {name}" + (f" implements {implements}" if implements else "")
        body = "\n".join(lines)
        self._definitions[name] = _quoted(mark.description, "") + f"{head} {{\n{body}\n}}"
        if is_interface:
            for it in origin.__subclasses__():
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
        elif owner == self._roots.get("Subscription"):
            gives = typing.get_args(gives)[0]
        if resolved.authorize is not None:
            self.guards.append((where, resolved.authorize))
        arguments = []
        parameters = list(inspect.signature(function).parameters.values())[1:]
        for it in parameters:
            if it.name == "info" or hints.get(it.name) is Info:
                continue
            if it.kind in (it.VAR_POSITIONAL, it.VAR_KEYWORD):
                continue
            if it.name not in hints:
                raise SchemaError(f"`{where}`: the parameter `{it.name}` has no annotation")
            default = "" if it.default is inspect.Parameter.empty else f" = {_default(it.default, hints[it.name])}"
            ty = self._type(hints[it.name], f"{where}({_camel(it.name)}:)")
            arguments.append(f"{_camel(it.name)}: {ty}{default}")
        listed = f"({', '.join(arguments)})" if arguments else ""
        if not is_interface:
            is_root = owner in self._roots.values()
            kind = "load" if resolved.load is not None else "batch" if resolved.batch else "each"
            self.functions.append(Function(where, kind, function, resolved.load, is_root))
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


def _refusing(read: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    """A reader whose errors are in words for the client."""

    def reader(value: Any) -> Any:
        try:
            return read(value)
        except (ValueError, TypeError, ArithmeticError):
            raise ValueError(f"{value!r} is no {name}") from None

    return reader
