//! JSON values in their order, for conditions of permissions.
//!
//! **Invariant:** the digits of a number are those of the file, and are a number of JSON.

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error, Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use std::fmt;

/// Name of the newtype by which [`Json`] asks the reader of trees for digits and nulls.
pub(crate) const NEWTYPE: &str = "weir_metadata::Json";

/// A JSON value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// Digits, as JSON writes them.
    Number(Box<str>),
    Text(Box<str>),
    List(Vec<Json>),
    /// Members in the order of the file.
    Object(Members),
}

/// Members of an object, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Members(pub Vec<(Box<str>, Json)>);

/// JSON text.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Members {
    /// The member called `key`.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.iter().find(|it| &*it.0 == key).map(|it| &it.1)
    }

    /// True without members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Json {
    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::List(_) | Self::Object(_) => None,
        }
    }

    /// The member called `key`, if it is an object that has one.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Self::Object(members) => members.get(key),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::List(_) | Self::Text(_) => None,
        }
    }
}

/// True if `text` is a number of JSON.
pub fn is_number(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.starts_with('0')) {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let count = digits(exponent);
        return count > 0 && count == exponent.len();
    }
    rest.is_empty()
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(digits) => RawValue::from_string(String::from(&**digits))
                .map_err(S::Error::custom)?
                .serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(members) => members.serialize(serializer),
        }
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(&**key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(NEWTYPE, Any)
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Json::deserialize(deserializer)? {
            Json::Object(members) => Ok(members),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::List(_) => {
                Err(de::Error::custom("expected an object"))
            }
        }
    }
}

/// Takes any value.
struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Json, D::Error> {
        inner.deserialize_any(Any)
    }
    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Json, D::Error> {
        inner.deserialize_any(Any)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Json>()? {
            members.push((key.into_boxed_str(), value));
        }
        // Most objects of conditions have one member, and many are kept.
        members.shrink_to_fit();
        Ok(Json::Object(Members(members)))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        items.shrink_to_fit();
        Ok(Json::List(items))
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.to_string().into()))
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.to_string().into()))
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value.to_string().into()))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.into()))
    }
    /// Digits of a number, from the reader of trees.
    fn visit_bytes<E: de::Error>(self, digits: &[u8]) -> Result<Json, E> {
        std::str::from_utf8(digits).map(|it| Json::Number(it.into())).map_err(E::custom)
    }
    fn visit_unit<E: de::Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }
    fn visit_none<E: de::Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_json() {
        for text in ["0", "-1", "1.50", "12345678901234567890123", "1e400", "-0.0E-7"] {
            assert!(is_number(text), "{text}");
        }
        for text in ["", "-", "01", "1.", ".5", "+1", "1_000", "0x1F", "1e", "1e+", "1a", "NaN"] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn digits_and_order_are_written_as_they_are() {
        let number = |digits: &str| Json::Number(digits.into());
        let members = vec![("b".into(), number("1.50")), ("a".into(), Json::List(vec![number("1e400")]))];
        let text = serde_json::to_string(&Json::Object(Members(members))).unwrap();
        assert_eq!(text, r#"{"b":1.50,"a":[1e400]}"#);
    }
}
