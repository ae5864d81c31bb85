//! Hostile texts: each is accepted or refused within its limits, without using machine stack.
//!
//! Texts are so large that a quadratic algorithm would not finish: that a test ends proves linear work.

use crate::support::printer::print;
use weir_language::ast::{Definition, Document, ValueId, ValueKind};
use weir_language::error::Code;
use weir_language::json::{Json, JsonErrorKind};
use weir_language::limits::Limits;
use weir_language::parser::parse;
use weir_language::schema::Schema;

/// Large enough that a quadratic step would take minutes.
const MANY: usize = 400_000;

/// With a server's bounds, `text` is accepted (`None`) or refused with this code.
fn check(text: &str, expected: Option<Code>) {
    let found = parse(text, &Limits::STANDARD).err().map(|error| error.code);
    let start: String = text.chars().take(60).collect();
    assert_eq!(found, expected, "{start} … of {} bytes", text.len());
}

/// Parses without the bounds of a server, as the owner's own files are.
fn unbounded(text: &str) -> Document<'_> {
    parse(text, &Limits::NONE).unwrap_or_else(|error| panic!("{}", error.message))
}

#[test]
fn nested_selections_are_named_by_their_bound() {
    for depth in [201, 5_000, 100_000] {
        check(&"{".repeat(depth), Some(Code::LimitNesting));
        check(&"{a".repeat(depth), Some(Code::LimitNesting));
        check(&format!("{}{}", "{a".repeat(depth), "}".repeat(depth)), Some(Code::LimitNesting));
        check(&format!("{{{}", "...{".repeat(depth)), Some(Code::LimitNesting));
    }
    check(&format!("{}{}", "{a".repeat(200), "}".repeat(200)), None);
    check(&"}".repeat(100_000), Some(Code::Syntax));
    check(&"(".repeat(100_000), Some(Code::LimitNesting));
}

/// The owner's own limits may allow deeper nesting than the machine stack would hold.
#[test]
fn nesting_costs_no_stack() {
    let limits = Limits { nesting_max: u32::MAX, ..Limits::NONE };
    let depth = 100_000;
    let selections = format!("{}{}", "{a".repeat(depth), "}".repeat(depth));
    assert_eq!(parse(&selections, &limits).unwrap().selections.len(), depth);
    let list = format!("{{a(x:{}{})}}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(parse(&list, &limits).unwrap().values.len(), depth);
    let object = format!("{{a(x:{}1{})}}", "{k:".repeat(depth), "}".repeat(depth));
    assert_eq!(parse(&object, &limits).unwrap().object_fields.len(), depth);
}

#[test]
fn nested_literals_and_types_are_named_by_their_bound() {
    let depth = 100_000;
    check(&format!("{{a(x:{}{})}}", "[".repeat(depth), "]".repeat(depth)), Some(Code::LimitNesting));
    check(&format!("{{a(x:{}1{})}}", "{k:".repeat(depth), "}".repeat(depth)), Some(Code::LimitNesting));
    check(&format!("query($a:{}", "[".repeat(depth)), Some(Code::LimitNesting));
    check(&format!("query($a:{}T{}){{a}}", "[".repeat(16), "]".repeat(16)), Some(Code::LimitNesting));
    check(&format!("query($a:{}T{}){{a}}", "[".repeat(15), "]".repeat(15)), None);
    check(&format!("type T{{a(b:{}", "[".repeat(depth)), Some(Code::LimitNesting));
}

/// Request bodies and variables are JSON.
#[test]
fn nested_json_costs_no_stack() {
    for depth in [9_000, 100_000] {
        let closed = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for text in [&closed, &closed[..depth], &"{\"a\":".repeat(depth)] {
            let error = Json::parse(text.as_bytes(), 200).unwrap_err();
            assert_eq!(error.kind, JsonErrorKind::TooDeep);
        }
    }
}

#[test]
fn aliases_and_tokens_are_counted() {
    let aliases =
        |count: usize| format!("{{{}}}", (0..count).map(|n| format!("a{n}:a ")).collect::<String>());
    check(&aliases(200), None);
    check(&aliases(201), Some(Code::LimitAliases));
    check(&aliases(10_000), Some(Code::LimitAliases));
    check(&format!("{{{}}}", "a ".repeat(50_000)), Some(Code::LimitTokens));
    check(&format!("{{{}}}", "a ".repeat(5_000)), None);
}

#[test]
fn directives_variables_and_items_are_counted() {
    check(&format!("{{a{}}}", " @include(if:true)".repeat(1_000)), Some(Code::LimitDirectives));
    check(&format!("{{a{}}}", " @x".repeat(6)), Some(Code::LimitDirectives));
    check(&format!("{{a{}}}", " @x".repeat(5)), None);
    check(&format!("{{{}}}", "a @x ".repeat(51)), Some(Code::LimitDirectives));
    let variables = |count: usize| (0..count).map(|n| format!("$a{n}:Int ")).collect::<String>();
    check(&format!("query({}){{a}}", variables(500)), None);
    check(&format!("query({}){{a}}", variables(501)), Some(Code::LimitVariables));
    check(&format!("query({}){{a}}", variables(10_000)), Some(Code::LimitVariables));
    check(&format!("{{a(x:[{}])}}", "1 ".repeat(10_000)), None);
    check(&format!("{{a(x:[{}])}}", "1 ".repeat(10_001)), Some(Code::LimitList));
}

/// Cycles and unused fragments are found by validation, so parsing them takes time linear in the text.
#[test]
fn fragments_parse_unexpanded() {
    let doubling: String =
        (0..40).map(|n| format!("fragment f{n} on T {{...f{0} ...f{0}}} ", n + 1)).collect();
    check(&doubling, None);
    let unused: String = (0..2_000).map(|n| format!("fragment f{n} on T {{a}} ")).collect();
    check(&unused, None);
    let unused: String = (0..10_000).map(|n| format!("fragment f{n} on T {{a}} ")).collect();
    check(&unused, Some(Code::LimitTokens));
    assert_eq!(unbounded(&unused).definitions.len(), 10_000);
}

#[test]
fn huge_tokens_and_gaps_are_read_once() {
    check(&format!("{{a{}}}", ",".repeat(1_900_000)), None);
    check(&format!("#{}\n{{a}}", "x".repeat(1_900_000)), None);
    check(&format!("{}{{a}}", "#\n".repeat(900_000)), None);
    check(&format!("{{{}}}", "a".repeat(1_000_000)), None);
    check(&format!("{{a(x:\"{}\")}}", "x".repeat(1_900_000)), None);
    check(&format!("{{a(x:\"{}", "x".repeat(1_900_000)), Some(Code::Syntax));
    check(&format!("{{a(x:{})}}", "1".repeat(1_900_000)), None);
    check(&" ".repeat(2_000_001), Some(Code::LimitBytes));
    check(&"\u{FEFF}".repeat(600_000), Some(Code::Syntax));
    let escapes = format!("{{a(x:\"{}\")}}", r"\n\u00e9\u{1F600}".repeat(MANY / 10));
    let document = unbounded(&escapes);
    assert_eq!(document.string(ValueId(0)).chars().count(), 3 * MANY / 10);
    assert_eq!(print(&document).matches("\\n").count(), MANY / 10);
}

#[test]
fn block_strings_of_many_lines_are_read_once() {
    let lines: String = (0..MANY).map(|n| format!("{}x\n", &"        "[n % 8..])).collect();
    let text = format!("{{a(x:\"\"\"{lines}\"\"\")}}");
    let document = unbounded(&text);
    assert_eq!(document.string(ValueId(0)).lines().count(), MANY);
    assert!(matches!(document.value(ValueId(0)).kind, ValueKind::Block));
    let quotes = format!("{{a(x:\"\"\"{}\"\"\")}}", "\\\"\"\" ".repeat(MANY / 4));
    let document = unbounded(&quotes);
    assert_eq!(document.string(ValueId(0)).matches("\"\"\"").count(), MANY / 4);
    let printed = print(&document);
    assert_eq!(unbounded(&printed).string(ValueId(0)), document.string(ValueId(0)));
}

/// Lists, objects and sets of very many members are built by appending.
#[test]
fn long_lists_are_built_once() {
    let items = format!("{{a(x:[{}] y:{{{}}})}}", "1 ".repeat(MANY), "k:1 ".repeat(MANY));
    let document = unbounded(&items);
    assert_eq!((document.values.len(), document.object_fields.len()), (2 * MANY + 2, MANY));
    let fields = format!("{{{}}}", "a{b} ".repeat(MANY / 2));
    let document = unbounded(&fields);
    let Definition::Operation(operation) = document.definitions[0] else { panic!("an operation") };
    assert_eq!(document.list(operation.selections).len(), MANY / 2);
}

#[test]
fn objects_of_many_keys_are_checked_by_hashing() {
    let members: Vec<String> = (0..200_000).map(|n| format!("\"k{n}\":{n}")).collect();
    let text = format!("{{{}}}", members.join(","));
    assert_eq!(Json::parse(text.as_bytes(), 2).unwrap().root().members().count(), 200_000);
    let text = format!("{{{},\"k\\u0030\":0}}", members.join(","));
    assert_eq!(Json::parse(text.as_bytes(), 2).unwrap_err().kind, JsonErrorKind::DuplicateKey);
}

#[test]
fn lone_surrogates_and_points_beyond_unicode_are_refused() {
    for escape in [r"\uD800", r"\uDC00", r"\uD800\uD800", r"\u{D800}", r"\u{110000}", r"\u{FFFFFFFFF}"] {
        check(&format!("{{a(x:\"{escape}\")}}"), Some(Code::Syntax));
    }
    check(r#"{a(x:"\uD83D\uDE00\u{10FFFF}")}"#, None);
    for escape in [r"\ud800", r"\udc00", r"\ud800x", r"\ud800\n"] {
        let error = Json::parse(format!("\"{escape}\"").as_bytes(), 1).unwrap_err();
        assert_eq!((error.kind, error.at), (JsonErrorKind::LoneSurrogate, 1), "{escape}");
    }
}

/// Names are ASCII; string contents are kept byte for byte.
#[test]
fn odd_characters_stand_in_strings_alone() {
    for odd in ["\0", "\u{202E}", "\u{200B}", "e\u{301}", "é", "\u{A0}", "\u{2028}", "\u{7F}"] {
        check(&format!("{{a{odd}b}}"), Some(Code::Syntax));
        let text = format!("{{a(x:\"{odd}\" y:\"\"\"{odd}\"\"\") # {odd}\n}}");
        let document = parse(&text, &Limits::STANDARD).unwrap_or_else(|error| panic!("{}", error.message));
        assert_eq!(document.string(ValueId(0)), odd);
        assert_eq!(document.string(ValueId(1)), odd);
    }
}

/// A syntax error after a long text is found and placed in one pass.
#[test]
fn errors_behind_long_texts_have_their_place() {
    let text = format!("{}{{a(}}", "\r\n".repeat(900_000));
    let error = parse(&text, &Limits::STANDARD).unwrap_err();
    let place = error.locations(&text)[0];
    assert_eq!((place.line, place.column), (900_001, 4));
    assert_eq!(error.message, "Syntax Error: Expected Name, found \"}\".");
}

/// The messages of a schema that cannot be built.
fn faults(sdl: &str) -> Vec<String> {
    let errors = Schema::from_sdl(sdl).err().unwrap_or_default();
    errors.into_iter().map(|error| error.message).collect()
}

/// `count` times `text`, `#` in it being the number and `#next` the one after.
fn times(count: usize, text: &str) -> String {
    (0..count).map(|at| text.replace("#next", &(at + 1).to_string()).replace('#', &at.to_string())).collect()
}

/// Each of these has a fault per line; looking all owners up for each of them would not end.
#[test]
fn schemas_of_many_faults_say_the_first_fifty() {
    const LINES: usize = 100_000;
    for (line, first) in [
        ("a#(x: Int = \"#\"): Int", "Query.a0(x:) has invalid default value: Int cannot represent"),
        ("a#: T#", "Unknown type \"T0\"."),
        ("a: Int a: Int", "Field \"Query.a\" can only be defined once."),
        ("a#(x: Int x: Int): Int", "Argument \"Query.a0(x:)\" can only be defined once."),
        ("a#: Int @none", "Unknown directive \"@none\"."),
        ("a#: Int @deprecated(reason: 1)", "String cannot represent a non string value: an integer"),
        ("__a#: Int", "Name \"__a0\" must not begin with \"__\""),
        ("a#(x: Query): Int", "The type of Query.a0(x:) must be Input Type but got: Query."),
    ] {
        let found = faults(&format!("type Query {{ {} }}", times(LINES, &format!("{line} "))));
        assert!(found[0].starts_with(first), "{}", found[0]);
        assert_eq!(found.len(), 50, "{line}");
    }
}

/// A way of many input types whose last one leads back to each of them: as many circles as types, all long.
#[test]
fn circles_of_input_types_and_defaults_are_found_up_to_the_bound() {
    const TYPES: usize = 20_000;
    let query = "type Query { a(x: I0): Int }";
    for (chain, back, first) in [
        ("input I# { a: I#next! } ", "a#: I#! ", "Cannot reference Input Object \"I0\" within itself"),
        ("input I# { a: I#next = {} } ", "a#: I# = {} ", "Invalid circular reference. The default value of"),
    ] {
        let last = format!("input I{TYPES} {{ {} }}", times(TYPES, back));
        let found = faults(&format!("{query} {} {last}", times(TYPES, chain)));
        assert!(found[0].starts_with(first), "{:.200}", found[0]);
        assert!(found.len() <= 50, "{} errors", found.len());
    }
}

/// Defaults within defaults are copied, so a chain of forty that each need the one before twice cannot be written down.
#[test]
fn defaults_that_double_are_refused_before_they_are_copied() {
    let doubling = |types: usize| {
        let chain = times(types, "input I#next { a: I# = {} b: I# = {} } ");
        faults(&format!("type Query {{ a(x: I{types} = {{}}): Int }} input I0 {{ a: Int = 1 }} {chain}"))
    };
    assert_eq!(doubling(10), [""; 0]);
    let found = doubling(40);
    assert!(
        found[0].ends_with("has invalid default value: Default values make the value too large."),
        "{found:?}"
    );
    assert!(found.len() <= 50);
}
