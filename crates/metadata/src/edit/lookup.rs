//! The entries that commands are about, and refusals where they are not there, or are there already.

use super::Refused;
use super::arguments::Arguments;
use crate::document::Metadata;
use crate::document::source::SourceEntry;
use crate::document::table::{TableEntry, TableName};

pub(super) fn already_exists(message: String) -> Refused {
    Refused::new("already-exists", message)
}

pub(super) fn not_there(message: String) -> Refused {
    Refused::new("not-exists", message)
}

/// Takes the first item out for which `is_it` holds, or refuses.
pub(super) fn take_out<T>(
    items: &mut Vec<T>,
    is_it: impl FnMut(&T) -> bool,
    missing: impl FnOnce() -> Refused,
) -> Result<T, Refused> {
    let at = items.iter().position(is_it).ok_or_else(missing)?;
    Ok(items.remove(at))
}

/// The name of a table or function in messages: with its schema, unless that is `public`.
pub(super) fn display_name(name: &TableName) -> String {
    name.display_name()
}

/// The source called `name`.
pub(super) fn source<'d>(document: &'d mut Metadata, name: &str) -> Result<&'d mut SourceEntry, Refused> {
    let found = document.sources.iter_mut().find(|it| it.name == name);
    found.ok_or_else(|| not_there(format!("source with name \"{name}\" does not exist")))
}

/// The source and table that a command is about.
pub(super) fn table<'d>(
    document: &'d mut Metadata,
    args: &mut Arguments,
) -> Result<&'d mut TableEntry, Refused> {
    let name: String = args.source()?;
    let table: TableName = args.take_table_name("table")?;
    let found =
        source(document, &name)?.tables.iter_mut().find(|it| display_name(&it.table) == display_name(&table));
    let missing =
        || not_there(format!("table \"{}\" does not exist in source: {name}", display_name(&table)));
    found.ok_or_else(missing)
}
