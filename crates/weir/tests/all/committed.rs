//! Mutations of a database that ask a service for fields of the rows they return: the service is asked behind the commit, and an error
//! of such a field says what stands.

use crate::support::{Weir, body};
use crate::upstream_kit::{Upstream, answers};
use serde_json::{Value, json};

const SDL: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "s", http: {baseURL: "http://upstream"})
type Query { brief: String @connect(source: "s", http: {GET: "/brief"}, selection: "$.word") }
extend type pet {
  note: String @connect(source: "s", http: {GET: "/notes/{$this.id}"}, selection: "$.word")
  mark: String! @connect(source: "s", http: {GET: "/marks/{$this.id}"}, selection: "$.word")
}
"#;

struct Case {
    mutation: &'static str,
    /// The root fields that the error has to name; none without an error.
    committed: &'static [&'static str],
    /// The rows that are there then.
    rows: &'static [(u32, &'static str)],
}

const CASES: [Case; 3] = [
    Case {
        mutation: "mutation { update_pet(where: {id: {_eq: 1}}, _set: {name: \"Zed\"}) { returning { id ... @include(if: true) { note } } } }",
        committed: &[],
        rows: &[(1, "Zed"), (2, "Bob"), (3, "Cyd")],
    },
    Case {
        mutation: "mutation { one: insert_pet_one(object: {id: 4, name: \"Dan\"}) { id mark } delete_pet_by_pk(id: 2) { id } }",
        committed: &["one", "delete_pet_by_pk"],
        rows: &[(1, "Ada"), (3, "Cyd"), (4, "Dan")],
    },
    Case {
        mutation: "mutation { delete_pet(where: {id: {_gt: 1}}) { affected_rows returning { name ... @defer { mark } } } }",
        committed: &["delete_pet"],
        rows: &[(1, "Ada")],
    },
];

fn read_state(weir: &Weir) -> Value {
    weir.query("{ pet(order_by: {id: asc}) { id name } }").json()["data"]["pet"].clone()
}

#[test]
fn a_field_of_a_service_that_fails_behind_the_commit_says_what_stands() {
    let upstream = Upstream::start(answers("[]"));
    for path in ["/graphql", "/v1/graphql"] {
        for Case { mutation, committed, rows } in CASES {
            let weir = Weir::with_services(SDL, upstream.address, "");
            let json = weir.post(path, &[], body(mutation).as_bytes()).json();
            let rows: Vec<Value> = rows.iter().map(|(id, name)| json!({ "id": id, "name": name })).collect();
            assert_eq!(read_state(&weir), json!(rows), "{path} {mutation}: {json}");
            if committed.is_empty() {
                assert_eq!(json["data"]["update_pet"]["returning"], json!([{ "id": 1, "note": null }]));
            } else {
                assert_eq!(json["errors"][0]["extensions"]["committed"], json!(committed), "{json}");
            }
        }
    }
}
