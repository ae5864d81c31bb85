//! Values that a call's template or selection can read: arguments, parent keys, settings, headers, caller, status.
//!
//! All of it is borrowed from the request. An expression gets it as [`Value`]s, one variable at a time.
//!
//! **Invariant:** columns and rows of [`Inputs::keys`] stand in the order of the connector's keys.

use super::value::Value;
use super::{Variable, claim_names};
use std::borrow::Cow;
use std::ops::Range;
use weir_engine::caller::Caller;
use weir_engine::plan::output_plan::{OutputArgument, OutputPlan};
use weir_engine::rows::{Column, Data};
use weir_engine::source::{Headers, Ids};
use weir_language::schema::{FieldId, InputId, Schema};
use weir_language::value::{Node, Values, Variables};

/// Maximum nesting of a JSON value in an argument or key.
const DEPTH_MAX: u32 = 200;

/// Values of the variables in a template or selection.
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
    /// `$claims` and `$role`; `None` if no template reads them.
    pub caller: Option<&'r Caller>,
    /// `$selection`.
    pub selection: &'r str,
    /// `$status` and `$response`; `None` before the answer.
    pub response: Option<Response<'r>>,
}

/// Arguments of a field: literals of the plan and variables of the request.
#[derive(Clone, Copy)]
pub struct Args<'r> {
    /// Schema of the source.
    pub schema: &'r Schema,
    /// Maps the graph's ids to the source's.
    pub ids: &'r Ids,
    /// Output plan with the literals.
    pub output: &'r OutputPlan,
    /// Variables of the request.
    pub variables: &'r Variables,
    /// Arguments of the field.
    pub arguments: &'r [OutputArgument],
}

/// A parent field that a connector needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// Name of the field.
    pub name: Box<str>,
    /// Id in the schema of the mapping; `None` if the type belongs to another source.
    pub field: Option<FieldId>,
    /// The parts of an object by which `$batch` tells parents apart; none if it is a single value.
    pub parts: Vec<Vec<Box<str>>>,
    /// True if a call may be made without it. Such keys stand behind the others.
    pub is_optional: bool,
}

/// Keys of the parents.
#[derive(Clone, Copy)]
pub struct Keys<'r> {
    /// One column per key field.
    pub columns: &'r [Column],
    /// Names of the columns: `Connector::keys`.
    pub names: &'r [KeyField],
    /// First row of the call; `$this` is this row.
    pub start: usize,
    /// One past the last row of the call.
    pub end: usize,
}

/// Values that are equal for all requests.
#[derive(Clone, Debug)]
pub struct ConfigValues {
    /// `$config`: an object.
    pub config: Value<'static>,
    /// `$env`: an object of texts.
    pub env: Value<'static>,
    /// `$context`: an object.
    pub context: Value<'static>,
}

/// Status and headers of an answer.
#[derive(Clone, Copy)]
pub struct Response<'r> {
    /// HTTP status.
    pub status: u16,
    /// Headers of the answer.
    pub headers: &'r dyn Headers,
}

/// Value of a setting in a place that needs text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    /// A string, a number's digits, or a boolean as text.
    Text(String),
    /// Absent or null.
    Missing,
    /// A list or an object.
    NoText,
    /// Unknown before a request.
    Later,
}

impl Looked {
    pub(crate) fn of(value: &Value<'_>) -> Self {
        match value {
            Value::Text(text) | Value::Number(text) => Self::Text(text.to_string()),
            Value::Bool(value) => Self::Text(value.to_string()),
            Value::Missing | Value::Null => Self::Missing,
            Value::Array(_) | Value::Object(_) | Value::Json(_) => Self::NoText,
        }
    }
}

impl ConfigValues {
    /// The setting at `keys` of `$config` or `$env`, for a place that needs text.
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
    /// Keys for a call without parents.
    pub const NONE: Self = Self { columns: &[], names: &[], start: 0, end: 0 };

    fn rows(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// The claim `name` of a caller: a session variable, else a claim of the token, else missing.
fn claim<'c>(caller: &'c Caller, name: &str) -> Value<'c> {
    let (variable, claim) = claim_names(name);
    if let Some(text) = caller.value(&variable) {
        return Value::Text(text.into());
    }
    let json = claim.and_then(|it| caller.claims().claim(it));
    json.and_then(|it| Value::read(it, DEPTH_MAX)).unwrap_or(Value::Missing)
}

/// The text of `$role`, or of the claim that `keys` of `$claims` lead to.
pub(crate) fn look_up_caller_value(caller: &Caller, variable: Variable, keys: &[&str]) -> Looked {
    match (variable, keys) {
        (Variable::Role, _) => Looked::Text(caller.role().to_owned()),
        (Variable::Claims, [name, rest @ ..]) => {
            Looked::of(&rest.iter().fold(claim(caller, name), |value, key| value.get(key)))
        }
        _ => Looked::Missing,
    }
}

impl<'r> Inputs<'r> {
    /// The member `key` of a variable. `$status` has no members, so it returns the status itself.
    pub fn member(&self, variable: Variable, key: &str) -> Value<'r> {
        match variable {
            Variable::Args => self.args.argument_value(key, self.keys),
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

    /// All values of a header as a list; missing if the header is absent or is not UTF-8.
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

    /// All keys of one parent as an object.
    fn key_object(&self, row: usize) -> Value<'r> {
        let named = self.keys.names.iter().zip(self.keys.columns);
        Value::Object(named.map(|(it, column)| (Cow::Borrowed(&*it.name), cell(column, row))).collect())
    }

    pub(crate) fn key(&self, name: &str) -> Option<&'r Column> {
        let at = self.keys.names.iter().position(|it| &*it.name == name)?;
        self.keys.columns.get(at)
    }
}

impl<'r> Args<'r> {
    fn input_name(&self, input: InputId) -> &'r str {
        self.schema.input_name(self.ids.input(input))
    }

    /// Tape and index of an argument's value, after variables and defaults; `None` if no value was given.
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

    /// The argument `name`.
    pub(crate) fn find(&self, name: &str) -> Option<&'r OutputArgument> {
        self.arguments.iter().find(|it| self.input_name(it.input) == name)
    }

    fn argument_value(&self, name: &str, keys: Keys<'r>) -> Value<'r> {
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

    /// The value at `at`. Recursion is bounded by the nesting of the request's input.
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

/// Shortest digits that read back as `value`; an integer without a fraction.
fn float(value: f64) -> Cow<'static, str> {
    let mut buffer = zmij::Buffer::new();
    let digits = buffer.format(value);
    Cow::Owned(digits.strip_suffix(".0").unwrap_or(digits).to_owned())
}

/// A cell as an argument would have it: identifiers are text.
fn read_argument_cell(column: &Column, row: usize) -> Value<'_> {
    match cell(column, row) {
        Value::Number(digits) if column.digits.get(row) => Value::Text(digits),
        value => value,
    }
}

/// A cell as the source returned it: identifiers may be numbers.
pub(crate) fn cell(column: &Column, row: usize) -> Value<'_> {
    if column.nulls.get(row) {
        return Value::Null;
    }
    let text = |bytes| std::str::from_utf8(bytes).ok();
    let value = match &column.data {
        Data::Bool(values) => values.get(row).map(|&value| Value::Bool(value)),
        Data::Int(values) => values.get(row).map(|value| Value::Number(value.to_string().into())),
        Data::Float(values) => values.get(row).map(|&value| Value::Number(float(value))),
        Data::Text(texts) => texts.find(row).and_then(text).map(|text| {
            if column.digits.get(row) { Value::Number(text.into()) } else { Value::Text(text.into()) }
        }),
        Data::Json(texts) => texts.find(row).and_then(text).and_then(|text| Value::read(text, DEPTH_MAX)),
        Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => None,
    };
    value.unwrap_or(Value::Missing)
}
