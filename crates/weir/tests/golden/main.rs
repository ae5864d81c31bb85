//! Runs `tests/golden/<suite>/`: each `name.graphql` there or in a folder below is a test, its answers stand beside it.
//!
//! `suite.yaml` names the seed; a `weir.yaml` beside it configures the database `<suite>.db`. A case's header comments
//! give `variables` (JSON), `operation`, `accent` (`spec` or `hasura`), and of the caller `role`, `claims` (JSON: session variables, and
//! claims of a token), `refused` (the reason for which a token is not accepted) and `backend` (`true`); without a role it is the admin; `relay` (`true`)
//! asks the API in Relay's form. Compared are `name.json` (the response, indented), `name.plan` and `name.sql` (what `weir explain` prints). `WEIR_BLESS=1` writes them; without an answer a case
//! fails. `ONLY=text` runs the cases whose name holds it.
//!
//! A suite with seeds for PostgreSQL is run there too, in the installed release and in 18: its cases end with `@postgres` and
//! `@postgres18`, their SQL is `name.postgres.sql`, and
//! the answer has to be `name.json` again; where the databases differ by right it stands in `name.postgres.json`. A suite
//! with a seed for PostgreSQL alone is run there only. One that needs an extension which is not installed is passed over,
//! and says so.
//!
//! A suite with `types` is of native types and run on both: `seed.graphql` fills the store, and what a case's header names as
//! `then` is asked after it.
//!
//! A suite with `upstream.yaml` has services: see `services`.
//!
//! A case that mutates or has `before` (SQL) gets a database of its own, where that is run first; all others of a suite
//! share one.

use expected::{compare, indent_json};
use pooler::Pooler;
use postgres_kit::Database;
use postgres_kit::release::{Release, on};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir::Weir;
use weir_engine::caller::{Claims, Identity, Token};
use weir_engine::engine::{Body, Request, Response};
use weir_engine::source::Protocol;
use weir_language::json::Json;

mod expected;
mod live;
mod pooler;
#[path = "../../../engine/tests/port_kit/mod.rs"]
mod port_kit;
#[path = "../../../hasura/tests/postgres_kit/mod.rs"]
mod postgres_kit;
#[path = "../../../engine/tests/service_kit/mod.rs"]
mod service_kit;
mod services;
#[path = "../upstream_kit/mod.rs"]
mod upstream_kit;

/// `suite.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    /// SQL that makes the database, from the root of the repository; without it the suite is PostgreSQL's alone.
    seed: Option<PathBuf>,
    /// SQL that makes a second database, `<suite>_second.db`.
    second: Option<PathBuf>,
    /// The same for PostgreSQL; without it the suite is SQLite's alone.
    postgres: Option<OnPostgres>,
    /// Native types instead, from the root of the repository; `seed.graphql` beside `suite.yaml` fills their store.
    types: Option<PathBuf>,
}

/// The seed on PostgreSQL: `before`, the rows of SQLite's seed if there is one, `after`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnPostgres {
    before: PathBuf,
    after: Option<PathBuf>,
    /// An extension without which the suite cannot be run.
    needs: Option<String>,
}

/// Database of a case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Store {
    Sqlite,
    Postgres(Release),
}

/// PostgreSQL in each release that tests know.
const POSTGRES: [Store; 2] = [Store::Postgres(Release::Installed), Store::Postgres(Release::Eighteen)];

/// One `name.graphql`.
struct Case {
    /// `golden::suite::folder::name`, with `@postgres` where the suite is run on both, and `@postgres18` in that release.
    name: String,
    store: Store,
    /// It is run nowhere else.
    alone: bool,
    suite: PathBuf,
    file: PathBuf,
    text: String,
    variables: String,
    operation: Option<String>,
    protocol: Protocol,
    /// In Relay's form.
    is_relay: bool,
    /// JSON: what the client sends.
    headers: String,
    /// JSON: `role`, `variables` and `token` of a caller who is not the admin; `anonymous` if no credential was sent.
    session: Option<String>,
    /// Role and claims of whoever asks, if not the admin; in suites with services `session` says it.
    caller: Option<(String, String)>,
    /// Reason for which the caller's token is not accepted.
    refused: Option<String>,
    /// Permissions for backends hold.
    is_backend: bool,
    /// SQL that is run before, on the database of a case that mutates.
    before: String,
    /// A second request; its answer follows the case's own.
    then: Option<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let only = std::env::var("ONLY").or_else(|_| std::env::var("WEIR_ONLY")).unwrap_or_default();
    let filters: Vec<&String> = arguments.iter().filter(|it| !it.starts_with('-')).collect();
    let wants = |name: &str| {
        name.contains(&only) && (filters.is_empty() || filters.iter().any(|it| name.contains(*it)))
    };
    let (cases, skipped): (Vec<Case>, Vec<Case>) = all_cases().into_iter().partition(|it| wants(&it.name));
    let live: Vec<&str> = live::NAMES.into_iter().filter(|it| pooler::is_wanted() && wants(it)).collect();
    if arguments.iter().any(|it| it == "--list") {
        cases.iter().for_each(|it| println!("{}: test", it.name));
        return ExitCode::SUCCESS;
    }
    if pooler::is_wanted() {
        // A client is not told why a source failed: through a pooler the operator's words are what explains it.
        tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_writer(std::io::stderr).init();
    }
    println!("\nrunning {} tests", cases.len() + live.len());
    let begun = Instant::now();
    let failures = run(&cases, &live);
    for (name, message) in &failures {
        println!("\n---- {name} ----\n{message}");
    }
    let verdict = if failures.is_empty() { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {verdict}. {} passed; {} failed; 0 ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
        cases.len() + live.len() - failures.len(),
        failures.len(),
        skipped.len(),
        begun.elapsed().as_secs_f64()
    );
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// True if expected files are written instead of compared.
fn is_blessing() -> bool {
    std::env::var("WEIR_BLESS").is_ok_and(|it| it == "1")
}

/// Every case of every suite, in the order of their names.
fn all_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for suite in
        list_sorted(&root().join("tests/golden")).into_iter().filter(|it| it.join("suite.yaml").exists())
    {
        let Suite { seed, postgres, types, .. } = settings(&suite);
        let mut stores = Vec::new();
        let alone = types.is_none() && (seed.is_none() || postgres.is_none());
        if (types.is_some() || seed.is_some() || postgres.is_none()) && !pooler::is_wanted() {
            stores.push(Store::Sqlite);
        }
        if types.is_some() || postgres.is_some() {
            let needs = postgres.and_then(|it| it.needs);
            // The same is expected of each release: one writes it, and one is enough behind a pooler.
            let is_one = is_blessing() || pooler::is_wanted();
            let releases = if is_one { &POSTGRES[..1] } else { &POSTGRES };
            stores.extend(releases.iter().filter(|it| it.has(needs.as_deref(), &suite)));
        }
        for store in stores {
            let files = case_files(&suite).into_iter();
            cases.extend(files.map(|file| case(&suite, file, store, alone)));
        }
    }
    cases
}

/// The cases of a suite: those of its own folder, and those of folders below.
fn case_files(suite: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![suite.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in list_sorted(&folder) {
            // These three lie in the suite itself, where they are no cases.
            let is_own =
                ["types.graphql", "seed.graphql", "services.graphql"].iter().any(|it| path == suite.join(it));
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "graphql") && !is_own {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

impl Store {
    /// True if it has the extension that a suite needs; says so where it has not.
    fn has(self, extension: Option<&str>, suite: &Path) -> bool {
        let (Self::Postgres(release), Some(extension)) = (self, extension) else { return true };
        let sql = format!("SELECT 1 FROM pg_available_extensions WHERE name = '{extension}'");
        let is_there =
            !pooler::lacks(extension) && on(release, || !postgres_kit::database("").rows(&sql).is_empty());
        if !is_there {
            let suite = suite.display();
            println!("{suite}: not run on PostgreSQL {release:?}, which lacks the extension `{extension}`");
        }
        is_there
    }
}

fn list_sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|cause| panic!("{}: {cause}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("an entry can be read").path()).collect();
    paths.sort();
    paths
}

fn case(suite: &Path, file: PathBuf, store: Store, alone: bool) -> Case {
    let text = fs::read_to_string(&file).unwrap_or_else(|cause| panic!("{}: {cause}", file.display()));
    let header = |key: &str| {
        let lines = text.lines().take_while(|line| line.starts_with('#'));
        let mut values = lines.filter_map(|line| line[1..].trim().strip_prefix(key)?.strip_prefix(':'));
        values.next().map(|it| it.trim().to_string())
    };
    let protocol = match header("accent").as_deref() {
        None | Some("spec") => Protocol::GraphqlOverHttp,
        Some("hasura") => Protocol::Hasura,
        Some(other) => panic!("{}: there is no protocol `{other}`", file.display()),
    };
    let claims = header("claims").unwrap_or_else(|| "{}".into());
    let caller = header("role").map(|it| (it, claims));
    let is_backend = header("backend").is_some();
    let both = match store {
        Store::Postgres(Release::Eighteen) => "@postgres18",
        Store::Postgres(Release::Installed) if !alone => "@postgres",
        Store::Postgres(Release::Installed) | Store::Sqlite => "",
    };
    let place = file.with_extension("");
    let place = place.strip_prefix(root().join("tests/golden")).expect("cases lie there");
    let place: Vec<_> = place.iter().map(|it| it.to_string_lossy()).collect();
    Case {
        name: format!("golden::{}{both}", place.join("::")),
        store,
        alone,
        variables: header("variables").unwrap_or_else(|| "{}".into()),
        operation: header("operation"),
        headers: header("headers").unwrap_or_else(|| "{}".into()),
        session: header("session"),
        caller,
        refused: header("refused"),
        is_backend,
        before: header("before").unwrap_or_default(),
        then: header("then"),
        is_relay: header("relay").is_some(),
        suite: suite.to_path_buf(),
        protocol,
        file,
        text,
    }
}

/// The caller that the header of a case names.
fn identity(weir: &Weir, case: &Case) -> Result<Identity, String> {
    let Some((role, claims)) = &case.caller else { return Ok(Identity::admin()) };
    let mut identity = weir.assume(Some(role), claims)?;
    if let Some(reason) = &case.refused {
        identity.claims = Arc::new(Claims::new([], Token::Refused(reason.as_str().into())));
    }
    Ok(Identity { is_backend: case.is_backend, ..identity })
}

/// A suite's databases: one that all reading cases share, and what makes more of them.
struct Seeded {
    suite: PathBuf,
    store: Store,
    folder: PathBuf,
    /// Untouched; PostgreSQL's are copied.
    template: Option<Database>,
    shared: Opened,
}

/// A database that is served.
struct Opened {
    weir: Weir,
    _pooler: Option<Pooler>,
}

/// A database of a case's own.
enum Own {
    File(PathBuf),
    Server(Database),
    /// Of native types: a copy of them, and where its store is if not beside them.
    Types(PathBuf, Option<Database>),
}

/// Runs the cases suite by suite; gives back those that failed and why.
fn run(cases: &[Case], live: &[&str]) -> Vec<(String, String)> {
    let bless = is_blessing();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let folder = std::env::temp_dir().join(format!("weir-golden-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder can be made");
    let mut failures = Vec::new();
    let mut seeded: Option<Seeded> = None;
    for (number, case) in cases.iter().enumerate() {
        if case.suite.join("upstream.yaml").exists() {
            let outcome = services::check(case, &folder.join(number.to_string()), bless, &runtime);
            failures.extend(report_outcome(&case.name, outcome));
            continue;
        }
        if seeded.as_ref().is_none_or(|it| it.suite != case.suite || it.store != case.store) {
            seeded = Some(Seeded::new(case, folder.join(number.to_string())));
        }
        let seeded = seeded.as_ref().expect("it was seeded above");
        let outcome = if case.text.contains("mutation") || !case.before.is_empty() {
            let own = seeded.own(&number.to_string());
            own.run(&case.before);
            check(&own.open(&case.suite).weir, case, bless, &runtime)
        } else {
            check(&seeded.shared.weir, case, bless, &runtime)
        };
        failures.extend(report_outcome(&case.name, outcome));
    }
    drop(seeded);
    failures.extend(live.iter().filter_map(|it| report_outcome(it, live::check(it, &folder))));
    // Files of ours in the system's own folder for such: that they stay is no failure.
    let _ = fs::remove_dir_all(&folder);
    failures
}

/// Prints the verdict; gives back the name and why, if it failed.
fn report_outcome(name: &str, outcome: Result<(), String>) -> Option<(String, String)> {
    println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
    outcome.err().map(|message| (name.to_owned(), message))
}

impl Seeded {
    fn new(case: &Case, folder: PathBuf) -> Self {
        let template = match case.store {
            Store::Sqlite => None,
            Store::Postgres(release) if settings(&case.suite).types.is_some() => {
                let template = on(release, || postgres_kit::database(""));
                let name = folder.file_name().and_then(|it| it.to_str()).unwrap_or_default();
                let types = types_in(&case.suite, &folder.with_file_name(format!("{name}-template")));
                drop(open_types(&types, Some((&template, template.url())), &case.suite));
                Some(template)
            }
            Store::Postgres(release) => {
                let Suite { seed, postgres, .. } = settings(&case.suite);
                let OnPostgres { before, after, .. } = postgres.expect("only such suites have cases here");
                let text = |it: Option<PathBuf>| it.map_or_else(String::new, |it| read(&root().join(it)));
                let seed = text(seed);
                let rows = &seed[seed.find("INSERT INTO").unwrap_or(0)..];
                let sql = [&text(Some(before)), rows, &text(after)].concat();
                Some(on(release, || postgres_kit::database(&sql)))
            }
        };
        let suite = case.suite.clone();
        let store = case.store;
        let own = own(&suite, &folder, template.as_ref(), "shared");
        let shared = own.open(&suite);
        Self { suite, store, folder, template, shared }
    }

    fn own(&self, name: &str) -> Own {
        own(&self.suite, &self.folder, self.template.as_ref(), name)
    }
}

/// A copy of the types of `suite` in `folder`, called like the suite, as plans name their source.
fn types_in(suite: &Path, folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).expect("a folder can be made");
    let file = folder.join(suite.file_name().unwrap_or_default()).with_extension("graphql");
    let types = settings(suite).types.expect("only such suites have them");
    fs::copy(root().join(types), &file).expect("a file can be copied");
    file
}

fn own(suite: &Path, folder: &Path, template: Option<&Database>, name: &str) -> Own {
    if settings(suite).types.is_some() {
        return Own::Types(types_in(suite, &folder.join(name)), template.map(Database::copy));
    }
    match template {
        Some(template) => Own::Server(template.copy()),
        None => {
            let folder = folder.join(name);
            fs::create_dir_all(&folder).expect("a folder can be made");
            // Called like its suite, as plans name their source.
            let file = folder.join(suite.file_name().unwrap_or_default()).with_extension("db");
            let Suite { seed: first, second, .. } = settings(suite);
            seed(&first.expect("only such suites have cases here"), &file);
            if let Some(second_seed) = second {
                seed(&second_seed, &second_of(&file));
            }
            Own::File(file)
        }
    }
}

impl Own {
    fn run(&self, sql: &str) {
        match self {
            Self::Server(database) => drop(database.run(sql)),
            Self::Types(..) => assert!(sql.is_empty(), "a store of types is filled by `seed.graphql`"),
            Self::File(file) => {
                let database = rusqlite::Connection::open(file).expect("it was just made");
                database.execute_batch(sql).unwrap_or_else(|error| panic!("before: {error}"));
            }
        }
    }

    /// Opens it, by the suite's configuration with its address in it, if it has one.
    fn open(&self, suite: &Path) -> Opened {
        let name = suite.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        let (kind, (url, pooler)) = match self {
            Self::File(file) => ("sqlite", (format!("sqlite:{}", file.display()), None)),
            Self::Server(database) => ("postgres", pooler::address(database)),
            Self::Types(file, store) => {
                let (url, pooler) = store.as_ref().map(pooler::address).unzip();
                let weir = open_types(file, store.as_ref().zip(url), suite);
                return Opened { weir, _pooler: pooler.flatten() };
            }
        };
        let own = suite.join("weir.yaml");
        let config = if own.exists() {
            let at = format!("url: sqlite:{name}.db");
            let text = read(&own).replace(&at, &format!("kind: {kind}\n    url: {url}"));
            match self {
                Self::File(file) => {
                    let second = format!("url: sqlite:{}", second_of(file).display());
                    text.replace(&format!("url: sqlite:{name}_second.db"), &second)
                }
                Self::Server(_) | Self::Types(..) => text,
            }
        } else {
            format!("sources:\n  - name: {name}\n    kind: {kind}\n    url: {url}\n")
        };
        let file = std::env::temp_dir().join(format!("weir-golden-{}/weir.yaml", std::process::id()));
        fs::write(&file, config).expect("a configuration can be written");
        let opened = Weir::open(&file.display().to_string());
        let weir = opened.unwrap_or_else(|message| panic!("{name}: {message}"));
        Opened { weir, _pooler: pooler }
    }
}

/// Opens the store of native types in `store`, or beside them, and fills it if it is empty.
fn open_types(types: &Path, store: Option<(&Database, String)>, suite: &Path) -> Weir {
    let name = suite.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    let place = store.as_ref().map_or_else(String::new, |it| format!("    store: {}\n", it.1));
    let config = format!("sources:\n  - name: {name}\n    native: {}\n{place}", types.display());
    let file = types.with_file_name("weir.yaml");
    fs::write(&file, config).expect("a configuration can be written");
    let weir = Weir::open(&file.display().to_string()).unwrap_or_else(|message| panic!("{name}: {message}"));
    let is_filled = store.is_some_and(|it| !it.0.rows("SELECT 1 FROM weir_ids WHERE is_called").is_empty());
    let seed = fs::read_to_string(suite.join("seed.graphql")).ok().filter(|_| !is_filled);
    if let Some(seed) = seed {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one starts");
        let deadline = Instant::now() + Duration::from_secs(30);
        let seeded =
            runtime.block_on(weir.execute_as(&seed, "{}", None, Protocol::GraphqlOverHttp, deadline));
        let seeded = String::from_utf8(seeded.expect("it is a request")).expect("JSON is UTF-8");
        assert!(!seeded.contains("\"errors\""), "{name}: seed.graphql: {seeded}");
    }
    weir
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|cause| panic!("{}: {cause}", file.display()))
}

fn settings(suite: &Path) -> Suite {
    serde_saphyr::from_str(&read(&suite.join("suite.yaml")))
        .unwrap_or_else(|error| panic!("{}: suite.yaml: {error}", suite.display()))
}

/// The second database beside the first one.
fn second_of(file: &Path) -> PathBuf {
    let stem = file.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
    file.with_file_name(format!("{stem}_second.db"))
}

fn seed(sql: &Path, file: &Path) {
    let sql = read(&root().join(sql));
    let database = rusqlite::Connection::open(file).expect("SQLite makes a file");
    database
        .execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        .expect("it takes the pragmas");
    if let Err(error) = database.execute_batch(&sql) {
        // The error holds the whole seed; its first words are enough.
        panic!("the seed does not load: {:.300}", error.to_string());
    }
}

/// Compares, or writes, the files beside the case.
fn check(weir: &Weir, case: &Case, bless: bool, runtime: &tokio::runtime::Runtime) -> Result<(), String> {
    let variables = Json::parse(case.variables.as_bytes(), 200).map_err(|it| format!("variables: {it}"))?;
    let request = |query| Request {
        operation_name: case.operation.as_deref(),
        variables: Some(variables.root()).filter(|it| !it.is_null()),
        protocol: case.protocol,
        ..Request::new(query, Instant::now() + Duration::from_secs(30))
    };
    let engine = if case.is_relay { weir.relay()? } else { weir.engine() };
    let caller = engine.caller(&identity(weir, case)?);
    let explained = engine.explain(request(&case.text), &caller);
    let answer = runtime.block_on(whole(engine.execute(request(&case.text), &caller)))?;
    let (plan, sql) = match explained {
        Ok(it) => (
            Some(it.plan),
            Some(it.steps.into_iter().map(|it| format!("-- {}\n{}\n", it.0, it.1.trim_end()))),
        ),
        Err(_) => (None, None),
    };
    let sql = sql.map(|it| it.collect::<Vec<String>>().join("\n"));
    let mut wrong = String::new();
    let mut answer = indent_json(&answer);
    if let Some(then) = &case.then {
        let then = Request { operation_name: None, variables: None, ..request(then) };
        answer.push_str(&indent_json(&runtime.block_on(whole(engine.execute(then, &caller)))?));
    }
    let answer = Some(answer);
    let sql = sql.filter(|it| !it.is_empty());
    let files = if case.store == Store::Sqlite || case.alone {
        vec![("json", answer), ("plan", plan.filter(|it| !it.is_empty())), ("sql", sql)]
    } else {
        // The plan above the source is that of SQLite.
        let own = case.file.with_extension("postgres.json").exists();
        vec![(if own { "postgres.json" } else { "json" }, answer), ("postgres.sql", sql)]
    };
    for (ending, found) in files {
        wrong.push_str(&compare(&case.file.with_extension(ending), found.as_deref(), bless));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// The bytes of an answer.
async fn whole(asked: impl Future<Output = Response>) -> Result<Vec<u8>, String> {
    match asked.await.body {
        Body::Whole(bytes) => Ok(bytes),
        Body::Shared(bytes) => Ok(bytes.into()),
        Body::Increments { .. } => panic!("nothing is asked for in parts"),
        Body::Stream { head: mut all, mut rest } => {
            while let Some(chunk) = rest.recv().await {
                all.extend_from_slice(&chunk.map_err(|_| "a source died in the middle of the answer")?);
            }
            Ok(all)
        }
    }
}
