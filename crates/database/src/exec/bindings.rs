//! Values of a request, for the drivers of all databases.
//!
//! A parameter says where its value stands: in a literal, a variable, a leaf of a structural variable, or the key of a
//! parent. Here it is found; how it is bound is the driver's business.
//!
//! **Invariant:** a resolved value is never a variable: variables are replaced by their values.

use super::encoded;
use crate::frontend::coordinates::write_coordinates;
use crate::frontend::form::Form;
use std::sync::Arc;
use weir_engine::caller::Claims;
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::rows::{Column, Data};
use weir_engine::source::{FieldError, Ids, Protocol, SourceError, StreamRead};
use weir_language::schema::{EnumValueId, Schema};
use weir_language::value::{Node, TextSpan, Values, Variables};
use weir_relational::catalog::ColumnType;
use weir_relational::plan::{Encoded, EncodedPart, Origin, Parameter, Position, Reader};
use weir_relational::values::geometry::Geometry;
use weir_relational::values::text_search::{ASKED_MAX, are_few};

/// Values of a request.
#[derive(Clone, Copy)]
pub(crate) struct Bindings<'r> {
    pub(crate) schema: &'r Schema,
    /// By [`EnumValueId`] of the schema: the database's text where it is not the name. Empty: none.
    pub(crate) enum_texts: &'r [Option<Box<str>>],
    pub(crate) ids: &'r Ids,
    pub(crate) output: &'r OutputPlan,
    pub(crate) variables: &'r Variables,
    pub(crate) form: &'r Form,
    /// The row that is bound, of a slot that holds rows.
    pub(crate) row: SlotRow,
    pub(crate) parent_keys: &'r [Column],
    /// Numbers of objects that a program shows.
    pub(crate) shown: &'r [i64],
    /// The caller's session variables, among them all that the plan reads.
    pub(crate) claims: &'r Claims,
    /// The batch that is read, if the operation is a stream.
    pub(crate) stream: Option<&'r Arc<StreamRead>>,
    pub(crate) protocol: Protocol,
}

/// The current row of a slot that holds rows.
#[derive(Clone, Copy, Default)]
pub(crate) struct SlotRow {
    pub(crate) slot: u32,
    /// Number of leaves before the row.
    pub(crate) leaves_before: u32,
}

/// A value of a request.
#[derive(Clone, Copy)]
pub(crate) enum Found<'r> {
    /// A value sent by the client.
    Given(Given<'r>),
    /// A row of a column of keys.
    Key(&'r Column, usize),
    /// Numbers of objects that a program shows.
    Shown(&'r [i64]),
    /// Text of the caller's session or of a policy, which is cast as SQL casts it.
    Text(&'r str),
    /// In the row of the level above, which the driver has.
    Above,
}

/// A value that a client sent, and the tape it is on.
#[derive(Clone, Copy)]
pub(crate) struct Given<'r> {
    values: &'r Values,
    at: usize,
}

impl<'r> Given<'r> {
    pub(crate) fn node(self) -> Node {
        self.values.nodes[self.at]
    }

    pub(crate) fn str(self, span: TextSpan) -> &'r str {
        self.values.str(span)
    }

    /// True for a list.
    pub(crate) fn is_list(self) -> bool {
        matches!(self.node(), Node::List { .. })
    }
}

/// True if `text` is a UUID as PostgreSQL writes it.
fn is_usual_uuid(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
    };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

/// Error of a value.
pub(crate) type Refused = Box<FieldError>;

impl<'r> Bindings<'r> {
    /// The value of `parameter`; for a plan node below the root, for parent key `key`.
    pub(crate) fn find(&self, parameter: &'r Parameter, key: usize) -> Found<'r> {
        self.find_at(&parameter.origin, key)
    }

    fn find_at(&self, origin: &'r Origin, key: usize) -> Found<'r> {
        let variables = &self.variables.values;
        let (values, at) = match *origin {
            // The run has refused a caller without one that the plan reads.
            Origin::Claim(ref name) => return Found::Text(self.claims.variable(name).unwrap_or_default()),
            Origin::Session => return Found::Text(self.claims.session()),
            Origin::Constant(ref text) => return Found::Text(text),
            Origin::Literal(at) => (&self.output.literals, at),
            Origin::Variable(number) => (variables, self.variables.starts[number as usize]),
            Origin::Inside { slot, leaf } => {
                let before = if slot == self.row.slot { self.row.leaves_before } else { 0 };
                (variables, self.form.leaf(slot, leaf + before))
            }
            Origin::Parent(column) => return Found::Key(&self.parent_keys[column as usize], key),
            Origin::Shown => return Found::Shown(self.shown),
            Origin::LookedUp(at) => return Found::Shown(&self.shown[at as usize..=at as usize]),
            // Parts of an encoded text are read by [`Bindings::read_encoded`].
            Origin::ParentColumn(_) | Origin::Before(_) | Origin::Bound(_) | Origin::Encoded(_) => {
                return Found::Above;
            }
            // A position is read by [`Bindings::read_position`]; before the first batch this is the client's value.
            Origin::Position(ref of) => match &of.first {
                Some(first) => return self.find_at(first, key),
                None => return Found::Above,
            },
        };
        self.follow(Given { values, at: at as usize }, key)
    }

    fn follow(&self, given: Given<'r>, key: usize) -> Found<'r> {
        match given.node() {
            Node::Variable(number) => {
                let at = self.variables.starts[number as usize] as usize;
                Found::Given(Given { values: &self.variables.values, at })
            }
            Node::Parent(column) => Found::Key(&self.parent_keys[column as usize], key),
            Node::Absent
            | Node::Null
            | Node::Bool(_)
            | Node::Int(_)
            | Node::QuotedInt(_)
            | Node::Float(_)
            | Node::Number(_)
            | Node::Text(_)
            | Node::Json(_)
            | Node::Enum(_)
            | Node::List { .. }
            | Node::Object { .. }
            | Node::Key(_) => Found::Given(given),
        }
    }

    /// The items of a list; a value that is no list is a list of one.
    pub(crate) fn items(&self, list: Given<'r>, key: usize) -> impl Iterator<Item = Found<'r>> {
        let single = (!list.is_list()).then_some(list.at);
        let places = list.values.items(list.at).chain(single);
        places.map(move |at| self.follow(Given { values: list.values, at }, key))
    }

    /// The text of the value of a column whose equal values have one text; `None`: it is null, or its text may be another.
    pub(crate) fn key_text(&self, parameter: &'r Parameter) -> Option<String> {
        let ty = match &parameter.reader {
            Reader::Column(ty) => ty,
            Reader::Id => return self.id(self.find(parameter, 0)).map(|it| it.to_string()),
            _ => return None,
        };
        let is_integer = matches!(ty, ColumnType::SmallInt | ColumnType::Int | ColumnType::BigInt);
        let text = match self.find(parameter, 0) {
            Found::Given(given) => match given.node() {
                Node::Int(value) | Node::QuotedInt(value) => return is_integer.then(|| value.to_string()),
                Node::Text(span) | Node::Number(span) => given.str(span),
                _ => return None,
            },
            Found::Text(text) => text,
            Found::Key(..) | Found::Shown(_) | Found::Above => return None,
        };
        match ty {
            _ if is_integer => text.parse::<i64>().ok().map(|it| it.to_string()),
            ColumnType::Text => Some(text.to_owned()),
            ColumnType::Uuid if is_usual_uuid(text) => Some(text.to_owned()),
            _ => None,
        }
    }

    /// The database's text of an enum's value.
    pub(crate) fn enum_name(&self, value: EnumValueId) -> &'r str {
        let own = self.ids.enum_value(value);
        let text = self.enum_texts.get(own.index()).and_then(Option::as_deref);
        text.unwrap_or_else(|| self.schema.str(self.schema.enum_value(own).name))
    }

    /// Reads a value from a cursor or identifier that the client received earlier, as text to be cast to `ty`; `None`: it is null.
    pub(crate) fn read_encoded(
        &self,
        parameter: &Parameter,
        of: &'r Encoded,
        ty: &ColumnType,
        key: usize,
    ) -> Result<Option<String>, Refused> {
        let text = match self.find_at(&of.text, key) {
            Found::Given(given) => match given.node() {
                Node::Text(span) => given.str(span),
                _ => "",
            },
            Found::Text(text) => text,
            Found::Key(..) | Found::Shown(_) | Found::Above => "",
        };
        let found = match &of.part {
            EncodedPart::Cursor { paths, at, nullable } => {
                let found = encoded::cursor_value(text, paths, usize::from(*at), ty);
                found.filter(|it| *nullable || *it != encoded::EncodedValue::Null)
            }
            EncodedPart::Identifier { at, .. } => encoded::identifier_value(text, usize::from(*at), ty),
        };
        match found {
            Some(encoded::EncodedValue::Text(text)) => Ok(Some(text)),
            Some(encoded::EncodedValue::Null) => Ok(None),
            None => Err(self.no_code(parameter, of)),
        }
    }

    /// Reads a value from a stream's position, as text to be cast to `ty`. `None` before the first batch: then it is bound like any other.
    pub(crate) fn read_position(
        &self,
        parameter: &Parameter,
        of: &Position,
        ty: &ColumnType,
    ) -> Option<Result<Option<String>, Refused>> {
        let position = self.stream?.position()?;
        Some(match encoded::cursor_value(position, &of.paths, usize::from(of.at), ty) {
            Some(encoded::EncodedValue::Text(text)) => Ok(Some(text)),
            Some(encoded::EncodedValue::Null) => Ok(None),
            None => Err(self.no_position(parameter)),
        })
    }

    /// The columns of a stream are no longer those of its position.
    #[cold]
    pub(crate) fn no_position(&self, parameter: &Parameter) -> Refused {
        let message = "the table of the stream was changed: subscribe again, from the last value that came";
        self.refusal(parameter, "INVALID_CURSOR", "validation-failed", message.to_owned())
    }

    /// The error of a client's text that is no cursor of the current order, or no identifier.
    #[cold]
    pub(crate) fn no_code(&self, parameter: &Parameter, of: &Encoded) -> Refused {
        let (hasura, message) = match &of.part {
            EncodedPart::Cursor { .. } => ("validation-failed", encoded::NO_CURSOR.to_owned()),
            EncodedPart::Identifier { column, .. } => {
                ("parse-failed", format!("value of column '{column}' in node id: it is of another type"))
            }
        };
        self.refusal(parameter, "INVALID_CURSOR", hasura, message)
    }

    /// The error of an encoded text in place of `error`, where a value was refused by the database, which alone knows some types.
    #[cold]
    pub(crate) fn of_encoded(&self, error: SourceError, parameters: &[Parameter]) -> SourceError {
        let is_encoded = |it: &&Parameter| matches!(it.origin, Origin::Encoded(_));
        match (&error, parameters.iter().find(is_encoded)) {
            (SourceError::Rejected { error: refused, field }, Some(parameter))
                if matches!(refused.code, "INVALID_VALUE" | "data-exception") =>
            {
                let Origin::Encoded(of) = &parameter.origin else { return error };
                SourceError::Rejected { error: *self.no_code(parameter, of), field: *field }
            }
            _ => error,
        }
    }

    /// The number of an object; `None`: it is none.
    pub(crate) fn id(&self, found: Found<'r>) -> Option<i64> {
        match found {
            Found::Given(given) => match given.node() {
                Node::Int(number) | Node::QuotedInt(number) => (number >= 0).then_some(number),
                Node::Text(span) => id_of(given.str(span)),
                _ => None,
            },
            Found::Key(column, row) => match &column.data {
                Data::Int(numbers) => numbers.get(row).copied(),
                Data::Text(texts) => {
                    let digits = texts.find(row)?.strip_prefix(b"0x")?;
                    i64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
                }
                _ => None,
            },
            Found::Shown(ids) => ids.first().copied(),
            Found::Text(text) => id_of(text),
            Found::Above => None,
        }
    }

    /// The number of an object like [`Bindings::id`], or an error if the value is none.
    pub(crate) fn sure_id(&self, parameter: &Parameter, found: Found<'r>) -> Result<i64, Refused> {
        match (self.id(found), found) {
            (Some(id), _) => Ok(id),
            (None, Found::Given(given)) if matches!(given.node(), Node::Text(_)) => {
                let Node::Text(span) = given.node() else { unreachable!("it is a text") };
                self.invalid(parameter, "ID", given.str(span))
            }
            (None, Found::Text(text)) => self.invalid(parameter, "ID", text),
            (None, _) => self.invalid(parameter, "ID", ""),
        }
    }

    /// A point in time, in microseconds since 1970.
    pub(crate) fn instant(&self, parameter: &Parameter, found: Found<'r>) -> Result<i64, Refused> {
        let text = match found {
            Found::Given(given) => match given.node() {
                Node::Text(span) => given.str(span),
                _ => "",
            },
            Found::Text(text) => text,
            Found::Key(..) | Found::Shown(_) | Found::Above => "",
        };
        weir_relational::values::instant::parse(text)
            .map_or_else(|| self.invalid(parameter, "DateTime", text), Ok)
    }

    /// The place that a client sent, in the text of its coordinates.
    pub(crate) fn place(
        &self,
        parameter: &Parameter,
        found: Found<'r>,
    ) -> Result<(String, Geometry), Refused> {
        let text = match found {
            Found::Given(given) => write_coordinates(given.values, given.at, self.variables),
            Found::Key(..) | Found::Shown(_) | Found::Text(_) | Found::Above => String::new(),
        };
        let place = Geometry::read(&text);
        match place.fault() {
            Some(fault) => {
                self.refuse(parameter, "BAD_USER_INPUT", "data-exception", format!("this is no {fault}"))
            }
            None => Ok((text, place)),
        }
    }

    /// The distance that a client sent, in metres.
    pub(crate) fn metres(&self, parameter: &Parameter, origin: Option<&'r Origin>) -> Result<f64, Refused> {
        let Some(origin) = origin else { return Ok(0.0) };
        let metres = match self.find_at(origin, 0) {
            Found::Given(given) => match given.node() {
                Node::Float(metres) => metres,
                Node::Int(metres) => metres as f64,
                _ => 0.0,
            },
            Found::Key(..) | Found::Shown(_) | Found::Text(_) | Found::Above => 0.0,
        };
        if metres < 0.0 {
            let message = "a distance is not negative".into();
            return self.refuse(parameter, "BAD_USER_INPUT", "data-exception", message);
        }
        Ok(metres)
    }

    /// The text that a client sent; `None`: it is none.
    pub(crate) fn text(&self, parameter: &Parameter, found: Found<'r>) -> Result<&'r str, Refused> {
        let text = match found {
            Found::Given(given) => match given.node() {
                Node::Text(span) => given.str(span),
                _ => "",
            },
            Found::Text(text) => text,
            Found::Key(..) | Found::Shown(_) | Found::Above => "",
        };
        self.check_text(parameter, text)?;
        Ok(text)
    }

    /// The text of words to be asked for.
    pub(crate) fn words_text(&self, parameter: &Parameter, found: Found<'r>) -> Result<&'r str, Refused> {
        let text = self.text(parameter, found)?;
        if !are_few(text) {
            let message = format!("more than {ASKED_MAX} words are asked for at once");
            return self.refuse(parameter, "INVALID_PATTERN", "data-exception", message);
        }
        Ok(text)
    }

    /// Number of rows from either end; `None`: all.
    pub(crate) fn first(&self, found: Found<'r>) -> Option<i64> {
        match found {
            Found::Given(given) => match given.node() {
                Node::Int(count) => Some(count.saturating_abs()).filter(|it| *it != 0),
                _ => None,
            },
            Found::Text(text) => text.parse().ok(),
            Found::Key(..) | Found::Shown(_) | Found::Above => None,
        }
    }

    /// After how many rows.
    pub(crate) fn skip(&self, found: Found<'r>) -> i64 {
        match found {
            Found::Given(given) => match given.node() {
                Node::Int(count) => count.max(0),
                _ => 0,
            },
            Found::Text(text) => text.parse().map_or(0, |count: i64| count.max(0)),
            Found::Key(..) | Found::Shown(_) | Found::Above => 0,
        }
    }

    /// A limit of rows; `None`: there is none.
    pub(crate) fn limit(&self, parameter: &Parameter, found: Found<'r>) -> Result<Option<i64>, Refused> {
        let node = match found {
            Found::Given(given) => given.node(),
            Found::Text(text) => text.parse().map_or(Node::Null, Node::Int),
            Found::Key(..) | Found::Shown(_) | Found::Above => Node::Null,
        };
        let words = match node {
            Node::Null | Node::Absent => return Ok(None),
            Node::Int(value) if (0..=i64::from(i32::MAX)).contains(&value) => return Ok(Some(value)),
            Node::Int(_) => "an integer",
            Node::QuotedInt(_) => "a string",
            _ => "another value",
        };
        let message = format!("expected a non-negative 32-bit integer for type 'Int', but found {words}");
        self.refuse(parameter, "BAD_USER_INPUT", "validation-failed", message)
    }

    /// Rows of a batch: at least one, as a stream of empty batches would never go on.
    pub(crate) fn batch_size(&self, parameter: &Parameter, found: Found<'r>) -> Result<i64, Refused> {
        match self.limit(parameter, found)? {
            Some(rows) if rows > 0 => Ok(rows),
            Some(_) | None => {
                let message = "`batch_size` must be at least 1".to_owned();
                self.refuse(parameter, "BAD_USER_INPUT", "validation-failed", message)
            }
        }
    }

    /// Reads a row limit by `reader` and caps it at `rows_max`, the policy's limit.
    pub(crate) fn cap_rows(
        &self,
        parameter: &Parameter,
        reader: &Reader,
        rows_max: u32,
        found: Found<'r>,
    ) -> Result<i64, Refused> {
        let asked = match reader {
            Reader::Limit => self.limit(parameter, found)?,
            Reader::BatchSize => Some(self.batch_size(parameter, found)?),
            _ => self.first(found),
        };
        Ok(asked.map_or(i64::from(rows_max), |it| it.min(i64::from(rows_max))))
    }

    #[cold]
    pub(crate) fn refuse<T>(
        &self,
        parameter: &Parameter,
        spec: &'static str,
        hasura: &'static str,
        message: String,
    ) -> Result<T, Refused> {
        Err(self.refusal(parameter, spec, hasura, message))
    }

    fn refusal(
        &self,
        parameter: &Parameter,
        spec: &'static str,
        hasura: &'static str,
        message: String,
    ) -> Refused {
        let code = match self.protocol {
            Protocol::GraphqlOverHttp => spec,
            Protocol::Hasura => hasura,
        };
        // A value of the policy stands nowhere in the request: its error is the field's.
        let hasura_path = (!parameter.path.is_empty()).then(|| parameter.path.clone());
        Box::new(FieldError { code, message: message.into(), hasura_path, extensions: None })
    }

    /// `text` is no value of type `ty`.
    #[cold]
    pub(crate) fn invalid<T>(&self, parameter: &Parameter, ty: &str, text: &str) -> Result<T, Refused> {
        let text: String = text.chars().take(100).collect();
        let message = format!("invalid input syntax for type {ty}: \"{text}\"");
        self.refuse(parameter, "BAD_USER_INPUT", "data-exception", message)
    }

    /// Refuses characters that no database can store in a text.
    pub(crate) fn check_text(&self, parameter: &Parameter, text: &str) -> Result<(), Refused> {
        if text.contains('\0') {
            let message = "a text must not contain the character U+0000".into();
            return self.refuse(parameter, "INVALID_TEXT", "data-exception", message);
        }
        Ok(())
    }
}

/// The number that the text of an object's ID is, hexadecimal after `0x`.
fn id_of(text: &str) -> Option<i64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let is_plain = |it: &str| it.bytes().all(|it| it.is_ascii_hexdigit());
    let number = |digits: &str, radix| i64::from_str_radix(digits, radix).ok();
    match digits {
        Some(digits) => number(digits, 16).filter(|_| is_plain(digits)),
        None => number(text, 10).filter(|_| is_plain(text)),
    }
}
