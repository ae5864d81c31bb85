"""Schemas: SDL, or types, with functions at their fields."""

from __future__ import annotations

import asyncio
import decimal
import enum
import functools
import json
import threading
import uuid
from typing import Any, AsyncIterator, Callable, Dict, List, Mapping, Optional, TypeVar, Union

from . import _drive
from ._errors import GraphQLError, SchemaError
from ._functions import Loader, info_keyword, is_async, parameters
from ._types import Types
from ._weir import Core, Response, root_names, snake

_F = TypeVar("_F", bound=Callable[..., Any])

# glibc gives the memory of each long answer back to the system, and takes it anew for the next, until the program once had and freed
# a large block: then it keeps as much. Nothing is written to this one, so it costs no memory.
bytearray(16 << 20)


def _reader(name: str, attribute: str) -> Callable[[Any], Any]:
    """The function of a field that is read from its object, for fields with a guard."""

    def read(parent: Any) -> Any:
        if isinstance(parent, dict):
            return parent.get(attribute, parent.get(name))
        return getattr(parent, attribute) if hasattr(parent, attribute) else getattr(parent, name)

    return read


class Schema:
    """A schema with its resolvers. It is built at its first use, or by `build`; from then on it does not change.

    - `sdl`: the text of a schema, a class made by `weir.type`, or `None` for `types` alone.
    - `depth_max`, `cost_max`: limits of operations; an object costs 1, a list its size, as `@cost` and `@listSize` say.
    - `incremental`: callers may use `@defer` and `@stream`, which apps made by `weir.asgi` and `weir.wsgi` answer in parts.
    """

    def __init__(
        self,
        sdl: Optional[str] = None,
        *,
        query: Optional[type] = None,
        mutation: Optional[type] = None,
        subscription: Optional[type] = None,
        types: Any = (),
        depth_max: Optional[int] = None,
        cost_max: Optional[int] = None,
        introspection: bool = True,
        suggestions: bool = True,
        incremental: bool = False,
        plan_cache_bytes_max: Optional[int] = None,
    ) -> None:
        self._options = {
            "depth_max": depth_max,
            "cost_max": cost_max,
            "introspection": introspection,
            "suggestions": suggestions,
            "incremental": incremental,
            "plan_cache_bytes_max": plan_cache_bytes_max,
        }
        self._functions: List[Dict[str, Any]] = []
        self._guards: List[Dict[str, Any]] = []
        self._loaders: List[Loader[Any]] = []
        self._scalars: Dict[str, Dict[str, Any]] = {}
        self._enums: Dict[str, Any] = {}
        self._inputs: Dict[str, Dict[str, Any]] = {}
        self._classes: Dict[type, str] = {}
        self._attributes: Dict[str, str] = {}
        self._core: Optional[Core] = None
        self._building = threading.Lock()
        roots = {"Query": query, "Mutation": mutation, "Subscription": subscription}
        collected = Types({name: root for name, root in roots.items() if root is not None}, types)
        self._sdl = "\n\n".join(part for part in (sdl, collected.sdl()) if part)
        self._roots = set(root_names(self._sdl))
        self._classes.update(collected.classes)
        self._attributes.update(collected.attributes)
        self._enums.update(collected.enums)
        self._inputs.update(collected.inputs)
        self._scalars.update(collected.scalars)
        for it in collected.functions:
            self._add(it.coordinate, it.kind, it.function, is_method_of_root=it.is_method_of_root, loader=it.loader)
        for target, rule in collected.guards:
            self._add_guard(target, "field" if "." in target else "type", rule)

    def _open(self, what: str) -> None:
        if self._core is not None:
            raise RuntimeError(f"{what}: the schema is built, nothing can be added")

    def _add(
        self,
        coordinate: str,
        kind: str,
        function: Callable[..., Any],
        *,
        is_method_of_root: bool = False,
        loader: Optional[Loader[Any]] = None,
    ) -> None:
        self._open(coordinate)
        if kind == "batch" and self._is_root(coordinate):
            raise ValueError(f"{coordinate}: a root field has no parents, so there is nothing to batch")
        has_parents = is_method_of_root or (kind != "stream" and not self._is_root(coordinate))
        if loader is not None and loader not in self._loaders:
            self._loaders.append(loader)
        self._functions.append({
            "coordinate": coordinate,
            "function": functools.partial(function, None) if is_method_of_root else function,
            "kind": kind,
            "is_async": is_async(function),
            "parameters": parameters(function, 1 if has_parents else 0),
            "loader": None if loader is None else self._loaders.index(loader),
        })

    def _is_root(self, coordinate: str) -> bool:
        return coordinate.partition(".")[0] in self._roots

    def _add_guard(self, target: str, kind: str, rule: Callable[..., Any]) -> None:
        self._open(target)
        if is_async(rule):
            raise TypeError(f"{target}: a guard is a plain function; put what it has to wait for into the context")
        self._guards.append({"target": target, "kind": kind, "function": rule, "info": info_keyword(rule)})

    def resolve(self, coordinate: str) -> Callable[[_F], _F]:
        """Resolves a field, `User.initials`, for one parent: the parent comes first, but for fields of root types.

        Arguments are keyword arguments; `info` is passed if there is a parameter of that name.
        """

        def add(function: _F) -> _F:
            self._add(coordinate, "each", function)
            return function

        return add

    def batch(self, coordinate: str) -> Callable[[_F], _F]:
        """Resolves a field for all parents at once: takes their list, and gives a list with a value, or an exception, for each."""

        def add(function: _F) -> _F:
            self._add(coordinate, "batch", function)
            return function

        return add

    def subscribe_to(self, coordinate: str) -> Callable[[_F], _F]:
        """Resolves a field of `Subscription` by an asynchronous generator."""

        def add(function: _F) -> _F:
            self._add(coordinate, "stream", function)
            return function

        return add

    def load(self, coordinate: str, loader: Loader[Any]) -> Callable[[_F], _F]:
        """Resolves a field by a loader: the function gives the key for one parent, a list of keys, or `None`.

        A request loads a key once, and the fields of one level share a call.
        """

        def add(function: _F) -> _F:
            self._add(coordinate, "load", function, loader=loader)
            return function

        return add

    def authorize(self, target: str) -> Callable[[_F], _F]:
        """Guards a field, `User.mail`, or all objects of a type, `User`.

        The function takes the list of parents, or objects, and gives a list of verdicts, or one for all. That of a root field takes
        no parents. `info` is passed if there is a parameter of that name. What is refused is null with the error `ACCESS_DENIED`.
        """

        def add(rule: _F) -> _F:
            self._add_guard(target, "field" if "." in target else "type", rule)
            return rule

        return add

    def filter(self, coordinate: str) -> Callable[[_F], _F]:
        """Leaves items out of a list of objects: the function takes the items of a step and gives a list of verdicts."""

        def add(rule: _F) -> _F:
            self._add_guard(coordinate, "filter", rule)
            return rule

        return add

    def scalar(
        self,
        name: str,
        *,
        read: Optional[Callable[[Any], Any]] = None,
        write: Optional[Callable[[Any], Any]] = None,
    ) -> None:
        """Reads and writes a custom scalar. A reader refuses a value by `ValueError`, whose words reach the client."""
        self._scalars[name] = {"read": read, "write": write}

    def enum(self, name: str, members: Any) -> None:
        """Makes values of an enum members of a class of `enum.Enum` in arguments."""
        self._enums[name] = members

    def type_of(self, python: type, name: str) -> None:
        """Names the object type of a class, where several may stand and the name of the class is another."""
        self._classes[python] = name

    def build(self) -> "Schema":
        """Builds the schema. Raises `SchemaError` with everything that is wrong."""
        self._built()
        return self

    def _built(self) -> Core:
        core = self._core
        if core is not None:
            return core
        with self._building:
            if self._core is None:
                self._read_guarded_fields()
                registry = {
                    "guarded_types": {it["target"] for it in self._guards if it["kind"] == "type"},
                    "filtered": {it["target"] for it in self._guards if it["kind"] == "filter"},
                    "classes": self._classes,
                    "enums": self._enums,
                    "inputs": self._inputs,
                    "scalars": self._scalars,
                    "attributes": self._attributes,
                    "graphql_error": GraphQLError,
                    "schema_error": SchemaError,
                    "enum_base": enum.Enum,
                    "decimal": decimal.Decimal,
                    "uuid": uuid.UUID,
                    **_drive.helpers,
                }
                loaders = [
                    {"name": it.name, "function": it.function, "info": info_keyword(it.function)}
                    for it in self._loaders
                ]
                parts = {"functions": self._functions, "guards": self._guards, "loaders": loaders}
                self._core = Core(self._sdl, parts, registry, self._options)
            return self._core

    def _read_guarded_fields(self) -> None:
        """A field that comes with its object has a function of its own once it is guarded."""
        resolved = {it["coordinate"] for it in self._functions}
        for guard in self._guards:
            target = guard["target"]
            if guard["kind"] == "type" or target in resolved or self._is_root(target):
                continue
            resolved.add(target)
            name = target.partition(".")[2]
            attribute = self._attributes.get(target, snake(name))
            self._add(target, "each", _reader(name, attribute))

    @property
    def is_async(self) -> bool:
        """True if a resolver is a coroutine function."""
        return any(it["is_async"] for it in self._functions) or any(is_async(it.function) for it in self._loaders)

    def sdl(self, *, sorted: bool = False) -> str:
        """The schema as SDL."""
        return self._built().sdl(sorted)

    def steps(self, query: str, variables: Optional[Mapping[str, Any]] = None) -> List[str]:
        """The calls of an operation, without running it: for tests that count them."""
        return self._built().steps(query, json.dumps(variables or {}))

    @staticmethod
    def _request(
        query: str,
        variables: Union[None, str, Mapping[str, Any]],
        operation_name: Optional[str],
        context: Any,
        queries_only: bool,
        timeout: float,
    ) -> Dict[str, Any]:
        if variables is not None and not isinstance(variables, str):
            variables = json.dumps(variables)
        return {
            "query": query,
            "variables": variables,
            "operation_name": operation_name,
            "context": context,
            "queries_only": queries_only,
            "timeout": timeout,
        }

    def execute(
        self,
        query: str,
        variables: Union[None, str, Mapping[str, Any]] = None,
        *,
        operation_name: Optional[str] = None,
        context: Any = None,
        queries_only: bool = False,
        timeout: float = 30.0,
    ) -> Response:
        """Answers a request. A schema with coroutines runs them on an event loop of its own, so not within one.

        - `variables`: a mapping, or the text of a JSON object.
        - `queries_only`: refuses mutations, as for a GET.
        - `timeout`: seconds.
        """
        core = self._built()
        request = self._request(query, variables, operation_name, context, queries_only, timeout)
        if not self.is_async:
            return core.execute(request)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self._driven(core, request))
        raise RuntimeError("the schema has asynchronous resolvers: within an event loop, await `execute_async`")

    async def execute_async(
        self,
        query: str,
        variables: Union[None, str, Mapping[str, Any]] = None,
        *,
        operation_name: Optional[str] = None,
        context: Any = None,
        queries_only: bool = False,
        timeout: float = 30.0,
    ) -> Response:
        """As `execute`, on the running event loop."""
        request = self._request(query, variables, operation_name, context, queries_only, timeout)
        return await self._driven(self._built(), request)

    @staticmethod
    async def _driven(core: Core, request: Dict[str, Any]) -> Response:
        answer: Optional[Response] = await _drive.drive(core.start(request))
        if answer is None:
            raise RuntimeError("the request ended without an answer")
        return answer

    async def subscribe(
        self,
        query: str,
        variables: Union[None, str, Mapping[str, Any]] = None,
        *,
        operation_name: Optional[str] = None,
        context: Any = None,
        timeout: float = 30.0,
    ) -> AsyncIterator[Response]:
        """The answers of a subscription, one per event; a request that is refused has one."""
        request = self._request(query, variables, operation_name, context, False, timeout)
        feed = self._built().subscribe(request)
        try:
            refused = await _drive.drive(feed.open())
            if refused is not None:
                yield refused
                return
            while (answer := await _drive.drive(feed.next())) is not None:
                yield answer
        finally:
            await _drive.close_all(feed.close())
