//! Queries that change something at their source, asked by a browser for a page of another site: functions of PostgreSQL, calls of
//! services, actions. A GET is sent without a preflight, so the server has to know what a query calls.

use crate::mcp::{call, rpc};
use crate::postgres_kit::database;
use crate::support::{Folder, Weir};
use crate::upstream_kit::{Upstream, answers};
use serde_json::json;

const TABLES: &str = "CREATE TABLE counter (id int PRIMARY KEY, n int NOT NULL); INSERT INTO counter VALUES (1, 0);
CREATE FUNCTION tick() RETURNS SETOF counter LANGUAGE sql VOLATILE AS 'UPDATE counter SET n = n + 1 RETURNING *';
CREATE FUNCTION peek() RETURNS SETOF counter LANGUAGE sql STABLE AS 'SELECT * FROM counter';";

const SDL: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "s", http: {baseURL: "http://upstream"})
type Query {
  fetched: String @connect(source: "s", http: {GET: "/fetched"}, selection: "$.word")
  posted: String @connect(source: "s", http: {POST: "/posted"}, selection: "$.word")
}
"#;

const KNOWN: &str = "
- {ask: GET /fetched, answer: {word: x}}
- {ask: POST /posted, answer: {word: x}}
- {ask: POST /rate, answer: 5}
";

/// Fields of queries by their names.
const CHANGING: [(&str, &str); 3] = [("tick", "tick { n }"), ("posted", "posted"), ("rate", "rate")];
const READING: [(&str, &str); 3] =
    [("counter", "counter { n }"), ("peek", "peek { n }"), ("fetched", "fetched")];

/// A database, a service and an action, with an endpoint for each of the fields.
fn serve(url: &str, upstream: &Upstream, mutations: bool) -> Weir {
    let folder = Folder::new();
    let address = upstream.address;
    let fields = CHANGING.iter().chain(&READING);
    let queries: Vec<_> = fields
        .clone()
        .map(|(name, field)| json!({ "name": name, "query": format!("query {{ {field} }}") }))
        .collect();
    let endpoints: Vec<_> = fields
        .map(|(name, _)| {
            json!({ "name": name, "url": name, "methods": ["GET"],
                "definition": { "query": { "collection_name": "all", "query_name": name } } })
        })
        .collect();
    let function = |name: &str| json!({ "function": { "schema": "public", "name": name }, "configuration": { "exposed_as": "query" } });
    let metadata = json!({
        "version": 3,
        "sources": [{
            "name": "counters", "kind": "postgres",
            "configuration": { "connection_info": { "database_url": url } },
            "tables": [{ "table": { "schema": "public", "name": "counter" } }],
            "functions": [function("tick"), function("peek")],
        }],
        "actions": [{ "name": "rate", "definition": {
            "kind": "", "type": "query", "handler": format!("http://{address}/rate"), "output_type": "Int", "arguments": [] } }],
        "query_collections": [{ "name": "all", "definition": { "queries": queries } }],
        "rest_endpoints": endpoints,
    });
    folder.write("metadata.json", &metadata.to_string());
    folder.write("services.graphql", &SDL.replace("http://upstream", &format!("http://{address}")));
    let yaml = "listen: 127.0.0.1:0\nmetadata: metadata.json\nsources: [{name: s, file: services.graphql}]\noperations: {mcp: {enabled: true, mutations: MUTATIONS, schema_tools: [execute], overrides: {rate: {read_only: true}}}}\n";
    let yaml = yaml.replace("MUTATIONS", &mutations.to_string());
    Weir::by_file(&folder.write("weir.yaml", &yaml), folder)
}

/// The addresses that answer a field by GET.
fn paths((name, field): (&str, &str)) -> [String; 2] {
    let query = format!("{{ {field} }}").replace(' ', "%20").replace('{', "%7B").replace('}', "%7D");
    [format!("/graphql?query={query}"), format!("/api/rest/{name}")]
}

#[test]
fn a_query_that_changes_something_is_asked_by_no_page_of_another_site() {
    let database = database(TABLES);
    let upstream = Upstream::start(answers(KNOWN));
    let weir = serve(&database.url(), &upstream, true);
    let others =
        [("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site"), ("origin", "http://evil.com")];
    let own = [("sec-fetch-site", "same-origin"), ("sec-fetch-site", "none")];
    let ask = |path: &str, header: (&str, &str)| {
        let answer = weir.get(path, &[header]);
        (answer.status, answer.text().to_owned())
    };
    for path in CHANGING.into_iter().flat_map(paths) {
        for header in others {
            let (status, text) = ask(&path, header);
            assert_eq!(status, 403, "{path} {header:?}: {text}");
        }
    }
    assert_eq!(upstream.take_requests().len(), 0);
    for path in READING.into_iter().flat_map(paths) {
        for header in others.into_iter().chain(own) {
            let (status, text) = ask(&path, header);
            assert!(status == 200 && !text.contains("errors"), "{path} {header:?}: {text}");
        }
    }
    upstream.take_requests();
    for path in CHANGING.into_iter().flat_map(paths) {
        for header in own {
            let (status, text) = ask(&path, header);
            assert!(status == 200 && !text.contains("errors"), "{path} {header:?}: {text}");
        }
    }
    assert_eq!(upstream.take_requests().len(), 8);
    assert_eq!(database.run("SELECT n FROM counter").trim(), "4");
}

#[test]
fn a_query_that_changes_something_is_no_tool_that_reads() {
    let database = database(TABLES);
    let upstream = Upstream::start(answers(KNOWN));
    let weir = serve(&database.url(), &upstream, true);
    let list = rpc(&weir, &[], "tools/list", &json!({})).json();
    let tools = list["result"]["tools"].as_array().expect("there are tools");
    let hints =
        |name: &str| &tools.iter().find(|it| it["name"] == name).expect("it is a tool")["annotations"];
    for (name, field) in CHANGING {
        let query =
            json!({ "query": format!("query ($run: Boolean = true) {{ {} }}", with_condition(field)) });
        let refused = call(&weir, &[], "execute", &query);
        assert_eq!(
            refused["content"][0]["text"],
            "this query calls what may change data, and only what reads is run here",
            "{name}"
        );
        // The operator said of the action that it only reads.
        let expected =
            json!({ "readOnlyHint": name == "rate", "destructiveHint": true, "idempotentHint": false });
        assert_eq!(hints(name), &expected, "{name}");
    }
    assert_eq!((upstream.take_requests().len(), database.run("SELECT n FROM counter").trim()), (0, "0"));
    for (name, field) in READING {
        let query = json!({ "query": format!("{{ {field} }}") });
        assert_eq!(call(&weir, &[], "execute", &query)["isError"], false, "{name}");
        let expected = json!({ "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true });
        assert_eq!(hints(name), &expected, "{name}");
    }
    // A saved operation may change data, as the operator saved it.
    assert_eq!(call(&weir, &[], "tick", &json!({}))["isError"], false);
    assert_eq!(database.run("SELECT n FROM counter").trim(), "1");
}

#[test]
fn where_no_tool_changes_anything_a_query_that_does_is_none() {
    let database = database(TABLES);
    let upstream = Upstream::start(answers(KNOWN));
    let weir = serve(&database.url(), &upstream, false);
    let list = rpc(&weir, &[], "tools/list", &json!({})).json();
    let tools = list["result"]["tools"].as_array().expect("there are tools");
    let mut names: Vec<&str> = tools.iter().filter_map(|it| it["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["counter", "execute", "fetched", "peek"]);
    for (name, _) in CHANGING {
        assert!(
            rpc(&weir, &[], "tools/call", &json!({ "name": name, "arguments": {} })).text().contains("error")
        );
    }
    assert_eq!((upstream.take_requests().len(), database.run("SELECT n FROM counter").trim()), (0, "0"));
}

/// The field under a condition on a variable, which decides about the plan.
fn with_condition(field: &str) -> String {
    match field.split_once(' ') {
        Some((name, rest)) => format!("{name} @include(if: $run) {rest}"),
        None => format!("{field} @include(if: $run)"),
    }
}
