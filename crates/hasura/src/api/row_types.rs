//! Object types: rows, aggregates, groups, answers of mutations.

use super::connections::IDENTIFIER;
use super::generate::Tables;
use super::meaning::{FieldMeaning, InputMeaning};
use super::schema_core::{Core, certain, full_list, list, non_null, plain, write};
use super::table_types::{ColumnApi, TableApi};
use crate::model::{Model, Serves};
use weir_language::schema::TypeRef;
use weir_relational::catalog::{RelationshipId, RelationshipKind};
use weir_relational::plan::operators::Aggregation;

/// The functions over columns with the name of their field.
pub(super) const FUNCTIONS: [(&str, Aggregation); 10] = [
    ("avg", Aggregation::Avg),
    ("max", Aggregation::Max),
    ("min", Aggregation::Min),
    ("stddev", Aggregation::Stddev),
    ("stddev_pop", Aggregation::StddevPop),
    ("stddev_samp", Aggregation::StddevSamp),
    ("sum", Aggregation::Sum),
    ("var_pop", Aggregation::VarPop),
    ("var_samp", Aggregation::VarSamp),
    ("variance", Aggregation::Variance),
];

/// Over which columns a function goes.
pub(super) fn takes(function: Aggregation, column: &ColumnApi<'_>) -> bool {
    if function.is_extreme() { column.comparable } else { column.numeric }
}

impl TableApi<'_> {
    /// True if the function applies to at least one column.
    pub(super) fn has(&self, function: Aggregation) -> bool {
        if function.is_extreme() { self.has_comparable() } else { self.has_numeric() }
    }
}

impl Core {
    /// Defines the type of a row, and the types of mutation responses.
    pub(super) fn rows(&mut self, model: &Model, tables: &Tables<'_>, table: &TableApi<'_>) {
        let name = &table.table.name;
        let tracked = table.tracked;
        match &tracked.comment {
            Some(comment) => self.object(&tracked.name, "", &[comment]),
            None => self.object(&tracked.name, "", &["columns and relationships of \"", name, "\""]),
        };
        let is_node = table.types.connection.is_some();
        if is_node {
            self.identifier(table);
        }
        for column in table.columns.iter().filter(|it| !is_node || it.name != IDENTIFIER) {
            // The `path` of a document may lead to nothing.
            let ty = if column.nullable || column.json { column.ty } else { certain(column.ty) };
            self.field(column.name, column.comment, ty, FieldMeaning::Column(table.id, column.id));
            self.path(column);
        }
        for &id in &tracked.relationships {
            if !is_node || model.relations.relationship(id).name != IDENTIFIER {
                self.add_relationship_fields(model, tables, id);
                self.related_connection(model, tables, table, id);
            }
        }
        self.add_computed_fields(model, table);
        if table.types.mutation_response.is_some() {
            let words = ["response of any mutation on the table \"", name, "\""];
            self.object(&tracked.name, "_mutation_response", &words);
            let int = non_null(self.common.int);
            let words = "number of rows affected by the mutation";
            self.field("affected_rows", words, int, FieldMeaning::AffectedRows(table.id));
            let rows = full_list(table.types.object);
            let words = "data from the rows affected by the mutation";
            self.field("returning", words, rows, FieldMeaning::Returning(table.id));
        }
    }

    fn add_relationship_fields(&mut self, model: &Model, tables: &Tables<'_>, id: RelationshipId) {
        let relationship = model.relations.relationship(id);
        let Some(target) = tables.get(relationship.to) else { return };
        let called = relationship.call.map(|it| model.function(it).0);
        let words = match (&relationship.comment, called.map(|it| &it.serves), relationship.kind) {
            (Some(comment), ..) => comment.as_str(),
            (None, Some(Serves::Row { words, .. }), _) => words.as_str(),
            (None, _, RelationshipKind::Object { .. }) => "An object relationship",
            (None, _, RelationshipKind::Array) => "An array relationship",
        };
        let object = target.types.object;
        let ty = match relationship.kind {
            RelationshipKind::Object { certain: true } => non_null(object),
            RelationshipKind::Object { certain: false } => plain(object),
            // Hasura declares this list nullable.
            RelationshipKind::Array if called.is_some() && !target.is_model => list(object),
            RelationshipKind::Array => full_list(object),
        };
        self.field(&relationship.name, words, ty, FieldMeaning::Related(id));
        relationship.call.into_iter().for_each(|it| self.call_arguments(model, it));
        if relationship.kind == RelationshipKind::Array {
            self.page(target);
            if target.is_model {
                return;
            }
            let mut name = std::mem::take(&mut self.name);
            write(&mut name, &[&relationship.name, "_aggregate"]);
            let ty = non_null(target.types.aggregate);
            self.field(&name, "An aggregate relationship", ty, FieldMeaning::RelatedAggregate(id));
            self.name = name;
            relationship.call.into_iter().for_each(|it| self.call_arguments(model, it));
            self.page(target);
        }
    }

    /// The argument of columns that hold JSON.
    fn path(&mut self, column: &ColumnApi<'_>) {
        if column.json {
            self.argument("path", "JSON select path", plain(self.common.string), InputMeaning::JsonPath);
        }
    }

    /// Defines `Album_aggregate` and the types below it.
    pub(super) fn aggregates(&mut self, table: &TableApi<'_>) {
        let id = table.id;
        let types = table.types;
        let name = &table.tracked.name;
        self.object(name, "_aggregate", &["aggregated selection of \"", &table.table.name, "\""]);
        self.field("aggregate", "", plain(types.aggregate_fields), FieldMeaning::Aggregate(id));
        self.field("nodes", "", full_list(types.object), FieldMeaning::Nodes(id));

        let functions = FUNCTIONS.iter().filter(|(_, function)| table.has(*function));
        let mut fields: Vec<(&str, TypeRef, FieldMeaning)> = Vec::with_capacity(11);
        for &(word, function) in functions.clone() {
            let mut suffix = String::with_capacity(20);
            write(&mut suffix, &["_", word, "_fields"]);
            let ty = self.reference(name, &suffix);
            fields.push((word, plain(ty), FieldMeaning::Function(id, function)));
        }
        let place = fields.partition_point(|(word, ..)| *word < "count");
        fields.insert(place, ("count", non_null(self.common.int), FieldMeaning::Count(id)));
        self.object(name, "_aggregate_fields", &["aggregate fields of \"", &table.table.name, "\""]);
        for (word, ty, meaning) in fields {
            self.field(word, "", ty, meaning);
            if word == "count" {
                let columns = list(types.select_column);
                self.argument("columns", "", columns, InputMeaning::CountColumns(id));
                self.argument("distinct", "", plain(self.common.boolean), InputMeaning::CountDistinct);
            }
        }
        let mut suffix = String::with_capacity(20);
        for &(word, function) in functions {
            write(&mut suffix, &["_", word, "_fields"]);
            self.object(name, &suffix, &["aggregate ", word, " on columns"]);
            for column in table.columns.iter().filter(|column| takes(function, column)) {
                let ty = if function.keeps_type() { column.ty } else { plain(self.common.float) };
                let meaning = FieldMeaning::FunctionColumn(id, function, column.id);
                self.field(column.name, column.comment, ty, meaning);
            }
        }
    }

    /// `Album_group` and its key.
    pub(super) fn groups(&mut self, table: &TableApi<'_>) {
        if table.types.group.is_none() {
            return;
        }
        let id = table.id;
        let name = &table.tracked.name;
        let key = self.reference(name, "_group_key");
        self.object(
            name,
            "_group",
            &["rows of \"", &table.table.name, "\" that are equal in the columns of the key"],
        );
        self.field("key", "the columns of `by`; others are null", non_null(key), FieldMeaning::GroupKey(id));
        let aggregate = non_null(table.types.aggregate_fields);
        self.field("aggregate", "", aggregate, FieldMeaning::Aggregate(id));
        self.object(name, "_group_key", &["columns that rows of \"", &table.table.name, "\" are grouped by"]);
        for column in &table.columns {
            self.field(column.name, column.comment, column.ty, FieldMeaning::Column(id, column.id));
        }
    }
}
