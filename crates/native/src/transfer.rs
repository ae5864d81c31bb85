//! Loads files into a store, and exports a store to files.
//!
//! One thread reads and checks a file, another writes; a parcel of some thousand objects and the mark how far the file was
//! read are one transaction. Indexes of tables that were empty are built when all rows are there, if nobody else has the
//! store open when the load begins.
//!
//! **Invariant:** a load that was interrupted and is begun again gives the same store as one that was not; one load writes
//! into a store at a time.
//!
//! **Cost:** memory for a few parcels, whatever the size of the files.

mod edge_fields;
pub mod export;
mod file_line;
mod from_files;
mod parcel;
mod reject;
mod to_tables;

pub use from_files::slots::Mapping;
pub use reject::{Reject, RejectKind};
pub use to_tables::checkpoint::Count;
pub use to_tables::required::Lacking;
pub use to_tables::unknown::Unknown;

use crate::store::database::Database;
use crate::store::{self, Pace, Place, Store, Types};
use flate2::read::MultiGzDecoder;
use from_files::gather::Gather;
use from_files::lines::{self, Lines};
use from_files::nquads::{self, StatementFile};
use from_files::slots::{self, Aim};
use parcel::Parcel;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use to_tables::checkpoint::{Load, Mark};
use to_tables::import_lock::{self, ImportLock};
use to_tables::sink::Sink;
use to_tables::{deferred_edges, required, unknown};
use weir_relational::catalog::TableKind;

/// Parcels that wait to be written.
const PARCELS_WAITING: usize = 2;

/// File formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A JSON object on each line.
    Ndjson,
    /// Values with commas between, names in the first line.
    Csv,
    /// Statements of subject, predicate and object: N-Quads, or a list of JSON objects where the file's name ends in `.json`.
    Nquads,
}

impl Format {
    /// The format that a file's name says; `.gz` behind it means that it is packed.
    pub fn of(path: &Path) -> Option<Self> {
        match ending(path)?.as_str() {
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            "csv" => Some(Self::Csv),
            "rdf" | "nq" | "nquads" | JSON => Some(Self::Nquads),
            _ => None,
        }
    }
}

/// The ending of files of statements that are JSON.
const JSON: &str = "json";

/// The ending of a file's name in lower case, before a `.gz`.
fn ending(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').map(|it| it.1.to_owned())
}

/// A file to load.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// Format of the file.
    pub format: Format,
    /// Mapping of names in the file.
    pub mapping: Mapping,
}

/// Progress events of a load.
#[derive(Clone, Copy, Debug)]
pub enum Event<'e> {
    /// The load begins, or goes on where it was interrupted.
    #[allow(missing_docs)]
    Begin { goes_on: bool },
    /// A file is begun, or gone on with: bytes before packing as far as known.
    File {
        /// Name of the file.
        name: &'e str,
        /// Length of the file.
        bytes: u64,
    },
    /// Progress of the current file: bytes read, and objects in the store.
    #[allow(missing_docs)]
    Loaded { bytes: u64, objects: u64 },
    /// Edges are settled.
    Settling,
    /// An index is built.
    #[allow(missing_docs)]
    Index { name: &'e str, done: u64, all: u64 },
}

/// Result of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Counts of accepted and rejected items.
    pub count: Count,
    /// Predicates that are no fields of their objects.
    pub unknown: Vec<Unknown>,
    /// Objects that were taken and lack an edge that has a `!`.
    pub lacking: Vec<Lacking>,
    /// Indexes that the data does not allow, in the database's words.
    pub unbuilt: Vec<String>,
}

/// Why a load ended early. What was written stays; the same command goes on.
#[derive(Debug)]
pub enum LoadError {
    Store(store::Error),
    /// A file cannot be read, or does not fit the types.
    File {
        /// The file.
        path: PathBuf,
        why: String,
    },
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::File { path, why } => write!(f, "{}: {why}", path.display()),
        }
    }
}

impl std::error::Error for LoadError {}

impl From<store::Error> for LoadError {
    fn from(error: store::Error) -> Self {
        Self::Store(error)
    }
}

/// Callbacks of a load.
pub struct Hooks<'h> {
    /// Hears how far it is.
    pub progress: &'h mut dyn FnMut(Event<'_>),
    /// Hears each line that is not taken, after the transaction that passed it over.
    pub reject: &'h mut dyn FnMut(&Reject),
}

/// Loads `sources` into the store at `place`, the smaller files first, because what others refer to is mostly in them,
/// and files of pairs last.
/// # Errors
/// See [`LoadError`].
pub fn load(place: &Place, sources: &[Source], hooks: &mut Hooks<'_>) -> Result<Report, LoadError> {
    let types = Store::existing(place)?.types()?.ok_or(store::Error::Missing)?;
    let mut groups = groups(&types, sources)?;
    groups.sort_by_key(|it| (matches!(it.aim, Aim::Pairs(_)), it.bytes));
    let _lock = ImportLock::new(place)?;
    import_lock::defer_indexes(place, &types)?;
    let mut store = Store::existing(place)?;
    tune(&mut store.database)?;
    let load = Load::begin(&mut store.database, groups.iter().map(|it| it.key.as_str()))?;
    (hooks.progress)(Event::Begin { goes_on: load.goes_on });
    let mut report = Report::default();
    for group in &groups {
        report.count = report.count.plus(load_group(&types, &mut store.database, &load, group, hooks)?);
    }
    (hooks.progress)(Event::Settling);
    for mut reject in deferred_edges::write_deferred_edges(&types, &mut store.database, &load.edges)? {
        let of_pairs = |it: &Group<'_>| matches!(it.aim, Aim::Pairs(_)) && it.name == reject.file;
        if groups.iter().any(of_pairs) {
            reject.part = RejectKind::Pair;
            report.count.pairs -= 1;
        }
        report.count.refuse(reject.part);
        (hooks.reject)(&reject);
    }
    report.unknown = unknown::count(&mut store.database, &load.edges)?;
    report.lacking = required::count(&types, &mut store.database, &load.edges)?;
    let mut tell = |name: &str, done: u64, all: u64| {
        (hooks.progress)(Event::Index { name, done, all });
        true
    };
    store.retry_builds()?;
    loop {
        match store.build_next(&types, Pace::Alone, &mut tell) {
            Ok(true) => {}
            Ok(false) => break,
            Err(store::Error::Unfit(why)) => report.unbuilt.push(why),
            Err(error) => return Err(error.into()),
        }
    }
    load.end(&mut store.database)?;
    look_over(&types, &mut store.database)?;
    Ok(report)
}

/// Maintenance that a database would do only later.
fn look_over(types: &Types, database: &mut Database) -> Result<(), store::Error> {
    let tables = types.layout.relations.catalog.tables.iter().filter(|it| it.kind == TableKind::Table);
    let tables: Vec<&str> = tables.map(|it| it.name.as_str()).collect();
    database.dialect().after_load(&tables).iter().try_for_each(|sql| database.query(sql, &[], 0).map(drop))
}

/// Position in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    /// Bytes before the place where to go on, or the last subject of sorted statements.
    pub(crate) offset: u64,
    /// Lines read.
    pub(crate) line: u64,
    /// The checksum of the bytes before, or of the whole of sorted files.
    pub(crate) sum: u32,
}

/// The reason why a load cannot continue: the file has changed since the part up to `line` was loaded.
fn changed_file_message(line: u64) -> String {
    let part = if line > 0 { format!("its first {line} lines were") } else { "it was".to_owned() };
    format!("it is not as it was when {part} loaded; put it back as it was, or what is new into another file")
}

/// Files that are read together: statements about one object may stand in any of them.
struct Group<'s> {
    name: String,
    /// Canonical paths of the files: they identify the group whatever the working directory is.
    key: String,
    sources: Vec<&'s Source>,
    aim: Aim,
    bytes: u64,
}

fn groups<'s>(types: &Types, sources: &'s [Source]) -> Result<Vec<Group<'s>>, LoadError> {
    let mut all: Vec<Group<'s>> = Vec::new();
    for source in sources {
        let bytes = std::fs::metadata(&source.path).map_err(|cause| file_error(&source.path, &cause))?.len();
        let name = source.path.display().to_string();
        let key = source.path.canonicalize().map_err(|cause| file_error(&source.path, &cause))?;
        let key = key.display().to_string();
        let same = all.iter_mut().find(|it| {
            source.format == Format::Nquads
                && it.sources.first().is_some_and(|it| it.format == Format::Nquads)
        });
        match same {
            Some(group) => {
                group.name = format!("{} {name}", group.name);
                group.key = format!("{} {key}", group.key);
                group.sources.push(source);
                group.bytes += bytes;
            }
            None => {
                let aim = aim_of(types, source).map_err(|why| file_error(&source.path, &why))?;
                all.push(Group { name, key, sources: vec![source], aim, bytes });
            }
        }
    }
    Ok(all)
}

fn file_error(path: &Path, cause: &dyn std::fmt::Display) -> LoadError {
    LoadError::File { path: path.to_owned(), why: cause.to_string() }
}

/// Makes the connection ready to write much.
fn tune(database: &mut Database) -> Result<(), LoadError> {
    for setting in database.dialect().before_load() {
        database.query(&setting, &[], 0)?;
    }
    Ok(())
}

/// Loads one group of files and counts.
fn load_group(
    types: &Types,
    database: &mut Database,
    load: &Load,
    group: &Group<'_>,
    hooks: &mut Hooks<'_>,
) -> Result<Count, LoadError> {
    let mut mark = load.mark(database, &group.key)?;
    let first = group.sources[0];
    (hooks.progress)(Event::File { name: &group.name, bytes: group.bytes });
    if mark.is_done {
        if mark.bytes != group.bytes {
            return Err(file_error(&first.path, &changed_file_message(0)));
        }
        (hooks.progress)(Event::Loaded { bytes: group.bytes, objects: mark.count.objects });
        return Ok(mark.count);
    }
    let folder = folder_of(database, first);
    let from = mark.reached;
    let names: Vec<String> = group.sources.iter().map(|it| it.path.display().to_string()).collect();
    std::thread::scope(|scope| {
        let (send, receive) = sync_channel(PARCELS_WAITING);
        let reader = scope.spawn(move || read(types, group, from, &folder, &send));
        let mut sink = Sink::new(types, database, load, &names);
        let written = write(&mut sink, receive, &mut mark, hooks);
        let read = reader.join().unwrap_or_else(|_| Err("reading panicked".into()));
        written?;
        read.map_err(|why| file_error(&first.path, &why))?;
        (mark.is_done, mark.bytes) = (true, group.bytes);
        Ok(load.keep(sink.database, &mark)?)
    })
    .map(|()| mark.count)
}

/// Writes parcels until there are no more.
fn write(
    sink: &mut Sink<'_>,
    parcels: Receiver<Parcel>,
    mark: &mut Mark,
    hooks: &mut Hooks<'_>,
) -> Result<(), LoadError> {
    for parcel in parcels {
        let bytes = parcel.bytes;
        if !parcel.is_empty() {
            sink.take(parcel, mark)?;
        }
        for reject in sink.rejects.drain(..) {
            (hooks.reject)(&reject);
        }
        (hooks.progress)(Event::Loaded { bytes, objects: mark.count.objects });
    }
    Ok(())
}

fn read(
    types: &Types,
    group: &Group<'_>,
    from: Reached,
    folder: &Path,
    send: &SyncSender<Parcel>,
) -> Result<(), String> {
    let gather = Gather::new(types, group.aim, &group.sources[0].mapping);
    let mut take = |parcel: Parcel| send.send(parcel).is_ok();
    let first_lines = || open(&group.sources[0].path).map(Lines::new);
    match group.sources[0].format {
        Format::Nquads => {
            let file = |it: &&Source| {
                let is_json = ending(&it.path).as_deref() == Some(JSON);
                Ok(StatementFile { input: open(&it.path)?, is_json })
            };
            let files = group.sources.iter().map(file).collect::<Result<Vec<_>, String>>()?;
            nquads::read(files, folder, types, gather, from, &mut take)
        }
        Format::Ndjson => lines::ndjson(first_lines()?, gather, from, &mut take),
        Format::Csv => lines::csv(first_lines()?, gather, from, &mut take),
    }
}

fn open(path: &Path) -> Result<Box<dyn BufRead + Send>, String> {
    let file = File::open(path).map_err(|cause| cause.to_string())?;
    let is_packed = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("gz"));
    Ok(if is_packed {
        Box::new(BufReader::with_capacity(1 << 20, MultiGzDecoder::new(file)))
    } else {
        Box::new(BufReader::with_capacity(1 << 20, file))
    })
}

/// Contents of a file: given by the caller, by the file's name, or by its lines.
fn aim_of(types: &Types, source: &Source) -> Result<Aim, String> {
    if source.format == Format::Nquads {
        return Ok(Aim::Mixed);
    }
    if let Some(target) = &source.mapping.target {
        return slots::find_target(types, target);
    }
    let name = source.path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let stem = name.rsplit_once('.').map_or(name, |it| it.0);
    Ok(slots::find_target(types, stem).unwrap_or(Aim::Mixed))
}

/// Folder for sorting statements: beside the store, else beside the file.
fn folder_of(database: &Database, source: &Source) -> PathBuf {
    let neighbour = database.file().unwrap_or_else(|| source.path.clone());
    neighbour
        .parent()
        .filter(|it| !it.as_os_str().is_empty())
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}
