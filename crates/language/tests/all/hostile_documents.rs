//! Documents made to cost. Each is refused with a code or few errors; fragments are counted without expansion.

use weir_language::error::{Code, Error};
use weir_language::limits::Limits;
use weir_language::parser::parse;
use weir_language::schema::Schema;
use weir_language::validate::{Options, validate};

const OPTIONS: Options = Options {
    limits: Limits::STANDARD,
    suggestions: false,
    edition_2026: false,
    subscriptions_beside: false,
};

const SDL: &str = "
    type Query { a: A x: Int in(o: Input, one: One, e: Color, s: String): Int }
    type A { a: A b: A x: Int y: Int z(i: Int): Int }
    enum Color { RED GREEN }
    input Input { a: Int b: Int! = 1 in: Input }
    input One @oneOf { a: Int b: Int }
";

fn errors_with(options: &Options, sdl: &str, text: &str) -> Vec<Error> {
    let schema = Schema::from_sdl(sdl).expect("the schema is sound");
    match parse(text, &options.limits) {
        Err(error) => vec![error],
        Ok(document) => validate(&schema, &document, options).err().unwrap_or_default(),
    }
}

/// Holds the code of the first error against `expected`; `None` for a document that is fine.
#[track_caller]
fn check(text: &str, expected: Option<Code>) {
    let errors = errors_with(&OPTIONS, SDL, text);
    let codes: Vec<Code> = errors.iter().map(|error| error.code).collect();
    assert_eq!(codes.first().copied(), expected, "{:.200}", text);
    assert!(errors.len() <= 50, "{} errors", errors.len());
    assert!(errors.iter().all(|error| error.message.len() < 10_000));
}

/// `count` times `text`, `#` in it being the number.
fn times(count: usize, text: &str) -> String {
    (0..count).map(|at| text.replace("#next", &(at + 1).to_string()).replace('#', &at.to_string())).collect()
}

/// `{ a { a { … x … } } }` with `depth` fields.
fn nested(depth: usize) -> String {
    format!("{}x{}", "a { ".repeat(depth - 1), " }".repeat(depth - 1))
}

#[test]
fn depth_counts_alike_in_fields_fragments_and_inline_fragments() {
    for (depth, expected) in [(50, None), (51, Some(Code::LimitDepth))] {
        check(&format!("{{ {} }}", nested(depth)), expected);
        let half = nested(depth - 20);
        let outer = format!("{}...F{}", "a { ".repeat(20), " }".repeat(20));
        check(&format!("{{ {outer} }} fragment F on A {{ {half} }}"), expected);
        let chain = times(depth - 2, "fragment F# on A { a { ...F#next } } ");
        let last = format!("fragment F{} on A {{ x }}", depth - 2);
        check(&format!("{{ a {{ ...F0 }} }} {chain}{last}"), expected);
        let inline = format!("{}x{}", "a { ... on A { ".repeat(depth - 1), " } }".repeat(depth - 1));
        check(&format!("{{ {inline} }}"), expected);
    }
}

#[test]
fn aliases_and_root_fields_are_limited() {
    check(&format!("{{ {} }}", times(10_000, "k#: x ")), Some(Code::LimitAliases));
    check(&format!("{{ a {{ {} }} }}", times(200, "k#: x ")), None);
    check(&format!("{{ {} }}", times(50, "k#: x ")), None);
    check(&format!("{{ {} }}", times(51, "k#: x ")), Some(Code::LimitRootFields));
    check(
        &format!(
            "{{ ...F ...G }} fragment F on Query {{ {} }} fragment G on Query {{ {} }}",
            times(50, "k#: x "),
            times(50, "l#: x ")
        ),
        Some(Code::LimitRootFields),
    );
}

#[test]
fn a_repeated_field_counts_once() {
    check(&format!("{{ {} }}", "x ".repeat(50_000)), Some(Code::LimitTokens));
    check(&format!("{{ {} }}", "x ".repeat(5_000)), None);
    check(&format!("{{ {} }}", "a { x } ".repeat(3_000)), None);
    check(&format!("{{ a {{ {} }} }}", "z(i: 1) ".repeat(2_000)), None);
}

#[test]
fn overlapping_fragments_are_merged_once() {
    let spreads = times(300, "...F# ");
    let flat = times(300, "fragment F# on Query { a { x y a { x } } } ");
    check(&format!("{{ {spreads} }} {flat}"), None);
    let conflicting = times(300, "fragment F# on Query { a { k#: x y: x a { x } } } ");
    check(&format!("{{ a {{ y }} {spreads} }} {conflicting}"), Some(Code::LimitAliases));
    let conflicting = times(300, "fragment F# on A { z(i: #) } ");
    check(&format!("{{ a {{ {spreads} }} }} {conflicting}"), Some(Code::Validation));
    let shared = times(60, "fragment G# on A { a { x } } ");
    let uses = times(60, "...F# ");
    let bodies = times(60, "fragment F# on A { x ALL } ").replace("ALL", &times(60, "...G# "));
    check(&format!("{{ a {{ {uses} }} }} {bodies} {shared}"), None);
}

#[test]
fn merging_interface_fields_into_every_object_is_limited() {
    let types = times(1_000, "type T# implements N { a: N x: Int } ");
    let sdl = format!("type Query {{ n: N }} interface N {{ a: N x: Int }} {types}");
    let overlapping = |shared: usize, objects: usize| {
        format!("{{ n {{ {} {} }} }}", "a { x } ".repeat(shared), times(objects, "... on T# { a { x } } "))
    };
    let codes =
        |text: &str| errors_with(&OPTIONS, &sdl, text).iter().map(|error| error.code).collect::<Vec<_>>();
    assert_eq!(codes(&overlapping(20, 500)), []);
    assert_eq!(codes(&overlapping(1_500, 900)), [Code::LimitExpanded]);
}

#[test]
fn directives_are_limited_and_their_errors_capped() {
    check(&format!("{{ x {} }}", "@include(if: true) ".repeat(1_000)), Some(Code::LimitDirectives));
    check(&format!("{{ {} }}", "x @nothing ".repeat(1_000)), Some(Code::LimitDirectives));
    let unbounded = Options { limits: Limits::NONE, ..OPTIONS };
    for text in ["@include(if: true) ".repeat(1_000), "@nothing ".repeat(1_000)] {
        let errors = errors_with(&unbounded, SDL, &format!("{{ x {text} }}"));
        assert_eq!(errors.len(), 50);
        assert!(errors.iter().all(|error| error.code == Code::Validation));
    }
}

#[test]
fn fragment_cycles_of_any_length_are_refused() {
    for length in [1, 2, 100] {
        let chain = times(length - 1, "fragment F# on A { ...F#next } ");
        let cycle = format!("{chain}fragment F{} on A {{ ...F0 }}", length - 1);
        check(&format!("{{ a {{ ...F0 }} }} {cycle}"), Some(Code::Validation));
        check(&format!("{{ x }} {cycle}"), Some(Code::Validation));
        let below = cycle.replace("{ ...", "{ a { x ...").replace('}', "} }");
        check(&format!("{{ a {{ ...F0 }} }} {below}"), Some(Code::Validation));
    }
}

#[test]
fn doubling_fragments_are_counted_without_expansion() {
    let doubling = times(40, "fragment F# on A { ...F#next ...F#next } ");
    check(&format!("{{ a {{ ...F0 }} }} {doubling} fragment F40 on A {{ x }}"), Some(Code::LimitExpanded));
    let below = times(20, "fragment F# on A { a { ...F#next } b { ...F#next } } ");
    check(&format!("{{ a {{ ...F0 }} }} {below} fragment F20 on A {{ x }}"), Some(Code::LimitExpanded));
    // Without limits the same documents still cost no more than their text.
    let unbounded = Options { limits: Limits::NONE, ..OPTIONS };
    for body in [
        "...F#next ...F#next",
        "a { ...F#next } b { ...F#next }",
        "a { ...F#next } a { b { ...F#next } ...F#next }",
    ] {
        let chain = times(40, &format!("fragment F# on A {{ {body} }} "));
        let text = format!("{{ a {{ ...F0 }} }} {chain} fragment F40 on A {{ x }}");
        assert_eq!(errors_with(&unbounded, SDL, &text), []);
    }
}

#[test]
fn all_operations_share_one_expansion_limit() {
    let fragment = format!("fragment F on Query {{ {} }}", "x ".repeat(5_000));
    check(&format!("query A {{ ...F }} query B {{ ...F }} {fragment}"), None);
    check(&format!("{} {fragment}", times(1_000, "query A# { ...F } ")), Some(Code::LimitExpanded));
}

#[test]
fn errors_of_unused_definitions_are_capped() {
    let unbounded = Options { limits: Limits::NONE, ..OPTIONS };
    let fragments = format!("{{ x }} {}", times(10_000, "fragment F# on A { x } "));
    let variables = format!("query ({}) {{ x }}", times(10_000, "$v#: Int "));
    let operations = times(10_000, "{ x } ");
    for text in [fragments, variables, operations] {
        assert_eq!(errors_with(&unbounded, SDL, &text).len(), 50);
        assert!((1..=50).contains(&errors_with(&OPTIONS, SDL, &text).len()));
    }
}

#[test]
fn unknown_names_on_a_large_schema_are_cheap_and_reveal_nothing() {
    let types = times(5_000, "type T# { f: Int } ");
    let fields = times(2_000, "field#: Int ");
    let sdl = format!("type Query {{ {fields} }} {types}");
    let text = format!("{{ {} }}", times(5_000, "feld# "));
    let errors = errors_with(&OPTIONS, &sdl, &text);
    assert_eq!(errors.len(), 50);
    assert!(errors.iter().all(|error| !error.message.contains("Did you mean")));
    let unknown = times(2_000, "... on U# { f } ");
    assert_eq!(
        errors_with(&Options { suggestions: true, ..OPTIONS }, &sdl, &format!("{{ {unknown} }}")).len(),
        50
    );
}

#[test]
fn circular_introspection_is_limited() {
    let circle = |depth: usize| {
        let inner = "fields { type { ".repeat(depth);
        format!("{{ __schema {{ types {{ {inner} name {} }} }} }}", "} }".repeat(depth))
    };
    check(&circle(6), None);
    check(&circle(20), Some(Code::LimitIntrospection));
    let fragments = times(20, "fragment F# on __Type { fields { type { ...F#next } } } ");
    let hidden =
        format!("{{ __schema {{ types {{ ...F0 }} }} }} {fragments} fragment F20 on __Type {{ name }}");
    check(&hidden, Some(Code::LimitIntrospection));
}

#[test]
fn enum_values_and_strings_are_not_interchangeable() {
    for value in ["\"RED\"", "red", "__proto__", "constructor", "1", "true"] {
        check(&format!("{{ in(e: {value}) }}"), Some(Code::Validation));
    }
    for value in ["RED", "red", "__proto__"] {
        check(&format!("{{ in(s: {value}) }}"), Some(Code::Validation));
    }
    check("{ in(o: { __proto__: 1 }) }", Some(Code::Validation));
    check("{ in(o: { constructor: 1 }) }", Some(Code::Validation));
    check("{ in(e: RED, s: \"RED\") }", None);
}

#[test]
fn input_objects_accept_each_declared_field_once() {
    check("{ in(o: { c: 1 }) }", Some(Code::Validation));
    check("{ in(o: { a: 1, a: 1 }) }", Some(Code::Validation));
    check("{ in(o: { b: null }) }", Some(Code::Validation));
    check("{ in(one: {}) }", Some(Code::Validation));
    check("{ in(one: { a: 1, b: 2 }) }", Some(Code::Validation));
    check("{ in(one: { a: null }) }", Some(Code::Validation));
    check("{ in(o: { in: { in: { in: {} } } }, one: { b: 2 }) }", None);
    let deep = format!("{{ in(o: {}{{}}{}) }}", "{ in: ".repeat(150), "}".repeat(150));
    check(&deep, None);
    let keys = times(3_000, "k#: 1 ");
    check(&format!("{{ in(o: {{ {keys} }}) }}"), Some(Code::Validation));
}
