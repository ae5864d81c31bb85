"""Schemas: SDL, or types, with functions at their fields."""

from __future__ import annotations

import asyncio
import decimal
import enum
import inspect
import json
import threading
import uuid
from typing import Any, AsyncIterator, Callable, Dict, List, Mapping, Optional, TypeVar, Union

from . import _drive
from ._errors import GraphQLError, SchemaError
from ._types import Types
from ._weir import Core, Response

_F = TypeVar("_F", bound=Callable[..., Any])
_ROOTS = ("Query", "Mutation")


def _parameters(function: Callable[..., Any], parents: int) -> Dict[str, Any]:
    """Names of the parameters behind those of the parents; `any` if each keyword is taken."""
    names, takes_any = [], False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            takes_any = True
        elif parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
            names.append(parameter.name)
        elif parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            parents -= 1
    return {"names": set(names[max(parents, 0):]), "any": takes_any}


def _is_async(function: Callable[..., Any]) -> bool:
    call = getattr(function, "__call__", None)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


class Schema:
    """A schema with its resolvers. It is built at its first use, or by `build`; from then on it does not change.

    - `sdl`: the text of a schema, a class made by `weir.type`, or `None` for `types` alone.
    - `depth_max`, `complexity_max`: limits of operations; a field costs 1.
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
        complexity_max: Optional[int] = None,
        introspection: bool = True,
        suggestions: bool = True,
        plan_cache_bytes_max: Optional[int] = None,
    ) -> None:
        self._options = {
            "depth_max": depth_max,
            "complexity_max": complexity_max,
            "introspection": introspection,
            "suggestions": suggestions,
            "plan_cache_bytes_max": plan_cache_bytes_max,
        }
        self._functions: List[Dict[str, Any]] = []
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
        self._classes.update(collected.classes)
        self._attributes.update(collected.attributes)
        self._enums.update(collected.enums)
        self._inputs.update(collected.inputs)
        self._scalars.update(collected.scalars)
        for coordinate, kind, function in collected.functions:
            self._add(coordinate, kind, function)

    def _add(self, coordinate: str, kind: str, function: Callable[..., Any]) -> None:
        if self._core is not None:
            raise RuntimeError(f"{coordinate}: the schema is built, nothing can be added")
        is_async = _is_async(function)
        on = coordinate.partition(".")[0]
        if on == "Subscription":
            kind = "stream"
        elif kind == "each" and on in _ROOTS:
            kind = "root"
        elif kind == "batch" and on in _ROOTS:
            raise ValueError(f"{coordinate}: a root field has no parents, so there is nothing to batch")
        self._functions.append({
            "coordinate": coordinate,
            "function": function,
            "kind": kind,
            "is_async": is_async,
            "parameters": _parameters(function, 0 if kind in ("root", "stream") else 1),
        })

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
                registry = {
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
                self._core = Core(self._sdl, self._functions, registry, self._options)
            return self._core

    @property
    def is_async(self) -> bool:
        """True if a resolver is a coroutine function."""
        return any(it["is_async"] for it in self._functions)

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
        answer = await _drive.drive(core.start(request))
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
            for iterator in feed.close():
                close = getattr(iterator, "aclose", None)
                if close is not None:
                    await close()
