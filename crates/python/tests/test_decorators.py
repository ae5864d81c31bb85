"""Functions behind decorators: what is called, what it is given, and what is awaited."""

import asyncio
import functools

import pytest
import weir

SDL = "type Query { double(n: Int!, minStars: Int): Int users: [User!]! told(info: String): String } type User { id: Int! twice: Int }"


def passing(function):
    """A plain wrapper, whatever it wraps."""

    @functools.wraps(function)
    def called(*args, **kwargs):
        return function(*args, **kwargs)

    return called


def watching(function):
    """A wrapper that has a use for `info` itself."""

    @functools.wraps(function)
    def called(*args, info, **kwargs):
        info.context.append(info.coordinate)
        return function(*args, **kwargs)

    return called


def built(**functions):
    schema = weir.Schema(SDL)
    defaults = {
        "Query.double": lambda n, min_stars=0: 2 * n,
        "Query.users": lambda: [{"id": 1}, {"id": 2}],
        "Query.told": lambda info=None: info,
        "User.twice": lambda user: 2 * user["id"],
    }
    for coordinate, function in {**defaults, **{name.replace("_", "."): it for name, it in functions.items()}}.items():
        schema.resolve(coordinate)(function)
    return schema


def both(schema, query, context=None):
    """The answer by both ways of execution, which is one."""
    plain = schema.execute(query, context=context).json()
    assert asyncio.run(schema.execute_async(query, context=context)).json() == plain
    return plain["data"]


async def double(n, min_stars=0):
    await asyncio.sleep(0)
    return 2 * n + min_stars


@pytest.mark.parametrize("decorate", [lambda it: it, passing, lambda it: passing(passing(it))])
def test_a_coroutine_is_awaited_behind_plain_wrappers(decorate):
    assert both(built(Query_double=decorate(double)), "{ double(n: 4, minStars: 1) }") == {"double": 9}


def test_what_can_be_awaited_is_awaited_whatever_gave_it():
    async def of_parent(user):
        await asyncio.sleep(0)
        return user["id"] * 10

    schema = built(Query_double=lambda n, min_stars=0: double(n), User_twice=lambda user: of_parent(user) if user["id"] == 1 else 7)
    assert not schema.is_async
    query = "{ double(n: 3) users { twice } }"
    assert both(schema, query) == {"double": 6, "users": [{"twice": 10}, {"twice": 7}]}

    async def within():
        return schema.execute(query)

    with pytest.raises(RuntimeError, match="await `execute_async`"):
        asyncio.run(within())


def test_a_batch_behind_a_wrapper_is_awaited():
    schema = weir.Schema("type Query { users: [User!]! } type User { id: Int! twice: Int }")
    schema.resolve("Query.users")(lambda: [{"id": 1}, {"id": 2}])

    async def twice(users):
        await asyncio.sleep(0)
        return [2 * it["id"] for it in users]

    schema.batch("User.twice")(passing(twice))
    assert both(schema, "{ users { twice } }") == {"users": [{"twice": 2}, {"twice": 4}]}


def test_a_wrapper_takes_info_that_the_function_does_not_know():
    context = []
    schema = built(Query_double=watching(lambda n, min_stars=0: n), User_twice=watching(lambda user: user["id"]))
    query = "{ double(n: 5) users { twice } }"
    found = schema.execute(query, context=context).json()["data"]
    assert found == {"double": 5, "users": [{"twice": 1}, {"twice": 2}]}
    assert sorted(set(context)) == ["Query.double", "User.twice"]


def test_a_plain_wrapper_hands_info_on():
    schema = built(Query_double=passing(lambda info, n: n if info.coordinate == "Query.double" else None))
    assert both(schema, "{ double(n: 5) }") == {"double": 5}


def test_keywords_of_any_name_hold_arguments_alone():
    schema = built(Query_double=lambda **kwargs: sum(kwargs.values()))
    assert both(schema, "{ double(n: 5, minStars: 2) }") == {"double": 7}


def test_info_is_known_by_its_class_and_an_argument_keeps_its_name():
    def told(info, about: weir.Info):
        return f"{info} {about.coordinate}"

    assert both(built(Query_told=told), '{ told(info: "words") }') == {"told": "words Query.told"}
    assert both(built(Query_told=lambda info: info), '{ told(info: "words") }') == {"told": "words"}
    schema = built(Query_told=lambda other=None: other)
    with pytest.raises(weir.SchemaError, match="no parameter for `info`"):
        schema.build()


def test_methods_of_root_classes_may_be_decorated():
    @weir.type
    class Query:
        @weir.field
        @watching
        def double(self, n: int) -> int:
            assert self is None
            return 2 * n

        @weir.field
        @passing
        async def later(self, info: weir.Info, n: int = 3) -> int:
            return n

    schema = weir.Schema(query=Query)
    assert schema.execute("{ double(n: 2) later }", context=[]).json() == {"data": {"double": 4, "later": 3}}


def test_a_subscription_may_be_any_iterator():
    schema = weir.Schema("type Query { a: Int } type Subscription { plain: Int late: Int wrong: Int }")
    schema.resolve("Query.a")(lambda: 1)
    schema.subscribe_to("Subscription.plain")(lambda: iter([1, 2]))

    @schema.subscribe_to("Subscription.late")
    async def late():
        async def values():
            yield 3

        return values()

    schema.subscribe_to("Subscription.wrong")(lambda: 7)

    async def all_of(query):
        return [it.json() async for it in schema.subscribe(query)]

    assert asyncio.run(all_of("subscription { plain }")) == [{"data": {"plain": 1}}, {"data": {"plain": 2}}]
    assert asyncio.run(all_of("subscription { late }")) == [{"data": {"late": 3}}]
    assert asyncio.run(all_of("subscription { wrong }"))[0]["errors"][0]["message"] == "Internal error."
