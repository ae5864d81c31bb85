"""Guards of fields and types, and filters of lists."""

import pytest
import weir

SDL = """
type Query { users: [User]! public: [User!]! things: [Thing]! secret: String me: User }
type User { id: Int! mail: String fullName: String friends: [User]! }
type Stone { weight: Int! }
union Thing = User | Stone
"""


def make(**guards):
    schema = weir.Schema(SDL)
    schema.resolve("Query.users")(lambda: [{"id": 1, "mail": "a", "full_name": "Ada"}, {"id": 2, "mail": "b"}])
    schema.resolve("Query.public")(lambda: [{"id": 1}, {"id": 2}, {"id": 3}])
    schema.resolve("Query.things")(lambda: [{"__typename": "User", "id": 2}, {"__typename": "Stone", "weight": 5}])
    schema.resolve("Query.secret")(lambda: "it")
    schema.resolve("Query.me")(lambda: {"id": 1, "mail": "me"})
    schema.batch("User.friends")(lambda users: [[{"id": it["id"] + 1}] for it in users])
    return schema


def test_a_field_asks_its_guard_once_for_all_parents():
    schema, calls = make(), []

    @schema.authorize("User.mail")
    def own(users, info):
        calls.append([it["id"] for it in users])
        return [it["id"] == info.context for it in users]

    answer = schema.execute("{ users { id mail } }", context=2).json()
    assert answer["data"]["users"] == [{"id": 1, "mail": None}, {"id": 2, "mail": "b"}]
    assert [(it["path"], it["extensions"]["code"]) for it in answer["errors"]] == [(["users", 0, "mail"], "ACCESS_DENIED")]
    assert calls == [[1, 2]]
    assert schema.execute("{ users { id } }", context=2).ok and calls == [[1, 2]]


def test_a_field_with_another_name_in_python_is_read_behind_its_guard():
    schema = make()
    schema.authorize("User.fullName")(lambda users: True)
    assert schema.execute("{ users { fullName } }").json()["data"]["users"] == [{"fullName": "Ada"}, {"fullName": None}]


def test_a_root_field_asks_of_the_caller():
    schema = make()
    schema.authorize("Query.secret")(lambda info: info.context == "staff")
    assert schema.execute("{ secret }", context="staff").json() == {"data": {"secret": "it"}}
    refused = schema.execute("{ secret }", context="guest").json()
    assert refused["data"] == {"secret": None} and refused["errors"][0]["extensions"]["code"] == "ACCESS_DENIED"


def test_the_objects_of_a_type_are_judged_wherever_they_stand():
    schema, seen = make(), []

    @schema.authorize("User")
    def may(users, info):
        seen.extend(it["id"] for it in users)
        return [it["id"] in info.context for it in users]

    query = "{ users { id friends { id } } things { ... on User { id } ... on Stone { weight } } me { id } }"
    answer = schema.execute(query, context=[2, 3]).json()
    assert answer["data"] == {
        "users": [None, {"id": 2, "friends": [{"id": 3}]}],
        "things": [{"id": 2}, {"weight": 5}],
        "me": None,
    }
    assert sorted(seen) == [1, 1, 2, 2, 3]


def test_items_are_left_out():
    schema = make()
    schema.filter("Query.public")(lambda users: [it["id"] % 2 == 1 for it in users])
    assert schema.execute("{ public { id friends { id } } }").json()["data"]["public"] == [
        {"id": 1, "friends": [{"id": 2}]},
        {"id": 3, "friends": [{"id": 4}]},
    ]


@pytest.mark.parametrize("verdict", [lambda users: 1 / 0, lambda users: [True], lambda users: None, lambda users: "yes"])
def test_a_guard_that_breaks_refuses_all(verdict, caplog):
    schema = make()
    schema.authorize("User.mail")(verdict)
    answer = schema.execute("{ users { mail } }").json()
    assert answer["data"]["users"] == [{"mail": None}, {"mail": None}]
    assert {it["extensions"]["code"] for it in answer["errors"]} == {"ACCESS_DENIED"}
    assert "User.mail failed" in caplog.text


def test_classes_have_guards():
    @weir.type(authorize=lambda notes, info: [it.text != info.context for it in notes])
    class Note:
        text: str

        @weir.field(authorize=lambda notes: [len(it.text) > 1 for it in notes])
        def first(self) -> str | None:
            return self.text[0]

    @weir.type
    class Query:
        @weir.field
        def notes(self) -> list[Note | None]:
            return [Note("hidden"), Note("long"), Note("s")]

    answer = weir.Schema(query=Query).execute("{ notes { text first } }", context="hidden").json()
    assert answer["data"]["notes"] == [None, {"text": "long", "first": "l"}, {"text": "s", "first": None}]


def test_what_has_no_such_guard_is_told():
    schema = make()
    schema.authorize("User.nothing")(lambda users: True)
    with pytest.raises(weir.SchemaError, match="nothing"):
        schema.build()
    with pytest.raises(TypeError, match="plain function"):

        @make().authorize("User.mail")
        async def later(users):
            return True
