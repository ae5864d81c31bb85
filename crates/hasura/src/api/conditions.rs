//! Inputs and enums of queries: filters, orders, columns.

use super::generate::Tables;
use super::meaning::{EnumMeaning, InputMeaning};
use super::row_types::{FUNCTIONS, takes};
use super::schema_core::{Core, list, plain, write};
use super::table_types::{TableApi, select_column_suffix};
use crate::model::Model;
use weir_relational::catalog::{ColumnType, Relationship, RelationshipKind};
use weir_relational::plan::operators::Aggregation;

/// The directions of an order with where nulls go.
const ORDERS: [(&str, &str, bool, bool); 6] = [
    ("asc", "in ascending order, nulls last", false, false),
    ("asc_nulls_first", "in ascending order, nulls first", false, true),
    ("asc_nulls_last", "in ascending order, nulls last", false, false),
    ("desc", "in descending order, nulls first", true, true),
    ("desc_nulls_first", "in descending order, nulls first", true, true),
    ("desc_nulls_last", "in descending order, nulls last", true, false),
];

impl Core {
    /// `order_by`.
    pub(super) fn order_by_enum(&mut self) {
        let name = if self.is_camel { "OrderBy" } else { "order_by" };
        self.b.enumeration(name, "column ordering options");
        for (name, words, descending, nulls_first) in ORDERS {
            self.enum_value(name, words, EnumMeaning::Order { descending, nulls_first });
        }
    }

    /// `Album_bool_exp`, the predicates over its aggregates, `Album_group_having`.
    pub(super) fn filters(&mut self, model: &Model, tables: &Tables<'_>, table: &TableApi<'_>) {
        let id = table.id;
        let types = table.types;
        let name = &table.tracked.name;
        let words = [
            "Boolean expression to filter rows from the table \"",
            &table.table.name,
            "\". All fields are combined with a logical 'AND'.",
        ];
        self.input_object(name, "_bool_exp", &words);
        self.input_field("_and", "", list(types.bool_exp), InputMeaning::And);
        self.input_field("_not", "", plain(types.bool_exp), InputMeaning::Not);
        self.input_field("_or", "", list(types.bool_exp), InputMeaning::Or);
        for column in &table.columns {
            let meaning = InputMeaning::Column(id, column.id);
            self.input_field(column.name, column.comment, plain(column.comparison), meaning);
        }
        for &id in &table.tracked.relationships {
            let relationship = model.relations.relationship(id);
            if !needs_nothing(model, relationship) {
                continue;
            }
            let Some(target) = tables.get(relationship.to) else { continue };
            let ty = plain(target.types.bool_exp);
            self.input_field(&relationship.name, "", ty, InputMeaning::Related(id));
            if let (RelationshipKind::Array, Some(ty)) = (relationship.kind, target.types.aggregate_bool_exp)
            {
                self.aggregate_member(&relationship.name, plain(ty), InputMeaning::RelatedAggregate(id));
            }
        }
        self.computed_inputs(model, table, plain);
        if table.in_arrays {
            self.predicates(table);
        }
        self.having(table);
    }

    /// A member called `name` and `_aggregate`.
    fn aggregate_member(&mut self, name: &str, ty: weir_language::schema::TypeRef, meaning: InputMeaning) {
        let mut text = std::mem::take(&mut self.name);
        write(&mut text, &[name, if self.is_camel { "Aggregate" } else { "_aggregate" }]);
        self.input_field(&text, "", ty, meaning);
        self.name = text;
    }

    /// `Album_group_having`: conditions on the aggregates of a group. The functions that give `Float` share a type.
    fn having(&mut self, table: &TableApi<'_>) {
        if table.types.group.is_none() {
            return;
        }
        let id = table.id;
        let name = &table.tracked.name;
        let int = self.scalar_uses(&ColumnType::Int).1;
        let having = self.reference(name, "_group_having");
        let numeric = table.has_numeric().then(|| {
            let float = self.scalar_uses(&ColumnType::Real).1;
            let floats = self.reference(name, "_group_having_float");
            let sums = self.reference(name, "_group_having_sum");
            (float, floats, sums)
        });
        let extremes = table.has_comparable().then(|| self.reference(name, "_group_having_max"));
        self.input_object(name, "_group_having", &["conditions on groups of \"", &table.table.name, "\""]);
        self.input_field("_and", "", list(having), InputMeaning::And);
        self.input_field("_not", "", plain(having), InputMeaning::Not);
        self.input_field("_or", "", list(having), InputMeaning::Or);
        self.input_field("count", "", plain(int), InputMeaning::Count);
        for (word, function) in FUNCTIONS {
            let sum = function == Aggregation::Sum;
            let ty = match (function.keeps_type(), numeric, extremes) {
                (true, Some((.., sums)), _) if sum => sums,
                (true, _, Some(extremes)) if !sum => extremes,
                (false, Some((_, floats, _)), _) => floats,
                (true | false, ..) => continue,
            };
            self.input_field(word, "", plain(ty), InputMeaning::Function(function));
        }
        if let Some((float, ..)) = numeric {
            self.input_object(name, "_group_having_float", &[]);
            for column in table.columns.iter().filter(|column| column.numeric) {
                self.input_field(column.name, "", plain(float), InputMeaning::Column(id, column.id));
            }
            self.input_object(name, "_group_having_sum", &[]);
            for column in table.columns.iter().filter(|column| column.numeric) {
                self.input_field(
                    column.name,
                    "",
                    plain(column.comparison),
                    InputMeaning::Column(id, column.id),
                );
            }
        }
        if extremes.is_some() {
            self.input_object(name, "_group_having_max", &[]);
            for column in table.columns.iter().filter(|column| column.comparable) {
                self.input_field(
                    column.name,
                    "",
                    plain(column.comparison),
                    InputMeaning::Column(id, column.id),
                );
            }
        }
    }

    /// `Album_order_by`, orders by aggregates and groups, `Album_select_column`.
    pub(super) fn orders(&mut self, model: &Model, tables: &Tables<'_>, table: &TableApi<'_>) {
        let id = table.id;
        let name = &table.tracked.name;
        let order = plain(self.common.order_by);
        self.order_object(
            name,
            "_order_by",
            &["Ordering options when selecting data from \"", &table.table.name, "\"."],
        );
        for column in &table.columns {
            self.input_field(column.name, column.comment, order, InputMeaning::Column(id, column.id));
        }
        for &id in &table.tracked.relationships {
            let relationship = model.relations.relationship(id);
            if !needs_nothing(model, relationship) {
                continue;
            }
            let Some(target) = tables.get(relationship.to) else { continue };
            match (relationship.kind, target.types.aggregate_order_by) {
                (RelationshipKind::Object { .. }, _) => {
                    let ty = plain(target.types.order_by);
                    self.input_field(&relationship.name, "", ty, InputMeaning::Related(id));
                }
                (RelationshipKind::Array, Some(ty)) => {
                    self.aggregate_member(&relationship.name, plain(ty), InputMeaning::RelatedAggregate(id));
                }
                (RelationshipKind::Array, None) => {}
            }
        }
        self.computed_inputs(model, table, |_| order);
        self.function_orders(table);
        let suffix = select_column_suffix(table.is_model);
        self.enumeration(name, suffix, &["select columns of table \"", &table.table.name, "\""]);
        for column in &table.columns {
            self.enum_value(column.name, "column name", EnumMeaning::Column(id, column.id));
        }
    }

    /// Orders by functions over columns, used by relationships and groups alike.
    fn function_orders(&mut self, table: &TableApi<'_>) {
        if !table.in_arrays && table.types.group.is_none() {
            return;
        }
        let id = table.id;
        let name = &table.tracked.name;
        let order = plain(self.common.order_by);
        let mut suffix = String::with_capacity(24);
        let mut members = Vec::with_capacity(11);
        for (word, function) in FUNCTIONS.into_iter().filter(|(_, function)| table.has(*function)) {
            write(&mut suffix, &["_", word, "_order_by"]);
            let words = ["order by ", word, "() on columns of table \"", &table.table.name, "\""];
            members.push((
                word,
                plain(self.order_object(name, &suffix, &words)),
                InputMeaning::Function(function),
            ));
            for column in table.columns.iter().filter(|column| takes(function, column)) {
                self.input_field(column.name, column.comment, order, InputMeaning::Column(id, column.id));
            }
        }
        let place = members.partition_point(|(word, ..)| *word < "count");
        members.insert(place, ("count", order, InputMeaning::Count));
        if table.in_arrays {
            let words = ["order by aggregate values of table \"", &table.table.name, "\""];
            self.order_object(name, "_aggregate_order_by", &words);
            for &(word, ty, meaning) in &members {
                self.input_field(word, "", ty, meaning);
            }
        }
        if table.types.group.is_none() {
            return;
        }
        let words = ["columns that groups of \"", &table.table.name, "\" are ordered by"];
        let key = plain(self.order_object(name, "_group_key_order_by", &words));
        for column in &table.columns {
            self.input_field(column.name, column.comment, order, InputMeaning::Column(id, column.id));
        }
        self.order_object(name, "_group_order_by", &["order of groups of \"", &table.table.name, "\""]);
        self.input_field("key", "", key, InputMeaning::GroupKey(id));
        for (word, ty, meaning) in members {
            self.input_field(word, "", ty, meaning);
        }
    }
}

/// True if a relationship needs no arguments of the client, and leads to rows that a condition can ask for.
fn needs_nothing(model: &Model, relationship: &Relationship) -> bool {
    let is_plain = |it| {
        let (tracked, function) = model.function(it);
        tracked.arguments.is_empty() && function.code.is_none()
    };
    relationship.call.is_none_or(is_plain)
}
