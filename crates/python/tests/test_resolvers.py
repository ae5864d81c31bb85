"""Functions at fields: parents, arguments, batches, and where values are read from."""

import collections
import sqlite3

import pytest
import weir

SDL = """
type Query { users(first: Int = 10): [User!]! user(id: ID!): User echo(text: String): String }
type Mutation { rename(id: ID!, name: String!): User }
type User { id: ID! fullName: String! posts(minStars: Int): [Post!]! best: Post }
type Post { title: String! author: User! stars: Int }
"""


class User:
    def __init__(self, id, full_name):
        self.id, self.full_name = id, full_name


USERS = [User(1, "Ada"), User(2, "Bob"), User(3, "Cid")]


def schema():
    schema = weir.Schema(SDL)
    schema.calls = []

    @schema.resolve("Query.users")
    def users(first):
        return USERS[:first]

    @schema.resolve("Query.user")
    def user(info, id):
        return next((it for it in USERS if str(it.id) == id), None)

    @schema.resolve("Query.echo")
    def echo(text="nothing"):
        return repr(text)

    @schema.resolve("Mutation.rename")
    def rename(id, name):
        return User(id, name)

    @schema.batch("User.posts")
    def posts(users, min_stars=0):
        schema.calls.append(("posts", [it.id for it in users]))
        return [[{"title": f"{it.full_name} {stars}", "stars": stars} for stars in (1, 2) if stars >= min_stars] for it in users]

    @schema.resolve("User.best")
    def best(user):
        return {"title": f"best of {user.full_name}"}

    @schema.batch("Post.author")
    def author(posts):
        schema.calls.append(("author", len(posts)))
        return [next(it for it in USERS if it.full_name in post["title"]) for post in posts]

    return schema


def test_a_root_field_takes_its_arguments_as_keywords():
    assert schema().execute("{ users(first: 1) { fullName } }").body == b'{"data":{"users":[{"fullName":"Ada"}]}}'


def test_a_default_of_the_schema_is_passed():
    assert len(schema().execute("{ users { id } }").json()["data"]["users"]) == 3


def test_an_argument_that_is_absent_leaves_the_default_of_the_function():
    assert schema().execute("{ echo }").json() == {"data": {"echo": "'nothing'"}}


def test_an_argument_that_is_null_is_none():
    assert schema().execute("{ echo(text: null) }").json() == {"data": {"echo": "None"}}


def test_a_batch_is_called_once_for_all_parents():
    own = schema()
    answer = own.execute("{ users { posts { title author { fullName } } } }").json()
    assert answer["data"]["users"][1]["posts"][0] == {"title": "Bob 1", "author": {"fullName": "Bob"}}
    assert own.calls == [("posts", [1, 2, 3]), ("author", 6)]


def test_a_batch_below_one_object_has_one_parent():
    own = schema()
    assert own.execute('{ user(id: "2") { posts(minStars: 2) { title } } }').json()["data"]["user"]["posts"] == [{"title": "Bob 2"}]
    assert own.calls == [("posts", [2])]


def test_a_resolver_for_one_parent_sees_each_parent():
    answer = schema().execute("{ users { best { title } } }").json()
    assert [it["best"]["title"] for it in answer["data"]["users"]] == ["best of Ada", "best of Bob", "best of Cid"]


def test_an_absent_object_is_null():
    assert schema().execute('{ user(id: "9") { id } }').body == b'{"data":{"user":null}}'


def test_aliases_of_one_field_have_selections_of_their_own():
    answer = schema().execute('{ a: users(first: 1) { id } b: users(first: 1) { name: fullName again: fullName } }').json()
    assert answer["data"] == {"a": [{"id": "1"}], "b": [{"name": "Ada", "again": "Ada"}]}


def test_aliases_of_a_field_that_comes_with_its_object_are_merged():
    own = weir.Schema("type Query { user: User } type User { friend: User name: String id: Int }")
    own.resolve("Query.user")(lambda: {"friend": {"name": "Bob", "id": 2}})
    answer = own.execute("{ user { a: friend { name } b: friend { id name } } }").json()
    assert answer["data"]["user"] == {"a": {"name": "Bob"}, "b": {"id": 2, "name": "Bob"}}


def test_variables_are_a_mapping_or_text():
    query = "query ($n: Int) { users(first: $n) { id } }"
    assert schema().execute(query, {"n": 1}).body == schema().execute(query, '{"n": 1}').body


def test_one_of_several_operations_is_chosen():
    query = 'query A { echo(text: "a") } query B { echo(text: "b") }'
    assert schema().execute(query, operation_name="B").json() == {"data": {"echo": "'b'"}}


def test_a_mutation_answers_its_object():
    assert schema().execute('mutation { rename(id: 7, name: "Eve") { id fullName } }').json()["data"]["rename"] == {"id": "7", "fullName": "Eve"}


def test_a_get_refuses_mutations():
    answer = schema().execute('mutation { rename(id: 7, name: "Eve") { id } }', queries_only=True)
    assert answer.status == 405 and not answer.ok


def test_a_response_tells_its_status():
    own = schema()
    assert (own.execute("{ echo }").status, own.execute("{ nothing }").status) == (200, 400)
    assert own.execute("{ echo }").ok and not own.execute("{ nothing }").ok
    assert own.execute("{ echo }").text == bytes(own.execute("{ echo }")).decode()


def test_rows_of_a_database_are_read_by_key():
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    own = weir.Schema("type Query { rows: [Row!]! } type Row { fullName: String! n: Int! }")
    own.resolve("Query.rows")(lambda: connection.execute("SELECT 'Ada' AS full_name, 7 AS n").fetchall())
    assert own.execute("{ rows { fullName n } }").json() == {"data": {"rows": [{"fullName": "Ada", "n": 7}]}}


def test_named_tuples_are_read_by_attribute():
    pair = collections.namedtuple("pair", "left right")
    own = weir.Schema("type Query { pair: Pair } type Pair { left: Int right: Int }")
    own.resolve("Query.pair")(lambda: pair(1, 2))
    assert own.execute("{ pair { left right } }").json() == {"data": {"pair": {"left": 1, "right": 2}}}


def test_a_name_is_read_as_the_schema_has_it_or_in_words_of_python():
    own = weir.Schema("type Query { both: [Thing!]! } type Thing { fullName: String }")
    own.resolve("Query.both")(lambda: [{"fullName": "schema"}, {"full_name": "python"}])
    assert [it["fullName"] for it in own.execute("{ both { fullName } }").json()["data"]["both"]] == ["schema", "python"]


def test_info_has_the_context_and_the_selection():
    seen = {}
    own = weir.Schema("type Query { user: User } type User { name: String posts: [Post!] } type Post { title: String }")

    @own.resolve("Query.user")
    def user(info):
        seen.update(context=info.context, coordinate=info.coordinate, name=info.response_name, selected=info.selected)
        seen.update(title=info.selects("posts.title"), other=info.selects("posts.stars"))
        return {"name": "Ada", "posts": []}

    own.execute("{ me: user { name posts { title } } }", context={"user": 7})
    assert seen == {
        "context": {"user": 7}, "coordinate": "Query.user", "name": "me", "selected": ["name", "posts"], "title": True, "other": False,
    }


def test_only_what_is_selected_is_read():
    class Lazy:
        read = []

        def __getattr__(self, name):
            self.read.append(name)
            return name

    own = weir.Schema("type Query { lazy: Lazy } type Lazy { a: String b: String c: String }")
    own.resolve("Query.lazy")(Lazy)
    assert own.execute("{ lazy { b } }").json() == {"data": {"lazy": {"b": "b"}}}
    assert Lazy.read == ["b"]


def test_a_resolver_may_execute_another_request():
    own = weir.Schema("type Query { outer: String inner: Int }")
    own.resolve("Query.inner")(lambda: 7)
    own.resolve("Query.outer")(lambda: own.execute("{ inner }").text)
    assert own.execute("{ outer }").json()["data"]["outer"] == '{"data":{"inner":7}}'


def test_the_steps_of_an_operation_are_told_without_running_it():
    own = schema()
    assert own.steps("{ users { posts { title } } }") == ["resolver Query.users", "resolver User.posts"]
    assert own.calls == []


def test_introspection_answers_as_everywhere():
    answer = schema().execute('{ __type(name: "Post") { name fields { name } } __typename }').json()
    assert answer["data"]["__type"] == {"name": "Post", "fields": [{"name": "title"}, {"name": "author"}, {"name": "stars"}]}
    assert answer["data"]["__typename"] == "Query"


@pytest.mark.parametrize("items", [[1, 2], (1, 2), {1, 2}, range(1, 3), iter([1, 2])], ids=["list", "tuple", "set", "range", "iterator"])
def test_any_iterable_is_a_list(items):
    own = weir.Schema("type Query { items: [Int!]! }")
    own.resolve("Query.items")(lambda: items)
    assert own.execute("{ items }").body == b'{"data":{"items":[1,2]}}'
