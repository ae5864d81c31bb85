//! Binds literals and variables as PostgreSQL's text.
//!
//! The server reads the text by the parameter's type, so a string fits every type and no digit is touched. Lists become
//! array literals; JSON for an array, a composite or a shape becomes what the type is written as ([`super::literal`]).
//!
//! **Cost:** a value is written once, into the parameters; only JSON for types that are none is parsed.

mod lists;
mod patterns;

pub(super) use lists::ids_array;
pub(super) use patterns::judge;

use super::{decimal, literal};
use crate::exec::bind::{Bindings, Found, Given, Refused};
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
pub(super) struct Target<'t> {
    pub(super) types: &'t Types,
    /// OID of the type; with 0 the server infers it.
    pub(super) oid: u32,
}

/// Binds `own`, the last parameters of a statement whose parameters have the types `oids`. The caller binds those before them, now
/// or later: no type depends on how many values are bound already.
pub(super) fn push_last<'r>(
    bindings: &Bindings<'r>,
    types: &Types,
    (own, oids): (&'r [Parameter], &[u32]),
    parameters: &mut Parameters,
) -> Result<(), Refused> {
    let first = oids.len().saturating_sub(own.len());
    own.iter().enumerate().try_for_each(|(at, parameter)| {
        let oid = oids.get(first + at).copied().unwrap_or(0);
        push(bindings, Target { types, oid }, parameter, parameters)
    })
}

/// Binds `parameter` as a value of the type `target`.
pub(super) fn push<'r>(
    bindings: &Bindings<'r>,
    target: Target<'_>,
    parameter: &'r Parameter,
    parameters: &mut Parameters,
) -> Result<(), Refused> {
    if let (Origin::Encoded(of), Reader::Column(ty)) = (&parameter.origin, &parameter.reader) {
        return push_encoded(bindings, target, (parameter, of, ty), parameters);
    }
    if let (Origin::Position(of), Reader::Column(ty)) = (&parameter.origin, &parameter.reader)
        && let Some(text) = bindings.read_position(parameter, of, ty)
    {
        return push_positioned(bindings, target, (parameter, text?, ty), parameters);
    }
    push_found(bindings, target, (parameter, bindings.find(parameter, KEY)), parameters)
}

fn push_found<'r>(
    bindings: &Bindings<'r>,
    target: Target<'_>,
    (parameter, found): (&'r Parameter, Found<'r>),
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
        return parameters.push_with(|out| read(reading, &parameter.reader, (found, oid), out));
    };
    parameters.push_some_with(|out| {
        let start = out.len();
        read(reading, &parameter.reader, (found, oid), out)?;
        Ok(patterns::keep_half((*half, *notation), start, out))
    })
}

/// Appends a value as `reader` reads it.
fn read<'r>(
    reading: Reading<'_, 'r>,
    reader: &'r Reader,
    (found, oid): (Found<'r>, u32),
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
            bindings.cap_rows(parameter, (reader, *rows_max), found).map(|it| integer(it, out))
        }
        // A half of the argument is taken where it is bound.
        Reader::Half { reader, .. } => read(reading, reader, (found, oid), out),
    }
}

/// Binds a value in a cursor or an identifier.
fn push_encoded<'r>(
    bindings: &Bindings<'r>,
    target: Target<'_>,
    (parameter, of, ty): (&'r Parameter, &'r Encoded, &ColumnType),
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
    (parameter, text, ty): (&'r Parameter, Option<String>, &ColumnType),
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
                key(column, row, (ty, oid), out);
                Ok(())
            }
            Found::Shown(ids) => {
                ids.first().into_iter().for_each(|id| integer(*id, out));
                Ok(())
            }
            Found::Text(text) => {
                literal::check(ty, text).or_else(|words| self.refuse(words))?;
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
                literal::check(ty, text).or_else(|words| self.refuse(words))?;
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
                    literal::shape(json, out)
                } else {
                    literal::write(self.types, oid, json, out)
                };
                if let Err(words) = written {
                    return self.refuse(words);
                }
            }
            Node::Enum(value) => out.extend_from_slice(self.bindings.enum_name(value).as_bytes()),
            Node::List { .. } => return self.array(given, ty, oid, out),
            Node::Null
            | Node::Absent
            | Node::Object { .. }
            | Node::Key(_)
            | Node::Variable(_)
            | Node::Parent(_) => return self.refuse("expected a scalar".into()),
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
            literal::quote(text.as_bytes(), out);
        }
        out.push(b'}');
        Ok(())
    }
}

/// A key that another source gave.
fn key(column: &Column, row: usize, (ty, oid): (&ColumnType, u32), out: &mut Buffer) {
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
mod tests {
    use super::*;
    use crate::frontend::form::Form;
    use weir_engine::plan::output_plan::OutputPlan;
    use weir_engine::source::{Ids, Protocol};
    use weir_language::schema::Schema;
    use weir_language::value::{Values, Variables};
    use weir_relational::plan::Origin;

    /// Binds the value that `build` writes to a parameter of type `oid`; `null` stands for null.
    fn check(build: impl Fn(&mut Values), reader: Reader, oid: u32, expected: Result<&str, &str>) {
        let mut shape = OutputPlan::default();
        build(&mut shape.literals);
        let schema = Schema::from_sdl("type Query { a: Int }").unwrap();
        let bindings = Bindings {
            schema: &schema,
            enum_texts: &[],
            ids: &Ids::default(),
            output: &shape,
            variables: &Variables::default(),
            form: &Form::default(),
            row: (0, 0),
            parent_keys: &[],
            shown: &[],
            claims: &weir_engine::caller::Claims::default(),
            stream: None,
            protocol: Protocol::Hasura,
        };
        let parameter = Parameter { origin: Origin::Literal(0), reader, path: "$".into() };
        let types = Types::builtin();
        let mut parameters = Parameters::new();
        let pushed = push(&bindings, Target { types: &types, oid }, &parameter, &mut parameters);
        let bound = match (&pushed, parameters.as_bytes().split_first_chunk::<4>()) {
            (Err(error), _) => Err(&*error.message),
            (Ok(()), Some(([0xff, ..], _))) => Ok("null"),
            (Ok(()), text) => Ok(std::str::from_utf8(text.unwrap().1).unwrap()),
        };
        assert_eq!(bound, expected);
    }

    fn node(node: Node) -> impl Fn(&mut Values) {
        move |values| values.nodes.push(node)
    }

    fn text(text: &'static str) -> impl Fn(&mut Values) {
        move |values| {
            let span = values.push_text(text);
            values.nodes.push(Node::Text(span));
        }
    }

    fn json(json: &'static str) -> impl Fn(&mut Values) {
        move |values| {
            let span = values.push_text(json);
            values.nodes.push(Node::Json(span));
        }
    }

    fn list(texts: &'static [&'static str]) -> impl Fn(&mut Values) {
        move |values| {
            let len = texts.len() as u32;
            values.nodes.push(Node::List { len, end: len + 1 });
            texts.iter().for_each(|it| text(it)(values));
        }
    }

    fn column(ty: ColumnType) -> Reader {
        Reader::Column(ty)
    }

    #[test]
    fn scalars_are_bound_as_they_were_sent() {
        check(node(Node::Int(-5)), column(ColumnType::Int), oid::INT4, Ok("-5"));
        check(text("0.10"), column(ColumnType::Numeric), oid::NUMERIC, Ok("0.10"));
        check(node(Node::Bool(true)), column(ColumnType::Boolean), oid::BOOL, Ok("true"));
        check(node(Node::Float(0.1)), column(ColumnType::Real), oid::FLOAT4, Ok("0.1"));
        check(node(Node::Null), column(ColumnType::Text), oid::TEXT, Ok("null"));
        check(text("null"), column(ColumnType::Text), oid::TEXT, Ok("null"));
        check(json("{ \"a\": 1.50 }"), column(ColumnType::Jsonb), oid::JSONB, Ok("{ \"a\": 1.50 }"));
        let nul = "a text must not contain the character U+0000";
        check(text("a\0b"), column(ColumnType::Text), oid::TEXT, Err(nul));
    }

    #[test]
    fn an_integer_too_large_for_its_column_is_refused_in_hasuras_words() {
        let words = |shown: &str| {
            format!(
                "The value {shown} lies outside the bounds or is not an integer. \
                 Maybe it is a float, or is there integer overflow?"
            )
        };
        let small = words("32768.0");
        let large = words("2.147483648e9");
        check(node(Node::Int(32_768)), column(ColumnType::SmallInt), oid::INT2, Err(&small));
        check(node(Node::Int(2_147_483_648)), column(ColumnType::Int), oid::INT4, Err(&large));
        check(node(Node::Int(2_147_483_648)), column(ColumnType::BigInt), oid::INT8, Ok("2147483648"));
    }

    #[test]
    fn lists_are_array_literals_and_no_item_is_more_than_an_item() {
        let each = || Reader::Each(ColumnType::Text);
        let quoted = r#"{"a","NULL","{\"b\\c,\"}",""}"#;
        check(list(&["a", "NULL", "{\"b\\c,\"}", ""]), each(), oid::TEXT_ARRAY, Ok(quoted));
        check(list(&[]), each(), oid::TEXT_ARRAY, Ok("{}"));
        check(text("a"), each(), oid::TEXT_ARRAY, Ok("{\"a\"}"));
        let hole = |values: &mut Values| {
            values.nodes.extend([Node::List { len: 1, end: 2 }, Node::Null]);
        };
        check(hole, each(), oid::TEXT_ARRAY, Err("unexpected null value in a list"));
        check(hole, column(ColumnType::Text), oid::TEXT_ARRAY, Ok("{NULL}"));
    }

    #[test]
    fn an_array_in_postgresqls_own_form_is_taken_where_it_can_be_no_element() {
        let whole = list(&["{1,2}"]);
        check(whole, column(ColumnType::BigInt), oid::INT8_ARRAY, Ok("{1,2}"));
        check(list(&["{1,2}"]), column(ColumnType::Text), oid::TEXT_ARRAY, Ok("{\"{1,2}\"}"));
        check(text("{a,b}"), column(ColumnType::Text), oid::TEXT_ARRAY, Ok("{a,b}"));
        check(
            json("[[1, null], [2, 3]]"),
            column(ColumnType::BigInt),
            oid::INT8_ARRAY,
            Ok("{{\"1\",NULL},{\"2\",\"3\"}}"),
        );
    }

    #[test]
    fn pages_and_paths_have_readers_of_their_own() {
        check(node(Node::Int(7)), Reader::Limit, oid::INT8, Ok("7"));
        check(node(Node::Null), Reader::Limit, oid::INT8, Ok("null"));
        let words = "expected a non-negative 32-bit integer for type 'Int', but found an integer";
        check(node(Node::Int(-1)), Reader::Limit, oid::INT8, Err(words));
        check(node(Node::Int(7)), Reader::BatchSize, oid::INT8, Ok("7"));
        check(node(Node::Int(0)), Reader::BatchSize, oid::INT8, Err("`batch_size` must be at least 1"));
        check(text("3"), Reader::Offset, oid::INT8, Ok("3"));
        check(text("$.a['o\"k'][0]"), Reader::JsonPath, oid::TEXT_ARRAY, Ok(r#"{"a","o\"k","0"}"#));
        check(text("a..b"), Reader::JsonPath, oid::TEXT_ARRAY, Err("parse json path error: \"a..b\""));
    }
}
