"""GraphQL over HTTP and WebSockets as an ASGI app: for uvicorn, hypercorn, granian, Starlette, FastAPI, Django."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import Any, Awaitable, Callable, Dict, List, Mapping, MutableMapping, Optional, Sequence, Tuple
from urllib.parse import urlsplit

from ._drive import close_all, drive
from ._errors import GraphQLError
from ._requests import FAILED, HTML, JSON, App, Headers, HttpRequest, log, refusal
from ._schema import Schema
from ._weir import HttpAnswer, Run, Socket

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class AsgiApp(App):
    """An app made by `weir.asgi`."""

    def __init__(
        self,
        schema: Schema,
        *,
        origins: Sequence[str] = (),
        socket_operations_max: int = 100,
        socket_init_timeout: float = 10.0,
        **settings: Any,
    ) -> None:
        super().__init__(schema, **settings)
        self._origins = {it.rstrip("/").lower() for it in origins}
        self._operations_max = socket_operations_max
        self._init_timeout = socket_init_timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._lifespan(receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                return await send({"type": "lifespan.shutdown.complete"})
            try:
                self.schema.build()
            except ValueError as error:
                return await send({"type": "lifespan.startup.failed", "message": str(error)})
            await send({"type": "lifespan.startup.complete"})

    async def _context_of(self, request: HttpRequest) -> Any:
        if self._context is None:
            return request
        context = self._context(request)
        return await context if inspect.isawaitable(context) else context

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        method, query, headers = scope["method"], scope["query_string"], scope["headers"]
        if self._page is not None and method == "GET":
            accept = b",".join(value for name, value in headers if name == b"accept")
            if self._shows_page(method, query, accept):
                return await _send_whole(send, 200, [HTML], self._page)
        body = await self._body(receive)
        if body is None:
            return
        try:
            context = await self._context_of(HttpRequest(method, scope["path"], headers, scope))
        except GraphQLError as error:
            return await _send_whole(send, *refusal(error))
        except Exception as error:
            log.error("the context failed", exc_info=error)
            return await _send_whole(send, 500, [JSON], FAILED)
        run = self.schema._built().http(self._call(method, query, headers, body, context))
        answer: HttpAnswer = await drive(run)
        if answer.body is not None:
            return await _send_whole(send, answer.status, answer.headers, answer.body)
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        await _send_chunks(run, answer, receive, send)

    async def _body(self, receive: Receive) -> Optional[bytes]:
        """The body, as far as it is within the limits; nothing of a client that is gone."""
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body: bytes = message.get("body", b"")
        if not message.get("more_body"):
            return body
        chunks, length = [body], len(body)
        while message.get("more_body"):
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            # What is too long is refused by its length; the rest is read and dropped.
            if length <= self._bytes_max:
                chunks.append(message.get("body", b""))
                length += len(chunks[-1])
        return b"".join(chunks)

    def _may_open(self, headers: Mapping[str, str]) -> bool:
        """True unless a page of another origin opens the socket."""
        origin = headers.get("origin", "").lower()
        own = urlsplit(origin).netloc == headers.get("host", "").lower()
        return not origin or own or origin in self._origins or "*" in self._origins

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        request = HttpRequest("GET", scope["path"], scope["headers"], scope)
        socket = Socket.open(list(scope.get("subprotocols", ()))) if self._may_open(request.headers) else None
        if socket is None:
            return await send({"type": "websocket.close", "code": 1002})
        await send({"type": "websocket.accept", "subprotocol": socket.subprotocol})
        await _Conversation(self, socket, scope, receive, send).run()


async def _send_whole(send: Send, status: int, headers: Headers, body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_chunks(run: Run, answer: HttpAnswer, receive: Receive, send: Send) -> None:
    """Sends a stream until it ends, or its client is gone."""
    gone = asyncio.ensure_future(_disconnected(receive))
    try:
        while True:
            chunk = asyncio.ensure_future(drive(answer.next(run)))
            try:
                await asyncio.wait((chunk, gone), return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not chunk.done():
                    chunk.cancel()
                    await asyncio.wait((chunk,))
            if chunk.cancelled():
                return
            body = chunk.result()
            await send({"type": "http.response.body", "body": body or b"", "more_body": body is not None})
            if body is None:
                return
    finally:
        gone.cancel()
        await close_all(answer.close(run))


class _Conversation:
    """One WebSocket: its messages, and the operations that run."""

    def __init__(self, app: AsgiApp, socket: Socket, scope: Scope, receive: Receive, send: Send) -> None:
        self._app, self._socket, self._scope = app, socket, scope
        self._receive, self._send = receive, send
        self._context: Any = None
        self._operations: Dict[str, "asyncio.Task[None]"] = {}

    async def run(self) -> None:
        try:
            close = await self._listen()
            if close is not None:
                await self._send({"type": "websocket.close", "code": close[0], "reason": close[1]})
        finally:
            running = list(self._operations.values())
            self._operations.clear()
            for task in running:
                task.cancel()
            if running:
                await asyncio.wait(running)

    async def _say(self, texts: Sequence[str]) -> None:
        for text in texts:
            await self._send({"type": "websocket.send", "text": text})

    async def _listen(self) -> Optional[Tuple[int, str]]:
        """Answers messages until there is a reason to close; nothing if the client went first."""
        loop = asyncio.get_running_loop()
        init_until = loop.time() + self._app._init_timeout
        while True:
            if self._socket.awaits_init():
                try:
                    message = await asyncio.wait_for(self._receive(), init_until - loop.time())
                except asyncio.TimeoutError:
                    return Socket.init_timeout()
            else:
                message = await self._receive()
            if message["type"] == "websocket.disconnect":
                return None
            text = message.get("text")
            if text is None:
                return Socket.invalid()
            texts, close = await self._react(self._socket.hear(text))
            await self._say(texts)
            if close is not None:
                return close

    async def _react(self, step: Tuple[Any, ...]) -> Tuple[List[str], Optional[Tuple[int, str]]]:
        """Does what a message asks for: the texts to send, and the end if there is one."""
        kind = step[0]
        if kind == "say":
            return step[1], None
        if kind == "close":
            return [], step[1]
        if kind == "login":
            return self._socket.logged_in(await self._log_in(step[1]))
        if kind == "stop":
            task = self._operations.pop(step[1], None)
            if task is not None:
                task.cancel()
        if kind == "run":
            id = step[1]
            if len(self._operations) >= self._app._operations_max:
                return self._socket.too_many(id), None
            self._operations[id] = asyncio.ensure_future(self._operate(id, step[2]))
        return [], None

    async def _log_in(self, payload: Optional[str]) -> Optional[str]:
        """Makes the context of the socket; words for a client that is turned away."""
        params = json.loads(payload) if payload else None
        scope = self._scope
        try:
            request = HttpRequest("GET", scope["path"], scope["headers"], scope, params)
            self._context = await self._app._context_of(request)
        except GraphQLError as error:
            return error.message
        except Exception as error:
            log.error("the context failed", exc_info=error)
            return "Internal error."
        return None

    async def _operate(self, id: str, payload: str) -> None:
        """Sends the results of an operation until its last message."""
        socket = self._socket
        try:
            feed = self._app.schema._built().operation(payload, self._context, self._app._timeout)
        except ValueError as error:
            await self._say(socket.failed(id, str(error), "BAD_REQUEST"))
            return self._ended(id)
        try:
            refused = await drive(feed.open())
            if refused is not None:
                return await self._say(socket.refused(id, refused.body))
            while (answer := await drive(feed.next())) is not None:
                await self._say((socket.result(id, answer.body),))
            await self._say((Socket.complete(id),))
        except OSError:
            # The client is gone, which the socket hears next.
            pass
        finally:
            self._ended(id)
            await close_all(feed.close())

    def _ended(self, id: str) -> None:
        # An operation that was stopped has no id any more: another may have it.
        if self._operations.get(id) is asyncio.current_task():
            del self._operations[id]
            self._socket.ended(id)


def asgi(schema: Schema, **settings: Any) -> AsgiApp:
    """GraphQL over HTTP as an ASGI app, with GraphiQL, files, events and WebSockets. It answers at every path.

    - `context`: makes the context of a request: a function, or a coroutine function, of an `HttpRequest`. A `GraphQLError` that it
      raises turns the caller away. Without it the context is the request.
    - `graphiql`: True for the page, a text of HTML for another, False for none.
    - `uploads`: True, or limits (`weir.Uploads`), for requests with files.
    - `origins`: other origins whose pages may open a WebSocket, `"*"` for all.
    - `body_bytes_max`, `batch_max`, `timeout`, `socket_operations_max`, `socket_init_timeout`: limits.
    """
    return AsgiApp(schema, **settings)
