//! Functions, each with all kinds of arguments.

use crate::support::render;
use weir_kriti::ErrorCode;

const KINDS: [(&str, &str); 6] = [
    ("{\"a\":1}", "Object"),
    ("[1]", "Array"),
    ("\"a\"", "String"),
    ("1", "Number"),
    ("true", "Boolean"),
    ("null", "Null"),
];

/// Checks values of `function`; arguments of kinds that no case has are refused.
fn check(function: &str, cases: &[(&str, &str)], kinds: &[&str]) {
    for (argument, expected) in cases {
        let value = render(&format!("{function}({argument})"));
        assert_eq!(value.as_deref(), Ok(*expected), "{function}({argument})");
    }
    for (argument, kind) in KINDS.iter().filter(|it| !kinds.contains(&it.1)) {
        let error = render(&format!("{function}({argument})")).expect_err("it is no argument");
        let message = format!("The function '{function}' takes no '{kind}'.");
        assert_eq!((error.code, error.message), (ErrorCode::Function, message));
    }
}

fn check_refused(call: &str, code: ErrorCode, message: &str) {
    let error = render(call).expect_err("it has no value");
    assert_eq!((error.code, error.message.as_str()), (code, message), "{call}");
}

#[test]
fn sizes() {
    let empty = [
        ("{}", "true"),
        ("[0]", "false"),
        ("\" \\n\"", "true"),
        ("\" a\"", "false"),
        ("0.0", "true"),
        ("1", "false"),
        ("null", "true"),
    ];
    check("empty", &empty, &["Object", "Array", "String", "Number", "Null"]);
    let size = [
        ("{\"a\":1}", "1"),
        ("[1,2]", "2"),
        ("\"é😀\"", "2"),
        ("1.50", "1.50"),
        ("true", "1"),
        ("false", "0"),
        ("null", "0"),
    ];
    check("size", &size, &["Object", "Array", "String", "Number", "Boolean", "Null"]);
}

#[test]
fn parts() {
    check("head", &[("[1,2]", "1"), ("\"éa\"", "\"é\"")], &["Array", "String"]);
    check("tail", &[("[1,2]", "[2]"), ("[1]", "[]"), ("\"éa\"", "\"a\"")], &["Array", "String"]);
    for function in ["head", "tail"] {
        check_refused(&format!("{function}([])"), ErrorCode::Function, "Empty array");
        check_refused(&format!("{function}(\"\")"), ErrorCode::Function, "Empty string");
    }
    check("removeNulls", &[("[1,null,[null]]", "[1,[null]]")], &["Array"]);
    check(
        "inverse",
        &[
            ("[1,2]", "[2,1]"),
            ("\"aé\"", "\"éa\""),
            ("4", "0.25"),
            ("true", "false"),
            ("{\"a\":1}", "{\"a\":1}"),
            ("null", "null"),
        ],
        &["Object", "Array", "String", "Number", "Boolean", "Null"],
    );
    check_refused("inverse(0)", ErrorCode::Function, "The inverse of 0 is no number.");
}

#[test]
fn texts() {
    check("toLower", &[("\"AÉ\"", "\"aé\"")], &["String"]);
    check("toUpper", &[("\"aß\"", "\"ASS\"")], &["String"]);
    check("toTitle", &[("\"hELLO wORLD-of 3d it's\"", "\"Hello World-Of 3D It's\"")], &["String"]);
    check("toCaseFold", &[("\"Straße ΣΑΣ ı\"", "\"strasse σασ ı\"")], &["String"]);
    check("escapeUri", &[("\"a b/é?&=~-._\"", "\"a%20b%2F%C3%A9%3F%26%3D~-._\"")], &["String"]);
}

#[test]
fn pairs() {
    check("toPairs", &[(r#"{"b":1,"a":2}"#, r#"[["a",2],["b",1]]"#)], &["Object"]);
    let pairs = [(r#"[["a",1],["b",2],["a",3]]"#, r#"{"a":3,"b":2}"#), ("[]", "{}")];
    check("fromPairs", &pairs, &["Array"]);
    for argument in ["[1]", "[[1,2]]", "[[\"a\"]]"] {
        let call = format!("fromPairs({argument})");
        check_refused(&call, ErrorCode::Function, "A pair is a list of a text and a value.");
    }
    let parts = [
        ("[[1],[2,3]]", "[1,2,3]"),
        (r#"["a","b"]"#, r#""ab""#),
        (r#"[{"a":1,"b":1},{"a":2}]"#, r#"{"a":2,"b":1}"#),
        ("[]", "[]"),
    ];
    check("concat", &parts, &["Array"]);
    for argument in ["[[1],2]", "[1]", "[\"a\",1]", "[{},[]]"] {
        let message = "The function 'concat' takes arrays, texts or objects alone.";
        check_refused(&format!("concat({argument})"), ErrorCode::Function, message);
    }
}

#[test]
fn session_variables() {
    let cases = [("\"X-Hasura-Role\"", "\"user\""), ("null", "null")];
    check("getSessionVariable", &cases, &["String", "Null"]);
    let message = "Session variable \"x-none\" not found";
    check_refused("getSessionVariable(\"x-none\")", ErrorCode::Function, message);
}

#[test]
fn others() {
    check_refused("nothing(1)", ErrorCode::Name, "Function 'nothing' not in scope");
    assert_eq!(render("(size($body.t)) > 2").as_deref(), Ok("true"));
    assert_eq!(render("size ( concat([[1],[2]]) )").as_deref(), Ok("2"));
}

#[test]
fn large_objects_find_their_keys() {
    let pairs: Vec<String> = (0..100).map(|it| format!("[\"k{it}\",{it}]")).collect();
    let object = format!("(fromPairs([{}, [\"k7\", 0]]))", pairs.join(","));
    assert_eq!(render(&format!("{object}.k7")).as_deref(), Ok("0"));
    assert_eq!(render(&format!("{object}.k99")).as_deref(), Ok("99"));
    assert_eq!(render(&format!("\"k100\" in {object}")).as_deref(), Ok("false"));
}
