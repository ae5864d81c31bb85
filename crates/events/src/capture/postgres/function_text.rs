//! The function that a trigger of PostgreSQL runs.
//!
//! It compares and writes JSON in a block of its own, whose errors give an event with what can be told: texts instead of JSON that
//! `jsonb` does not take; the row without the columns that are gone, where one was renamed or dropped; else nulls. The block writes nothing, so it takes no transaction number. Settings of the writer that texts
//! depend on are fixed, names are qualified, and the table's name is a constant, as a partition has another one.
//!
//! **Invariant:** nothing of it fails the statement that fires the trigger.

use super::describe::{DescribedColumn, DescribedTable};
use super::sql_literal::literal;
use crate::trigger::{CapturedOperation, CapturedTrigger, Operation};
use weir_metadata::document::permission::Columns;
use weir_relational::quoting::quote_identifier;

/// Form of numbers of more than 53 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WideNumbers {
    /// Numbers of JSON.
    Numbers,
    /// Texts, as `stringify_numeric_types` wants them.
    Texts,
}

/// The text between the quotes of the function of `operation`.
/// # Errors
/// A column that does not exist, or a table without a primary key that needs one.
pub(super) fn write_body(
    trigger: &CapturedTrigger,
    operation: &CapturedOperation,
    table: &DescribedTable,
    numbers: WideNumbers,
) -> Result<String, String> {
    let CapturedOperation { operation: kind, listened, payload } = operation;
    let told = choose(table, payload, &trigger.table)?;
    let is_whole = *payload == Columns::All;
    let row = |name: &str, is_there: bool, write: &dyn Fn(&str) -> String| {
        if is_there { write(name) } else { "NULL::jsonb".to_owned() }
    };
    let exact = |name: &str| row_json(name, &told, is_whole, numbers);
    let safe = |name: &str| safe_row_json(name, &told, numbers);
    let left = |name: &str| left_row_json(name, &told, is_whole);
    let data = |write: &dyn Fn(&str) -> String| {
        let old = row("OLD", kind.has_old(), write);
        let new = row("NEW", kind.has_new(), write);
        format!("jsonb_build_object('old', {old}, 'new', {new})")
    };
    let (test, image_test) = match kind {
        Operation::Update => {
            let listened_columns = choose(table, listened, &trigger.table)?;
            let is_all = *listened == Columns::All;
            let same = |it: String| format!("    IF NOT ({it}) THEN RETURN NULL; END IF;\n");
            let image = if is_all { "OLD *<> NEW".to_owned() } else { differ_as_images(&listened_columns) };
            (same(change_test(&listened_columns, is_all)), same(image))
        }
        Operation::Insert | Operation::Delete => (String::new(), String::new()),
    };
    let key = if trigger.is_ordered { row_key(*kind, table, &trigger.table)? } else { "NULL".to_owned() };
    let image_test = image_test.replace("    IF", "      IF");
    Ok(format!(
        "
#variable_conflict use_column
DECLARE
  weir_data jsonb;
  weir_row text;
BEGIN
  BEGIN
{test}    weir_data := {exact};
    weir_row := {key};
  EXCEPTION WHEN OTHERS THEN
    BEGIN
{image_test}      weir_data := {safe};
    EXCEPTION WHEN OTHERS THEN
      BEGIN
        weir_data := {left};
      EXCEPTION WHEN OTHERS THEN
        weir_data := '{{\"old\": null, \"new\": null}}';
      END;
    END;
  END;
  IF to_regclass('hdb_catalog.event_log') IS NULL THEN
    RETURN NULL;
  END IF;
  INSERT INTO hdb_catalog.event_log (schema_name, table_name, trigger_name, payload, created_at, weir_key)
  VALUES ({schema}, {table}, {name}, jsonb_build_object('op', '{op}', 'data', weir_data,
    'session_variables', hdb_catalog.weir_setting('hasura.user'),
    'trace_context', hdb_catalog.weir_setting('hasura.tracecontext')), clock_timestamp() AT TIME ZONE 'UTC', weir_row);
  RETURN NULL;
END ",
        exact = data(&exact),
        safe = data(&safe),
        left = data(&left),
        schema = literal(&trigger.schema),
        table = literal(&trigger.table),
        name = literal(&trigger.name),
        op = kind.word(),
    ))
}

/// The statement that makes the function `name` with `body`.
pub(super) fn write_function(name: &str, body: &str) -> String {
    format!(
        "CREATE OR REPLACE FUNCTION hdb_catalog.{}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER \
         SET search_path = pg_catalog, pg_temp SET \"TimeZone\" = 'UTC' SET \"DateStyle\" = 'ISO, MDY' SET \"IntervalStyle\" = 'postgres' \
         SET bytea_output = 'hex' SET extra_float_digits = 1 AS {}",
        quote_identifier(name),
        literal(body)
    )
}

/// The columns that `chosen` names, in the table's order.
fn choose<'t>(
    table: &'t DescribedTable,
    chosen: &Columns,
    name: &str,
) -> Result<Vec<&'t DescribedColumn>, String> {
    let Columns::Listed(names) = chosen else { return Ok(table.columns.iter().collect()) };
    if let Some(missing) = names.iter().find(|name| !table.columns.iter().any(|it| it.name == **name)) {
        return Err(format!("column \"{missing}\" does not exist in table \"{name}\""));
    }
    Ok(table.columns.iter().filter(|it| names.contains(&it.name)).collect())
}

/// The value of a column as it is selected from the row `weir_o`.
fn selected(column: &DescribedColumn, numbers: WideNumbers) -> String {
    let name = quote_identifier(&column.name);
    if let Some(expression) = &column.expression {
        return format!("({expression}) AS {name}");
    }
    if let Some(schema) = &column.geography {
        return format!("{}.st_asgeojson(weir_o.{name})::jsonb AS {name}", quote_identifier(schema));
    }
    if column.is_wide_number && numbers == WideNumbers::Texts {
        return format!("weir_o.{name}::text AS {name}");
    }
    format!("weir_o.{name}")
}

/// A query of `columns` of the row `row`.
fn row_query(row: &str, columns: &[&DescribedColumn], numbers: WideNumbers) -> String {
    let list: Vec<String> = columns.iter().map(|it| selected(it, numbers)).collect();
    format!("(SELECT {} FROM (SELECT {row}.*) AS weir_o) AS weir_r", list.join(", "))
}

/// The JSON of the row `row`. A whole row has columns that come later, too.
fn row_json(row: &str, columns: &[&DescribedColumn], is_whole: bool, numbers: WideNumbers) -> String {
    let is_plain = |it: &&DescribedColumn| {
        it.expression.is_none()
            && it.geography.is_none()
            && !(it.is_wide_number && numbers == WideNumbers::Texts)
    };
    if is_whole && columns.iter().all(is_plain) {
        return format!("to_jsonb({row})");
    }
    format!("(SELECT to_jsonb(weir_r) FROM {})", row_query(row, columns, numbers))
}

/// The JSON of the row `row`, with texts and nulls in place of values that are no JSON.
fn safe_row_json(row: &str, columns: &[&DescribedColumn], numbers: WideNumbers) -> String {
    let pair = |it: &&DescribedColumn| {
        format!("({}, hdb_catalog.weir_value(weir_r.{}))", literal(&it.name), quote_identifier(&it.name))
    };
    let pairs: Vec<String> = columns.iter().map(pair).collect();
    format!(
        "(SELECT jsonb_object_agg(weir_p.k, weir_p.v) FROM {} CROSS JOIN LATERAL (VALUES {}) AS weir_p(k, v))",
        row_query(row, columns, numbers),
        pairs.join(", ")
    )
}

/// The JSON of what is left of `columns` in the row `row`, or of the whole row.
fn left_row_json(row: &str, columns: &[&DescribedColumn], is_whole: bool) -> String {
    if is_whole {
        return format!("to_jsonb({row})");
    }
    let names: Vec<String> = columns.iter().map(|it| literal(&it.name)).collect();
    format!(
        "(SELECT coalesce(jsonb_object_agg(weir_e.key, weir_e.value), '{{}}') FROM jsonb_each(to_jsonb({row})) AS weir_e WHERE weir_e.key IN ({}))",
        names.join(", ")
    )
}

/// A record of `columns` of the row `row`.
fn record(row: &str, columns: &[&DescribedColumn]) -> String {
    // The change of what a column is computed from is a change of it.
    let list: Vec<String> = columns
        .iter()
        .map(|it| match &it.expression {
            Some(expression) => format!("({expression}) AS {}", quote_identifier(&it.name)),
            None => format!("weir_o.{}", quote_identifier(&it.name)),
        })
        .collect();
    format!("(SELECT weir_r FROM (SELECT {} FROM (SELECT {row}.*) AS weir_o) AS weir_r)", list.join(", "))
}

fn differ_as_images(columns: &[&DescribedColumn]) -> String {
    format!("{} *<> {}", record("OLD", columns), record("NEW", columns))
}

/// True if `columns` differ: compared as records, or as images where a type has no order.
fn change_test(columns: &[&DescribedColumn], is_all: bool) -> String {
    let (comparable, others): (Vec<_>, Vec<_>) = columns.iter().copied().partition(|it| it.is_comparable);
    let by_value = if is_all && others.is_empty() {
        "OLD IS DISTINCT FROM NEW".to_owned()
    } else {
        format!("{} IS DISTINCT FROM {}", record("OLD", &comparable), record("NEW", &comparable))
    };
    match (comparable.is_empty(), others.is_empty()) {
        (true, _) => differ_as_images(&others),
        (false, true) => by_value,
        (false, false) => format!("{by_value} OR {}", differ_as_images(&others)),
    }
}

/// The row of an event: the primary key, of an update the one that the row had.
fn row_key(operation: Operation, table: &DescribedTable, name: &str) -> Result<String, String> {
    let mut keys: Vec<&DescribedColumn> = table.columns.iter().filter(|it| it.key_place > 0).collect();
    keys.sort_by_key(|it| it.key_place);
    if keys.is_empty() {
        return Err(format!("`ordered` needs a primary key, and the table \"{name}\" has none"));
    }
    let row = if operation.has_old() { "OLD" } else { "NEW" };
    let values: Vec<String> =
        keys.iter().map(|it| format!("{row}.{}::text", quote_identifier(&it.name))).collect();
    Ok(format!("jsonb_build_array({})::text", values.join(", ")))
}
