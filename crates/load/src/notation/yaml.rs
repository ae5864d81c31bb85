//! YAML with places: what a scenario is read through, so that every mistake names its line, its column and a way out.

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Error, Location, Spanned};
use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

/// An error in a scenario, with its place.
#[derive(Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Line, from 1; 0 if the mistake concerns the text as a whole.
    pub line: u64,
    /// Column, from 1.
    pub column: u64,
    /// The cause and how to fix it.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for Mistake {}

impl Mistake {
    pub(crate) fn at(place: Location, message: impl Into<String>) -> Self {
        Self { line: place.line(), column: place.column(), message: message.into() }
    }
}

/// Reads `text` as a `T` whose unknown keys are errors.
pub(crate) fn read<T: de::DeserializeOwned>(text: &str) -> Result<T, Mistake> {
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let (line, column) = error.location().map_or((0, 0), |it| (it.line(), it.column()));
        Mistake { line, column, message: words(&error) }
    })
}

/// The message without the place, which stands in front, and with the nearest known key.
fn words(error: &Error) -> String {
    if let Error::SerdeUnknownField { field, expected, .. } = error {
        return unknown_name("key", field, expected);
    }
    let text = error.render();
    let first = text.lines().next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    first.rsplit_once(" at line ").map_or(first, |it| it.0).to_string()
}

/// The name of a header that stands before `value`.
/// # Errors
/// It is no name, or the value has control characters.
pub(crate) fn header_name(
    name: &Spanned<String>,
    value: &Spanned<String>,
) -> Result<http::HeaderName, Mistake> {
    let header = http::HeaderName::from_bytes(name.value.as_bytes())
        .map_err(|_| Mistake::at(name.referenced, format!("`{}` is no name of a header", name.value)))?;
    if value.value.contains(|it: char| it.is_control()) {
        Err(Mistake::at(value.referenced, "a header's value is one line without control characters"))
    } else {
        Ok(header)
    }
}

/// Message that `name` is not among `known`, with the nearest known names.
pub(crate) fn unknown_name(what: &str, name: &str, known: &[impl AsRef<str>]) -> String {
    let near =
        known.iter().map(|it| (strsim::damerau_levenshtein(name, it.as_ref()), it)).min_by_key(|it| it.0);
    match near {
        Some((distance, it)) if distance <= name.chars().count() / 3 + 1 => {
            format!("unknown {what} `{name}`; did you mean `{}`?", it.as_ref())
        }
        Some(_) => {
            let all: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
            format!("unknown {what} `{name}`; known here: {}", all.join(", "))
        }
        None => format!("unknown {what} `{name}`; none is known here"),
    }
}

/// A length of time with its unit: `250us`, `5ms`, `1.5s`, `2min`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Span(pub Duration);

impl Span {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is no length of time; write it as `250us`, `5ms`, `1.5s`, `2min` or `1h`");
        let digits = text.find(|it: char| it != '.' && !it.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, unit) = text.split_at(digits);
        let seconds = match unit {
            "us" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(wrong()),
        };
        let number: f64 = number.parse().map_err(|_| wrong())?;
        Duration::try_from_secs_f64(number * seconds).map(Self).map_err(|_| wrong())
    }
}

/// A length of time with its unit, as `250us`, `5ms`, `1.5s`, `2min`, `1h`.
/// # Errors
/// A text that is none.
pub fn read_duration(text: &str) -> Result<Duration, String> {
    Span::read(text).map(|it| it.0)
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// Reads `1..5000`, both ends included.
pub(crate) fn range(text: &Spanned<String>) -> Result<RangeInclusive<i64>, Mistake> {
    let place: Location = text.referenced;
    let ends = text
        .value
        .split_once("..")
        .and_then(|(low, high)| Some((low.trim().parse::<i64>().ok()?, high.trim().parse::<i64>().ok()?)));
    match ends {
        Some((low, high)) if low <= high => Ok(low..=high),
        Some((low, high)) => {
            Err(Mistake::at(place, format!("no id is from {low} to {high}; write `{high}..{low}`")))
        }
        None => Err(Mistake::at(place, format!("`{}` is no range of ids; write `1..5000`", text.value))),
    }
}

/// A mapping in the order of its text, with the places of its keys.
#[derive(Debug)]
pub(crate) struct Pairs<V>(pub Vec<(Spanned<String>, V)>);

impl<V> Default for Pairs<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Pairs<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<V>(std::marker::PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
            type Value = Pairs<V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<V>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(key) = map.next_key()? {
                    pairs.push((key, map.next_value()?));
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Entries(std::marker::PhantomData))
    }
}

/// A key and its value.
pub(crate) type Pair = (Spanned<String>, Spanned<Tree>);

/// Any value, as it stands in the text.
#[derive(Debug)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Int(i64),
    Decimal(f64),
    Text(String),
    List(Vec<Spanned<Tree>>),
    Map(Vec<Pair>),
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyTree)
    }
}

struct AnyTree;

impl<'de> Visitor<'de> for AnyTree {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut pairs = Vec::new();
        while let Some(key) = map.next_key()? {
            pairs.push((key, map.next_value()?));
        }
        Ok(Tree::Map(pairs))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Int(value))
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Tree, E> {
        i64::try_from(value).map(Tree::Int).map_err(|_| E::custom("is longer than 64 bits; quote it"))
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Tree, E> {
        if value.is_finite() {
            Ok(Tree::Decimal(value))
        } else {
            Err(E::custom("JSON has no such number; quote it"))
        }
    }
    fn visit_str<E: de::Error>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_string()))
    }
    fn visit_unit<E: de::Error>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }
    fn visit_none<E: de::Error>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Tree, D::Error> {
        Tree::deserialize(inner)
    }
    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Tree, D::Error> {
        Tree::deserialize(inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_has_a_unit() {
        let check = |text: &str, expected: Option<u64>| {
            let micros = Span::read(text).ok().map(|it| u64::try_from(it.0.as_micros()).expect("short"));
            assert_eq!(micros, expected, "{text}");
        };
        check("250us", Some(250));
        check("1.5s", Some(1_500_000));
        check("2min", Some(120_000_000));
        for wrong in ["5", "ms", "-5ms", "5 ms", "1e9s", "5d", ""] {
            check(wrong, None);
        }
    }

    #[test]
    fn an_unknown_name_is_told_with_the_nearest() {
        let known = ["latency", "headers"];
        assert_eq!(unknown_name("key", "latenzy", &known), "unknown key `latenzy`; did you mean `latency`?");
        assert_eq!(
            unknown_name("key", "colour", &known),
            "unknown key `colour`; known here: latency, headers"
        );
    }
}
