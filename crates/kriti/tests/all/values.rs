//! Values of expressions.

use crate::support::render;

fn check(template: &str, expected: &str) {
    assert_eq!(render(template).as_deref(), Ok(expected), "{template}");
}

#[test]
fn json_is_itself_with_its_digits() {
    for text in [
        "null",
        "true",
        "1.50",
        "-0.0e-7",
        "12345678901234567890.123456789",
        r#"{"b":[1,{"a":"x"}],"a":{}}"#,
        "[]",
        r#""""#,
    ] {
        check(text, text);
    }
    check(" [ 1 , # a comment with \" and }}\n 2 ] # the end", "[1,2]");
    check(r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#);
}

#[test]
fn expressions_stand_with_and_without_brackets() {
    check(r#"{"a": $body.t}"#, r#"{"a":"text"}"#);
    check(r#"{"a": {{$body.t}}}"#, r#"{"a":"text"}"#);
    check("{{ {{ {{$body.n}} }} }}", "1.50");
    check("{{{\"a\":1}}}", r#"{"a":1}"#);
    check("[{{1}}, ({{2}}), 3]", "[1,2,3]");
    check("({{$body.a}}).b[0]", "10");
    check("$", "7");
}

#[test]
fn paths_lead_into_values() {
    check("$body.a.b[1]", "20");
    check("$body['a']['_id']", r#""x""#);
    check("$body.a['end']", "1");
    check(r#"$body["a"].b"#, "[10,20,null]");
    check("$body.a.b[1.0]", "20");
    check("$body.a.c", "null");
    check("$session_variables.x-hasura-user-id", r#""4""#);
    check("$session_variables['x-hasura-user-id']", r#""4""#);
    check("[1,2][1]", "2");
    check(r#"{"a":1}.a"#, "1");
    check("$body.a . b [ 1 ]", "20");
}

#[test]
fn one_question_mark_covers_the_chain_behind_it() {
    check("$body?.x.y.z", "null");
    check("$body?.a.b[0]", "10");
    check("$body?['a']['zz']", "null");
    check("$body.a?.b[7]", "null");
    check("$body?.t.x", "null");
    check("$body?.n[0]", "null");
    check("$nothing?.a", "null");
    check("$body.zz?.a", "null");
    check("$body.a.c?.x", "null");
    check("$body.a?", r#"{"b":[10,20,null],"c":null,"end":1,"_id":"x"}"#);
}

#[test]
fn a_default_stands_for_null_alone() {
    check("$body.a.c ?? 1", "1");
    check("$body?.x ?? 1", "1");
    check("$body.n ?? 1", "1.50");
    check("false ?? 1", "false");
}

#[test]
fn equality_is_deep_and_without_conversion() {
    for (template, expected) in [
        ("1 == 1.0", true),
        ("[1, {\"a\": 1e2}] == [1.0, {\"a\": 100}]", true),
        (r#"{"a":1,"b":2} == {"b":2,"a":1}"#, true),
        (r#"1 == "1""#, false),
        ("null == false", false),
        ("1 != 2", true),
        ("9007199254740993 == 9007199254740992", false),
    ] {
        check(template, if expected { "true" } else { "false" });
    }
}

#[test]
fn kinds_have_an_order() {
    let sorted = [
        "{}",
        r#"{"a":1}"#,
        "[]",
        "[1]",
        "[2]",
        r#""""#,
        r#""a""#,
        r#""b""#,
        "1",
        "2",
        "false",
        "true",
        "null",
    ];
    for (at, one) in sorted.iter().enumerate() {
        for (other_at, other) in sorted.iter().enumerate() {
            for (sign, holds) in [
                ("<", at < other_at),
                ("<=", at <= other_at),
                (">", at > other_at),
                (">=", at >= other_at),
                ("==", at == other_at),
            ] {
                check(&format!("{one} {sign} {other}"), if holds { "true" } else { "false" });
            }
        }
    }
}

#[test]
fn in_looks_at_keys_and_items() {
    check(r#""t" in $body"#, "true");
    check(r#""zz" in $body"#, "false");
    check("20.0 in $body.a.b", "true");
    check("[1] in [[1], 2]", "true");
    check("null in []", "false");
}

#[test]
fn booleans_are_combined() {
    check("true && false", "false");
    check("true || false", "true");
    check("(true && true) && ($body.n > 1)", "true");
    check("not false", "true");
    check("not(true) && false", "true");
    check("(not true) && false", "false");
    check("not not true", "true");
}

#[test]
fn only_the_branch_taken_is_evaluated() {
    check("{{if true}} 1 {{else}} $nothing {{end}}", "1");
    check("{{if false}} $nothing {{elif $body.yes}} {{$body.n}} {{else}} 3 {{end}}", "1.50");
    check("{{ if false }}1{{ elif false }}2{{ else }}3{{ end }}", "3");
    check(r#"{"a": {{if true}} {{if false}} 1 {{else}} 2 {{end}} {{else}} 3 {{end}}}"#, r#"{"a":2}"#);
    check("{{if true}}1{{else}}2{{end}} == 1", "true");
}

#[test]
fn a_range_makes_a_list() {
    check(
        "{{range i, x := $body.rows}} {\"at\": i, \"id\": x.id} {{end}}",
        r#"[{"at":0,"id":1},{"at":1,"id":2}]"#,
    );
    check("{{range _, x := [1,2]}} {{range _, x := [x, 3]}} x {{end}} {{end}}", "[[1,3],[2,3]]");
    check("{{range i, i := [5]}} i {{end}}", "[5]");
    check("{{range _, x := []}} $nothing {{end}}", "[]");
    check("{{range $i, $x := [1]}} [$i, $x] {{end}}", "[[0,1]]");
}

#[test]
fn texts_take_values_as_json() {
    check(r#""a {{$body.t}} b""#, r#""a text b""#);
    check(r#""{{$body.a.c}}""#, r#""null""#);
    check(r#""{{$body.n}}{{true}}{{ {"a": [1]} }}""#, r#""1.50true{\"a\":[1]}""#);
    check(r#""{{ $body["a"]["_id"] }}""#, r#""x""#);
    check(r#""{{ "{{ "inner" }}" }}""#, r#""inner""#);
    check(r#""{{if $body.yes}}"y"{{else}}"n"{{end}}!""#, r#""y!""#);
    check(r#""{ a } {b}""#, r#""{ a } {b}""#);
    check(r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\{{""#, "\"\\\"\\\\/\\b\\f\\n\\r\\té😀{{\"");
    check("\"a\nb # no comment\"", r#""a\nb # no comment""#);
}

#[test]
fn bare_values_keep_their_kind() {
    check("{{$body.n}}", "1.50");
    check(r#"["{{$body.n}}", {{$body.n}}]"#, r#"["1.50",1.50]"#);
}
