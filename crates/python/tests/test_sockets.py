"""WebSockets of ASGI apps, by both protocols."""

import asyncio

import pytest
import weir
from serving import Socket, make_schema

LEGACY = ("graphql-ws",)


def run(conversation, **settings):
    """Runs a conversation with an app; every task has ended behind it."""
    schema = make_schema()

    async def whole():
        await conversation(weir.asgi(schema, **settings))
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not others, others

    asyncio.run(whole())
    return schema


async def logged_in(app, subprotocols=("graphql-transport-ws",), **payload):
    socket = Socket(app, subprotocols)
    await socket.opened()
    socket.send(type="connection_init", payload=payload)
    assert (await socket.read())["type"] == "connection_ack"
    return socket


def test_operations_run_by_the_newer_protocol():
    async def conversation(app):
        socket = await logged_in(app)
        socket.send(type="subscribe", id="1", payload={"query": "subscription { count(to: 2) }"})
        results = [await socket.read() for _ in range(3)]
        assert [it["type"] for it in results] == ["next", "next", "complete"]
        assert [it["payload"] for it in results[:2]] == [{"data": {"count": 1}}, {"data": {"count": 2}}]
        variables = {"query": "query ($n: String) { hello(name: $n) }", "variables": {"n": "é"}}
        socket.send(type="subscribe", id="1", payload=variables)
        assert (await socket.read())["payload"] == {"data": {"hello": "hello é"}}
        assert await socket.read() == {"type": "complete", "id": "1"}
        socket.send(type="subscribe", id="2", payload={"query": "{ nothing }"})
        error = await socket.read()
        assert (error["type"], error["id"]) == ("error", "2")
        socket.send(type="ping", payload={"a": 1})
        assert await socket.read() == {"type": "pong", "payload": {"a": 1}}
        await socket.leave()

    run(conversation)


def test_operations_run_by_the_older_protocol():
    async def conversation(app):
        socket = await logged_in(app, LEGACY)
        socket.send(type="start", id="1", payload={"query": "subscription { count(to: 1) }"})
        assert await socket.read() == {"type": "data", "id": "1", "payload": {"data": {"count": 1}}}
        assert await socket.read() == {"type": "complete", "id": "1"}
        socket.send(type="connection_terminate")
        assert (await socket.next()) == {"type": "websocket.close", "code": 1000, "reason": ""}
        await socket.leave()

    run(conversation)


def test_the_first_protocol_that_is_known_is_spoken():
    async def conversation(app):
        socket = Socket(app, ("mqtt", "graphql-ws", "graphql-transport-ws"))
        assert await socket.opened() == "graphql-ws"
        await socket.leave()
        refused = Socket(app, ("mqtt",))
        assert (await refused.next())["type"] == "websocket.close"
        await refused.leave()

    run(conversation)


@pytest.mark.parametrize("first", [{"type": "complete", "id": "1"}, None])
def test_a_subscription_ends_with_its_client(first):
    async def conversation(app):
        socket = await logged_in(app)
        socket.send(type="subscribe", id="1", payload={"query": "subscription { endless }"})
        assert (await socket.read())["payload"] == {"data": {"endless": 0}}
        if first:
            socket.send(**first)
            socket.send(type="ping")
            while (await socket.read())["type"] != "pong":
                pass
        await socket.leave()

    assert run(conversation).closed == ["endless"]


def test_nothing_of_a_stopped_operation_is_sent_under_its_id():
    async def conversation(app):
        socket = await logged_in(app)
        socket.send(type="subscribe", id="1", payload={"query": "subscription { endless }"})
        await socket.read()
        socket.send(type="complete", id="1")
        socket.send(type="subscribe", id="1", payload={"query": "{ hello }"})
        while "endless" in (message := await socket.read())["payload"]["data"]:
            pass
        assert message["payload"] == {"data": {"hello": "hello world"}}
        assert await socket.read() == {"type": "complete", "id": "1"}
        await socket.leave()

    run(conversation)


def test_an_id_that_is_used_again_is_not_freed_by_the_operation_before():
    async def conversation(app):
        socket = await logged_in(app)
        endless = {"type": "subscribe", "id": "1", "payload": {"query": "subscription { endless }"}}
        socket.send(**endless)
        await socket.read()
        socket.send(type="complete", id="1")
        socket.send(**endless)
        socket.send(type="ping")
        while (await socket.read())["type"] != "pong":
            pass
        # The first one has ended once the second has results.
        assert (await socket.read())["type"] == "next"
        socket.send(**endless)
        while (message := await socket.next())["type"] != "websocket.close":
            pass
        assert message["code"] == 4409
        await socket.leave()

    run(conversation)


def test_closes_have_the_codes_of_the_protocol():
    async def closed(app, *messages):
        socket = Socket(app)
        await socket.opened()
        for message in messages:
            socket.send(**message)
        while (message := await socket.next())["type"] != "websocket.close":
            pass
        await socket.leave()
        return message["code"]

    async def conversation(app):
        init = {"type": "connection_init"}
        endless = {"type": "subscribe", "id": "1", "payload": {"query": "subscription { endless }"}}
        assert await closed(app, endless) == 4401
        assert await closed(app, init, init) == 4429
        assert await closed(app, init, {"type": "start"}) == 4400
        assert await closed(app, init, endless, endless) == 4409

    run(conversation)


def test_a_client_that_does_not_log_in_is_closed():
    async def conversation(app):
        socket = Socket(app)
        await socket.opened()
        assert (await socket.next())["code"] == 4408
        await socket.leave()

    run(conversation, socket_init_timeout=0)


def test_the_login_makes_the_context():
    def context(request):
        if request.params.get("token") != "right":
            raise weir.GraphQLError("log in")
        return request.params["name"]

    async def conversation(app):
        socket = await logged_in(app, token="right", name="Ada")
        socket.send(type="subscribe", id="1", payload={"query": "{ who }"})
        assert (await socket.read())["payload"] == {"data": {"who": "Ada"}}
        assert (await socket.read())["type"] == "complete"
        await socket.leave()
        denied = Socket(app)
        await denied.opened()
        denied.send(type="connection_init", payload={"token": "wrong"})
        assert (await denied.next())["code"] == 4403
        await denied.leave()

    run(conversation, context=context)


def test_operations_of_a_socket_are_bounded():
    async def conversation(app):
        socket = await logged_in(app)
        for id in ("1", "2"):
            socket.send(type="subscribe", id=id, payload={"query": "subscription { endless }"})
        while (message := await socket.read())["type"] != "error":
            pass
        assert message["payload"][0]["extensions"]["code"] == "LIMIT_OPERATIONS"
        await socket.leave()

    run(conversation, socket_operations_max=1)


def test_pages_of_other_origins_open_no_socket():
    async def opened(app, origin):
        socket = Socket(app, headers={"host": "api.example.org", "origin": origin})
        message = await socket.next()
        await socket.leave()
        return message["type"] == "websocket.accept"

    async def conversation(app):
        assert await opened(app, "https://api.example.org")
        assert await opened(app, "https://page.example.org")
        assert not await opened(app, "https://evil.example.org")
        assert not await opened(app, "null")

    run(conversation, origins=["https://page.example.org"])
