//! Columns of every type, and keys of many.

use super::check;
use crate::postgres_kit::database;
use crate::random_kit::{Column, Operator, Relation, Table, Type, Values};

/// Columns of every type in `kind`, in a table whose rows have parents by keys of several types.
const TABLES: &str = r#"
CREATE EXTENSION citext; CREATE EXTENSION ltree;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN small AS int4 CHECK (value < 100);
CREATE TYPE pair AS (word text, number numeric);
CREATE TABLE by_number (number numeric PRIMARY KEY, extras jsonb);
CREATE TABLE by_day (day date PRIMARY KEY, tags text[]);
CREATE TABLE by_list (list int4[] PRIMARY KEY, mood mood);
CREATE TABLE by_document (document jsonb PRIMARY KEY, price money);
CREATE TABLE by_mood (mood mood PRIMARY KEY, pair pair);
CREATE TABLE by_pair (pair pair PRIMARY KEY, day date);
CREATE TABLE kind (id int4 PRIMARY KEY,
    a_bool bool, a_int2 int2, a_int8 int8, a_float4 float4, a_float8 float8, a_money money, a_uuid uuid, a_stamp timestamp,
    a_stamptz timestamptz, a_time time, a_timetz timetz, a_interval interval, a_bytea bytea, a_inet inet, a_cidr cidr,
    a_macaddr macaddr, a_bits varbit, a_oid oid, a_char char(3), a_citext citext, a_ltree ltree, a_small small, a_range int4range,
    a_ranges int4multirange, a_words tsvector, a_texts text[], a_numerics numeric[], a_moods mood[], a_documents jsonb[], a_pairs pair[],
    a_moneys money[], a_stamps timestamptz[], a_rangess int4range[],
    number numeric REFERENCES by_number, day date REFERENCES by_day, list int4[] REFERENCES by_list,
    document jsonb REFERENCES by_document, mood mood REFERENCES by_mood, pair pair REFERENCES by_pair);
INSERT INTO by_number VALUES (0, '5'), (1.5, '"5"'), (20, '{"colour": "red", "sizes": [1, 2]}'), (-1, '["red"]'), (7, NULL);
INSERT INTO by_day VALUES ('2000-01-01', '{red}'), ('2024-02-29', '{}'), ('1999-12-31', '{"a b",NULL}');
INSERT INTO by_list VALUES ('{}', 'sad'), ('{1,2}', 'ok'), ('{3}', NULL), ('{NULL}', 'happy');
INSERT INTO by_document VALUES ('5', 2.5), ('"5"', 25), ('{"colour": "red"}', -1), ('[1, "a,b"]', 0);
INSERT INTO by_mood VALUES ('sad', ('a', 1)), ('ok', ('b"\,', NULL)), ('happy', NULL);
INSERT INTO by_pair VALUES (('a', 1), '2000-01-01'), (('b"\,', 2.50), '1999-12-31'), (('', 0), NULL);
INSERT INTO kind SELECT i, i % 2 = 0, i % 5, i % 7, i % 3 / 2.0, i % 4 / 8.0, (i % 4)::numeric::money * 2.5,
    ('00000000-0000-0000-0000-00000000000' || i % 3)::uuid, timestamp '2000-01-01' + i % 4 * interval '1 day',
    timestamptz '2000-01-01 00:00+00' + i % 4 * interval '1 day', time '10:00' + i % 3 * interval '1 min', timetz '10:00+00' + i % 3 * interval '1 min',
    i % 3 * interval '1 day', decode('0' || i % 3, 'hex'), ('10.0.0.' || i % 3)::inet, ('10.' || i % 3 || '.0.0/16')::cidr,
    ('08:00:2b:01:02:0' || i % 3)::macaddr, (i % 4)::bit(2)::varbit, i % 3, chr(97 + i % 3), chr(65 + i % 3), ('a.b' || i % 3)::ltree, i % 4,
    int4range(i % 3, 5), int4multirange(int4range(1, 2), int4range(i % 3 + 4, 9)), to_tsvector('simple', chr(97 + i % 3) || ' z'), ARRAY[chr(97 + i % 3), NULL],
    ARRAY[i % 3, 2.50], ARRAY['sad', (ARRAY['ok', 'happy'])[i % 2 + 1]]::mood[], ARRAY[to_jsonb(i % 3), '{"colour": "red"}', to_jsonb((i % 2)::text)],
    ARRAY[(chr(97 + i % 3), i % 2)::pair], ARRAY[i % 3, 1]::numeric[]::money[], ARRAY[timestamptz '2000-01-01 00:00+00' + i % 3 * interval '1 day'], ARRAY[int4range(1, i % 3 + 1)],
    (ARRAY[0, 1.5, 20, -1, NULL, 1.50])[i % 6 + 1], (ARRAY['2000-01-01', '2024-02-29', '1999-12-31', NULL]::date[])[i % 4 + 1],
    (ARRAY['{}', '{1,2}', '{3}', NULL, '{NULL}'])[i % 5 + 1]::int4[], (ARRAY['5', '"5"', '{"colour": "red"}', NULL, '[1, "a,b"]']::jsonb[])[i % 5 + 1],
    (ARRAY['sad', 'ok', NULL, 'happy']::mood[])[i % 4 + 1], (ARRAY['(a,1)', '("b""\\,",2.5)', NULL, '("",0)'])[i % 4 + 1]::pair
    FROM generate_series(1, 90) AS i;
INSERT INTO kind (id) VALUES (91);
"#;

type Pairs = &'static [(&'static str, &'static str)];

const fn typed(
    field: &'static str,
    sql: &'static str,
    has_max: bool,
    values: Pairs,
    operators: &'static [Operator],
) -> Column {
    Column { sql: field, field, values: Values::Typed(Type { sql, values, has_max, operators }) }
}

/// A column whose values have an order and `max`.
const fn most(field: &'static str, sql: &'static str, values: Pairs) -> Column {
    typed(field, sql, true, values, &[])
}

/// A column whose values have an order alone.
const fn ordered(field: &'static str, sql: &'static str, values: Pairs) -> Column {
    typed(field, sql, false, values, &[])
}

const fn operator(key: &'static str, sql: &'static str, operands: Pairs) -> Operator {
    Operator { key, sql, operands }
}

const NUMBERS: Pairs = &[("1", "1"), ("0", "0"), ("2", "2")];
const DAYS: Pairs = &[(r#""2000-01-01""#, "2000-01-01"), (r#""1999-12-31""#, "1999-12-31")];
const MOODS: Pairs = &[(r#""sad""#, "sad"), (r#""ok""#, "ok"), (r#""happy""#, "happy")];
const DOCUMENTS: Pairs = &[
    (r#""5""#, r#""5""#),
    ("5", "5"),
    (r#"{"colour": "red"}"#, r#"{"colour": "red"}"#),
    (r#"[1, "a,b"]"#, r#"[1, "a,b"]"#),
    ("true", "true"),
];
const PAIRS: Pairs = &[
    (r#"{"word": "a", "number": 1}"#, "(a,1)"),
    (r#"{"word": "b\"\\,", "number": 2.5e0}"#, r#"("b""\\,",2.5)"#),
    (r#"{"word": "", "number": null}"#, r#"("",)"#),
];
const MONEYS: Pairs =
    &[("2.5", "2.5"), ("2.5e0", "2.5"), (r#""25e-1""#, "2.5"), ("0", "0"), ("750e-2", "7.5")];
const TAGS: Pairs = &[(r#"["red"]"#, "{red}"), ("[]", "{}"), (r#"["a b"]"#, r#"{"a b"}"#)];
const LISTS: Pairs = &[("[1, 2]", "{1,2}"), ("[]", "{}"), ("[3]", "{3}")];

const JSONB: &[Operator] = &[
    operator(
        "_contains",
        "@>",
        &[
            (r#""red""#, r#"'"red"'::jsonb"#),
            (r#"{"colour": "red"}"#, r#"'{"colour": "red"}'::jsonb"#),
            ("[1]", "'[1]'::jsonb"),
            ("5", "'5'::jsonb"),
        ],
    ),
    operator(
        "_contained_in",
        "<@",
        &[(r#"["red", 5]"#, r#"'["red", 5]'::jsonb"#), (r#""5""#, r#"'"5"'::jsonb"#)],
    ),
    operator("_has_key", "?", &[(r#""colour""#, "'colour'"), (r#""red""#, "'red'")]),
    operator(
        "_has_keys_any",
        "?|",
        &[(r#"["colour", "x"]"#, "ARRAY['colour', 'x']"), ("[]", "'{}'::text[]")],
    ),
    operator("_has_keys_all", "?&", &[(r#"["colour", "sizes"]"#, "ARRAY['colour', 'sizes']")]),
];
const TEXTS: &[Operator] = &[
    operator("_contains", "@>", &[(r#"["a"]"#, "'{a}'::text[]"), ("[]", "'{}'::text[]")]),
    operator("_contained_in", "<@", &[(r#"["a", "b"]"#, "'{a,b}'::text[]")]),
];
const NUMERICS: &[Operator] = &[operator(
    "_contains",
    "@>",
    &[("[2.5]", "'{2.5}'::numeric[]"), ("[1, 2.5e0]", "'{1,2.5}'::numeric[]")],
)];
const MOODS_LISTED: &[Operator] = &[operator("_contains", "@>", &[(r#"["ok"]"#, "'{ok}'::mood[]")])];
const INTS: &[Operator] = &[operator("_contains", "@>", &[("[1]", "'{1}'::int4[]")])];
const DOCUMENTS_LISTED: &[Operator] = &[operator(
    "_contains",
    "@>",
    &[
        ("[1]", "ARRAY['1']::jsonb[]"),
        (r#"["1"]"#, r#"ARRAY['"1"']::jsonb[]"#),
        (r#"[{"colour": "red"}]"#, r#"ARRAY['{"colour": "red"}']::jsonb[]"#),
    ],
)];
const CITEXT: &[Operator] = &[
    operator("_like", "LIKE", &[(r#""a%""#, "'a%'::citext")]),
    operator("_eq", "=", &[(r#""a""#, "'a'::citext")]),
];
const LTREE: &[Operator] = &[
    operator("_ancestor", "@>", &[(r#""a.b1.c""#, "'a.b1.c'::ltree")]),
    operator("_matches", "~", &[(r#""a.b1""#, "'a.b1'::lquery"), (r#""*.b2""#, "'*.b2'::lquery")]),
    operator("_matches_any", "?", &[(r#"["a.b1", "x.*"]"#, "ARRAY['a.b1', 'x.*']::lquery[]")]),
];

const KIND: &[Column] = &[
    Column { sql: "id", field: "id", values: Values::Int(95) },
    ordered("a_bool", "bool", &[("true", "t"), ("false", "f")]),
    most("a_int2", "int2", NUMBERS),
    most("a_int8", "int8", &[("3", "3"), (r#""4""#, "4"), ("-1", "-1")]),
    most("a_float4", "float4", &[("0.5", "0.5"), ("1", "1"), ("5e-1", "0.5")]),
    most("a_float8", "float8", &[("0.125", "0.125"), ("1.25e-1", "0.125"), (r#""0.25""#, "0.25")]),
    most("a_money", "money", MONEYS),
    ordered(
        "a_uuid",
        "uuid",
        &[(r#""00000000-0000-0000-0000-000000000001""#, "00000000-0000-0000-0000-000000000001")],
    ),
    most(
        "a_stamp",
        "timestamp",
        &[(r#""2000-01-02T00:00:00""#, "2000-01-02"), (r#""2000-01-04""#, "2000-01-04")],
    ),
    most("a_stamptz", "timestamptz", &[(r#""2000-01-02T00:00:00Z""#, "2000-01-02 00:00+00")]),
    most("a_time", "time", &[(r#""10:01:00""#, "10:01")]),
    most("a_timetz", "timetz", &[(r#""10:01:00+00""#, "10:01+00")]),
    most("a_interval", "interval", &[(r#""1 day""#, "1 day"), (r#""8.64e4""#, "86400")]),
    ordered("a_bytea", "bytea", &[(r#""\\x01""#, r"\x01")]),
    most("a_inet", "inet", &[(r#""10.0.0.1""#, "10.0.0.1")]),
    ordered("a_cidr", "cidr", &[(r#""10.1.0.0/16""#, "10.1.0.0/16")]),
    ordered("a_macaddr", "macaddr", &[(r#""08:00:2b:01:02:01""#, "08:00:2b:01:02:01")]),
    ordered("a_bits", "varbit", &[(r#""01""#, "01")]),
    ordered("a_oid", "oid", &[("1", "1"), ("20e-1", "2")]),
    most("a_char", "char(3)", &[(r#""a""#, "a"), (r#""b  ""#, "b")]),
    typed("a_citext", "citext", true, &[(r#""b""#, "B"), (r#""A""#, "a")], CITEXT),
    typed("a_ltree", "ltree", false, &[(r#""a.b1""#, "a.b1")], LTREE),
    most("a_small", "small", NUMBERS),
    ordered("a_range", "int4range", &[(r#""[1,5)""#, "[1,5)")]),
    ordered("a_ranges", "int4multirange", &[(r#""{[1,2),[5,9)}""#, "{[1,2),[5,9)}")]),
    ordered("a_words", "tsvector", &[(r#""'b':1 'z':2""#, "'b':1 'z':2")]),
    typed("a_texts", "text[]", true, &[(r#"["b"]"#, "{b}")], TEXTS),
    typed("a_numerics", "numeric[]", true, &[("[1, 2.5]", "{1,2.5}"), ("[2]", "{2}")], NUMERICS),
    typed("a_moods", "mood[]", true, &[(r#"["sad", "ok"]"#, "{sad,ok}")], MOODS_LISTED),
    typed(
        "a_documents",
        "jsonb[]",
        false,
        &[(r#"[1, {"colour": "red"}, "1"]"#, r#"{1,"{\"colour\": \"red\"}","\"1\""}"#)],
        DOCUMENTS_LISTED,
    ),
    ordered("a_pairs", "pair[]", &[(r#"[{"word": "b", "number": 1}]"#, r#"{"(b,1)"}"#)]),
    most("a_moneys", "money[]", &[("[1, 1]", "{1,1}"), ("[2e0, 10e-1]", "{2,1}")]),
    most("a_stamps", "timestamptz[]", &[(r#"["2000-01-02T00:00:00Z"]"#, "{2000-01-02 00:00+00}")]),
    ordered("a_rangess", "int4range[]", &[(r#"["[1,3)"]"#, r#"{"[1,3)"}"#)]),
    most("number", "numeric", &[("1.5", "1.5"), ("2e1", "20"), (r#""-1""#, "-1")]),
    most("day", "date", DAYS),
    typed("list", "int4[]", true, LISTS, INTS),
    typed("document", "jsonb", false, DOCUMENTS, JSONB),
    most("mood", "mood", MOODS),
    ordered("pair", "pair", PAIRS),
];

const fn one(field: &'static str, to: usize, on: Pairs) -> Relation {
    Relation { field, to, many: false, on }
}

const fn parent(sql: &'static str, columns: &'static [Column], relations: &'static [Relation]) -> Table {
    Table { sql, root: sql, columns, keys: 1, relations }
}

const fn kinds(on: Pairs) -> Relation {
    Relation { field: "kinds", to: 0, many: true, on }
}

const ALL: &[Table] = &[
    Table {
        sql: "kind",
        root: "kind",
        columns: KIND,
        keys: 1,
        relations: &[
            one("by_number", 1, &[("number", "number")]),
            one("by_day", 2, &[("day", "day")]),
            one("by_list", 3, &[("list", "list")]),
            one("by_document", 4, &[("document", "document")]),
            one("by_mood", 5, &[("mood", "mood")]),
            one("by_pair", 6, &[("pair", "pair")]),
        ],
    },
    parent(
        "by_number",
        &[
            most("number", "numeric", &[("1.5", "1.5"), ("2e1", "20")]),
            typed("extras", "jsonb", false, DOCUMENTS, JSONB),
        ],
        &[kinds(&[("number", "number")])],
    ),
    parent(
        "by_day",
        &[most("day", "date", DAYS), typed("tags", "text[]", true, TAGS, TEXTS)],
        &[kinds(&[("day", "day")])],
    ),
    parent(
        "by_list",
        &[typed("list", "int4[]", true, LISTS, INTS), most("mood", "mood", MOODS)],
        &[kinds(&[("list", "list")])],
    ),
    parent(
        "by_document",
        &[typed("document", "jsonb", false, DOCUMENTS, JSONB), most("price", "money", MONEYS)],
        &[kinds(&[("document", "document")])],
    ),
    parent(
        "by_mood",
        &[most("mood", "mood", MOODS), ordered("pair", "pair", PAIRS)],
        &[kinds(&[("mood", "mood")])],
    ),
    parent(
        "by_pair",
        &[ordered("pair", "pair", PAIRS), most("day", "date", DAYS)],
        &[kinds(&[("pair", "pair")])],
    ),
];

#[test]
fn questions_about_every_type_are_answered_as_plain_sql_says() {
    check(database(TABLES), &["public"], ALL, 250);
}
