//! `/admin/schema`: replaces the types of the native source by the request body.
//!
//! The store is migrated first, then the file is replaced, then the next generation serves. The file stays what decides: a
//! later reload finds the same text in it. Where a step fails that comes after the migration, the file has the text it had
//! and the store goes back to it; if the data does not allow that any more, the answer says what has which types.
//!
//! **Invariant:** one change at a time, and no reload beside it; a refused one leaves store, file and service as they were.

use super::reload::reload_and_log;
use crate::config::source::types_file;
use crate::generation::{Live, Turn};
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::{Refusal, string};
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::Media;
use crate::server::request::receive;
use crate::server::telemetry::metrics::Metrics;
use crate::sources::native::{Draft, Native};
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use std::sync::Arc;
use weir_native::store::{Error, Plan};

/// Reasons why a change of types failed.
enum Failure {
    /// There is not exactly one native source.
    None,
    /// The types are invalid.
    Text(String),
    /// The data does not permit the change.
    Refused(String),
    /// The store or the file cannot be changed.
    Failed(String),
}

/// Replaces the types. `?allow_data_loss=Dish.pic,Cook` names data that may be lost.
pub(crate) async fn change(
    context: &RequestContext,
    head: &Parts,
    incoming: Incoming,
) -> Result<Answer, Refusal> {
    let query = head.uri.query().unwrap_or_default();
    let allowed = query.split('&').find_map(|it| it.strip_prefix("allow_data_loss=")).unwrap_or_default();
    let allowed: Vec<String> = allowed.split(',').filter(|it| !it.is_empty()).map(str::to_owned).collect();
    let bytes = receive::body(context, &head.headers, incoming).await?;
    let sdl = String::from_utf8(bytes.to_vec()).map_err(|_| Refusal::bad_request("the body is not UTF-8"))?;
    let live = Arc::clone(&context.worker.live);
    let metrics = Arc::clone(&context.worker.metrics);
    let changed = tokio::task::spawn_blocking(move || apply(&live, &metrics, &sdl, &allowed)).await;
    let failed = |_| Err(Failure::Failed("a bug: the change panicked".into()));
    match changed.unwrap_or_else(failed) {
        Ok((plan, number)) => {
            let body = ResponseBody::whole(report(&plan, number));
            Ok(Answer::page(json(StatusCode::OK, Media::Json, body)))
        }
        Err(failure) => Err(refusal(failure)),
    }
}

fn refusal(failure: Failure) -> Refusal {
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    match failure {
        Failure::None => {
            let message = "there is not exactly one native source; change its file, then reload";
            Refusal::new(StatusCode::NOT_FOUND, "NOT_FOUND", message)
        }
        Failure::Text(message) => Refusal::new(status, "SCHEMA_INVALID", message),
        Failure::Refused(message) => Refusal::new(status, "MIGRATION_REFUSED", message),
        Failure::Failed(message) => Refusal::new(status, "MIGRATION_FAILED", message),
    }
}

fn apply(live: &Live, metrics: &Metrics, sdl: &str, allowed: &[String]) -> Result<(Plan, u64), Failure> {
    let turn = live.turn();
    let generation = turn.current();
    let mut natives = generation.config.sources.iter().filter_map(|it| Native::of(it).ok().flatten());
    let (Some(native), None) = (natives.next(), natives.next()) else { return Err(Failure::None) };
    let sdl = &types_file::sdl_of(sdl.to_owned()).map_err(Failure::Text)?;
    let types = native.types_of(sdl).map_err(Failure::Text)?;
    let unwritten = |cause| Failure::Failed(format!("the file of types cannot be written: {cause}"));
    let before = std::fs::read(&native.sdl).map_err(unwritten)?;
    // The file is written first, because its errors leave the store untouched.
    let draft = native.draft(sdl.as_bytes()).map_err(unwritten)?;
    let plan = native.migrate(&types, allowed).map_err(|error| match error {
        Error::Refused(_) => {
            Failure::Refused(error.to_string().replace("--allow-data-loss ", "?allow_data_loss="))
        }
        Error::Database(_)
        | Error::Unfit(_)
        | Error::Unreachable(_)
        | Error::Missing
        | Error::Foreign { .. }
        | Error::Format { .. }
        | Error::Stored(_)
        | Error::Changed => Failure::Failed(error.to_string()),
    })?;
    if let Err(cause) = draft.publish() {
        let why = format!("the file of types cannot be replaced: {cause}");
        return Err(restore_old_types(&turn, metrics, &why, "the store"));
    }
    match reload_and_log(&turn, metrics) {
        Ok(number) => Ok((plan, number)),
        Err(why) => {
            let restored = native.draft(&before).and_then(Draft::publish);
            let of = if restored.is_ok() { "the store" } else { "the store and the file" };
            Err(restore_old_types(&turn, metrics, &format!("the new types cannot be served: {why}"), of))
        }
    }
}

/// Migrates the store back to the types in the file. On failure the message says that `of` has the new types.
fn restore_old_types(turn: &Turn<'_>, metrics: &Metrics, why: &str, of: &str) -> Failure {
    Failure::Failed(match reload_and_log(turn, metrics) {
        Ok(_) => format!("{why}; file, store and service have the types they had"),
        Err(more) => format!("{why}; {of} has the new types, the service the old ones: {more}"),
    })
}

/// Writes `{"data":{"code":"Success","message":"Done"},"changes":[…],"generation":2}`.
fn report(plan: &Plan, number: u64) -> Vec<u8> {
    let mut out = br#"{"data":{"code":"Success","message":"Done"},"changes":["#.to_vec();
    for (place, change) in plan.changes.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        string(&mut out, change);
    }
    out.extend_from_slice(format!("],\"generation\":{number}}}").as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Source};
    use crate::generation::Origin;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering};
    use weir_language::schema::print::{Order, print};

    /// A service of the types in a folder that goes with the test, and of a database beside them.
    struct TestService {
        folder: PathBuf,
        live: Live,
        metrics: Metrics,
    }

    const NOTES: &str = "type Note { name: String! @id, text: String }";

    impl TestService {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("weir-schema-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("notes.graphql"), NOTES).unwrap();
            let beside = rusqlite::Connection::open(folder.join("beside.db")).unwrap();
            beside.execute_batch("CREATE TABLE IF NOT EXISTS shelf (id INTEGER PRIMARY KEY)").unwrap();
            let native = Some(folder.join("notes.graphql"));
            let sources = vec![
                Source { name: "notes".into(), native, ..Source::default() },
                Source {
                    name: "beside".into(),
                    url: format!("sqlite:{}", folder.join("beside.db").display()),
                    ..Source::default()
                },
            ];
            let config = Config { sources, ..Config::default() };
            let live = Live::start(Origin::Fixed(Box::new(config))).unwrap();
            Self { folder, live, metrics: Metrics::new() }
        }

        fn file(&self) -> String {
            std::fs::read_to_string(self.folder.join("notes.graphql")).unwrap()
        }

        /// The types in the store.
        fn store(&self) -> String {
            let store = rusqlite::Connection::open(self.folder.join("notes.weir.db")).unwrap();
            let last = "SELECT sdl FROM weir_versions ORDER BY version DESC LIMIT 1";
            store.query_row(last, [], |row| row.get(0)).unwrap()
        }

        fn apply(&self, sdl: &str) -> Result<u64, String> {
            apply(&self.live, &self.metrics, sdl, &[]).map(|it| it.1).map_err(|failure| match failure {
                Failure::None => String::new(),
                Failure::Text(words) | Failure::Refused(words) | Failure::Failed(words) => words,
            })
        }
    }

    impl Drop for TestService {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }

    fn is_served(live: &Live, name: &str) -> bool {
        print(live.current().engine.schema(), Order::Defined).contains(name)
    }

    #[test]
    fn no_reload_comes_between_the_steps_of_a_change() {
        let service = TestService::new("beside");
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reloading = || {
                while !is_over.load(Ordering::Relaxed) {
                    service.live.reload().unwrap();
                }
            };
            scope.spawn(reloading);
            for round in 0..12 {
                let sdl = NOTES.replace("text", &format!("text{round}"));
                let applied = service.apply(&sdl);
                let found =
                    (service.store(), service.file(), is_served(&service.live, &format!("text{round}")));
                if round == 11 || applied.is_err() {
                    is_over.store(true, Ordering::Relaxed);
                }
                assert_eq!((applied.is_ok(), found), (true, (sdl.clone(), sdl, true)), "{applied:?}");
            }
        });
    }

    #[test]
    fn types_that_cannot_be_served_leave_everything_as_it_was() {
        let service = TestService::new("clash");
        let sdl = format!("{NOTES} type Shelf {{ name: String! @id }} type shelf {{ name: String! @id }}");
        let words = service.apply(&sdl).unwrap_err();
        assert!(words.contains("have the types they had"), "{words}");
        assert_eq!((service.store().as_str(), service.file().as_str()), (NOTES, NOTES));
        assert!(is_served(&service.live, "queryNote"));
    }

    #[test]
    fn a_file_that_cannot_be_replaced_is_told_with_what_has_which_types() {
        let service = TestService::new("file");
        let path = service.folder.join("notes.graphql");
        let more = NOTES.replace("text", "title: String, text");
        let native = Native::new(&path, None).unwrap();
        native.migrate(&native.types_of(&more).unwrap(), &[]).unwrap();
        let turn = service.live.turn();
        let Failure::Failed(words) = restore_old_types(&turn, &service.metrics, "why", "the store") else {
            panic!()
        };
        assert_eq!(words, "why; file, store and service have the types they had");
        assert_eq!(service.store(), NOTES);
    }
}
