//! `validate(…)` of a field: the arguments of the directive `@validate`, in snake case.
//!
//! **Invariant:** accepted checks are arguments of the directive, each once. A pattern is compiled when the schema is built.

use proc_macro2::Group;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{Lit, LitFloat, LitInt, LitStr, Token, bracketed, token};

/// The value of a check.
#[derive(Clone, Copy)]
enum CheckValue {
    Length,
    Bound,
    Text,
    Texts,
}

/// A check: its name here, its name in the directive, its value, and an example.
type KnownCheck = (&'static str, &'static str, CheckValue, &'static str);

const CHECKS: [KnownCheck; 6] = [
    ("min_length", "minLength", CheckValue::Length, "min_length = 1"),
    ("max_length", "maxLength", CheckValue::Length, "max_length = 80"),
    ("min", "min", CheckValue::Bound, "min = 0"),
    ("max", "max", CheckValue::Bound, "max = 9.5"),
    ("pattern", "pattern", CheckValue::Text, "pattern = \"^[a-z]+$\""),
    ("one_of", "oneOf", CheckValue::Texts, "one_of = [\"a\", \"b\"]"),
];

/// Reads `(min_length = 1, max = 10)` as `minLength: 1, max: 10`.
pub(crate) fn read(meta: &ParseNestedMeta<'_>) -> syn::Result<String> {
    let mut arguments: Vec<(&str, String)> = Vec::new();
    // Empty parentheses are handled here: syn would refuse them with a message of its own.
    if meta.input.fork().parse::<Group>().is_ok_and(|it| !it.stream().is_empty()) {
        meta.parse_nested_meta(|check| {
            let known = CHECKS.iter().find(|it| check.path.is_ident(it.0));
            let (name, argument, value, example) = *known.ok_or_else(|| unknown_check(&check))?;
            if arguments.iter().any(|it| it.0 == argument) {
                return Err(check.error(format!("`{name}` is there twice")));
            }
            arguments.push((argument, literal(&check, value, example)?));
            Ok(())
        })?;
    }
    if arguments.is_empty() {
        return Err(meta.error("`validate` needs a check: `validate(min = 1, max = 10)`"));
    }
    let arguments: Vec<String> = arguments.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    Ok(arguments.join(", "))
}

fn unknown_check(check: &ParseNestedMeta<'_>) -> syn::Error {
    let known: Vec<String> = CHECKS.iter().map(|it| format!("`{}`", it.0)).collect();
    check.error(format!("unknown check; known: {}", known.join(", ")))
}

/// The GraphQL literal of a check's value.
fn literal(check: &ParseNestedMeta<'_>, value: CheckValue, example: &str) -> syn::Result<String> {
    let unfit = |error: syn::Error| {
        let what = match value {
            CheckValue::Length => "a whole number that is not negative",
            CheckValue::Bound => "a number",
            CheckValue::Text => "a text",
            CheckValue::Texts => "a list of texts",
        };
        syn::Error::new(error.span(), format!("the value of this check is {what}: `{example}`"))
    };
    let input = check.value().map_err(unfit)?;
    match value {
        CheckValue::Length => {
            let number: LitInt = input.parse().map_err(unfit)?;
            // The directive takes an `Int`, which has 31 bits above zero.
            let length = number.base10_parse::<i32>().ok().filter(|it| *it >= 0);
            length.map(|it| it.to_string()).ok_or_else(|| unfit(syn::Error::new(number.span(), "")))
        }
        CheckValue::Bound => match input.parse::<Lit>().map_err(unfit)? {
            Lit::Int(number) => Ok(number.base10_digits().to_owned()),
            Lit::Float(number) => Ok(float(&number)),
            other => Err(unfit(syn::Error::new(other.span(), ""))),
        },
        CheckValue::Text => input.parse().map_err(unfit).map(|it: LitStr| graphql_string(&it.value())),
        CheckValue::Texts if !input.peek(token::Bracket) => Err(unfit(input.error(""))),
        CheckValue::Texts => {
            let content;
            bracketed!(content in input);
            let texts = Punctuated::<LitStr, Token![,]>::parse_terminated(&content).map_err(unfit)?;
            let texts: Vec<String> = texts.iter().map(|it| graphql_string(&it.value())).collect();
            Ok(format!("[{}]", texts.join(", ")))
        }
    }
}

/// GraphQL has no `1.`, which is `1.0`.
fn float(number: &LitFloat) -> String {
    let digits = number.base10_digits();
    if digits.ends_with('.') { format!("{digits}0") } else { digits.to_owned() }
}

/// A GraphQL string.
///
/// Source: GraphQL specification, section 2.9.4.
fn graphql_string(text: &str) -> String {
    let escaped = |it: char| match it {
        '"' | '\\' => format!("\\{it}"),
        it if it.is_control() => format!("\\u{:04X}", u32::from(it)),
        it => it.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}
