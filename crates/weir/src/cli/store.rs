//! `weir migrate`, `import`, `export`, `backup`: maintenance of native stores.

use super::print;
use super::progress::Progress;
use crate::sources::native::Native;
use clap::{Args, ValueEnum};
use serde::Deserialize;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use weir_metadata::read;
use weir_native::store::{Error, Pace, Place, Store, Types, backup};
use weir_native::transfer::export::export;
use weir_native::transfer::{self, Count, Event, Format, Hooks, Mapping, Reject, Report, Source};

/// Options of `weir import` for files.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// NDJSON, CSV, N-Quads or Dgraph's JSON, also compressed as .gz
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The types: X.graphql, or a weir.yaml with one native source
    #[arg(long, value_name = "X.GRAPHQL")]
    into: String,
    /// Contents of the files: a type, or an edge as `Restaurant.cuisines` for files of pairs
    #[arg(long = "type", value_name = "TYPE")]
    target: Option<String>,
    /// Types and names of columns, by file name: YAML
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// The store; default: a file beside the types
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// File for rejected lines, as NDJSON
    #[arg(long, value_name = "FILE", default_value = "rejects.ndjson")]
    rejects: PathBuf,
}

/// Options of `weir export`.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// The types: X.graphql, or a weir.yaml with one native source
    #[arg(value_name = "X.GRAPHQL", default_value = "weir.yaml")]
    from: String,
    /// Format of the objects
    #[arg(long, value_enum, default_value = "ndjson")]
    format: Written,
    /// Output file; for CSV a folder with a file per type; default: standard output
    #[arg(long, value_name = "FILE|FOLDER")]
    to: Option<PathBuf>,
    /// Only the objects of this type
    #[arg(long = "type", value_name = "TYPE")]
    only: Option<String>,
    /// The store; default: a file beside the types
    #[arg(long, value_name = "URL")]
    store: Option<String>,
}

/// The forms of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Written {
    /// A JSON object on each line
    Ndjson,
    /// A table for each type
    Csv,
    /// RDF, as Dgraph exports it
    Nquads,
}

impl Written {
    fn format(self) -> Format {
        match self {
            Self::Ndjson => Format::Ndjson,
            Self::Csv => Format::Csv,
            Self::Nquads => Format::Nquads,
        }
    }
}

/// Shows how a new version of the types changes the store, and applies the changes.
pub(super) fn migrate(
    target: &str,
    store: Option<&str>,
    only_plan: bool,
    allowed: &[String],
) -> Result<ExitCode, String> {
    let native = Native::find(target, store)?;
    let types = native.types()?;
    warn(&native, &types);
    // `--plan` must not create the file.
    let place = match &native.place {
        Place::Sqlite(path) if only_plan && !path.exists() => Place::Sqlite(":memory:".into()),
        Place::Sqlite(_) | Place::Postgres(_) => native.place.clone(),
    };
    let mut open = Store::open(&place).map_err(|error| error.to_string())?;
    let plan = open.plan(&types, allowed).map_err(|error| error.to_string())?;
    let mut text = plan.to_string();
    if only_plan {
        for statement in &plan.statements {
            text.push_str(&format!("\n{statement};\n"));
        }
    }
    print(&text)?;
    if !plan.refusals.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    if only_plan {
        return Ok(ExitCode::SUCCESS);
    }
    open.migrate(&types, &plan).map_err(|error| error.to_string())?;
    let bar = Progress::of("rows");
    let mut tell = |name: &str, done: u64, all: u64| {
        bar.show(&format!("index {name}"), done, all);
        true
    };
    let mut unbuilt = Vec::new();
    open.retry_builds().map_err(|error| error.to_string())?;
    loop {
        match open.build_next(&types, Pace::Beside, &mut tell) {
            Ok(true) => {}
            Ok(false) => break,
            Err(Error::Unfit(why)) => unbuilt.push(why),
            Err(error) => return Err(error.to_string()),
        }
    }
    bar.clear();
    let version = open.version().map_or(0, |it| it.number);
    let done = print(&format!("{} is at version {version}\n", native.store_name()))?;
    Ok(if report_unbuilt(&unbuilt) { ExitCode::FAILURE } else { done })
}

/// Reports indexes that could not be built because of the data; true if there are any.
fn report_unbuilt(unbuilt: &[String]) -> bool {
    unbuilt.iter().for_each(|why| eprintln!("error: {why}"));
    !unbuilt.is_empty()
}

fn warn(native: &Native, types: &Types) {
    for warning in &types.warnings {
        let line = warning.place.line;
        let column = warning.place.column;
        eprintln!("warning: {}:{line}:{column}: {}", native.sdl.display(), warning.message);
    }
}

/// One entry of a mapping.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Entry {
    Type(String),
    Whole {
        #[serde(rename = "type")]
        target: Option<String>,
        #[serde(default)]
        columns: BTreeMap<String, Option<String>>,
    },
}

/// Loads files into the store, making or migrating it first.
pub(super) fn import(options: &Import) -> Result<ExitCode, String> {
    let native = Native::find(&options.into, options.store.as_deref())?;
    let types = native.types()?;
    native.migrate(&types, &[]).map_err(|error| error.to_string())?;
    let mut entries = entries(options.map.as_deref())?;
    let mut sources = Vec::new();
    for path in &options.files {
        let format = Format::of(path).ok_or_else(|| {
            format!(
                "{}: files are .ndjson, .jsonl, .csv, .rdf, .nq or .json, also with .gz behind",
                path.display()
            )
        })?;
        let mut mapping = entries.remove(stem(path)).unwrap_or_default();
        if options.target.is_some() {
            mapping.target.clone_from(&options.target);
        }
        sources.push(Source { path: path.clone(), format, mapping });
    }
    if let Some(name) = entries.keys().next().filter(|_| options.files.len() > entries.len()) {
        eprintln!("warning: the mapping names `{name}`, which is no file of this import");
    }
    let rejects = RefCell::new(Rejects { path: &options.rejects, file: None, failed: None });
    let mut bar = Progress::of("bytes");
    let mut file = String::new();
    let mut progress = |event: Event<'_>| match event {
        Event::Begin { goes_on } => rejects.borrow_mut().begin(goes_on),
        event => show_event(&mut bar, &mut file, event),
    };
    let mut reject = |it: &Reject| rejects.borrow_mut().write(it);
    let report =
        transfer::load(&native.place, &sources, &mut Hooks { progress: &mut progress, reject: &mut reject });
    bar.clear();
    let report = report
        .map_err(|error| format!("{error}\nwhat was loaded stays; the same command goes on from there"))?;
    if let Some(cause) = rejects.into_inner().failed {
        return Err(format!("{}: {cause}", options.rejects.display()));
    }
    print(&format!("loaded {} into {}\n", loaded_counts(&report.count), native.store_name()))?;
    report_left_out(&report);
    let has_all = !report_unbuilt(&report.unbuilt);
    if report.count.refused_count() == 0 && has_all {
        return Ok(ExitCode::SUCCESS);
    }
    if report.count.refused_count() > 0 {
        eprintln!("not taken: {}; see {}", rejected_counts(&report.count), options.rejects.display());
    }
    Ok(ExitCode::FAILURE)
}

/// Reports statements that were not loaded, and objects that are incomplete.
fn report_left_out(report: &Report) {
    for it in &report.unknown {
        let statements = count_in_words(it.statements, "statement was", "statements were");
        eprintln!(
            "warning: {statements} not taken, because `{}` is no field of its object; the first in line {} of {}",
            it.predicate, it.line, it.file
        );
    }
    for it in &report.lacking {
        eprintln!(
            "warning: {} no `{}`, the first in line {} of {}; it has a `!`, so whoever asks for it gets an error",
            count_in_words(it.objects, "object has", "objects have"),
            it.field,
            it.line,
            it.file
        );
    }
    if report.count.facets_left_out > 0 {
        let statements = count_in_words(report.count.facets_left_out, "statement", "statements");
        eprintln!("warning: the facets of {statements} were left out: a store has no place for them");
    }
}

fn count_in_words(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Number of loaded objects and pairs, in words.
fn loaded_counts(count: &Count) -> String {
    let objects = count_in_words(count.objects, "object", "objects");
    match (count.objects, count.pairs) {
        (_, 0) => objects,
        (0, pairs) => count_in_words(pairs, "pair", "pairs"),
        (_, pairs) => format!("{objects} and {}", count_in_words(pairs, "pair", "pairs")),
    }
}

/// Number of rejected objects, edges, pairs and statements, in words.
fn rejected_counts(count: &Count) -> String {
    let parts = [
        (count.objects_refused, "object", "objects"),
        (count.edges_refused, "edge", "edges"),
        (count.pairs_refused, "pair", "pairs"),
        (count.statements_refused, "statement", "statements"),
    ];
    let some = parts.iter().filter(|it| it.0 > 0).map(|&(count, one, many)| count_in_words(count, one, many));
    some.collect::<Vec<_>>().join(", ")
}

/// File name without its endings.
fn stem(path: &Path) -> &str {
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(name);
    name.rsplit_once('.').map_or(name, |it| it.0)
}

fn entries(map: Option<&Path>) -> Result<BTreeMap<String, Mapping>, String> {
    let Some(path) = map else { return Ok(BTreeMap::new()) };
    let fail = |cause: &dyn std::fmt::Display| format!("{}: {cause}", path.display());
    let text = std::fs::read_to_string(path).map_err(|cause| fail(&cause))?;
    let read = read::settings::<BTreeMap<String, Entry>>(&text, &|_| Ok(None));
    let (read, _) = read.map_err(|fault| {
        let file = path.display();
        let place = fault.place;
        format!("{file}:{}:{}: {}", place.line, place.column, fault.message)
    })?;
    let mapping = |entry| match entry {
        Entry::Type(target) => Mapping { target: Some(target), columns: Vec::new() },
        Entry::Whole { target, columns } => Mapping { target, columns: columns.into_iter().collect() },
    };
    Ok(read.into_iter().map(|(name, entry)| (name, mapping(entry))).collect())
}

/// File of rejected lines, created for the first one.
struct Rejects<'r> {
    path: &'r Path,
    file: Option<File>,
    failed: Option<std::io::Error>,
}

impl Rejects<'_> {
    /// Removes the rejects of an earlier load. A resumed load appends to its own.
    fn begin(&mut self, goes_on: bool) {
        let is_file = std::fs::symlink_metadata(self.path).is_ok_and(|it| it.is_file());
        if is_file && !goes_on {
            self.failed = std::fs::remove_file(self.path).err();
        }
    }

    fn write(&mut self, reject: &Reject) {
        let line = serde_json::json!({ "file": reject.file, "line": reject.line, "error": reject.why });
        let file = match self.file.take() {
            Some(file) => Ok(file),
            None => File::options().create(true).append(true).open(self.path),
        };
        let written = file.and_then(|mut file| {
            file.write_all(format!("{line}\n").as_bytes())?;
            self.file = Some(file);
            Ok(())
        });
        if let Err(cause) = written {
            self.failed = Some(cause);
        }
    }
}

fn show_event(bar: &mut Progress, file: &mut String, event: Event<'_>) {
    match event {
        Event::File { name, bytes } => {
            name.clone_into(file);
            bar.begin(file, bytes);
        }
        Event::Loaded { bytes, objects } => {
            let rate = objects as f64 / bar.running_time().as_secs_f64().max(0.001);
            bar.set_position(bytes);
            bar.message(format!("{file}: {objects} objects, {rate:.0}/s"));
        }
        Event::Begin { .. } => {}
        Event::Settling => bar.message("edges".to_owned()),
        Event::Index { name, done, all } => bar.show(&format!("index {name}"), done, all),
    }
}

/// Writes a store's objects to files.
pub(super) fn export_all(options: &Export) -> Result<ExitCode, String> {
    let native = Native::find(&options.from, options.store.as_deref())?;
    let words = |cause: std::io::Error| match &options.to {
        Some(path) => format!("{}: {cause}", path.display()),
        None => format!("standard output: {cause}"),
    };
    let format = options.format.format();
    let is_folder = format == Format::Csv && options.only.is_none();
    let mut first = true;
    if let (true, Some(folder)) = (is_folder, &options.to) {
        std::fs::create_dir_all(folder).map_err(words)?;
    } else if is_folder {
        return Err("CSV is a file for each type: name a folder by `--to`, or one type by `--type`".into());
    }
    let mut open = |ty: &str| -> std::io::Result<Box<dyn Write>> {
        let file = match &options.to {
            None => return Ok(Box::new(BufWriter::new(std::io::stdout()))),
            Some(folder) if is_folder => File::create(folder.join(format!("{ty}.csv")))?,
            Some(path) if std::mem::take(&mut first) => File::create(path)?,
            Some(path) => File::options().append(true).open(path)?,
        };
        Ok(Box::new(BufWriter::with_capacity(1 << 20, file)))
    };
    let counted = export(&native.place, format, options.only.as_deref(), &mut open, &mut |_| {});
    let count = counted.map_err(|error| error.to_string())?;
    if options.to.is_some() {
        eprintln!("{count} objects");
    }
    Ok(ExitCode::SUCCESS)
}

/// Copies a store that may be served meanwhile.
pub(super) fn save(file: &Path, target: &str, store: Option<&str>) -> Result<ExitCode, String> {
    let native = Native::find(target, store)?;
    let bar = Progress::of("pages");
    let done = backup::backup(&native.place, file, &mut |done, all| bar.show("pages", done, all));
    bar.clear();
    done.map_err(|error| error.to_string())?;
    print(&format!("{} is a copy of {}\n", file.display(), native.store_name()))
}
