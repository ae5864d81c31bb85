//! A role may name exactly the members that its introspection shows: every member of the admin's schema is asked for, and is unknown to the role
//! unless the role's own introspection lists it.
//!
//! Fields are named in fragments, input fields and enum values in defaults of variables, so that no member needs a way from the root.

use crate::role_kit::asker::{INTROSPECTION, View};
use crate::role_kit::fleet::{ANN, fleet};
use crate::role_kit::grant::{Grants, ROLES};
use crate::role_kit::side::{Database, Side, ask, caller, caller_with};
use serde_json::Value;
use std::collections::BTreeSet;
use weir_engine::caller::Identity;
use weir_engine::source::Protocol;

/// Random permissions for each database.
const CASES: u64 = 3;
/// Members that one document asks for: no more errors are reported.
const CHUNK: usize = 8;

/// Messages of the answer to a document.
fn messages(side: &Side, identity: &Identity, document: &str) -> Vec<String> {
    let answer = ask(&side.engine, identity, document, Protocol::GraphqlOverHttp);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let errors = answer["errors"].as_array().into_iter().flatten();
    errors.map(|it| it["message"].as_str().unwrap().to_owned()).collect()
}

/// The members of `ty` that a role is not told to be unknown.
fn known(side: &Side, identity: &Identity, ty: &str, kind: Kind, members: &[&String]) -> BTreeSet<String> {
    let mut document = String::from("{ __typename }");
    match kind {
        Kind::Output => {
            let fields: Vec<&str> = members.iter().map(|it| it.as_str()).collect();
            document.push_str(&format!(" fragment f on {ty} {{ {} }}", fields.join(" ")));
        }
        Kind::Input | Kind::Enum => {
            let value = |it: &String| if kind == Kind::Enum { it.clone() } else { format!("{{{it}: null}}") };
            let variables =
                members.iter().enumerate().map(|(at, it)| format!("$v{at}: {ty} = {}", value(it)));
            let variables: Vec<String> = variables.collect();
            document.insert_str(0, &format!("query ({}) ", variables.join(", ")));
        }
    }
    let told = messages(side, identity, &document);
    let is_type_unknown = told.iter().any(|it| it.starts_with(&format!("Unknown type \"{ty}\".")));
    let unknown = |it: &str| match kind {
        Kind::Output => format!("Cannot query field \"{it}\" on type \"{ty}\"."),
        Kind::Input => format!("Expected value of type \"{ty}\" not to include unknown field \"{it}\""),
        Kind::Enum => format!("Value \"{it}\" does not exist in \"{ty}\" enum."),
    };
    let is_known = |it: &&&String| !told.iter().any(|told| told.starts_with(&unknown(it)));
    members.iter().filter(|_| !is_type_unknown).filter(is_known).map(|it| (*it).clone()).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Output,
    Input,
    Enum,
}

/// Asks for all that the admin sees, as `identity`.
fn probe(side: &Side, whole: &View, identity: &Identity, what: &str) -> usize {
    let view = View::new(&side.ask(identity, INTROSPECTION));
    let mut asked = 0;
    for ty in whole.types() {
        for (kind, all) in [
            (Kind::Output, whole.output_members(ty)),
            (Kind::Input, whole.input_members(ty)),
            (Kind::Enum, whole.enum_members(ty)),
        ] {
            for members in all.chunks(CHUNK) {
                let listed = view.members(ty).unwrap_or_default();
                let listed: BTreeSet<String> =
                    members.iter().filter(|it| listed.contains(**it)).map(|it| (*it).clone()).collect();
                let found = known(side, identity, ty, kind, members);
                assert_eq!(found, listed, "{what}: {ty}");
                asked += members.len();
            }
        }
    }
    asked
}

#[test]
fn introspection_lists_exactly_what_a_role_may_name() {
    let mut asked = 0;
    for database in [Database::Sqlite, Database::Postgres] {
        for seed in 0..CASES {
            let grants = Grants::new(seed);
            let side = Side::new(database, &grants, None, (true, &[]));
            let whole = View::new(&side.ask(&Identity::admin(), INTROSPECTION));
            for role in ROLES {
                let identity = caller(role, grants.is_backend);
                asked += probe(&side, &whole, &identity, &format!("seed {seed}, {role} on {database:?}"));
            }
        }
        let side = fleet(database);
        let whole = View::new(&side.ask(&Identity::admin(), INTROSPECTION));
        for role in
            ["sailor", "buyer", "keyed", "narrow", "noroot", "empty", "writer", "remover", "trader", "nobody"]
        {
            let identity = caller_with(role, false, ANN);
            asked += probe(&side, &whole, &identity, &format!("{role} on {database:?}"));
        }
    }
    assert!(asked > 10_000, "only {asked} members were asked for");
}
