//! Claims and the role in requests, and guards of types and fields.

use super::{HEAD, check_refusal, connector, mapping};
use crate::sdl::{Condition, Guarded};

const LINK: &str = "extend schema @link(url: \"https://specs.apollo.dev/federation/v2.9\", import: [\"@authenticated\", {name: \"@requiresScopes\", as: \"@scoped\"}])";

/// A text whose field `u` has these `http` and selection.
fn field_text(http: &str, selection: &str) -> String {
    format!(
        "type Query {{ u(id: ID): Int @connect(source: \"s\", http: {{{http}}}, selection: \"{selection}\") }}"
    )
}

#[test]
fn claims_and_roles_that_a_call_reads_are_noted_by_the_names_of_both() {
    let reads = |http: &str, selection: &str, expected: &[&str]| {
        let text = format!("{HEAD}{}", field_text(http, selection));
        let mapping = mapping(&text);
        let found: Vec<&str> =
            connector(&mapping, "Query", "u").reads_claims.iter().map(|it| &**it).collect();
        assert_eq!(found, expected, "{http} {selection}");
    };
    reads("GET: \"/u/{$args.id}\"", "$.n", &[]);
    reads("GET: \"/u/{$claims.sub}\"", "$.n", &["x-hasura-sub", "sub"]);
    reads("GET: \"/u?o={$claims.'Org-Id'}\"", "$.n", &["x-hasura-org-id", "Org-Id"]);
    reads("GET: \"/u?o={$claims.'X-Hasura-Org'}\"", "$.n", &["x-hasura-org"]);
    reads("GET: \"/u?o={$claims.'x-weir-org'}\"", "$.n", &["x-hasura-org"]);
    reads(
        "GET: \"/u\", queryParams: \"r: $role n: $claims.a.b\"",
        "$.n",
        &["x-hasura-role", "x-hasura-a", "a"],
    );
    reads("GET: \"/u\", headers: [{name: \"x-r\", value: \"{$role}\"}]", "$.n", &["x-hasura-role"]);
    reads("POST: \"/u\", body: \"of: $claims.sub\"", "$.n", &["x-hasura-sub", "sub"]);
    reads("GET: \"/u\"", "$role->match(['a', $.n], [@, 0])", &["x-hasura-role"]);
}

#[test]
fn what_no_claim_is_and_headers_of_the_session_are_refused() {
    let check =
        |http: &str, place: &str, message: &str| check_refusal(&field_text(http, "$.n"), &[(place, message)]);
    check(
        "GET: \"/u\", queryParams: \"a: $claims\"",
        "$claims",
        "name what is meant, as in `$claims.sub` or `$claims.'user-id'`",
    );
    check("GET: \"/u?a={$role.x}\"", "$role.x", "`$role` is a text: nothing is in it");
    let any = "any client can send `x-hasura-User-Id`, so the header is not read; authentication says what holds: write `$claims.'user-id'`";
    check("GET: \"/u/{$request.headers.'x-hasura-User-Id'}\"", "$request", any);
    let any = "any client can send `x-weir-role`, so the header is not read; authentication says what holds: write `value: \"{$role}\"`";
    check("GET: \"/u\", headers: [{name: \"r\", from: \"x-weir-role\"}]", "{name", any);
}

#[test]
fn guards_of_types_and_fields_share_their_conditions() {
    let text = format!(
        "{HEAD}{LINK}
        enum Shade @authenticated {{ A }}
        type U @authenticated {{ id: ID mail: String @scoped(scopes: [[\"read\", \"mail\"], \"all\"]) kind: Shade }}
        type Query {{ u: U @connect(source: \"s\", http: {{GET: \"/u\"}}, selection: \"id mail kind\") @allow(roles: \"editor\") }}"
    );
    let mapping = mapping(&text);
    let boxed = |all: &[&str]| all.iter().map(|it| Box::from(*it)).collect::<Box<[Box<str>]>>();
    let scopes = Condition::Scopes([boxed(&["read", "mail"]), boxed(&["all"])].into());
    assert_eq!(mapping.conditions, [Condition::Authenticated, scopes, Condition::Roles(boxed(&["editor"]))]);
    let told = |guarded: Guarded| match guarded {
        Guarded::Type(ty) => mapping.schema.type_name(ty),
        Guarded::Field(field) => mapping.schema.field_name(field),
    };
    let guards: Vec<_> = mapping.guards.iter().map(|it| (told(it.guarded), it.condition)).collect();
    assert_eq!(guards, [("Shade", 0), ("U", 0), ("mail", 1), ("u", 2)]);
}

#[test]
fn guards_that_say_nothing_or_stand_elsewhere_are_refused() {
    let check = |on: &str, argument: &str, more: &str, place: &str, message: &str| {
        let text = format!(
            "{LINK}\ntype U {on} {{ id: ID }} {more}\ntype Query {{ u(id: ID {argument}): U @connect(source: \"s\", http: {{GET: \"/u\"}}, selection: \"id\") }}"
        );
        check_refusal(&text, &[(place, message)]);
    };
    let on = |on: &str, place: &str, message: &str| check(on, "", "", place, message);
    on("@scoped", "@scoped", "`@scoped` needs `scopes`");
    on("@scoped(scopes: [])", "[]", "nobody would see this: name scopes, as in `[[\"read:users\"]]`");
    on("@scoped(scopes: [[]])", "[]]", "everybody would see this: name scopes, or take the guard out");
    on(
        "@scoped(scopes: [[\"a b\"]])",
        "\"a b\"",
        "a scope is one word: scopes that are needed together are `[[\"a\", \"b\"]]`",
    );
    on("@allow(roles: [])", "[]", "only `admin` would see this: name roles, as in `[\"editor\"]`");
    on("@allow(roles: [\"\"])", "\"\"", "a role has a name");
    on("@allow(role: \"a\", roles: \"b\")", "role:", "`@allow` has no `role`; did you mean `roles`?");
    on("@authenticated(if: true)", "if:", "`@authenticated` has no `if`");
    let elsewhere = |name: &str| {
        format!(
            "`@{name}` cannot stand here: it stands on object types, interfaces, scalars, enums, and fields of objects and interfaces"
        )
    };
    check("", "@authenticated", "", "@authenticated", &elsewhere("authenticated"));
    check("", "", "input I { a: Int @authenticated }", "@authenticated", &elsewhere("authenticated"));
    check("", "", "enum E { A @allow(roles: \"a\") }", "@allow", &elsewhere("allow"));
    check("", "", "union W @authenticated = U", "@authenticated", &elsewhere("authenticated"));
    let others =
        "`Album` is a type of another source, which says who sees it: guard the fields that are added here";
    check("", "", "extend type Album @authenticated", "@authenticated", others);
    let join =
        "`a` is asked of another source, and whoever sees the field that is asked sees it: guard that one";
    check(
        "",
        "",
        "extend type U { a: Int @join(field: \"a\", arguments: \"(a: $this.id)\") @authenticated }",
        "@authenticated",
        join,
    );
    check(
        "",
        "",
        "extend type Query @authenticated",
        "@authenticated",
        "`Query` is everybody's: guard its fields",
    );
}
