//! Writes failures as JSON.
//!
//! Sources: GraphQL specification, section 7.1.2; `docs/endpoints.md`.

use super::{Failure, PathStep};
use crate::answer::write::out::Out;
use crate::errors::hasura_wording;
use crate::request::protocol::Protocol;
use weir_language::span::Location;

/// The whole answer to a request that was refused before anything was executed.
pub(crate) fn render_refusal(protocol: Protocol, text: &str, failures: &[Failure]) -> Vec<u8> {
    let mut out = Out::default();
    out.open(b'{');
    append(&mut out, protocol, text, failures);
    out.close(b'}');
    out.into_bytes()
}

/// Appends `"errors":[…],`.
pub(crate) fn append(out: &mut Out, protocol: Protocol, text: &str, failures: &[Failure]) {
    out.raw(b"\"errors\":[");
    match protocol {
        Protocol::GraphqlOverHttp => {
            for failure in failures {
                spec(out, text, failure);
                out.comma();
            }
        }
        Protocol::Hasura => {
            for failure in failures.iter().take_while(|it| it.is_passed) {
                as_said(out, failure);
                out.comma();
            }
            if let Some(failure) = failures.first().filter(|it| !it.is_passed) {
                in_hasura_words(out, text, failure);
                out.comma();
            }
        }
    }
    out.close(b']');
    out.comma();
}

fn spec(out: &mut Out, text: &str, failure: &Failure) {
    out.raw(b"{\"message\":");
    out.string(&failure.message);
    out.comma();
    if !failure.spans.is_empty() {
        out.raw(b"\"locations\":[");
        for span in &failure.spans {
            let Location { line, column } = Location::of(text, span.start);
            out.raw(b"{\"line\":");
            out.int(line.into());
            out.raw(b",\"column\":");
            out.int(column.into());
            out.raw(b"},");
        }
        out.close(b']');
        out.comma();
    }
    path(out, failure);
    out.raw(b"\"extensions\":");
    if !is_written_whole(out, failure, true) {
        out.raw(b"{");
        extensions(out, failure, failure.code);
        out.raw(b"}");
    }
    out.raw(b"}");
}

/// Writes `"path":[…],` if there is one.
fn path(out: &mut Out, failure: &Failure) {
    if !failure.path.is_empty() {
        out.raw(b"\"path\":[");
        for step in &failure.path {
            match step {
                PathStep::Key(key) => out.string(key),
                PathStep::Index(index) => out.int((*index).into()),
            }
            out.comma();
        }
        out.close(b']');
        out.comma();
    }
}

/// An error of another server.
fn as_said(out: &mut Out, failure: &Failure) {
    out.raw(b"{\"message\":");
    out.string(&failure.message);
    out.comma();
    path(out, failure);
    if failure.extensions.is_some() {
        out.raw(b"\"extensions\":");
        is_written_whole(out, failure, false);
    }
    out.close(b'}');
}

fn in_hasura_words(out: &mut Out, text: &str, failure: &Failure) {
    let words = hasura_wording::words(text, failure);
    out.raw(b"{\"message\":");
    out.string(&words.message);
    out.raw(b",\"extensions\":");
    if !is_written_whole(out, failure, false) {
        out.raw(b"{\"path\":");
        out.string(&words.path);
        out.comma();
        extensions(out, failure, words.code);
        out.raw(b"}");
    }
    out.raw(b"}");
}

/// Writes `extensions` that a source gave whole; `false` if it gave none. By the specification they are an object: another value
/// stands in one if `is_object`.
fn is_written_whole(out: &mut Out, failure: &Failure, is_object: bool) -> bool {
    let Some(said) = failure.extensions.as_deref().filter(|it| it.is_whole) else { return false };
    if is_object && !said.members.starts_with('{') {
        out.raw(b"{\"code\":");
        out.string(failure.code);
        out.raw(b",\"extensions\":");
        out.raw(said.members.as_bytes());
        out.raw(b"}");
    } else {
        out.raw(said.members.as_bytes());
    }
    true
}

/// The members of `extensions`: the code, what a service says, and what stands of a mutation.
fn extensions(out: &mut Out, failure: &Failure, code: &str) {
    let said = failure.extensions.as_deref();
    if said.is_none_or(|it| !it.has_code) {
        out.raw(b"\"code\":");
        out.string(code);
        if said.is_some() {
            out.comma();
        }
    }
    out.raw(said.map_or("", |it| &it.members).as_bytes());
    if let Some(committed) = &failure.committed {
        out.raw(b",\"committed\":");
        out.raw(committed.as_bytes());
    }
}
