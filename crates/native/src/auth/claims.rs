//! Claims of a token: tests of rules, and the session variables that queries of rules read.

use crate::model::ClaimTest;
use regex::Regex;
use weir_engine::caller::{TOKEN_PREFIX, Token};
use weir_language::json::{Json, JsonKind, JsonRef};

/// Claims nest no deeper; the token was read within this bound.
const DEPTH_MAX: u32 = 64;

/// A claim that a query of a rule reads as a value of a type, and the session variable that holds it then.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenVariable {
    /// Name of the session variable: in lower case, different for different claims and types.
    pub name: Box<str>,
    /// Name of the authority whose token has the claim; empty for that of the session.
    pub authority: Box<str>,
    claim: String,
    kind: ClaimKind,
    is_list: bool,
}

/// Types of claims.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ClaimKind {
    Text,
    Id,
    Int,
    Int64,
    Float,
    Boolean,
    DateTime,
    Enum(Vec<String>),
}

impl TokenVariable {
    /// The claim `claim` of a token of `authority` as a value of the type called `ty`, or a list of such.
    pub(crate) fn new(authority: &str, claim: &str, ty: &str, kind: ClaimKind, is_list: bool) -> Self {
        let said = format!("{authority} {claim} {ty} {is_list}");
        let digits: String = said.trim_start().bytes().map(|it| format!("{it:02x}")).collect();
        let name = format!("{TOKEN_PREFIX}{digits}").into();
        let authority = authority.into();
        Self { name, authority, claim: claim.to_owned(), kind, is_list }
    }

    /// The text of the session variable; `None`: the claim is missing or of another type.
    fn text(&self, token: &Token) -> Option<String> {
        let json = Json::parse(token.claim(&self.claim)?.as_bytes(), DEPTH_MAX).ok()?;
        let value = json.root();
        match (self.is_list, value.is_array()) {
            (false, _) => self.kind.text(value),
            (true, true) => {
                let items: Option<Vec<String>> = value.items().map(|it| self.kind.item(it)).collect();
                Some(array(items?))
            }
            (true, false) => Some(array([self.kind.item(value)?])),
        }
    }
}

impl ClaimKind {
    /// The text of one value, as a cast takes it.
    fn text(&self, value: JsonRef<'_>) -> Option<String> {
        let text = value.as_str();
        let number = || value.as_number().or(text.as_deref()).map(str::trim);
        match self {
            Self::Text => text.filter(|it| !it.contains('\0')).map(Into::into),
            Self::Enum(values) => text.filter(|it| values.iter().any(|value| *value == **it)).map(Into::into),
            Self::Id => id(value.as_number().or(text.as_deref())?).map(|it| it.to_string()),
            Self::Int => number()?.parse::<i32>().ok().map(|it| it.to_string()),
            Self::Int64 => number()?.parse::<i64>().ok().map(|it| it.to_string()),
            Self::Float => {
                number().filter(|it| it.parse::<f64>().is_ok_and(f64::is_finite)).map(str::to_owned)
            }
            Self::Boolean => value.as_bool().map(|it| it.to_string()),
            Self::DateTime => {
                let text = text?;
                weir_relational::values::instant::parse(&text).map(|_| text.into_owned())
            }
        }
    }

    /// The text of one value in a list, see [`Self::text`]. There a DateTime is in microseconds.
    fn item(&self, value: JsonRef<'_>) -> Option<String> {
        match self {
            Self::DateTime => {
                weir_relational::values::instant::parse(&value.as_str()?).map(|it| it.to_string())
            }
            _ => self.text(value),
        }
    }
}

/// The number of an object from the text of its `ID`.
pub(crate) fn id(text: &str) -> Option<i64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = digits.map_or((text, 10), |it| (it, 16));
    let is_plain = digits.bytes().all(|it| it.is_ascii_hexdigit());
    i64::from_str_radix(digits, radix).ok().filter(|it| is_plain && *it > 0)
}

/// The text of an array, in braces.
pub(crate) fn array(items: impl IntoIterator<Item = String>) -> String {
    let quoted = |it: String| format!("\"{}\"", it.replace('\\', "\\\\").replace('"', "\\\""));
    format!("{{{}}}", items.into_iter().map(quoted).collect::<Vec<_>>().join(","))
}

/// The session variables of `wanted` that `token` gives.
pub fn variables<'w>(
    wanted: impl IntoIterator<Item = &'w TokenVariable>,
    token: &Token,
) -> Vec<(String, String)> {
    let pair = |it: &TokenVariable| Some((it.name.to_string(), it.text(token)?));
    wanted.into_iter().filter_map(pair).collect()
}

/// A test, ready to be made.
#[derive(Debug)]
pub(super) enum ReadyTest {
    Equals(String),
    In(String),
    Matches(Regex),
    /// The pattern cannot be used: no claim passes.
    Never,
}

impl ReadyTest {
    pub(super) fn new(test: &ClaimTest) -> Self {
        match test {
            ClaimTest::Equals(value) => Self::Equals(value.clone()),
            ClaimTest::In(values) => Self::In(values.clone()),
            ClaimTest::Matches(pattern) => Regex::new(pattern).map_or(Self::Never, Self::Matches),
        }
    }

    /// True if the claim with this JSON text passes: of a list, one of its items.
    pub(super) fn passes(&self, claim: Option<&str>) -> bool {
        let Some(Ok(json)) = claim.map(|it| Json::parse(it.as_bytes(), DEPTH_MAX)) else { return false };
        let value = json.root();
        match value.kind() {
            JsonKind::Null => false,
            JsonKind::Array => value.items().any(|it| self.passes_one(it)),
            _ => self.passes_one(value),
        }
    }

    fn passes_one(&self, value: JsonRef<'_>) -> bool {
        let operand = |text: &str, is: &dyn Fn(JsonRef<'_>) -> bool| {
            Json::parse(text.as_bytes(), DEPTH_MAX).is_ok_and(|it| is(it.root()))
        };
        match self {
            Self::Equals(text) => operand(text, &|it| is_same(it, value)),
            Self::In(text) => operand(text, &|it| it.items().any(|it| is_same(it, value))),
            Self::Matches(pattern) => value.as_str().is_some_and(|it| pattern.is_match(&it)),
            Self::Never => false,
        }
    }
}

/// True for equal JSON values: 7 is 7.0, and no text.
fn is_same(one: JsonRef<'_>, other: JsonRef<'_>) -> bool {
    match (one.kind(), other.kind()) {
        (JsonKind::String { .. }, JsonKind::String { .. }) => one.as_str() == other.as_str(),
        (JsonKind::Number, JsonKind::Number) => match (one.as_number(), other.as_number()) {
            (Some(one), Some(other)) => plain(one) == plain(other),
            (_, _) => false,
        },
        (JsonKind::Array, JsonKind::Array) => {
            let mut ours = one.items();
            let mut theirs = other.items();
            loop {
                match (ours.next(), theirs.next()) {
                    (None, None) => return true,
                    (Some(one), Some(other)) if is_same(one, other) => {}
                    (_, _) => return false,
                }
            }
        }
        (JsonKind::Object, JsonKind::Object) => {
            let has = |name: &str, value| other.get(name).is_some_and(|it| is_same(value, it));
            one.members().count() == other.members().count()
                && one.members().all(|(name, value)| has(&name, value))
        }
        (one, other) => one == other,
    }
}

/// A number's sign, digits without zeros at their ends, and the place of the point: equal for equal numbers.
fn plain(number: &str) -> Option<(bool, String, i64)> {
    let (negative, rest) = number.strip_prefix('-').map_or((false, number), |it| (true, it));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Some((false, String::new(), 0));
    }
    let leading = (digits.len() - significant.len()) as i64;
    let exponent = exponent.trim_start_matches('+').parse::<i64>().ok()?;
    let point = exponent.checked_add(whole.len() as i64 - leading)?;
    Some((negative, significant.trim_end_matches('0').to_owned(), point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_of_a_claim_compares_json_values() {
        let eq = |value: &str| ClaimTest::Equals(value.to_owned());
        let is_in = |value: &str| ClaimTest::In(value.to_owned());
        let does_match = |value: &str| ClaimTest::Matches(value.to_owned());
        for (test, claim, expected) in [
            (eq("7"), Some("7.0"), true),
            (eq("7"), Some("70e-1"), true),
            (eq("7"), Some("\"7\""), false),
            (eq("true"), Some("\"true\""), false),
            (eq("\"a\""), Some("[\"b\", \"a\"]"), true),
            (eq("{\"a\": [1, 2]}"), Some("{\"a\": [1, 2.0]}"), true),
            (eq("{\"a\": 1}"), Some("{\"a\": 1, \"b\": 2}"), false),
            (eq("1"), None, false),
            (eq("1"), Some("null"), false),
            (eq("false"), Some("false"), true),
            (is_in("[1, \"a\"]"), Some("\"a\""), true),
            (is_in("[1, \"a\"]"), Some("[]"), false),
            (is_in("[1, \"a\"]"), Some("[2, 1]"), true),
            (does_match("^ad"), Some("\"admin\""), true),
            (does_match("^ad"), Some("[\"x\", \"ad\"]"), true),
            (does_match("1"), Some("1"), false),
        ] {
            assert_eq!(ReadyTest::new(&test).passes(claim), expected, "{test:?} {claim:?}");
        }
    }

    #[test]
    fn a_claim_becomes_a_variable_of_its_type_or_none() {
        let text = |kind: ClaimKind, is_list: bool, claim: &str| {
            let token = Token::of([("c".to_owned(), claim.to_owned())]);
            TokenVariable::new("", "c", "T", kind, is_list).text(&token)
        };
        let check = |kind: ClaimKind, is_list: bool, claim: &str, expected: Option<&str>| {
            assert_eq!(text(kind, is_list, claim).as_deref(), expected, "{claim}");
        };
        check(ClaimKind::Text, false, "\"a'\"", Some("a'"));
        check(ClaimKind::Text, false, "7", None);
        check(ClaimKind::Text, true, "[\"a\\\"\", \"b\"]", Some("{\"a\\\"\",\"b\"}"));
        check(ClaimKind::Text, true, "[]", Some("{}"));
        check(ClaimKind::Text, true, "\"a\"", Some("{\"a\"}"));
        check(ClaimKind::Text, true, "[null]", None);
        check(ClaimKind::Int, false, "\"7\"", Some("7"));
        check(ClaimKind::Int, false, "2147483648", None);
        check(ClaimKind::Int64, false, "9007199254740993", Some("9007199254740993"));
        check(ClaimKind::Id, false, "\"0xff\"", Some("255"));
        check(ClaimKind::Boolean, false, "\"true\"", None);
        check(ClaimKind::Float, false, "1.5", Some("1.5"));
        check(ClaimKind::Enum(vec!["A".into()]), false, "\"B\"", None);
        check(ClaimKind::DateTime, false, "\"soon\"", None);
        assert_eq!(TokenVariable::new("", "c", "T", ClaimKind::Text, false).text(&Token::Absent), None);
    }
}
