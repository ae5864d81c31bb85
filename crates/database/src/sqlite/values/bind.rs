//! Binds literals and variables by the column's type.
//!
//! Strings are accepted for any type. Digits of decimals are bound as text where they are no 64-bit integer, and
//! SQLite's affinity makes of them what it stores; our code never turns them into a float.
//!
//! **Cost:** texts are borrowed; only lists (one JSON text) and blobs are built.

use super::cast::{self, Refusal};
use crate::exec::array_text;
use crate::exec::bindings::{Bindings, Found, Given, Refused};
use crate::exec::pattern_checks::refuse;
use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};
use std::borrow::Cow;
use weir_engine::rows::{Column, Data};
use weir_engine::write::out::Out;
use weir_language::value::Node;
use weir_relational::catalog::ColumnType;
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::operators::Comparison;
use weir_relational::plan::{Encoded, Judged, Origin, Parameter, Reader};
use weir_relational::values::hex::hex;
use weir_relational::values::{regular_expression, text_search, trigram};
use weir_sqlite::pattern::{Kind, complaint};
use weir_sqlite::stored_forms::unhex;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SqliteValue<'v> {
    Null,
    Int(i64),
    Real(f64),
    Text(Cow<'v, str>),
    Blob(Vec<u8>),
}

impl SqliteValue<'_> {
    fn into_owned(self) -> SqliteValue<'static> {
        match self {
            Self::Null => SqliteValue::Null,
            Self::Int(value) => SqliteValue::Int(value),
            Self::Real(value) => SqliteValue::Real(value),
            Self::Text(text) => SqliteValue::Text(text.into_owned().into()),
            Self::Blob(bytes) => SqliteValue::Blob(bytes),
        }
    }
}

impl ToSql for SqliteValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// The value of `parameter`; for a plan node below the root, for parent key `key`.
pub(crate) fn value<'r>(
    bindings: &Bindings<'r>,
    parameter: &'r Parameter,
    key: usize,
) -> Result<SqliteValue<'r>, Refused> {
    let reading = SqliteReading { bindings, parameter, key };
    if let (Origin::Encoded(of), Reader::Column(ty)) = (&parameter.origin, &parameter.reader) {
        return reading.read_encoded(of, ty);
    }
    if let (Origin::Position(of), Reader::Column(ty)) = (&parameter.origin, &parameter.reader)
        && let Some(text) = bindings.read_position(parameter, of, ty)
    {
        return reading.read_position(text?, ty);
    }
    found_value(reading, bindings.find(parameter, key))
}

fn found_value<'r>(reading: SqliteReading<'_, 'r>, found: Found<'r>) -> Result<SqliteValue<'r>, Refused> {
    let SqliteReading { bindings, parameter, .. } = reading;
    match &parameter.reader {
        Reader::Column(ty) => reading.scalar(found, ty),
        Reader::Each(ty) => reading.list(found, ty),
        Reader::Gathered { ty, values } => reading.gather_list(values, ty),
        Reader::Limit => Ok(SqliteValue::Int(bindings.limit(parameter, found)?.unwrap_or(-1))),
        Reader::BatchSize => bindings.batch_size(parameter, found).map(SqliteValue::Int),
        Reader::Offset => reading.offset(found),
        Reader::First => Ok(SqliteValue::Int(bindings.first(found).unwrap_or(-1))),
        Reader::Skip => Ok(SqliteValue::Int(bindings.skip(found))),
        Reader::Id => bindings.sure_id(parameter, found).map(SqliteValue::Int),
        Reader::Ids => reading.numbers(found, &|it| Ok(bindings.id(it))),
        Reader::Words { all, kind } => {
            let text = bindings.words_text(parameter, found)?;
            Ok(SqliteValue::Text(text_search::question(text, *all, *kind, &text_search::FTS5).into()))
        }
        Reader::EachWord(kind) => {
            let questions =
                text_search::questions(bindings.words_text(parameter, found)?, *kind, &text_search::FTS5);
            let mut out = Out::default();
            out.open(b'[');
            for question in questions {
                out.string(&question);
                out.comma();
            }
            out.close(b']');
            Ok(SqliteValue::Text(String::from_utf8_lossy(out.bytes()).into_owned().into()))
        }
        Reader::Half { reader, .. } => {
            let whole = Parameter { reader: (**reader).clone(), ..parameter.clone() };
            let reading = SqliteReading { parameter: &whole, ..reading };
            found_value(reading, found).map(SqliteValue::into_owned)
        }
        Reader::Pattern => match regular_expression::rust(bindings.text(parameter, found)?) {
            Ok(pattern) => Ok(SqliteValue::Text(pattern.into())),
            Err(cause) => reading.refuse("INVALID_PATTERN", "data-exception", cause),
        },
        Reader::Place { metres } => {
            bindings.metres(parameter, metres.as_ref())?;
            Ok(SqliteValue::Text(bindings.place(parameter, found)?.0.into()))
        }
        Reader::Grams(written) => {
            let question = trigram::question(bindings.text(parameter, found)?, *written);
            Ok(question.map_or(SqliteValue::Null, |it| SqliteValue::Text(it.into())))
        }
        Reader::Sequence => match regular_expression::short_sequence(bindings.text(parameter, found)?) {
            Ok(words) => Ok(SqliteValue::Text(words.into())),
            Err(cause) => bindings.refuse(parameter, "INVALID_PATTERN", "data-exception", cause),
        },
        Reader::Instant => bindings.instant(parameter, found).map(SqliteValue::Int),
        Reader::Instants => reading.numbers(found, &|it| bindings.instant(parameter, it).map(Some)),
        Reader::JsonPath => reading.json_path(found),
        Reader::AsIs => reading.scalar(found, &ColumnType::Text),
        Reader::Capped { reader, rows_max } => {
            bindings.cap_rows(parameter, reader, *rows_max, found).map(SqliteValue::Int)
        }
    }
}

/// Checks a pattern by compiling it. Patterns for searches of words are generated, so they are valid.
pub(crate) fn judge<'r>(judged: &'r Judged, bindings: &Bindings<'r>) -> Result<(), Refused> {
    let SqliteValue::Text(pattern) = value(bindings, &judged.with, 0)? else { return Ok(()) };
    let (kind, fold) = match judged.by {
        // Patterns from rows above are judged behind the policy.
        _ if judged.with.reader == Reader::Sequence || judged.with.origin.is_of_row() => return Ok(()),
        Comparison::Like => (Kind::Like, false),
        Comparison::Ilike => (Kind::Like, true),
        Comparison::Similar => (Kind::Similar, false),
        Comparison::Iregex => (Kind::Regex, true),
        _ => (Kind::Regex, false),
    };
    match complaint(&pattern, kind, fold) {
        Some(words) => refuse(bindings, words),
        None => Ok(()),
    }
}

fn parent(column: &Column, row: usize) -> SqliteValue<'_> {
    if column.nulls.get(row) {
        return SqliteValue::Null;
    }
    match &column.data {
        Data::Bool(values) => SqliteValue::Int(i64::from(values[row])),
        Data::Int(values) => SqliteValue::Int(values[row]),
        Data::Float(values) => SqliteValue::Real(values[row]),
        Data::Text(texts) | Data::Json(texts) => SqliteValue::Text(String::from_utf8_lossy(texts.get(row))),
        Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => {
            SqliteValue::Null
        }
    }
}

#[derive(Clone, Copy)]
struct SqliteReading<'b, 'r> {
    bindings: &'b Bindings<'r>,
    parameter: &'r Parameter,
    key: usize,
}

impl<'r> SqliteReading<'_, 'r> {
    fn refuse<T>(&self, spec: &'static str, hasura: &'static str, message: String) -> Result<T, Refused> {
        self.bindings.refuse(self.parameter, spec, hasura, message)
    }

    fn invalid<T>(&self, ty: &str, text: &str) -> Result<T, Refused> {
        self.bindings.invalid(self.parameter, ty, text)
    }

    fn scalar(&self, found: Found<'r>, ty: &ColumnType) -> Result<SqliteValue<'r>, Refused> {
        match found {
            Found::Given(given) => self.read_given(given, ty),
            Found::Key(column, row) => self.parent(column, row, ty),
            Found::Shown(ids) => Ok(ids.first().map_or(SqliteValue::Null, |id| SqliteValue::Int(*id))),
            Found::Text(text) => self.cast(text, ty),
            // SqliteValue for each parent, by the level.
            Found::Above => Ok(SqliteValue::Null),
        }
    }

    fn read_given(&self, given: Given<'r>, ty: &ColumnType) -> Result<SqliteValue<'r>, Refused> {
        match given.node() {
            Node::Null | Node::Absent => Ok(SqliteValue::Null),
            Node::Bool(value) => Ok(if is_text(ty) {
                SqliteValue::Text(if value { "true" } else { "false" }.into())
            } else {
                SqliteValue::Int(i64::from(value))
            }),
            Node::Int(value) | Node::QuotedInt(value) => Ok(match ty.facts().cell {
                Cell::Text | Cell::Uuid => SqliteValue::Text(value.to_string().into()),
                // Beside floating point numbers an integer is one: with all its digits it would equal none beyond 2^53.
                Cell::Float => SqliteValue::Real(value as f64),
                _ => SqliteValue::Int(value),
            }),
            Node::Float(value) => Ok(SqliteValue::Real(value)),
            Node::Number(span) => self.number_of(given.str(span), ty),
            Node::Text(span) => self.text(given.str(span), ty),
            Node::Json(span) => self.text_value(given.str(span)),
            Node::Enum(value) => Ok(SqliteValue::Text(self.bindings.enum_name(value).into())),
            Node::List { .. } | Node::Object { .. } | Node::Key(_) | Node::Variable(_) | Node::Parent(_) => {
                self.refuse("BAD_USER_INPUT", "parse-failed", "expected a scalar".into())
            }
        }
    }

    fn text(&self, text: &'r str, ty: &ColumnType) -> Result<SqliteValue<'r>, Refused> {
        self.bindings.check_text(self.parameter, text)?;
        match ty.facts().cell {
            Cell::Int | Cell::BigInt | Cell::Id => match text.trim().parse() {
                Ok(value) => Ok(SqliteValue::Int(value)),
                Err(_) => self.invalid("integer", text),
            },
            Cell::Float | Cell::Numeric => {
                if crate::exec::cell_value::is_number(text.trim().as_bytes()) {
                    self.number_of(text.trim(), ty)
                } else {
                    self.invalid("numeric", text)
                }
            }
            Cell::Boolean => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "t" | "yes" | "y" | "on" | "1" => Ok(SqliteValue::Int(1)),
                "false" | "f" | "no" | "n" | "off" | "0" => Ok(SqliteValue::Int(0)),
                _ => self.invalid("boolean", text),
            },
            Cell::Bytes => match text.strip_prefix("\\x") {
                Some(digits) => match unhex(digits) {
                    Some(bytes) => Ok(SqliteValue::Blob(bytes)),
                    None => self.invalid("bytea", text),
                },
                None => Ok(SqliteValue::Blob(text.as_bytes().to_vec())),
            },
            Cell::Text if matches!(ty, ColumnType::Text | ColumnType::Char | ColumnType::CiText) => {
                Ok(SqliteValue::Text(text.into()))
            }
            Cell::Text | Cell::Uuid | Cell::Capitals | Cell::Json => self.text_value(text),
        }
    }

    /// Reads a value from a cursor or an identifier.
    fn read_encoded(&self, of: &'r Encoded, ty: &ColumnType) -> Result<SqliteValue<'r>, Refused> {
        let Some(text) = self.bindings.read_encoded(self.parameter, of, ty, self.key)? else {
            return Ok(SqliteValue::Null);
        };
        // The text lives as long as the value is read.
        let reading = SqliteReading { bindings: self.bindings, parameter: self.parameter, key: self.key };
        let value = reading.cast(&text, ty).map(SqliteValue::into_owned);
        value.map_err(|_| self.bindings.no_code(self.parameter, of))
    }

    /// Reads a value from a stream's position.
    fn read_position(&self, text: Option<String>, ty: &ColumnType) -> Result<SqliteValue<'r>, Refused> {
        let Some(text) = text else { return Ok(SqliteValue::Null) };
        // The text lives as long as the value is read.
        let reading = SqliteReading { bindings: self.bindings, parameter: self.parameter, key: self.key };
        let value = reading.cast(&text, ty).map(SqliteValue::into_owned);
        value.map_err(|_| self.bindings.no_position(self.parameter))
    }

    /// A text of a session variable or a policy, as a cast to `ty` takes it.
    fn cast(&self, text: &'r str, ty: &ColumnType) -> Result<SqliteValue<'r>, Refused> {
        match ty.facts().cell {
            Cell::Int | Cell::BigInt => match cast::integer(text, ty.facts().bits) {
                Ok(value) => Ok(SqliteValue::Int(value)),
                Err(Refusal::Syntax) => self.no_value("integer"),
                Err(Refusal::Range) => self.out_of_range(),
            },
            Cell::Float | Cell::Numeric => match cast::decimal(text) {
                Some(Cow::Borrowed(digits)) => self.number_of(digits, ty),
                Some(Cow::Owned(digits)) => match digits.parse::<f64>() {
                    Ok(size) if size.is_finite() => Ok(SqliteValue::Text(digits.into())),
                    Ok(_) | Err(_) => self.out_of_range(),
                },
                None => self.no_value("numeric"),
            },
            Cell::Boolean => match cast::boolean(text) {
                Some(value) => Ok(SqliteValue::Int(i64::from(value))),
                None => self.no_value("boolean"),
            },
            Cell::Json if cast::is_no_document(text, ty) => self.no_value("json"),
            Cell::Id | Cell::Bytes | Cell::Text | Cell::Uuid | Cell::Capitals | Cell::Json => {
                self.text(text, ty)
            }
        }
    }

    /// The text of a session is not quoted: it is the caller's, and an error may be logged elsewhere.
    fn no_value<T>(&self, ty: &str) -> Result<T, Refused> {
        self.refuse("INVALID_VALUE", "data-exception", format!("invalid input syntax for type {ty}"))
    }

    fn out_of_range<T>(&self) -> Result<T, Refused> {
        self.refuse("INVALID_VALUE", "data-exception", "a value is out of range for its type".into())
    }

    /// The text of an array as one JSON text.
    fn array(&self, text: &'r str, ty: &ColumnType) -> Result<SqliteValue<'r>, Refused> {
        let Some(items) = array_text::items(text) else {
            return self.refuse("INVALID_VALUE", "data-exception", "malformed array literal".into());
        };
        json_list(|out| {
            for item in items {
                let Some(item) = item else {
                    out.raw(b"null");
                    out.comma();
                    continue;
                };
                // The item lives as long as the text is written.
                let reading =
                    SqliteReading { bindings: self.bindings, parameter: self.parameter, key: self.key };
                push_item(reading.cast(&item, ty)?, ty, out);
            }
            Ok(())
        })
    }

    /// A text for a column whose declared type may make SQLite read numbers out of texts: one beyond floating point would
    /// become an infinity.
    fn text_value(&self, text: &'r str) -> Result<SqliteValue<'r>, Refused> {
        if crate::exec::cell_value::is_number(text.trim().as_bytes())
            && !text.trim().parse().is_ok_and(f64::is_finite)
        {
            self.number(text.trim())
        } else {
            Ok(SqliteValue::Text(text.into()))
        }
    }

    /// Digits: an integer where it fits, else text that affinity turns into a number. SQLite has none beyond floating point: of
    /// greater ones it would make an infinity, in any column and any comparison.
    fn number(&self, digits: &'r str) -> Result<SqliteValue<'r>, Refused> {
        if let Ok(value) = digits.parse() {
            return Ok(SqliteValue::Int(value));
        }
        match digits.parse::<f64>() {
            Ok(size) if size.is_finite() => Ok(SqliteValue::Text(digits.into())),
            Ok(_) | Err(_) => {
                let shown: String = digits.chars().take(100).collect();
                let message = format!("\"{shown}\" is out of range for type double precision");
                self.refuse("BAD_USER_INPUT", "data-exception", message)
            }
        }
    }

    /// Digits for a value of type `ty`. Those of a floating point number are read here, to the nearest: SQLite's own reader is
    /// not exact in the last of them.
    fn number_of(&self, digits: &'r str, ty: &ColumnType) -> Result<SqliteValue<'r>, Refused> {
        match digits.parse::<f64>() {
            Ok(size) if ty.facts().cell == Cell::Float && size.is_finite() => Ok(SqliteValue::Real(size)),
            Ok(_) | Err(_) => self.number(digits),
        }
    }

    /// A key of the parents.
    fn parent(&self, column: &'r Column, row: usize, ty: &ColumnType) -> Result<SqliteValue<'r>, Refused> {
        match (parent(column, row), ty.facts().cell) {
            // Bytes come as the text of their digits.
            (SqliteValue::Text(Cow::Borrowed(text)), Cell::Bytes) => self.text(text, ty),
            (value, _) => Ok(value),
        }
    }

    /// A list as one JSON text.
    fn list(&self, found: Found<'r>, ty: &ColumnType) -> Result<SqliteValue<'r>, Refused> {
        if let Found::Text(text) = found {
            return self.array(text, ty);
        }
        let Found::Given(list) = found else { return self.scalar(found, ty) };
        json_list(|out| self.bindings.items(list, self.key).try_for_each(|it| self.item(it, ty, out)))
    }

    /// Writes separate parameters as one JSON list.
    fn gather_list(&self, values: &'r [Parameter], ty: &ColumnType) -> Result<SqliteValue<'r>, Refused> {
        json_list(|out| {
            for parameter in values {
                let reading = SqliteReading { parameter, ..*self };
                let bindings = self.bindings;
                let found = self.bindings.find(parameter, self.key);
                match parameter.reader {
                    Reader::Ids => reading.push_numbers(found, &|it| Ok(bindings.id(it)), out)?,
                    Reader::Instant => {
                        reading.push_numbers(found, &|it| bindings.instant(parameter, it).map(Some), out)?;
                    }
                    _ => reading.item(found, ty, out)?,
                }
            }
            Ok(())
        })
    }

    /// An item of a list.
    fn item(&self, found: Found<'r>, ty: &ColumnType, out: &mut Out) -> Result<(), Refused> {
        match self.scalar(found, ty)? {
            SqliteValue::Null => {
                let message = "unexpected null value in a list".into();
                return self.refuse("BAD_USER_INPUT", "validation-failed", message);
            }
            value => push_item(value, ty, out),
        }
        Ok(())
    }

    /// A list of numbers as one JSON text, without those that `read` leaves out.
    fn numbers(&self, found: Found<'r>, read: &NumberReader<'_, 'r>) -> Result<SqliteValue<'r>, Refused> {
        match found {
            Found::Shown(ids) => Ok(SqliteValue::Text(ids_json(ids).into())),
            Found::Given(_) | Found::Key(..) | Found::Text(_) | Found::Above => {
                json_list(|out| self.push_numbers(found, read, out))
            }
        }
    }

    fn push_numbers(
        &self,
        found: Found<'r>,
        read: &NumberReader<'_, 'r>,
        out: &mut Out,
    ) -> Result<(), Refused> {
        let mut push = |item| -> Result<(), Refused> {
            if let Some(number) = read(item)? {
                out.int(number);
                out.comma();
            }
            Ok(())
        };
        match found {
            Found::Given(list) => self.bindings.items(list, self.key).try_for_each(push),
            Found::Key(..) | Found::Above | Found::Shown(_) | Found::Text(_) => push(found),
        }
    }

    fn offset(&self, found: Found<'r>) -> Result<SqliteValue<'r>, Refused> {
        match self.scalar(found, &ColumnType::BigInt)? {
            SqliteValue::Null => Ok(SqliteValue::Int(0)),
            SqliteValue::Int(value) if value >= 0 => Ok(SqliteValue::Int(value)),
            SqliteValue::Int(_) => {
                let message = "OFFSET must not be negative".into();
                self.refuse("BAD_USER_INPUT", "data-exception", message)
            }
            SqliteValue::Real(_) | SqliteValue::Text(_) | SqliteValue::Blob(_) => self.invalid("integer", ""),
        }
    }

    fn json_path(&self, found: Found<'r>) -> Result<SqliteValue<'r>, Refused> {
        let SqliteValue::Text(path) = self.scalar(found, &ColumnType::Text)? else {
            return Ok(SqliteValue::Null);
        };
        match super::json_path::translate(&path) {
            Some(path) => Ok(SqliteValue::Text(path.into())),
            None => self.refuse("INVALID_PATH", "parse-failed", format!("parse json path error: \"{path}\"")),
        }
    }
}

/// Appends an item of a list, with its comma.
fn push_item(value: SqliteValue<'_>, ty: &ColumnType, out: &mut Out) {
    match value {
        SqliteValue::Null => out.raw(b"null"),
        SqliteValue::Int(value) => out.int(value),
        // Written with an exponent: SQLite would read plain digits as an integer, and compare all of them.
        SqliteValue::Real(value) => out.raw(format!("{value:e}").as_bytes()),
        SqliteValue::Text(text) if has_digits(ty) => out.raw(text.as_bytes()),
        SqliteValue::Text(text) => out.string(&text),
        SqliteValue::Blob(bytes) => out.string(&hex(&bytes)),
    }
    out.comma();
}

/// Reads an item of a list of numbers; `None` is left out.
type NumberReader<'b, 'r> = dyn Fn(Found<'r>) -> Result<Option<i64>, Refused> + 'b;

/// The output of `write`, each item with its comma, as one JSON text.
fn json_list<'v>(write: impl FnOnce(&mut Out) -> Result<(), Refused>) -> Result<SqliteValue<'v>, Refused> {
    let mut out = Out::default();
    out.open(b'[');
    write(&mut out)?;
    out.close(b']');
    let text = String::from_utf8(out.into_bytes()).expect("JSON made of strings and numbers is UTF-8");
    Ok(SqliteValue::Text(text.into()))
}

/// Numbers as one JSON text, which SQLite takes as a list.
pub(crate) fn ids_json(ids: &[i64]) -> String {
    let mut digits = itoa::Buffer::new();
    let mut out = String::with_capacity(2 + 8 * ids.len());
    for id in ids {
        out.push(if out.is_empty() { '[' } else { ',' });
        out.push_str(digits.format(*id));
    }
    out.push_str(if ids.is_empty() { "[]" } else { "]" });
    out
}

fn has_digits(ty: &ColumnType) -> bool {
    matches!(ty.facts().cell, Cell::Float | Cell::Numeric)
}

fn is_text(ty: &ColumnType) -> bool {
    matches!(ty.facts().cell, Cell::Text | Cell::Uuid)
}

/// True if `value`, bound by `reader`, may stand for bytes in a column of texts: it begins as the digits of bytes do.
pub(crate) fn may_be_bytes(value: &SqliteValue<'_>, reader: &Reader) -> bool {
    match (value, reader) {
        (SqliteValue::Text(text), Reader::Column(_)) => text.starts_with("\\x"),
        (SqliteValue::Text(list), Reader::Each(_) | Reader::Gathered { .. }) => list.contains("\"\\\\x"),
        _ => false,
    }
}
