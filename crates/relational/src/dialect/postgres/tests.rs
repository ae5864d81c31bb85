//! Tests of the dialect of PostgreSQL.

use super::*;
use crate::catalog::Storage;
use crate::plan::Reader;
use crate::plan::operators::Spatial;

const LTREE: u32 = 90_001;
const LQUERY: u32 = 90_003;
const GEOMETRY: u32 = 90_005;

/// Checks a comparison of a column of type `left`, and the cast in which its right side is bound.
fn check(left: u32, by: Comparison, sql: &str, bound: &str) {
    let mut types = Types::builtin();
    for (oid, name) in [(LTREE, "ltree"), (LQUERY, "lquery"), (GEOMETRY, "geometry")] {
        let (name, schema, cast) = (name.to_owned(), "x\"y".to_owned(), format!("\"x\"\"y\".{name}"));
        types.add(Type { oid, array_oid: oid + 1, cast, name, schema, kind: Kind::Base });
    }
    let postgres = Postgres { flavour: Flavour::Postgres, types, floats: Floats::AsPostgres };
    let reader = Reader::Column(ColumnType::Text);
    let side = Side {
        placeholder: "$1",
        reader: &reader,
        behind: false,
        bare: false,
        storage: Storage::Exact,
        ty: left,
    };
    let mut out = String::new();
    postgres.compare(&mut out, "c", by, side);
    assert_eq!(out, sql);
    assert_eq!(postgres.cast_name(postgres.compared_type(left, by)), bound);
}

#[test]
fn each_type_is_compared_by_its_own_operators() {
    check(oid::VARCHAR, Comparison::Niregex, "c !~* $1", "text");
    check(oid::INT4, Comparison::Nin, "c <> ALL($1)", "int4[]");
    check(oid::JSON, Comparison::Eq, "c::jsonb = $1", "jsonb");
    check(oid::JSONB, Comparison::HasKeysAll, "c ?& $1", "text[]");
    check(oid::TEXT_ARRAY, Comparison::ContainedIn, "c <@ $1", "text[]");
    check(LTREE, Comparison::Tree(Tree::Descendant), "c <@ $1", "\"x\"\"y\".ltree");
    check(LTREE, Comparison::Tree(Tree::MatchesAny), "c ? $1", "\"x\"\"y\".lquery[]");
}

#[test]
fn shapes_come_as_geojson_or_as_texts_of_their_own() {
    let given = |value: &str| {
        let json = format!("\"x\"\"y\".st_geomfromgeojson({value})");
        format!("CASE WHEN left({value}, 1) = '{{' THEN {json} ELSE {value}::\"x\"\"y\".geometry END")
    };
    let within = format!("\"x\"\"y\".st_within(c, {})", given("$1"));
    check(GEOMETRY, Comparison::Spatial(Spatial::Within), &within, "text");
    let forms = |value: &str| {
        let json = format!("\"x\"\"y\".st_geomfromgeojson({value})");
        format!(
            "CASE WHEN left({value}, 1) = '{{' THEN ARRAY[{json}, CASE WHEN {value}::json ->> 'crs' IS NULL \
             THEN \"x\"\"y\".st_setsrid({json}, 0) ELSE {json} END] ELSE '{{}}' END"
        )
    };
    let shown = "\"x\"\"y\".st_translate(CASE \"x\"\"y\".st_zmflag(c) WHEN 1 THEN \"x\"\"y\".st_force2d(c) \
        WHEN 3 THEN \"x\"\"y\".st_force3d(c) ELSE c END, 0, 0)";
    let one = given("$1");
    let same = format!("(c ~= {one} AND (c = {one} OR {shown} = ANY({})))", forms("$1"));
    check(GEOMETRY, Comparison::Eq, &same, "text");
    check(GEOMETRY, Comparison::Neq, &format!("NOT {same}"), "text");
    let any = format!("ANY(ARRAY(SELECT {} FROM unnest($1) AS v))", given("v"));
    let listed = format!("ARRAY(SELECT f FROM unnest($1) AS v, unnest({}) AS f)", forms("v"));
    let same = format!("(c ~= {any} AND (c = {any} OR {shown} = ANY({listed})))");
    check(GEOMETRY, Comparison::In, &same, "text[]");
}
