//! Decodes values: bytes of the protocol become the text that PostgreSQL's own `to_json` would print.
//!
//! A [`Decoder`] is compiled once per result column. Types whose binary form is cheaper or truer than their text travel in
//! binary (numbers, texts, times, documents, and arrays and composites of such); all others travel as PostgreSQL's text,
//! which is what `to_json` puts between quotes.
//!
//! **Invariant:** text is relied on to be what the session was told to write: dates in ISO form, intervals in
//! PostgreSQL's, bytes in hexadecimal.
//!
//! **Cost:** no allocation for any type that is not an array or composite in text format; what is built is built in the
//! caller's scratch. Recursion is as deep as the type is nested, at most `DEPTH_MAX`.

use crate::exec::cell_value::{CellValue, Fault};
use std::borrow::Cow;
use weir_postgres::statement::Format;
use weir_relational::catalog::postgres_types::{Kind, Types, oid};
use weir_relational::dialect::Floats;

mod digits;
mod nested_values;
mod plain;
mod time;
mod word;

use nested_values::Nested;
use plain::Plain;
use word::Word;

/// Maximum nesting of types; deeper values are text.
const DEPTH_MAX: u32 = 32;
/// Maximum number of parts of a type, over all levels; a type with more is text.
const PARTS_MAX: u32 = 4096;

/// Settings of the session and the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choices {
    /// The session's time zone is UTC, so that a point in time needs no look into the server's tables.
    pub utc: bool,
    /// `bigint`, `float8` and `numeric` become JSON strings.
    pub stringify: bool,
    /// Format of `float8`.
    pub floats: Floats,
    /// The server promises UTF-8. Only a database of the encoding `SQL_ASCII` does not: there texts are checked.
    pub utf8: bool,
}

/// Reads the values of one result column.
#[derive(Clone, Debug)]
pub struct Decoder {
    form: WireForm,
    checked: bool,
}

/// Wire format of a type, and the JSON that is made of it.
#[derive(Clone, Debug)]
enum WireForm {
    /// Binary, without parts.
    Plain(Plain),
    /// Binary, with parts.
    Nested(Box<Nested>),
    /// Text.
    Word(Word),
}

/// A value of a common type.
pub(crate) enum CommonValue<'v> {
    /// UTF-8.
    Text(&'v [u8]),
    Int(i32),
}

impl Decoder {
    /// A decoder for values of the type with OID `oid`; a type missing in `types` is written as PostgreSQL's text.
    pub fn new(types: &Types, oid: u32, choices: Choices) -> Self {
        let mut compiler = DecoderCompiler { types, choices, parts: 0 };
        let form = match compiler.binary(oid, 0) {
            Some(form) => form,
            None => {
                compiler.parts = 0;
                WireForm::Word(compiler.word(oid, 0))
            }
        };
        let checked = !choices.utf8 && matches!(form, WireForm::Word(_));
        Self { form, checked }
    }

    /// A decoder for values that are also parameters of the next statement: arrays and composites arrive as PostgreSQL's text.
    pub(crate) fn of_key(types: &Types, oid: u32, choices: Choices) -> Self {
        let decoder = Self::new(types, oid, choices);
        match decoder.form {
            WireForm::Plain(_) | WireForm::Word(_) => decoder,
            WireForm::Nested(_) => {
                let mut compiler = DecoderCompiler { types, choices, parts: 0 };
                Self { form: WireForm::Word(compiler.word(oid, 0)), checked: !choices.utf8 }
            }
        }
    }

    /// In which format the column has to be asked for.
    pub fn format(&self) -> Format {
        match self.form {
            WireForm::Plain(_) | WireForm::Nested(_) => Format::Binary,
            WireForm::Word(_) => Format::Text,
        }
    }

    /// A value of the most common types; `None`: [`Self::read`] reads it.
    #[inline]
    pub(crate) fn common<'v>(&self, bytes: &'v [u8]) -> Option<CommonValue<'v>> {
        match (&self.form, bytes) {
            (WireForm::Plain(Plain::Text), _) => Some(CommonValue::Text(bytes)),
            (WireForm::Plain(Plain::Int4), &[a, b, c, d]) => {
                Some(CommonValue::Int(i32::from_be_bytes([a, b, c, d])))
            }
            _ => None,
        }
    }

    /// Reads one value, which is not null. `scratch` holds texts that are built.
    /// # Errors
    /// The bytes do not fit the type, or are not UTF-8 where the server does not guarantee it.
    #[inline]
    pub fn read<'v>(&self, bytes: &'v [u8], scratch: &'v mut Vec<u8>) -> Result<CellValue<'v>, Fault> {
        match &self.form {
            WireForm::Plain(plain) => plain.read(bytes, scratch),
            WireForm::Nested(nested) => {
                scratch.clear();
                nested.json(bytes, scratch)?;
                Ok(CellValue::Json(scratch.as_slice().into()))
            }
            WireForm::Word(word) => {
                if self.checked && std::str::from_utf8(bytes).is_err() {
                    return Err(invalid_text());
                }
                word.read(bytes, scratch)
            }
        }
    }
}

/// For each result column, the OID that the server has to describe for its decoder; 0 for text columns.
pub(crate) fn column_types(types: &Types, oids: &[u32], decoders: &[Decoder]) -> Vec<u32> {
    let column = |(&of, decoder): (&u32, &Decoder)| match decoder.format() {
        Format::Text => 0,
        Format::Binary => match types.base(of) {
            oid::COUNT => oid::INT8,
            oid::MEAN => oid::NUMERIC,
            oid::RATIO => oid::FLOAT8,
            base => base,
        },
    };
    oids.iter().zip(decoders).map(column).collect()
}

/// The fault of bytes that do not fit the type: the type was changed after the catalog was read.
#[cold]
fn wrong_form_fault() -> Fault {
    let message = "the database gave a value of another form than the column's type has";
    Fault { code: "INVALID_VALUE", message: Cow::Borrowed(message) }
}

#[cold]
fn invalid_text() -> Fault {
    Fault { code: "INVALID_TEXT", message: Cow::Borrowed("the stored text is not valid UTF-8") }
}

struct DecoderCompiler<'t> {
    types: &'t Types,
    choices: Choices,
    parts: u32,
}

impl DecoderCompiler<'_> {
    /// Counts one more part at `depth`; `None` when there are too many.
    fn part(&mut self, depth: u32) -> Option<()> {
        self.parts += 1;
        (depth < DEPTH_MAX && self.parts < PARTS_MAX).then_some(())
    }

    /// The binary form of a type, if all its parts have one.
    fn binary(&mut self, oid: u32, depth: u32) -> Option<WireForm> {
        self.part(depth)?;
        let oid = self.types.base(oid);
        if let Some(plain) = self.plain(oid) {
            return Some(WireForm::Plain(plain));
        }
        let types = self.types;
        match &types.by_oid(oid)?.kind {
            Kind::Enum { .. } => self.choices.utf8.then_some(WireForm::Plain(Plain::Text)),
            Kind::Array { element } => self.array(*element, depth),
            Kind::Composite { fields } => {
                let stringify = std::mem::replace(&mut self.choices.stringify, false);
                let fields = fields.iter().map(|(name, of)| Some((key(name), self.binary(*of, depth + 1)?)));
                let fields = fields.collect::<Option<_>>();
                self.choices.stringify = stringify;
                Some(WireForm::Nested(Box::new(Nested::Composite(fields?))))
            }
            Kind::Base if oid == oid::INT2VECTOR => self.array(oid::INT2, depth),
            Kind::Base if oid == oid::OIDVECTOR => self.array(oid::OID, depth),
            _ => None,
        }
    }

    fn array(&mut self, element: u32, depth: u32) -> Option<WireForm> {
        let element = self.binary(element, depth + 1)?;
        Some(WireForm::Nested(Box::new(Nested::Array(element))))
    }

    fn plain(&self, oid: u32) -> Option<Plain> {
        let Choices { utc, stringify, floats, utf8 } = self.choices;
        Some(match oid {
            oid::INT4 => Plain::Int4,
            oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::NAME if utf8 => Plain::Text,
            oid::INT8 if stringify => Plain::Int8Text,
            oid::INT8 | oid::COUNT => Plain::Int8,
            oid::BOOL => Plain::Bool,
            oid::INT2 => Plain::Int2,
            oid::TIMESTAMP => Plain::Timestamp,
            oid::TIMESTAMPTZ if utc => Plain::TimestampTz,
            oid::DATE => Plain::Date,
            oid::NUMERIC if stringify => Plain::NumericText,
            oid::NUMERIC | oid::MEAN => match floats {
                Floats::AsPostgres => Plain::Numeric,
                // No column has this type there: it is a sum of integers.
                Floats::AsElsewhere => Plain::Whole,
            },
            oid::FLOAT8 if stringify => Plain::Float8Text,
            oid::FLOAT8 | oid::RATIO => match floats {
                Floats::AsPostgres => Plain::Float8,
                Floats::AsElsewhere => Plain::Float,
            },
            oid::FLOAT4 => Plain::Float4,
            oid::UUID => Plain::Uuid,
            oid::JSON if utf8 => Plain::Json,
            oid::JSONB if utf8 => Plain::Jsonb,
            oid::TIME => Plain::Time,
            oid::TIMETZ => Plain::TimeTz,
            oid::INTERVAL => Plain::Interval,
            oid::BYTEA => Plain::Bytes,
            oid::OID | XID => Plain::Unsigned,
            oid::CHAR => Plain::Char,
            _ if utf8 && self.types.by_oid(oid).is_some_and(|ty| ty.name == "citext") => Plain::Text,
            _ => return None,
        })
    }

    /// JSON form of a type's text.
    fn word(&mut self, oid: u32, depth: u32) -> Word {
        if self.part(depth).is_none() {
            return Word::Text;
        }
        let oid = self.types.base(oid);
        let stringify = self.choices.stringify;
        match oid {
            oid::INT8 | oid::NUMERIC | oid::FLOAT8 if stringify => return Word::Text,
            oid::INT2 | oid::INT4 | oid::INT8 | oid::NUMERIC | oid::FLOAT4 | oid::FLOAT8 => {
                return Word::Number;
            }
            oid::BOOL => return Word::Bool,
            oid::JSON | oid::JSONB => return Word::Json,
            oid::TIMESTAMP | oid::TIMESTAMPTZ => return Word::Timestamp,
            _ => {}
        }
        let types = self.types;
        match types.by_oid(oid).map(|ty| &ty.kind) {
            Some(Kind::Array { element }) => {
                let delimiter = delimiter(self.types, *element);
                Word::Array { element: Box::new(self.word(*element, depth + 1)), delimiter }
            }
            Some(Kind::Composite { fields }) => {
                let stringify = std::mem::replace(&mut self.choices.stringify, false);
                let fields = fields.iter().map(|(name, of)| (key(name), self.word(*of, depth + 1))).collect();
                self.choices.stringify = stringify;
                Word::Composite(fields)
            }
            Some(
                Kind::Base
                | Kind::Domain { .. }
                | Kind::Enum { .. }
                | Kind::Range { .. }
                | Kind::Multirange { .. }
                | Kind::Pseudo,
            )
            | None => Word::Text,
        }
    }
}

/// Delimiter of an array's items in text.
pub(crate) fn delimiter(types: &Types, element: u32) -> u8 {
    match types.by_oid(types.base(element)).map(|ty| ty.name.as_str()) {
        Some("box") => b';',
        Some("geometry" | "geography") => b':',
        Some(_) | None => b',',
    }
}

const XID: u32 = 28;

/// `"name":`, ready to be written.
fn key(name: &str) -> Box<[u8]> {
    let mut out = Vec::with_capacity(name.len() + 3);
    plain::quote(&mut out, name.as_bytes());
    out.push(b':');
    out.into()
}
