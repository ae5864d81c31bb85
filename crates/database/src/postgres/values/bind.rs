//! Binds literals and variables as PostgreSQL's text.
//!
//! The server reads the text by the parameter's type, so a string fits every type and no digit is touched. Lists become
//! array literals; JSON for an array, a composite or a shape becomes what the type is written as ([`super::json_literal`]).
//!
//! **Cost:** a value is written once, into the parameters; only JSON for types that are none is parsed.

mod array_parameters;
mod patterns;

pub(crate) use array_parameters::ids_array;
pub(crate) use patterns::judge;

use super::decimal;
use super::json_literal;
use crate::exec::bindings::{Bindings, Found, Given, Refused};
use crate::exec::json_path::{JsonStep, steps};
use weir_engine::rows::{Column, Data};
use weir_language::coerce::scientific;
use weir_language::value::Node;
use weir_postgres::statement::{Buffer, Parameters};
use weir_relational::catalog::ColumnType;
use weir_relational::catalog::postgres_types::{Kind, Types, oid};
use weir_relational::plan::{Encoded, Origin, Parameter, Reader};
use weir_relational::values::text_search::Words;
use weir_relational::values::trigram::Written;
use weir_relational::values::{regular_expression, text_search};

/// The keys of parents are bound as arrays, all at once; a parameter that names one by itself has the first.
const KEY: usize = 0;

/// The type of a statement's parameter.
#[derive(Clone, Copy)]
pub(crate) struct Target<'t> {
    pub(crate) types: &'t Types,
    /// OID of the type; with 0 the server infers it.
    pub(crate) oid: u32,
}

/// The last parameters of a statement, whose values are found in the request.
#[derive(Clone, Copy)]
pub(crate) struct OwnParameters<'r> {
    pub(crate) parameters: &'r [Parameter],
    /// The types of all parameters of the statement.
    pub(crate) oids: &'r [u32],
}

/// Binds the last parameters of a statement. The caller binds those before them, now or later: no type depends on how many values are
/// bound already.
pub(crate) fn push_last<'r>(
    bindings: &Bindings<'r>,
    types: &Types,
    own: OwnParameters<'r>,
    parameters: &mut Parameters,
) -> Result<(), Refused> {
    let OwnParameters { parameters: own, oids } = own;
    let first = oids.len().saturating_sub(own.len());
    own.iter().enumerate().try_for_each(|(at, parameter)| {
        let oid = oids.get(first + at).copied().unwrap_or(0);
        push(bindings, Target { types, oid }, parameter, parameters)
    })
}

/// Binds `parameter` as a value of the type `target`.
pub(crate) fn push<'r>(
    bindings: &Bindings<'r>,
    target: Target<'_>,
    parameter: &'r Parameter,
    parameters: &mut Parameters,
) -> Result<(), Refused> {
    if let (Origin::Encoded(of), Reader::Column(ty)) = (&parameter.origin, &parameter.reader) {
        return push_encoded(bindings, target, parameter, of, ty, parameters);
    }
    if let (Origin::Position(of), Reader::Column(ty)) = (&parameter.origin, &parameter.reader)
        && let Some(text) = bindings.read_position(parameter, of, ty)
    {
        return push_positioned(bindings, target, parameter, text?, ty, parameters);
    }
    push_found(bindings, target, parameter, bindings.find(parameter, KEY), parameters)
}

fn push_found<'r>(
    bindings: &Bindings<'r>,
    target: Target<'_>,
    parameter: &'r Parameter,
    found: Found<'r>,
    parameters: &mut Parameters,
) -> Result<(), Refused> {
    let no_first = parameter.reader == Reader::First && bindings.first(found).is_none();
    let is_never_null = matches!(parameter.reader, Reader::Gathered { .. } | Reader::Capped { .. });
    if (is_null(found) && !is_never_null) || no_first {
        parameters.push_null();
        return Ok(());
    }
    let oid = target.types.base(target.oid);
    let reading = Reading { bindings, parameter, types: target.types };
    let Reader::Half { half, notation, .. } = &parameter.reader else {
        return parameters.push_with(|out| read(reading, &parameter.reader, found, oid, out));
    };
    parameters.push_some_with(|out| {
        let start = out.len();
        read(reading, &parameter.reader, found, oid, out)?;
        Ok(patterns::keep_half((*half, *notation), start, out))
    })
}

/// Appends a value as `reader` reads it.
fn read<'r>(
    reading: Reading<'_, 'r>,
    reader: &'r Reader,
    found: Found<'r>,
    oid: u32,
    out: &mut Buffer,
) -> Result<(), Refused> {
    let Reading { bindings, parameter, .. } = reading;
    match reader {
        Reader::Column(ty) => reading.value(found, ty, oid, out),
        Reader::Each(ty) => reading.list(found, ty, oid, out),
        Reader::Gathered { ty, values } => reading.gather_list(values, ty, oid, out),
        Reader::Limit => {
            bindings.limit(parameter, found)?.into_iter().for_each(|it| integer(it, out));
            Ok(())
        }
        Reader::BatchSize => bindings.batch_size(parameter, found).map(|it| integer(it, out)),
        Reader::Offset => reading.value(found, &ColumnType::BigInt, oid::INT8, out),
        Reader::First => {
            bindings.first(found).into_iter().for_each(|it| integer(it, out));
            Ok(())
        }
        Reader::Skip => {
            integer(bindings.skip(found), out);
            Ok(())
        }
        Reader::Id => bindings.sure_id(parameter, found).map(|it| integer(it, out)),
        Reader::Ids => reading.numbers(found, &|it| Ok(bindings.id(it)), out),
        Reader::Words { all, kind } => {
            let text = bindings.words_text(parameter, found)?;
            out.extend_from_slice(text_search::question(text, *all, *kind, &text_search::TSQUERY).as_bytes());
            Ok(())
        }
        Reader::Pattern => {
            reading.pattern(regular_expression::postgres(bindings.text(parameter, found)?), out)
        }
        Reader::Place { metres } => reading.place(found, metres.as_ref(), out),
        // PostgreSQL's own trigram indexes are searched with the pattern itself.
        Reader::Grams(Written::Pattern) => Ok(()),
        Reader::Grams(Written::Sequence) => {
            reading.pattern(regular_expression::sequence(bindings.text(parameter, found)?), out)
        }
        Reader::Sequence => reading.sequence(found, out),
        Reader::EachWord(kind) => reading.each_word(found, *kind, out),
        Reader::Instant => bindings.instant(parameter, found).map(|it| integer(it, out)),
        Reader::Instants => reading.numbers(found, &|it| bindings.instant(parameter, it).map(Some), out),
        Reader::JsonPath => reading.json_path(found, out),
        Reader::AsIs => reading.value(found, &ColumnType::Text, oid, out),
        Reader::Capped { reader, rows_max } => {
            bindings.cap_rows(parameter, reader, *rows_max, found).map(|it| integer(it, out))
        }
        // A half of the argument is taken where it is bound.
        Reader::Half { reader, .. } => read(reading, reader, found, oid, out),
    }
}

/// Binds a value in a cursor or an identifier.
fn push_encoded<'r>(
    bindings: &Bindings<'r>,
    target: Target<'_>,
    parameter: &'r Parameter,
    of: &'r Encoded,
    ty: &ColumnType,
    parameters: &mut Parameters,
) -> Result<(), Refused> {
    let Some(text) = bindings.read_encoded(parameter, of, ty, KEY)? else {
        parameters.push_null();
        return Ok(());
    };
    let oid = target.types.base(target.oid);
    let reading = Reading { bindings, parameter, types: target.types };
    let pushed = parameters.push_with(|out| reading.value(Found::Text(&text), ty, oid, out));
    pushed.map_err(|_| bindings.no_code(parameter, of))
}

/// Binds a value in a position.
fn push_positioned<'r>(
    bindings: &Bindings<'r>,
    target: Target<'_>,
    parameter: &'r Parameter,
    text: Option<String>,
    ty: &ColumnType,
    parameters: &mut Parameters,
) -> Result<(), Refused> {
    let Some(text) = text else {
        parameters.push_null();
        return Ok(());
    };
    let oid = target.types.base(target.oid);
    let reading = Reading { bindings, parameter, types: target.types };
    let pushed = parameters.push_with(|out| reading.value(Found::Text(&text), ty, oid, out));
    pushed.map_err(|_| bindings.no_position(parameter))
}

fn is_null(found: Found<'_>) -> bool {
    match found {
        Found::Given(given) => matches!(given.node(), Node::Null | Node::Absent),
        Found::Key(column, row) => {
            column.nulls.get(row)
                || !matches!(
                    column.data,
                    Data::Bool(_) | Data::Int(_) | Data::Float(_) | Data::Text(_) | Data::Json(_)
                )
        }
        Found::Shown(_) | Found::Text(_) => false,
        // The statement compares this value itself.
        Found::Above => true,
    }
}

/// Dimension of a list in an array.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dimension {
    /// None: its items are values of their own, and none is null.
    None,
    /// The outermost is 1.
    Of(u32),
}

#[derive(Clone, Copy)]
struct Reading<'b, 'r> {
    bindings: &'b Bindings<'r>,
    parameter: &'r Parameter,
    types: &'b Types,
}

impl<'r> Reading<'_, 'r> {
    #[cold]
    fn refuse<T>(&self, message: String) -> Result<T, Refused> {
        self.bindings.refuse(self.parameter, "BAD_USER_INPUT", "parse-failed", message)
    }

    /// Appends an array of questions, one for each word. They hold nothing that a quoted item would have to escape.
    fn each_word(&self, found: Found<'r>, kind: Words, out: &mut Buffer) -> Result<(), Refused> {
        let text = self.bindings.words_text(self.parameter, found)?;
        out.push(b'{');
        for (at, question) in text_search::questions(text, kind, &text_search::TSQUERY).iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"\"" } else { b",\"" });
            out.extend_from_slice(question.as_bytes());
            out.push(b'"');
        }
        out.push(b'}');
        Ok(())
    }

    /// Appends words that follow each other.
    fn sequence(&self, found: Found<'r>, out: &mut Buffer) -> Result<(), Refused> {
        let words = regular_expression::short_sequence(self.bindings.text(self.parameter, found)?);
        self.pattern(words.map(str::to_owned), out)
    }

    /// Appends a pattern, or refuses it.
    fn pattern(&self, pattern: Result<String, String>, out: &mut Buffer) -> Result<(), Refused> {
        match pattern {
            Ok(pattern) => {
                out.extend_from_slice(pattern.as_bytes());
                Ok(())
            }
            Err(cause) => self.bindings.refuse(self.parameter, "INVALID_PATTERN", "data-exception", cause),
        }
    }

    /// Appends a place as one document, with bounds that contain everything within `metres` of it.
    fn place(&self, found: Found<'r>, metres: Option<&'r Origin>, out: &mut Buffer) -> Result<(), Refused> {
        let metres = self.bindings.metres(self.parameter, metres)?;
        out.extend_from_slice(self.bindings.place(self.parameter, found)?.1.json(metres).as_bytes());
        Ok(())
    }

    /// Appends a value, which is not null, for a column of type `ty`, whose number is `oid` where it is known.
    fn value(&self, found: Found<'_>, ty: &ColumnType, oid: u32, out: &mut Buffer) -> Result<(), Refused> {
        match found {
            Found::Given(given) => self.write_given(given, ty, oid, out),
            Found::Key(column, row) => {
                key(column, row, ty, oid, out);
                Ok(())
            }
            Found::Shown(ids) => {
                ids.first().into_iter().for_each(|id| integer(*id, out));
                Ok(())
            }
            Found::Text(text) => {
                json_literal::check(ty, text).or_else(|words| self.refuse(words))?;
                self.cast(text, out)
            }
            Found::Above => Ok(()),
        }
    }

    /// Appends a text that the database casts.
    fn cast(&self, text: &str, out: &mut Buffer) -> Result<(), Refused> {
        self.bindings.check_text(self.parameter, text)?;
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn write_given(
        &self,
        given: Given<'_>,
        ty: &ColumnType,
        oid: u32,
        out: &mut Buffer,
    ) -> Result<(), Refused> {
        match given.node() {
            Node::Int(value) | Node::QuotedInt(value) => {
                self.check_bounds(value, ty)?;
                integer(value, out);
            }
            Node::Text(span) => {
                let text = given.str(span);
                self.bindings.check_text(self.parameter, text)?;
                json_literal::check(ty, text).or_else(|words| self.refuse(words))?;
                number(text, ty, oid, out);
            }
            Node::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
            Node::Number(span) => number(given.str(span), ty, oid, out),
            Node::Float(value) => number(zmij::Buffer::new().format(value), ty, oid, out),
            Node::Json(span) => {
                let json = given.str(span);
                // A shape travels as text, whatever its column's type; an item of an array is written as the array has it.
                let is_shape = matches!(ty, ColumnType::Geometry | ColumnType::Geography);
                let written = if is_shape && matches!(oid, 0 | oid::TEXT) {
                    json_literal::shape(json, out)
                } else {
                    json_literal::write(self.types, oid, json, out)
                };
                if let Err(words) = written {
                    return self.refuse(words);
                }
            }
            Node::Enum(value) => out.extend_from_slice(self.bindings.enum_name(value).as_bytes()),
            Node::List { .. } => return self.array(given, ty, oid, out),
            _ => return self.refuse("expected a scalar".into()),
        }
        Ok(())
    }

    /// Hasura's words for an integer that its column cannot hold.
    fn check_bounds(&self, value: i64, ty: &ColumnType) -> Result<(), Refused> {
        let fits = match ty.facts().bits {
            Some(16) => i16::try_from(value).is_ok(),
            Some(32) => i32::try_from(value).is_ok(),
            Some(_) | None => true,
        };
        if fits {
            return Ok(());
        }
        let shown = scientific(&value.to_string());
        self.refuse(format!(
            "The value {shown} lies outside the bounds or is not an integer. \
             Maybe it is a float, or is there integer overflow?"
        ))
    }

    /// A list for a column of arrays. One text that is an array in PostgreSQL's own form stands for the whole, where it
    /// cannot be an element.
    fn array(&self, list: Given<'_>, ty: &ColumnType, oid: u32, out: &mut Buffer) -> Result<(), Refused> {
        let element = match self.types.by_oid(oid).map(|it| &it.kind) {
            Some(Kind::Array { element }) => self.types.base(*element),
            // Items that are arrays themselves travel as texts.
            Some(_) if ty.element().is_some() => 0,
            Some(_) => return self.refuse("expected a scalar".into()),
            None => 0,
        };
        let ty = ty.element().unwrap_or(ty);
        let mut items = self.bindings.items(list, KEY);
        if let (Some(Found::Given(only)), None) = (items.next(), items.next())
            && let Node::Text(span) = only.node()
            && !holds_braces(element)
            && given_array(only.str(span))
        {
            return self.write_given(only, &ColumnType::Text, oid, out);
        }
        self.items(list, ty, element, Dimension::Of(1), out)
    }

    /// The number of the type of arrays of `element`, where their text is not just the texts of the items.
    fn array_of(&self, element: &ColumnType) -> u32 {
        let of = match element {
            ColumnType::Json => oid::JSON,
            ColumnType::Jsonb => oid::JSONB,
            ColumnType::Money => oid::MONEY,
            ColumnType::Interval => oid::INTERVAL,
            other => match other.own_name().and_then(|it| self.types.find_by_name(it)) {
                Some(ty) => return ty.array_oid,
                None => 0,
            },
        };
        self.types.by_oid(of).map_or(0, |it| it.array_oid)
    }

    /// The steps of a path, as an array of texts.
    fn json_path(&self, found: Found<'_>, out: &mut Buffer) -> Result<(), Refused> {
        let mut path = Buffer::new();
        self.value(found, &ColumnType::Text, oid::TEXT, &mut path)?;
        let path = String::from_utf8_lossy(&path);
        let Some(steps) = steps(&path) else {
            let message = format!("parse json path error: \"{path}\"");
            return self.bindings.refuse(self.parameter, "INVALID_PATH", "parse-failed", message);
        };
        out.push(b'{');
        for (at, step) in steps.into_iter().enumerate() {
            if at != 0 {
                out.push(b',');
            }
            let (JsonStep::Key(text) | JsonStep::Index(text)) = step;
            json_literal::quote(text.as_bytes(), out);
        }
        out.push(b'}');
        Ok(())
    }
}

/// A key that another source gave.
fn key(column: &Column, row: usize, ty: &ColumnType, oid: u32, out: &mut Buffer) {
    match &column.data {
        Data::Bool(values) => out.extend_from_slice(if values[row] { b"true" } else { b"false" }),
        Data::Int(values) => integer(values[row], out),
        Data::Float(values) => number(zmij::Buffer::new().format(values[row]), ty, oid, out),
        Data::Text(texts) | Data::Json(texts) => out.extend_from_slice(texts.get(row)),
        // Null, as `is_null` says.
        Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => {}
    }
}

/// A text that may be a number, as the type with number `oid` reads it; as `ty` where that is not known.
fn number(text: &str, ty: &ColumnType, oid: u32, out: &mut Buffer) {
    let oid = if oid == 0 && *ty == ColumnType::Money { oid::MONEY } else { oid };
    decimal::push(oid, text, out);
}

fn integer(value: i64, out: &mut Buffer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// True if an element of the type may be a text between braces itself, or if the type is unknown.
fn holds_braces(element: u32) -> bool {
    !matches!(
        element,
        oid::BOOL
            | oid::INT2
            | oid::INT4
            | oid::INT8
            | oid::FLOAT4
            | oid::FLOAT8
            | oid::NUMERIC
            | oid::MONEY
            | oid::UUID
            | oid::DATE
            | oid::TIME
            | oid::TIMETZ
            | oid::TIMESTAMP
            | oid::TIMESTAMPTZ
            | oid::INTERVAL
            | oid::INET
            | oid::CIDR
    )
}

fn given_array(text: &str) -> bool {
    let text = text.trim();
    (text.starts_with('{') || text.starts_with('[')) && text.ends_with('}')
}

#[cfg(test)]
mod tests;
