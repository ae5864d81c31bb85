"""What the apps of both kinds share: their settings, requests as contexts see them, refusals, and the page."""

from __future__ import annotations

import dataclasses
import json
import logging
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._errors import GraphQLError
from ._graphiql import PAGE
from ._schema import Schema

log = logging.getLogger("weir")

Headers = List[Tuple[bytes, bytes]]
JSON: Tuple[bytes, bytes] = (b"content-type", b"application/graphql-response+json; charset=utf-8")
HTML: Tuple[bytes, bytes] = (b"content-type", b"text/html; charset=utf-8")
_STATUSES = {"UNAUTHENTICATED": 401, "UNAUTHORIZED": 401}


@dataclasses.dataclass(frozen=True)
class Uploads:
    """Limits of files: their number, the bytes of one, and the bytes of a whole request."""

    files_max: int = 10
    file_bytes_max: int = 5 << 20
    bytes_max: int = 20 << 20


class HttpRequest:
    """A request, or the opening of a WebSocket, as the function of the context sees it.

    - `scope`: that of ASGI, or the environment of WSGI.
    - `params`: the payload with which the client of a WebSocket logs in, else empty.
    """

    __slots__ = ("method", "path", "params", "scope", "_headers", "_pairs")

    def __init__(
        self,
        method: str,
        path: str,
        pairs: Sequence[Tuple[bytes, bytes]],
        scope: Mapping[str, Any],
        params: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.method = method
        self.path = path
        self.scope = scope
        self.params: Mapping[str, Any] = params or {}
        self._pairs = pairs
        self._headers: Optional[Dict[str, str]] = None

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers by name in lower case; those of one name are joined by a comma."""
        if self._headers is None:
            found: Dict[str, str] = {}
            for raw_name, raw_value in self._pairs:
                name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
                found[name] = f"{found[name]}, {value}" if name in found else value
            self._headers = found
        return self._headers


class App:
    """Settings of an app."""

    def __init__(
        self,
        schema: Schema,
        *,
        context: Optional[Callable[[HttpRequest], Any]] = None,
        graphiql: Union[bool, str] = True,
        uploads: Union[bool, Uploads] = False,
        body_bytes_max: int = 1 << 20,
        batch_max: int = 10,
        timeout: float = 30.0,
    ) -> None:
        self.schema = schema
        self._context = context
        self._page = (graphiql if isinstance(graphiql, str) else PAGE).encode() if graphiql else None
        limits = Uploads() if uploads is True else uploads or None
        self._uploads = (limits.files_max, limits.file_bytes_max, limits.bytes_max) if limits else None
        self._bytes_max = max(body_bytes_max, limits.bytes_max if limits else 0)
        self._timeout = timeout
        self._fixed = {
            "timeout": timeout,
            "body_bytes_max": body_bytes_max,
            "batch_max": batch_max,
            "uploads": self._uploads,
        }

    def _call(self, method: str, query: bytes, headers: Any, body: bytes, context: Any) -> Dict[str, Any]:
        """A request as the engine takes it."""
        return {
            **self._fixed,
            "method": method,
            "query_string": query,
            "headers": headers,
            "body": body,
            "context": context,
        }

    def _shows_page(self, method: str, query: bytes, accept: bytes) -> bool:
        """True for a browser that opens the address."""
        return self._page is not None and method == "GET" and b"text/html" in accept and b"query=" not in query


def refusal(error: GraphQLError) -> Tuple[int, Headers, bytes]:
    """The response to a caller whom the function of the context turns away."""
    code = error.code or "ACCESS_DENIED"
    body = {"errors": [{"message": error.message, "extensions": {**error.extensions, "code": code}}]}
    return _STATUSES.get(code, 403), [JSON], json.dumps(body).encode()


FAILED = b'{"errors":[{"message":"Internal error.","extensions":{"code":"INTERNAL"}}]}'
