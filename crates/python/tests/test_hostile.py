"""Threads, leaks, signals, forks."""

import gc
import os
import subprocess
import sys
import threading
import weakref

import weir

SDL = "type Query { users(n: Int!): [User!]! } type User { id: Int! name: String! posts: [Post!]! } type Post { title: String! }"


class User:
    alive = weakref.WeakSet()

    def __init__(self, id):
        self.id, self.name = id, f"user {id}"
        User.alive.add(self)


def schema():
    own = weir.Schema(SDL)
    own.resolve("Query.users")(lambda n: [User(id) for id in range(n)])
    own.batch("User.posts")(lambda users: [[{"title": user.name}] for user in users])
    return own.build()


QUERY = "query ($n: Int!) { users(n: $n) { id name posts { title } } }"


def test_threads_may_use_a_schema_at_the_same_time():
    own, wrong = schema(), []

    def work(n):
        for _ in range(200):
            users = own.execute(QUERY, {"n": n}).json()["data"]["users"]
            if [it["posts"][0]["title"] for it in users] != [f"user {id}" for id in range(n)]:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_ten_thousand_requests_leave_no_object_behind():
    own = schema()
    for _ in range(100):
        own.execute(QUERY, {"n": 3})
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(10_000):
        own.execute(QUERY, {"n": 3})
    gc.collect()
    assert len(User.alive) == 0
    assert len(gc.get_objects()) - before < 100


def test_errors_leave_no_object_behind():
    own = weir.Schema(SDL)
    own.resolve("Query.users")(lambda n: [User(id) for id in range(n)])

    @own.batch("User.posts")
    def posts(users):
        raise weir.GraphQLError("no", extensions={"of": len(users)})

    for _ in range(1_000):
        own.execute(QUERY, {"n": 3})
    gc.collect()
    assert len(User.alive) == 0


def test_the_context_is_not_kept():
    class Context:
        pass

    own, context = schema(), Context()
    seen = weakref.ref(context)
    own.execute(QUERY, {"n": 1}, context=context)
    del context
    gc.collect()
    assert seen() is None


def test_an_interrupt_of_the_process_ends_a_request():
    program = """
import os, signal, weir
# A shell's job in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
schema = weir.Schema("type Query { a: Int }")
@schema.resolve("Query.a")
def a():
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        pass
try:
    schema.execute("{ a }")
except KeyboardInterrupt:
    print("interrupted")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "interrupted\n", ended.stderr


def test_a_process_that_was_forked_answers():
    own = schema()
    expected = own.execute(QUERY, {"n": 2}).body
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, own.execute(QUERY, {"n": 2}).body)
        os._exit(0)
    os.close(write)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(read, 1 << 16) == expected
    os.close(read)


def test_a_list_that_changes_while_it_is_read_does_no_harm():
    class Shrinking:
        def __init__(self, items):
            self.items = items

        @property
        def id(self):
            del self.items[1:]
            return 1

    items = []
    items.extend(Shrinking(items) for _ in range(10))
    own = weir.Schema("type Query { all: [It!]! } type It { id: Int! }")
    own.resolve("Query.all")(lambda: items)
    assert own.execute("{ all { id } }").json() == {"data": {"all": [{"id": 1}]}}


def test_objects_that_hold_each_other_are_read_as_far_as_they_are_selected():
    first = {"n": 1}
    first["next"] = {"n": 2, "next": first}
    own = weir.Schema("type Query { first: It } type It { n: Int next: It }")
    own.resolve("Query.first")(lambda: first)
    assert own.execute("{ first { next { next { n } } } }").json() == {"data": {"first": {"next": {"next": {"n": 1}}}}}


def test_a_text_with_nul_and_a_long_text_are_written():
    own = weir.Schema("type Query { of(n: Int!): String! }")
    own.resolve("Query.of")(lambda n: "\0é" * n)
    assert own.execute("{ of(n: 100000) }").json() == {"data": {"of": "\0é" * 100_000}}


def test_handlers_of_signals_are_left_as_they_are():
    program = """
import signal
before = signal.getsignal(signal.SIGINT)
import weir
schema = weir.Schema("type Query { a: Int }")
schema.resolve("Query.a")(lambda: 1)
print(schema.execute("{ a }").json(), signal.getsignal(signal.SIGINT) == before)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "{'data': {'a': 1}} True\n", ended.stderr
