"""Annotations beyond classes: generics, `Literal`, `NewType`, `bytes`, files, and roots of any name."""

import asyncio
import sys
import typing
from typing import Annotated, Generic, List, Literal, NewType, Optional, TypeVar

import pytest
import weir

T = TypeVar("T")
K = TypeVar("K")
UserId = NewType("UserId", int)
Slug = weir.scalar("Slug", read=lambda text: text.lower(), write=lambda it: f"<{it}>")(NewType("Slug", str))


@weir.type
class User:
    id: UserId
    slug: Slug


@weir.type
class Edge(Generic[T]):
    node: T
    cursor: str


@weir.type
class Page(Generic[T]):
    """A page of a list."""

    edges: List[Edge[T]]
    first: Optional[T]

    @weir.field
    def last(self) -> T:
        return self.edges[-1].node


@weir.type
class Pair(Generic[K, T]):
    key: K
    value: List[T]


@weir.type
class UserPage2(Page[User]):
    total: int


@weir.input
class Change(Generic[T]):
    old: T
    new: T


Direction = Annotated[Literal["UP", "DOWN"], weir.named("Direction")]


@weir.type
class Root:
    @weir.field
    def users(self, order: Direction = "UP") -> Page[User]:
        users = [User(1, "a"), User(2, "b")]
        users = users if order == "UP" else users[::-1]
        return Page([Edge(it, str(it.id)) for it in users], users[0])

    @weir.field
    def names(self) -> Page[str]:
        return Page([Edge("x", "1")], None)

    @weir.field
    def more(self) -> UserPage2:
        return UserPage2([Edge(User(3, "c"), "3")], None, 1)

    @weir.field
    def pair(self) -> Pair[UserId, List[int]]:
        return Pair(1, [[1], [2, 3]])

    @weir.field
    def mood(self, of: Literal["CALM", "WILD"], slug: Slug) -> Literal["CALM", "WILD"]:
        return of if slug == "x" else "WILD"

    @weir.field
    def data(self, bytes: bytes = b"\x00\x01") -> bytes:
        return bytes + b"!"


@weir.type
class Changes:
    @weir.field
    def rename(self, change: Change[str], limit: Change[Optional[int]]) -> str:
        return f"{change.old} {change.new} {limit.new}"


SCHEMA = weir.Schema(query=Root, mutation=Changes)


def data(query, **variables):
    answer = SCHEMA.execute(query, variables).json()
    assert "errors" not in answer, answer
    return answer["data"]


def test_a_generic_class_is_a_type_per_use():
    sdl = SCHEMA.sdl()
    assert "schema {\n  query: Root\n  mutation: Changes\n}" in sdl
    assert "type UserPage {\n  edges: [UserEdge!]!\n  first: User\n  last: User!\n}" in sdl
    assert "type StringPage {\n  edges: [StringEdge!]!\n  first: String\n  last: String!\n}" in sdl
    assert "type UserPage2 {\n  edges: [UserEdge!]!\n  first: User\n  total: Int!\n  last: User!\n}" in sdl
    assert "type IntIntListPair {\n  key: Int!\n  value: [[Int!]!]!\n}" in sdl
    assert "input StringChange {\n  old: String!\n  new: String!\n}" in sdl


def test_generic_objects_are_answered():
    query = "{ users { edges { node { id slug } cursor } last { id } } names { edges { node } last } more { total last { id } } pair { key value } }"
    assert data(query) == {
        "users": {
            "edges": [{"node": {"id": 1, "slug": "<a>"}, "cursor": "1"}, {"node": {"id": 2, "slug": "<b>"}, "cursor": "2"}],
            "last": {"id": 2},
        },
        "names": {"edges": [{"node": "x"}], "last": "x"},
        "more": {"total": 1, "last": {"id": 3}},
        "pair": {"key": 1, "value": [[1], [2, 3]]},
    }
    change = 'mutation { rename(change: {old: "a", new: "b"}, limit: {old: 1, new: null}) }'
    assert data(change) == {"rename": "a b None"}


def test_a_literal_is_an_enum():
    sdl = SCHEMA.sdl()
    assert "enum Direction {\n  UP\n  DOWN\n}" in sdl and "users(order: Direction! = UP): UserPage!" in sdl
    assert "enum RootMoodOf {\n  CALM\n  WILD\n}" in sdl and "): RootMoodOf!" in sdl
    assert data("{ users(order: DOWN) { first { id } } }") == {"users": {"first": {"id": 2}}}
    assert data('{ mood(of: CALM, slug: "X") }') == {"mood": "CALM"}
    assert not SCHEMA.execute('{ mood(of: LOUD, slug: "X") }').ok


def test_bytes_are_base64():
    assert "data(bytes: Base64! = \"AAE=\"): Base64!" in SCHEMA.sdl()
    assert data("{ data }") == {"data": "AAEh"}
    assert data("query ($b: Base64!) { data(bytes: $b) }", b="aGk=") == {"data": "aGkh"}
    refused = SCHEMA.execute('{ data(bytes: "%") }').json()["errors"][0]["message"]
    assert refused == "'%' is no Base64"


def test_what_stands_for_no_type_is_told():
    @weir.type
    class Query:
        @weir.field
        def number(self) -> Literal[1, 2]:
            return 1

    with pytest.raises(weir.SchemaError, match="a Literal is an enum of texts"):
        weir.Schema(query=Query)

    @weir.type
    class Bare:
        @weir.field
        def page(self) -> Page[T]:
            return None

    with pytest.raises(weir.SchemaError, match="type variable"):
        weir.Schema(query=Bare)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is that of 3.12")
def test_type_parameters_of_python_3_12():
    space = {"weir": weir, "typing": typing}
    exec(
        "@weir.type\nclass Box[T]:\n    it: T\n\n"
        "@weir.type\nclass Query:\n    @weir.field\n    def box(self) -> Box[int]:\n        return Box(7)\n",
        space,
    )
    schema = weir.Schema(query=space["Query"])
    assert "type IntBox {\n  it: Int!\n}" in schema.sdl()
    assert schema.execute("{ box { it } }").json() == {"data": {"box": {"it": 7}}}


SDL = """
schema { query: Root mutation: Change subscription: Events }
type Root { a: Int b: [Int!]! }
type Change { c: Int }
type Events { d: Int }
"""


def test_roots_have_any_name():
    schema = weir.Schema(SDL)
    schema.resolve("Root.a")(lambda: 1)
    schema.resolve("Root.b")(lambda: [2])
    schema.resolve("Change.c")(lambda: 3)

    @schema.subscribe_to("Events.d")
    async def d():
        yield 4

    assert schema.execute("{ a b }").json() == {"data": {"a": 1, "b": [2]}}
    assert schema.execute("mutation { c }").json() == {"data": {"c": 3}}

    async def all_of():
        return [it.json() async for it in schema.subscribe("subscription { d }")]

    assert asyncio.run(all_of()) == [{"data": {"d": 4}}]


def test_errors_about_roots_are_in_words_of_python():
    schema = weir.Schema("schema { query: Root } type Root { a: Int b: Int }")
    schema.resolve("Root.a")(lambda: 1)
    with pytest.raises(weir.SchemaError) as told:
        schema.build()
    assert "`Root.b` has no resolver" in str(told.value)
    schema = weir.Schema("schema { query: Root } type Root { a: Int }")
    with pytest.raises(ValueError, match="nothing to batch"):
        schema.batch("Root.a")(lambda: 1)
