//! The generated schema: Hasura's names, member by member, and what members mean.

use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use weir_hasura::api::generate;
use weir_hasura::api::meaning::{Api, EnumMeaning, FieldMeaning, InputMeaning};
use weir_hasura::model::{Model, ModelOptions};
use weir_hasura::permission::{Permissions, build};
use weir_language::schema::print::{Order, print};
use weir_language::schema::{Input, Schema, TypeKind};
use weir_metadata::document::table::TableEntry;
use weir_relational::catalog::{ColumnId, TableId};
use weir_relational::plan::operators::Comparison;
use weir_sqlite::introspect::{SqliteOptions, enum_values, read};

const CHINOOK: &str = include_str!("../../../../examples/chinook/chinook.sql");

fn api(sql: &str, entries: &str) -> Api {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(sql).unwrap();
    let (catalog, _) = read(&connection, SqliteOptions::default()).unwrap();
    let tables: Vec<TableEntry> = serde_json::from_str(entries).unwrap();
    let options = ModelOptions { tables: &tables, ..ModelOptions::default() };
    let (model, _) = Model::build(catalog, options, &mut |table| enum_values(&connection, table));
    let (permissions, _) = build(&model, &options);
    generate(model, permissions).unwrap()
}

fn input(schema: &Schema, input: &Input) -> String {
    let default =
        input.default.map_or(String::new(), |default| format!(" = {}", schema.str(default.literal)));
    format!("{}: {}{default}", schema.str(input.name), schema.type_text(input.ty))
}

/// The members of a type, each as SDL without descriptions; arguments in the order of their names.
fn members(schema: &Schema, name: &str) -> BTreeSet<String> {
    let Some(id) = schema.type_by_name(name) else { return BTreeSet::new() };
    let ty = schema.ty(id);
    match ty.kind {
        TypeKind::Object | TypeKind::Interface => schema.fields[ty.fields.range()]
            .iter()
            .map(|field| {
                let mut arguments: Vec<String> =
                    schema.inputs.range(field.arguments.range()).map(|one| input(schema, &one)).collect();
                arguments.sort();
                let arguments =
                    if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
                format!("{}{arguments}: {}", schema.str(field.name), schema.type_text(field.ty))
            })
            .collect(),
        TypeKind::Input { .. } => {
            schema.inputs.range(ty.members.range()).map(|one| input(schema, &one)).collect()
        }
        TypeKind::Enum => schema.enum_values[ty.members.range()]
            .iter()
            .map(|value| schema.str(value.name).to_owned())
            .collect(),
        TypeKind::Scalar(_) | TypeKind::Union => BTreeSet::new(),
    }
}

/// Reads `tests/album.graphql`: type name to members, written as [`members`] writes them.
fn expected_album() -> BTreeMap<String, BTreeSet<String>> {
    let text: String = include_str!("../album.graphql")
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#') && !line.starts_with('"'))
        .flat_map(|line| [line, " "])
        .collect();
    let mut types = BTreeMap::new();
    for definition in text.split('}') {
        let Some((head, body)) = definition.split_once('{') else { continue };
        let mut words = head.split_whitespace();
        let kind = words.next().unwrap();
        let name = words.next().unwrap();
        let members = if kind == "enum" {
            body.split_whitespace().map(str::to_owned).collect()
        } else {
            split_members(body)
        };
        types.insert(name.to_owned(), members);
    }
    types
}

/// `a: T b(c: D): E` as its members, arguments sorted.
fn split_members(body: &str) -> BTreeSet<String> {
    let body = body.replace(": ", ":").replace(" = ", "=").replace(", ", ",");
    body.split_whitespace()
        .map(|member| {
            let member = match member.split_once('(') {
                None => member.to_owned(),
                Some((name, rest)) => {
                    let (arguments, ty) = rest.split_once(')').unwrap();
                    let mut arguments: Vec<&str> = arguments.split(',').collect();
                    arguments.sort_unstable();
                    format!("{name}({}){ty}", arguments.join(", "))
                }
            };
            member.replace(':', ": ").replace('=', " = ")
        })
        .collect()
}

#[test]
fn the_types_of_album_have_the_promised_names_and_members() {
    let api = api(CHINOOK, "[]");
    let expected = expected_album();
    assert_eq!(expected.len(), 34, "{:?}", expected.keys());
    for (name, expected) in expected {
        let found = members(&api.schema, &name);
        // The roots hold other tables too.
        let of_album = |member: &String| {
            let field = member.split(['(', ':']).next().unwrap_or_default();
            let mut rest = field.split("Album");
            rest.next().is_some_and(|verb| ["", "insert_", "update_", "delete_"].contains(&verb))
                && rest.next().is_some_and(|end| end.is_empty() || end.starts_with('_'))
        };
        let found: BTreeSet<String> =
            if name.ends_with("_root") { found.into_iter().filter(of_album).collect() } else { found };
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn members_mean_what_they_are_called() {
    let api = api(CHINOOK, "[]");
    let schema = &api.schema;
    let field = |parent: &str, name: &str| {
        let parent = schema.type_by_name(parent).unwrap();
        api.field(schema.field_by_name(parent, name).unwrap())
    };
    let input = |parent: &str, name: &str| {
        let run = schema.ty(schema.type_by_name(parent).unwrap()).members;
        api.input(schema.input_by_name(run, name).unwrap())
    };
    let album = TableId(0);
    assert_eq!(field("query_root", "Album"), FieldMeaning::Select(album));
    assert_eq!(field("query_root", "Album_group_by"), FieldMeaning::GroupBy(album));
    assert_eq!(field("mutation_root", "update_Album_many"), FieldMeaning::UpdateMany(album));
    assert_eq!(field("Album", "Title"), FieldMeaning::Column(album, ColumnId(1)));
    assert_eq!(field("Album_group_key", "ArtistId"), FieldMeaning::Column(album, ColumnId(2)));
    assert_eq!(field("__Type", "name"), FieldMeaning::None);
    assert_eq!(input("Album_bool_exp", "Title"), InputMeaning::Column(album, ColumnId(1)));
    assert_eq!(input("Int_comparison_exp", "_gte"), InputMeaning::Compare(Comparison::Gte));
    let by_pk = schema.field_by_name(schema.query, "Album_by_pk").unwrap();
    let key = schema.arguments(by_pk).next().unwrap();
    assert_eq!(api.input(key), InputMeaning::Column(album, ColumnId(0)));
    assert_eq!(api.fields.len(), schema.fields.len());
    assert_eq!(api.inputs.len(), schema.inputs.len());
    assert_eq!(api.enum_values.len(), schema.enum_values.len());
    let values = schema.ty(schema.type_by_name("order_by").unwrap()).members.range();
    let last = EnumMeaning::Order { descending: true, nulls_first: false };
    assert_eq!(api.enum_values[values].last(), Some(&last));
}

/// Types, fields, inputs and bytes of text in the schema of so many tables, on each of which so many roles have a permission.
fn measure(tables: usize, roles: usize) -> [usize; 4] {
    let table = |at: usize| {
        format!(
            "CREATE TABLE t{at} (id INTEGER PRIMARY KEY, a TEXT NOT NULL, b INT, c NUMERIC(10, 2), d BOOLEAN, e TIMESTAMP, f UUID, g JSON,
             h REAL, up INT REFERENCES t{});",
            at.saturating_sub(1)
        )
    };
    let sql: String = (0..tables).map(table).collect();
    let permission = |role: usize| {
        format!(
            r#"{{"role": "r{role}", "permission": {{"columns": "*", "filter": {{"id": {{"_gt": {role}}}}}}}}}"#
        )
    };
    let permissions: Vec<String> = (0..roles).map(permission).collect();
    let entry =
        |at: usize| format!(r#"{{"table": "t{at}", "select_permissions": [{}]}}"#, permissions.join(","));
    let entries: Vec<String> = (0..tables).map(entry).collect();
    let api = api(&sql, &format!("[{}]", entries.join(",")));
    let schema = &api.schema;
    [schema.types.len(), schema.fields.len(), schema.inputs.len(), schema.texts().len()]
}

#[test]
fn a_table_costs_as_much_for_many_roles_as_for_one() {
    let [few, many] = [measure(10, 1), measure(20, 1)];
    let [types, fields, inputs, bytes] = std::array::from_fn(|at| (many[at] - few[at]) / 10);
    assert!(types <= 90 && fields <= 130 && inputs <= 380, "{types}, {fields}, {inputs}");
    // Names and descriptions that stand in several types of a table are one text.
    assert!(bytes <= 8000, "{bytes}");
    assert_eq!(measure(20, 11), many);
}

#[test]
fn every_member_of_ours_means_something() {
    let api = api(CHINOOK, "[]");
    let schema = &api.schema;
    for (at, ty) in schema.types.iter().enumerate() {
        let name = schema.str(ty.name);
        let ours = !name.starts_with("__");
        let id = weir_language::schema::TypeId(at as u32);
        for at in ty.fields.range() {
            assert_eq!(api.fields[at] != FieldMeaning::None, ours, "{name}");
            for argument in schema.fields[at].arguments.range() {
                assert_eq!(api.inputs[argument] != InputMeaning::None, ours, "{name}");
            }
        }
        for input in schema.input_fields(id).filter(|_| matches!(ty.kind, TypeKind::Input { .. })) {
            assert_ne!(api.input(input), InputMeaning::None, "{name}");
        }
    }
}

/// Checks the members of some types: `type: member, member` per line.
fn check(sql: &str, entries: &str, expected: &str) {
    let api = api(sql, entries);
    for line in expected.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, expected) = line.split_once(" { ").unwrap();
        let expected = expected.trim_end_matches([' ', '}']);
        let found: Vec<String> = members(&api.schema, name).into_iter().collect();
        assert_eq!(found.join(" | "), expected, "{name}");
    }
}

#[test]
fn a_database_without_tables_has_no_queries() {
    let api = api("", "[]");
    assert_eq!(members(&api.schema, "query_root").len(), 0);
    assert!(print(&api.schema, Order::Defined).contains("no_queries_available: String!"));
    assert_eq!(api.schema.mutation, None);
}

#[test]
fn views_tables_without_keys_and_generated_columns_get_what_they_can() {
    check(
        "CREATE TABLE a(x TEXT, y TEXT AS (x || x)); CREATE VIEW v AS SELECT x FROM a;",
        "[]",
        "query_root { a(distinct_on: [a_select_column!], limit: Int, offset: Int, order_by: [a_order_by!], where: a_bool_exp): [a!]! | a_aggregate(distinct_on: [a_select_column!], limit: Int, offset: Int, order_by: [a_order_by!], where: a_bool_exp): a_aggregate! | a_group_by(by: [a_select_column!]!, having: a_group_having, limit: Int, offset: Int, order_by: [a_group_order_by!], where: a_bool_exp): [a_group!]! | v(distinct_on: [v_select_column!], limit: Int, offset: Int, order_by: [v_order_by!], where: v_bool_exp): [v!]! | v_aggregate(distinct_on: [v_select_column!], limit: Int, offset: Int, order_by: [v_order_by!], where: v_bool_exp): v_aggregate! | v_group_by(by: [v_select_column!]!, having: v_group_having, limit: Int, offset: Int, order_by: [v_group_order_by!], where: v_bool_exp): [v_group!]! }
         mutation_root { delete_a(where: a_bool_exp!): a_mutation_response | insert_a(objects: [a_insert_input!]!): a_mutation_response | insert_a_one(object: a_insert_input!): a | update_a(_set: a_set_input, where: a_bool_exp!): a_mutation_response | update_a_many(updates: [a_updates!]!): [a_mutation_response] }
         a_set_input { x: String }
         a_insert_input { x: String }
         a_select_column { x | y }
         a_aggregate_fields { count(columns: [a_select_column!], distinct: Boolean): Int! | max: a_max_fields | min: a_min_fields }",
    );
}

#[test]
fn keys_of_several_columns_and_unique_keys_are_there() {
    check(
        "CREATE TABLE a(x INTEGER, y TEXT, z INTEGER UNIQUE, PRIMARY KEY(y, x)) WITHOUT ROWID;",
        "[]",
        "a_pk_columns_input { x: Int! | y: String! }
         a_constraint { a_pkey | a_z_key }
         a_update_column { x | y | z }
         a { x: Int! | y: String! | z: Int }",
    );
}

#[test]
fn json_columns_have_a_path_and_their_operators() {
    check(
        "CREATE TABLE a(id INTEGER PRIMARY KEY, b JSONB, c JSON, d BOOLEAN NOT NULL, e BIGINT, f REFERENCES a);",
        "[]",
        "a { a_a: a | a_as(distinct_on: [a_select_column!], limit: Int, offset: Int, order_by: [a_order_by!], where: a_bool_exp): [a!]! | a_as_aggregate(distinct_on: [a_select_column!], limit: Int, offset: Int, order_by: [a_order_by!], where: a_bool_exp): a_aggregate! | b(path: String): jsonb | c(path: String): json | d: Boolean! | e: bigint | f: String | id: Int! }
         a_updates { _append: a_append_input | _delete_at_path: a_delete_at_path_input | _delete_elem: a_delete_elem_input | _delete_key: a_delete_key_input | _inc: a_inc_input | _prepend: a_prepend_input | _set: a_set_input | where: a_bool_exp! }
         a_append_input { b: jsonb }
         a_delete_elem_input { b: Int }
         a_delete_key_input { b: String }
         a_delete_at_path_input { b: [String!] }
         a_inc_input { e: bigint | id: Int }
         a_max_fields { e: bigint | f: String | id: Int }
         jsonb_comparison_exp { _cast: jsonb_cast_exp | _contained_in: jsonb | _contains: jsonb | _eq: jsonb | _gt: jsonb | _gte: jsonb | _has_key: String | _has_keys_all: [String!] | _has_keys_any: [String!] | _in: [jsonb!] | _is_null: Boolean | _lt: jsonb | _lte: jsonb | _neq: jsonb | _nin: [jsonb!] }
         json_comparison_exp { _eq: json | _gt: json | _gte: json | _in: [json!] | _is_null: Boolean | _lt: json | _lte: json | _neq: json | _nin: [json!] }
         a_aggregate_bool_exp { bool_and: a_aggregate_bool_exp_bool_and | bool_or: a_aggregate_bool_exp_bool_or | count: a_aggregate_bool_exp_count }
         a_aggregate_bool_exp_bool_or { arguments: a_select_column_a_aggregate_bool_exp_bool_or_arguments_columns! | distinct: Boolean | filter: a_bool_exp | predicate: Boolean_comparison_exp! }
         a_select_column_a_aggregate_bool_exp_bool_or_arguments_columns { d }",
    );
}

#[test]
fn enum_tables_become_enums_wherever_their_values_stand() {
    check(
        "CREATE TABLE colour(name TEXT PRIMARY KEY, words TEXT); INSERT INTO colour VALUES ('red', 'warm'), ('blue', NULL);
         CREATE TABLE car(id INTEGER PRIMARY KEY, paint TEXT NOT NULL REFERENCES colour);",
        r#"[{"table": "colour", "is_enum": true}]"#,
        "colour_enum { blue | red }
         colour_enum_comparison_exp { _eq: colour_enum | _in: [colour_enum!] | _is_null: Boolean | _neq: colour_enum | _nin: [colour_enum!] }
         car { car_colour: colour! | id: Int! | paint: colour_enum! }
         car_insert_input { car_colour: colour_obj_rel_insert_input | id: Int | paint: colour_enum }
         car_max_fields { id: Int }",
    );
}

#[test]
fn groups_are_filtered_and_ordered_by_aggregates() {
    check(
        CHINOOK,
        "[]",
        "Album_group_having { _and: [Album_group_having!] | _not: Album_group_having | _or: [Album_group_having!] | avg: Album_group_having_float | count: Int_comparison_exp | max: Album_group_having_max | min: Album_group_having_max | stddev: Album_group_having_float | stddev_pop: Album_group_having_float | stddev_samp: Album_group_having_float | sum: Album_group_having_sum | var_pop: Album_group_having_float | var_samp: Album_group_having_float | variance: Album_group_having_float }
         Album_group_having_float { AlbumId: Float_comparison_exp | ArtistId: Float_comparison_exp }
         Album_group_having_sum { AlbumId: Int_comparison_exp | ArtistId: Int_comparison_exp }
         Album_group_having_max { AlbumId: Int_comparison_exp | ArtistId: Int_comparison_exp | Title: String_comparison_exp }
         Album_group_order_by { avg: Album_avg_order_by | count: order_by | key: Album_group_key_order_by | max: Album_max_order_by | min: Album_min_order_by | stddev: Album_stddev_order_by | stddev_pop: Album_stddev_pop_order_by | stddev_samp: Album_stddev_samp_order_by | sum: Album_sum_order_by | var_pop: Album_var_pop_order_by | var_samp: Album_var_samp_order_by | variance: Album_variance_order_by }
         Album_group_key_order_by { AlbumId: order_by | ArtistId: order_by | Title: order_by }",
    );
}

#[test]
fn odd_names_and_names_that_meet_make_a_sound_schema() {
    let api = api(
        "CREATE TABLE \"Order Details\"(\"unit price\" REAL, \"🎵\" TEXT, \"1st\" INTEGER UNIQUE, \"__x\" INTEGER,
           \"_and\" INTEGER, \"true\" INTEGER PRIMARY KEY, \"it's \"\"so\"\"\" geometry, path JSONB);
         CREATE TABLE a(x INTEGER, a_as TEXT, a_as_aggregate TEXT, y INTEGER PRIMARY KEY REFERENCES a,
           z INTEGER REFERENCES a);
         CREATE TABLE a_max(x INTEGER); CREATE TABLE order_by(x INTEGER); CREATE TABLE query_root(x order_by);
         CREATE TABLE a_aggregate(x INTEGER); CREATE TABLE \"名前\"(x INTEGER); CREATE TABLE String(x String);
         CREATE TABLE geometry(x \"Order Details\", y \"Int\"); CREATE TABLE b(\"🎵\" INTEGER PRIMARY KEY);",
        "[]",
    );
    let api_names: Vec<&str> = api.model.all().map(|(_, _, tracked)| tracked.name.as_str()).collect();
    assert_eq!(
        api_names,
        [
            "Order_Details",
            "String_2",
            "a",
            "a_aggregate_2",
            "a_max_2",
            "geometry_2",
            "order_by_2",
            "query_root_2"
        ]
    );
}

#[test]
fn descriptions_are_hasuras_unless_the_configuration_says_better() {
    let api = api(
        CHINOOK,
        r#"[{"table": "Genre", "configuration": {"comment": "a kind of music",
            "column_config": {"Name": {"comment": "how people call it"}},
            "custom_root_fields": {"select": {"name": "genres", "comment": "all kinds"}}}},
            {"table": "Album", "object_relationships": [
                {"name": "by", "using": {"foreign_key_constraint_on": "ArtistId"}, "comment": ""}]},
            {"table": "Artist", "array_relationships": [{"name": "made", "comment": "what they made",
                "using": {"foreign_key_constraint_on": {"table": "Album", "column": "ArtistId"}}}]}]"#,
    );
    let schema = &api.schema;
    let words = |name: &str| schema.str(schema.ty(schema.type_by_name(name).unwrap()).description);
    assert_eq!(words("Album"), "columns and relationships of \"Album\"");
    assert_eq!(words("Genre"), "a kind of music");
    let field = |parent: &str, name: &str| {
        let parent = schema.type_by_name(parent).unwrap();
        schema.str(schema.field(schema.field_by_name(parent, name).unwrap()).description)
    };
    assert_eq!(field("query_root", "Album"), "fetch data from the table: \"Album\"");
    assert_eq!(field("query_root", "genres"), "all kinds");
    assert_eq!(field("Genre", "Name"), "how people call it");
    assert_eq!(field("Album", "Album_Tracks_aggregate"), "An aggregate relationship");
    assert_eq!(field("Track", "Track_Album"), "An object relationship");
    assert_eq!([field("Album", "by"), field("Artist", "made")], ["", "what they made"]);
}

/// `tests/golden/chinook/schema.graphqls` holds the API of three related tables of Chinook, below the hash of the API of all tables;
/// `WEIR_BLESS=1` writes it anew.
#[test]
fn golden_the_schema_of_chinook_stays_as_it_is() {
    let all = print(&api(CHINOOK, "[]").schema, Order::ByName);
    let hash: String = Sha256::digest(&all).iter().map(|byte| format!("{byte:02x}")).collect();
    let others =
        ["PlaylistTrack", "Playlist", "InvoiceLine", "Track", "Album", "Artist", "Genre", "MediaType"];
    let drops: String = others.iter().map(|table| format!("DROP TABLE {table};")).collect();
    let three = print(&api(&format!("{CHINOOK};{drops}"), "[]").schema, Order::ByName);
    let sdl = format!("# The API of all tables, SHA-256: {hash}\n{three}");
    let file =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/chinook/schema.graphqls");
    if std::env::var_os("WEIR_BLESS").is_some() {
        std::fs::write(&file, &sdl).unwrap();
    }
    let golden = std::fs::read_to_string(&file).unwrap();
    let first = golden.lines().zip(sdl.lines()).position(|(old, new)| old != new);
    assert!(golden == sdl, "line {first:?} differs");
}

#[test]
fn generated_names_follow_the_convention_of_the_source() {
    let connection = Connection::open_in_memory().unwrap();
    let sql = "CREATE TABLE boat (id INTEGER PRIMARY KEY, home_port TEXT, sunk_at TIMESTAMPTZ); \
               CREATE TABLE boat_log (id INTEGER PRIMARY KEY, boat_id INTEGER REFERENCES boat, the_text TEXT); \
               CREATE TABLE crew_list (id INTEGER PRIMARY KEY, first_name TEXT)";
    connection.execute_batch(sql).unwrap();
    let (catalog, _) = read(&connection, SqliteOptions::default()).unwrap();
    let entries = r#"[
        {"table": "crew_list", "configuration": {"custom_name": "crew_of", "column_config": {"first_name": {"custom_name": "first_n"}},
          "custom_root_fields": {"select": "all_crews"}}},
        {"table": "boat", "array_relationships": [{"name": "boat_logs",
          "using": {"foreign_key_constraint_on": {"table": "boat_log", "column": "boat_id"}}}]}]"#;
    let tables: Vec<TableEntry> = serde_json::from_str(entries).unwrap();
    let customization = serde_json::from_str(r#"{"naming_convention": "graphql-default"}"#).unwrap();
    let options =
        ModelOptions { tables: &tables, customization: Some(&customization), ..ModelOptions::default() };
    let (model, _) = Model::build(catalog, options, &mut |table| enum_values(&connection, table));
    let api = generate(model, Permissions::default()).unwrap();
    let check = |ty: &str, expected: &[&str]| {
        let found = members(&api.schema, ty);
        for part in expected {
            assert!(found.iter().any(|it| it.starts_with(part)), "{ty} has no {part}: {found:#?}");
        }
    };
    check(
        "query_root",
        &[
            "boat(",
            "boatByPk(id",
            "boatLog(distinctOn: [BoatLogSelectColumn!], limit: Int, offset: Int, orderBy: [BoatLogOrderBy!], where: BoatLogBoolExp)",
        ],
    );
    check("query_root", &["boatLogAggregate(", "all_crews(", "crew_ofByPk(", "crew_ofAggregate("]);
    check(
        "mutation_root",
        &[
            "insertBoatLogOne(object: BoatLogInsertInput!, onConflict: BoatLogOnConflict)",
            "insertCrew_ofOne(",
            "updateBoatByPk(",
            "updateCrew_ofMany(",
        ],
    );
    check("Boat", &["homePort: String", "sunkAt: Timestamptz", "boat_logs(", "boatLogsAggregate("]);
    check("BoatOrderBy", &["homePort: OrderBy", "boat_logsAggregate: BoatLogAggregateOrderBy"]);
    check("BoatLogMutationResponse", &["affectedRows: Int!", "returning: [BoatLog!]!"]);
    check("BoatLogAggregateFields", &["stddevPop: BoatLogStddevPopFields"]);
    check("BoatSelectColumn", &["homePort"]);
    check("crew_of", &["first_n: String"]);
    check("crew_ofBoolExp", &["first_n: StringComparisonExp", "_and"]);
    check("OrderBy", &["ASC_NULLS_FIRST", "DESC"]);
    check(
        "subscription_root",
        &["boatLogStream(batchSize: Int!, cursor: [BoatLogStreamCursorInput]!, where: BoatLogBoolExp)"],
    );
    check("BoatLogStreamCursorInput", &["initialValue: BoatLogStreamCursorV", "ordering: CursorOrdering"]);
    check("StringComparisonExp", &["_isNull: Boolean", "_nilike"]);
    check("TimestamptzComparisonExp", &["_gt: Timestamptz"]);
}
