//! The example of tenants: what its README says of each request, on PostgreSQL and in the statements that Citus gets.

use crate::postgres_kit::{Database, database};
use crate::support::{Folder, Weir, body, command, read};
use std::path::{Path, PathBuf};
use std::process::Command;

const SECRET: &str = "the secret of the example";

/// The catalog of a Citus over which distribute.sql has spread the tables: plain PostgreSQL has none.
const SPREAD: &str = r#"
CREATE TABLE pg_dist_partition (logicalrelid regclass, partmethod "char", partkey text, colocationid int, repmodel "char");
CREATE TABLE pg_dist_local_group (groupid int NOT NULL);
INSERT INTO pg_dist_local_group VALUES (0);
CREATE FUNCTION column_to_column_name(oid, text) RETURNS text LANGUAGE sql AS 'SELECT $2';
INSERT INTO pg_dist_partition SELECT it, 'h', 'tenant_id', 1, 's' FROM unnest('{tenant,product,purchase,line}'::regclass[]) AS it;
INSERT INTO pg_dist_partition VALUES ('currency', 'n', NULL, 2, 't');
"#;

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tenants")
}

fn tables() -> Database {
    let database = database(&read(&example().join("schema.sql")));
    database.run(&read(&example().join("data.sql")));
    database
}

/// The example's configuration with these lines more, in a folder of its own.
fn write_config(more: &str) -> Folder {
    let folder = Folder::new();
    let metadata = example().join("metadata").display().to_string();
    let yaml =
        read(&example().join("weir.yaml")).replace("metadata: metadata", &format!("metadata: {metadata}"));
    folder.write("weir.yaml", &format!("{yaml}{more}\n"));
    folder
}

/// Runs `weir` with these arguments in front of `database`: what it prints.
fn run(database: &Database, folder: &Folder, arguments: &[&str]) -> String {
    let output =
        command().args(arguments).env("TENANTS_DATABASE_URL", database.url()).current_dir(&folder.0).output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

fn serve(database: &Database, folder: Folder) -> Weir {
    let mut command: Command = command();
    command.args(["serve", "weir.yaml", "--listen", "127.0.0.1:0"]);
    command.env("TENANTS_DATABASE_URL", database.url()).current_dir(&folder.0);
    Weir::run(&mut command, folder)
}

/// Asks what the README asks, one request after another, and compares the answers. The number of requests.
fn follows_its_readme(weir: &Weir) -> usize {
    let readme = read(&example().join("README.md"));
    let lines: Vec<&str> = readme.lines().collect();
    let asked = lines.windows(2).filter_map(|it| Some((it[0].strip_prefix("$ ask ")?, it[1])));
    asked
        .map(|(request, expected)| {
            let (tenant, query) = request.split_once(' ').expect("a tenant and a query");
            let query = query.trim_matches('\'').replace("\\\"", "\"");
            let headers = [
                ("x-hasura-admin-secret", SECRET),
                ("x-hasura-role", "member"),
                ("x-hasura-tenant-id", tenant),
            ];
            let answer = weir.post("/v1/graphql", &headers, body(&query).as_bytes());
            assert_eq!(answer.text(), expected, "{request}");
        })
        .count()
}

#[test]
fn each_request_of_the_readme_is_answered_as_it_says() {
    let database = tables();
    let folder = write_config("");
    assert!(run(&database, &folder, &["check"]).starts_with("ok: shop (PostgreSQL "));
    assert!(follows_its_readme(&serve(&database, folder)) > 8);
}

#[test]
fn statements_for_citus_give_the_same_answers_and_name_the_tenant_at_each_table() {
    let database = tables();
    database.run(SPREAD);
    let folder = write_config("sources: [{name: shop, postgres: {flavour: citus}}]");
    let checked = run(&database, &folder, &["check"]);
    assert!(checked.contains("a read over several may see half of a transaction"), "{checked}");
    let query = "{ purchase { buyer line { quantity product { name currency { name } } } } }";
    let claims = r#"{"x-hasura-tenant-id": "3"}"#;
    let explained = run(&database, &folder, &["explain", query, "--role", "member", "--claims", claims]);
    let statements = explained.split_once("-- shop").expect("there are statements").1;
    for table in ["purchase", "line", "product"] {
        let (_, rest) = statements.split_once(&format!(r#""public"."{table}" AS "#)).expect("it is read");
        let alias = rest.split([' ', '\n']).next().expect("it has a name");
        assert!(rest.contains(&format!(r#"{alias}."tenant_id" = $"#)), "{table}: {statements}");
    }
    assert!(follows_its_readme(&serve(&database, folder)) > 8);
}

#[test]
fn the_tutorial_shows_which_shards_are_asked() {
    let database = tables();
    database.run(SPREAD);
    let folder = write_config("sources: [{name: shop, postgres: {flavour: citus}}]");
    let page = read(&example().join("../../docs/sources/cockroachdb-yugabyte-citus.md"));
    let asked: Vec<&str> = page.split("$ weir explain ").skip(1).collect();
    for (arguments, rest) in asked.iter().filter_map(|it| it.split_once('\n')) {
        let explain = format!("\"$WEIR\" explain {arguments}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &explain]).env("WEIR", command().get_program());
        let output = shell.env("TENANTS_DATABASE_URL", database.url()).current_dir(&folder.0).output();
        let said = String::from_utf8(output.expect("it runs").stdout).expect("it is UTF-8");
        let expected: Vec<&str> = rest.lines().take_while(|it| it.starts_with("--")).collect();
        assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{arguments}");
    }
    assert!(asked.len() > 2);
}
