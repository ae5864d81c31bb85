//! `/v1alpha1/pg_dump`: the schema or rows of a PostgreSQL database as SQL, by the program `pg_dump` of this machine, for the admin.
//!
//! **Invariant:** the program gets options of a list that is checked here, none of which names a file, a program or a server, and each
//! value as a part of its option; the address and its password go by the environment.

use super::pg_dump_text::strip_noise;
use super::sql::database;
use crate::config::source::address;
use crate::config::source::address::Address;
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::ResponseBody;
use crate::server::request::context::RequestContext;
use crate::server::request::hasura_error::HasuraError;
use crate::server::request::receive;
use crate::server::telemetry::metrics::Endpoint;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use serde_json::json;
use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use weir_language::json::{JsonBuffer, JsonRef};
use weir_postgres::{Host, Settings, Target, TlsMode};

/// Timeout of one dump.
const PATIENCE: Duration = Duration::from_secs(300);
/// Maximum size of a dump, in bytes.
const DUMP_BYTES_MAX: u64 = 64 << 20;
/// Maximum size of the program's error output, in bytes.
const WORDS_BYTES_MAX: u64 = 64 << 10;
/// Limit of concurrent dumps.
static ROOM: Semaphore = Semaphore::const_new(2);

/// Options without a value, with all spellings; the last one is passed to the program.
const FLAGS: [&[&str]; 22] = [
    &["-a", "--data-only"],
    &["-s", "--schema-only"],
    &["-O", "--no-owner"],
    &["-x", "--no-acl", "--no-privileges"],
    &["-c", "--clean"],
    &["-C", "--create"],
    &["--if-exists"],
    &["--inserts"],
    &["--column-inserts"],
    &["--attribute-inserts"],
    &["--on-conflict-do-nothing"],
    &["--disable-dollar-quoting"],
    &["--disable-triggers"],
    &["--enable-row-security"],
    &["--no-comments"],
    &["--no-publications"],
    &["--no-security-labels"],
    &["--no-subscriptions"],
    &["--no-tablespaces"],
    &["--quote-all-identifiers"],
    &["--strict-names"],
    &["--use-set-session-authorization"],
];
/// Options with a value.
const VALUES: [&[&str]; 8] = [
    &["-n", "--schema"],
    &["-N", "--exclude-schema"],
    &["-t", "--table"],
    &["-T", "--exclude-table"],
    &["-e", "--extension"],
    &["--exclude-table-data"],
    &["--section"],
    &["--rows-per-insert"],
];

/// Runs the program with the options in the body.
pub(crate) async fn answer(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
) -> Result<Answer, Refusal> {
    let bytes = receive::body(context, &head.headers, body).await?;
    let tape = receive::json(JsonBuffer::default(), &bytes, &context.generation.config.limits)?;
    let asked = prepare(context, tape.root());
    let (mut program, is_clean) = match asked {
        Ok(asked) => asked,
        Err(error) => return Ok(error.answer(Endpoint::Other)),
    };
    let Ok(place) = ROOM.try_acquire() else {
        let message = "other dumps are under way: try again later";
        let error = HasuraError::new("unexpected", "$", message).with_status(StatusCode::SERVICE_UNAVAILABLE);
        return Ok(error.answer(Endpoint::Other));
    };
    let done = tokio::task::spawn_blocking(move || run(&mut program)).await;
    drop(place);
    let done = done.unwrap_or_else(|_| Err(dump_error("a bug: the dump panicked", None)));
    Ok(match done {
        Ok(dump) => {
            let text = if is_clean { strip_noise(&dump) } else { dump };
            let mut response = Response::new(ResponseBody::whole(text.into_bytes()));
            let kind = HeaderValue::from_static("application/sql; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, kind);
            Answer::page(response)
        }
        Err(error) => error.answer(Endpoint::Other),
    })
}

/// The command for `body`, and true if its output is to be cleaned.
fn prepare(context: &RequestContext, body: JsonRef<'_>) -> Result<(Command, bool), HasuraError> {
    let wrong = |path: &str, message: &str| HasuraError::new("parse-failed", path, message);
    if !body.is_object() {
        return Err(wrong("$", "a dump is asked for by an object with `opts`"));
    }
    let source = match body.get("source").filter(|it| !it.is_null()) {
        None => None,
        Some(it) => Some(it.as_str().ok_or_else(|| wrong("$.source", "expected a string"))?),
    };
    let is_clean = match body.get("clean_output").filter(|it| !it.is_null()) {
        None => false,
        Some(it) => it.as_bool().ok_or_else(|| wrong("$.clean_output", "expected a boolean"))?,
    };
    let texts = body.get("opts").filter(|it| it.is_array());
    let texts = texts.ok_or_else(|| wrong("$.opts", "expected a list of strings"))?.items();
    let texts: Option<Vec<String>> = texts.map(|it| it.as_str().map(|it| it.into_owned())).collect();
    let texts = texts.ok_or_else(|| wrong("$.opts", "expected a list of strings"))?;
    let options = options(&texts).map_err(|message| HasuraError::new("not-supported", "$.opts", message))?;
    let found = database(&context.generation, source.as_deref())
        .map_err(|error| HasuraError { path: "$".into(), ..error })?;
    let url = match address::parse(&found.url) {
        Ok(Address::Postgres(url)) => url,
        Ok(Address::Sqlite(_) | Address::Native(_) | Address::Services(_)) | Err(_) => {
            let message = format!("source \"{}\" is no PostgreSQL: pg_dump cannot read it", found.name);
            return Err(HasuraError::new("not-supported", "$", message));
        }
    };
    let settings = Settings::parse(&url, |name| std::env::var(name).ok());
    let settings = settings.map_err(|it| HasuraError::new("unexpected", "$", it.0))?;
    let mut program = Command::new("pg_dump");
    program.env_clear().envs(environment(&settings)).args(["--encoding=UTF8", "--no-password"]).args(options);
    Ok((program, is_clean))
}

/// Options of the request as arguments of the program.
fn options(texts: &[String]) -> Result<Vec<String>, String> {
    let known = |all: &[&'static [&'static str]], name: &str| {
        all.iter().find(|it| it.contains(&name)).and_then(|it| it.last().copied())
    };
    let mut options = Vec::new();
    let mut texts = texts.iter();
    while let Some(text) = texts.next() {
        let (name, joined) = match text.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (text.as_str(), None),
        };
        if joined.is_none()
            && let Some(flag) = known(&FLAGS, name)
        {
            options.push(flag.to_owned());
        } else if let Some(option) = known(&VALUES, name) {
            let next = || texts.next().map(String::as_str);
            let value = joined.or_else(next).ok_or_else(|| format!("the option {name} needs a value"))?;
            options.push(format!("{option}={value}"));
        } else {
            return Err(format!("the option {text:?} of pg_dump is not taken"));
        }
    }
    Ok(options)
}

/// Environment variables with the connection, and those that the program needs itself.
fn environment(settings: &Settings) -> Vec<(&'static str, String)> {
    let inherited = ["PATH", "HOME"].into_iter().filter_map(|it| Some((it, std::env::var(it).ok()?)));
    let mut all: Vec<(&str, String)> = inherited.collect();
    let (hosts, ports): (Vec<String>, Vec<String>) = settings.hosts.iter().map(host_and_port).unzip();
    all.push(("LANG", "C".into()));
    all.push(("PGHOST", hosts.join(",")));
    all.push(("PGPORT", ports.join(",")));
    all.push(("PGUSER", settings.user.clone()));
    all.push(("PGDATABASE", settings.database.clone()));
    all.push(("PGAPPNAME", settings.application_name.clone()));
    all.push(("PGCONNECT_TIMEOUT", settings.connect_timeout.as_secs().max(1).to_string()));
    all.extend(settings.password.iter().map(|it| ("PGPASSWORD", it.0.clone())));
    all.extend(settings.options.iter().map(|it| ("PGOPTIONS", it.clone())));
    let mode = match settings.tls.mode {
        TlsMode::Disable => "disable",
        TlsMode::Allow => "allow",
        TlsMode::Prefer => "prefer",
        TlsMode::Require => "require",
        TlsMode::VerifyCa => "verify-ca",
        TlsMode::VerifyFull => "verify-full",
    };
    all.push(("PGSSLMODE", mode.into()));
    let target = match settings.target {
        Target::Any => "any",
        Target::ReadWrite => "read-write",
        Target::ReadOnly => "read-only",
        Target::Primary => "primary",
        Target::Standby => "standby",
        Target::PreferStandby => "prefer-standby",
    };
    all.push(("PGTARGETSESSIONATTRS", target.into()));
    let shown = |it: &std::path::PathBuf| it.display().to_string();
    all.extend(settings.tls.root_certificates.iter().map(|it| ("PGSSLROOTCERT", shown(it))));
    if let Some((certificate, key)) = &settings.tls.client {
        all.extend([("PGSSLCERT", shown(certificate)), ("PGSSLKEY", shown(key))]);
    }
    all
}

/// Host and port for libpq. A socket's folder is the host; its port is at the end of the file name.
fn host_and_port(host: &Host) -> (String, String) {
    match host {
        Host::Tcp { name, port } => (name.clone(), port.to_string()),
        Host::Unix(socket) => {
            let folder = socket.parent().map(|it| it.display().to_string()).unwrap_or_default();
            let port = socket.extension().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
            (folder, port)
        }
    }
}

fn dump_error(message: &str, words: Option<String>) -> HasuraError {
    let error = HasuraError::new("unexpected", "$", message).with_status(StatusCode::INTERNAL_SERVER_ERROR);
    match words {
        Some(words) => error.with_internal(json!(words).to_string()),
        None => error,
    }
}

/// Runs the program and returns its output.
fn run(program: &mut Command) -> Result<String, HasuraError> {
    let not_run = |cause: &io::Error| {
        let words = match cause.kind() {
            io::ErrorKind::NotFound => {
                format!("pg_dump: {cause}: this machine has no program pg_dump in its PATH")
            }
            _ => format!("pg_dump: {cause}"),
        };
        dump_error("internal exception while executing pg_dump", Some(words))
    };
    let spawned = program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|cause| not_run(&cause))?;
    let deadline = Instant::now() + PATIENCE;
    let dump = collect(child.stdout.take(), DUMP_BYTES_MAX);
    let words = collect(child.stderr.take(), WORDS_BYTES_MAX);
    let dump = receive_output(&dump, deadline).map_err(|message| kill_dump(&mut child, message))?;
    if dump.len() as u64 > DUMP_BYTES_MAX {
        return Err(kill_dump(&mut child, &format!("the dump is longer than {DUMP_BYTES_MAX} bytes")));
    }
    let words = receive_output(&words, deadline).map_err(|message| kill_dump(&mut child, message))?;
    let status = child.wait().map_err(|cause| not_run(&cause))?;
    if !status.success() {
        let words = String::from_utf8_lossy(&words).into_owned();
        return Err(dump_error("error while executing pg_dump", Some(words)));
    }
    String::from_utf8(dump)
        .map_err(|_| dump_error("error while executing pg_dump", Some("it is no UTF-8".into())))
}

/// Reads an output stream on a new thread, up to one byte more than `bytes_max`.
fn collect(stream: Option<impl Read + Send + 'static>, bytes_max: u64) -> Receiver<Vec<u8>> {
    let (send, heard) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // On a broken stream keep the bytes so far; the exit status reports the failure.
        let _ = stream.map(|it| it.take(bytes_max + 1).read_to_end(&mut bytes));
        // After the deadline nobody receives the result.
        let _ = send.send(bytes);
    });
    heard
}

fn receive_output(stream: &Receiver<Vec<u8>>, deadline: Instant) -> Result<Vec<u8>, &'static str> {
    let left = deadline.saturating_duration_since(Instant::now());
    stream.recv_timeout(left).map_err(|_| "the dump takes too long")
}

/// Kills the program and returns the error.
fn kill_dump(child: &mut Child, message: &str) -> HasuraError {
    // The program may have exited already.
    let _ = child.kill();
    let _ = child.wait();
    dump_error("error while executing pg_dump", Some(message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[&str], expected: Result<&[&str], &str>) {
        let texts: Vec<String> = texts.iter().map(|it| (*it).to_owned()).collect();
        match (options(&texts), expected) {
            (Ok(options), Ok(expected)) => assert_eq!(options, expected),
            (Err(message), Err(expected)) => assert_eq!(message, expected),
            (made, expected) => panic!("{texts:?}: {made:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn options_are_those_of_the_list() {
        check(
            &["-O", "-x", "--schema-only", "--schema", "public", "-N", "-f", "--table=\"a\".\"b\""],
            Ok(&[
                "--no-owner",
                "--no-privileges",
                "--schema-only",
                "--schema=public",
                "--exclude-schema=-f",
                "--table=\"a\".\"b\"",
            ]),
        );
        for text in [
            "-f",
            "--file=/etc/passwd",
            "--dbname=other",
            "-h",
            "-Fc",
            "postgres",
            "-nfoo",
            "--format=c",
            "",
            "-j2",
        ] {
            check(&[text], Err(&format!("the option {text:?} of pg_dump is not taken")));
        }
        check(&["--schema"], Err("the option --schema needs a value"));
    }

    #[test]
    fn the_database_is_found_by_variables() {
        let url = "postgres://me:se%23cret@/fleet?host=/run/pg&port=5433&sslmode=require";
        let settings = Settings::parse(url, |_| None).expect("it is an address");
        let all = environment(&settings);
        for (name, value) in [
            ("PGHOST", "/run/pg"),
            ("PGPORT", "5433"),
            ("PGUSER", "me"),
            ("PGPASSWORD", "se#cret"),
            ("PGDATABASE", "fleet"),
            ("PGSSLMODE", "require"),
        ] {
            assert!(all.contains(&(name, value.to_owned())), "{name}: {all:?}");
        }
    }
}
