"""The Python package against graphql-core and Strawberry: one process, one thread, from a request to bytes of JSON, in alternating turns.

The rivals keep what they can: graphql-core executes a document that was parsed and validated before, Strawberry has its caches of parsed
and of validated documents. All read the same objects. BENCH_PASSES and BENCH_SECONDS make it shorter; PUBLISH=1 writes docs/performance/python.md.
"""

import json
import os
import pathlib
import statistics
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version

import strawberry
import weir
from graphql import build_schema, execute_sync, get_introspection_query, parse, validate
from strawberry.extensions import ParserCache, ValidationCache

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from common import publish, spread, table, turns  # noqa: E402

PASSES = int(os.environ.get("BENCH_PASSES", 5))
SECONDS = float(os.environ.get("BENCH_SECONDS", 2))
SDL = """
type Query { records: [Record!]! users: [User!]! }
type Record {
  id: Int! name: String! score: Float! active: Boolean! note: String
  code: String! city: String! height: Float! weight: Float! visits: Int!
}
type User { id: Int! name: String! posts: [Post!]! }
type Post { id: Int! title: String! comments: [Comment!]! }
type Comment { id: Int! text: String! }
"""


@dataclass
class Record:
    id: int
    name: str
    score: float
    active: bool
    note: str | None
    code: str = "a code"
    city: str = "a city"
    height: float = 1.75
    weight: float = 70.5
    visits: int = 7


@dataclass
class Comment:
    id: int
    text: str


@dataclass
class Post:
    id: int
    title: str


@dataclass
class User:
    id: int
    name: str


RECORDS = [Record(n, f"record {n}", n / 4, n % 2 == 0, None if n % 3 else "a note") for n in range(1_000)]
USERS = [User(n, f"user {n}") for n in range(50)]
POSTS = {user.id: [Post(user.id * 10 + n, f"post {n}") for n in range(10)] for user in USERS}
COMMENTS = {post.id: [Comment(post.id * 10 + n, f"comment {n}") for n in range(3)] for posts in POSTS.values() for post in posts}
OPERATIONS = {
    "list of 1,000 records, 10 fields": "{ records { id name score active note code city height weight visits } }",
    "list of 1,000 records, 5 fields": "{ records { id name score active note } }",
    "50 users, 500 posts, 1,500 comments": "{ users { id name posts { id title comments { id text } } } }",
    "introspection": get_introspection_query(),
}


def weir_schema():
    schema = weir.Schema(SDL)
    schema.resolve("Query.records")(lambda: RECORDS)
    schema.resolve("Query.users")(lambda: USERS)
    schema.batch("User.posts")(lambda users: [POSTS[user.id] for user in users])
    schema.batch("Post.comments")(lambda posts: [COMMENTS[post.id] for post in posts])
    return schema


def ours():
    schema = weir_schema()
    return lambda query: schema.execute(query).body


def graphql_core():
    schema = build_schema(SDL)
    fields = schema.type_map
    fields["Query"].fields["records"].resolve = lambda *_: RECORDS
    fields["Query"].fields["users"].resolve = lambda *_: USERS
    fields["User"].fields["posts"].resolve = lambda user, _: POSTS[user.id]
    fields["Post"].fields["comments"].resolve = lambda post, _: COMMENTS[post.id]
    documents = {query: parse(query) for query in OPERATIONS.values()}
    assert not any(validate(schema, document) for document in documents.values())
    return lambda query: json.dumps(execute_sync(schema, documents[query]).formatted).encode()


@strawberry.type(name="Comment")
class SharedComment:
    id: int
    text: str


@strawberry.type(name="Post")
class SharedPost:
    id: int
    title: str

    @strawberry.field
    def comments(self) -> list[SharedComment]:
        return COMMENTS[self.id]


@strawberry.type(name="User")
class SharedUser:
    id: int
    name: str

    @strawberry.field
    def posts(self) -> list[SharedPost]:
        return POSTS[self.id]


@strawberry.type(name="Record")
class SharedRecord:
    id: int
    name: str
    score: float
    active: bool
    note: str | None
    code: str
    city: str
    height: float
    weight: float
    visits: int


@strawberry.type(name="Query")
class SharedQuery:
    @strawberry.field
    def records(self) -> list[SharedRecord]:
        return RECORDS

    @strawberry.field
    def users(self) -> list[SharedUser]:
        return USERS


def strawberry_schema():
    for shared in (SharedComment, SharedPost, SharedUser, SharedRecord):
        # Its type checks take any object.
        shared.is_type_of = classmethod(lambda *_: True)
    return strawberry.Schema(SharedQuery, extensions=[ParserCache, ValidationCache])


def strawberry_graphql():
    schema = strawberry_schema()

    def answer(query):
        result = schema.execute_sync(query)
        assert not result.errors, result.errors
        return json.dumps({"data": result.data}).encode()

    return answer


def seconds_each(answer, query):
    """Seconds of the processor per request, over about SECONDS: other programs of the machine are not in it."""
    count, begun, before = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - begun < SECONDS:
        answer(query)
        count += 1
    return (time.process_time() - before) / count


def main():
    contenders = {"Weir": ours(), "graphql-core": graphql_core(), "Strawberry": strawberry_graphql()}
    for name, query in list(OPERATIONS.items())[:3]:
        answers = {who: json.loads(answer(query)) for who, answer in contenders.items()}
        assert all(it == answers["Weir"] for it in answers.values()), name
    found = {}
    for name, query in OPERATIONS.items():
        for who in turns(PASSES, list(contenders)):
            found.setdefault((who, name), []).append(seconds_each(contenders[who], query) * 1e3)
    rows = []
    for name in OPERATIONS:
        median = {who: statistics.median(found[who, name]) for who in contenders}
        widest = max((found[who, name] for who in contenders), key=lambda it: (max(it) - min(it)) / statistics.median(it))
        others = [it for who in list(contenders)[1:] for it in (f"{median[who]:.2f}", f"{median[who] / median['Weir']:.0f} x")]
        rows.append([name, f"{median['Weir']:.3f}", *others, spread(widest)])
    text = table(["ms of CPU per request", "Weir", "graphql-core", "ratio", "Strawberry", "ratio", "spread"], rows)
    if os.environ.get("PUBLISH"):
        versions = {"graphql-core": version("graphql-core"), "Strawberry": version("strawberry-graphql"), "Python": sys.version.split()[0]}
        runs = [{"who": who, "operation": name, "passes": passes} for (who, name), passes in found.items()]
        publish("python", text, runs, versions)
    else:
        print(text)


if __name__ == "__main__":
    main()
