//! Typed entries from nodes, by serde.
//!
//! A member that is null counts as missing, as in Hasura; within [`crate::Json`] nulls and digits are kept.
//!
//! **Invariant:** an error has the path of its entry and the place of the key or value that causes it.

use crate::json::NEWTYPE;
use crate::names::hint;
use crate::places::Step;
use crate::tree::{Member, Node, Place, Value};
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use std::fmt;

/// A reason for which a node is not of its type.
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) message: String,
    pub(crate) place: Option<Place>,
    /// Steps from the inside to the outside.
    steps: Vec<Step>,
    /// The key that is unknown, until its object's type has been told.
    unknown: Option<String>,
}

impl Error {
    /// Steps from the document to the entry.
    pub(crate) fn path(&self) -> Vec<Step> {
        self.steps.iter().rev().cloned().collect()
    }

    fn at(mut self, place: Place) -> Self {
        self.place.get_or_insert(place);
        self
    }

    fn below(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), place: None, steps: Vec::new(), unknown: None }
    }
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let message = format!("unknown key `{field}`{}", hint(field, expected.iter().copied()));
        Self { unknown: Some(field.to_owned()), ..Self::custom(message) }
    }
    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format_args!("`{variant}` is none of: {}", expected.join(", ")))
    }
    fn missing_field(field: &'static str) -> Self {
        Self::custom(format_args!("key \"{field}\" not found"))
    }
}

/// Types of entries whose errors Hasura words in its own way.
const HASURAS_NAMES: [(&str, &str); 1] = [("TableEntry", "TableMetadata")];

/// Reads one node.
pub(crate) struct Reader<'n> {
    node: &'n Node,
    /// True within [`crate::Json`].
    is_plain: bool,
}

impl<'n> Reader<'n> {
    pub(crate) fn new(node: &'n Node) -> Self {
        Self { node, is_plain: false }
    }
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let place = self.node.place;
        let made = match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(digits) if self.is_plain => visitor.visit_borrowed_bytes(digits.as_bytes()),
            Value::Number(digits) => number(digits, visitor),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::Include(text) => visitor.visit_borrowed_str(text),
            Value::List(items) => visitor.visit_seq(Items { items: items.iter().enumerate() }),
            Value::Object(members) => {
                visitor.visit_map(Entries { rest: members.iter(), value: None, is_plain: self.is_plain })
            }
        };
        made.map_err(|error: Error| error.at(place))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match name {
            NEWTYPE => Self { is_plain: true, ..self }.deserialize_any(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_any(visitor).map_err(|mut error| {
            if let Some(key) = error.unknown.take()
                && let Some((_, theirs)) = HASURAS_NAMES.iter().find(|it| it.0 == name)
            {
                error.message = format!("unexpected keys when parsing {theirs}: {key}; {}", error.message);
            }
            error
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let place = self.node.place;
        let made = match &self.node.value {
            Value::Text(text) => visitor.visit_enum(Word(text)),
            _ => {
                Err(de::Error::custom(format_args!("a string is expected, and this is {}", self.node.kind())))
            }
        };
        made.map_err(|error: Error| error.at(place))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string
        bytes byte_buf unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// A number where no digits are kept: those of metadata's own keys are whole.
fn number<'de, V: Visitor<'de>>(digits: &str, visitor: V) -> Result<V::Value, Error> {
    match (digits.parse::<u64>(), digits.parse::<i64>()) {
        (Ok(number), _) => visitor.visit_u64(number),
        (Err(_), Ok(number)) => visitor.visit_i64(number),
        (Err(_), Err(_)) => {
            Err(de::Error::custom(format_args!("`{digits}` is no whole number that fits here")))
        }
    }
}

/// A unit variant.
struct Word<'n>(&'n str);

impl<'de> EnumAccess<'de> for Word<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let name: StrDeserializer<'_, Error> = self.0.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Error> {
        Err(de::Error::custom("a word is expected"))
    }
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(de::Error::custom("a word is expected"))
    }
    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, Error> {
        Err(de::Error::custom("a word is expected"))
    }
}

struct Items<'n> {
    items: std::iter::Enumerate<std::slice::Iter<'n, Node>>,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some((at, node)) = self.items.next() else { return Ok(None) };
        let made = seed.deserialize(Reader::new(node));
        made.map(Some).map_err(|error| error.at(node.place).below(Step::Item(at)))
    }
}

struct Entries<'n> {
    rest: std::slice::Iter<'n, Member>,
    value: Option<&'n Member>,
    is_plain: bool,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let is_plain = self.is_plain;
        let mut present = self.rest.by_ref().filter(|it| is_plain || !matches!(it.node.value, Value::Null));
        let Some(member) = present.next() else { return Ok(None) };
        self.value = Some(member);
        let key: BorrowedStrDeserializer<'de, Error> = BorrowedStrDeserializer::new(&member.key);
        seed.deserialize(key).map(Some).map_err(|error| error.at(member.place))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let Some(member) = self.value.take() else { return Err(de::Error::custom("a value without a key")) };
        let made = seed.deserialize(Reader::new(&member.node));
        made.map_err(|error| error.at(member.node.place).below(Step::Key((&*member.key).into())))
    }
}
