"""Uses of the package that a type checker accepts."""

import enum
from typing import Optional

import weir


@weir.enum
class Order(enum.Enum):
    UP = 1


@weir.input
class Filter:
    stars: int = 0


@weir.type
class User:
    id: weir.ID
    name: str
    mail: Optional[str] = None

    @weir.field
    def initials(self, info: weir.Info) -> str:
        return self.name[:1] + info.response_name


@weir.type(name="Query", description="The root.")
class Root:
    @weir.field
    def users(self, filter: Filter, order: Order = Order.UP) -> list[User]:
        return [User(id=weir.ID("1"), name="Ada")]


schema = weir.Schema(query=Root, depth_max=8)
sdl_first = weir.Schema("type Query { a(b: Int): Int }")


@sdl_first.resolve("Query.a")
def a(b: int = 0) -> int:
    return b


def answer() -> bytes:
    response: weir.Response = sdl_first.execute("{ a }", {"b": 1}, context=None)
    return response.body


async def answers() -> list[bytes]:
    first = await schema.execute_async("{ users { name } }")
    return [first.body] + [it.body async for it in schema.subscribe("subscription { a }")]


def function_keeps_its_type() -> int:
    return a(b=3)
