//! Aggregates that SQLite lacks: variance, standard deviation, correlation, covariance, and sums of more than 64 bits; and the check of
//! SQLite's own that they are of numbers alone (`weir_of_numbers(sum, greatest)`).
//!
//! Nulls are passed over, of pairs those with a null on either side. What its definition does not say of too few rows is null,
//! as in PostgreSQL.
//!
//! **Cost:** one pass; a few numbers per group.
//! Source: B. P. Welford, "Note on a Method for Calculating Corrected Sums of Squares and Products".

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result};

/// Words on a value that no statistic can take.
pub(crate) const NO_NUMBER: &str = "the stored value is not a number";

/// Registers them.
pub(crate) fn register(connection: &Connection, flags: FunctionFlags) -> Result<()> {
    let spreads = [
        (c"weir_stddev_samp", true, true),
        (c"weir_stddev_pop", false, true),
        (c"weir_var_samp", true, false),
        (c"weir_var_pop", false, false),
    ];
    for (name, sample, root) in spreads {
        connection.create_aggregate_function(name, 1, flags, Spread { sample, root })?;
    }
    for (name, relation) in [(c"weir_corr", Relation::Corr), (c"weir_covar_samp", Relation::CovarSamp)] {
        connection.create_aggregate_function(name, 1, flags, relation)?;
        connection.create_aggregate_function(name, 2, flags, relation)?;
    }
    connection.create_scalar_function(c"weir_of_numbers", 2, flags, |context| match context.get_raw(1) {
        ValueRef::Text(_) | ValueRef::Blob(_) => Err(Error::UserFunctionError(NO_NUMBER.into())),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => context.get::<Value>(0),
    })?;
    connection.create_aggregate_function(c"weir_sum", 1, flags, WideSum)
}

/// The sum of integers, to the last digit. SQLite's own ends the statement where 64 bits are too few.
struct WideSum;

/// State of [`WideSum`].
#[derive(Default)]
struct Total {
    integers: i128,
    /// Sum of the values that are not integers although the column is declared as one.
    others: Option<f64>,
    is_empty: bool,
}

/// Variance, or its root.
struct Spread {
    sample: bool,
    root: bool,
}

/// Relations of two columns. `f(x, y)`, or `f(quote(x) || ',' || quote(y))`, which can be computed over distinct pairs.
#[derive(Clone, Copy)]
enum Relation {
    Corr,
    CovarSamp,
}

/// Sums of deviations from the mean.
#[derive(Default)]
struct Sums {
    count: f64,
    means: [f64; 2],
    squares: [f64; 2],
    products: f64,
}

impl Sums {
    fn add(&mut self, x: f64, y: f64) {
        self.count += 1.0;
        let before = [x - self.means[0], y - self.means[1]];
        for (mean, delta) in self.means.iter_mut().zip(before) {
            *mean += delta / self.count;
        }
        let after = [x - self.means[0], y - self.means[1]];
        for (at, square) in self.squares.iter_mut().enumerate() {
            *square += before[at] * after[at];
        }
        self.products += before[0] * after[1];
    }
}

fn number(value: ValueRef<'_>) -> Result<Option<f64>> {
    match value {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(value) => Ok(Some(value as f64)),
        ValueRef::Real(value) => Ok(Some(value)),
        ValueRef::Text(text) | ValueRef::Blob(text) => digits(&String::from_utf8_lossy(text)).map(Some),
    }
}

fn digits(text: &str) -> Result<f64> {
    let text = text.trim().trim_matches('\'');
    text.parse().map_err(|_| Error::UserFunctionError(NO_NUMBER.into()))
}

impl Aggregate<Sums, Option<f64>> for Spread {
    fn init(&self, _: &mut Context<'_>) -> Result<Sums> {
        Ok(Sums::default())
    }

    fn step(&self, context: &mut Context<'_>, sums: &mut Sums) -> Result<()> {
        if let Some(value) = number(context.get_raw(0))? {
            sums.add(value, 0.0);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, sums: Option<Sums>) -> Result<Option<f64>> {
        let Some(sums) = sums else { return Ok(None) };
        let degrees = if self.sample { sums.count - 1.0 } else { sums.count };
        let variance = (degrees > 0.0).then(|| sums.squares[0] / degrees);
        Ok(variance.map(|it| if self.root { it.sqrt() } else { it }))
    }
}

impl Aggregate<Sums, Option<f64>> for Relation {
    fn init(&self, _: &mut Context<'_>) -> Result<Sums> {
        Ok(Sums::default())
    }

    fn step(&self, context: &mut Context<'_>, sums: &mut Sums) -> Result<()> {
        let (x, y) = if context.len() == 2 {
            (number(context.get_raw(0))?, number(context.get_raw(1))?)
        } else {
            let pair = context.get_raw(0).as_str().unwrap_or_default();
            let side = |it: &str| if it == "NULL" { Ok(None) } else { digits(it).map(Some) };
            let (x, y) = pair.split_once(',').unwrap_or((pair, "NULL"));
            (side(x)?, side(y)?)
        };
        if let (Some(x), Some(y)) = (x, y) {
            sums.add(x, y);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, sums: Option<Sums>) -> Result<Option<f64>> {
        let Some(Sums { count, squares: [first, second], products, .. }) = sums else { return Ok(None) };
        Ok(match self {
            Self::Corr => (first > 0.0 && second > 0.0).then(|| products / (first * second).sqrt()),
            Self::CovarSamp => (count > 1.0).then(|| products / (count - 1.0)),
        })
    }
}

impl Aggregate<Total, Value> for WideSum {
    fn init(&self, _: &mut Context<'_>) -> Result<Total> {
        Ok(Total { is_empty: true, ..Total::default() })
    }

    fn step(&self, context: &mut Context<'_>, total: &mut Total) -> Result<()> {
        match context.get_raw(0) {
            ValueRef::Null => return Ok(()),
            // Cannot overflow: a table has too few rows to exceed 128 bits.
            ValueRef::Integer(value) => total.integers += i128::from(value),
            other => *total.others.get_or_insert(0.0) += number(other)?.unwrap_or_default(),
        }
        total.is_empty = false;
        Ok(())
    }

    /// Digits as text where an integer of SQLite cannot hold them.
    fn finalize(&self, _: &mut Context<'_>, total: Option<Total>) -> Result<Value> {
        let Some(total) = total.filter(|it| !it.is_empty) else { return Ok(Value::Null) };
        Ok(match (total.others, i64::try_from(total.integers)) {
            (Some(others), _) => Value::Real(total.integers as f64 + others),
            (None, Ok(sum)) => Value::Integer(sum),
            (None, Err(_)) => Value::Text(total.integers.to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, expected: Option<f64>) {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection, FunctionFlags::SQLITE_UTF8).unwrap();
        let found: Option<f64> = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(found, expected, "{sql}");
    }

    #[test]
    fn deviations_follow_their_definitions() {
        let of = |function: &str| format!("SELECT {function}(value) FROM json_each('[2,4,4,4,5,5,7,9]')");
        check(&of("weir_stddev_pop"), Some(2.0));
        check(&of("weir_var_pop"), Some(4.0));
        check("SELECT weir_var_samp(value) FROM json_each('[1]')", None);
        check("SELECT weir_stddev_samp(value) FROM json_each('[1,3]')", Some(2_f64.sqrt()));
        check("SELECT weir_var_pop(value) FROM json_each('[]')", None);
    }

    #[test]
    fn a_sum_has_all_its_digits() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection, FunctionFlags::SQLITE_UTF8).unwrap();
        let check = |rows: &str, expected: &str| {
            let sql = format!("SELECT quote(weir_sum(column1)) FROM (VALUES {rows})");
            let found: String = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
            assert_eq!(found, expected, "{rows}");
        };
        check("(9223372036854775807), (NULL), (-1)", "9223372036854775806");
        check("(9223372036854775807), (1)", "'9223372036854775808'");
        check("(-9223372036854775807 - 1), (-9223372036854775807 - 1), (3)", "'-18446744073709551613'");
        check("(9223372036854775807), (9223372036854775807), (-9223372036854775807)", "9223372036854775807");
        check("(NULL)", "NULL");
        check("(1), (0.5)", "1.5");
        let none = "SELECT weir_sum(column1) FROM (VALUES (1)) WHERE 0";
        assert_eq!(connection.query_row(none, [], |row| row.get::<_, Value>(0)).unwrap(), Value::Null);
    }

    #[test]
    fn pairs_follow_their_definitions_and_may_be_distinct() {
        let pairs = |rows: &str| format!("FROM (SELECT column1 AS x, column2 AS y FROM (VALUES {rows}))");
        let from = pairs("(1, 2), (2, 4), (3.5, 7), (NULL, 1), (1, NULL)");
        check(&format!("SELECT weir_corr(x, y) {from}"), Some(1.0));
        let from = pairs("(1, 10), (2, 8.0), (3, 12)");
        check(&format!("SELECT weir_covar_samp(x, y) {from}"), Some(1.0));
        let from = pairs("(1, 10), (1, 10), (2, 8.0), (3, 12), (3, NULL), (3, NULL)");
        check(&format!("SELECT weir_covar_samp(DISTINCT quote(x) || ',' || quote(y)) {from}"), Some(1.0));
        check(&format!("SELECT weir_corr(x, y) {}", pairs("(1, 1), (1, 2)")), None);
        check(&format!("SELECT weir_covar_samp(x, y) {}", pairs("(1, 1)")), None);
    }
}
