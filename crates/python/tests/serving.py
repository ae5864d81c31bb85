"""Helpers of the tests of apps: requests without a server, by the protocols ASGI and WSGI themselves."""

import asyncio
import io
import json

import weir

SDL = """
scalar Upload
type Query { hello(name: String = "world"): String! who: String slow: Int user: User }
type User { name: String! mail: String }
type Mutation { set(value: Int!): Int! store(file: Upload!): String! storeAll(files: [Upload!]!): Int! }
type Subscription { count(to: Int!): Int! endless: Int! broken: Int! }
"""


def make_schema(**settings):
    schema = weir.Schema(SDL, **settings)
    schema.closed = []

    @schema.resolve("Query.hello")
    def hello(name):
        return f"hello {name}"

    @schema.resolve("Query.who")
    def who(info):
        return info.context.headers.get("x-user") if hasattr(info.context, "headers") else str(info.context)

    @schema.resolve("Query.slow")
    async def slow():
        await asyncio.sleep(0)
        return 1

    @schema.resolve("Query.user")
    def user():
        return {"name": "Ada"}

    @schema.batch("User.mail")
    async def mail(users):
        await asyncio.sleep(0)
        return [f"{it['name']}@example.org" for it in users]

    @schema.resolve("Mutation.set")
    def set_value(value):
        return value

    @schema.resolve("Mutation.store")
    def store(file):
        return f"{file.file_name} {file.content_type} {file.content.decode()} {len(file)}"

    @schema.resolve("Mutation.storeAll")
    def store_all(files):
        return sum(len(it) for it in files)

    @schema.subscribe_to("Subscription.count")
    async def count(to):
        for number in range(1, to + 1):
            await asyncio.sleep(0)
            yield number

    @schema.subscribe_to("Subscription.endless")
    async def endless():
        try:
            number = 0
            while True:
                yield number
                number += 1
                await asyncio.sleep(0)
        finally:
            schema.closed.append("endless")

    @schema.subscribe_to("Subscription.broken")
    async def broken():
        yield 1
        raise weir.GraphQLError("it broke", code="BROKEN")

    return schema


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


def encoded(headers):
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


async def ask_asgi(app, method, query, headers, body, chunks_max=None):
    """The answer of an ASGI app; a client that takes `chunks_max` chunks goes then."""
    sent = [body[:7], body[7:]]
    gone = asyncio.Event()
    found = Answer(None, None, b"")
    chunks = 0

    async def receive():
        if sent:
            return {"type": "http.request", "body": sent.pop(0), "more_body": bool(sent)}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        nonlocal chunks
        if message["type"] == "http.response.start":
            found.status = message["status"]
            found.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            return
        found.body += message.get("body", b"")
        chunks += 1
        if chunks == chunks_max:
            gone.set()
            # The client is seen to be gone before the next chunk is there.
            await asyncio.sleep(0)

    scope = {
        "type": "http",
        "method": method,
        "path": "/graphql",
        "query_string": query.encode(),
        "headers": encoded(headers),
    }
    await asyncio.wait_for(app(scope, receive, send), 30)
    return found


def ask_wsgi(app, method, query, headers, body, chunks_max=None):
    """The answer of a WSGI app."""
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": "/graphql",
        "QUERY_STRING": query.encode().decode("latin-1"),
        "wsgi.input": io.BytesIO(body),
    }
    if body:
        environ["CONTENT_LENGTH"] = str(len(body))
    for name, value in headers.items():
        key = name.upper().replace("-", "_")
        environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    found = Answer(None, None, b"")

    def start_response(status, pairs):
        found.status, found.headers = int(status.split()[0]), {name.lower(): value for name, value in pairs}

    chunks = app(environ, start_response)
    try:
        for number, chunk in enumerate(chunks, 1):
            found.body += chunk
            if number == chunks_max:
                break
    finally:
        close = getattr(chunks, "close", None)
        if close is not None:
            close()
    return found


def ask(kind, schema, method="POST", query="", headers=None, body=b"", chunks_max=None, **settings):
    """The answer of the app of a schema: `kind` is `asgi` or `wsgi`."""
    headers = headers or {}
    if kind == "asgi":
        return asyncio.run(ask_asgi(weir.asgi(schema, **settings), method, query, headers, body, chunks_max))
    return ask_wsgi(weir.wsgi(schema, **settings), method, query, headers, body, chunks_max)


class Socket:
    """A WebSocket of an ASGI app."""

    def __init__(self, app, subprotocols=("graphql-transport-ws",), headers=None):
        self.to_app, self.from_app = asyncio.Queue(), asyncio.Queue()
        scope = {
            "type": "websocket",
            "path": "/graphql",
            "headers": encoded(headers or {"host": "localhost"}),
            "subprotocols": list(subprotocols),
        }
        self.to_app.put_nowait({"type": "websocket.connect"})
        self.task = asyncio.ensure_future(app(scope, self.to_app.get, self.from_app.put))

    async def next(self):
        return await asyncio.wait_for(self.from_app.get(), 30)

    async def opened(self):
        message = await self.next()
        assert message["type"] == "websocket.accept", message
        return message["subprotocol"]

    def send(self, **message):
        self.to_app.put_nowait({"type": "websocket.receive", "text": json.dumps(message)})

    async def read(self):
        message = await self.next()
        assert message["type"] == "websocket.send", message
        return json.loads(message["text"])

    async def leave(self):
        self.to_app.put_nowait({"type": "websocket.disconnect", "code": 1001})
        await asyncio.wait_for(self.task, 30)
