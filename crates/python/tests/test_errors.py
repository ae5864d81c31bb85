"""Exceptions, broken resolvers, and schemas that are wrong."""

import logging

import pytest
import weir

SDL = "type Query { users: [User!]! one: User fail: Int } type User { name: String posts: [String] }"


def schema(posts=None, users=lambda: [{"name": "Ada"}, {"name": "Bob"}], fail=lambda: 1):
    own = weir.Schema(SDL)
    own.resolve("Query.users")(users)
    own.resolve("Query.one")(lambda: {"name": "Ada"})
    own.resolve("Query.fail")(fail)
    if posts is not None:
        own.batch("User.posts")(posts)
    return own


def raising(error):
    def resolver(*parents):
        raise error

    return resolver


def test_an_exception_is_an_internal_error_and_stands_in_the_log(caplog):
    with caplog.at_level(logging.ERROR, "weir"):
        answer = schema(fail=raising(KeyError("secret"))).execute("{ fail }").json()
    assert answer["data"] == {"fail": None}
    assert answer["errors"][0]["message"] == "Internal error."
    assert answer["errors"][0]["extensions"]["code"] == "INTERNAL"
    assert "secret" not in str(answer)
    assert caplog.records[0].getMessage() == "Query.fail failed" and "secret" in caplog.text


def test_a_graphql_error_reaches_the_client_with_code_and_extensions():
    error = weir.GraphQLError("sold out", code="SOLD_OUT", extensions={"left": 0, "of": ["a"]})
    answer = schema(fail=raising(error)).execute("{ fail }").json()
    assert answer["errors"] == [{
        "message": "sold out", "locations": answer["errors"][0]["locations"], "path": ["fail"],
        "extensions": {"code": "SOLD_OUT", "left": 0, "of": ["a"]}}]


def test_an_error_of_one_value_of_a_batch_leaves_the_others():
    answer = schema(posts=lambda users: [["a"], weir.GraphQLError("no")]).execute("{ users { posts } }").json()
    assert answer["data"]["users"] == [{"posts": ["a"]}, {"posts": None}]
    assert answer["errors"][0]["path"] == ["users", 1, "posts"]


def test_an_error_of_a_batch_stands_for_each_of_its_parents():
    answer = schema(posts=raising(weir.GraphQLError("no"))).execute("{ users { name posts } }").json()
    assert answer["data"]["users"] == [{"name": "Ada", "posts": None}, {"name": "Bob", "posts": None}]
    assert len(answer["errors"]) == 2


@pytest.mark.parametrize("given", [[], [["a"]], [["a"]] * 3, "ab", {"a": 1, "b": 2}, None, 7, object()])
def test_a_batch_that_gives_another_number_of_values_fails_alone(given, caplog):
    answer = schema(posts=lambda users: given).execute("{ users { name posts } one { name } }").json()
    assert answer["data"]["users"] == [{"name": "Ada", "posts": None}, {"name": "Bob", "posts": None}]
    assert answer["data"]["one"] == {"name": "Ada"}
    assert answer["errors"][0]["message"] == "Internal error." and "User.posts failed" in caplog.text


def test_an_iterator_that_raises_fails_its_field():
    def users():
        yield {"name": "Ada"}
        raise weir.GraphQLError("half way")

    answer = schema(users=users).execute("{ users { name } }").json()
    assert answer["data"] is None and answer["errors"][0]["message"] == "half way"


def test_a_property_that_raises_fails_its_field_alone():
    class User:
        name = property(raising(weir.GraphQLError("no name")))
        posts = ["a"]

    answer = schema(users=lambda: [User()]).execute("{ users { name posts } }").json()
    assert answer["data"] == {"users": [{"name": None, "posts": ["a"]}]}
    assert answer["errors"][0]["path"] == ["users", 0, "name"]


def test_a_missing_attribute_is_an_error_and_a_missing_key_is_null():
    answer = schema(users=lambda: [object(), {}]).execute("{ users { name } }").json()
    assert answer["data"]["users"] == [{"name": None}, {"name": None}]
    assert [it["message"] for it in answer["errors"]] == ["User.name is String: a value of class object has neither attribute nor key for it."]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_raised_by_the_call_that_executes(interrupt):
    with pytest.raises(interrupt):
        schema(fail=raising(interrupt())).execute("{ fail }")


def test_a_graphql_error_with_extensions_that_are_no_json_is_internal():
    error = weir.GraphQLError("no", extensions={"left": object()})
    assert schema(fail=raising(error)).execute("{ fail }").json()["errors"][0]["message"] == "Internal error."


def test_everything_wrong_with_a_schema_is_told_at_once_with_places():
    own = weir.Schema("type Query {\n  a: Missing\n  b: Other\n}")
    with pytest.raises(weir.SchemaError) as raised:
        own.build()
    assert "Missing" in str(raised.value) and "Other" in str(raised.value) and "2" in str(raised.value)


def test_a_resolver_without_its_field_and_a_root_field_without_its_resolver_are_errors():
    own = weir.Schema("type Query { a: Int b: Int }")
    own.resolve("Query.a")(lambda: 1)
    own.resolve("Query.c")(lambda: 1)
    with pytest.raises(weir.SchemaError) as raised:
        own.build()
    assert "`Query.b` has no resolver" in str(raised.value) and "has no field `c`" in str(raised.value)


def test_a_function_without_a_parameter_for_an_argument_is_an_error():
    own = weir.Schema("type Query { a(first: Int): Int }")
    own.resolve("Query.a")(lambda: 1)
    with pytest.raises(weir.SchemaError, match="has no parameter for `first`"):
        own.build()


def test_a_batch_at_a_root_field_is_an_error():
    with pytest.raises(ValueError, match="Query.a"):
        weir.Schema("type Query { a: Int }").batch("Query.a")(lambda: 1)


def test_a_schema_that_is_built_takes_no_resolver():
    own = schema().build()
    with pytest.raises(RuntimeError, match="User.posts"):
        own.batch("User.posts")(lambda users: [])


def test_variables_that_are_no_object_are_refused():
    assert schema().execute("{ fail }", "[1]").status == 400
    assert schema().execute("{ fail }", "{").json()["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


def test_limits_refuse_deep_and_costly_operations():
    sdl = "type Query { user: User } type User { friend: User name: String }"
    for option in ({"depth_max": 3}, {"cost_max": 3}):
        own = weir.Schema(sdl, **option)
        own.resolve("Query.user")(lambda: {"name": "Ada", "friend": {"name": "Bob"}})
        assert own.execute("{ user { name } }").ok
        assert not own.execute("{ user { friend { friend { friend { name } } } } }").ok


def test_introspection_can_be_off():
    own = weir.Schema("type Query { a: Int }", introspection=False)
    own.resolve("Query.a")(lambda: 1)
    assert not own.execute("{ __schema { types { name } } }").ok
