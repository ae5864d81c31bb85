//! Converts parameters to arguments and their placement in the request.
//!
//! Source: OpenAPI 3.1, Parameter Object and "Style Values"; RFC 6570.

use super::document::{FORM, JSON, is_true, json_content, text};
use super::graphql_names::{self, TakenNames};
use super::integers::{self, WIDE};
use super::types::{TypeShape, Types, Way, first_line};
use crate::template::Header;
use serde_json::Value;

/// Parts of a request that contain arguments.
#[derive(Default)]
pub(super) struct RequestParts {
    given: TakenNames,
    pub(super) arguments: Vec<Argument>,
    pub(super) query: Vec<String>,
    pub(super) headers: Vec<(String, String)>,
    /// Path parameters with the text that replaces them.
    pub(super) path: Vec<(String, String)>,
    /// `name={$args.name}` for each cookie.
    cookies: Vec<String>,
    pub(super) body: Option<String>,
}

/// An argument of a root field.
pub(super) struct Argument {
    pub name: String,
    /// Type with `!` and default value.
    pub ty: String,
    pub description: Option<String>,
}

/// Serialization of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListStyle {
    /// One parameter per item, all with the same name.
    Repeated,
    /// One text with this separator.
    Joined(char),
}

impl ListStyle {
    /// Serialization by `style` and `explode` of a parameter in `place`; `None` if the style does not apply to lists.
    ///
    /// Source: OpenAPI 3.1, Parameter Object: the default of queries is `form`, and only `form` explodes by default.
    pub(super) fn of(parameter: &Value, place: &str) -> Option<Self> {
        let style = text(parameter, "style").unwrap_or(if place == "query" { "form" } else { "simple" });
        let between = match style {
            "form" | "simple" => ',',
            "spaceDelimited" => ' ',
            "pipeDelimited" => '|',
            // An exploded `matrix` repeats the name, which a single value cannot express.
            "label" if is_exploded(parameter, style) => '.',
            "label" | "matrix" if !is_exploded(parameter, style) => ',',
            _ => return None,
        };
        let is_repeated = is_exploded(parameter, style) && !matches!(style, "simple" | "label");
        Some(if is_repeated { Self::Repeated } else { Self::Joined(between) })
    }
}

fn is_exploded(parameter: &Value, style: &str) -> bool {
    parameter.get("explode").and_then(Value::as_bool).unwrap_or(matches!(style, "form" | "deepObject"))
}

/// A parameter being converted.
struct Parameter<'d> {
    name: &'d str,
    place: &'d str,
    style: &'d str,
    is_exploded: bool,
    /// True if its value is sent as JSON text.
    is_json: bool,
    list: Option<ListStyle>,
    schema: &'d Value,
}

/// Ways to write a value.
enum Written {
    /// An expression: one value, or several under one name.
    Value(String),
    /// Members of `queryParams`.
    Members(String),
}

impl<'d> Parameter<'d> {
    /// Reads a parameter; `None` if its schema cannot be read.
    fn read(value: &'d Value, name: &'d str, place: &'d str, types: &Types<'d>) -> Option<Self> {
        let style = text(value, "style").unwrap_or(match place {
            "query" | "cookie" => "form",
            _ => "simple",
        });
        let is_exploded = is_exploded(value, style);
        let list = ListStyle::of(value, place);
        let own = Self { name, place, style, is_exploded, is_json: false, list, schema: &Value::Null };
        if let Some(schema) = value.get("schema") {
            return Some(Self { schema, ..own });
        }
        let content = value.get("content").and_then(Value::as_object)?;
        let schema = |media: &'d Value| types.media(media).get("schema").unwrap_or(&Value::Null);
        if place == "querystring" {
            // The form is the whole query, so its members are written like an exploded object.
            let media = content.iter().find(|it| it.0.eq_ignore_ascii_case(FORM))?.1;
            return Some(Self { schema: schema(media), style: "form", is_exploded: true, ..own });
        }
        let (kind, media) = json_content(content)?;
        (kind == JSON).then(|| Self { schema: schema(media), is_json: true, ..own })
    }

    /// Writes `argument` of type `shape`; `None` if no expression can express it.
    fn write(&self, argument: &str, shape: &TypeShape, types: &Types<'d>) -> Option<Written> {
        let value = format!("$args.{argument}");
        if self.is_json && self.place != "cookie" {
            let value = if types.is_renamed(shape) {
                format!("$({value} {{ {} }})", types.selection(shape)?)
            } else {
                value
            };
            return Some(Written::Value(format!("{value}->jsonStringify")));
        }
        let is_object = shape.object.is_some() && !shape.is_list();
        match self.place {
            "query" | "querystring" if is_object => self.write_object(&value, shape, types),
            _ if is_object => {
                let pair = if self.is_exploded { '=' } else { ',' };
                let text = (self.style == "simple").then(|| types.joined_members(shape, &value, pair, ','));
                text.flatten().map(Written::Value)
            }
            // A list of objects, or an object with unknown members, cannot be serialized as a parameter.
            _ if shape.object.is_some() || types.is_object(self.schema) => None,
            "cookie" => (!shape.is_list()).then_some(Written::Value(value)),
            "querystring" => None,
            _ if shape.is_list() => match self.list {
                Some(ListStyle::Repeated) => Some(Written::Value(value)),
                Some(ListStyle::Joined(between)) => {
                    Some(Written::Value(format!("{value}->joinNotNull('{between}')")))
                }
                None => None,
            },
            _ => Some(Written::Value(value)),
        }
    }

    /// Writes an object in the query.
    fn write_object(&self, value: &str, shape: &TypeShape, types: &Types<'d>) -> Option<Written> {
        match (self.style, self.is_exploded) {
            ("deepObject", _) => types.deep_members(shape, self.name, value).map(Written::Members),
            ("form", true) => {
                let members = types.flat_members(shape)?;
                Some(Written::Members(format!("{value} {{ {members} }}")))
            }
            ("form", false) => types.joined_members(shape, value, ',', ',').map(Written::Value),
            _ => None,
        }
    }
}

impl RequestParts {
    /// Adds an argument called `wanted`, or a similar unused name.
    pub(super) fn argument(&mut self, wanted: &str, ty: &str, description: Option<String>) -> String {
        let name = self.given.fresh(graphql_names::field(wanted));
        self.arguments.push(Argument { name: name.clone(), ty: ty.to_string(), description });
        name
    }

    /// Adds a parameter.
    ///
    /// # Errors
    /// The reason why the operation cannot be called.
    pub(super) fn parameter<'d>(
        &mut self,
        parameter: &'d Value,
        operation: &str,
        types: &mut Types<'d>,
    ) -> Result<(), String> {
        let (Some(name), Some(place)) = (text(parameter, "name"), text(parameter, "in")) else {
            return Err("a parameter has no name or no place".into());
        };
        // Source: OpenAPI 3.0.3, Parameter Object: header parameters with these names are ignored.
        let is_elsewhere = |it: &&str| it.eq_ignore_ascii_case(name);
        if place == "header" && ["accept", "authorization", "content-type"].iter().any(is_elsewhere) {
            return Ok(());
        }
        let is_required = is_true(parameter, "required") || place == "path";
        let argument = self.given.fresh(graphql_names::field(name));
        let named = ParameterName { name, place };
        if let Some((shape, written)) = read_parameter(parameter, named, &argument, operation, types)
            && self.put(parameter, named, is_required, written)
        {
            let default = default_of(parameter.get("schema"), &shape);
            let bang = if is_required && default.is_empty() { "!" } else { "" };
            let ty = format!("{}{bang}{default}", shape.ty);
            let description = first_line(parameter);
            self.arguments.push(Argument { name: argument, ty, description });
            return Ok(());
        }
        self.given.free(&argument);
        if is_required {
            return Err(format!("its parameter `{name}` cannot be made from an argument"));
        }
        types.notes.push(format!(
            "`{operation}` is without its parameter `{name}` ({place}), which no argument can make"
        ));
        Ok(())
    }

    /// Places a value; false if the place cannot express it.
    fn put(
        &mut self,
        parameter: &Value,
        named: ParameterName<'_>,
        is_required: bool,
        written: Written,
    ) -> bool {
        let ParameterName { name, place } = named;
        match (place, written) {
            ("query" | "querystring", Written::Value(value)) => {
                self.query.push(format!("{}: {value}", graphql_names::member(name)));
            }
            ("query" | "querystring", Written::Members(members)) => self.query.push(members),
            ("path", Written::Value(value)) => {
                let text = match text(parameter, "style").unwrap_or("simple") {
                    "simple" => format!("{{{value}}}"),
                    "label" => format!(".{{{value}}}"),
                    "matrix" => format!(";{name}={{{value}}}"),
                    _ => return false,
                };
                self.path.push((name.to_string(), text));
            }
            ("header", Written::Value(value)) if Header::read(name, None, Some("")).is_ok() => {
                self.headers.push((name.to_string(), format!("{{{value}}}")));
            }
            // All cookies share one header, which is not sent if one of its values is missing. Therefore cookies must be required.
            ("cookie", Written::Value(value)) if is_required && is_cookie(name) => {
                self.cookies.push(format!("{name}={{{value}}}"));
            }
            _ => return false,
        }
        true
    }

    /// Takes the headers, including `Cookie`.
    pub(super) fn take_headers(&mut self) -> Vec<(String, String)> {
        if !self.cookies.is_empty() {
            self.headers.push(("Cookie".into(), self.cookies.join("; ")));
        }
        std::mem::take(&mut self.headers)
    }
}

/// Key that tells the parameters of an operation apart.
#[derive(Clone, Copy)]
struct ParameterName<'d> {
    name: &'d str,
    /// `query`, `querystring`, `path`, `header` or `cookie`.
    place: &'d str,
}

/// Type of a parameter, and its text in the request.
fn read_parameter<'d>(
    parameter: &'d Value,
    named: ParameterName<'d>,
    argument: &str,
    operation: &str,
    types: &mut Types<'d>,
) -> Option<(TypeShape, Written)> {
    let ParameterName { name, place } = named;
    let read = Parameter::read(parameter, name, place, types)?;
    let shape = types.shape(read.schema, Way::In, &format!("{operation} {name}"), 0);
    let written = read.write(argument, &shape, types)?;
    Some((shape, written))
}

/// ` = value` if the schema has a number or boolean default of the argument's type.
fn default_of(schema: Option<&Value>, shape: &TypeShape) -> String {
    let default = schema.and_then(|it| it.get("default")).filter(|value| match &*shape.ty {
        "Int" => integers::is_narrow(value),
        WIDE => value.is_i64() || value.is_u64(),
        "Float" => value.is_number(),
        "Boolean" => value.is_boolean(),
        _ => false,
    });
    default.map_or_else(String::new, |it| format!(" = {it}"))
}

/// True if `name` needs no quotes in a cookie. Source: RFC 6265, section 4.1.1.
fn is_cookie(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it))
}
