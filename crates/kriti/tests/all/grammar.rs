//! Texts that are no templates, with the token at which they stop.

use crate::support::render;
use weir_kriti::{ErrorCode, Template};

fn check(template: &str, code: ErrorCode, message: &str) {
    let error = Template::parse(template).expect_err("it is no template");
    assert_eq!((error.code, error.message.as_str()), (code, message), "{template}");
}

#[test]
fn operators_do_not_chain() {
    check("true && true && true", ErrorCode::Parse, "Unexpected token '&'.");
    check("1 < 2 == true", ErrorCode::Parse, "Unexpected token '='.");
    check("size($body) > 2", ErrorCode::Parse, "Unexpected token '>'.");
    check("1 == not true", ErrorCode::Parse, "Unexpected token 'not'.");
    check("{{1}} == 1", ErrorCode::Parse, "Unexpected token '='.");
    check("1 + 2", ErrorCode::Lex, "Invalid Lexeme: '+'.");
    check("$body.n -1", ErrorCode::Parse, "Unexpected token '-'.");
}

#[test]
fn there_is_no_arithmetic() {
    let error = render("a-b").expect_err("it is one name");
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::Name, "Variable 'a-b' not in scope"));
}

#[test]
fn names_begin_with_a_letter() {
    check("$body._id", ErrorCode::Parse, "Unexpected token '_'.");
    check("$body.__typename", ErrorCode::Parse, "Unexpected token '_'.");
    for word in ["if", "elif", "else", "end", "null", "range", "in", "not", "true", "false"] {
        check(&format!("$body.{word}"), ErrorCode::Parse, &format!("Unexpected token '{word}'."));
    }
    assert_eq!(render("$body.a['_id']").as_deref(), Ok("\"x\""));
}

#[test]
fn else_is_required() {
    check("{{if true}} 1 {{end}}", ErrorCode::Parse, "Unexpected token 'end'.");
    check("{{if true}} 1 {{else}} 2", ErrorCode::Parse, "Unexpected end of the template.");
    check("{{else}} 2", ErrorCode::Parse, "Unexpected token 'else'.");
    check("{{range i := []}} 1 {{end}}", ErrorCode::Parse, "Unexpected token ':'.");
}

#[test]
fn json_is_strict() {
    check("[1,]", ErrorCode::Parse, "Unexpected token ']'.");
    check("{\"a\":1,}", ErrorCode::Parse, "Unexpected token '}'.");
    check("{1:1}", ErrorCode::Parse, "Unexpected token '1'.");
    check("{\"{{a}}\":1}", ErrorCode::Parse, "A key of an object is a text without expressions.");
    check("{ {\"a\":1} }", ErrorCode::Parse, "Unexpected token '{'.");
    check("01", ErrorCode::Lex, "Invalid Lexeme: '01'.");
    check("1.", ErrorCode::Lex, "Invalid Lexeme: '1.'.");
    check("'a'", ErrorCode::Parse, "Unexpected token '''.");
    check("", ErrorCode::Parse, "Unexpected end of the template.");
    check("1 2", ErrorCode::Parse, "Unexpected token '2'.");
    check("é", ErrorCode::Lex, "Invalid Lexeme: 'é'.");
}

#[test]
fn texts_end_and_have_known_escapes() {
    check("\"a", ErrorCode::Lex, "A text in double quotes does not end.");
    check("$body['a", ErrorCode::Lex, "A text in single quotes does not end.");
    check(r#""\x""#, ErrorCode::Lex, r"Invalid Lexeme: '\x'.");
    check(r#""\u12""#, ErrorCode::Lex, r"Invalid Lexeme: '\u'.");
    check(r#""\ud800a""#, ErrorCode::Lex, r"Invalid Lexeme: '\ud800'.");
    check(r#""{{1}""#, ErrorCode::Parse, "Unexpected token '}'.");
}

#[test]
fn a_quoted_template_is_a_text() {
    let scope = crate::support::scope();
    let limits = weir_kriti::EvaluationLimits::USUAL;
    let render = |text: &str| {
        Template::parse_quoted(text).and_then(|it| it.render(&scope, limits)).map_err(|it| it.message)
    };
    assert_eq!(render("a/{{$body.t}}").as_deref(), Ok("\"a/text\""));
    assert_eq!(render("{{$body.n}}").as_deref(), Ok("\"1.50\""));
    assert_eq!(render(r#"{{$body["t"]}} \"b\""#).as_deref(), Ok("\"text \\\"b\\\"\""));
    assert_eq!(render("").as_deref(), Ok("\"\""));
    assert_eq!(render("a\"b"), Err("Unexpected token 'b'.".to_owned()));
    assert_eq!(render("\" == \""), Err("Unexpected token '\"'.".to_owned()));
}
