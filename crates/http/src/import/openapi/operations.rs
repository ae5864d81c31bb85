//! Operations of OpenAPI to root fields: name, arguments, request, answer.

use super::document::{Document, FORM, JSON, form_content, is_true, json_content, text};
use super::names::{self, TakenNames};
use super::types::{Field, TypeShape, Types, Way, first_line};
use crate::template::Header;
use serde_json::Value;

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "patch", "options", "head", "trace"];

/// The root fields of a text.
pub(super) struct Operations<'d> {
    pub types: Types<'d>,
    pub reading: Vec<Operation>,
    pub writing: Vec<Operation>,
    /// Operations that are not there, and why.
    pub left_out: Vec<String>,
}

/// One root field.
pub(super) struct Operation {
    pub name: String,
    pub description: Option<String>,
    pub deprecated: bool,
    pub arguments: Vec<Argument>,
    pub method: String,
    /// With `{$args.…}` in it.
    pub path: String,
    pub query: Vec<String>,
    pub headers: Vec<(String, String)>,
    pub body: Option<String>,
    pub ty: String,
    pub selection: String,
}

pub(super) struct Argument {
    pub name: String,
    /// With its `!` and its default.
    pub ty: String,
    pub description: Option<String>,
}

impl<'d> Operations<'d> {
    pub(super) fn read(document: &'d Document) -> Self {
        let mut all = Self {
            types: Types::new(document),
            reading: Vec::new(),
            writing: Vec::new(),
            left_out: Vec::new(),
        };
        let (mut reading, mut writing) = (TakenNames::default(), TakenNames::default());
        for (path, item) in document.members(&["paths"]) {
            let Some(item) = document.resolve(item) else {
                all.left_out.push(format!("{path}: its reference cannot be followed"));
                continue;
            };
            for method in METHODS {
                let Some(operation) = item.value.get(method) else { continue };
                let shown = format!("{} {path}", method.to_uppercase());
                if matches!(method, "options" | "head" | "trace") {
                    all.left_out.push(format!("{shown}: answers without a body"));
                    continue;
                }
                let asked = OperationSource { document, path, method, item: item.value, operation };
                let given = if method == "get" { &mut reading } else { &mut writing };
                match asked.read(&mut all.types, given) {
                    Ok(it) if method == "get" => all.reading.push(it),
                    Ok(it) => all.writing.push(it),
                    Err(why) => all.left_out.push(format!("{shown}: {why}")),
                }
            }
        }
        all
    }
}

/// An operation that is being read.
struct OperationSource<'d> {
    document: &'d Document,
    path: &'d str,
    method: &'d str,
    item: &'d Value,
    operation: &'d Value,
}

/// The request's parts that take the arguments.
#[derive(Default)]
struct RequestParts {
    given: TakenNames,
    arguments: Vec<Argument>,
    query: Vec<String>,
    headers: Vec<(String, String)>,
    /// The path's parameters and their arguments.
    path: Vec<(String, String)>,
    body: Option<String>,
}

/// Form of the items of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListStyle {
    /// Each under the parameter's name.
    Repeated,
    /// One text, with this between the items.
    Joined(char),
}

impl ListStyle {
    /// By `style` and `explode` of a parameter in `place`; `None` for a style that no text of a mapping can write.
    ///
    /// Source: OpenAPI 3.1, Parameter Object: the default of queries is `form`, and only `form` explodes by default.
    fn of(parameter: &Value, place: &str) -> Option<Self> {
        let style = text(parameter, "style").unwrap_or(if place == "query" { "form" } else { "simple" });
        let between = match style {
            "form" | "simple" => ',',
            "spaceDelimited" => ' ',
            "pipeDelimited" => '|',
            _ => return None,
        };
        let is_exploded = parameter.get("explode").and_then(Value::as_bool).unwrap_or(style == "form");
        Some(if is_exploded { Self::Repeated } else { Self::Joined(between) })
    }
}

/// The shape of a parameter, and the members of an exploded object, each of which becomes a parameter; `None` if no argument can make it.
fn parameter_shape<'d>(
    parameter: &'d Value,
    (name, place): (&str, &str),
    style: Option<ListStyle>,
    operation: &str,
    types: &mut Types<'d>,
) -> Option<(TypeShape, Option<String>)> {
    let schema = parameter.get("schema")?;
    let is_object = types.is_object(schema);
    let is_spread = is_object && place == "query" && style == Some(ListStyle::Repeated);
    let is_sent = match place {
        _ if is_object && !is_spread => false,
        "cookie" => false,
        "header" => Header::read(name, None, Some("")).is_ok(),
        _ => style.is_some(),
    };
    if !is_sent {
        return None;
    }
    let shape = types.shape(schema, Way::In, &format!("{operation} {name}"), 0);
    if is_spread {
        let members = types.flat_members(&shape)?;
        return Some((shape, Some(members)));
    }
    shape.object.is_none().then_some((shape, None))
}

/// The body of a form with lists, as a mapping writes it: a list of objects, so that a name may come again. `None` if there is no list, or
/// an object in it whose members have other names here.
///
/// Source: OpenAPI 3.1, Encoding Object: lists are `style: form`, exploded, where nothing else is said.
fn form_body(media: &Value, types: &Types<'_>, shape: &TypeShape, argument: &str) -> Option<String> {
    let fields = types.fields(shape);
    let is_sent_apart = |it: &Field| it.shape.is_list() && it.shape.object.is_none();
    if !fields.iter().any(is_sent_apart) || fields.iter().any(|it| types.is_renamed(&it.shape)) {
        return None;
    }
    let (mut single, mut repeated) = (Vec::new(), Vec::new());
    for field in fields {
        let encoding = media.get("encoding").and_then(|it| it.get(&field.key)).unwrap_or(&Value::Null);
        let (key, value) = (names::member(&field.key), format!("$args.{argument}.{}", field.name));
        match ListStyle::of(encoding, "query").filter(|_| is_sent_apart(field)) {
            Some(ListStyle::Repeated) => repeated.push(format!(", {value}->map({{{key}: @}})")),
            Some(ListStyle::Joined(between)) => {
                single.push(format!("{key}: {value}->joinNotNull('{between}')"));
            }
            None => single.push(format!("{key}: {value}")),
        }
    }
    Some(format!("$([{{{}}}{}])", single.join(", "), repeated.concat()))
}

impl<'d> OperationSource<'d> {
    fn read(&self, types: &mut Types<'d>, given: &mut TakenNames) -> Result<Operation, String> {
        let name = self.name();
        let mut request = RequestParts::default();
        for parameter in self.parameters() {
            let found =
                self.document.resolve(parameter).ok_or("a parameter's reference cannot be followed")?;
            request.parameter(found.value, &name, types)?;
        }
        self.body(&mut request, &name, types)?;
        let path = self.path_of(&mut request)?;
        let shape = self.answer(&name, types)?;
        let (ty, selection) = match &shape {
            // Nothing comes back: that it was done is all there is to say.
            None => ("Boolean".to_string(), "$(true)".to_string()),
            Some(shape) => {
                (shape.ty.clone(), types.selection(shape).ok_or("its answer has too many fields")?)
            }
        };
        Ok(Operation {
            name: given.fresh(name),
            description: first_line(self.operation),
            deprecated: is_true(self.operation, "deprecated"),
            arguments: request.arguments,
            method: self.method.to_uppercase(),
            path,
            query: request.query,
            headers: request.headers,
            body: request.body,
            ty,
            selection,
        })
    }

    /// By its `operationId`, else by what it does: `petsByPetId`, `createPets`.
    fn name(&self) -> String {
        if let Some(id) = text(self.operation, "operationId").filter(|it| !it.is_empty()) {
            return names::field(id);
        }
        let verb = match self.method {
            "post" => "create",
            "put" => "replace",
            "patch" => "update",
            "delete" => "delete",
            _ => "",
        };
        let words: Vec<String> = self
            .path
            .split('/')
            .filter(|it| !it.is_empty())
            .map(|it| it.strip_prefix('{').map_or_else(|| it.to_string(), |name| format!("by {name}")))
            .collect();
        names::field(&format!("{verb} {}", words.join(" ")))
    }

    /// The parameters of the path and, over them, of the operation.
    fn parameters(&self) -> Vec<&'d Value> {
        let list = |of: &'d Value| of.get("parameters").and_then(Value::as_array).into_iter().flatten();
        let key = |it: &'d Value| {
            let value = self.document.resolve(it).map_or(it, |it| it.value);
            (text(value, "name"), text(value, "in"))
        };
        let own: Vec<&Value> = list(self.operation).collect();
        let above = list(self.item).filter(|it| !own.iter().any(|mine| key(mine) == key(it)));
        above.chain(own.iter().copied()).collect()
    }

    fn path_of(&self, request: &mut RequestParts) -> Result<String, String> {
        let mut out = String::new();
        let mut rest = self.path;
        while let Some(start) = rest.find('{') {
            let end = rest[start..].find('}').ok_or("its path has a `{` without `}`")? + start;
            let name = &rest[start + 1..end];
            let known = request.path.iter().find(|it| it.0 == name).map(|it| it.1.clone());
            let argument = known.unwrap_or_else(|| request.argument(name, "ID!", None));
            out.push_str(&format!("{}{{$args.{argument}}}", &rest[..start]));
            rest = &rest[end + 1..];
        }
        Ok(out + rest)
    }

    fn body(&self, request: &mut RequestParts, name: &str, types: &mut Types<'d>) -> Result<(), String> {
        let Some(body) = self.operation.get("requestBody") else { return Ok(()) };
        let body = self.document.resolve(body).ok_or("its body's reference cannot be followed")?.value;
        let content = body.get("content").and_then(Value::as_object).ok_or("its body says no content")?;
        let form = || form_content(content).map(|it| (FORM.to_owned(), it));
        let Some((kind, media)) = json_content(content).or_else(form) else {
            let kinds: Vec<&str> = content.keys().map(String::as_str).collect();
            return Err(format!("its body is {}, neither JSON nor a form", kinds.join(", ")));
        };
        let Some(schema) = media.get("schema") else { return Ok(()) };
        let shape = types.shape(schema, Way::In, &format!("{name} body"), 0);
        let is_form = kind == FORM;
        if kind != JSON && !kind.contains('*') {
            request.headers.push(("Content-Type".into(), kind));
        }
        if is_form && types.is_nested(&shape).ok_or("its body is a form without names")? {
            types.notes.push(format!(
                "the form of `{name}` has lists and objects in it, which are sent as `name[0]` and `name[member]`"
            ));
        }
        let bang = if is_true(body, "required") && !shape.nullable { "!" } else { "" };
        let argument = request.argument("input", &format!("{}{bang}", shape.ty), first_line(body));
        let renamed = if types.is_renamed(&shape) {
            let fields = types.selection(&shape).ok_or("its body has too many fields")?;
            format!(" {{ {fields} }}")
        } else {
            String::new()
        };
        let repeated = if is_form { form_body(media, types, &shape, &argument) } else { None };
        request.body = Some(repeated.unwrap_or_else(|| format!("$args.{argument}{renamed}")));
        Ok(())
    }

    /// Answer of a successful operation; none if it is empty.
    fn answer(&self, name: &str, types: &mut Types<'d>) -> Result<Option<TypeShape>, String> {
        let responses = self.operation.get("responses").and_then(Value::as_object);
        let good = responses.and_then(|all| {
            let well = all.iter().filter(|it| it.0.starts_with('2')).min_by_key(|it| it.0.to_string());
            well.map(|it| it.1).or_else(|| all.get("default"))
        });
        let Some(good) = good else { return Err("it says no answer".into()) };
        let good = self.document.resolve(good).ok_or("its answer's reference cannot be followed")?.value;
        let content = good.get("content").and_then(Value::as_object).filter(|it| !it.is_empty());
        let Some(content) = content else {
            return if self.method == "get" { Err("it answers without a body".into()) } else { Ok(None) };
        };
        let Some((_, media)) = json_content(content) else {
            let kinds: Vec<&str> = content.keys().map(String::as_str).collect();
            return Err(format!("it answers {}, not JSON", kinds.join(", ")));
        };
        Ok(Some(match media.get("schema") {
            Some(schema) => types.shape(schema, Way::Out, &format!("{name} answer"), 0),
            None => types.json(),
        }))
    }
}

impl RequestParts {
    /// An argument called `wanted`, or something like it.
    fn argument(&mut self, wanted: &str, ty: &str, description: Option<String>) -> String {
        let name = self.given.fresh(names::field(wanted));
        self.arguments.push(Argument { name: name.clone(), ty: ty.to_string(), description });
        name
    }

    fn parameter<'d>(
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
        let required = is_true(parameter, "required") || place == "path";
        let schema = parameter.get("schema");
        let style = ListStyle::of(parameter, place);
        let shape = parameter_shape(parameter, (name, place), style, operation, types);
        let Some((shape, members)) = shape else {
            if required {
                return Err(format!("its parameter `{name}` cannot be made from an argument"));
            }
            types.notes.push(format!(
                "`{operation}` is without its parameter `{name}` ({place}), which no argument can make"
            ));
            return Ok(());
        };
        let is_list = shape.is_list();
        if is_list && place != "query" {
            return Err(format!("its parameter `{name}` is a list in the {place}"));
        }
        let default = schema
            .and_then(|it| it.get("default"))
            .filter(|it| !is_list && (it.is_number() || it.is_boolean()));
        let bang = if required && default.is_none() { "!" } else { "" };
        let default = default.map(|it| format!(" = {it}")).unwrap_or_default();
        let argument = self.argument(name, &format!("{}{bang}{default}", shape.ty), first_line(parameter));
        // An exploded object is a parameter for each of its members.
        if let Some(members) = members {
            self.query.push(format!("$args.{argument} {{ {members} }}"));
            return Ok(());
        }
        let joined = match style.filter(|_| is_list) {
            None | Some(ListStyle::Repeated) => String::new(),
            Some(ListStyle::Joined(between)) => format!("->joinNotNull('{between}')"),
        };
        match place {
            "path" => self.path.push((name.to_string(), argument)),
            "header" => self.headers.push((name.to_string(), format!("{{$args.{argument}}}"))),
            _ => self.query.push(format!("{}: $args.{argument}{joined}", names::member(name))),
        }
        Ok(())
    }
}
