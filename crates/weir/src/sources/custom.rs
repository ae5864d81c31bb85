//! `@custom` fields of native sources, resolved by the source of services.
//!
//! The native source reads and checks the directives and stores nothing of them; here they become a text of services
//! ([`custom_sdl`]): fields of the roots, fields added to the stored types, and the types of their answers. The source of services makes
//! the calls, so that templates, batches, limits and caching are those of any service. In the graph it stands behind the
//! native source, whose objects give the keys.
//!
//! **Invariant:** each field of the text is on a line of its own: what is wrong with it is told at its directive.

mod custom_sdl;
mod custom_source;
mod introspection;
#[cfg(test)]
mod tests;

pub(crate) use introspection::check as introspect;

use custom_sdl::Translation;
use custom_source::CustomSource;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use weir_engine::source::Source;
use weir_http::cache::Cache;
use weir_http::sdl::{self, Embedding, Mistake, Outside};
use weir_http::selection::value::Value;
use weir_http::source::{HttpSource, Options};
use weir_language::schema::{ScalarReader, Wording};
use weir_native::custom::{Customs, Owner};

/// Scalars of native sources.
const SCALARS: [(&str, ScalarReader); 2] =
    [("Int64", ScalarReader::BigInt), ("DateTime", ScalarReader::Moment)];

/// Checks the calls of `@custom` fields in the types at `path`, without calling anything.
/// # Errors
/// All mistakes, with the locations of the directives.
pub(crate) fn check(path: &Path, customs: &Customs) -> Result<(), String> {
    if customs.is_empty() {
        return Ok(());
    }
    let translation = custom_sdl::translate(customs);
    let file = path.display().to_string();
    let none = |_: &str| None;
    let config = secrets(customs);
    let services = BTreeMap::new();
    with_embedding(customs, |embedding| {
        let outside = Outside {
            config: &config,
            env: &none,
            env_shown: &[],
            services: &services,
            embedding: Some(embedding),
        };
        let read = sdl::read_with(&translation.text, &file, &outside);
        read.map(|_| ()).map_err(|mistakes| mistakes_text(&translation, &mistakes))
    })
}

/// Opens the `@custom` fields of the types at `path` as a source beside the native source `name`. Nothing is called. `is_guarded`: callers
/// with an invalid token get errors.
/// # Errors
/// See [`check`].
pub(crate) fn open(
    name: &str,
    path: &Path,
    customs: &Customs,
    cache: Arc<Cache>,
    is_guarded: bool,
) -> Result<Arc<dyn Source>, String> {
    let translation = custom_sdl::translate(customs);
    let name = format!("{name}/custom");
    let source = http(&translation, &name, path, customs, cache)?;
    Ok(Arc::new(CustomSource::new(source, customs, is_guarded)))
}

/// Opens the source of services for generated SDL.
fn http(
    translation: &Translation,
    name: &str,
    path: &Path,
    customs: &Customs,
    cache: Arc<Cache>,
) -> Result<HttpSource, String> {
    let config = secrets(customs);
    let services = BTreeMap::new();
    let none = |_: &str| None;
    with_embedding(customs, |embedding| {
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
        opened.map_err(|mistakes| mistakes_text(translation, &mistakes))
    })
}

/// Calls `with` with the embedding: facts about the native types around the generated SDL.
fn with_embedding<T>(customs: &Customs, with: impl FnOnce(&Embedding<'_>) -> T) -> T {
    let member = |ty: &str, field: &str| {
        let found = customs.names.iter().find(|it| it.ty == ty && it.field == field);
        found.map(|it| it.name.as_str().into())
    };
    let may_be_null = |ty: &str, field: &str| {
        let of =
            |it: &&weir_native::custom::CustomField| matches!(&it.owner, Owner::Type(name) if name == ty);
        customs.fields.iter().filter(of).any(|it| it.optional.iter().any(|name| name == field))
    };
    let scalars = &SCALARS[..];
    let wording = Wording::Dgraph;
    with(&Embedding { scalars, wording, member: &member, may_be_null: &may_be_null })
}

/// Secrets as `$config` settings, so that no SDL contains them.
fn secrets(customs: &Customs) -> BTreeMap<String, Value<'static>> {
    let values = customs.secrets.iter().enumerate();
    values.map(|(at, it)| (custom_sdl::setting(at), Value::Text(it.1.clone().into()))).collect()
}

/// Mistakes with the locations of their directives, one per line.
fn mistakes_text(translation: &Translation, mistakes: &[Mistake]) -> String {
    let line = |it: &Mistake| {
        let place = translation.place(it.location.line);
        format!("{}:{}:{}: {}", it.file, place.line, place.column, it.message)
    };
    mistakes.iter().map(line).collect::<Vec<_>>().join("\n")
}
