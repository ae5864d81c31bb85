//! `@custom` fields of native sources, served by the source of services.
//!
//! The native source reads and checks the directives and stores nothing of them; here they become a text of services
//! ([`text`]): fields of the roots, fields added to the stored types, and the types of their answers. The source of services makes
//! the calls, so that templates, batches, limits and caching are those of any service. In the graph it stands behind the
//! native source, whose objects give the keys.
//!
//! **Invariant:** each field of the text is on a line of its own: what is wrong with it is told at its directive.

mod introspection;
mod source;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use introspection::check as introspect;

use source::CustomSource;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use text::Translation;
use weir_engine::source::Source;
use weir_http::cache::Cache;
use weir_http::sdl::{self, Embedding, Mistake, Outside};
use weir_http::selection::value::Value;
use weir_http::source::{HttpSource, Options};
use weir_language::schema::{ScalarReader, Wording};
use weir_native::custom::{Customs, Owner};

/// Scalars that native sources read.
const SCALARS: [(&str, ScalarReader); 2] =
    [("Int64", ScalarReader::BigInt), ("DateTime", ScalarReader::Moment)];

/// Checks the calls of the fields in the types at `path`. Nothing is sent.
/// # Errors
/// All that is wrong with them, with the places of their directives.
pub(crate) fn check(path: &Path, customs: &Customs) -> Result<(), String> {
    if customs.is_empty() {
        return Ok(());
    }
    let translation = text::translate(customs);
    let (file, none) = (path.display().to_string(), |_: &str| None);
    let (config, services) = (secrets(customs), BTreeMap::new());
    embedded(customs, |embedding| {
        let outside =
            Outside { config: &config, env: &none, services: &services, embedding: Some(embedding) };
        let read = sdl::read_with(&translation.text, &file, &outside);
        read.map(|_| ()).map_err(|mistakes| told(&translation, &mistakes))
    })
}

/// The fields of the types at `path`, of the native source `name`, as a source of their own. Nothing is sent. `is_guarded`: a token that does
/// not hold gets nothing.
/// # Errors
/// As [`check`].
pub(crate) fn open(
    name: &str,
    path: &Path,
    customs: &Customs,
    cache: Arc<Cache>,
    is_guarded: bool,
) -> Result<Arc<dyn Source>, String> {
    let translation = text::translate(customs);
    let name = format!("{name}/custom");
    let source = http(&translation, (&name, path), customs, cache)?;
    Ok(Arc::new(CustomSource::new(source, customs, is_guarded)))
}

/// The source of services of a text.
fn http(
    translation: &Translation,
    (name, path): (&str, &Path),
    customs: &Customs,
    cache: Arc<Cache>,
) -> Result<HttpSource, String> {
    let (config, services, none) = (secrets(customs), BTreeMap::new(), |_: &str| None);
    embedded(customs, |embedding| {
        let options = Options {
            name,
            cache,
            config: &config,
            env: &none,
            env_allowed: None,
            services: &services,
            ca: None,
            embedding: Some(embedding),
        };
        let opened = weir_http::source::open(&translation.text, &path.display().to_string(), &options);
        opened.map_err(|mistakes| told(translation, &mistakes))
    })
}

/// Calls `with` what the text stands beside.
fn embedded<T>(customs: &Customs, with: impl FnOnce(&Embedding<'_>) -> T) -> T {
    let member = |ty: &str, field: &str| {
        let found = customs.names.iter().find(|it| it.ty == ty && it.field == field);
        found.map(|it| it.name.as_str().into())
    };
    let may_be_null = |ty: &str, field: &str| {
        let of =
            |it: &&weir_native::custom::CustomField| matches!(&it.owner, Owner::Type(name) if name == ty);
        customs.fields.iter().filter(of).any(|it| it.optional.iter().any(|name| name == field))
    };
    let (scalars, wording) = (&SCALARS[..], Wording::Dgraph);
    with(&Embedding { scalars, wording, member: &member, may_be_null: &may_be_null })
}

/// The secrets as settings: no text holds them.
fn secrets(customs: &Customs) -> BTreeMap<String, Value<'static>> {
    let values = customs.secrets.iter().enumerate();
    values.map(|(at, it)| (text::setting(at), Value::Text(it.1.clone().into()))).collect()
}

/// Mistakes at the places of the directives, one line each.
fn told(translation: &Translation, mistakes: &[Mistake]) -> String {
    let line = |it: &Mistake| {
        let place = translation.place(it.location.line);
        format!("{}:{}:{}: {}", it.file, place.line, place.column, it.message)
    };
    mistakes.iter().map(line).collect::<Vec<_>>().join("\n")
}
