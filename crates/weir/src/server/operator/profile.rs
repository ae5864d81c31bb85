//! `/admin/profile`: a CPU profile of the next seconds, for `pprof` or as a flame graph.
//!
//! The kernel interrupts the process a hundred times per second of its CPU time and the library notes the stack; a process that waits has
//! few samples.
//!
//! **Invariant:** one profile at a time; a client that goes away ends it.

mod flame;
mod format;

use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::ResponseBody;
use hyper::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use pprof::{ProfilerGuard, ProfilerGuardBuilder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Samples per second. 99 avoids lockstep with periodic work.
const SAMPLES_PER_S: i32 = 99;
/// Default and maximum duration, in seconds.
const SECONDS: u64 = 10;
const SECONDS_MAX: u64 = 60;

/// True while a profile is being taken.
static IS_BUSY: AtomicBool = AtomicBool::new(false);

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProfileForm {
    /// `profile.proto`, gzip-compressed.
    Pprof,
    /// Flame graph in SVG.
    Flame,
}

/// Exclusive right to take a profile.
struct ProfileTurn;

impl ProfileTurn {
    fn take() -> Option<Self> {
        (!IS_BUSY.swap(true, Ordering::AcqRel)).then_some(Self)
    }
}

impl Drop for ProfileTurn {
    fn drop(&mut self) {
        IS_BUSY.store(false, Ordering::Release);
    }
}

/// A profile being taken. The profiler is dropped before the turn.
struct Taking {
    profiler: ProfilerGuard<'static>,
    _turn: ProfileTurn,
}

/// Answers a GET after the requested seconds.
pub(crate) async fn answer(head: &Parts) -> Result<Answer, Refusal> {
    let (seconds, form) = parse_query(head.uri.query().unwrap_or_default()).map_err(Refusal::bad_request)?;
    let turn = ProfileTurn::take().ok_or_else(|| {
        let message = "a profile is being taken; ask again when it is over";
        Refusal::new(StatusCode::CONFLICT, "PROFILE_BUSY", message)
    })?;
    // A sample inside these libraries could deadlock on a lock of its own thread.
    let builder = ProfilerGuardBuilder::default()
        .frequency(SAMPLES_PER_S)
        .blocklist(&["libc", "libgcc", "pthread", "vdso"]);
    let taking = Taking { profiler: builder.build().map_err(|cause| profile_error(&cause))?, _turn: turn };
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let written = tokio::task::spawn_blocking(move || {
        let report = taking.profiler.report().build().map_err(|cause| profile_error(&cause))?;
        drop(taking);
        match form {
            ProfileForm::Pprof => format::pprof(&report).map_err(|cause| profile_error(&cause)),
            ProfileForm::Flame => Ok(flame::picture(&report).into_bytes()),
        }
    });
    let bytes = written.await.map_err(|cause| profile_error(&cause))??;
    let (ty, name) = match form {
        ProfileForm::Pprof => ("application/octet-stream", "attachment; filename=\"weir.pb.gz\""),
        ProfileForm::Flame => ("image/svg+xml", "inline; filename=\"weir.svg\""),
    };
    let mut response = Response::new(ResponseBody::whole(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(ty));
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static(name));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(Answer::page(response))
}

fn profile_error(cause: &dyn std::fmt::Display) -> Refusal {
    let message = format!("no profile can be taken: {cause}");
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "PROFILE_FAILED", message)
}

/// Seconds and format requested by the query string.
fn parse_query(query: &str) -> Result<(u64, ProfileForm), String> {
    let mut seconds = SECONDS;
    let mut form = ProfileForm::Pprof;
    for pair in query.split('&').filter(|it| !it.is_empty()) {
        match pair.split_once('=').unwrap_or((pair, "")) {
            ("seconds", text) => {
                let read = text.parse().ok().filter(|it| (1..=SECONDS_MAX).contains(it));
                seconds = read.ok_or_else(|| format!("`seconds` is a number from 1 to {SECONDS_MAX}"))?;
            }
            ("format", "pprof") => form = ProfileForm::Pprof,
            ("format", "flamegraph") => form = ProfileForm::Flame,
            ("format", _) => return Err("`format` is `pprof` or `flamegraph`".into()),
            (name, _) => return Err(format!("`{name}` is not known; there are `seconds` and `format`")),
        }
    }
    Ok((seconds, form))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_seconds_and_a_form() {
        let check = |query: &str, expected: Result<(u64, ProfileForm), &str>| {
            let found = parse_query(query);
            assert_eq!(
                found.as_ref().map_err(|it| it.as_str()),
                expected.as_ref().map_err(|it| *it),
                "{query}"
            );
        };
        check("", Ok((10, ProfileForm::Pprof)));
        check("seconds=3&format=flamegraph", Ok((3, ProfileForm::Flame)));
        for wrong in ["seconds=0", "seconds=61", "seconds=x", "seconds=-1"] {
            check(wrong, Err("`seconds` is a number from 1 to 60"));
        }
        check("format=svg", Err("`format` is `pprof` or `flamegraph`"));
        check("second=3", Err("`second` is not known; there are `seconds` and `format`"));
    }

    #[test]
    fn one_profile_is_taken_at_a_time() {
        let turn = ProfileTurn::take().expect("nobody has it");
        assert!(ProfileTurn::take().is_none());
        drop(turn);
        assert!(ProfileTurn::take().is_some());
    }
}
