//! Suites with services: each case has a service of its own, which answers from `upstream.yaml`, and stores of its own.
//!
//! All files of the suite are copied; in `services.graphql` the host `http://upstream` stands for the service. `seed.sql`
//! fills `<suite>.db`, `seed.graphql` the native store. `name.http` is what the service was asked.

use super::expected::{compare, indent_json};
use super::upstream_kit::{Asked, Upstream, answers};
use super::{Case, list_sorted, read, seed};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use weir::Weir;
use weir_engine::caller::{Claims, Identity, Token};
use weir_engine::engine::{Body, Request};
use weir_engine::source::{Headers, Protocol};
use weir_language::json::Json;

/// `headers` of a case.
struct Sent(Vec<(String, String)>);

impl Headers for Sent {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        self.0.iter().filter(|it| it.0 == name).for_each(|it| take(it.1.as_bytes()));
    }
}

/// Runs the case in `folder`.
pub(crate) fn check(
    case: &Case,
    folder: &Path,
    bless: bool,
    runtime: &tokio::runtime::Runtime,
) -> Result<(), String> {
    let upstream = Upstream::start(answers(&read(&case.suite.join("upstream.yaml"))));
    let weir = open(case, folder, &upstream, runtime)?;
    upstream.take_requests();
    let headers: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&case.headers).map_err(|error| format!("headers: {error}"))?;
    let headers =
        headers.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
    let headers = Sent(headers.collect());
    let variables =
        Json::parse(case.variables.as_bytes(), 64).map_err(|error| format!("variables: {error}"))?;
    let request = |query| Request {
        query,
        operation_name: case.operation.as_deref(),
        variables: Some(variables.root()),
        protocol: case.protocol,
        queries_only: false,
        increments: None,
        shows_cost: false,
        spent: None,
        headers: &headers,
        deadline: Instant::now() + Duration::from_secs(30),
    };
    let caller = weir.engine().caller(&identity(case.session.as_deref())?);
    let explained = weir.engine().explain(request(&case.text), &caller).ok().map(|it| {
        let pieces = it.steps.iter().filter(|it| !it.1.is_empty());
        let pieces: Vec<String> = pieces.map(|it| format!("\n-- {}\n{}\n", it.0, it.1.trim_end())).collect();
        // A service without a name is called by its address.
        (it.plan + &pieces.concat()).replace(&upstream.address.to_string(), "upstream")
    });
    let mut answer = String::new();
    let mut asked = String::new();
    for query in std::iter::once(&case.text).chain(&case.then) {
        let response = runtime.block_on(weir.engine().execute(request(query), &caller));
        match response.body {
            Body::Whole(bytes) => answer.push_str(&indent_json(&bytes)),
            Body::Shared(bytes) => answer.push_str(&indent_json(&bytes)),
            Body::Stream { .. } | Body::Increments { .. } => return Err("the answer is streamed".into()),
        }
        upstream.take_requests().iter().for_each(|it| asked.push_str(&show_request(it)));
        asked.push_str(if case.then.is_some() { "---\n" } else { "" });
    }
    let asked = Some(asked).filter(|it| !it.is_empty());
    let files = [("json", Some(answer)), ("plan", explained), ("http", asked)];
    let wrong =
        files.map(|(ending, found)| compare(&case.file.with_extension(ending), found.as_deref(), bless));
    let wrong = wrong.concat();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// The caller of a case: the admin without a `session`.
fn identity(session: Option<&str>) -> Result<Identity, String> {
    let Some(session) = session else { return Ok(Identity::admin()) };
    let session: serde_json::Value =
        serde_json::from_str(session).map_err(|error| format!("session: {error}"))?;
    let pairs = |name: &str| {
        session.get(name).and_then(serde_json::Value::as_object).cloned().unwrap_or_default().into_iter()
    };
    let variables =
        pairs("variables").map(|(name, value)| (name, value.as_str().unwrap_or_default().to_owned()));
    let token = match session.get("token") {
        Some(_) => Token::of(pairs("token").map(|(name, value)| (name, value.to_string()))),
        None => Token::Absent,
    };
    Ok(Identity {
        role: session["role"].as_str().unwrap_or_default().into(),
        is_backend: false,
        is_anonymous: session.get("anonymous").is_some(),
        claims: std::sync::Arc::new(Claims::new(variables, token)),
    })
}

fn show_request(asked: &Asked) -> String {
    let headers = asked.headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
    let body = if asked.body.is_empty() { String::new() } else { format!("{}\n", asked.body) };
    format!("{}\n{}{body}", asked.line, headers.collect::<String>())
}

fn open(
    case: &Case,
    folder: &Path,
    upstream: &Upstream,
    runtime: &tokio::runtime::Runtime,
) -> Result<Weir, String> {
    fs::create_dir_all(folder).expect("a folder can be made");
    for file in list_sorted(&case.suite) {
        let Some(name) =
            file.file_name().filter(|_| file.extension().is_some_and(|it| it == "graphql" || it == "yaml"))
        else {
            continue;
        };
        let text = read(&file).replace("http://upstream", &format!("http://{}", upstream.address));
        fs::write(folder.join(name), text).expect("a file can be written");
    }
    let sql = case.suite.join("seed.sql");
    if sql.exists() {
        let name = case.suite.file_name().unwrap_or_default();
        seed(&sql, &folder.join(name).with_extension("db"));
    }
    let config = folder.join("weir.yaml");
    let target = if config.exists() { config } else { folder.join("services.graphql") };
    let weir = Weir::open(&target.display().to_string())?;
    if let Ok(seed) = fs::read_to_string(case.suite.join("seed.graphql")) {
        let deadline = Instant::now() + Duration::from_secs(30);
        let seeded =
            runtime.block_on(weir.execute_as(&seed, "{}", None, Protocol::GraphqlOverHttp, deadline));
        let seeded = String::from_utf8(seeded.map_err(|it| it.to_string())?).map_err(|it| it.to_string())?;
        assert!(!seeded.contains("\"errors\""), "seed.graphql: {seeded}");
    }
    Ok(weir)
}
