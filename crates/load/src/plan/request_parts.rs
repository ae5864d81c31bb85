//! The request of an operation by its kind: GraphQL by POST or GET, or plain HTTP.

use super::document_operations;
use super::document_operations::Definition;
use super::generators::ValueName;
use super::operation::{ENCODED, PathTemplate};
use super::plan_text::OperationText;
use crate::notation::expression::Value;
use crate::notation::expression_text::Piece;
use crate::notation::json_template::{JsonTemplate, Naming, TemplateReader};
use crate::notation::yaml::{Mistake, unknown_name};
use crate::result::OperationKind;
use http::Method;
use percent_encoding::utf8_percent_encode;
use serde_saphyr::{Location, Spanned};
use std::path::Path;

/// Address of a request, and the folder of the files that it names.
#[derive(Clone, Copy)]
pub(super) struct RequestTarget<'b> {
    /// Path of the server's endpoint.
    pub path: &'b str,
    /// Folder of the plan.
    pub base: &'b Path,
}

/// Parts of a request that are told apart by its kind.
pub(super) struct RequestParts {
    pub kind: OperationKind,
    pub method: Method,
    pub path: PathTemplate,
    pub headers: Vec<(&'static str, &'static str)>,
    pub body: Option<JsonTemplate<ValueName>>,
    pub document: Option<String>,
}

const JSON: (&str, &str) = ("content-type", "application/json");

impl RequestParts {
    pub(super) fn read(
        target: RequestTarget<'_>,
        name: &Spanned<String>,
        text: &OperationText,
        place: Location,
        naming: &mut Naming<'_, ValueName>,
    ) -> Result<Self, Mistake> {
        let plain = [
            (Method::GET, &text.get),
            (Method::POST, &text.post),
            (Method::PUT, &text.put),
            (Method::PATCH, &text.patch),
            (Method::DELETE, &text.delete),
        ];
        let mut plain = plain.into_iter().filter_map(|it| Some((it.0, it.1.as_ref()?)));
        let document = match (&text.query, &text.file) {
            (Some(query), None) => Some((query.value.clone(), query.referenced)),
            (None, Some(file)) => {
                let found = target.base.join(&file.value);
                let read = std::fs::read_to_string(&found).map_err(|cause| {
                    Mistake::at(file.referenced, format!("{} cannot be read: {cause}", found.display()))
                })?;
                Some((read, file.referenced))
            }
            (None, None) => None,
            (Some(_), Some(_)) => return Err(Mistake::at(place, "`query` and `file` exclude each other")),
        };
        match (document, plain.next(), plain.next()) {
            (Some((document, place)), None, _) => Self::graphql(target, name, text, document, place, naming),
            (None, Some((method, path)), None) => Self::http(method, path, text, naming),
            _ => Err(Mistake::at(
                place,
                "an operation is one of `query: '{ … }'`, `file: a.graphql`, `get: /path`, `post: /path`",
            )),
        }
    }

    fn http(
        method: Method,
        path: &Spanned<String>,
        text: &OperationText,
        naming: &mut Naming<'_, ValueName>,
    ) -> Result<Self, Mistake> {
        let is_path =
            path.value.starts_with('/') && path.value.bytes().all(|it| it.is_ascii_graphic() || it == b' ');
        if !is_path {
            let message =
                format!("`{}` is no path; begin with `/` and percent-encode what is no ASCII", path.value);
            return Err(Mistake::at(path.referenced, message));
        }
        let pieces = naming.pieces(&path.value, path.referenced)?;
        if pieces.iter().any(|it| matches!(it, Piece::Plain(it) if it.contains(' '))) {
            return Err(Mistake::at(path.referenced, "a space in a path is `%20`"));
        }
        let body = text.body.as_ref().map(|body| {
            let mut template = JsonTemplate::default();
            template.push_tree(body, naming).map(|()| template)
        });
        let body = body.transpose()?;
        let headers = if body.is_some() { vec![JSON] } else { Vec::new() };
        let path = PathTemplate::Pieces(pieces);
        Ok(Self { kind: OperationKind::Http, method, path, headers, body, document: None })
    }

    fn graphql(
        target: RequestTarget<'_>,
        name: &Spanned<String>,
        text: &OperationText,
        document: String,
        place: Location,
        naming: &mut Naming<'_, ValueName>,
    ) -> Result<Self, Mistake> {
        if let Some(body) = &text.body {
            return Err(Mistake::at(
                body.referenced,
                "`body` belongs to `post` and `put`; GraphQL has `variables`",
            ));
        }
        let chosen = choose_operation(name, text, &document, place)?;
        let method = text.method.as_ref().map_or("POST", |it| it.value.as_str());
        let own = target.path;
        let (method, path, headers, body) = match method {
            "POST" => {
                let mut body = JsonTemplate::default();
                body.push_bytes(b"{\"query\":");
                body.push_scalar(&Value::Text(document.as_str().into()));
                if !chosen.name.is_empty() {
                    body.push_bytes(b",\"operationName\":");
                    body.push_scalar(&Value::Text(chosen.name.as_str().into()));
                }
                if !text.variables.0.is_empty() {
                    body.push_bytes(b",\"variables\":");
                    body.push_object(&text.variables.0, naming)?;
                }
                body.push_bytes(b"}");
                let path = PathTemplate::Pieces(vec![Piece::Plain(own.to_owned())]);
                (Method::POST, path, vec![JSON], Some(body))
            }
            "GET" => {
                let sign = if own.contains('?') { '&' } else { '?' };
                let query = utf8_percent_encode(&document, ENCODED);
                let named = match chosen.name.as_str() {
                    "" => String::new(),
                    name => format!("&operationName={name}"),
                };
                let mut variables = JsonTemplate::default();
                variables.push_object(&text.variables.0, naming)?;
                let before = format!("{own}{sign}query={query}{named}&variables=");
                let accept = vec![("accept", "application/graphql-response+json, application/json")];
                (Method::GET, PathTemplate::Query(before, variables), accept, None)
            }
            other => {
                let place = text.method.as_ref().map_or(place, |it| it.referenced);
                return Err(Mistake::at(place, unknown_name("method of GraphQL", other, &["GET", "POST"])));
            }
        };
        Ok(Self { kind: chosen.kind, method, path, headers, body, document: Some(document) })
    }
}

/// The operation of the document that is sent.
fn choose_operation(
    name: &Spanned<String>,
    text: &OperationText,
    document: &str,
    place: Location,
) -> Result<Definition, Mistake> {
    let mut all = document_operations::operations(document).map_err(|message| Mistake::at(place, message))?;
    let wanted = text.operation.as_deref().filter(|it| !it.is_empty());
    if wanted.is_none() && all.len() == 1 {
        return Ok(all.remove(0));
    }
    let wanted = wanted.unwrap_or(&name.value);
    match all.iter().position(|it| it.name == wanted) {
        Some(at) => Ok(all.remove(at)),
        None => {
            let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
            Err(Mistake::at(place, unknown_name("operation of the document", wanted, &names)))
        }
    }
}
