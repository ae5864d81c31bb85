//! `/admin/documents`: saved operations: collections, REST endpoints, and documents with their identifiers, page by page.
//!
//! **Cost:** a page has [`DOCUMENTS_MAX`] documents, however many there are; a search compares names, identifiers and texts.

use crate::operations::SavedOperations;
use crate::operations::endpoint_variables::Declared;
use crate::operations::saved_documents::{SavedCollection, identifiers};
use crate::operations::saved_endpoint::{SavedEndpoint, method_name};
use crate::server::operator::pages::check_json;
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::Media;
use crate::server::request::receive;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use serde_json::{Value, json as value};

/// Documents of one page.
const DOCUMENTS_MAX: usize = 100;

/// Documents that are asked for: those behind a place that have a text in them.
struct Question {
    after: usize,
    search: String,
}

/// Tells the page that `{"after": 0, "search": "…"}` asks for.
pub(crate) async fn answer(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
) -> Result<Answer, Refusal> {
    check_json(head)?;
    let limits = &context.generation.config.limits;
    let bytes = receive::body(context, &head.headers, body).await?;
    let question = {
        let tape = receive::json(context.worker.json_buffer.take(), &bytes, limits)?;
        let after = tape.root().get("after").and_then(|it| it.as_number()).map_or(Ok(0), str::parse);
        let after = after.map_err(|_| Refusal::bad_request("`after` has to be a place, such as 100"))?;
        let search = tape.root().get("search").and_then(|it| it.as_str());
        Question { after, search: search.unwrap_or_default().to_lowercase() }
    };
    let config = &context.generation.config;
    let operations = &context.generation.operations;
    let mut page = documents_json(operations, &question);
    let persisted = &config.operations.persisted;
    page["allow_list"] = config.operations.allow_list.into();
    page["require_id"] = persisted.require_id.into();
    page["automatic"] = operations.automatic.is_some().into();
    page["agents"] = config.operations.mcp.enabled.into();
    page["collections"] = operations.collections.iter().map(collection_json).collect();
    page["endpoints"] = operations.endpoints.all().iter().map(endpoint_json).collect();
    let body = ResponseBody::whole(page.to_string().into_bytes());
    Ok(Answer::page(json(StatusCode::OK, Media::Json, body)))
}

/// One page of documents, with the place of the next one.
fn documents_json(operations: &SavedOperations, question: &Question) -> Value {
    let ids = identifiers(&operations.documents);
    let all = operations.collections.iter().flat_map(|it| it.queries.iter().map(move |query| (it, query)));
    let found = all.filter_map(|(collection, (name, hash))| {
        let document = operations.documents.find(hash)?;
        let ids = ids.get(&*document.text).map_or(&[][..], Vec::as_slice);
        let has = |it: &str| it.to_lowercase().contains(&question.search);
        let is_found = has(name) || has(&document.text) || ids.iter().any(|it| has(it));
        is_found.then_some((collection, name, hash, &document.text, ids))
    });
    let mut documents = Vec::new();
    let mut total = 0;
    for (collection, name, hash, text, ids) in found {
        if total >= question.after && documents.len() < DOCUMENTS_MAX {
            // The hash of the text is an identifier of every document.
            let ids: Vec<&str> = ids.iter().filter(|it| *it != hash).copied().collect();
            documents.push(
                value!({ "name": name, "collection": collection.name, "hash": hash, "ids": ids, "text": &**text }),
            );
        }
        total += 1;
    }
    let end = question.after.saturating_add(documents.len());
    let next = if end < total { value!(end) } else { Value::Null };
    value!({ "documents": documents, "total": total, "next": next })
}

fn collection_json(collection: &SavedCollection) -> Value {
    let SavedCollection { name, origin, file, scopes, queries } = collection;
    let is_global = scopes.iter().any(|it| it.as_ref().is_none_or(|it| it.global));
    let roles: Vec<&String> =
        scopes.iter().flatten().filter(|it| !it.global).flat_map(|it| it.roles.iter().flatten()).collect();
    let allowed =
        if scopes.is_empty() { Value::Null } else { value!({ "global": is_global, "roles": roles }) };
    value!({ "name": name, "origin": origin, "file": file, "documents": queries.len(), "allowed": allowed })
}

fn endpoint_json(endpoint: &SavedEndpoint) -> Value {
    let variables = endpoint.variables.iter().map(|it| {
        let Declared { name, ty, is_list, is_nullable, default } = it;
        value!({ "name": name, "type": ty, "list": is_list, "nullable": is_nullable, "default": default })
    });
    value!({
        "name": endpoint.name,
        "comment": endpoint.comment,
        "url": endpoint.url,
        "methods": endpoint.methods.iter().map(|it| method_name(*it)).collect::<Vec<_>>(),
        "query": endpoint.query,
        "origin": if endpoint.is_metadata { "metadata" } else { "settings" },
        "variables": variables.collect::<Vec<_>>(),
    })
}
