//! SQLite's way of writing. What it lacks are functions registered on each connection, named `weir_…`.
//!
//! Lists are bound as one JSON text and opened by `json_each`, so one statement fits every length.

use super::sqlite_comparison::{column_cell, comparison, item_cell};
use super::{Dialect, EACH_WORD, Place, Side, sqlite_storage};
use crate::catalog::Storage;
use crate::catalog::facts::Cell;
use crate::plan::Reader;
use crate::plan::operators::{Aggregation, Cast, Comparison, Statistic};
use crate::plan::write::Operator;
use crate::values::geometry::Placed;
use crate::values::text_search::Words;

/// SQLite 3.38 or later.
#[derive(Clone, Copy, Debug)]
pub struct Sqlite {
    /// A text of digits as bytes are given, such as `\x00ff`, also stands for the bytes in a column of texts. An index finds one form
    /// in order, so only statements with such a text are written so.
    finds_bytes: bool,
}

impl Sqlite {
    /// The dialect of most statements.
    pub const USUAL: Self = Self { finds_bytes: false };
    /// The dialect of statements whose texts may stand for bytes in columns of texts.
    pub const OF_BYTES: Self = Self { finds_bytes: true };
}

impl Dialect for Sqlite {
    fn table(&self, out: &mut String, schema: &str, name: &str) {
        if !schema.is_empty() && schema != "main" {
            self.identifier(out, schema);
            out.push('.');
        }
        self.identifier(out, name);
    }

    fn placeholder(&self, number: usize) -> String {
        format!("?{number}")
    }

    fn page(&self, out: &mut String, limit: Option<&str>, offset: Option<&str>) {
        if limit.is_none() && offset.is_none() {
            return;
        }
        out.push_str(" LIMIT ");
        out.push_str(limit.unwrap_or("-1"));
        if let Some(offset) = offset {
            out.push_str(" OFFSET ");
            out.push_str(offset);
        }
    }

    fn compare(&self, out: &mut String, left: &str, by: Comparison, right: Side<'_>) {
        let value = right.placeholder;
        if *right.reader == Reader::Sequence {
            return out.push_str(&format!("weir_sequence({value}, {left})"));
        }
        if let Some(text) = sqlite_storage::compare(left, by, &right, self.finds_bytes) {
            return out.push_str(&text);
        }
        // A bare expression has no affinity, so digits bound as text would be compared as text.
        let numeric = matches!(column_cell(right.reader), Some(Cell::Numeric | Cell::Float));
        let cast = format!("CAST({value} AS NUMERIC)");
        let value = if right.bare && numeric { &cast } else { value };
        // Equal documents may be written differently.
        let canonical_left = format!("weir_json({left})");
        let canonical = format!("weir_json({value})");
        let json = [column_cell(right.reader), item_cell(right.reader)].contains(&Some(Cell::Json));
        let (left, value) = match by {
            Comparison::Gt | Comparison::Gte | Comparison::Lt | Comparison::Lte
                if right.storage == Storage::Documents =>
            {
                (canonical_left.as_str(), canonical.as_str())
            }
            Comparison::Eq | Comparison::Neq if json => (canonical_left.as_str(), canonical.as_str()),
            Comparison::In | Comparison::Nin if json => (canonical_left.as_str(), value),
            _ => (left, value),
        };
        out.push_str(&comparison(left, by, value, &right));
    }

    fn comparable(&self, value: String, storage: Storage) -> String {
        sqlite_storage::comparable(value, storage)
    }

    fn match_storage(&self, value: String, old: &str, storage: Storage) -> String {
        sqlite_storage::match_storage(value, old, storage, self.finds_bytes)
    }

    fn tie_condition(&self, left: &str, value: &str, storage: Storage) -> String {
        sqlite_storage::tie_condition(left, value, storage)
    }

    fn seal_policy(&self, policy: &str) -> String {
        // SQLite puts the value that a column equals in place of the column everywhere, which may be one that a client demands: then the
        // policy would be true of every row. It does not look into a subquery.
        format!("(SELECT {policy})")
    }

    fn without_indexes(&self) -> &'static str {
        " NOT INDEXED"
    }

    fn cast(&self, of: String, _ty: u32, _to: Cast) -> String {
        format!("weir_document_text({of})")
    }

    fn word_test(&self, out: &mut String, [key, _]: [&str; 2], indexes: &[Box<str>], _: Words, words: &str) {
        if words != EACH_WORD {
            return self.append_index_test(out, key, indexes, |index| {
                format!("rowid FROM {index} WHERE {index} MATCH {words}")
            });
        }
        // The words of a list differ by row, so SQLite would search all rows of each word again for each row of the list.
        for (at, index) in indexes.iter().enumerate() {
            let mut name = String::new();
            self.identifier(&mut name, index);
            out.push_str(if at == 0 { "(" } else { " OR " });
            out.push_str(&format!(
                "EXISTS (SELECT 1 FROM {name} WHERE {name}.rowid = {key} AND {name} MATCH {words})"
            ));
        }
        out.push(')');
    }

    fn each_word(&self, list: &str) -> String {
        format!("json_each({list}) AS word")
    }

    fn place(&self, out: &mut String, place: &Place<'_>) {
        let name = match place.by {
            Placed::Near => "near",
            Placed::Within => "within",
            Placed::Contains | Placed::Covers => "contains",
            Placed::Intersects => "intersects",
        };
        let with = place.with.join(", ");
        let exact = format!("weir_{name}({with}, {})", place.of.join(", "));
        if place.indexes.is_empty() {
            return out.push_str(&exact);
        }
        out.push('(');
        self.append_index_test(out, &place.key, place.indexes, |index| {
            format!(
                "id FROM {index} WHERE west <= weir_east({with}) AND east >= weir_west({with}) \
                 AND south <= weir_north({with}) AND north >= weir_south({with})"
            )
        });
        out.push_str(&format!(" AND {exact})"));
    }

    fn function(&self, out: &mut String, function: Aggregation, column: &str, _ty: u32) {
        let name = match function {
            Aggregation::Avg => "avg",
            Aggregation::Max => "max",
            Aggregation::Min => "min",
            Aggregation::Sum => "sum",
            Aggregation::Stddev | Aggregation::StddevSamp => "weir_stddev_samp",
            Aggregation::StddevPop => "weir_stddev_pop",
            Aggregation::VarPop => "weir_var_pop",
            Aggregation::VarSamp | Aggregation::Variance => "weir_var_samp",
        };
        out.push_str(&format!("{name}({column})"));
    }

    fn sum_of_numbers(&self, sum: String, column: &str) -> String {
        // SQLite counts a text as 0. Texts and bytes are greater than all numbers, so one look at the greatest value finds them.
        format!("weir_of_numbers({sum}, max({column}))")
    }

    fn statistic(&self, out: &mut String, function: Statistic, columns: &[String], distinct: bool, ty: u32) {
        let name = match function {
            Statistic::Of(function) => {
                let column = format!("{}{}", if distinct { "DISTINCT " } else { "" }, columns.concat());
                return self.function(out, function, &column, ty);
            }
            Statistic::Corr => "weir_corr",
            Statistic::CovarSamp => "weir_covar_samp",
        };
        // A function of several arguments cannot be asked for distinct ones.
        let quoted =
            || columns.iter().map(|it| format!("quote({it})")).collect::<Vec<_>>().join(" || ',' || ");
        let of = if distinct { format!("DISTINCT {}", quoted()) } else { columns.join(", ") };
        out.push_str(&format!("{name}({of})"));
    }

    fn wide_sum(&self, column: &str) -> String {
        format!("weir_sum({column})")
    }

    fn count(&self, out: &mut String, columns: &[String], distinct: bool) {
        let distinct = if distinct { "DISTINCT " } else { "" };
        match columns {
            [one] => out.push_str(&format!("count({distinct}{one})")),
            [_, _, ..] if !distinct.is_empty() => {
                let quoted: Vec<String> = columns.iter().map(|it| format!("quote({it})")).collect();
                out.push_str(&format!("count(DISTINCT {})", quoted.join(" || ',' || ")));
            }
            [] | [_, _, ..] => out.push_str("count(*)"),
        }
    }

    fn json_path(&self, out: &mut String, column: &str, path: &str) {
        out.push_str(&format!("({column} -> {path})"));
    }

    fn check_column(&self, condition: &str) -> String {
        format!("weir_check({condition})")
    }

    fn by_branch(&self, _alias: Option<&String>, inserted: &str, updated: &str) -> String {
        format!("CASE WHEN weir_is_updated() THEN {updated} ELSE {inserted} END")
    }

    fn begin_upsert(&self, value: String) -> String {
        format!("weir_begin_upsert({value})")
    }

    fn mark_update(&self) -> Option<&'static str> {
        Some("weir_mark_update()")
    }

    fn returns_by_name(&self) -> bool {
        true
    }

    fn changes_views_by_name(&self) -> bool {
        true
    }

    fn assign(&self, out: &mut String, operator: Operator, old: &str, value: Side<'_>) {
        let bits = if let Reader::Column(ty) = value.reader { ty.facts().bits } else { None };
        let value = value.placeholder;
        out.push_str(&match (operator, bits) {
            (Operator::Increment, Some(bits)) => format!("weir_add({old}, {value}, {bits})"),
            (Operator::Increment, None) => format!("weir_add({old}, {value}, NULL)"),
            (Operator::Append, _) => format!("weir_json_concat({old}, {value})"),
            (Operator::Prepend, _) => format!("weir_json_concat({value}, {old})"),
            (Operator::DeleteKey, _) => format!("weir_json_delete_key({old}, {value})"),
            (Operator::DeleteElem, _) => format!("weir_json_delete_elem({old}, {value})"),
            (Operator::DeleteAtPath, _) => format!("weir_json_delete_path({old}, {value})"),
        });
    }
}

impl Sqlite {
    /// Appends a test that `key` is in a result of one of `indexes`: `find` selects from an index.
    fn append_index_test(
        &self,
        out: &mut String,
        key: &str,
        indexes: &[Box<str>],
        find: impl Fn(&str) -> String,
    ) {
        out.push_str(key);
        out.push_str(" IN (");
        for (at, index) in indexes.iter().enumerate() {
            let mut name = String::new();
            self.identifier(&mut name, index);
            out.push_str(if at == 0 { "SELECT " } else { " UNION ALL SELECT " });
            out.push_str(&find(&name));
        }
        out.push(')');
    }
}
