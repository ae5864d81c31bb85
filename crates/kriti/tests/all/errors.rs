//! Errors of evaluation: codes, Kriti's words, and places.

use crate::support::render;

/// The error as JSON: its code, message, and lines and columns of its start and end.
fn check(template: &str, code: &str, message: &str, place: [u32; 4]) {
    let error = render(template).expect_err("it has no value");
    let mut json = String::new();
    error.write_json(&mut json);
    let [start_line, start_column, end_line, end_column] = place;
    let expected = format!(
        "{{\"error_code\":\"{code}\",\"message\":\"{message}\",\"source_position\":{{\"start_line\":{start_line},\
         \"start_column\":{start_column},\"end_line\":{end_line},\"end_column\":{end_column}}}}}"
    );
    assert_eq!(json, expected, "{template}");
}

#[test]
fn names() {
    check("x", "Name Error", "Variable 'x' not in scope", [0, 0, 0, 1]);
    check("$nothing", "Name Error", "Variable '$nothing' not in scope", [0, 0, 0, 8]);
    check("{\n  \"é\": nothing\n}", "Name Error", "Variable 'nothing' not in scope", [1, 7, 1, 14]);
    check("{{range i, x := [1]}} i {{end}} == i", "Name Error", "Variable 'i' not in scope", [0, 35, 0, 36]);
}

#[test]
fn missing_is_an_error() {
    check("$body.x", "Attribute Error", "'Object' has no attritubte 'x'.", [0, 5, 0, 7]);
    check("$body.a.x.b", "Attribute Error", "'Object' has no attritubte 'x'.", [0, 7, 0, 9]);
    check("$body.b", "Attribute Error", "'Object' has no attritubte 'b'.", [0, 5, 0, 7]);
    check("$body['x']", "Attribute Error", "'Object' has no attritubte 'x'.", [0, 5, 0, 10]);
    check("$body.x ?? 1", "Attribute Error", "'Object' has no attritubte 'x'.", [0, 5, 0, 7]);
}

#[test]
fn kinds() {
    let whole = "Couldn't match expected type 'Object' with actual type 'String'";
    check("$body.t.x", "Type Error", whole, [0, 7, 0, 9]);
    let words = |expected: &str, actual: &str| {
        format!("Couldn't match expected type '{expected}' with actual type '{actual}'")
    };
    for (template, expected, actual, place) in [
        ("$body.t.x", "Object", "String", [0, 7, 0, 9]),
        ("$body.a.c.x", "Object", "Null", [0, 9, 0, 11]),
        ("$body.t[0]", "Array", "String", [0, 7, 0, 10]),
        ("$body[true]", "String", "Boolean", [0, 5, 0, 11]),
        ("$body.a.b[null]", "Number", "Null", [0, 9, 0, 15]),
        ("$body.t?.x", "Object", "String", [0, 0, 0, 7]),
        ("true?.x", "Object", "Boolean", [0, 0, 0, 4]),
        ("false && 1", "Boolean", "Number", [0, 9, 0, 10]),
        ("true || null", "Boolean", "Null", [0, 8, 0, 12]),
        ("not 1", "Boolean", "Number", [0, 4, 0, 5]),
        ("{{if null}} 1 {{else}} 2 {{end}}", "Boolean", "Null", [0, 5, 0, 9]),
        ("{{range i, x := $body}} 1 {{end}}", "Array", "Object", [0, 16, 0, 21]),
        ("1 in $body", "String", "Number", [0, 0, 0, 1]),
        ("\"e\" in $body.t", "Array", "String", [0, 7, 0, 14]),
    ] {
        check(template, "Type Error", &words(expected, actual), place);
    }
}

#[test]
fn indices() {
    for template in ["$body.a.b[3]", "$body.a.b[-1]", "$body.a.b[1.5]", "$body.a.b[1e99]"] {
        let end = u32::try_from(template.len()).expect("it is short");
        check(template, "Index Error", "Can only range over an array", [0, 9, 0, end]);
    }
}

#[test]
fn functions() {
    let words = "Session variable \\\"x-none\\\" not found";
    check("getSessionVariable(\"x-none\")", "Function Error", words, [0, 0, 0, 28]);
    check("[tail([])]", "Function Error", "Empty array", [0, 1, 0, 9]);
}
