//! Deserializes nodes into typed entries, by serde.
//!
//! A member that is null counts as missing, as in Hasura; within [`crate::Json`], and in maps of files of settings, nulls are kept.
//!
//! **Invariant:** an error has the path of its entry and the place of the key or value that causes it, and never a value of the
//! environment.

use crate::json::{NEWTYPE, is_number};
use crate::names::hint;
use crate::places::Step;
use crate::tree::{Member, Node, Place, Value};
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use std::fmt;

/// A reason for which a node is not of its type.
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) message: String,
    pub(crate) place: Option<Place>,
    /// Steps from the inside to the outside.
    steps: Vec<Step>,
    /// True once the object of an unknown key has worded the error.
    is_worded: bool,
    /// The kind of value that fits, if the message shows the one that does not.
    expected: Option<Box<str>>,
    /// The key that is unknown: the path is that of its object.
    pub(crate) key: Option<Box<str>>,
}

impl Error {
    /// Steps from the document to the entry.
    pub(crate) fn path(&self) -> Vec<Step> {
        self.steps.iter().rev().cloned().collect()
    }

    fn with_place(mut self, place: Place) -> Self {
        self.place.get_or_insert(place);
        self
    }

    fn add_step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Replaces the message by one without the value, which may be secret: it comes from the environment.
    fn without_value(mut self) -> Self {
        self.message = match self.expected.take() {
            Some(expected) => format!("the value of the variable does not fit: {expected} is expected"),
            None => "the value of the variable does not fit here".to_owned(),
        };
        self
    }

    /// A value that is not of its type.
    fn wrong_type(found: &Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = match &*expected.to_string() {
            "u8" => format!("a whole number up to {}", u8::MAX),
            "u16" => format!("a whole number up to {}", u16::MAX),
            "u32" => format!("a whole number up to {}", u32::MAX),
            "u64" | "usize" => "a whole number from 0".to_owned(),
            "a sequence" => "a list".to_owned(),
            "a map" => "an object".to_owned(),
            other if other.starts_with("struct ") => "an object".to_owned(),
            other => other.to_owned(),
        };
        let found = match found {
            Unexpected::Str(text) => format!("the string `{text}`"),
            Unexpected::Unsigned(number) => format!("`{number}`"),
            Unexpected::Signed(number) => format!("`{number}`"),
            Unexpected::Bool(value) => format!("`{value}`"),
            Unexpected::Unit => "null".to_owned(),
            Unexpected::Map => "an object".to_owned(),
            Unexpected::Seq => "a list".to_owned(),
            other => other.to_string(),
        };
        let message = format!("{expected} is expected, and this is {found}");
        Self { expected: Some(expected.into()), ..de::Error::custom(message) }
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
        let message = message.to_string();
        Self { message, place: None, steps: Vec::new(), is_worded: false, expected: None, key: None }
    }
    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::wrong_type(&found, expected)
    }
    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::wrong_type(&found, expected)
    }
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let near = hint(field, expected.iter().copied());
        let near = if near.is_empty() { format!("; known here: {}", expected.join(", ")) } else { near };
        let message = format!("unknown key `{field}`{near}");
        Self { key: Some(field.into()), ..Self::custom(message) }
    }
    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let words = expected.join(", ");
        let message = format!("`{variant}` is none of: {words}");
        Self { expected: Some(format!("one of {words}").into()), ..Self::custom(message) }
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
    /// True in a file of settings: a number where a text is expected is its digits, and a text may hold a number or boolean.
    is_settings: bool,
}

impl<'n> Reader<'n> {
    pub(crate) fn new(node: &'n Node) -> Self {
        Self { node, is_plain: false, is_settings: false }
    }

    /// A reader of a file of settings.
    pub(crate) fn of_settings(node: &'n Node) -> Self {
        Self { is_settings: true, ..Self::new(node) }
    }

    /// Access to members. Those that are null are left out if `skips_nulls` is true, but for [`crate::Json`]'s.
    fn entries(&self, members: &'n [Member], skips_nulls: bool) -> Entries<'n> {
        let skips_nulls = skips_nulls && !self.is_plain;
        Entries { rest: members.iter(), value: None, skips_nulls, is_settings: self.is_settings }
    }

    /// Reads a number or boolean that may stand in a text.
    fn deserialize_scalar<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, Error> {
        let made = match &self.node.value {
            Value::Text(text) if self.is_settings && is_number(text) => number(text, visitor),
            Value::Text(text) if self.is_settings && ["true", "false"].contains(&&**text) => {
                visitor.visit_bool(&**text == "true")
            }
            _ => return self.deserialize_any(visitor),
        };
        made.map_err(|error| locate_error(error, self.node))
    }

    /// Reads a text, which in a file of settings may look like a number.
    fn deserialize_text<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.node.value {
            Value::Number(digits) if self.is_settings => {
                visitor.visit_borrowed_str(digits).map_err(|error| locate_error(error, self.node))
            }
            _ => self.deserialize_any(visitor),
        }
    }
}

/// Gives `error` the place of `node`, and removes a value of the environment from its message.
fn locate_error(error: Error, node: &Node) -> Error {
    if node.is_filled && error.place.is_none() {
        error.without_value().with_place(node.place)
    } else {
        error.with_place(node.place)
    }
}

/// Methods that all read by the same one.
macro_rules! scalars {
    ($by:ident: $($name:ident)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.$by(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let made = match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(digits) if self.is_plain => visitor.visit_borrowed_bytes(digits.as_bytes()),
            Value::Number(digits) => number(digits, visitor),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::Include(text) => visitor.visit_borrowed_str(text),
            Value::Broken(reason) => Err(de::Error::custom(reason)),
            Value::List(items) => {
                visitor.visit_seq(Items { items: items.iter().enumerate(), is_settings: self.is_settings })
            }
            Value::Object(members) => visitor.visit_map(self.entries(members, !self.is_settings)),
        };
        made.map_err(|error| locate_error(error, self.node))
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
        let made = match &self.node.value {
            Value::Object(members) => {
                visitor.visit_map(self.entries(members, true)).map_err(|error| locate_error(error, self.node))
            }
            // Derived types read a list as their members in order.
            Value::List(_) => {
                let error = Error::wrong_type(&Unexpected::Seq, &visitor);
                Err(locate_error(error, self.node))
            }
            _ => self.deserialize_any(visitor),
        };
        made.map_err(|mut error| {
            let is_worded = std::mem::replace(&mut error.is_worded, true);
            if let (Some(key), false) = (&error.key, is_worded)
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
        let made = match &self.node.value {
            Value::Text(text) => visitor.visit_enum(Word(text)),
            _ => {
                Err(de::Error::custom(format_args!("a string is expected, and this is {}", self.node.kind())))
            }
        };
        made.map_err(|error| locate_error(error, self.node))
    }

    scalars! {
        deserialize_scalar: deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }
    scalars! { deserialize_text: deserialize_str deserialize_string }

    /// Reads a setting that is not a count, such as a ratio: its exact digits do not matter.
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let digits = match &self.node.value {
            Value::Number(digits) => Some(&**digits),
            Value::Text(text) if self.is_settings && is_number(text) => Some(&**text),
            _ => None,
        };
        match digits.and_then(|it| it.parse().ok()) {
            Some(number) => visitor.visit_f64(number).map_err(|error| locate_error(error, self.node)),
            None => self.deserialize_any(visitor),
        }
    }

    serde::forward_to_deserialize_any! {
        i128 u128 f32 char bytes byte_buf unit unit_struct seq tuple tuple_struct map identifier ignored_any
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
    is_settings: bool,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some((at, node)) = self.items.next() else { return Ok(None) };
        let made = seed.deserialize(Reader { node, is_plain: false, is_settings: self.is_settings });
        made.map(Some).map_err(|error| locate_error(error, node).add_step(Step::Item(at)))
    }
}

struct Entries<'n> {
    rest: std::slice::Iter<'n, Member>,
    value: Option<&'n Member>,
    skips_nulls: bool,
    is_settings: bool,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let skips_nulls = self.skips_nulls;
        let mut present =
            self.rest.by_ref().filter(|it| !skips_nulls || !matches!(it.node.value, Value::Null));
        let Some(member) = present.next() else { return Ok(None) };
        self.value = Some(member);
        let key: BorrowedStrDeserializer<'de, Error> = BorrowedStrDeserializer::new(&member.key);
        seed.deserialize(key).map(Some).map_err(|error| error.with_place(member.place))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let Some(member) = self.value.take() else { return Err(de::Error::custom("a value without a key")) };
        let node = &member.node;
        let made = seed.deserialize(Reader { node, is_plain: false, is_settings: self.is_settings });
        made.map_err(|error| locate_error(error, node).add_step(Step::Key((&*member.key).into())))
    }
}
