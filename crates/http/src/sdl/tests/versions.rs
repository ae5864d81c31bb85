//! Texts that other servers take: links to all versions of connect, directives of federation, paths and forms.

use super::{HEAD, check_refusal, check_warning, connector, mapping};
use crate::sdl::read;

/// The notes to `text`: lines, columns and words.
fn notes(text: &str) -> Vec<String> {
    let notes = mapping(text).notes;
    notes.iter().map(|it| format!("{}:{} {}", it.location.line, it.location.column, it.message)).collect()
}

#[test]
fn public_texts_of_all_versions_are_read_as_they_are() {
    let federation = |line: u32, column: u32, names: &str| {
        format!("{line}:{column} of federation, ignored for one graph: {names}")
    };
    assert_eq!(
        notes(include_str!("../../../tests/connectors/v0_1_tracking.graphql")),
        [federation(3, 14, "`@key` `@shareable` `@tag`")]
    );
    assert_eq!(
        notes(include_str!("../../../tests/connectors/v0_2_payments.graphql")),
        [
            federation(
                4,
                10,
                "`@key` `@requires` `@external` `@override` `@provides` `@composeDirective` `@label`"
            ),
            "64:125 there is no method `->id`, so nothing is given here; did you mean `in`?".to_owned(),
        ]
    );
    assert_eq!(
        notes(include_str!("../../../tests/connectors/v0_2_catalogue.graphql")),
        [federation(3, 14, "`@key`")]
    );
    assert_eq!(
        notes(include_str!("../../../tests/connectors/v0_3_harbour.graphql")),
        [federation(3, 14, "`@key` `@interfaceObject`")]
    );
    assert_eq!(notes(include_str!("../../../tests/connectors/v0_4_fleet.graphql")), Vec::<String>::new());
    let newer = "is of connect v0.3, and this text links v0.2: other servers refuse it";
    assert_eq!(
        notes(include_str!("../../../tests/connectors/v0_2_repositories.graphql")),
        [federation(3, 14, "`@key`"), format!("5:175 `??` {newer}"), format!("65:190 `?` {newer}")]
    );
}

#[test]
fn calls_of_public_texts_go_where_they_are_meant_to() {
    let of = |text: &str, ty: &str, field: &str| connector(&mapping(text), ty, field).request.explain();
    let tracking = include_str!("../../../tests/connectors/v0_1_tracking.graphql");
    assert_eq!(of(tracking, "Query", "parcels"), "GET /v1/parcels?limit={$args.limit}");
    assert_eq!(of(tracking, "Parcel", ""), "GET /v1/parcels/{$this.id}");
    let payments = include_str!("../../../tests/connectors/v0_2_payments.graphql");
    assert_eq!(
        of(payments, "Query", "search"),
        "GET /v1/customers/search%20%20?limit={$args.first}&{query: $args.query \"expand[]\": $([\"data.tax\", \"data.source\"])}"
    );
    let catalogue = include_str!("../../../tests/connectors/v0_2_catalogue.graphql");
    assert_eq!(of(catalogue, "Product", ""), "GET /api/products/by-ids?{ids: $batch.id->joinNotNull(\",\")}");
    assert_eq!(of(catalogue, "Query", "reviews"), "GET /of/{$args.product}");
    let harbour = include_str!("../../../tests/connectors/v0_3_harbour.graphql");
    assert_eq!(
        of(harbour, "Query", "boats"),
        "GET /{$([$config.tenant ?? \"main\"])}/boats/{$([\"of\", $args.owner])}?{v: $(2)}&{active: $args.active}"
    );
}

/// The first complaint about `link`, or `accepted`.
fn link(link: &str, rest: &str) -> String {
    match read(&format!("extend schema {link}\n{rest}"), "s") {
        Ok(_) => "accepted".to_owned(),
        Err(mistakes) => mistakes[0].to_string(),
    }
}

#[test]
fn what_is_not_imported_has_the_name_of_its_specification_before_it() {
    let connect = "https://specs.apollo.dev/connect/v0.2";
    let query = "type Query { a: Int @connect(http: {GET: \"http://h/a\"}, selection: \"$\") }";
    assert_eq!(link(&format!("@link(url: \"{connect}\")"), query), "accepted");
    let sourced = "@connect__source(name: \"s\", http: {baseURL: \"http://h\"})";
    assert_eq!(link(&format!("@link(url: \"{connect}\") {sourced}"), query), "accepted");
    let renamed = query.replace("@connect", "@rest");
    let rest = format!("@link(url: \"{connect}\", as: \"rest\") {}", sourced.replace("connect__", "rest__"));
    assert_eq!(link(&rest, &renamed), "accepted");
    assert_eq!(
        link(&format!("@link(url: \"{connect}\") {}", sourced.replace("connect__", "")), query),
        "s:1:67: `@source` is not imported: add `@link(url: \"https://specs.apollo.dev/connect/v0.3\", import: [\"@source\"])` to `extend schema`"
    );
    assert_eq!(
        link(&format!("@link(url: \"{connect}\", import: [{{name: \"@connect\", as: \"rest\"}}])"), query),
        "s:1:76: `@connect` and `rest` both begin with `@`, or neither"
    );
    assert_eq!(
        link(
            &format!("@link(url: \"{connect}\", import: [{{name: \"@connect\", alias: \"@rest\"}}])"),
            query
        ),
        "s:1:95: an import has no `alias`: there are `name` and `as`"
    );
    let twice = format!(
        "extend schema @link(url: \"{connect}\", import: [\"@connect\"]) @link(url: \"{connect}\")\n{query}"
    );
    assert_eq!(notes(&twice), ["1:89 a second link to the same specification is not read"]);
    let federation = "@link(url: \"https://specs.apollo.dev/federation/v2.9\")";
    let both = |name: &str| {
        let text = query.replace("a: Int", &format!("a: Int @{name}"));
        link(&format!("@link(url: \"{connect}\") {federation}"), &text)
    };
    assert_eq!(both("federation__shareable"), "accepted");
    let two = "@link(url: \"https://weir.example/spec/v1\", import: [\"@policy\"]) @link(url: \"https://specs.apollo.dev/federation/v2.9\", import: [\"@policy\"])";
    assert_eq!(
        link(two, "type Query { a: Int }"),
        "s:1:143: `@policy` is imported twice: rename one, as in `{name: \"@policy\", as: \"@other\"}`"
    );
    assert_eq!(both("shareable"), "s:2:21: Unknown directive \"@shareable\".");
}

#[test]
fn what_is_hidden_is_seen_by_nobody_and_other_guards_are_refused() {
    let federation = "extend schema @link(url: \"https://specs.apollo.dev/federation/v2.9\", import: [\"@inaccessible\", {name: \"@policy\", as: \"@fedPolicy\"}])";
    let text = |ty: &str, field: &str, argument: &str, value: &str, input: &str| {
        format!(
            "{federation}\ntype U {ty} {{ id: ID {field} e: E }} enum E {{ A {value} }} input I {{ a: Int {input} }}
            type Query {{ u(a: Int {argument}): U @connect(source: \"s\", http: {{GET: \"/u\"}}, selection: \"id e\") }}"
        )
    };
    let elsewhere = "`@inaccessible` cannot stand here: it stands on object types, interfaces, scalars, enums, and fields of objects and interfaces";
    for (at, place) in ["", "@inaccessible "].repeat(5).chunks(2).enumerate().map(|it| (it.0, it.1[1])) {
        let mut all = [""; 5];
        all[at] = place;
        let [ty, field, argument, value, input] = all;
        let text = text(ty, field, argument, value, input);
        if at < 2 {
            let mapping = mapping(&format!("{HEAD}{text}"));
            assert_eq!(mapping.conditions, [crate::sdl::Condition::Nobody]);
            assert_eq!(mapping.guards.len(), 1);
        } else {
            check_refusal(&text, &[("@inaccessible", elsewhere)]);
        }
    }
    let asks = "`@fedPolicy` asks a program who may see this, which is not done here: write `@requiresScopes`, or `@allow(roles: [\"name\"])` of `https://weir.example/spec/v1`";
    check_refusal(&text("", "@fedPolicy(policies: [[\"a\"]])", "", "", ""), &[("@fedPolicy", asks)]);
}

#[test]
fn what_a_version_lacks_is_named_with_its_place() {
    let text = |version: u8, selection: &str| {
        format!(
            "extend schema @link(url: \"https://specs.apollo.dev/connect/v0.{version}\", import: [\"@connect\"])\ntype U {{ id: Int n: Int }}
type Query {{ u: U @connect(http: {{GET: \"http://h/u\"}}, selection: \"{selection}\") }}"
        )
    };
    let told = |version: u8, selection: &str| match read(&text(version, selection), "s") {
        Ok(it) => it.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        Err(mistakes) => mistakes.iter().map(|it| format!("refused {it}")).collect(),
    };
    let none: [&str; 0] = [];
    for version in 1..3 {
        assert_eq!(
            told(version, "id: a?.b n: $(c ?? 1)"),
            [
                format!(
                    "s:3:72: `?` is of connect v0.3, and this text links v0.{version}: other servers refuse it"
                ),
                format!(
                    "s:3:83: `??` is of connect v0.3, and this text links v0.{version}: other servers refuse it"
                ),
            ]
        );
    }
    assert_eq!(told(3, "id: a?.b n: $(c ?? 1)"), none);
    assert_eq!(
        told(3, "id ... $.a { n }"),
        ["refused s:3:70: `...` is of connect v0.4, and this text links v0.3"]
    );
    assert_eq!(
        told(3, "$({id, n: 1})"),
        ["refused s:3:70: `{a}` is of connect v0.4, and this text links v0.3"]
    );
    assert_eq!(told(4, "id ... $.a { n }"), none);
    assert_eq!(
        told(4, "id ... $.a"),
        ["refused s:3:70: say what is spread: name its members, as in `... $.item { id }`"]
    );
    let no_method = "there is no method `->frist`";
    assert_eq!(
        told(3, "id n: a->frist"),
        [format!("s:3:76: {no_method}, so nothing is given here; did you mean `first`?")]
    );
    assert_eq!(told(4, "id n: a->frist"), [format!("refused s:3:76: {no_method}; did you mean `first`?")]);
    assert_eq!(
        told(3, "id n: a->match([1, 2], [3])"),
        [
            "s:3:90: this is no pair, so `->match` never gives it: write `[\"a\", 1]`, and `[@, 0]` for all the rest"
        ]
    );
    let url = text(3, "id n").replace("/u\"", "/{$config.a->frist}\"");
    assert_eq!(
        read(&url, "s").err().map(|it| it[0].message.clone()),
        Some(format!("{no_method}; did you mean `first`?"))
    );
}

#[test]
fn a_list_where_a_single_value_belongs_is_said_with_its_place() {
    let list = "this is a list, and a single value belongs here: write `->joinNotNull(',')`, or a parameter of `queryParams`";
    let batch = |http: &str| {
        format!(
            "type Query {{ us: [U] @connect(source: \"s\", http: {{GET: \"/us\"}}, selection: \"id\") }}
            type U @connect(source: \"s\", http: {{{http}}}, selection: \"id n\") {{ id: ID n: Int }}"
        )
    };
    check_refusal(&batch("GET: \"/u/{$batch.id}\""), &[("$batch.id}", list)]);
    check_refusal(&batch("GET: \"/u?id={$batch.id->slice(0, 2)}\""), &[("$batch.id->", list)]);
    let header = "GET: \"/u\", headers: [{name: \"x-ids\", value: \"{$batch.id}\"}]";
    check_refusal(&batch(header), &[("$batch.id}", list)]);
    let names = "parameters have names: write `name: $batch.name`";
    check_refusal(&batch("GET: \"/u\", queryParams: \"$batch.id\""), &[("$batch.id", names)]);
    check_refusal(&batch("GET: \"/u\", queryParams: \"$batch { id }\""), &[("$batch { id }", names)]);
    mapping(&format!("{HEAD}{}", batch("GET: \"/u/{$batch.id->joinNotNull(',')}\"")));
    mapping(&format!("{HEAD}{}", batch("GET: \"/u/{$batch.id->first}\"")));
    let field = |url: &str| {
        format!(
            "input I {{ l: [Int] n: Int }} type Query {{ a(l: [Int], i: [I]): Int @connect(source: \"s\", http: {{GET: \"{url}\"}}, selection: \"$\") }}"
        )
    };
    check_refusal(&field("/{$args.l}"), &[("$args.l}", list)]);
    check_refusal(&field("/{$args.i.n}"), &[("$args.i.n}", list)]);
    check_refusal(&field("/{$([1, 2])}"), &[("[1, 2]", list)]);
    mapping(&format!("{HEAD}{}", field("/{$args.l->first}/{$args.l->size}")));
}

#[test]
fn a_form_has_names() {
    let form = |body: &str, ty: &str| {
        format!(
            "input I {{ a: Int }} scalar Json\ntype Mutation {{ a(v: {ty}): Int @connect(source: \"s\", selection: \"$\",
              http: {{POST: \"/a\", body: \"{body}\", headers: [{{name: \"Content-Type\", value: \"application/x-www-form-urlencoded\"}}]}}) }}"
        )
    };
    let names = "a form has names: write `name: value`";
    check_refusal(&form("$args.v", "Int"), &[("$args.v", names)]);
    check_refusal(&form("$args.v", "[I]"), &[("$args.v", names)]);
    check_refusal(&form("$([1])", "Int"), &[("[1]", names)]);
    for (body, ty) in [("$args.v", "I"), ("$args.v", "Json"), ("v: $args.v", "[I]"), ("$({v: 1})", "Int")] {
        mapping(&format!("{HEAD}{}", form(body, ty)));
    }
}

#[test]
fn a_type_is_found_by_any_of_its_connectors() {
    let text = format!(
        "{HEAD}type Query {{ u(id: ID!): U @connect(source: \"s\", http: {{GET: \"/u/{{$args.id}}\"}}, entity: true, selection: \"id n\")
          v(n: Int!): U @connect(source: \"s\", http: {{GET: \"/v/{{$args.n}}\"}}, entity: true, selection: \"id n\") }}
        type U {{ id: ID! n: Int }}"
    );
    let mapping = mapping(&text);
    let of_type = |ty: &str| {
        let ty = mapping.schema.type_by_name(ty).expect("the type");
        let all = mapping.entities(ty).iter();
        all.map(|it| mapping.connector(*it).request.explain()).collect::<Vec<_>>()
    };
    assert_eq!(of_type("U"), ["GET /u/{$this.id}", "GET /v/{$this.n}"]);
    assert!(mapping.notes.is_empty(), "{:?}", mapping.notes);
    let typed = "type U @connect(source: \"s\", http: {GET: \"/w/{$this.n}\"}, selection: \"id\") {";
    check_warning(
        &text.replace(HEAD, "").replace("type U {", typed),
        &[
            ("@connect", "`U` is found by another `@connect`: this one answers its own field only"),
            ("@connect", "`U` is found by another `@connect`: this one answers its own field only"),
        ],
    );
    check_refusal(
        "type Query { us: [U] @connect(source: \"s\", http: {GET: \"/us\"}, selection: \"id\") }
        type U @connect(source: \"s\", http: {GET: \"/u/{$this.id}\"}, entity: false, selection: \"id n\") { id: ID n: Int }",
        &[("false", "the `@connect` of a type finds its objects: leave `entity` out")],
    );
}

#[test]
fn directives_by_their_whole_names_and_specifications_of_ones_own_are_noted() {
    let text = r#"extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.10", import: ["@extends", "@composeDirective"])
  @link(url: "https://specs.mine.example/audit/v1.0", import: ["@audited"])
  @link(url: "https://specs.apollo.dev/connect/v0.2", import: ["@source", {name: "@connect", as: "@rest"}])
  @composeDirective(name: "@audited")
  @source(name: "s", http: {baseURL: "http://host"})
directive @audited on FIELD_DEFINITION
type Query { users: [User] @rest(source: "s", http: {GET: "/users"}, selection: "id name") }
type User @extends @federation__key(fields: "id") @federation__key(fields: "name") { id: ID! name: String @audited @federation__shareable }
"#;
    assert_eq!(
        notes(text),
        [
            "2:14 of federation, ignored for one graph: `@extends` `@composeDirective`",
            "3:14 `https://specs.mine.example/audit/v1.0` is not known: its directives say nothing here",
            "9:20 of federation, ignored for one graph: `@federation__key`",
            "9:116 of federation, ignored for one graph: `@federation__shareable`",
        ]
    );
    let wrong = text.replace("specs.apollo.dev/connect/", "specs.apollo.dev/conect/");
    let mistakes = read(&wrong, "s").expect_err("it has no connectors");
    assert!(mistakes.iter().any(|it| it.message.contains("is not known: there are")), "{mistakes:?}");
}

#[test]
fn a_base_url_may_have_a_query() {
    let head = HEAD.replace("http://host", "http://host/v1?key=a%20b");
    assert_ne!(head, HEAD);
    let text = "type Query { f(q: Int): Int @connect(source: \"s\", http: {GET: \"/f?q={$args.q}\"}, selection: \"$\") }";
    let mapping = mapping(&format!("{head}{text}"));
    let request = connector(&mapping, "Query", "f").request.explain();
    assert_eq!(request, "GET /v1/f?key=a%20b&q={$args.q}");
}

#[test]
fn objects_of_several_types_say_theirs() {
    let told = |selection: &str| -> Vec<String> {
        let links = HEAD.replace("connect/v0.3", "connect/v0.4");
        let types = "interface Boat { id: ID name: String } type Yacht implements Boat { id: ID name: String sails: Int } type Skiff implements Boat { id: ID name: String oars: Int }";
        let query = format!(
            "type Query {{ all: [Boat] @connect(source: \"s\", http: {{GET: \"/all\"}}, selection: \"id name __typename: t sails oars\")\n b: Boat @connect(source: \"s\", http: {{GET: \"/b\"}}, selection: \"{selection}\") }}"
        );
        match read(&format!("{links}{types} {query}"), "s") {
            Ok(it) => {
                let of_types = it.notes.iter().filter(|it| it.message.contains("does not say its type"));
                of_types.map(|it| format!("note: {}", it.message)).collect()
            }
            Err(mistakes) => mistakes.iter().map(|it| it.message.clone()).collect(),
        }
    };
    let none: [&str; 0] = [];
    for selection in [
        "__typename: kind id name sails",
        "... kind->match(['a', $({__typename: 'Yacht', sails: $.sails})], ['b', $({__typename: 'Skiff'})]) id",
        "$.item { __typename: $('Yacht') id }",
        "$([{__typename: 'Yacht', id: a}])",
        "$.item { id __typename }",
    ] {
        assert_eq!(told(selection), none, "{selection}");
    }
    let no_type = "note: this field is a `Boat`, and an object that does not say its type is null: write `__typename: $('…')`, or `->match` with one for each type";
    assert_eq!(told("id name"), [no_type]);
    assert_eq!(told("__typename: $('Yaht') id"), ["`Yaht` is no type of `Boat`; did you mean `Yacht`?"]);
    assert_eq!(told("__typename: k sail"), ["`Boat` has no field `sail`; did you mean `sails`?"]);
    assert_eq!(
        told("$.item"),
        ["this field is an object: say what of it is a field of `Boat`, as in `$.item { id }`"]
    );
}

#[test]
fn headers_of_answers_are_named_where_there_are_answers() {
    let query = |url: &str, selection: &str| {
        format!(
            "type Query {{ a: String @connect(source: \"s\", http: {{GET: \"{url}\"}}, selection: \"{selection}\") }}"
        )
    };
    let read = mapping(&format!("{HEAD}{}", query("/a", "$response.headers.'X-A'->first")));
    assert_eq!(connector(&read, "Query", "a").answer_headers, [Box::<str>::from("x-a")]);
    check_refusal(
        &query("/{$response.headers.a}", "$"),
        &[(
            "$response",
            "there is no answer yet: `$response` stands in `selection`, `isSuccess` and `errors`",
        )],
    );
    check_refusal(
        &query("/a", "$response.status"),
        &[("$response", "only headers are known of it: write `$response.headers.'name'`")],
    );
    check_refusal(
        &query("/a", "$response.headers.'a b'->first"),
        &[("'a b'", "`a b` is no name of a header")],
    );
}

#[test]
fn a_batch_by_parts_of_an_object_selects_them() {
    let types = |selection: &str| {
        format!(
            "type Query {{ a: A @connect(source: \"s\", http: {{GET: \"/a\"}}, selection: \"at {{ x y ids }}\") }} type P {{ x: Int y: Int ids: [Int] }}\n\
             type A @connect(source: \"s\", http: {{POST: \"/as\", body: \"a: $batch.at.x b: $batch.at.y\"}}, selection: \"{selection}\") {{ at: P n: Int }}"
        )
    };
    let read = mapping(&format!("{HEAD}{}", types("$.all { at: of.at { x y: z.y } n }")));
    let items = connector(&read, "A", "").items.clone().expect("items");
    let path = |names: &[&str]| names.iter().map(|it| Box::from(*it)).collect::<Vec<Box<str>>>();
    let matching = crate::sdl::Matching::Keys(vec![
        crate::sdl::ItemKey::At(path(&["of", "at", "x"])),
        crate::sdl::ItemKey::At(path(&["of", "at", "z", "y"])),
    ]);
    assert_eq!(items.matching, matching);
    check_refusal(
        &types("at { x } n"),
        &[("at { x } n", "a batch is matched by its keys: select `at.y`, plainly")],
    );
    check_refusal(
        &types("at { x y } n").replace("a: $batch.at.x b: $batch.at.y", "a: $batch.at.ids"),
        &[("at.ids", "`at` is no single value, and answers to `$batch` are matched by such")],
    );
}
