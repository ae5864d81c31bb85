"""Coroutines on the caller's event loop, and subscriptions."""

import asyncio
import threading

import pytest
import weir

SDL = """
type Query { users: [User!]! slow: Int now: Int }
type User { id: Int! posts: [Post!]! friend: User }
type Post { title: String }
type Subscription { ticks(to: Int!): Int users: User }
"""


def schema(**options):
    own = weir.Schema(SDL, **options)
    own.loops, own.cancelled = set(), []

    @own.resolve("Query.users")
    async def users():
        own.loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return [{"id": 1}, {"id": 2}]

    @own.batch("User.posts")
    async def posts(users, info):
        own.loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return [[{"title": f"post of {user['id']}"}] for user in users]

    @own.resolve("User.friend")
    async def friend(user):
        await asyncio.sleep(0)
        if user["id"] == 2:
            raise weir.GraphQLError("no friend")
        return {"id": 3}

    @own.resolve("Query.slow")
    async def slow():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            own.cancelled.append("slow")
            raise

    @own.resolve("Query.now")
    def now():
        return 1

    @own.subscribe_to("Subscription.ticks")
    async def ticks(to):
        try:
            for tick in range(to):
                yield tick
        finally:
            own.cancelled.append("ticks")

    @own.subscribe_to("Subscription.users")
    async def user_events(info):
        yield {"id": 1}
        yield {"id": 5}
        raise weir.GraphQLError("over")

    return own


def test_coroutines_run_on_the_loop_of_the_caller():
    own = schema()

    async def main():
        answer = await own.execute_async("{ users { id posts { title } } }")
        return answer, asyncio.get_running_loop()

    answer, loop = asyncio.run(main())
    assert answer.json()["data"]["users"][1] == {"id": 2, "posts": [{"title": "post of 2"}]}
    assert own.loops == {loop}


def test_an_exception_of_a_coroutine_fails_its_value():
    answer = asyncio.run(schema().execute_async("{ users { friend { id } } }")).json()
    assert answer["data"]["users"] == [{"friend": {"id": 3}}, {"friend": None}]
    assert answer["errors"][0]["message"] == "no friend"


def test_a_request_that_does_not_wait_needs_no_task():
    assert asyncio.run(schema().execute_async("{ now }")).json() == {"data": {"now": 1}}


def test_execute_runs_coroutines_on_a_loop_of_its_own():
    assert schema().execute("{ users { id } }").json()["data"]["users"] == [{"id": 1}, {"id": 2}]


def test_execute_within_a_loop_says_what_to_do():
    async def main():
        schema().execute("{ now }")

    with pytest.raises(RuntimeError, match="await `execute_async`"):
        asyncio.run(main())


def test_many_requests_share_a_loop():
    own = schema()

    async def main():
        return await asyncio.gather(*(own.execute_async("{ users { posts { title } } }") for _ in range(50)))

    assert len({it.body for it in asyncio.run(main())}) == 1


def test_roots_wait_at_the_same_time():
    own = weir.Schema("type Query { a: Int b: Int }")

    async def main():
        first, second = asyncio.Event(), asyncio.Event()

        async def a():
            first.set()
            await second.wait()
            return 1

        async def b():
            second.set()
            await first.wait()
            return 2

        own.resolve("Query.a")(a)
        own.resolve("Query.b")(b)
        return await own.execute_async("{ a b }")

    assert asyncio.run(main()).json() == {"data": {"a": 1, "b": 2}}


def test_a_cancelled_request_cancels_its_coroutines():
    own = schema()

    async def main():
        task = asyncio.create_task(own.execute_async("{ slow }"))
        while not asyncio.all_tasks() - {task, asyncio.current_task()}:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while not own.cancelled:
            await asyncio.sleep(0)

    asyncio.run(main())
    assert own.cancelled == ["slow"]


def test_a_timeout_ends_a_request():
    answer = asyncio.run(schema().execute_async("{ slow }", timeout=0.05))
    assert not answer.ok


def test_a_subscription_answers_each_event():
    async def main():
        return [it.json() async for it in schema().subscribe("subscription { ticks(to: 3) }")]

    assert asyncio.run(main()) == [{"data": {"ticks": tick}} for tick in range(3)]


def test_steps_below_an_event_are_batched():
    async def main():
        return [it.json() async for it in schema().subscribe("subscription { users { id posts { title } } }")]

    first, second, last = asyncio.run(main())
    assert first["data"]["users"] == {"id": 1, "posts": [{"title": "post of 1"}]}
    assert second["data"]["users"] == {"id": 5, "posts": [{"title": "post of 5"}]}
    assert last["errors"][0]["message"] == "over"


def test_a_subscription_that_is_left_closes_its_generator():
    own = schema()

    async def main():
        events = own.subscribe("subscription { ticks(to: 1000) }")
        async for _ in events:
            break
        await events.aclose()

    asyncio.run(main())
    assert own.cancelled == ["ticks"]


def test_a_subscription_that_is_refused_has_one_answer():
    async def main():
        return [it async for it in schema().subscribe("subscription { nothing }")]

    (refused,) = asyncio.run(main())
    assert refused.status == 400


def test_loops_of_several_threads_share_a_schema():
    own, answers = schema(), []

    def work():
        for _ in range(20):
            answers.append(asyncio.run(own.execute_async("{ users { posts { title } } }")).body)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 80 and len(set(answers)) == 1
