//! `sources[].config`: any JSON, for `$config` of a text of services.
//!
//! **Invariant:** a number has the digits that the file has, and a plain scalar that JSON does not know as a number or boolean
//! (`007`, `1_000`, `no`) is a text.

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_saphyr::Options;
use std::collections::BTreeMap;
use std::fmt;
use weir_http::selection::value::Value;

/// The brackets that may be open in one setting.
const DEPTH_MAX: u32 = 100;

/// One value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// `null`: as if it were not there.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// Digits, as JSON writes them.
    Number(String),
    /// Anything else that is single.
    Text(String),
    /// A list.
    List(Vec<Setting>),
    /// An object, in the order of the file.
    Object(Vec<(String, Setting)>),
}

impl Setting {
    /// The same as a selection reads it. Depth is that of the file, which its reader bounds.
    #[must_use]
    pub fn value(&self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(digits) => Value::Number(digits.clone().into()),
            Self::Text(text) => Value::Text(text.clone().into()),
            Self::List(items) => Value::Array(items.iter().map(Self::value).collect()),
            Self::Object(members) => Value::Object(
                members.iter().map(|(key, value)| (key.clone().into(), value.value())).collect(),
            ),
        }
    }

    /// The setting for a plain scalar that YAML takes for a number or boolean.
    fn plain(text: String) -> Self {
        match Value::read(&text, DEPTH_MAX) {
            Some(Value::Bool(value)) => Self::Bool(value),
            Some(Value::Number(_)) => Self::Number(text),
            _ => Self::Text(text),
        }
    }
}

/// Gives the settings of all sources, which were read from `text`, the spelling that their scalars have there.
///
/// # Errors
/// The text cannot be read.
pub(super) fn spell(
    all: Vec<&mut BTreeMap<String, Setting>>,
    text: &str,
    options: Options,
) -> Result<(), serde_saphyr::Error> {
    let of_source = |it: &BTreeMap<String, Setting>| {
        let members = it.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        Setting::Object(vec![("config".to_owned(), Setting::Object(members))])
    };
    let mut sources = Setting::List(all.iter().map(|it| of_source(it)).collect());
    serde_saphyr::with_deserializer_from_str_with_options(text, options, |file| {
        file.deserialize_map(Spelled(Goal::Member("sources", &mut sources)))
    })?;
    let Setting::List(sources) = sources else { return Ok(()) };
    for (own, source) in all.into_iter().zip(sources) {
        if let Setting::Object(members) = source
            && let Some((_, Setting::Object(settings))) = members.into_iter().next()
        {
            *own = settings.into_iter().collect();
        }
    }
    Ok(())
}

/// Reads over what was read before, for its spelling.
struct Spelled<'s>(Goal<'s>);

/// The setting whose spelling is kept.
enum Goal<'s> {
    /// This value.
    Value(&'s mut Setting),
    /// The member of this name.
    Member(&'s str, &'s mut Setting),
}

impl<'de> DeserializeSeed<'de> for Spelled<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0 {
            Goal::Value(scalar @ (Setting::Bool(_) | Setting::Number(_))) => {
                *scalar = Setting::plain(String::deserialize(deserializer)?);
                Ok(())
            }
            Goal::Value(list @ Setting::List(_)) => deserializer.deserialize_seq(Spelled(Goal::Value(list))),
            Goal::Value(object @ Setting::Object(_)) => {
                deserializer.deserialize_map(Spelled(Goal::Value(object)))
            }
            Goal::Value(Setting::Null | Setting::Text(_)) | Goal::Member(..) => {
                IgnoredAny::deserialize(deserializer).map(|_| ())
            }
        }
    }
}

impl<'de> Visitor<'de> for Spelled<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what was read before")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if let Goal::Value(Setting::List(items)) = self.0 {
            for item in items {
                list.next_element_seed(Spelled(Goal::Value(item)))?;
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let known = match &mut self.0 {
                Goal::Member(name, value) => (*name == key).then_some(&mut **value),
                Goal::Value(Setting::Object(members)) => {
                    members.iter_mut().find(|it| it.0 == key).map(|it| &mut it.1)
                }
                Goal::Value(_) => None,
            };
            match known {
                Some(value) => map.next_value_seed(Spelled(Goal::Value(value)))?,
                None => map.next_value::<IgnoredAny>().map(|_| ())?,
            }
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

/// Takes any value; the spelling of scalars comes later.
struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Setting;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Setting, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Setting::Object(members))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Setting, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Setting::List(items))
    }
    fn visit_bool<E: Error>(self, value: bool) -> Result<Setting, E> {
        Ok(Setting::Bool(value))
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<Setting, E> {
        Ok(Setting::Number(value.to_string()))
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<Setting, E> {
        Ok(Setting::Number(value.to_string()))
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<Setting, E> {
        Ok(Setting::Number(value.to_string()))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Setting, E> {
        Ok(Setting::Text(text.to_owned()))
    }
    fn visit_unit<E: Error>(self) -> Result<Setting, E> {
        Ok(Setting::Null)
    }
}
