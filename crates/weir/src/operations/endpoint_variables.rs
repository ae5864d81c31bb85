//! Variables of an endpoint's operation, and the JSON for values in a URL or form.
//!
//! **Invariant:** a number keeps the digits that were sent.

use weir_language::ast::{Document, VariableDefinition};
use weir_language::json::Json;
use weir_language::string_value::write_json;
use weir_transport::parameters::decode_percent;

/// Types whose values become JSON numbers, if the text is one.
const NUMBERS: [&str; 6] = ["Int", "Float", "Number", "Double", "float8", "numeric"];

/// A variable that an operation declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) name: String,
    /// The named type.
    pub(crate) ty: String,
    pub(crate) is_list: bool,
    pub(crate) is_nullable: bool,
    /// Default value as written.
    pub(crate) default: Option<String>,
}

impl Declared {
    pub(crate) fn new(document: &Document<'_>, variable: &VariableDefinition) -> Self {
        let mut text = String::new();
        variable.ty.wraps.write("", &mut text);
        Self {
            name: document.str(variable.name).to_owned(),
            ty: document.str(variable.ty.name).to_owned(),
            is_list: text.contains('['),
            is_nullable: !text.ends_with('!'),
            default: variable.default.map(|it| document.str(document.value(it).span).to_owned()),
        }
    }

    /// JSON of a text; `None` if the variable stays unset.
    /// # Errors
    /// Hasura's message for a list.
    pub(crate) fn json(&self, text: &str) -> Result<Option<String>, String> {
        let mut string = String::new();
        write_json(text, &mut string);
        if self.is_list {
            let name = &self.name;
            return Err(format!(
                "List variables are not currently supported in URL or Query parameters. (Variable {name}, with value {string})"
            ));
        }
        let is_number = || Json::parse(text.as_bytes(), 1).is_ok_and(|it| it.root().as_number().is_some());
        Ok(match text {
            "" if self.ty == "Boolean" => Some("true".to_owned()),
            "" if self.is_nullable => None,
            "true" | "false" if self.ty == "Boolean" => Some(text.to_owned()),
            _ if NUMBERS.contains(&self.ty.as_str()) && is_number() => Some(text.trim().to_owned()),
            _ => Some(string),
        })
    }
}

/// Names and texts of a query string or form; nothing if they are no UTF-8.
pub(crate) fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let pair = |it: &str| {
        let (name, value) = it.split_once('=').unwrap_or((it, ""));
        Some((decode_percent(name, true)?, decode_percent(value, true)?))
    };
    text.split('&').filter(|it| !it.is_empty()).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ty: &str, text: &str, expected: Option<&str>) {
        let named = ty.trim_end_matches('!');
        let is_nullable = !ty.ends_with('!');
        let declared =
            Declared { name: "v".into(), ty: named.into(), is_list: false, is_nullable, default: None };
        assert_eq!(declared.json(text), Ok(expected.map(str::to_owned)), "{ty}: {text}");
    }

    #[test]
    fn texts_are_coerced_by_the_declared_type() {
        for (ty, text, expected) in [
            ("Boolean", "true", Some("true")),
            ("Boolean!", "false", Some("false")),
            ("Boolean", "", Some("true")),
            ("Boolean", "yes", Some("\"yes\"")),
            ("Int", "7", Some("7")),
            ("Int!", "-7e2", Some("-7e2")),
            ("numeric", "1.50000000000000000001", Some("1.50000000000000000001")),
            ("float8", "1.5", Some("1.5")),
            ("Int", "07", Some("\"07\"")),
            ("Int", "seven", Some("\"seven\"")),
            ("Int", "", None),
            ("Int!", "", Some("\"\"")),
            ("String", "7", Some("\"7\"")),
            ("String", "a \"b\"", Some("\"a \\\"b\\\"\"")),
            ("String", "", None),
            ("String!", "", Some("\"\"")),
            ("ID", "7", Some("\"7\"")),
            ("bigint", "9007199254740993", Some("\"9007199254740993\"")),
            ("uuid", "1e3", Some("\"1e3\"")),
            ("timestamptz", "2026-01-01", Some("\"2026-01-01\"")),
            ("jsonb", "{}", Some("\"{}\"")),
        ] {
            check(ty, text, expected);
        }
    }

    #[test]
    fn a_list_is_refused_in_hasura_s_words() {
        let declared = Declared {
            name: "ids".into(),
            ty: "Int".into(),
            is_list: true,
            is_nullable: true,
            default: None,
        };
        let expected = "List variables are not currently supported in URL or Query parameters. (Variable ids, with value \"1,2\")";
        assert_eq!(declared.json("1,2"), Err(expected.to_owned()));
    }

    #[test]
    fn queries_and_forms_are_percent_decoded() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            pairs("a=1+2&b%20c=%C3%A9&&flag"),
            Some(vec![pair("a", "1 2"), pair("b c", "é"), pair("flag", "")])
        );
        assert_eq!(pairs("a=%ff"), None);
    }
}
