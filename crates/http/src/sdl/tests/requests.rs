//! Requests of connectors.

use super::{HEAD, check_refusal, check_warning, connector, mapping};
use weir_engine::source::HeaderMerge;

/// A type that is asked for by `id` and `no`, with this `http` and, beside it, `more`.
fn seat(http: &str, more: &str) -> String {
    format!(
        "type Query {{ seats: [Seat] @connect(source: \"s\", http: {{GET: \"/seats\"}}, selection: \"id no\") }}
        type Seat @connect(source: \"s\", http: {{{http}}}, selection: \"id no price to: {{id no}}\"{more}) {{ id: ID no: Int price: Int to: Seat }}"
    )
}

#[test]
fn a_batch_of_several_keys_is_a_list_of_objects() {
    for body in ["$batch { id no }", "all: $batch { no: id id: no->toString }"] {
        let text =
            format!("{HEAD}{}", seat(&format!("POST: \"/s\", body: \"{body}\""), ", batch: {maxSize: 9}"));
        let mapping = mapping(&text);
        let seat = connector(&mapping, "Seat", "");
        let keys: Vec<&str> = seat.keys.iter().map(|it| &*it.name).collect();
        assert_eq!((keys.as_slice(), seat.batch_max), (&["id", "no"][..], Some(9)), "{body}");
    }
    let check = |body: &str, place: &str, message: &str| {
        check_refusal(&seat(&format!("POST: \"/s\", body: \"{body}\""), ""), &[(place, message)]);
    };
    check("$batch { id nos }", "nos", "`Seat` has no field `nos`; did you mean `no`?");
    let single = "`to` is no single value, and answers to `$batch` are matched by such";
    check("$batch { id to }", "to }", single);
    check(
        "$batch { id no: $.no }",
        "$.no",
        "`$batch` gives fields by their names: write `$batch { id other: name }`",
    );
}

#[test]
fn objects_where_single_values_belong_are_said_with_their_place() {
    let text = |http: &str| {
        format!(
            "input In {{ n: Int in: In l: [In] }} scalar Json\ntype Query {{ f(q: [Int], i: In, j: Json): Int @connect(source: \"s\", http: {{{http}}}, selection: \"$\") }}"
        )
    };
    let params = |params: &str| text(&format!("GET: \"/f\", queryParams: \"{params}\""));
    let check = |text: &str, place: &str, message: &str| check_refusal(text, &[(place, message)]);
    let member = "this is an object, and a parameter is a single value or a list: name its members, or write `->jsonStringify`";
    check(&params("q: $args.q i: $args.i"), "$args.i\"", member);
    check(&params("i: $args.i.in"), "$args.i.in", member);
    check(&params("i: $args { q }"), "$args { q }", member);
    check(&params("q: $([{a: 1}])"), "[{a: 1}]", member);
    check(&params("q: $args.q->map({n: @})"), "$args.q->map", member);
    check(
        &params("$args.i { n in }"),
        "in }",
        "this is an object, and a parameter is a single value or a list",
    );
    check(&params("$args.q"), "$args.q", "parameters have names: write `name: $args.name`");
    check(&params("$(1)"), "1)", "parameters have names: write `name: value`");
    let single = "this is an object, and a single value belongs here: name one of its members";
    check(&text("GET: \"/f/{$args.i}\""), "$args.i}", single);
    check(&text("GET: \"/f\", headers: [{name: \"a\", value: \"x {$args.i.l}\"}]"), "$args.i.l}", single);
    let sound = [
        "q: $args.q j: $args.j n: $args.i.n",
        "$args.i { n }",
        "$args.i { n in: $.in->jsonStringify }",
        "$args.j",
        "i: $args.i->jsonStringify",
        "n: $args.i.l.n n2: $args.i.l->map(@.n)",
    ];
    sound.iter().for_each(|it| drop(mapping(&format!("{HEAD}{}", params(it)))));
}

#[test]
fn lists_within_lists_and_paths_that_are_none_are_said_with_their_place() {
    let text = |http: &str| {
        format!(
            "input In {{ ls: [[Int]] l: [Int] }} scalar Json\ntype Query {{ f(q: [Int], ls: [[Int]], i: In, j: Json, s: String): Int @connect(source: \"s\", http: {{GET: \"/f\", {http}}}, selection: \"$\") }}"
        )
    };
    let path = |it: &str| text(&format!("path: \"{it}\""));
    let params = |it: &str| text(&format!("queryParams: \"{it}\""));
    let check = |text: &str, place: &str, message: &str| check_refusal(text, &[(place, message)]);
    let segment =
        "this is a list or an object, and a segment of a path is a single value: write `->joinNotNull(',')`";
    check(&path("$(['a', $args.q])"), "$args.q])", segment);
    check(&path("$(['a', [1]])"), "[1]]", segment);
    check(&path("$args.ls"), "$args.ls", segment);
    check(&path("$args.q->map([@])"), "[@]", segment);
    check(&path("$([{a: 1}])"), "{a: 1}", segment);
    let no_list = "a path is a list of segments: write `$(['of', $args.name])`";
    check(&path("$args.s"), "$args.s", no_list);
    check(&path("$({a: 1})"), "{a: 1})", no_list);
    let in_list = "this holds a list within a list, and a parameter is a single value or a list of them: write `->joinNotNull(',')`";
    check(&params("q: $([1, $args.q])"), "$args.q]", in_list);
    check(&params("q: $args.ls"), "$args.ls", in_list);
    check(&params("q: $args.i.ls"), "$args.i.ls", in_list);
    check(&params("$args.i { l ls }"), "ls }", in_list);
    for sound in [
        path("$args.q"),
        path("$args.j"),
        path("$(['a', $args.s, $args.q->joinNotNull(',')])"),
        path("$args.q->map(@->add(1))"),
        params("q: $args.q l: $args.i.l j: $([1, $args.j])"),
    ] {
        drop(mapping(&format!("{HEAD}{sound}")));
    }
}

#[test]
fn headers_of_answers_are_named_one_by_one() {
    let policy = |rules: &str| format!("extend schema @policy(source: \"s\", answerHeaders: [{rules}])");
    let sound = "{name: \"X-Total\", merge: \"join\"}, {name: \"Set-Cookie\"}";
    let read = mapping(&format!("{HEAD}{}", policy(sound)));
    let rules: Vec<_> =
        read.services[0].policy.answer_rules.iter().map(|it| (it.name.as_str(), it.merge)).collect();
    assert_eq!(rules, [("x-total", HeaderMerge::Join), ("set-cookie", HeaderMerge::Append)]);
    let never =
        "never reaches clients: it belongs to the connection or to the body, or Weir writes it itself";
    for (rule, place, message) in [
        ("{name: \"Connection\"}", "{name", format!("`connection` {never}")),
        ("{name: \"Content-Length\"}", "{name", format!("`content-length` {never}")),
        ("{name: \"a b\"}", "{name", "`a b` is no name of a header".to_owned()),
        (
            "{name: \"A\", merge: \"all\"}",
            "\"all\"",
            "`all` is no `merge`: there are `append`, `first`, `last` and `join`".to_owned(),
        ),
        ("{name: \"A\"}, {name: \"a\"}", "{name: \"a\"}", "header `a` is named twice".to_owned()),
    ] {
        check_refusal(&policy(rule), &[(place, &message)]);
    }
}

#[test]
fn limits_that_let_nothing_through_are_refused() {
    for (policy, max) in [
        ("timeout: 0", 600_000),
        ("concurrency: 0", 1_000_000),
        ("maxBytes: 0", 1 << 30),
        ("breaker: {errors: 0, window: 1}", 100),
        ("breaker: {errors: 1, window: 0}", 3600),
    ] {
        let message = format!("a whole number from 1 to {max} is expected here");
        let text =
            "type Query { f: Int @connect(source: \"s\", http: {GET: \"/f\"}, selection: \"$\") FIELD }";
        check_refusal(
            &format!("extend schema @policy(source: \"s\", {policy})\n{}", text.replace("FIELD", "")),
            &[("0", &message)],
        );
        if policy.starts_with("timeout") {
            check_refusal(&text.replace("FIELD", &format!("@policy({policy})")), &[("0", &message)]);
        }
    }
}

#[test]
fn all_that_nothing_gives_is_told_at_once() {
    let lost = |field: &str| {
        format!("nothing gives `U.{field}` here: select it, or give it or `U` a `@connect` of its own")
    };
    let at = lost("at");
    let text = "type U { id: ID name: String at: Int }
        type Query { u: U @connect(source: \"s\", http: {GET: \"/u\"}, selection: \"id\") us: [U] @connect(source: \"s\", http: {GET: \"/us\"}, selection: \"name\") }";
    check_refusal(text, &[("\"id\"", &at), ("\"name\"", &at)]);
    // A field that one connector gives and another does not is null where it is not given.
    let text = text.replace(" at: Int", "");
    let is_null = |field: &str| format!("{}; it is null here", lost(field));
    check_warning(&text, &[("\"id\"", &is_null("name")), ("\"name\"", &is_null("id"))]);
}

#[test]
fn what_changes_something_and_what_nobody_sets_are_warnings() {
    for method in ["PUT", "PATCH", "DELETE"] {
        check_warning(
            &format!(
                "type Query {{ a: Int @connect(source: \"s\", http: {{{method}: \"/u\"}}, selection: \"$\") }}"
            ),
            &[(
                "\"/u\"",
                &format!(
                    "{method} changes something: on a field that is no mutation it is called at any time, several at once"
                ),
            )],
        );
    }
    check_warning(
        "type Query { a: Int @connect(source: \"s\", http: {GET: \"/u?a={$context.a}\"}, selection: \"$\") }",
        &[(
            "$context.a",
            "nothing is in `$context`, so this has no value: `$config`, `$env` and `$request.headers` have",
        )],
    );
}

#[test]
fn the_manual_shows_what_can_be_read() {
    let manual = concat!(
        include_str!("../../../../../docs/sources/services.md"),
        include_str!("../../../../../docs/sources/services/selections.md"),
    );
    let text = manual.split("```graphql\n").nth(1).and_then(|it| it.split("```").next()).expect("an example");
    let mapping = mapping(text);
    assert_eq!(mapping.connectors.len(), 5);
    for method in crate::selection::Method::ALL {
        assert!(manual.contains(method.name()), "{}", method.name());
    }
    for variable in crate::selection::Variable::ALL {
        assert!(manual.contains(&format!("${}", variable.name())), "{}", variable.name());
    }
}
