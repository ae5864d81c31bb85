//! Makes, replaces and drops functions and triggers, so that they are those of the metadata.
//!
//! **Invariant:** a schema `hdb_catalog` that another server made is not changed before an operator says so.

use super::catalog_sql::{COUNT_PENDING, FUNCTIONS, IS_CURRENT, LOOK, MAKE, RIGHTS};
use super::describe::{self, DescribedTable, DescribedTables};
use super::function_script::{FunctionScript, run_scripts};
use super::function_text::{WideNumbers, write_body, write_function};
use crate::capture::{CaptureDifference, Leftovers};
use crate::shared_schema::MAKE_SCHEMA;
use crate::trigger::{CapturedTrigger, NAME_PREFIX};
use std::collections::BTreeMap;
use std::time::Instant;
use weir_postgres::script::{self, Manner, ScriptAnswer};
use weir_postgres::{Error, Settings};
use weir_relational::quoting::quote_identifier;

/// The time that making Weir's own tables waits for other servers that do.
const OWN_LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '5s';";

/// The owner of the schema `hdb_catalog` of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogOwner {
    /// There are no event tables.
    Nobody,
    /// Weir made or took over the schema.
    Weir,
    /// Another server made it; the number of its pending events, at most 10,001.
    Other {
        /// Events that are neither delivered nor failed.
        pending: u32,
    },
}

/// The state of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostgresCapture {
    /// The owner of the schema.
    pub owner: CatalogOwner,
    /// True if the server takes no writes.
    pub is_read_only: bool,
    /// True if the schema is there, or the role may make it.
    pub may_make: bool,
}

/// Rows of a query, as texts.
type TextRows = Vec<Vec<Option<String>>>;

async fn ask(settings: &Settings, sql: &str, deadline: Instant) -> Result<TextRows, Error> {
    let manner = Manner { is_read_only: true, ..Manner::default() };
    match script::run(settings, sql, manner, deadline).await? {
        ScriptAnswer::Rows(_, rows) => Ok(rows),
        ScriptAnswer::Done => Ok(Vec::new()),
    }
}

/// Looks whose the schema of a database is.
/// # Errors
/// The database cannot be asked.
pub async fn look(settings: &Settings, deadline: Instant) -> Result<PostgresCapture, Error> {
    // Not in a transaction that only reads, as the query says whether those of others are.
    let rows = match script::run(settings, LOOK, Manner::default(), deadline).await? {
        ScriptAnswer::Rows(_, rows) => rows,
        ScriptAnswer::Done => Vec::new(),
    };
    let is = |at: usize| rows.first().and_then(|it| it.get(at)).is_some_and(|it| it.as_deref() == Some("t"));
    let owner = match (is(0), is(1), is(2)) {
        (_, _, true) => CatalogOwner::Weir,
        (true, _, false) => {
            let rows = ask(settings, COUNT_PENDING, deadline).await?;
            let count = rows.first().and_then(|it| it.first().cloned().flatten());
            CatalogOwner::Other { pending: count.and_then(|it| it.parse().ok()).unwrap_or_default() }
        }
        (false, true, false) => CatalogOwner::Other { pending: 0 },
        (false, false, false) => CatalogOwner::Nobody,
    };
    Ok(PostgresCapture { owner, is_read_only: is(3), may_make: is(4) })
}

/// Notes that the schema is Weir's from now on, and makes what it lacks.
/// # Errors
/// The database cannot be asked, or the role may not change the schema.
pub async fn take_over(settings: &Settings, deadline: Instant) -> Result<(), Error> {
    make_tables(settings, deadline).await
}

async fn make_tables(settings: &Settings, deadline: Instant) -> Result<(), Error> {
    let [lock, make] = MAKE_SCHEMA;
    let sql = format!("{OWN_LOCK_TIMEOUT}\n{lock};\n{make};\n{MAKE}");
    script::run(settings, &sql, Manner::default(), deadline).await.map(drop)
}

/// A function of the database and the trigger that runs it.
struct KnownFunction {
    body: String,
    /// Schema, table and mode; `None` if no trigger runs it.
    trigger: Option<(String, String, char)>,
}

/// A function that the metadata wants, and its trigger.
struct WantedFunction<'t> {
    trigger: &'t CapturedTrigger,
    word: &'static str,
    body: String,
}

/// Functions that are wanted and known, by name, and the difference.
struct Comparison<'t> {
    difference: CaptureDifference,
    wanted: BTreeMap<String, WantedFunction<'t>>,
    known: BTreeMap<String, KnownFunction>,
}

async fn compare<'t>(
    settings: &Settings,
    triggers: &'t [CapturedTrigger],
    numbers: WideNumbers,
    leftovers: Leftovers,
    deadline: Instant,
) -> Result<Comparison<'t>, Error> {
    let tables = if triggers.is_empty() {
        DescribedTables::new()
    } else {
        let names = triggers.iter().map(|it| (it.schema.as_str(), it.table.as_str()));
        describe::read_rows(ask(settings, &describe::query(names), deadline).await?)
    };
    let known = read_functions(ask(settings, FUNCTIONS, deadline).await?);
    let mut wanted = BTreeMap::new();
    let mut difference = CaptureDifference::default();
    for trigger in triggers {
        let table = tables.get(&(trigger.schema.clone(), trigger.table.clone()));
        match write_all(trigger, table, numbers) {
            Ok(functions) => wanted.extend(functions),
            Err(reason) => difference.failed.push((trigger.name.clone(), reason)),
        }
        let warnings = table.map_or_else(Vec::new, |it| find_warnings(trigger, it));
        difference.warned.extend(warnings.into_iter().map(|it| (trigger.name.clone(), it)));
    }
    for (name, want) in &wanted {
        let WantedFunction { trigger, body, .. } = want;
        let known = known.get(name);
        let has_trigger = known.is_some_and(|it| stands(it, trigger));
        let table = tables.get(&(trigger.schema.clone(), trigger.table.clone()));
        if !has_trigger && table.is_some_and(|it| !it.may_have_triggers) {
            difference.failed.push((trigger.name.clone(), lacking_right(&trigger.table)));
        } else if known.is_none() {
            difference.made.push(name.clone());
        } else if !has_trigger || known.is_some_and(|it| it.body != *body) {
            difference.replaced.push(name.clone());
        }
    }
    if !difference.is_empty() {
        refuse_without_rights(&ask(settings, RIGHTS, deadline).await?, &wanted, &mut difference);
    }
    difference.failed.dedup();
    if leftovers == Leftovers::Drop {
        let is_failed = |name: &str| difference.failed.iter().any(|(trigger, _)| is_of(name, trigger));
        let dropped: Vec<String> =
            known.keys().filter(|it| !wanted.contains_key(*it) && !is_failed(it)).cloned().collect();
        difference.dropped = dropped;
    }
    Ok(Comparison { difference, wanted, known })
}

/// Takes all that is to be made out of `difference` if the role lacks one of the rights of `rows`.
fn refuse_without_rights(
    rows: &TextRows,
    wanted: &BTreeMap<String, WantedFunction<'_>>,
    difference: &mut CaptureDifference,
) {
    let is_granted =
        |at: usize| rows.first().and_then(|it| it.get(at)).is_none_or(|it| it.as_deref() == Some("t"));
    let reason = match (is_granted(0), is_granted(1)) {
        (true, true) => return,
        (false, _) => LACKS_SCHEMA,
        (true, false) => LACKS_LOGS,
    };
    let names =
        std::mem::take(&mut difference.made).into_iter().chain(std::mem::take(&mut difference.replaced));
    let refused =
        names.filter_map(|it| wanted.get(&it)).map(|it| (it.trigger.name.clone(), reason.to_owned()));
    difference.failed.extend(refused);
}

/// The reason why a role that may not make functions makes no trigger.
const LACKS_SCHEMA: &str =
    "the role may not make functions in the schema `hdb_catalog`: GRANT CREATE ON SCHEMA hdb_catalog to it";
/// The reason why a role that may not write the logs makes no trigger.
const LACKS_LOGS: &str = "the role may not write the tables of `hdb_catalog`: GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA hdb_catalog to it";

/// The reason why a role that may not make triggers on `table` makes none.
fn lacking_right(table: &str) -> String {
    format!("the role may not make triggers on \"{table}\": GRANT TRIGGER ON the table to it")
}

/// Surprises of `trigger` for an operator.
fn find_warnings(trigger: &CapturedTrigger, table: &DescribedTable) -> Vec<String> {
    let mut warnings = Vec::new();
    if table.has_heirs {
        let words = "rows of tables that inherit from \"{}\" are not told: they need triggers of their own";
        warnings.push(words.replace("{}", &trigger.table));
    }
    if trigger.on_replication {
        warnings
            .push("`trigger_on_replication` tells each row of a subscription's first copy, too".to_owned());
    }
    warnings
}

/// True if `object` is a function of the event trigger `name`.
fn is_of(object: &str, name: &str) -> bool {
    let rest = object.strip_prefix(NAME_PREFIX).and_then(|it| it.strip_prefix(name));
    rest.is_some_and(|it| ["_INSERT", "_UPDATE", "_DELETE"].contains(&it))
}

/// True if the trigger of `known` stands on the table of `wanted` and fires when it should. A trigger that an administrator disabled stays so.
fn stands(known: &KnownFunction, wanted: &CapturedTrigger) -> bool {
    known.trigger.as_ref().is_some_and(|(schema, table, mode)| {
        let is_mode = *mode == 'D' || (*mode == 'A') == wanted.on_replication;
        (schema, table) == (&wanted.schema, &wanted.table) && is_mode
    })
}

fn read_functions(rows: TextRows) -> BTreeMap<String, KnownFunction> {
    let read = |row: Vec<Option<String>>| {
        let mut cells = row.into_iter();
        let mut next = || cells.next().flatten();
        let name = next()?;
        let body = next().unwrap_or_default();
        let trigger = next().zip(next()).zip(next());
        let trigger =
            trigger.map(|((schema, table), mode)| (schema, table, mode.chars().next().unwrap_or('O')));
        Some((name, KnownFunction { body, trigger }))
    };
    rows.into_iter().filter_map(read).collect()
}

/// The functions of `trigger`, or the reason why it cannot be made.
fn write_all<'t>(
    trigger: &'t CapturedTrigger,
    table: Option<&DescribedTable>,
    numbers: WideNumbers,
) -> Result<Vec<(String, WantedFunction<'t>)>, String> {
    let table = table.filter(|it| it.takes_triggers);
    let table =
        table.ok_or_else(|| format!("\"{}\" is no table on which triggers can stand", trigger.table))?;
    let write = |it| {
        let body = write_body(trigger, it, table, numbers)?;
        let word = it.operation.word();
        Ok((trigger.object_name(it.operation), WantedFunction { trigger, word, body }))
    };
    trigger.operations.iter().map(write).collect()
}

/// Changes that [`reconcile`] would make, without making them.
/// # Errors
/// The database cannot be asked.
pub async fn plan(
    settings: &Settings,
    triggers: &[CapturedTrigger],
    numbers: WideNumbers,
    leftovers: Leftovers,
    deadline: Instant,
) -> Result<CaptureDifference, Error> {
    compare(settings, triggers, numbers, leftovers, deadline).await.map(|it| it.difference)
}

/// Makes the triggers of a database those of `triggers`, and the tables that they need. Nothing changes where the schema is another
/// server's, or where nothing is wanted and nothing is there.
/// # Errors
/// The database cannot be asked, or the tables cannot be made. A trigger that cannot be made is one of `failed`, or of `delayed`.
pub async fn reconcile(
    settings: &Settings,
    owner: CatalogOwner,
    triggers: &[CapturedTrigger],
    numbers: WideNumbers,
    leftovers: Leftovers,
    deadline: Instant,
) -> Result<CaptureDifference, Error> {
    let is_made = match owner {
        CatalogOwner::Other { .. } => return Ok(CaptureDifference::default()),
        CatalogOwner::Nobody if triggers.is_empty() => return Ok(CaptureDifference::default()),
        CatalogOwner::Nobody => false,
        CatalogOwner::Weir => {
            let rows = ask(settings, IS_CURRENT, deadline).await?;
            rows.first().and_then(|it| it.first()).is_some_and(|it| it.as_deref() == Some("t"))
        }
    };
    if !is_made {
        make_tables(settings, deadline).await?;
    }
    let Comparison { mut difference, wanted, known } =
        compare(settings, triggers, numbers, leftovers, deadline).await?;
    let mut scripts = Vec::new();
    for name in &difference.dropped {
        let sql = format!("DROP FUNCTION IF EXISTS hdb_catalog.{}() CASCADE;", quote_identifier(name));
        let stood = known.get(name).and_then(|it| it.trigger.as_ref());
        let table = stood.map(|(schema, table, _)| (schema.clone(), table.clone()));
        scripts.push(FunctionScript { name: name.clone(), sql, table, trigger: None });
    }
    for name in difference.made.iter().chain(&difference.replaced) {
        if let Some(want) = wanted.get(name) {
            let trigger = want.trigger;
            let has_trigger = known.get(name).is_some_and(|it| stands(it, trigger));
            let table = (!has_trigger).then(|| (trigger.schema.clone(), trigger.table.clone()));
            let sql = write_statements(name, want, known.get(name));
            scripts.push(FunctionScript { name: name.clone(), sql, table, trigger: Some(&trigger.name) });
        }
    }
    run_scripts(settings, &scripts, &mut difference, deadline).await?;
    Ok(difference)
}

/// The statements that make the function `name` and its trigger. A trigger that stands where it should stays.
fn write_statements(name: &str, want: &WantedFunction<'_>, known: Option<&KnownFunction>) -> String {
    let trigger = want.trigger;
    let quoted = quote_identifier(name);
    let table = format!("{}.{}", quote_identifier(&trigger.schema), quote_identifier(&trigger.table));
    let mut script = write_function(name, &want.body);
    script.push_str(";\n");
    if known.is_none_or(|it| !stands(it, trigger)) {
        if let Some((schema, old, _)) = known.and_then(|it| it.trigger.as_ref()) {
            let old = format!("{}.{}", quote_identifier(schema), quote_identifier(old));
            script.push_str(&format!("DROP TRIGGER IF EXISTS {quoted} ON {old};\n"));
        }
        script.push_str(&format!(
            "DROP TRIGGER IF EXISTS {quoted} ON {table};\nCREATE TRIGGER {quoted} AFTER {} ON {table} FOR EACH ROW EXECUTE FUNCTION hdb_catalog.{quoted}();\n",
            want.word
        ));
        if trigger.on_replication {
            script.push_str(&format!("ALTER TABLE {table} ENABLE ALWAYS TRIGGER {quoted};\n"));
        }
    }
    script
}
