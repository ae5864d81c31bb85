//! Expressions of SQLite that write values and rows as JSON text.
//!
//! They use functions of SQLite 3.38 only, and none that can fail or that takes a blob for JSON: `json_object` does both, depends on
//! how a text was made, rounds numbers and is bounded to 63 columns in the libraries of other programs. Source: what SQLite 3.40,
//! 3.51 and 3.54 do.
//!
//! **Invariant:** whatever is stored, the expression gives a valid JSON text.

use weir_language::json::quote;
use weir_relational::catalog::facts::Cell;
use weir_relational::quoting::{literal, quote_identifier};

/// Largest number of expressions that one chain of `||` or `OR` holds: SQLite bounds the depth of expressions to 1000.
const CHAIN_MAX: usize = 16;

/// Joins `parts` by `operator` to a tree without long chains.
pub(super) fn join_balanced(mut parts: Vec<String>, operator: &str) -> String {
    let join = |chunk: &[String]| match chunk {
        [one] => one.clone(),
        several => format!("({})", several.join(operator)),
    };
    while parts.len() > CHAIN_MAX {
        parts = parts.chunks(CHAIN_MAX).map(join).collect();
    }
    parts.join(operator)
}

/// The expression of the JSON object of `columns` of the row `row`, which is `OLD` or `NEW`.
pub(super) fn row<'c>(row: &str, columns: impl Iterator<Item = (&'c str, Cell)>) -> String {
    let mut parts = Vec::new();
    for (name, cell) in columns {
        let mut key = if parts.is_empty() { "{".to_owned() } else { ",".to_owned() };
        quote(name, &mut key);
        key.push(':');
        parts.push(format!(
            "{} || {}",
            literal(&key),
            value(&format!("{row}.{}", quote_identifier(name)), cell)
        ));
    }
    if parts.is_empty() {
        return "'{}'".to_owned();
    }
    format!("{} || '}}'", join_balanced(parts, " || "))
}

/// The expression of the JSON array of `columns` of the row `row`.
pub(super) fn list<'c>(row: &str, columns: impl Iterator<Item = (&'c str, Cell)>) -> String {
    let value = |(name, cell)| value(&format!("{row}.{}", quote_identifier(name)), cell);
    let values: Vec<String> = columns.map(value).collect();
    format!("'[' || {} || ']'", join_balanced(values, " || ',' || "))
}

/// The expression of the JSON of `expression`, as the API writes values of `cell`.
fn value(expression: &str, cell: Cell) -> String {
    let e = expression;
    let integer = match cell {
        Cell::Boolean => {
            format!("CASE {e} WHEN 0 THEN 'false' WHEN 1 THEN 'true' ELSE CAST({e} AS TEXT) END")
        }
        Cell::Text | Cell::Capitals | Cell::Uuid | Cell::Bytes => {
            format!("'\"' || CAST({e} AS TEXT) || '\"'")
        }
        Cell::Int | Cell::BigInt | Cell::Float | Cell::Numeric | Cell::Id | Cell::Json => {
            format!("CAST({e} AS TEXT)")
        }
    };
    format!(
        "CASE typeof({e}) WHEN 'null' THEN 'null' WHEN 'integer' THEN {integer} WHEN 'real' THEN {} WHEN 'text' THEN {} ELSE {} END",
        real(e, cell),
        text(e, cell),
        blob(e, cell),
    )
}

/// Digits of a number: 15 where they read back as the same number, else 17. Infinities are the texts that PostgreSQL's JSON has.
fn real(e: &str, cell: Cell) -> String {
    let digits = format!(
        "CASE WHEN CAST(printf('%!.15g', {e}) AS REAL) = {e} THEN printf('%!.15g', {e}) ELSE printf('%!.17g', {e}) END"
    );
    let digits = match cell {
        Cell::Text | Cell::Capitals | Cell::Uuid | Cell::Bytes => format!("'\"' || {digits} || '\"'"),
        Cell::Int | Cell::BigInt | Cell::Float | Cell::Numeric | Cell::Id | Cell::Boolean | Cell::Json => {
            digits
        }
    };
    // An infinity is the only number that stays as it is when half of it is taken.
    format!(
        "CASE WHEN {e} <> 0 AND {e} = {e} / 2 THEN CASE WHEN {e} > 0 THEN '\"Infinity\"' ELSE '\"-Infinity\"' END ELSE {digits} END"
    )
}

/// A concatenation takes the mark off that functions of JSON leave on their results.
fn text(e: &str, cell: Cell) -> String {
    let plain = format!("({e} || '')");
    let quoted = format!("json_quote{plain}");
    match cell {
        Cell::Json => format!("CASE WHEN json_valid{plain} THEN {plain} ELSE {quoted} END"),
        Cell::Float | Cell::Numeric => format!(
            "CASE WHEN CASE WHEN json_valid{plain} THEN json_type{plain} END IN ('integer', 'real') THEN {plain} ELSE {quoted} END"
        ),
        Cell::Boolean => format!(
            "CASE lower({e}) WHEN 'true' THEN 'true' WHEN 't' THEN 'true' WHEN 'false' THEN 'false' WHEN 'f' THEN 'false' ELSE {quoted} END"
        ),
        Cell::Bytes => hex(e),
        Cell::Int | Cell::BigInt | Cell::Id | Cell::Text | Cell::Capitals | Cell::Uuid => quoted,
    }
}

fn blob(e: &str, cell: Cell) -> String {
    match cell {
        Cell::Uuid => {
            let part = |from: u32, length: u32| format!("substr(lower(hex({e})), {from}, {length})");
            let uuid = [part(1, 8), part(9, 4), part(13, 4), part(17, 4), part(21, 12)].join(" || '-' || ");
            format!("CASE WHEN length({e}) = 16 THEN '\"' || {uuid} || '\"' ELSE {} END", hex(e))
        }
        Cell::Int
        | Cell::BigInt
        | Cell::Float
        | Cell::Numeric
        | Cell::Id
        | Cell::Boolean
        | Cell::Text
        | Cell::Capitals
        | Cell::Json
        | Cell::Bytes => hex(e),
    }
}

/// Bytes as the API writes them: `"\\x00ff"`.
fn hex(e: &str) -> String {
    format!("'\"\\\\x' || lower(hex({e})) || '\"'")
}
