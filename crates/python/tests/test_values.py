"""Values of answers and arguments: leaves, enums, scalars, inputs, unions, interfaces."""

import datetime
import decimal
import enum
import uuid

import pytest
import weir


def one(ty, value, extra=""):
    """The answer of a field of type `ty` whose resolver gives `value`."""
    schema = weir.Schema(f"type Query {{ value: {ty} }} {extra}")
    schema.resolve("Query.value")(lambda: value)
    return schema


def asked(ty, value, extra=""):
    return one(ty, value, extra).execute("{ value }").json()


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@pytest.mark.parametrize("ty, value, written", [
    ("Int", 7, 7), ("Int", None, None), ("Float", 1.5, 1.5), ("Float", 2, 2), ("Boolean", True, True), ("String", "é\n\"", "é\n\""),
    ("ID", "a", "a"), ("ID", 7, "7"), ("ID", uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"), ("[Int]", [1, None], [1, None]),
    ("[[Int!]!]", [[1], []], [[1], []]), ("Float", decimal.Decimal("1.25"), 1.25),
])
def test_a_leaf_is_written_as_its_type(ty, value, written):
    assert asked(ty, value) == {"data": {"value": written}}


@pytest.mark.parametrize("ty, value", [
    ("Int", "7"), ("Int", True), ("Int", 1.5), ("Float", "1"), ("Boolean", 1), ("String", 7), ("String", b"x"), ("ID", 1.5),
    ("[Int]", 7), ("[String]", "text"), ("[Int]", {"a": 1}), ("String", object()), ("String", "\ud800"),
])
def test_a_value_of_another_class_is_an_error_that_names_field_and_type(ty, value):
    answer = asked(ty, value)
    assert answer["data"] == {"value": None}
    message = answer["errors"][0]["message"]
    assert message == f"Query.value is {ty}: a value of class {type(value).__name__} does not fit."
    assert answer["errors"][0]["path"] == ["value"]


def test_an_int_has_32_bits():
    assert asked("Int", 2**31)["errors"][0]["extensions"]["code"] == "INT_RANGE"
    assert asked("Int", 2**70)["errors"][0]["extensions"]["code"] == "INTERNAL"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_float_is_finite(value):
    assert asked("Float", value)["errors"][0]["extensions"]["code"] == "FLOAT_RANGE"


def test_null_in_a_place_that_takes_none_goes_up():
    answer = asked("[Int!]", [1, None])
    assert answer["data"] == {"value": None}
    assert answer["errors"][0]["path"] == ["value", 1]


@pytest.mark.parametrize("value", ["RED", Color.RED])
def test_an_enum_is_a_text_or_a_member_by_name(value):
    assert asked("Color", value, "enum Color { RED BLUE }") == {"data": {"value": "RED"}}


def test_an_enum_is_a_member_by_value():
    assert asked("Color", Color.RED, "enum Color { red blue }") == {"data": {"value": "red"}}


def test_a_text_that_is_no_value_of_its_enum_is_an_error():
    assert asked("Color", "GREEN", "enum Color { RED BLUE }")["errors"][0]["extensions"]["code"] == "ENUM_VALUE"


def test_an_enum_argument_is_a_member_of_its_class_or_a_text():
    for with_class in (True, False):
        schema = weir.Schema("type Query { of(color: Color!): String } enum Color { RED BLUE }")
        schema.resolve("Query.of")(lambda color: repr(color))
        if with_class:
            schema.enum("Color", Color)
        assert schema.execute("{ of(color: BLUE) }").json()["data"]["of"] == (repr(Color.BLUE) if with_class else "'BLUE'")


def test_an_input_object_is_a_dictionary():
    schema = weir.Schema("type Query { of(filter: Filter!): String } input Filter { n: Int = 3 not: Filter tags: [String!] }")
    schema.resolve("Query.of")(lambda filter: repr(filter))
    answer = schema.execute("query ($f: Filter!) { of(filter: $f) }", {"f": {"not": {"n": 1}, "tags": ["a"]}}).json()
    assert eval(answer["data"]["of"]) == {"n": 3, "not": {"n": 1}, "tags": ["a"]}


def test_checks_of_the_schema_hold_for_arguments_and_input_fields():
    schema = weir.Schema("type Query { of(n: Int @validate(max: 3), f: F): Int } input F { m: Int @validate(max: 3) }")
    schema.resolve("Query.of")(lambda n=0, f=None: n)
    assert schema.execute("{ of(n: 3) }").json() == {"data": {"of": 3}}
    for call in ("of(n: 4)", "of(f: {m: 4})"):
        assert schema.execute(f"{{ {call} }}").json()["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


@pytest.mark.parametrize("value, written", [
    ({"a": [1, None, True, 1.5, "x"]}, b'{"a":[1,null,true,1.5,"x"]}'), (2**80, b"1208925819614629174706176"),
    (decimal.Decimal("1.10"), b"1.10"), (datetime.date(2026, 1, 2), b'"2026-01-02"'), ((1, 2), b"[1,2]"),
    (uuid.UUID(int=1), b'"00000000-0000-0000-0000-000000000001"'),
])
def test_a_custom_scalar_without_a_writer_is_json(value, written):
    assert one("JSON", value, "scalar JSON").execute("{ value }").body == b'{"data":{"value":' + written + b"}}"


@pytest.mark.parametrize("value", [object(), {1: 2}, float("nan"), decimal.Decimal("NaN"), {"a": {1}}])
def test_what_is_no_json_is_an_error_of_its_field(value):
    answer = asked("JSON", value, "scalar JSON")
    assert answer["data"] == {"value": None} and answer["errors"][0]["message"].startswith("Query.value is JSON: ")


def test_a_value_that_holds_itself_is_an_error():
    value = []
    value.append(value)
    assert "deeper" in asked("JSON", value, "scalar JSON")["errors"][0]["message"]


def test_a_scalar_has_a_reader_and_a_writer():
    schema = weir.Schema("scalar Money type Query { twice(of: Money!): Money }")
    schema.scalar("Money", read=lambda text: decimal.Decimal(text), write=lambda value: f"{value:.2f}")
    schema.resolve("Query.twice")(lambda of: of * 2)
    assert schema.execute('{ twice(of: "1.25") }').json() == {"data": {"twice": "2.50"}}


def test_digits_of_an_argument_are_untouched():
    schema = weir.Schema("scalar Any type Query { of(n: Any!): String }")
    schema.resolve("Query.of")(lambda n: repr(n))
    for digits, python in (("123456789012345678901234567890", "123456789012345678901234567890"), ("0.10", "Decimal('0.10')")):
        assert schema.execute("query ($n: Any!) { of(n: $n) }", f'{{"n": {digits}}}').json()["data"]["of"] == python


def test_a_reader_refuses_in_words_for_the_client():
    def read(value):
        raise ValueError("no money")

    schema = weir.Schema("scalar Money type Query { of(n: Money): Int }")
    schema.scalar("Money", read=read)
    schema.resolve("Query.of")(lambda n: 1)
    error = schema.execute("{ of(n: 1) }").json()["errors"][0]
    assert (error["message"], error["extensions"]["code"]) == ("no money", "BAD_USER_INPUT")


PETS = "type Query { value: [Pet] } interface Named { name: String } union Pet = Cat | Dog type Cat implements Named { name: String lives: Int } type Dog implements Named { name: String }"


class Cat:
    name, lives = "Tom", 9


class Wolf:
    name = "Rex"


def pets(values):
    schema = weir.Schema(PETS)
    schema.type_of(Wolf, "Dog")
    schema.resolve("Query.value")(lambda: values)
    return schema.execute("{ value { __typename ... on Named { name } ... on Cat { lives } } }").json()


def test_a_union_is_told_by_class_name_by_typename_or_by_type_of():
    assert pets([Cat(), Wolf(), {"__typename": "Dog", "name": "Fido"}, None])["data"]["value"] == [
        {"__typename": "Cat", "name": "Tom", "lives": 9}, {"__typename": "Dog", "name": "Rex"}, {"__typename": "Dog", "name": "Fido"}, None]


def test_an_object_that_is_no_member_of_its_union_is_an_error():
    answer = pets([Cat(), object(), {"__typename": "Query"}])
    assert [it is None for it in answer["data"]["value"]] == [False, True, True]
    assert 'Runtime Object type "Query" is not a possible type' in str(answer["errors"])


def test_a_batch_below_a_union_gets_the_objects_of_its_type():
    schema = weir.Schema(PETS.replace("lives: Int", "lives: Int"))
    schema.resolve("Query.value")(lambda: [Cat(), {"__typename": "Dog", "name": "Fido"}, Cat()])
    seen = []

    @schema.batch("Cat.lives")
    def lives(cats):
        seen.extend(cats)
        return [it.lives for it in cats]

    answer = schema.execute("{ value { ... on Cat { lives } ... on Dog { name } } }").json()
    assert answer["data"]["value"] == [{"lives": 9}, {"name": "Fido"}, {"lives": 9}]
    assert [type(it) for it in seen] == [Cat, Cat]


class Text(str):
    pass


class Number(enum.IntEnum):
    ONE = 1


class Row:
    """An object with a text, an error and no other attributes."""

    text = "text"

    @property
    def number(self):
        raise ValueError("no number")


ROWS = [
    {"number": 1, "ratio": 2, "isOpen": True, "text": "a", "id": 7, "color": Color.RED, "tags": ["x", None], "row": {"number": 1}},
    {"number": Number.ONE, "ratio": 0.5, "isOpen": False, "text": Text("b"), "id": "b", "color": "BLUE", "tags": None, "row": None},
    {"number": True, "ratio": "1", "isOpen": 1, "text": 7, "id": 1.5, "color": "GREEN", "tags": [1], "row": 3},
    {"number": 2**31, "ratio": float("nan"), "text": "\ud800", "id": uuid.UUID(int=1), "rows": [{"number": 2}, {"text": "c"}]},
    {"rows": [None, {"number": 3}]},
    Row(),
    3,
]


@pytest.mark.parametrize("rows", [*([row] for row in ROWS), ROWS, ROWS[:2] * 3, [*ROWS, None], [*ROWS, ValueError("no row")]])
def test_a_list_is_answered_as_any_other_sequence_of_its_items(rows):
    sdl = """type Query { rows: [Row] parents: [Parent!]! } type Parent { rows: [Row] } enum Color { RED BLUE }
      type Row { number: Int ratio: Float isOpen: Boolean text: String id: ID color: Color tags: [String] row: Row rows: [Row] }"""
    row = "{ __typename text number ratio isOpen again: text id color tags row { number } rows { text number } }"

    def answer(kind):
        schema = weir.Schema(sdl)
        schema.resolve("Query.rows")(lambda: kind(rows))
        schema.resolve("Query.parents")(lambda: [{}, {}])
        schema.batch("Parent.rows")(lambda parents: [kind(rows) for _ in parents])
        return schema.execute(f"{{ rows {row} parents {{ rows {row} }} }}").json()

    assert answer(list) == answer(tuple)
