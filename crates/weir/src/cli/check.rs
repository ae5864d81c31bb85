//! `weir check`: reads a configuration, opens its sources, and reports all mistakes.
//!
//! **Invariant:** what is broken keeps nothing else from being checked, and what could not be checked is named.

mod event_report;
mod move_report;
mod state_report;

use super::print;
use super::serve::origin;
use crate::config::source::address;
use crate::config::{Auth, Config, Described, Environment, Source};
use crate::generation::{Generation, Overrides};
use crate::session::Authenticator;
use crate::sources::databases;
use crate::sources::native::Native;
use crate::sources::{Down, Findings};
use event_report::report_events;
use move_report::report_move;
use state_report::report_state;
use std::path::PathBuf;
use std::process::ExitCode;
use weir_engine::source::OthersChanges;
use weir_metadata::check::{dangling, dangling_roles};
use weir_native::store::Place;

/// Checks a configuration without serving it.
pub(super) fn check(target: &str, metadata: Option<PathBuf>) -> Result<ExitCode, String> {
    // Variables that cannot be read are reported and have no effect.
    let (environment, mut errors) = Environment::read(&|name| std::env::var(name).ok());
    let overrides = Overrides { metadata, environment, ..Overrides::default() };
    let mut config = origin(address::target(target)?, overrides)?.read()?;
    if let Err(message) = config.check() {
        errors.push(message);
    }
    if let Err(message) = Authenticator::new(&config) {
        errors.push(message);
        // Check the rest with authentication disabled.
        (config.auth, config.admin_secret) = (Auth::default(), None);
    }
    let stand_ins = StandIns::put(&mut config, &mut errors)?;
    let (config, described) = (config.clone(), config.described);
    let names: Vec<String> = config.sources.iter().map(|it| it.name.clone()).collect();
    // Before the sources are open, whose connections count too.
    let poolers = poolers(&config);
    let mut report = String::new();
    match Generation::build(config, 1) {
        Ok(generation) => {
            report_findings(&generation.findings, &mut errors);
            let events = report_events(&generation, &mut errors);
            let state = report_state(&generation, &mut errors);
            report = format!("{}{}", state.lines, events.lines);
            if let Some(described) = &described {
                report.push_str(&report_move(&generation, described, events, state));
            }
            warn_of_integers(&generation.config);
            let Findings { down, .. } = &generation.findings;
            report_down_sources(&generation.config, down, &mut errors);
            if errors.is_empty() {
                let types = generation.engine.schema().types.len();
                let products = generation.products();
                let name = |it: &String| match products.iter().find(|(name, _)| name == it) {
                    Some((_, product)) => format!("{it} ({product})"),
                    None => it.clone(),
                };
                let names: Vec<String> = names.iter().map(name).collect();
                let notes: String = generation.findings.notes.iter().map(|it| format!("{it}\n")).collect();
                let live = live(&generation);
                return print(&format!(
                    "ok: {}; {types} types\n{notes}{poolers}{live}{report}",
                    names.join(", ")
                ));
            }
        }
        Err(message) => {
            errors.push(message);
            if let Some(described) = &described {
                report_entries(described, &mut errors);
                report.push_str("report: nothing is served\n");
            }
        }
    }
    drop(stand_ins);
    errors.iter().for_each(|it| eprintln!("error: {it}"));
    print(&report)?;
    Ok(ExitCode::FAILURE)
}

/// Adds the mistakes of the metadata that can be found without the databases.
fn report_entries(described: &Described, errors: &mut Vec<String>) {
    errors.extend(described.unsupported.iter().map(ToString::to_string));
    errors.extend(described.inconsistent.iter().map(|it| format!("{}: {}", it.place, it.reason)));
    (0..described.loaded.document.sources.len()).for_each(|at| entries(described, at, errors));
    roles(described, errors);
    eprintln!("warning: not checked: whether the databases have what the entries name");
}

/// Warns about columns whose integers would be errors when they are read.
fn warn_of_integers(config: &Config) {
    for source in &config.sources {
        let wide = databases::find_wide_integers(source, &config.limits);
        if !wide.is_empty() {
            eprintln!(
                "warning: source `{}`: integers of more than 32 bits in {}: INT_RANGE when they are read; set `integers: bigint`",
                source.name,
                list_columns(&wide)
            );
        }
    }
}

/// Maximum number of columns listed in a line.
const LISTED_MAX: usize = 10;

fn list_columns(columns: &[String]) -> String {
    let mut line = columns.iter().take(LISTED_MAX).map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    if columns.len() > LISTED_MAX {
        line.push_str(&format!(" and {} more", columns.len() - LISTED_MAX));
    }
    line
}

/// Temporary stores in place of those in SQLite files: a check creates and migrates no store.
struct StandIns(PathBuf);

impl StandIns {
    /// Replaces each SQLite store by a temporary file. Migrations that are impossible are added to `errors`.
    fn put(config: &mut Config, errors: &mut Vec<String>) -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("weir-check-{}", std::process::id()));
        let stand_ins = Self(folder);
        for (at, source) in config.sources.iter_mut().enumerate() {
            let Ok(Some(native)) = Native::of(source) else { continue };
            let Place::Sqlite(path) = &native.place else { continue };
            // Mistakes in the types are reported when they are opened.
            let found = native.types().map(|types| native.check_migration(path, &types));
            if let Ok(Err(error)) = found {
                errors.push(format!("{error}\nsee `weir migrate {} --plan`", native.sdl.display()));
            }
            std::fs::create_dir_all(&stand_ins.0)
                .map_err(|error| format!("{} cannot be made: {error}", stand_ins.0.display()))?;
            source.store = Some(stand_ins.0.join(format!("{at}.db")).display().to_string());
        }
        Ok(stand_ins)
    }
}

impl Drop for StandIns {
    fn drop(&mut self) {
        // Without file stores there is nothing to remove.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Lines about what stands between Weir and its sources, which is tried.
fn poolers(config: &Config) -> String {
    let told = |source: &Source| {
        let found = databases::try_pooler(source, config).into_iter();
        found.map(|it| format!("pooler: source `{}`: {it}\n", source.name)).collect::<String>()
    };
    config.sources.iter().map(told).collect()
}

/// One line per source: how subscriptions notice changes of its data, and how to make that faster.
fn live(generation: &Generation) -> String {
    let poll_ms = generation.config.live.poll_ms;
    let line = |source: &dyn weir_engine::source::Source| {
        let how = match source.others_changes() {
            OthersChanges::Reported(how) => format!("others: {how}"),
            OthersChanges::Polled(more) => format!("changes of others: read every {poll_ms} ms; {more}"),
            OthersChanges::Lifetimes => format!(
                "others: when an answer's lifetime ends or a tag is purged; answers without a lifetime are asked for again every \
                 {poll_ms} ms, and `Cache-Control` or `@cacheControl` gives them one"
            ),
            OthersChanges::PassedThrough => {
                let name = source.name();
                return format!(
                    "live: source `{name}`: subscriptions of the server itself; its queries are not live\n"
                );
            }
            OthersChanges::Constant => return String::new(),
        };
        format!("live: source `{}`: own changes at once; {how}\n", source.name())
    };
    let sources = generation.engine.graph().sources();
    let mut lines: String = sources.iter().map(|it| line(&*it.0)).collect();
    lines.push_str(match &generation.config.cache.redis {
        Some(_) => "live: other Weirs: at once, by `cache.redis`\n",
        None => {
            "live: other Weirs: as others; with one `cache.redis` for all they tell their changes at once\n"
        }
    });
    lines
}

/// Prints the warnings of `findings` and adds the rest to `errors`.
fn report_findings(findings: &Findings, errors: &mut Vec<String>) {
    let Findings { mistakes, warnings, unsupported, .. } = findings;
    warnings.iter().for_each(|it| eprintln!("warning: {it}"));
    errors.extend(mistakes.iter().chain(unsupported).cloned());
}

/// Reports sources that are `down`, and the mistakes in their entries that the metadata alone reveals.
fn report_down_sources(config: &Config, down: &[Down], errors: &mut Vec<String>) {
    if down.is_empty() {
        return;
    }
    for it in down {
        errors.push(format!(
            "{it}; not checked: whether the database has what the entries of `{}` name",
            it.name
        ));
    }
    if let Some(described) = &config.described {
        let is_down = |name: &str| down.iter().any(|it| it.name == name);
        let sources = config.sources.iter().filter(|it| is_down(&it.name));
        sources.filter_map(|it| it.of_metadata).for_each(|at| entries(described, at, errors));
        roles(described, errors);
    }
    eprintln!("warning: not checked: whether saved queries fit the schema, which lacks what is down");
}

/// Adds the mistakes of the metadata's source at `at` that can be found without the database.
fn entries(described: &Described, at: usize, errors: &mut Vec<String>) {
    let source = &described.loaded.document.sources[at];
    for (below, message) in dangling(source) {
        let path: Vec<_> = ["sources".into(), at.into()].into_iter().chain(below).collect();
        errors.push(described.loaded.places.fault(&path, message).to_string());
    }
}

fn roles(described: &Described, errors: &mut Vec<String>) {
    // An open source may have reported the same mistake.
    let is_known = |message: &str| errors.iter().any(|it| it.ends_with(message));
    let found = dangling_roles(&described.loaded.document).into_iter().filter(|it| !is_known(&it.1));
    let found = found.map(|(path, message)| described.loaded.places.fault(&path, message).to_string());
    let found: Vec<String> = found.collect();
    errors.extend(found);
}
