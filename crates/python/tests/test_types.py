"""Schemas from classes."""

import dataclasses
import datetime
import decimal
import enum
from collections.abc import AsyncIterator
from typing import Optional

import pytest
import weir


@weir.enum
class Order(enum.Enum):
    """How a list is ordered."""

    UP = 1
    DOWN = 2


@weir.input
class Filter:
    min_stars: int = 0
    tags: Optional[list[str]] = None


@weir.interface
class Named:
    name: str


@weir.type
class Post(Named):
    stars: int
    price: decimal.Decimal
    at: Optional[datetime.date] = None


@weir.type
class Video(Named):
    length: float


Item = weir.union("Item", (Post, Video), description="What a user makes.")


@weir.type
class User(Named):
    """Someone who writes."""

    id: weir.ID
    full_name: str

    @weir.field(batch=True)
    def posts(self: list["User"], filter: Filter = Filter(), order: Order = Order.UP) -> list[list[Post]]:
        """The posts."""
        return [
            [Post(f"{user.name} {n}", n, decimal.Decimal("1.10")) for n in (1, 2, 3)[:: 1 if order is Order.UP else -1] if n >= filter.min_stars]
            for user in self
        ]

    @weir.field(deprecated="use name")
    def shout(self, info: weir.Info) -> str:
        return self.name.upper() + str(info.context)


@weir.type
class Query:
    @weir.field
    def users(self, first: int = 2) -> list[User]:
        return [User("Ada", weir.ID("1"), "Ada L."), User("Bob", weir.ID("2"), "Bob B.")][:first]

    @weir.field
    async def items(self) -> list[Item]:
        return [Post("p", 1, decimal.Decimal(2)), Video("v", 1.5)]

    @weir.field
    def named(self) -> list[Named]:
        return [Video("v", 1.5)]

    @weir.field
    def day_after(self, day: datetime.date) -> datetime.date:
        return day + datetime.timedelta(days=1)


@weir.type
class Subscription:
    @weir.field
    async def counts(self, to: int) -> AsyncIterator[int]:
        for count in range(to):
            yield count


SCHEMA = weir.Schema(query=Query, subscription=Subscription)


def test_the_classes_print_their_sdl():
    sdl = SCHEMA.sdl()
    for part in (
        '"""\nSomeone who writes.\n"""\ntype User implements Named {', "id: ID!", "fullName: String!",
        "posts(filter: Filter! = { minStars: 0, tags: null }, order: Order! = UP): [Post!]!", "enum Order {\n  UP\n  DOWN\n}",
        "input Filter {\n  minStars: Int! = 0\n  tags: [String!] = null\n}", "union Item = Post | Video", "scalar Decimal", "at: Date",
        'shout: String! @deprecated(reason: "use name")', "interface Named {\n  name: String!\n}", "counts(to: Int!): Int!",
    ):
        assert part in sdl, sdl


def test_a_batch_of_a_class_gets_all_parents_and_objects_of_inputs_and_enums():
    query = "{ users { fullName posts(filter: {minStars: 2}, order: DOWN) { name stars price } shout } }"
    answer = SCHEMA.execute(query, context=7).json()
    assert answer["data"]["users"][1] == {
        "fullName": "Bob B.", "posts": [{"name": "Bob 3", "stars": 3, "price": 1.1}, {"name": "Bob 2", "stars": 2, "price": 1.1}], "shout": "BOB7"}
    assert SCHEMA.steps(query) == ["resolver Query.users", "resolver User.posts", "resolver User.shout"]


def test_unions_and_interfaces_are_told_by_class():
    answer = SCHEMA.execute("{ items { __typename ... on Post { name } ... on Video { length } } named { __typename name } }").json()
    assert answer["data"] == {
        "items": [{"__typename": "Post", "name": "p"}, {"__typename": "Video", "length": 1.5}], "named": [{"__typename": "Video", "name": "v"}]}


def test_scalars_that_python_has_are_read_and_written():
    assert SCHEMA.execute('{ dayAfter(day: "2026-02-28") }').json() == {"data": {"dayAfter": "2026-03-01"}}
    error = SCHEMA.execute('{ dayAfter(day: "soon") }').json()["errors"][0]
    assert (error["message"], error["extensions"]["code"]) == ("'soon' is no Date", "BAD_USER_INPUT")


def test_a_subscription_of_a_class_is_an_asynchronous_generator():
    import asyncio

    async def main():
        return [it.json()["data"]["counts"] async for it in SCHEMA.subscribe("subscription { counts(to: 3) }")]

    assert asyncio.run(main()) == [0, 1, 2]


def test_a_type_is_a_dataclass():
    assert dataclasses.is_dataclass(User) and User("Ada", weir.ID("1"), "A") == User("Ada", weir.ID("1"), "A")


def test_classes_and_sdl_make_one_schema():
    own = weir.Schema("type Query { video: Video extra: Int }", types=[Video])
    own.resolve("Query.video")(lambda: Video("v", 2.0))
    own.resolve("Query.extra")(lambda: 1)
    assert own.execute("{ video { name length } extra }").json() == {"data": {"video": {"name": "v", "length": 2.0}, "extra": 1}}


def test_a_class_that_is_no_type_is_an_error_that_names_the_field():
    class Other:
        pass

    @weir.type
    class Root:
        @weir.field
        def other(self) -> Other:
            return Other()

    with pytest.raises(weir.SchemaError, match="`Root.other`: .*Other.* is no type"):
        weir.Schema(query=Root)


def test_two_classes_of_one_name_are_an_error():
    @weir.type(name="Post")
    class Another:
        n: int

    @weir.type
    class Root:
        @weir.field
        def a(self) -> Post:
            raise NotImplementedError

        @weir.field
        def b(self) -> Another:
            raise NotImplementedError

    with pytest.raises(weir.SchemaError, match="two Python types are called `Post`"):
        weir.Schema(query=Root)


def test_a_scalar_of_its_own_class_has_reader_and_writer():
    @weir.scalar("Money", read=lambda text: Money(int(text)), write=lambda money: str(money.cents))
    class Money:
        def __init__(self, cents):
            self.cents = cents

    @weir.type
    class Root:
        @weir.field
        def twice(self, of: Money) -> Money:
            return Money(of.cents * 2)

    assert weir.Schema(query=Root).execute('{ twice(of: "21") }').json() == {"data": {"twice": "42"}}
