//! Runs `tests/golden/<suite>/`: each `name.graphql` is a test, its answers stand beside it.
//!
//! `suite.yaml` names the seed; a `weir.yaml` beside it configures the database `<suite>.db`. A case's header comments give `variables` (JSON), `operation` and `accent` (`spec` or
//! `hasura`). Compared are `name.json` (the response, indented), `name.plan` and `name.sql` (what `weir explain`
//! prints). `WEIR_BLESS=1` writes them; without an answer a case fails. `ONLY=text` runs the cases whose name holds it.
//!
//! A case that mutates gets a database of its own, where `before` (SQL) is run first; all others of a suite share one.

use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use weir::Weir;
use weir_engine::source::Accent;

/// `suite.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    /// SQL that makes the database, from the root of the repository.
    seed: PathBuf,
}

/// One `name.graphql`.
struct Case {
    /// `golden::suite::name`.
    name: String,
    suite: PathBuf,
    file: PathBuf,
    text: String,
    variables: String,
    operation: Option<String>,
    accent: Accent,
    /// SQL that is run before, on the database of a case that mutates.
    before: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let only = std::env::var("ONLY").or_else(|_| std::env::var("WEIR_ONLY")).unwrap_or_default();
    let filters: Vec<&String> = arguments.iter().filter(|it| !it.starts_with('-')).collect();
    let wanted = |case: &Case| {
        case.name.contains(&only) && (filters.is_empty() || filters.iter().any(|it| case.name.contains(*it)))
    };
    let (cases, skipped): (Vec<Case>, Vec<Case>) = all_cases().into_iter().partition(wanted);
    if arguments.iter().any(|it| it == "--list") {
        cases.iter().for_each(|it| println!("{}: test", it.name));
        return ExitCode::SUCCESS;
    }
    println!("\nrunning {} tests", cases.len());
    let begun = Instant::now();
    let failures = run(&cases);
    for (name, message) in &failures {
        println!("\n---- {name} ----\n{message}");
    }
    let verdict = if failures.is_empty() { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {verdict}. {} passed; {} failed; 0 ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
        cases.len() - failures.len(),
        failures.len(),
        skipped.len(),
        begun.elapsed().as_secs_f64()
    );
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Every case of every suite, in the order of their names.
fn all_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for suite in sorted(&root().join("tests/golden")).into_iter().filter(|it| it.is_dir()) {
        for file in sorted(&suite).into_iter().filter(|it| it.extension().is_some_and(|it| it == "graphql")) {
            cases.push(case(&suite, file));
        }
    }
    cases
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|cause| panic!("{}: {cause}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("an entry can be read").path()).collect();
    paths.sort();
    paths
}

fn case(suite: &Path, file: PathBuf) -> Case {
    let text = fs::read_to_string(&file).unwrap_or_else(|cause| panic!("{}: {cause}", file.display()));
    let header = |key: &str| {
        let lines = text.lines().take_while(|line| line.starts_with('#'));
        let mut values = lines.filter_map(|line| line[1..].trim().strip_prefix(key)?.strip_prefix(':'));
        values.next().map(|it| it.trim().to_string())
    };
    let stem = |path: &Path| path.file_stem().and_then(|it| it.to_str()).unwrap_or_default().to_string();
    let accent = match header("accent").as_deref() {
        None | Some("spec") => Accent::Spec,
        Some("hasura") => Accent::Hasura,
        Some(other) => panic!("{}: there is no accent `{other}`", file.display()),
    };
    let role = header("role");
    assert!(role.as_deref().is_none_or(|it| it == "admin"), "{}: there are no roles yet", file.display());
    Case {
        name: format!("golden::{}::{}", stem(suite), stem(&file)),
        variables: header("variables").unwrap_or_else(|| "{}".into()),
        operation: header("operation"),
        before: header("before").unwrap_or_default(),
        suite: suite.to_path_buf(),
        accent,
        file,
        text,
    }
}

/// Runs the cases suite by suite; gives back those that failed and why.
fn run(cases: &[Case]) -> Vec<(String, String)> {
    let bless = std::env::var("WEIR_BLESS").is_ok_and(|it| it == "1");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let folder = std::env::temp_dir().join(format!("weir-golden-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder can be made");
    let mut failures = Vec::new();
    let mut shared: Option<(PathBuf, PathBuf, Weir)> = None;
    for (number, case) in cases.iter().enumerate() {
        if shared.as_ref().is_none_or(|it| it.0 != case.suite) {
            let file = database(&folder, case, &format!("shared-{number}"));
            seed(&case.suite, &file);
            let weir = open(&case.suite, &file);
            shared = Some((case.suite.clone(), file, weir));
        }
        let (_, file, weir) = shared.as_ref().expect("it was opened above");
        let outcome = if case.text.contains("mutation") {
            let own = database(&folder, case, &number.to_string());
            seed(&case.suite, &own);
            let database = rusqlite::Connection::open(&own).expect("it was just made");
            database
                .execute_batch(&case.before)
                .unwrap_or_else(|error| panic!("{}: before: {error}", case.name));
            drop(database);
            let outcome = check(&open(&case.suite, &own), case, bless, &runtime);
            fs::remove_dir_all(own.parent().expect("it has a folder of its own"))
                .expect("the copy can be removed");
            outcome
        } else {
            assert!(file.exists(), "the suite's database is there");
            check(weir, case, bless, &runtime)
        };
        println!("test {} ... {}", case.name, if outcome.is_ok() { "ok" } else { "FAILED" });
        failures.extend(outcome.err().map(|message| (case.name.clone(), message)));
    }
    drop(shared);
    // Files of ours in the system's own folder for such: that they stay is no failure.
    let _ = fs::remove_dir_all(&folder);
    failures
}

/// A place for a database that is called like its suite, as plans name their source.
fn database(folder: &Path, case: &Case, name: &str) -> PathBuf {
    let own = folder.join(name);
    fs::create_dir_all(&own).expect("a folder can be made");
    own.join(case.suite.file_name().unwrap_or_default()).with_extension("db")
}

fn seed(suite: &Path, file: &Path) {
    let yaml = fs::read_to_string(suite.join("suite.yaml"))
        .unwrap_or_else(|cause| panic!("{}: suite.yaml: {cause}", suite.display()));
    let suite: Suite = serde_saphyr::from_str(&yaml).unwrap_or_else(|error| panic!("suite.yaml: {error}"));
    let sql =
        fs::read_to_string(root().join(&suite.seed)).unwrap_or_else(|cause| panic!("the seed: {cause}"));
    let database = rusqlite::Connection::open(file).expect("SQLite makes a file");
    database
        .execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        .expect("it takes the pragmas");
    if let Err(error) = database.execute_batch(&sql) {
        // The error holds the whole seed; its first words are enough.
        panic!("the seed does not load: {:.300}", error.to_string());
    }
}

/// Opens the database at `file`, by a copy of the suite's configuration if it has one.
fn open(suite: &Path, file: &Path) -> Weir {
    let mut target = format!("sqlite:{}", file.display());
    let config = suite.join("weir.yaml");
    if config.exists() {
        let copy = file.with_file_name("weir.yaml");
        fs::copy(&config, &copy).expect("a configuration can be copied");
        target = copy.display().to_string();
    }
    let opened = Weir::open(&target);
    opened.unwrap_or_else(|message| panic!("{}: {message}", file.display()))
}

/// Compares, or writes, the files beside the case.
fn check(weir: &Weir, case: &Case, bless: bool, runtime: &tokio::runtime::Runtime) -> Result<(), String> {
    let deadline = Instant::now() + Duration::from_secs(30);
    let operation = case.operation.as_deref();
    let explained = weir.explain(&case.text, &case.variables, operation, case.accent);
    let answer =
        runtime.block_on(weir.execute_as(&case.text, &case.variables, operation, case.accent, deadline));
    let answer = answer.map_err(|it| it.to_string())?;
    let (plan, sql) = match explained {
        Ok(it) => (
            Some(it.plan),
            Some(it.pieces.into_iter().map(|it| format!("-- {}\n{}\n", it.0, it.1.trim_end()))),
        ),
        Err(_) => (None, None),
    };
    let sql = sql.map(|it| it.collect::<Vec<String>>().join("\n"));
    let mut wrong = String::new();
    for (ending, found) in [
        ("json", Some(indented(&answer))),
        ("plan", plan.filter(|it| !it.is_empty())),
        ("sql", sql.filter(|it| !it.is_empty())),
    ] {
        wrong.push_str(&compare(&case.file.with_extension(ending), found.as_deref(), bless));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// What is wrong with one file, or nothing.
fn compare(file: &Path, found: Option<&str>, bless: bool) -> String {
    let expected = fs::read_to_string(file).ok();
    if expected.as_deref() == found {
        return String::new();
    }
    if bless {
        match found {
            Some(found) => fs::write(file, found).expect("an answer can be written"),
            None => fs::remove_file(file).expect("an old answer can be removed"),
        }
        return String::new();
    }
    let name = file.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    match (expected, found) {
        (None, Some(_)) => format!("{name} is missing; `make bless` writes it\n"),
        (Some(_), None) => format!("{name} is there, but there is nothing to compare it with\n"),
        (Some(expected), Some(found)) => difference(name, &expected, found),
        (None, None) => String::new(),
    }
}

/// The first lines that differ.
fn difference(name: &str, expected: &str, found: &str) -> String {
    let (mut expected, mut found) = (expected.lines(), found.lines());
    let mut number = 1;
    loop {
        match (expected.next(), found.next()) {
            (Some(a), Some(b)) if a == b => number += 1,
            (a, b) => {
                let end = "(the end)";
                return format!(
                    "{name}:{number}:\n  expected {}\n  found    {}\n",
                    a.unwrap_or(end),
                    b.unwrap_or(end)
                );
            }
        }
    }
}

/// JSON with line breaks, its digits and texts untouched: no value is read, only brackets and commas are seen.
fn indented(json: &[u8]) -> String {
    let text = std::str::from_utf8(json).expect("an answer is UTF-8");
    let mut out = String::with_capacity(text.len() * 2);
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    let mut rest = text.chars().peekable();
    while let Some(it) = rest.next() {
        if quoted {
            out.push(it);
            quoted = escaped || it != '"';
            escaped = it == '\\' && !escaped;
            continue;
        }
        match it {
            '"' => {
                quoted = true;
                out.push(it);
            }
            '{' | '[' => {
                out.push(it);
                if let Some(close) = rest.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth -= 1;
                line(&mut out, depth);
                out.push(it);
            }
            ',' => {
                out.push(it);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(it),
        }
    }
    out.push('\n');
    out
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}
