//! Connectors without `http`, versions since the release of v0.4, links of other specifications.

use super::read;
use std::fmt::Write;

/// Checks a schema of `links` and `types`; returns its refusals, or its notes if there are none.
fn find_notes(links: &str, types: &str) -> String {
    let text =
        format!("extend schema {links} @source(name: \"s\", http: {{baseURL: \"http://h\"}})\n{types}");
    let mut all = String::new();
    let (word, mistakes) = match read(&text, "s") {
        Ok(mapping) => ("", mapping.notes),
        Err(mistakes) => ("refused ", mistakes),
    };
    for mistake in mistakes {
        writeln!(all, "{word}{}:{} {}", mistake.location.line, mistake.location.column, mistake.message)
            .unwrap();
    }
    all
}

fn link(version: &str) -> String {
    format!("@link(url: \"https://specs.apollo.dev/connect/{version}\", import: [\"@source\", \"@connect\"])")
}

#[test]
fn a_connector_without_http_reads_no_answer() {
    let query = |selection: &str| {
        format!("type Query {{ a(n: Int): A @connect(selection: \"{selection}\") }} type A {{ n: Int }}")
    };
    for version in ["v0.4", "v0.5"] {
        assert_eq!(find_notes(&link(version), &query("n: $args.n")), "");
        assert_eq!(find_notes(&link(version), &query("n: 1")), "");
    }
    assert_eq!(
        find_notes(&link("v0.3"), &query("n: $args.n")),
        "refused 2:27 `@connect` needs `http`: without it, variables alone are mapped from connect v0.4 on, and this text links v0.3\n"
    );
    let no_answer = "without `http` no call is made, so there is no answer to read: write `$args.name`, `$this.name`, or a literal\n";
    assert_eq!(find_notes(&link("v0.4"), &query("n")), format!("refused 2:48 {no_answer}"));
    assert_eq!(find_notes(&link("v0.4"), &query("n: $.m")), format!("refused 2:51 {no_answer}"));
    assert_eq!(find_notes(&link("v0.4"), &query("n: $status")), format!("refused 2:51 {no_answer}"));
}

#[test]
fn specifications_for_composition_are_taken_with_their_directives() {
    let types = "type Query { a: Int @cost(weight: \"5\") @tag(name: \"t\") @connect(source: \"s\", http: {GET: \"/a\"}, selection: \"$\") }";
    let idle = "@link(url: \"https://specs.apollo.dev/cost/v0.1\", import: [\"@cost\"]) @link(url: \"https://specs.apollo.dev/tag/v0.3\")";
    let said = find_notes(&format!("{} {idle}", link("v0.2")), types);
    assert!(!said.contains("refused") && !said.contains("cost"), "{said}");
    assert!(
        said.contains("`https://specs.apollo.dev/tag/v0.3` is not known: its directives say nothing here"),
        "{said}"
    );
    let guard =
        find_notes(&format!("{} @link(url: \"https://specs.apollo.dev/policy/v0.1\")", link("v0.2")), types);
    assert!(guard.starts_with("refused 1:"), "{guard}");
}

#[test]
fn costs_are_read_by_their_names_in_the_text() {
    let check = |links: &str, cost: &str, list_size: &str| {
        let text = format!(
            "extend schema {} {links} @source(name: \"s\", http: {{baseURL: \"http://h\"}})
            type Query {{
              a(n: Int @{cost}(weight: 2)): [A] @{list_size}(slicingArguments: [\"n\"]) @connect(source: \"s\", http: {{GET: \"/a\"}}, selection: \"id\")
            }}
            type A @{cost}(weight: \"1.5\") {{ id: Int }}",
            link("v0.2")
        );
        let mapping = super::mapping(&text);
        let places: Vec<&str> = mapping.cost_rules.iter().map(|it| it.place.as_str()).collect();
        assert_eq!(places, ["Query.a", "Query.a(n:)", "A"], "{links}");
        let ty = mapping.schema.type_by_name("A").expect("it is there");
        assert!(mapping.schema.ty(ty).applied.len == 0, "clients see no costs");
    };
    let federation = "@link(url: \"https://specs.apollo.dev/federation/v2.9\"";
    let weir = "@link(url: \"https://weir.example/spec/v1\", import: [\"@cost\", \"@listSize\"])";
    check(weir, "cost", "listSize");
    check(&format!("{federation}, import: [\"@cost\", \"@listSize\"])"), "cost", "listSize");
    check(
        &format!("{federation}, import: [{{name: \"@cost\", as: \"@price\"}}])"),
        "price",
        "federation__listSize",
    );
    check(
        "@link(url: \"https://specs.apollo.dev/cost/v0.1\", import: [\"@cost\", \"@listSize\"])",
        "cost",
        "listSize",
    );
}

#[test]
fn a_field_of_a_server_may_have_a_cost() {
    let text = "extend schema @link(url: \"https://weir.example/spec/v1\", import: [\"@graphql\", \"@cost\"]) @graphql(url: \"http://g/\", prefix: \"shop_\")
        extend type Query { shop_rows: Int @cost(weight: 5) }
        extend type shop_Row @cost(weight: 2)";
    let mapping = super::mapping(text);
    let places: Vec<&str> = mapping.cost_rules.iter().map(|it| it.place.as_str()).collect();
    assert_eq!(places, ["Query.shop_rows", "shop_Row"]);
}

#[test]
fn what_gives_null_elsewhere_is_a_warning() {
    let query = |connect: &str| format!("type Query {{ a: String @connect(source: \"s\", {connect}) }}");
    assert_eq!(
        find_notes(&link("v0.2"), &query("http: {GET: \"/a\"}, selection: \"message\"")),
        "2:77 this field is a `String`, which has no members: write the path alone, as in `$.name`\n"
    );
    assert_eq!(
        find_notes(&link("v0.2"), &query("http: {GET: \"/a#b\"}, selection: \"$.m\"")),
        "2:61 what stands behind `#` is not sent: write `%23` for the letter\n"
    );
    let batch = "type Query { a: [A] @connect(source: \"s\", http: {GET: \"/a\"}, selection: \"id\") } type A @connect(source: \"s\", http: {GET: \"/a/{$this.id}\"}, batch: {maxSize: 5}, selection: \"id n\") { id: Int n: Int }";
    assert!(
        find_notes(&link("v0.2"), batch)
            .contains(" nothing is batched here: the request reads no `$batch`\n")
    );
}

#[test]
fn a_name_of_a_value_is_known_in_all_versions() {
    for version in ["v0.1", "v0.2", "v0.3", "v0.4", "v0.5"] {
        let query = "type Query { a: Int @connect(source: \"s\", http: {GET: \"/a\"}, selection: \"$.n->as($n)->withError('odd', $n)->add($n)\") }";
        assert_eq!(find_notes(&link(version), query), "", "{version}");
    }
}
