//! Commands of Hasura's metadata API that change single entries, as edits of a document.
//!
//! `arguments` takes the members of a command apart, `lookup` finds what it is about, `sources`, `permissions` and `event_triggers` have the commands about databases, `graph` those about
//! everything else, `actions` those about actions and their types, `cron_triggers` those about schedules, `remote_schemas` those about other servers; `conditions` walks conditions, `rename` follows a relationship's new name into them, `schema_renames` those of tables and columns; `paths` removes entries by their places.
//!
//! **Invariant:** an edit gives a new document, whose references nobody has resolved yet; one that is refused gives none.

mod actions;
mod arguments;
mod conditions;
mod cron_triggers;
mod event_triggers;
mod foreign_keys;
mod graph;
mod lookup;
mod native_queries;
mod paths;
mod permissions;
mod remote_schemas;
mod rename;
mod schema_renames;
mod sources;

pub use foreign_keys::{KeyBefore, TableKey};
pub use paths::remove_paths;
pub use schema_renames::SchemaRenames;

use crate::document::Metadata;
use crate::read;
use arguments::Arguments;
use std::path::Path;

/// A document after a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The new document.
    pub document: Metadata,
    /// `cascade` of a command that removes something: true removes dependent entries too, false refuses if there are any.
    pub cascade: Option<bool>,
    /// Words of the answer, if they are not `success`.
    pub message: Option<String>,
}

/// The reason for which a command changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Hasura's code.
    pub code: &'static str,
    /// Path of the member that is wrong, below the command: `args.table`.
    pub path: String,
    /// The cause.
    pub message: String,
}

impl Refused {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, path: "args".into(), message: message.into() }
    }
}

/// Side effects of a command, beside the changed document.
#[derive(Debug, Default)]
struct Outcome {
    cascade: Option<bool>,
    message: Option<String>,
}

type Done = Result<Outcome, Refused>;
type Command = fn(&mut Metadata, &mut Arguments) -> Done;

/// Beginnings of the names of commands about sources, and the kinds of new sources.
const BACKENDS: [(&str, &str); 4] =
    [("pg_", "postgres"), ("sqlite_", "sqlite"), ("citus_", "citus"), ("cockroach_", "cockroach")];

/// The command called `name` and the kind of a source that it would add. Commands about sources may have no prefix, as in `/v1/query`.
fn command(name: &str) -> Option<(Command, &'static str)> {
    let of_source = |verb: &str| {
        let other = || permissions::command(verb).or_else(|| event_triggers::command(verb));
        let of_remotes = || remote_schemas::command_of_table(verb);
        sources::command(verb).or_else(other).or_else(|| native_queries::command(verb)).or_else(of_remotes)
    };
    let prefixed =
        BACKENDS.iter().find_map(|(prefix, kind)| Some((of_source(name.strip_prefix(prefix)?)?, *kind)));
    let of_all = || {
        let of_graph =
            graph::command(name).or_else(|| actions::command(name)).or_else(|| cron_triggers::command(name));
        let of_graph = of_graph.or_else(|| remote_schemas::command(name));
        of_graph.or_else(|| event_triggers::command_of_all(name))
    };
    let bare = || Some((of_all().or_else(|| of_source(name))?, "postgres"));
    prefixed.or_else(bare)
}

/// True if [`edit`] knows the command `name`.
pub fn is_edit(name: &str) -> bool {
    command(name).is_some()
}

/// True for the command `name` if it follows foreign keys of the database.
pub fn follows_keys(name: &str) -> bool {
    name.ends_with("rename_relationship")
}

/// Runs the command `name` with `args`, a text of JSON, on `document`; `keys` are those of the source that `args` name, for a command
/// that [follows](follows_keys) them.
/// # Errors
/// The arguments are wrong, or do not fit the entries of the document. References to the database are not checked.
pub fn edit(document: &Metadata, name: &str, args: &str, keys: &[KeyBefore]) -> Result<Edited, Refused> {
    let Some((run, kind)) = command(name) else {
        return Err(Refused::new("not-supported", format!("`{name}` is no command that changes an entry")));
    };
    let node = read::tree(args, Path::new("args.json"));
    let node = node.map_err(|fault| Refused::new("parse-failed", fault.message))?;
    let mut document = document.clone();
    let Outcome { cascade, message } = run(&mut document, &mut Arguments::new(node, kind, keys))?;
    Ok(Edited { document, cascade, message })
}
