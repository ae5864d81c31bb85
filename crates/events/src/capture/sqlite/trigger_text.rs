//! The statement that makes a trigger of SQLite's.

use super::columns::TableColumn;
use super::json_text::{self, join_balanced};
use crate::trigger::{CapturedOperation, CapturedTrigger, Operation};
use weir_metadata::document::permission::Columns;
use weir_relational::catalog::facts::Cell;
use weir_relational::quoting::{literal, quote_identifier};

/// Longest text of a trigger: programs whose SQLite takes statements of 1,000,000 bytes have to read it.
const TEXT_BYTES_MAX: usize = 900_000;

/// A random UUID of version 4.
const NEW_ID: &str = "lower(hex(randomblob(4))) || '-' || lower(hex(randomblob(2))) || '-4' || substr(lower(hex(randomblob(2))), 2) \
 || '-' || substr('89ab', 1 + (random() & 3), 1) || substr(lower(hex(randomblob(2))), 2) || '-' || lower(hex(randomblob(6)))";

/// The variables of the session that writes, if Weir does; a text that is no JSON counts as none.
const SESSION: &str = "coalesce((SELECT CASE WHEN json_valid(value || '') THEN value || '' END FROM hdb_session LIMIT 1), 'null')";
/// The trace of its request, alike.
const TRACE: &str = "coalesce((SELECT CASE WHEN json_valid(value || '') THEN value || '' END FROM hdb_trace LIMIT 1), 'null')";

/// The schema of events' tables.
pub(super) const SCHEMA: &str = "main";

/// The statement of the trigger of `operation`, on a table with `columns`.
/// # Errors
/// A column that does not exist, a table without a primary key that needs one, or too many columns.
pub(super) fn write_trigger(
    trigger: &CapturedTrigger,
    operation: &CapturedOperation,
    columns: &[TableColumn],
) -> Result<String, String> {
    let CapturedOperation { operation: kind, listened, payload } = operation;
    let told = choose_columns(columns, payload, &trigger.table)?;
    let listened = choose_columns(columns, listened, &trigger.table)?;
    let row = |name: &str, is_there: bool| {
        if is_there {
            json_text::row(name, told.iter().map(|it| named_cell(it)))
        } else {
            "'null'".to_owned()
        }
    };
    let old = row("OLD", kind.has_old());
    let new = row("NEW", kind.has_new());
    let condition = match kind {
        Operation::Update => format!("WHEN {} ", change_condition(&listened)),
        Operation::Insert | Operation::Delete => String::new(),
    };
    let key = if trigger.is_ordered { row_key(*kind, columns, &trigger.table)? } else { "NULL".to_owned() };
    let word = kind.word();
    let text = format!(
        "CREATE TRIGGER {} AFTER {word} ON {} {condition}BEGIN\n  INSERT INTO hdb_event_log (id, schema_name, table_name, trigger_name, payload, \
         delivered, error, tries, created_at, archived, weir_key)\n  VALUES ({NEW_ID}, '{SCHEMA}', {}, {}, '{{\"op\":\"{word}\",\"data\":{{\"old\":' || {old} || \
         ',\"new\":' || {new} || '}},\"session_variables\":' || {SESSION} || ',\"trace_context\":' || {TRACE} || '}}', 0, 0, 0, \
         strftime('%Y-%m-%dT%H:%M:%f', 'now'), 0, {key});\nEND",
        quote_identifier(&trigger.object_name(*kind)),
        quote_identifier(&trigger.table),
        literal(&trigger.table),
        literal(&trigger.name),
    );
    if text.len() > TEXT_BYTES_MAX {
        return Err(format!(
            "the table has too many columns for one event: list those that are told by `payload`, so that the trigger has at most {TEXT_BYTES_MAX} bytes"
        ));
    }
    Ok(text)
}

fn named_cell(column: &TableColumn) -> (&str, Cell) {
    (&column.name, column.cell)
}

/// The columns that `chosen` names, in the table's order.
fn choose_columns<'c>(
    columns: &'c [TableColumn],
    chosen: &Columns,
    table: &str,
) -> Result<Vec<&'c TableColumn>, String> {
    let Columns::Listed(names) = chosen else { return Ok(columns.iter().collect()) };
    let is_there = |name: &&String| columns.iter().any(|it| it.name.eq_ignore_ascii_case(name));
    if let Some(name) = names.iter().find(|it| !is_there(it)) {
        return Err(format!("column \"{name}\" does not exist in table \"{table}\""));
    }
    let is_chosen = |it: &&TableColumn| names.iter().any(|name| it.name.eq_ignore_ascii_case(name));
    Ok(columns.iter().filter(is_chosen).collect())
}

/// True if one of `columns` has another value: other bytes or another type, whatever its collation takes for equal.
fn change_condition(columns: &[&TableColumn]) -> String {
    let has_changed = |column: &&TableColumn| {
        let name = quote_identifier(&column.name);
        format!("(OLD.{name} COLLATE BINARY IS NOT NEW.{name} OR typeof(OLD.{name}) <> typeof(NEW.{name}))")
    };
    join_balanced(columns.iter().map(has_changed).collect(), " OR ")
}

/// The row of an event: the primary key, of an update the one that the row had.
fn row_key(operation: Operation, columns: &[TableColumn], table: &str) -> Result<String, String> {
    let mut keys: Vec<&TableColumn> = columns.iter().filter(|it| it.key_place > 0).collect();
    keys.sort_by_key(|it| it.key_place);
    if keys.is_empty() {
        return Err(format!("`ordered` needs a primary key, and the table \"{table}\" has none"));
    }
    let row = if operation.has_old() { "OLD" } else { "NEW" };
    Ok(json_text::list(row, keys.into_iter().map(named_cell)))
}
