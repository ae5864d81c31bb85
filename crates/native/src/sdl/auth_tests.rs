//! Rules and the line of tokens: what is refused, in the words of Dgraph.

use super::read;
use weir_language::error::Error;

const TYPES: &str = "type S { a: String } type T @auth(query: RULE) { a: String @search(by: [hash]) }";
const ONE: &str = "there should be only one of \"and\", \"or\", \"not\" and \"rule\"";

fn rule(text: &str) -> String {
    format!("{{rule: \"{}\"}}", text.replace('"', "\\\""))
}

fn first_message(errors: &[Error]) -> &str {
    errors.first().map_or("", |it| it.message.as_str())
}

/// The rule is refused with these words.
#[track_caller]
fn check_refused(rule: &str, expected: &str) {
    let text = TYPES.replace("RULE", rule);
    let Err(errors) = read(&text) else { panic!("accepted: {rule}") };
    assert_eq!(first_message(&errors), format!("Type T: @auth: {expected}"), "{rule}");
}

#[test]
fn rules_in_rules_are_refused_in_the_words_of_dgraph() {
    let sound = rule("{ $A: { eq: 1 } }");
    check_refused("{}", &format!("no arguments - {ONE}"));
    check_refused("null", &format!("no arguments - {ONE}"));
    check_refused(&format!("{{rule: \"{{ $A: {{ eq: 1 }} }}\", not: {sound}}}"), ONE);
    check_refused("{or: []}", ONE);
    check_refused(&format!("{{or: [{sound}]}}"), "'OR' should contain at least two rules");
    check_refused(&format!("{{and: [{sound}]}}"), "'AND' should contain at least two rules");
}

#[test]
fn tests_of_claims_are_refused_in_the_words_of_dgraph() {
    let check = |text: &str, expected: &str| check_refused(&rule(text), expected);
    check("{ $A }", "`{ $A }` is not a valid rule.");
    check("{ A: { eq: 1 } }", "`A` is not a valid GraphQL variable.");
    check("{ $A: { eq: x } }", "`$A` is not a valid GraphQL variable.");
    check("{ $A: { has: 1 } }", "`has` operator is not supported.");
    check("{ $A: { eq: null } }", "`eq` operator has invalid value. null values aren't supported.");
    let list = "`eq` operator has invalid value `[1]`. Array values in eq operator will not be supported.";
    check("{ $A: { eq: [1] } }", list);
    check("{ $A: { in: 1 } }", "`in` operator has invalid value `1`. Value should be an array.");
    let text = "`regexp` operator has invalid value `1`. Value should be of type String.";
    check("{ $A: { regexp: 1 } }", text);
    check_refused(r#"{rule: """{ $A: { regexp: "(" } }"""}"#, "`$A` does not have a valid regex expression.");
}

#[test]
fn queries_are_refused_in_the_words_of_dgraph() {
    let check = |text: &str, expected: &str| check_refused(&rule(text), expected);
    let two = "query { queryT { a } } query B { queryT { a } }";
    check(two, "a rule should be exactly one query, found 2 GraphQL operations");
    let two = "query { queryT { a } aggregateT { count } }";
    check(two, "a rule should be exactly one query, found 2 queries");
    check("query { queryS { a } }", "expected only queryT rules,but found queryS");
    let invalid = |text: &str, reason: &str| {
        check(text, &format!("failed to validate GraphQL rule [reason : {reason}]"));
    };
    invalid("query { queryT { b } }", "Cannot query field \"b\" on type \"T\".");
    invalid("query($A: String!) { queryT { a } }", "Variable \"$A\" is never used.");
    invalid(
        "query($F: TFilter) { queryT(filter: $F) { a } }",
        "`$F` is of type TFilter: a claim is a scalar or a list of such",
    );
    invalid(
        "query($A: Boolean!) { queryT { a @include(if: $A) } }",
        "`@skip` and `@include` have no place in a rule",
    );
    invalid(
        "query { queryT(first: 1) { a } }",
        "`first` and `offset` have no place in a rule: it finds all objects",
    );
    invalid(
        "query($A: String) { queryT(filter: { a: { in: [\"x\", $A] } }) { a } }",
        "a list with variables in it is not taken: let one claim be the list",
    );
    let text = rule("query {");
    let Err(errors) = read(&TYPES.replace("RULE", &text)) else { panic!("accepted") };
    assert!(first_message(&errors).starts_with("Type T: @auth: failed to parse GraphQL rule [reason : "));
}

#[test]
fn a_block_string_needs_no_escapes_and_a_line_stands_once() {
    let types = TYPES.replace("RULE", "{rule: \"\"\"{ $A: { in: [1, \"x\"] } }\"\"\"}");
    let model = read(&types).expect("it is sound").model;
    assert!(model.types[1].auth.query.is_some());
    let union = "union U @auth(query: {rule: \"{ $A: { eq: 1 } }\"}) = T type T { a: Int }";
    let errors = read(union).expect_err("it is refused");
    assert_eq!(first_message(&errors), "`@auth` stands on a type, not on a union: move it");
    let line = "# Dgraph.Authorization X ns HS256 \"k\"";
    let twice = format!("type T {{ a: Int }}\n  {line}\n{line}\n");
    let errors = read(&twice).expect_err("it is refused");
    let words = "Dgraph.Authorization should be only be specified once in a schema, found second mention:";
    assert_eq!(first_message(&errors), format!("{words} {line}"));
    assert_eq!(errors[0].locations(&twice)[0].line, 3);
}
