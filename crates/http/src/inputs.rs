//! Inputs of a call: arguments, keys of the parents, settings, the client's headers, the caller; and the status of an answer.
//!
//! All of it is borrowed from the request. An expression gets it as [`Value`]s, one variable at a time.
//!
//! **Invariant:** columns and rows of [`Inputs::keys`] stand in the order of the connector's keys.

use crate::selection::value::Value;
use crate::selection::{Variable, claim_names};
use crate::template::Looked;
use std::borrow::Cow;
use std::ops::Range;
use weir_engine::caller::Caller;
use weir_engine::plan::output_plan::{OutputArgument, OutputPlan};
use weir_engine::rows::{Column, Data};
use weir_engine::source::{Headers, Ids};
use weir_language::schema::{FieldId, InputId, Schema};
use weir_language::value::{Node, Values, Variables};

/// Brackets that may be open in a value of JSON that comes as an argument or key.
const DEPTH_MAX: u32 = 200;

/// Variables of a template or selection.
#[derive(Clone, Copy)]
pub struct Inputs<'r> {
    /// `$args`.
    pub args: Args<'r>,
    /// `$this` and `$batch`.
    pub keys: Keys<'r>,
    /// `$config`, `$env`, `$context`.
    pub settings: &'r ConfigValues,
    /// `$request.headers`.
    pub headers: &'r dyn Headers,
    /// `$claims` and `$role`; none where nobody asks.
    pub caller: Option<&'r Caller>,
    /// `$selection`.
    pub selection: &'r str,
    /// `$status` and `$response`, once there is one.
    pub response: Option<Response<'r>>,
}

/// The arguments of a field: literals of the plan and variables of the request.
#[derive(Clone, Copy)]
pub struct Args<'r> {
    /// The source's own schema.
    pub schema: &'r Schema,
    /// From the graph's ids to the source's.
    pub ids: &'r Ids,
    /// The plan's.
    pub output: &'r OutputPlan,
    /// The request's.
    pub variables: &'r Variables,
    /// The field's.
    pub arguments: &'r [OutputArgument],
}

/// A field of the parent that a connector needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// Its name.
    pub name: Box<str>,
    /// In the schema of the mapping; `None` if the type is another source's.
    pub field: Option<FieldId>,
    /// Of an object, by which parts of it `$batch` tells parents apart; none if it is a single value.
    pub parts: Vec<Vec<Box<str>>>,
    /// True if a call may be made without it. Such keys stand behind the others.
    pub is_optional: bool,
}

/// Parents' keys.
#[derive(Clone, Copy)]
pub struct Keys<'r> {
    /// One column per key field.
    pub columns: &'r [Column],
    /// `Connector::keys`: their names.
    pub names: &'r [KeyField],
    /// The first of those that are asked for together; `$this` is this one.
    pub start: usize,
    /// One past the last.
    pub end: usize,
}

/// Constants of all requests.
#[derive(Clone, Debug)]
pub struct ConfigValues {
    /// `$config`: an object.
    pub config: Value<'static>,
    /// `$env`: an object of texts.
    pub env: Value<'static>,
    /// `$context`: an object.
    pub context: Value<'static>,
}

/// An answer, without its body.
#[derive(Clone, Copy)]
pub struct Response<'r> {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: &'r dyn Headers,
}

impl ConfigValues {
    /// The setting that `keys` of `$config` or `$env` lead to, where a text belongs.
    pub(crate) fn lookup(&self, variable: Variable, keys: &[&str]) -> Looked {
        let all = match variable {
            Variable::Config => &self.config,
            Variable::Env => &self.env,
            Variable::Args
            | Variable::This
            | Variable::Batch
            | Variable::Context
            | Variable::Request
            | Variable::Status
            | Variable::Response
            | Variable::Selection => return Looked::Missing,
            Variable::Claims | Variable::Role => return Looked::Later,
        };
        Looked::of(&keys.iter().fold(all.clone(), |value, key| value.get(key)))
    }
}

impl Keys<'_> {
    /// No parents.
    pub const NONE: Self = Self { columns: &[], names: &[], start: 0, end: 0 };

    fn rows(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// The claim called `name` of a caller: the text of a session variable, else what the token says; missing if it is in neither.
fn claim<'c>(caller: &'c Caller, name: &str) -> Value<'c> {
    let (variable, claim) = claim_names(name);
    if let Some(text) = caller.value(&variable) {
        return Value::Text(text.into());
    }
    let json = claim.and_then(|it| caller.claims().claim(it));
    json.and_then(|it| Value::read(it, DEPTH_MAX)).unwrap_or(Value::Missing)
}

/// The value that `keys` of `$claims` lead to, or `$role`, as a text.
pub(crate) fn vouched(caller: &Caller, variable: Variable, keys: &[&str]) -> Looked {
    match (variable, keys) {
        (Variable::Role, _) => Looked::Text(caller.role().to_owned()),
        (Variable::Claims, [name, rest @ ..]) => {
            Looked::of(&rest.iter().fold(claim(caller, name), |value, key| value.get(key)))
        }
        _ => Looked::Missing,
    }
}

impl<'r> Inputs<'r> {
    /// The member `key` of a variable; of `$status`, which has none, itself.
    #[must_use]
    pub fn member(&self, variable: Variable, key: &str) -> Value<'r> {
        match variable {
            Variable::Args => self.args.named(key, self.keys),
            Variable::This => self.key(key).map_or(Value::Missing, |column| cell(column, self.keys.start)),
            Variable::Batch => self.key(key).map_or(Value::Missing, |column| {
                Value::Array(self.keys.rows().map(|row| cell(column, row)).collect())
            }),
            Variable::Config => self.settings.config.get(key),
            Variable::Env => self.settings.env.get(key),
            Variable::Context => self.settings.context.get(key),
            Variable::Status => self.status(),
            Variable::Claims => self.claim(key),
            Variable::Role => self.role(),
            Variable::Selection => Value::Text(self.selection.into()),
            Variable::Request | Variable::Response => Value::Missing,
        }
    }

    fn claim(&self, name: &str) -> Value<'r> {
        self.caller.map_or(Value::Missing, |it| claim(it, name))
    }

    fn role(&self) -> Value<'r> {
        self.caller.map_or(Value::Missing, |it| Value::Text(it.role().into()))
    }

    /// A variable as a whole.
    #[must_use]
    pub fn whole(&self, variable: Variable) -> Value<'r> {
        match variable {
            Variable::Args => self.args.all(self.keys),
            Variable::This => self.key_object(self.keys.start),
            Variable::Batch => Value::Array(self.keys.rows().map(|row| self.key_object(row)).collect()),
            Variable::Config => self.settings.config.clone(),
            Variable::Env => self.settings.env.clone(),
            Variable::Context => self.settings.context.clone(),
            Variable::Status => self.status(),
            Variable::Role => self.role(),
            Variable::Selection => Value::Text(self.selection.into()),
            Variable::Request | Variable::Response | Variable::Claims => Value::Missing,
        }
    }

    /// All values of a header, as a list; missing if there is none. Bytes that are no UTF-8 make it missing.
    #[must_use]
    pub fn header(&self, variable: Variable, name: &str) -> Value<'r> {
        let headers = match (variable, self.response) {
            (Variable::Response, Some(response)) => response.headers,
            (Variable::Response, None) => return Value::Missing,
            _ => self.headers,
        };
        let mut values = Vec::new();
        headers.each(name, &mut |bytes| {
            values.extend(std::str::from_utf8(bytes).ok().map(|text| Value::Text(Cow::Borrowed(text))));
        });
        if values.is_empty() { Value::Missing } else { Value::Array(values) }
    }

    fn status(&self) -> Value<'r> {
        self.response.map_or(Value::Missing, |it| Value::Number(it.status.to_string().into()))
    }

    /// All keys of one parent.
    fn key_object(&self, row: usize) -> Value<'r> {
        let named = self.keys.names.iter().zip(self.keys.columns);
        Value::Object(named.map(|(it, column)| (Cow::Borrowed(&*it.name), cell(column, row))).collect())
    }

    /// The column of a key.
    pub(crate) fn key(&self, name: &str) -> Option<&'r Column> {
        let at = self.keys.names.iter().position(|it| &*it.name == name)?;
        self.keys.columns.get(at)
    }
}

impl<'r> Args<'r> {
    fn input_name(&self, input: InputId) -> &'r str {
        self.schema.input_name(self.ids.input(input))
    }

    /// The tape and place of a value, variables and defaults followed; `None` if nothing was given.
    pub(crate) fn place(&self, argument: &OutputArgument) -> Option<(&'r Values, usize)> {
        let found = self.follow(&self.output.literals, argument.value as usize);
        match (found, argument.default) {
            (None, Some(default)) => Some((&self.output.literals, default as usize)),
            (found, _) => found,
        }
    }

    fn follow(&self, values: &'r Values, at: usize) -> Option<(&'r Values, usize)> {
        let (values, at) = match values.nodes[at] {
            Node::Variable(number) => {
                (&self.variables.values, *self.variables.starts.get(number as usize)? as usize)
            }
            _ => (values, at),
        };
        (!matches!(values.nodes[at], Node::Absent)).then_some((values, at))
    }

    /// The argument called `name`.
    pub(crate) fn find(&self, name: &str) -> Option<&'r OutputArgument> {
        self.arguments.iter().find(|it| self.input_name(it.input) == name)
    }

    fn named(&self, name: &str, keys: Keys<'r>) -> Value<'r> {
        let place = self.find(name).and_then(|it| self.place(it));
        place.map_or(Value::Missing, |(values, at)| self.value(values, at, keys))
    }

    fn all(&self, keys: Keys<'r>) -> Value<'r> {
        let member = |it: &OutputArgument| {
            let (values, at) = self.place(it)?;
            Some((Cow::Borrowed(self.input_name(it.input)), self.value(values, at, keys)))
        };
        Value::Object(self.arguments.iter().filter_map(member).collect())
    }

    /// The value at `at`. Depth is that of the request's input, which is bounded.
    pub(crate) fn value(&self, values: &'r Values, at: usize, keys: Keys<'r>) -> Value<'r> {
        match values.nodes[at] {
            Node::Absent | Node::Key(_) => Value::Missing,
            Node::Null => Value::Null,
            Node::Bool(value) => Value::Bool(value),
            Node::Int(value) | Node::QuotedInt(value) => Value::Number(value.to_string().into()),
            Node::Float(value) => Value::Number(float(value)),
            Node::Number(span) => Value::Number(values.str(span).into()),
            Node::Text(span) => Value::Text(values.str(span).into()),
            Node::Json(span) => Value::read(values.str(span), DEPTH_MAX).unwrap_or(Value::Missing),
            Node::Enum(value) => {
                let own = self.ids.enum_value(value);
                Value::Text(self.schema.str(self.schema.enum_value(own).name).into())
            }
            Node::List { .. } => {
                Value::Array(values.items(at).map(|item| self.value(values, item, keys)).collect())
            }
            Node::Object { .. } => {
                let member = |(input, at): (InputId, usize)| {
                    (Cow::Borrowed(self.input_name(input)), self.value(values, at, keys))
                };
                Value::Object(values.members(at).map(member).collect())
            }
            Node::Variable(_) => match self.follow(values, at) {
                Some((values, at)) => self.value(values, at, keys),
                None => Value::Missing,
            },
            Node::Parent(column) => keys
                .columns
                .get(column as usize)
                .map_or(Value::Missing, |column| read_argument_cell(column, keys.start)),
        }
    }
}

/// The shortest digits that read back; a whole number without a fraction.
fn float(value: f64) -> Cow<'static, str> {
    let mut buffer = zmij::Buffer::new();
    let digits = buffer.format(value);
    Cow::Owned(digits.strip_suffix(".0").unwrap_or(digits).to_owned())
}

/// A leaf of a column as an argument has it: an identifier is a text.
fn read_argument_cell(column: &Column, row: usize) -> Value<'_> {
    match cell(column, row) {
        Value::Number(digits) if column.digits.get(row) => Value::Text(digits),
        value => value,
    }
}

/// A leaf of a column, as the source gave it: an identifier may be a number.
pub(crate) fn cell(column: &Column, row: usize) -> Value<'_> {
    if column.nulls.get(row) {
        return Value::Null;
    }
    let text = |bytes| std::str::from_utf8(bytes).ok();
    let value = match &column.data {
        Data::Bool(values) => values.get(row).map(|&value| Value::Bool(value)),
        Data::Int(values) => values.get(row).map(|value| Value::Number(value.to_string().into())),
        Data::Float(values) => values.get(row).map(|&value| Value::Number(float(value))),
        Data::Text(texts) => texts.find(row).and_then(text).map(|text| match column.digits.get(row) {
            true => Value::Number(text.into()),
            false => Value::Text(text.into()),
        }),
        Data::Json(texts) => texts.find(row).and_then(text).and_then(|text| Value::read(text, DEPTH_MAX)),
        Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => None,
    };
    value.unwrap_or(Value::Missing)
}
