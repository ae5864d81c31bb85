//! Limits of templates and evaluations.

use crate::support::{render, value};
use weir_kriti::{DEPTH_MAX, ErrorCode, EvaluationLimits, Scope, TEMPLATE_BYTES_MAX, Template};

fn check(template: &str, message: &str) {
    let error = render(template).expect_err("it is beyond a limit");
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::Limit, message));
}

#[test]
fn depth() {
    let nest = |count: usize, open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(count), close.repeat(count))
    };
    let most = DEPTH_MAX as usize;
    let message = format!("A template is nested at most {DEPTH_MAX} deep.");
    for (open, close) in [
        ("[", "]"),
        ("{\"a\":", "}"),
        ("(", ")"),
        ("{{", "}}"),
        ("size(", ")"),
        ("not ", ""),
        ("\"{{", "}}\""),
        ("a[", "]"),
    ] {
        check(&nest(100_000 / open.len(), open, "1", close), &message);
        assert!(Template::parse(&nest(most - 1, open, "1", close)).is_ok(), "{open}");
    }
    check(&nest(10_000, "{{if true}} ", "1", " {{else}} 1 {{end}}"), &message);
    check(&nest(10_000, "{{range _, x := ", "1", "}} 1 {{end}}"), &message);
    let chain = format!("$body?{}", ".a".repeat(10_000));
    assert_eq!(render(&chain).as_deref(), Ok("null"));
}

#[test]
fn bytes_of_a_template() {
    let message = format!("A template has at most {TEMPLATE_BYTES_MAX} bytes.");
    check(&" ".repeat(TEMPLATE_BYTES_MAX + 1), &message);
}

#[test]
fn steps() {
    let message = "A template takes at most 1000000 steps.";
    let list = format!("[{}0]", "0,".repeat(999));
    let range = |inner: &str| format!("{{{{range _, x := {list}}}}} {inner} {{{{end}}}}");
    check(&range(&range(&range("1"))), message);
}

/// Bindings whose values double with each level: in memory they are small.
fn doubled(levels: usize, inner: &str) -> String {
    let mut template = inner.replace('X', &format!("x{levels}"));
    for level in (1..=levels).rev() {
        let before = level - 1;
        template = format!("{{{{range _, x{level} := [[x{before}, x{before}]]}}}} {template} {{{{end}}}}");
    }
    format!("{{{{range _, x0 := [[1]]}}}} {template} {{{{end}}}}")
}

#[test]
fn bytes_of_a_value() {
    let message = "A template makes at most 16777216 bytes.";
    check(&doubled(40, "X"), message);
    check(&doubled(40, "\"{{X}}\""), message);
    let text = "a".repeat(100_000);
    let list = format!("[{}0]", "0,".repeat(999));
    check(&format!("{{{{range _, x := {list}}}}} \"{{{{\"{text}\"}}}}\" {{{{end}}}}"), message);
    check(&format!("{{{{range _, x := {list}}}}} concat([\"{text}\"]) {{{{end}}}}"), message);
}

#[test]
fn comparisons_take_steps() {
    let twice = doubled(40, "([X, 1]) == ([X, 2])");
    assert!(render(&twice).is_ok(), "what is shared is equal at once");
    let one = doubled(30, "X");
    check(&format!("({one}) == ({one})"), "A template takes at most 1000000 steps.");
}

#[test]
fn a_question_mark_does_not_hide_a_limit() {
    let scope = Scope::default().with("$body", value("{}"));
    let template = Template::parse("(concat([[1,2,3,4,5,6,7,8]]))?.a").expect("it is a template");
    let limits = EvaluationLimits { steps_max: 10, bytes_max: 1000 };
    let error = template.render(&scope, limits).expect_err("it takes more steps");
    assert_eq!(error.code, ErrorCode::Limit);
}
