//! SQL functions that SQLite lacks, registered on every connection: patterns, regular expressions, JSON; aggregates are in
//! `statistics`.
//!
//! `weir_like` is case-sensitive and `weir_ilike` folds case for all of Unicode, as PostgreSQL's operators do; SQLite's
//! own `LIKE` does neither. Patterns are compiled once per run of a statement (`pattern`).

pub mod binary_json;
mod check_functions;
mod json_canonical;
mod json_contains;
pub(crate) mod json_edit;
mod json_writer;
mod like;
pub mod pattern;
mod statistics;
pub(crate) mod steps;
pub mod stored_forms;

use crate::functions::json_contains::contains;
use crate::functions::pattern::{BadPattern, Kind, Pattern, Unmatched};
use crate::functions::steps::{IsOver, Steps, Stopped};
use crate::functions::stored_forms::{given_document, given_text as text, unhex};
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};
use std::sync::Arc;
use weir_relational::values::geometry::{Geometry, Placed};
use weir_relational::values::{text_search, word_form};

const FLAGS: FunctionFlags = FunctionFlags::SQLITE_UTF8
    .union(FunctionFlags::SQLITE_DETERMINISTIC)
    .union(FunctionFlags::SQLITE_INNOCUOUS);

/// Registers the functions whose work grows with a stored value times an argument: they stop when `is_over` says so.
pub(crate) fn register_long(connection: &Connection, is_over: &IsOver) -> Result<()> {
    let patterns = [
        (c"weir_like", Kind::Like, false, Excess::Error),
        (c"weir_ilike", Kind::Like, true, Excess::Error),
        (c"weir_similar", Kind::Similar, false, Excess::Error),
        (c"weir_regex", Kind::Regex, false, Excess::Error),
        (c"weir_iregex", Kind::Regex, true, Excess::Error),
        (c"weir_try_regex", Kind::Regex, false, Excess::NoMatch),
        (c"weir_try_iregex", Kind::Regex, true, Excess::NoMatch),
    ];
    for (name, kind, fold, excess) in patterns {
        let is_over = IsOver::clone(is_over);
        let fits = move |context: &Context<'_>| matches(context, kind, fold, excess, &*is_over);
        connection.create_scalar_function(name, 2, FLAGS, fits)?;
    }
    let is_over = IsOver::clone(is_over);
    connection.create_scalar_function(c"weir_json_contains", 2, FLAGS, move |context| {
        match (given_document(context.get_raw(0)), given_document(context.get_raw(1))) {
            (Some(whole), Some(part)) => Ok(contains(&whole, &part, &mut Steps::new(&*is_over))?),
            _ => Ok(None),
        }
    })
}

/// Registers all functions; no statement is stopped within one, unless [`register_long`] says when.
pub(crate) fn register(connection: &Connection) -> Result<()> {
    let never: IsOver = Arc::new(|| false);
    register_long(connection, &never)?;
    let flags = FLAGS;
    let places = [
        (c"weir_near", Placed::Near),
        (c"weir_within", Placed::Within),
        (c"weir_contains", Placed::Contains),
        (c"weir_intersects", Placed::Intersects),
    ];
    for (name, placed) in places {
        connection.create_scalar_function(name, -1, flags, move |context| is_placed(context, placed))?;
    }
    for (side, name) in [c"weir_west", c"weir_south", c"weir_east", c"weir_north"].into_iter().enumerate() {
        connection.create_scalar_function(name, -1, flags, move |context| {
            let metres = if context.len() > 1 { context.get(1)? } else { 0.0 };
            Ok(Geometry::read(&context.get::<String>(0)?).reach(metres)[side])
        })?;
    }
    connection.create_scalar_function(c"weir_sequence", 2, flags, |context| {
        let asked = context.get_or_create_aux(0, |value| -> Result<Vec<String>, BadPattern> {
            Ok(text_search::stems(value.as_str().unwrap_or_default()))
        })?;
        Ok(text(context.get_raw(1)).map(|text| text_search::follow(&text, &asked)))
    })?;
    connection.create_scalar_function(c"weir_words", 1, flags, |context| {
        Ok(text(context.get_raw(0)).map(|text| word_form::fold(&text).into_owned()))
    })?;
    connection.create_scalar_function(c"weir_json", 1, flags, |context| {
        Ok(given_document(context.get_raw(0)).and_then(|document| json_canonical::canonical(&document)))
    })?;
    connection.create_scalar_function(c"weir_unhex", 1, flags, |context| {
        Ok(text(context.get_raw(0)).and_then(|digits| unhex(&digits)))
    })?;
    connection.create_scalar_function(c"weir_add", 3, flags, add)?;
    edits(connection, flags)?;
    check_functions::register(connection)?;
    stored_forms::register(connection, flags)?;
    statistics::register(connection, flags)
}

/// Reasons why a sum is refused: the column's type cannot hold it, or a value is no number.
pub(crate) const SUM_COMPLAINTS: [&str; 3] =
    ["integer out of range", "number out of range", statistics::NO_NUMBER];

/// The sum of two numbers, of integers held to so many bits where they are given. SQLite's own `+` would go on in floating point
/// where an integer is meant, and to infinity.
fn add(context: &Context<'_>) -> Result<Option<Number>> {
    let [integer_range, range, no_number] =
        SUM_COMPLAINTS.map(|words| || Error::UserFunctionError(words.into()));
    let left = context.get_raw(0);
    let right = context.get_raw(1);
    let bits = context.get::<Option<u32>>(2)?.map(|it| it.clamp(1, 64));
    match (left, right, bits) {
        (ValueRef::Null, ..) | (_, ValueRef::Null, _) => return Ok(None),
        (ValueRef::Integer(left), ValueRef::Integer(right), Some(bits)) => {
            let least = i64::MIN >> (64 - bits);
            let sum = left.checked_add(right).filter(|sum| (least..=!least).contains(sum));
            return sum.map(|it| Some(Number::Int(it))).ok_or_else(integer_range);
        }
        (ValueRef::Integer(left), ValueRef::Integer(right), None) => {
            if let Some(sum) = left.checked_add(right) {
                return Ok(Some(Number::Int(sum)));
            }
        }
        _ => {}
    }
    let (left, right) = real(left).zip(real(right)).ok_or_else(no_number)?;
    let sum = left + right;
    if sum.is_finite() { Ok(Some(Number::Real(sum))) } else { Err(range()) }
}

/// A number, also one that is stored as text.
fn real(value: ValueRef<'_>) -> Option<f64> {
    text(value)?.trim().parse().ok()
}

enum Number {
    Int(i64),
    Real(f64),
}

impl rusqlite::ToSql for Number {
    fn to_sql(&self) -> Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(match self {
            Self::Int(value) => (*value).into(),
            Self::Real(value) => (*value).into(),
        })
    }
}

/// JSON made of JSON; null if one side is null.
fn edits(connection: &Connection, flags: FunctionFlags) -> Result<()> {
    type Edit = fn(&str, &str) -> std::result::Result<String, &'static str>;
    let by_place: Edit = |document, place| {
        place
            .parse()
            .map_or_else(|_| Ok(document.to_owned()), |place| json_edit::delete_elem(document, place))
    };
    let edits: [(_, Edit); 4] = [
        (c"weir_json_concat", json_edit::concat),
        (c"weir_json_delete_key", json_edit::delete_key),
        (c"weir_json_delete_elem", by_place),
        (c"weir_json_delete_path", json_edit::delete_path),
    ];
    for (name, edit) in edits {
        connection.create_scalar_function(name, 2, flags, move |context| {
            match (given_document(context.get_raw(0)), given_document(context.get_raw(1))) {
                (Some(old), Some(with)) => {
                    edit(&old, &with).map(Some).map_err(|words| Error::UserFunctionError(words.into()))
                }
                _ => Ok(None),
            }
        })?;
    }
    Ok(())
}

/// `weir_near(place, metres, longitude, latitude)`, `weir_within(place, coordinates)` and the like.
fn is_placed(context: &Context<'_>, placed: Placed) -> Result<Option<bool>> {
    let other = context.get_or_create_aux(0, |value| -> Result<Geometry, BadPattern> {
        Ok(Geometry::read(value.as_str().unwrap_or_default()))
    })?;
    let number = |at: usize| match context.get_raw(at) {
        ValueRef::Integer(value) => Some(value as f64),
        ValueRef::Real(value) => Some(value),
        ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => None,
    };
    let (first, metres) = match placed {
        Placed::Near => (2, number(1).unwrap_or(0.0)),
        Placed::Within | Placed::Contains | Placed::Covers | Placed::Intersects => (1, 0.0),
    };
    let own = match context.len() - first {
        1 => text(context.get_raw(first)).map(|it| Geometry::read(&it)),
        _ => number(first).zip(number(first + 1)).map(|(x, y)| Geometry::point([x, y])),
    };
    Ok(own.map(|it| it.is(placed, &other, metres)))
}

/// Result for a text on which a pattern takes too many steps.
#[derive(Clone, Copy)]
enum Excess {
    /// The statement fails.
    Error,
    /// The text does not match: an error would reveal it.
    NoMatch,
}

fn matches(
    context: &Context<'_>,
    kind: Kind,
    fold: bool,
    excess: Excess,
    is_over: &dyn Fn() -> bool,
) -> Result<Option<bool>> {
    let compiled = context.get_or_create_aux(0, |value| -> Result<Pattern, BadPattern> {
        let pattern = value.as_str().map_err(|_| BadPattern("a pattern has to be a text".into()))?;
        Pattern::compile(pattern, kind, fold)
    })?;
    let Some(text) = text(context.get_raw(1)) else { return Ok(None) };
    match (compiled.is_match(&text, &mut Steps::new(is_over)), excess) {
        (Ok(fits), _) => Ok(Some(fits)),
        (Err(Unmatched::Stopped), _) => Err(Stopped.into()),
        (Err(Unmatched::Excess(_)), Excess::NoMatch) => Ok(Some(false)),
        (Err(Unmatched::Excess(error)), Excess::Error) => Err(Error::UserFunctionError(error.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Watch;
    use std::time::{Duration, Instant};

    fn check(sql: &str, expected: &str) {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let shown = connection.query_row(sql, [], |row| {
            Ok(match row.get_ref(0)? {
                ValueRef::Null => "null".to_owned(),
                ValueRef::Integer(value) => value.to_string(),
                ValueRef::Real(value) => value.to_string(),
                ValueRef::Text(_) | ValueRef::Blob(_) => "text".to_owned(),
            })
        });
        assert_eq!(shown.unwrap_or_else(|error| error.to_string()), expected, "{sql}");
    }

    #[test]
    fn patterns_match_as_in_postgresql() {
        check("SELECT weir_like('a%', 'abc')", "1");
        check("SELECT weir_like('A%', 'abc')", "0");
        check("SELECT weir_like('a_c', 'abc')", "1");
        check("SELECT weir_like('a', 'abc')", "0");
        check("SELECT weir_like('100\\%', '100%')", "1");
        check("SELECT weir_like('a.c', 'abc')", "0");
        check("SELECT weir_ilike('ÄB%', 'äbc')", "1");
        check("SELECT weir_like('a%', NULL)", "null");
        check("SELECT weir_like('%b%', 'a' || char(10) || 'b')", "1");
        check("SELECT weir_similar('(ab|cd)%', 'cdx')", "1");
        check("SELECT weir_similar('[a-c]_', 'bx')", "1");
        check("SELECT weir_similar('[a-c]_', '-x')", "0");
        check("SELECT weir_similar('[^a-c]', 'b')", "0");
        check("SELECT weir_similar('[%_.]', 'x')", "0");
        check("SELECT weir_similar('[]x]', ']')", "1");
        check("SELECT weir_similar('[[:digit:]x]+', '1x2')", "1");
        check("SELECT weir_similar('[a\\-c]', 'b')", "0");
        check("SELECT weir_regex('^b', 'abc')", "0");
        check("SELECT weir_iregex('B', 'abc')", "1");
        check("SELECT weir_like('5%', 51)", "1");
        check("SELECT weir_sequence('DEN fluß', 'über den Fluß')", "1");
        check("SELECT weir_sequence('ber den', 'über den Fluß')", "0");
        check("SELECT weir_sequence('house', NULL)", "null");
        check("SELECT weir_sequence('Running the dogs', 'who runs dogs')", "1");
        check("SELECT weir_sequence('the', 'the house')", "0");
    }

    #[test]
    fn a_function_is_stopped_at_the_deadline() {
        let mut connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let watch = Watch::attach(&mut connection, Duration::from_secs(60)).unwrap();
        watch.set(Some(Instant::now()), None);
        // One call each: no step of SQLite's machine ends between its start and its end.
        let objects: Vec<String> = (0..600).map(|it| format!("{{\"a\":{it}}}")).collect();
        let whole = objects.join(",");
        let part = objects.iter().rev().cloned().collect::<Vec<_>>().join(",");
        for (sql, given) in [
            ("SELECT weir_json_contains(?1, ?2)", [format!("[{whole}]"), format!("[{part}]")]),
            ("SELECT weir_like(?2, ?1)", ["a".repeat(1 << 16), format!("%{}b%", "_a".repeat(1000))]),
        ] {
            let stopped = connection.query_row(sql, given, |row| row.get::<_, Option<bool>>(0));
            let code = stopped.map_err(|it| it.sqlite_error_code());
            assert_eq!(code, Err(Some(rusqlite::ErrorCode::OperationInterrupted)), "{sql}");
        }
    }

    #[test]
    fn a_bad_pattern_is_an_error_in_words() {
        let invalid = |cause: &str| format!("invalid regular expression: {cause}");
        check("SELECT weir_regex('(', 'abc')", &invalid("unclosed group, at byte 0"));
        check("SELECT weir_similar('[z-a]', 'b')", "invalid regular expression");
        check("SELECT weir_similar('[a', 'a')", "invalid regular expression");
        check("SELECT weir_similar('(?i)a', 'A')", "invalid regular expression");
        check("SELECT weir_like('a\\', 'abc')", "LIKE pattern must not end with escape character");
        check("SELECT weir_regex('(a{1000}){1000}', 'abc')", "the pattern is too long");
        check("SELECT weir_like(printf('%.*c', 40000, '%'), 'abc')", "the pattern is too long");
    }

    #[test]
    fn integers_are_added_within_their_type() {
        check("SELECT weir_add(2, 3, 32)", "5");
        check("SELECT weir_add(NULL, 3, 32)", "null");
        check("SELECT weir_add(2147483647, 1, 32)", "integer out of range");
        check("SELECT weir_add(-2147483647, -1, 32)", "-2147483648");
        check("SELECT weir_add(9223372036854775807, 1, 64)", "integer out of range");
        check("SELECT weir_add(9223372036854775806, 1, 64)", "9223372036854775807");
        check("SELECT weir_add(1.5, 1, 32)", "2.5");
    }
}
