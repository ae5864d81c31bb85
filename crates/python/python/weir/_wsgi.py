"""GraphQL over HTTP as a WSGI app: for gunicorn, waitress, uWSGI, Flask, Django, Pyramid."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, Callable, Dict, Iterable, Iterator, List, Tuple

from ._drive import close_all, drive
from ._errors import GraphQLError
from ._requests import FAILED, HTML, JSON, App, Headers, HttpRequest, log, refusal
from ._schema import Schema
from ._weir import HttpAnswer, Run

StartResponse = Callable[..., Any]


def _headers(environ: Dict[str, Any]) -> Headers:
    """The headers, which the environment has in words of CGI."""
    found: Headers = []
    for key, value in environ.items():
        if key.startswith("HTTP_"):
            found.append((key[5:].replace("_", "-").lower().encode("latin-1"), value.encode("latin-1")))
        elif key in ("CONTENT_TYPE", "CONTENT_LENGTH") and value:
            found.append((key.replace("_", "-").lower().encode("latin-1"), value.encode("latin-1")))
    return found


class WsgiApp(App):
    """An app made by `weir.wsgi`."""

    def __call__(self, environ: Dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        query = environ.get("QUERY_STRING", "").encode("latin-1")
        accept = environ.get("HTTP_ACCEPT", "").encode("latin-1")
        if self._page is not None and self._shows_page(method, query, accept):
            return _whole(start_response, 200, [HTML], self._page)
        headers = _headers(environ)
        request = HttpRequest(method, environ.get("PATH_INFO", ""), headers, environ)
        try:
            context = request if self._context is None else self._context(request)
        except GraphQLError as error:
            return _whole(start_response, *refusal(error))
        except Exception as error:
            log.error("the context failed", exc_info=error)
            return _whole(start_response, 500, [JSON], FAILED)
        call = self._call(method, query, headers, self._body(environ), context)
        core = self.schema._built()
        if not self.schema.is_async and b"text/event-stream" not in accept and b"multipart/mixed" not in accept:
            answer: HttpAnswer = core.http_now(call)
            return _whole(start_response, answer.status, answer.headers, answer.body or b"")
        loop = asyncio.new_event_loop()
        try:
            run = core.http(call)
            answer = loop.run_until_complete(drive(run))
        except BaseException:
            loop.close()
            raise
        if answer.body is not None:
            _close(loop)
            return _whole(start_response, answer.status, answer.headers, answer.body)
        _start(start_response, answer.status, answer.headers)
        return _Chunks(loop, run, answer)

    def _body(self, environ: Dict[str, Any]) -> bytes:
        """The body, or one byte more than is taken."""
        length = environ.get("CONTENT_LENGTH") or ""
        if not length.isdigit():
            is_chunked = environ.get("wsgi.input_terminated") or environ.get("HTTP_TRANSFER_ENCODING")
            return self._read(environ, self._bytes_max + 1) if is_chunked else b""
        return self._read(environ, min(int(length), self._bytes_max + 1))

    @staticmethod
    def _read(environ: Dict[str, Any], length: int) -> bytes:
        chunks: List[bytes] = []
        while length > 0:
            chunk: bytes = environ["wsgi.input"].read(length)
            if not chunk:
                break
            chunks.append(chunk)
            length -= len(chunk)
        return b"".join(chunks)


class _Chunks:
    """The chunks of a stream, each when the server asks for it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, run: Run, answer: HttpAnswer) -> None:
        self._loop, self._run, self._answer = loop, run, answer

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        chunk = self._loop.run_until_complete(drive(self._answer.next(self._run)))
        if chunk is None:
            raise StopIteration
        return chunk  # type: ignore[no-any-return]

    def close(self) -> None:
        """The client has all, or is gone."""
        if not self._loop.is_closed():
            self._loop.run_until_complete(close_all(self._answer.close(self._run)))
            _close(self._loop)


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Ends a loop and what runs on it."""
    try:
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def _start(start_response: StartResponse, status: int, headers: Headers) -> None:
    named: List[Tuple[str, str]] = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
    start_response(f"{status} {HTTPStatus(status).phrase}", named)


def _whole(start_response: StartResponse, status: int, headers: Headers, body: bytes) -> List[bytes]:
    _start(start_response, status, [*headers, (b"content-length", str(len(body)).encode())])
    return [body]


def wsgi(schema: Schema, **settings: Any) -> WsgiApp:
    """GraphQL over HTTP as a WSGI app, with GraphiQL, files, and events where the server streams. It answers at every path.

    The settings are those of `weir.asgi`, but for WebSockets; `context` is a plain function.
    """
    return WsgiApp(schema, **settings)
