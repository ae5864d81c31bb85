//! The catalog of PostgreSQL databases: everyday ones, odd ones, large ones.

use crate::postgres_kit::release::{Release, on, on_each_release};
use crate::postgres_kit::{Database, chinook, database};
use std::time::{Duration, Instant};
use weir_postgres::introspect::{Functions, ReadRelations, Shards, assemble, questions, schemas_array};
use weir_postgres::{Settings, Watch};
use weir_relational::catalog::postgres_types::{Kind, Types};
use weir_relational::catalog::{Catalog, Table, UniqueKey, Warning};

/// The catalog of a database, its questions asked in one session of `role`.
fn read_as(role: &str, database: &Database, schemas: &[&str]) -> (Catalog, Types, Vec<Warning>) {
    read_relations(role, database, schemas, ReadRelations::Own)
}

fn read_relations(
    role: &str,
    database: &Database,
    schemas: &[&str],
    relations: ReadRelations,
) -> (Catalog, Types, Vec<Warning>) {
    let schemas: Vec<String> = schemas.iter().map(|&it| it.to_owned()).collect();
    let schemas = schemas_array(&schemas).replace('\'', "''");
    let answers = questions(Functions::Read, Shards::None, relations).map(|question| {
        let sql = format!("SET ROLE {role}; PREPARE q(text[]) AS {question}; EXECUTE q('{schemas}')");
        database.rows(&sql)
    });
    let started = Instant::now();
    let rows =
        answers.each_ref().map(|answer| answer.iter().map(|row| row.iter().map(Option::as_deref)).collect());
    let read = assemble(rows);
    println!("{} tables in {:?}", read.0.tables.len(), started.elapsed());
    read
}

fn read(database: &Database, schemas: &[&str]) -> (Catalog, Types, Vec<Warning>) {
    read_as("postgres", database, schemas)
}

fn names(table: &Table, key: &UniqueKey) -> String {
    let columns: Vec<&str> = key.columns.iter().map(|&column| table.column(column).name.as_str()).collect();
    format!("{}({})", key.name, columns.join(","))
}

fn words(marks: &[(bool, &'static str)]) -> String {
    marks.iter().filter(|(mark, _)| *mark).map(|(_, word)| *word).collect()
}

/// One line per table and column, one per key, one per function.
fn written(catalog: &Catalog) -> String {
    let mut out = String::new();
    for table in &catalog.tables {
        let can = [(table.insertable, " insert"), (table.updatable, " update"), (table.deletable, " delete")];
        let comment = if table.comment.is_empty() { "" } else { " -- " };
        let kind = table.kind;
        let schema = &table.schema;
        let name = &table.name;
        out.push_str(&format!("{kind:?} {schema}.{name}{}{comment}{}\n", words(&can), table.comment));
        for column in &table.columns {
            let marks = [
                (!column.nullable, " not null"),
                (column.has_default, " default"),
                (column.generated, " generated"),
                (!column.comment.is_empty(), " -- "),
            ];
            let name = &column.name;
            let ty = &column.ty;
            let declared = &column.declared;
            let comment = &column.comment;
            out.push_str(&format!("  {name} {ty:?} {declared}{}{comment}\n", words(&marks)));
        }
        for key in table.primary_key.iter().chain(&table.unique_keys) {
            out.push_str(&format!("  {}\n", names(table, key)));
        }
        for key in &table.foreign_keys {
            let target = &catalog.tables[key.target.0 as usize];
            let pairs: Vec<String> = std::iter::zip(&key.columns, &key.target_columns)
                .map(|(&ours, &theirs)| format!("{}={}", table.column(ours).name, target.column(theirs).name))
                .collect();
            let holds = words(&[(!key.holds, " not valid")]);
            out.push_str(&format!("  {} {} {}{holds}\n", key.name, target.name, pairs.join(",")));
        }
    }
    for function in &catalog.functions {
        let arguments = function.arguments.iter().map(|it| {
            let table = it.table.map_or("", |at| &catalog.table(at).name);
            let marks = [(it.has_default, " default"), (it.is_variadic, " variadic")];
            format!("{} {:?} {table}{}", it.name, it.ty, words(&marks))
        });
        let arguments = arguments.collect::<Vec<_>>().join(", ");
        let table = function.table.map_or("", |at| &catalog.table(at).name);
        let set = words(&[(function.is_set, " set")]);
        let name = &function.name;
        let volatility = function.volatility;
        let returns = function.returns;
        let returns = if table.is_empty() { returns.to_string() } else { table.to_owned() };
        out.push_str(&format!("{volatility:?} {name}({arguments}){set} {returns}\n"));
    }
    out
}

fn lines(text: &str) -> String {
    text.trim_matches('\n').lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn check(sql: &str, schemas: &[&str], expected: &str) {
    let (catalog, _, warnings) = read(&database(sql), schemas);
    assert_eq!(lines(&written(&catalog)), lines(expected), "{sql}");
    assert_eq!(warnings, [], "{sql}");
}

fn chinook_is_what_it_is_on_sqlite_but_for_its_own_types() {
    let (catalog, _, warnings) = read(&chinook(), &["public"]);
    assert_eq!((catalog.tables.len(), warnings), (11, Vec::new()));
    let written = written(&catalog);
    let album = written.find("Table public.Album").unwrap()..written.find("Table public.Artist").unwrap();
    let expected = "
Table public.Album insert update delete
  AlbumId Int integer not null default
  Title Text character varying(160) not null
  ArtistId Int integer not null
  Album_pkey(AlbumId)
  Album_ArtistId_fkey Artist ArtistId=ArtistId
";
    assert_eq!(lines(&written[album]), lines(expected));
    assert_eq!(catalog.table(catalog.find("", "Album").unwrap()).rows_estimate, Some(347));
}

fn columns_say_what_fills_them_and_keys_what_they_are_called() {
    check(
        "CREATE TABLE a (id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, b int4 GENERATED BY DEFAULT AS IDENTITY,
           gone int, c text DEFAULT 'x', d numeric(10, 2), e text GENERATED ALWAYS AS (c || 'y') STORED, UNIQUE (b, c));
         ALTER TABLE a DROP COLUMN gone;
         CREATE UNIQUE INDEX full_index ON a (d) INCLUDE (c);
         CREATE UNIQUE INDEX part_index ON a (b) WHERE b > 3;
         CREATE UNIQUE INDEX expression_index ON a ((b + 1));
         CREATE TABLE b (x int8 REFERENCES a, y text, z int, FOREIGN KEY (z, y) REFERENCES a (b, c));
         ALTER TABLE b ADD CONSTRAINT later FOREIGN KEY (x) REFERENCES a (id) NOT VALID;
         COMMENT ON TABLE a IS 'see \"b\", {NULL}'; COMMENT ON COLUMN a.c IS 'a, b';",
        &["public"],
        r#"
Table public.a insert update delete -- see "b", {NULL}
  id BigInt bigint not null default generated
  b Int integer not null default
  c Text text default -- a, b
  d Numeric numeric(10,2)
  e Text text default generated
  a_pkey(id)
  full_index(d)
  a_b_c_key(b,c)
Table public.b insert update delete
  x BigInt bigint
  y Text text
  z Int integer
  b_x_fkey a x=id
  b_z_y_fkey a z=b,y=c
  later a x=id not valid
"#,
    );
}

fn odd_names_are_names() {
    // 63 bytes, the most PostgreSQL keeps of a name.
    let long = "é".repeat(31) + "x";
    let sql = r#"
        CREATE SCHEMA "od""d ' sch,ema";
        SET search_path TO "od""d ' sch,ema";
        CREATE TABLE "sel""ect 🎸" ("group" int, "a\b" text, "{,}" text, "NULL" int, " " int);
        CREATE TABLE "LONG" ("LONG" int PRIMARY KEY, "user" int CONSTRAINT "u""k" UNIQUE,
          "order" int CONSTRAINT "it's" REFERENCES "LONG" ("user"));"#;
    let expected = r#"
Table od"d ' sch,ema.sel"ect 🎸 insert update delete
  group Int integer
  a\b Text text
  {,} Text text
  NULL Int integer
    Int integer
Table od"d ' sch,ema.LONG insert update delete
  LONG Int integer not null
  user Int integer
  order Int integer
  MADE_UP_pkey(LONG)
  u"k(user)
  it's LONG order=user
"#;
    let cut = "é".repeat(29);
    let expected = expected.replace("MADE_UP", &cut).replace("LONG", &long);
    check(&sql.replace("LONG", &long), &["od\"d ' sch,ema"], &expected);
}

fn views_can_be_written_as_far_as_they_can() {
    check(
        "CREATE TABLE a (id int PRIMARY KEY, n int);
         CREATE VIEW easy AS SELECT id, n + 1 AS more FROM a;
         CREATE VIEW hard AS SELECT count(*) AS n FROM a;
         CREATE VIEW helped AS SELECT count(*) AS n FROM a;
         CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
         CREATE TRIGGER t INSTEAD OF INSERT ON helped FOR EACH ROW EXECUTE FUNCTION nothing();
         CREATE MATERIALIZED VIEW stored AS SELECT id FROM a;",
        &["public"],
        "
Table public.a insert update delete
  id Int integer not null
  n Int integer
  a_pkey(id)
View public.easy insert update delete
  id Int integer
  more Int integer generated
View public.hard
  n BigInt bigint
View public.helped insert
  n BigInt bigint
MaterializedView public.stored
  id Int integer
",
    );
}

fn partitions_and_parts_of_extensions_are_no_tables_of_their_own() {
    check(
        "CREATE TABLE part (id int PRIMARY KEY, t text) PARTITION BY RANGE (id);
         CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (100);
         CREATE TABLE child (id int REFERENCES part);
         CREATE EXTENSION pg_stat_statements;",
        &["public"],
        "
Table public.child insert update delete
  id Int integer
  child_id_fkey part id=id
Table public.part insert update delete
  id Int integer not null
  t Text text
  part_pkey(id)
",
    );
    let sql = "CREATE TABLE part (id int PRIMARY KEY); CREATE TABLE kept (id int); ALTER EXTENSION plpgsql ADD TABLE kept;";
    let named = |relations| {
        let (catalog, ..) = read_relations("postgres", &database(sql), &["public"], relations);
        catalog.tables.iter().map(|it| it.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(named(ReadRelations::Own), ["part"]);
    assert_eq!(named(ReadRelations::All), ["kept", "part"]);
}

fn types_are_followed_to_what_they_are_made_of() {
    let database = database(
        r#"CREATE TYPE mood AS ENUM ('sad', 'ha"ppy, {x}');
           CREATE TYPE address AS (street text, "zip ""code" int4);
           CREATE DOMAIN positive AS int4 CHECK (VALUE > 0) NOT NULL DEFAULT 1;
           CREATE DOMAIN deep AS positive;
           CREATE TYPE span AS RANGE (subtype = float8);
           CREATE EXTENSION citext;
           CREATE TABLE t (a mood, b mood[], c address, d positive, e deep, f span, g citext, h xml, i "char");"#,
    );
    let (catalog, types, _) = read(&database, &["public"]);
    let expected = "
Table public.t insert update delete
  a Enum(\"mood\") mood
  b Array(Enum(\"mood\")) mood[]
  c Composite(\"address\") address
  d Int positive not null default
  e Int deep default
  f Other(\"span\") span
  g CiText citext
  h Other(\"xml\") xml
  i Other(\"char\") \"char\"
";
    assert_eq!(lines(&written(&Catalog { functions: Vec::new(), ..catalog.clone() })), lines(expected));
    let kind = |column: usize| types.by_oid(catalog.tables[0].columns[column].oid).map(|it| it.kind.clone());
    let mood = types.find("public", "mood").unwrap();
    assert_eq!(mood.cast, r#""public"."mood""#);
    assert_eq!(kind(0), Some(Kind::Enum { labels: vec!["sad".into(), "ha\"ppy, {x}".into()] }));
    assert_eq!(kind(1), Some(Kind::Array { element: mood.oid }));
    assert_eq!(
        kind(2),
        Some(Kind::Composite { fields: vec![("street".into(), 25), ("zip \"code".into(), 23)] })
    );
    assert_eq!(kind(3), Some(Kind::Domain { base: 23 }));
    assert_eq!(types.base(catalog.tables[0].columns[4].oid), 23);
    assert_eq!(kind(5), Some(Kind::Range { subtype: 701 }));
    let range = types.find("public", "span").unwrap().oid;
    assert_eq!(types.find("public", "span_multirange").map(|it| &it.kind), Some(&Kind::Multirange { range }));
}

fn functions_say_what_they_take_and_give() {
    check(
        "CREATE TABLE a (id int);
         CREATE FUNCTION search(q text, most int DEFAULT 10, OUT found int) RETURNS SETOF int
           LANGUAGE sql STABLE AS 'SELECT 1';
         CREATE FUNCTION friends(row_ a, session json DEFAULT '{}') RETURNS SETOF a LANGUAGE sql AS 'SELECT * FROM a';
         CREATE FUNCTION unnamed(text, VARIADIC int[]) RETURNS a LANGUAGE sql IMMUTABLE AS 'SELECT 1';
         CREATE FUNCTION hidden() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
         CREATE TYPE span AS RANGE (subtype = float8);
         CREATE EXTENSION citext;",
        &["public"],
        r#"
Table public.a insert update delete
  id Int integer
Volatile friends(row_ Other("a_scalar") a, session Json  default) set a
Stable search(q Text , most Int  default) set 23
Immutable unnamed( Text ,  Array(Int)  variadic) a
"#,
    );
}

fn what_the_role_may_not_do_is_not_offered() {
    let database = database(
        "CREATE TABLE seen (id int); CREATE TABLE unseen (id int); CREATE VIEW v AS SELECT * FROM seen;
         CREATE TABLE partly (secret text, dropped int, id int PRIMARY KEY, code int UNIQUE, name text, UNIQUE (secret));
         ALTER TABLE partly DROP dropped;
         CREATE ROLE weir_reader; GRANT SELECT (id, name), INSERT ON partly TO weir_reader; GRANT SELECT, INSERT ON seen TO weir_reader; GRANT SELECT ON v TO weir_reader;",
    );
    let (catalog, _, warnings) = read_as("weir_reader", &database, &["public"]);
    let expected = "
Table public.partly insert
  id Int integer not null
  name Text text
  partly_pkey(id)
Table public.seen insert
  id Int integer
View public.v
  id Int integer
";
    assert_eq!(written(&catalog), expected.trim_start());
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "`public.partly.code`: it is not served: the role may not SELECT it",
            "`public.partly.secret`: it is not served: the role may not SELECT it",
            "`public.unseen`: it is not served: the role may not SELECT from it",
        ]
    );
}

fn five_thousand_tables_are_read_at_once() {
    let database = database(
        "DO $$ BEGIN FOR n IN 1..5000 LOOP
           EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY, a int2, b float8, c timestamptz, d uuid, e boolean)', n);
           IF n % 500 = 0 THEN COMMIT; END IF;
         END LOOP; END $$",
    );
    let (catalog, _, _) = read(&database, &["public"]);
    assert_eq!(catalog.tables.len(), 5000);
    assert!(catalog.tables.iter().all(|it| it.columns.len() == 6 && it.primary_key.is_some()));
}

/// A view that selects rows by what may fail fails with each of its columns.
fn views_say_whether_their_own_conditions_may_fail() {
    let sql = "CREATE TABLE t (id int PRIMARY KEY, n int, name text, day date, price numeric, tags text[]);
        CREATE SCHEMA other;
        CREATE VIEW other.base AS SELECT id, n FROM t WHERE 1 / n > 0;
        CREATE VIEW a_all AS SELECT id FROM t;
        CREATE VIEW a_comparing AS SELECT id FROM t WHERE (n = 1 OR n <> 2) AND id IN (1, 2) AND name >= 'a' AND day > '2020-01-01'
          AND price <> 0 AND n IS NOT NULL AND coalesce(n, 1) BETWEEN 0 AND 5;
        CREATE VIEW a_computing AS SELECT id, 1 / n AS q FROM t WHERE n > 0;
        CREATE VIEW b_arrays AS SELECT id FROM t WHERE tags = '{}';
        CREATE VIEW b_casting AS SELECT id FROM t WHERE name::int > 0;
        CREATE VIEW b_dividing AS SELECT id FROM t WHERE 1 / n > 0;
        CREATE VIEW b_matching AS SELECT id FROM t WHERE name ~ 'a';
        CREATE VIEW b_of_another AS SELECT id FROM other.base;
        CREATE VIEW b_of_view AS SELECT id FROM b_of_another WHERE id > 0;
        CREATE VIEW b_looking AS SELECT id FROM t WHERE id IN (SELECT 1 / n FROM t)";
    let (catalog, _, _) = read(&database(sql), &["public"]);
    for view in catalog.tables.iter().filter(|it| it.name != "t") {
        let id = view.columns.iter().find(|it| it.name == "id").unwrap();
        assert_eq!(id.derived, view.name.starts_with("b_"), "{}", view.name);
    }
    assert_eq!(catalog.tables.len(), 11);
}

/// Before 18 there are no such keys.
#[test]
fn a_foreign_key_of_periods_is_left_out_with_a_warning() {
    let sql = "CREATE EXTENSION btree_gist;
        CREATE TABLE room (id int, valid daterange, PRIMARY KEY (id, valid WITHOUT OVERLAPS));
        CREATE TABLE stay (id int PRIMARY KEY, room_id int, span daterange,
          FOREIGN KEY (room_id, PERIOD span) REFERENCES room (id, PERIOD valid));
        CREATE TABLE note (stay_id int REFERENCES stay)";
    let (catalog, _, warnings) = on(Release::Eighteen, || read(&database(sql), &["public"]));
    let keys: Vec<&str> =
        catalog.tables.iter().flat_map(|it| &it.foreign_keys).map(|it| it.name.as_str()).collect();
    assert_eq!(keys, ["note_stay_id_fkey"]);
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    let words = "it makes no relationship: the foreign key compares periods, not equal values";
    assert_eq!(warnings, [format!("`public.stay.stay_room_id_span_fkey`: {words}")]);
}

async fn a_watch_sees_what_changes_the_api_and_nothing_else() {
    let database = database(
        "CREATE TYPE mood AS ENUM ('sad'); CREATE TABLE pet (id int PRIMARY KEY, mood mood);
         CREATE MATERIALIZED VIEW m AS SELECT id FROM pet; CREATE VIEW v AS SELECT id FROM pet; CREATE SCHEMA other",
    );
    let settings = Settings::parse(&database.url(), |_| None).unwrap();
    let soon = || Instant::now() + Duration::from_secs(60);
    for (sql, expected) in [
        ("INSERT INTO pet SELECT i FROM generate_series(1, 500) AS i; ANALYZE pet", false),
        ("VACUUM FREEZE pet", false),
        ("TRUNCATE pet; REFRESH MATERIALIZED VIEW m", false),
        ("CREATE TABLE other.unseen (id int); CREATE TEMPORARY TABLE t (id int)", false),
        ("CREATE TABLE fresh (id int)", true),
        ("ALTER TABLE fresh ADD name text", true),
        ("ALTER TABLE fresh RENAME name TO called", true),
        ("ALTER TABLE fresh RENAME TO old", true),
        ("ALTER TABLE old ADD PRIMARY KEY (id)", true),
        ("CREATE UNIQUE INDEX ON old (called)", true),
        ("COMMENT ON TABLE old IS 'Once fresh.'", true),
        ("GRANT SELECT ON old TO PUBLIC", true),
        ("ALTER TYPE mood ADD VALUE 'glad'", true),
        ("CREATE OR REPLACE VIEW v AS SELECT id FROM pet LIMIT 1", true),
        ("CREATE FUNCTION f() RETURNS SETOF pet LANGUAGE sql STABLE AS 'SELECT * FROM pet'", true),
        ("DROP TABLE old", true),
    ] {
        let watch = Watch::begin(&settings, &["public".into()], soon()).await.unwrap();
        database.run(sql);
        assert_eq!(watch.is_changed(soon()).await.unwrap(), expected, "{sql}");
    }
}

#[tokio::test]
async fn a_watch_sees_that_a_table_is_distributed() {
    let database =
        database(&[crate::citus_served::CATALOGS, "CREATE TABLE pet (id int PRIMARY KEY)"].concat());
    let settings = Settings::parse(&database.url(), |_| None).unwrap();
    let soon = || Instant::now() + Duration::from_secs(60);
    for (sql, expected) in [
        ("INSERT INTO pet VALUES (1)", false),
        ("INSERT INTO dist.pg_dist_partition VALUES ('pet', 'h', 'id', 1, 's')", true),
        ("UPDATE dist.pg_dist_partition SET colocationid = 2", true),
        ("INSERT INTO pet VALUES (2)", false),
        ("DELETE FROM dist.pg_dist_partition", true),
    ] {
        let watch = Watch::begin(&settings, &["public".into()], soon()).await.unwrap();
        database.run(sql);
        assert_eq!(watch.is_changed(soon()).await.unwrap(), expected, "{sql}");
    }
}

fn what_is_stored_by_columns_takes_new_rows_alone() {
    check(
        "CREATE ACCESS METHOD columnar TYPE TABLE HANDLER heap_tableam_handler;
         CREATE TABLE columns (id int) USING columnar; CREATE TABLE rows (id int);",
        &["public"],
        "
Table public.columns insert
  id Int integer
Table public.rows insert update delete
  id Int integer
",
    );
}

on_each_release! {
    what_is_stored_by_columns_takes_new_rows_alone,
    chinook_is_what_it_is_on_sqlite_but_for_its_own_types,
    columns_say_what_fills_them_and_keys_what_they_are_called,
    odd_names_are_names,
    views_can_be_written_as_far_as_they_can,
    partitions_and_parts_of_extensions_are_no_tables_of_their_own,
    types_are_followed_to_what_they_are_made_of,
    views_say_whether_their_own_conditions_may_fail,
    functions_say_what_they_take_and_give,
    what_the_role_may_not_do_is_not_offered,
    five_thousand_tables_are_read_at_once,
}

on_each_release! {
    async
    a_watch_sees_what_changes_the_api_and_nothing_else,
}
