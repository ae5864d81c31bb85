"""Loaders: a call per level, a key once per request, values for parents by their keys."""

import asyncio
import collections
import uuid

import pytest
import weir

SDL = """
type Query { posts: [Post!]! user(id: ID!): User users: [User] }
type Mutation { posts: [Post!]! }
type Post { title: String! author: User editor: User readers: [User]! }
type User { id: ID! name: String! best: User }
"""
POSTS = [
    {"title": "a", "author_id": 1, "editor_id": 2, "reader_ids": [1, 3, 1]},
    {"title": "b", "author_id": 2, "editor_id": None, "reader_ids": []},
    {"title": "c", "author_id": 1, "editor_id": 9, "reader_ids": [9]},
]
NAMES = {1: "Ada", 2: "Bob", 3: "Cid"}


def make(load):
    calls = []

    def users(ids, info):
        calls.append(list(ids))
        assert info.context == "the context"
        return load(ids)

    async def users_later(ids, info):
        await asyncio.sleep(0)
        return users(ids, info)

    def schema(function):
        schema, by_id = weir.Schema(SDL), weir.loader(function)
        schema.resolve("Query.posts")(lambda: POSTS)
        schema.resolve("Query.users")(lambda: [{"id": 3, "name": "Cid"}])
        schema.resolve("Mutation.posts")(lambda: POSTS)
        schema.load("Query.user", by_id)(lambda id: int(id))
        schema.load("Post.author", by_id)(lambda post: post["author_id"])
        schema.load("Post.editor", by_id)(lambda post: post["editor_id"])
        schema.load("Post.readers", by_id)(lambda post: post["reader_ids"])
        schema.load("User.best", by_id)(lambda user: user["id"] % 3 + 1)
        return schema

    return calls, [schema(users), schema(users_later)]


def user(id):
    return {"id": id, "name": NAMES[id]}


def in_order(ids):
    return [user(id) if id in NAMES else None for id in ids]


def by_key(ids):
    return {id: user(id) for id in ids if id in NAMES}


def by_other_mapping(ids):
    return collections.ChainMap(by_key(ids), {None: None})


def answers(schema, query):
    yield schema.execute(query, context="the context")
    yield asyncio.run(schema.execute_async(query, context="the context"))


@pytest.mark.parametrize("load", [in_order, by_key, by_other_mapping])
def test_a_level_is_one_call_and_a_key_is_loaded_once(load):
    calls, schemas = make(load)
    query = "{ posts { author { name best { id } } editor { name } readers { name } } user(id: 1) { name } }"
    for schema in schemas:
        for answer in answers(schema, query):
            data = answer.json()["data"]
            assert [it["author"]["name"] for it in data["posts"]] == ["Ada", "Bob", "Ada"]
            assert [it["editor"] for it in data["posts"]] == [{"name": "Bob"}, None, None]
            assert data["posts"][0]["readers"] == [{"name": "Ada"}, {"name": "Cid"}, {"name": "Ada"}]
            assert data["posts"][2]["readers"] == [None] and data["user"] == {"name": "Ada"}
            assert [it["author"]["best"]["id"] for it in data["posts"]] == ["2", "3", "2"]
            # The root says its key first; the posts say theirs together; `best` finds all in the memory.
            assert calls == [[1], [2, 9, 3]], calls
            calls.clear()


def test_errors_are_those_of_their_keys_or_of_the_call():
    def load(ids):
        if 9 in ids:
            raise weir.GraphQLError("no nine", code="NINE")
        return [weir.GraphQLError("hidden") if id == 2 else user(id) for id in ids]

    _, schemas = make(load)
    for schema in schemas:
        for answer in answers(schema, "{ posts { author { name } } }"):
            found = answer.json()
            assert [it["author"] for it in found["data"]["posts"]] == [{"name": "Ada"}, None, {"name": "Ada"}]
            assert [(it["message"], it["path"]) for it in found["errors"]] == [("hidden", ["posts", 1, "author"])]
        for answer in answers(schema, "{ posts { editor { name } } }"):
            found = answer.json()
            assert {it["extensions"]["code"] for it in found["errors"]} == {"NINE"}


def test_a_loader_that_breaks_its_contract_fails_its_keys(caplog):
    _, schemas = make(lambda ids: [])
    for answer in answers(schemas[0], "{ posts { author { name } } }"):
        assert answer.json()["errors"][0]["message"] == "Internal error."
    assert "0 values were given for 2 keys" in caplog.text
    _, schemas = make(lambda ids: 7)
    for answer in answers(schemas[1], "{ posts { author { name } } }"):
        assert answer.json()["errors"][0]["message"] == "Internal error."


def test_keys_are_of_any_class_that_has_a_hash(caplog):
    schema = weir.Schema("type Query { all: [Int] none: Int }")
    keys = [1, "1", 1.0, True, (1, 2), uuid.UUID(int=7), b"x"]
    seen = []

    @weir.loader
    def places(found):
        seen.extend(found)
        return list(range(len(found)))

    schema.load("Query.all", places)(lambda: keys + keys)
    schema.load("Query.none", places)(lambda: {})
    assert schema.execute("{ all }").json()["data"]["all"] == [*range(7), *range(7)]
    assert [(type(it), it) for it in seen] == [(type(it), it) for it in keys]
    assert schema.execute("{ none }").json()["errors"][0]["message"] == "Internal error."
    assert "unhashable" in caplog.text


def test_methods_of_classes_give_keys():
    calls = []

    @weir.loader
    def users(ids):
        calls.append(ids)
        return [User(id, f"user {id}") for id in ids]

    @weir.type
    class User:
        id: int
        name: str

    @weir.type
    class Post:
        _author_id: int

        @weir.field(load=users)
        def author(self) -> User:
            return self._author_id

    @weir.type
    class Query:
        @weir.field
        def posts(self) -> list[Post]:
            return [Post(1), Post(2), Post(1)]

        @weir.field(load=users)
        def user(self, id: int) -> User | None:
            return id

    # The classes are local, so their annotations are looked up here.
    schema = weir.Schema(query=Query)
    answer = schema.execute("{ posts { author { name } } user(id: 5) { name } }").json()
    assert [it["author"]["name"] for it in answer["data"]["posts"]] == ["user 1", "user 2", "user 1"]
    assert answer["data"]["user"] == {"name": "user 5"}
    assert sorted(map(sorted, calls)) == [[1, 2], [5]]
