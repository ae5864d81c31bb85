//! Request bodies: JSON, and forms given as one argument.

use super::document::{Document, FORM, JSON, form_content, is_true, json_content};
use super::graphql_names;
use super::parameters::{ListStyle, RequestParts};
use super::types::{Field, TypeShape, Types, Way, first_line};
use serde_json::{Map, Value};

/// Adds the body of `operation`, whose field is called `name`, to `request`.
///
/// # Errors
/// The reason why the body cannot be sent.
pub(super) fn read<'d>(
    document: &'d Document,
    operation: &'d Value,
    request: &mut RequestParts,
    name: &str,
    types: &mut Types<'d>,
) -> Result<(), String> {
    let Some(body) = operation.get("requestBody") else { return Ok(()) };
    let body = document.resolve(body).ok_or("its body's reference cannot be followed")?.value;
    let content = body.get("content").and_then(Value::as_object).filter(|it| !it.is_empty());
    let (kind, media) = match content {
        Some(content) => media_of(content)?,
        // Source: OpenAPI 3.1, Media Type Object: without a schema a body may be anything.
        None => (JSON.to_owned(), &Value::Null),
    };
    let media = document.media(media);
    let schema = media.get("schema");
    let shape = match schema {
        Some(schema) => types.shape(schema, Way::In, &format!("{name} body"), 0),
        None => types.json(),
    };
    let is_form = kind == FORM;
    if kind != JSON && !kind.contains('*') {
        request.headers.push(("Content-Type".into(), kind));
    }
    if is_form && types.is_nested(&shape).ok_or("its body is a form without names")? {
        types.notes.push(format!(
            "the form of `{name}` has lists and objects in it, which are sent as `name[0]` and `name[member]`"
        ));
    }
    let may_be_null = schema.is_some_and(|it| types.allows_null(it));
    let bang = if is_true(body, "required") && !may_be_null { "!" } else { "" };
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

/// Selects the media type to send: JSON before a form.
fn media_of(content: &Map<String, Value>) -> Result<(String, &Value), String> {
    let form = || form_content(content).map(|it| (FORM.to_owned(), it));
    json_content(content).or_else(form).ok_or_else(|| {
        let kinds: Vec<&str> = content.keys().map(String::as_str).collect();
        format!("its body is {}, neither JSON nor a form", kinds.join(", "))
    })
}

/// A form with lists, in the syntax of mappings: a list of objects, since a name may repeat. `None` if there is no list, or an object in
/// it has renamed members.
///
/// Source: OpenAPI 3.1, Encoding Object: the default for lists is `style: form`, exploded.
fn form_body(media: &Value, types: &Types<'_>, shape: &TypeShape, argument: &str) -> Option<String> {
    let fields = types.fields(shape);
    let is_sent_apart = |it: &Field| it.shape.is_list() && it.shape.object.is_none();
    if !fields.iter().any(is_sent_apart) || fields.iter().any(|it| types.is_renamed(&it.shape)) {
        return None;
    }
    let mut single = Vec::new();
    let mut repeated = Vec::new();
    for field in fields {
        let encoding = media.get("encoding").and_then(|it| it.get(&field.key)).unwrap_or(&Value::Null);
        let key = graphql_names::member(&field.key);
        let value = format!("$args.{argument}.{}", field.name);
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
