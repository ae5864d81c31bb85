//! Parameters of OpenAPI to arguments, and to the places of a request that take them.
//!
//! Source: OpenAPI 3.1, Parameter Object and "Style Values"; RFC 6570.

use super::document::{FORM, JSON, is_true, json_content, text};
use super::integers::{self, WIDE};
use super::names::{self, TakenNames};
use super::types::{TypeShape, Types, Way, first_line};
use crate::template::Header;
use serde_json::Value;

/// The request's parts that take the arguments.
#[derive(Default)]
pub(super) struct RequestParts {
    given: TakenNames,
    pub(super) arguments: Vec<Argument>,
    pub(super) query: Vec<String>,
    pub(super) headers: Vec<(String, String)>,
    /// The path's parameters and what stands in their place.
    pub(super) path: Vec<(String, String)>,
    /// `name={$args.name}` of each cookie.
    cookies: Vec<String>,
    pub(super) body: Option<String>,
}

/// An argument of a root field.
pub(super) struct Argument {
    pub name: String,
    /// With its `!` and its default.
    pub ty: String,
    pub description: Option<String>,
}

/// Form of the items of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListStyle {
    /// Each under the parameter's name.
    Repeated,
    /// One text, with this between the items.
    Joined(char),
}

impl ListStyle {
    /// By `style` and `explode` of a parameter in `place`; `None` for a style that lists do not have.
    ///
    /// Source: OpenAPI 3.1, Parameter Object: the default of queries is `form`, and only `form` explodes by default.
    pub(super) fn of(parameter: &Value, place: &str) -> Option<Self> {
        let style = text(parameter, "style").unwrap_or(if place == "query" { "form" } else { "simple" });
        let between = match style {
            "form" | "simple" => ',',
            "spaceDelimited" => ' ',
            "pipeDelimited" => '|',
            // An exploded `matrix` repeats the name, which no value can.
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

/// A parameter that is being read.
struct Parameter<'d> {
    name: &'d str,
    place: &'d str,
    style: &'d str,
    is_exploded: bool,
    /// True if its value is a JSON text.
    is_json: bool,
    list: Option<ListStyle>,
    schema: &'d Value,
}

/// How a value is written.
enum Written {
    /// By an expression, as one value, or as several of one name.
    Value(String),
    /// By members of `queryParams`.
    Members(String),
}

impl<'d> Parameter<'d> {
    /// `None` if it says no schema that can be read.
    fn read(value: &'d Value, name: &'d str, place: &'d str, types: &Types<'d>) -> Option<Self> {
        let style = text(value, "style").unwrap_or(match place {
            "query" | "cookie" => "form",
            _ => "simple",
        });
        let (is_exploded, list) = (is_exploded(value, style), ListStyle::of(value, place));
        let own = Self { name, place, style, is_exploded, is_json: false, list, schema: &Value::Null };
        if let Some(schema) = value.get("schema") {
            return Some(Self { schema, ..own });
        }
        let content = value.get("content").and_then(Value::as_object)?;
        let schema = |media: &'d Value| types.media(media).get("schema").unwrap_or(&Value::Null);
        if place == "querystring" {
            // The whole query is one form: as the members of an exploded object.
            let media = content.iter().find(|it| it.0.eq_ignore_ascii_case(FORM))?.1;
            return Some(Self { schema: schema(media), style: "form", is_exploded: true, ..own });
        }
        let (kind, media) = json_content(content)?;
        (kind == JSON).then(|| Self { schema: schema(media), is_json: true, ..own })
    }

    /// How `argument`, which is of `shape`, is written; `None` if no expression can write it.
    fn write(&self, argument: &str, shape: &TypeShape, types: &Types<'d>) -> Option<Written> {
        let value = format!("$args.{argument}");
        if self.is_json && self.place != "cookie" {
            let value = match types.is_renamed(shape) {
                true => format!("$({value} {{ {} }})", types.selection(shape)?),
                false => value,
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
            // A list of objects, or an object whose members are not known, has no form in a parameter.
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

    /// An object in the query.
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
    /// An argument called `wanted`, or something like it.
    pub(super) fn argument(&mut self, wanted: &str, ty: &str, description: Option<String>) -> String {
        let name = self.given.fresh(names::field(wanted));
        self.arguments.push(Argument { name: name.clone(), ty: ty.to_string(), description });
        name
    }

    /// Adds a parameter.
    ///
    /// # Errors
    /// The reason for which the operation cannot be asked.
    pub(super) fn parameter<'d>(
        &mut self,
        parameter: &'d Value,
        operation: &str,
        types: &mut Types<'d>,
    ) -> Result<(), String> {
        let (Some(name), Some(place)) = (text(parameter, "name"), text(parameter, "in")) else {
            return Err("a parameter has no name or no place".into());
        };
        // Source: OpenAPI 3.0.3, Parameter Object: these are described elsewhere, and parameters of their names mean nothing.
        let is_elsewhere = |it: &&str| it.eq_ignore_ascii_case(name);
        if place == "header" && ["accept", "authorization", "content-type"].iter().any(is_elsewhere) {
            return Ok(());
        }
        let is_required = is_true(parameter, "required") || place == "path";
        let argument = self.given.fresh(names::field(name));
        if let Some((shape, written)) =
            read_parameter(parameter, (name, place), (&argument, operation), types)
            && self.put((name, place), (parameter, is_required), written)
        {
            let default = default_of(parameter.get("schema"), &shape);
            let bang = if is_required && default.is_empty() { "!" } else { "" };
            let (ty, description) = (format!("{}{bang}{default}", shape.ty), first_line(parameter));
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

    /// Puts a value in its place; false if it cannot stand there.
    fn put(
        &mut self,
        (name, place): (&str, &str),
        (parameter, is_required): (&Value, bool),
        written: Written,
    ) -> bool {
        match (place, written) {
            ("query" | "querystring", Written::Value(value)) => {
                self.query.push(format!("{}: {value}", names::member(name)));
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
            // One header holds all cookies, and is not sent without one of its values.
            ("cookie", Written::Value(value)) if is_required && is_cookie(name) => {
                self.cookies.push(format!("{name}={{{value}}}"));
            }
            _ => return false,
        }
        true
    }

    /// The headers, with that of the cookies.
    pub(super) fn take_headers(&mut self) -> Vec<(String, String)> {
        if !self.cookies.is_empty() {
            self.headers.push(("Cookie".into(), self.cookies.join("; ")));
        }
        std::mem::take(&mut self.headers)
    }
}

/// The shape of a parameter, and how `argument` is written in its place.
fn read_parameter<'d>(
    parameter: &'d Value,
    (name, place): (&'d str, &'d str),
    (argument, operation): (&str, &str),
    types: &mut Types<'d>,
) -> Option<(TypeShape, Written)> {
    let read = Parameter::read(parameter, name, place, types)?;
    let shape = types.shape(read.schema, Way::In, &format!("{operation} {name}"), 0);
    let written = read.write(argument, &shape, types)?;
    Some((shape, written))
}

/// ` = value`, where a default is a number or a boolean of the argument's type.
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

/// True for a name that needs no quotes in a cookie. Source: RFC 6265, section 4.1.1.
fn is_cookie(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it))
}
