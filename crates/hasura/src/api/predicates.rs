//! Conditions on aggregates over related rows: `Track_aggregate_bool_exp` and its members.

use super::meaning::{EnumMeaning, InputMeaning};
use super::schema_core::{Core, list, non_null, plain};
use super::table_types::{ColumnApi, TableApi};
use weir_relational::catalog::ColumnType;
use weir_relational::plan::operators::{Aggregation, Statistic};

/// Columns of a predicate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    Rows,
    /// A column of booleans.
    Boolean,
    /// A column of `float8`.
    Double,
    /// Two columns of type `float8`.
    Doubles,
}

impl Over {
    /// True if the predicate applies to columns like `column`.
    fn takes(self, column: &ColumnApi<'_>) -> bool {
        match self {
            Self::Rows => false,
            Self::Boolean => column.boolean,
            Self::Double | Self::Doubles => column.double,
        }
    }

    /// Type by which the predicate's value is compared.
    const fn value_type(self) -> ColumnType {
        match self {
            Self::Rows => ColumnType::Int,
            Self::Boolean => ColumnType::Boolean,
            Self::Double | Self::Doubles => ColumnType::Double,
        }
    }
}

/// A predicate with its name.
type Predicate = (&'static str, InputMeaning, Over);

const fn statistic(name: &'static str, function: Aggregation) -> Predicate {
    (name, InputMeaning::Statistic(Statistic::Of(function)), Over::Double)
}

const PREDICATES: [Predicate; 11] = [
    statistic("avg", Aggregation::Avg),
    ("bool_and", InputMeaning::BoolAnd, Over::Boolean),
    ("bool_or", InputMeaning::BoolOr, Over::Boolean),
    ("corr", InputMeaning::Statistic(Statistic::Corr), Over::Doubles),
    ("count", InputMeaning::Count, Over::Rows),
    ("covar_samp", InputMeaning::Statistic(Statistic::CovarSamp), Over::Doubles),
    statistic("max", Aggregation::Max),
    statistic("min", Aggregation::Min),
    statistic("stddev_samp", Aggregation::StddevSamp),
    statistic("sum", Aggregation::Sum),
    statistic("var_samp", Aggregation::VarSamp),
];

impl Core {
    /// `Track_aggregate_bool_exp`, a member per predicate that has columns.
    pub(super) fn predicates(&mut self, table: &TableApi<'_>) {
        let name = &table.tracked.name;
        let has = |over: Over| over == Over::Rows || table.columns.iter().any(|it| over.takes(it));
        let predicates: Vec<_> = PREDICATES.into_iter().filter(|it| has(it.2)).collect();
        let words = ["conditions on aggregates over rows of \"", &table.table.name, "\""];
        self.input_object(name, "_aggregate_bool_exp", &words);
        for (word, meaning, _) in &predicates {
            let ty = self.reference(name, &format!("_aggregate_bool_exp_{word}"));
            self.input_field(word, "", plain(ty), *meaning);
        }
        for (word, _, over) in predicates {
            self.predicate(table, word, over);
        }
    }

    /// Defines `Track_aggregate_bool_exp_avg` and its arguments.
    fn predicate(&mut self, table: &TableApi<'_>, word: &str, over: Over) {
        let name = &table.tracked.name;
        let comparison = self.scalar_uses(&over.value_type()).1;
        let suffix = format!("_aggregate_bool_exp_{word}");
        let pair = format!("{suffix}_arguments");
        let columns = format!("_select_column_{name}{suffix}_arguments_columns");
        let (arguments, meaning) = match over {
            Over::Rows => (list(table.types.select_column), InputMeaning::CountColumns(table.id)),
            Over::Boolean | Over::Double => {
                (non_null(self.reference(name, &columns)), InputMeaning::CountColumns(table.id))
            }
            Over::Doubles => (non_null(self.reference(name, &pair)), InputMeaning::Pair),
        };
        self.input_object(name, &suffix, &[]);
        self.input_field("arguments", "", arguments, meaning);
        self.input_field("distinct", "", plain(self.common.boolean), InputMeaning::CountDistinct);
        self.input_field("filter", "", plain(table.types.bool_exp), InputMeaning::Filter(table.id));
        self.input_field("predicate", "", non_null(comparison), InputMeaning::Predicate);
        if over == Over::Rows {
            return;
        }
        let column = non_null(self.reference(name, &columns));
        if over == Over::Doubles {
            self.input_object(name, &pair, &[]);
            self.input_field("X", "", column, InputMeaning::CountColumns(table.id));
            self.input_field("Y", "", column, InputMeaning::CountColumns(table.id));
        }
        let words = ["select \"", &columns["_select_column_".len()..], "\" columns of table \"", name, "\""];
        self.enumeration(name, &columns, &words);
        for column in table.columns.iter().filter(|it| over.takes(it)) {
            self.enum_value(column.name, "column name", EnumMeaning::Column(table.id, column.id));
        }
    }
}
