//! Inputs and enums of mutations, and the enums of enum tables.

use super::generate::Tables;
use super::meaning::{EnumMeaning, InputMeaning};
use super::scalars::COMPARES;
use super::schema_core::{Core, certain, full_list, non_null, plain};
use super::table_types::{ColumnApi, TableApi};
use crate::model::Model;
use crate::model::graphql_names::graphql_name;
use hashbrown::HashSet;
use weir_language::schema::TypeRef;
use weir_relational::catalog::facts::Operators;
use weir_relational::catalog::{Arbiter, ConflictTarget, RelationshipKind};

/// Stands where a role sees no member, because GraphQL has no empty types.
const PLACEHOLDER: &str = "_PLACEHOLDER";

impl Core {
    /// All inputs with which a table is written.
    pub(super) fn writes(
        &mut self,
        model: &Model,
        tables: &Tables<'_>,
        table: &TableApi<'_>,
        has_roles: bool,
    ) {
        if table.insertable {
            self.insert_inputs(model, tables, table, has_roles);
        }
        if table.types.on_conflict.is_some() {
            self.conflict_inputs(table, has_roles);
        }
        if table.updatable {
            self.update_inputs(table);
        }
    }

    fn insert_inputs(&mut self, model: &Model, tables: &Tables<'_>, table: &TableApi<'_>, has_roles: bool) {
        let types = table.types;
        let name = &table.tracked.name;
        let own = &table.table.name;
        let words = ["input type for inserting data into table \"", own, "\""];
        let insert = self.input_object(name, "_insert_input", &words);
        for column in table.columns.iter().filter(|column| column.insertable) {
            let meaning = InputMeaning::Column(table.id, column.id);
            self.input_field(column.name, column.comment, column.ty, meaning);
        }
        for &id in &table.tracked.relationships {
            let relationship = model.relations.relationship(id);
            if relationship.call.is_some() {
                continue;
            }
            let target = tables.get(relationship.to).map(|target| target.types);
            let ty = target.and_then(|target| match relationship.kind {
                RelationshipKind::Object { .. } => target.obj_rel_insert_input,
                RelationshipKind::Array => target.arr_rel_insert_input,
            });
            if let Some(ty) = ty {
                self.input_field(&relationship.name, "", plain(ty), InputMeaning::Related(id));
            }
        }
        if has_roles {
            let meaning = InputMeaning::NoColumn(table.id);
            self.input_field(
                PLACEHOLDER,
                "no column may be given a value",
                plain(self.common.boolean),
                meaning,
            );
        }
        if types.arr_rel_insert_input.is_some() {
            let words = ["input type for inserting array relation for remote table \"", own, "\""];
            self.input_object(name, "_arr_rel_insert_input", &words);
            self.input_field("data", "", full_list(insert), InputMeaning::Data(table.id));
            self.nested_conflict(table);
        }
        if types.obj_rel_insert_input.is_some() {
            let words = ["input type for inserting object relation for remote table \"", own, "\""];
            self.input_object(name, "_obj_rel_insert_input", &words);
            self.input_field("data", "", non_null(insert), InputMeaning::Data(table.id));
            self.nested_conflict(table);
        }
    }

    fn nested_conflict(&mut self, table: &TableApi<'_>) {
        if let Some(ty) = table.types.on_conflict {
            let meaning = InputMeaning::OnConflict(table.id);
            self.input_field("on_conflict", "upsert condition", plain(ty), meaning);
        }
    }

    fn conflict_inputs(&mut self, table: &TableApi<'_>, has_roles: bool) {
        let id = table.id;
        let name = &table.tracked.name;
        let own = &table.table.name;
        let words = ["unique or primary key constraints on table \"", own, "\""];
        let constraint = self.enumeration(name, "_constraint", &words);
        let mut taken: HashSet<String> = HashSet::new();
        for (arbiter, place) in table.table.arbiters.iter().zip(0..) {
            let name = constraint_name(arbiter, &mut taken);
            let words = constraint_words(table, arbiter);
            self.enum_value(&name, &words, EnumMeaning::Constraint(id, place));
        }
        self.enumeration(name, "_update_column", &["update columns of table \"", own, "\""]);
        for column in table.columns.iter().filter(|column| column.updatable) {
            self.enum_value(column.name, "column name", EnumMeaning::Column(id, column.id));
        }
        if has_roles {
            self.enum_value(PLACEHOLDER, "no column may be updated", EnumMeaning::NoColumn(id));
        }
        let columns = full_list(self.reference(name, "_update_column"));
        self.input_object(name, "_on_conflict", &["on_conflict condition type for table \"", own, "\""]);
        self.input_field("constraint", "", non_null(constraint), InputMeaning::Constraint);
        self.input_field("update_columns", "", columns, InputMeaning::UpdateColumns);
        self.b.default("[]");
        self.input_field("where", "", plain(table.types.bool_exp), InputMeaning::Where(id));
    }

    fn update_inputs(&mut self, table: &TableApi<'_>) {
        let id = table.id;
        let name = &table.tracked.name;
        let own = &table.table.name;
        self.columns_input(
            table,
            "_set_input",
            &["input type for updating data in table \"", own, "\""],
            |column| Some(column.ty),
        );
        if table.columns.iter().any(|column| column.numeric && column.updatable) {
            let words = ["input type for incrementing numeric columns in table \"", own, "\""];
            self.columns_input(table, "_inc_input", &words, |column| column.numeric.then_some(column.ty));
        }
        if table.columns.iter().any(|column| column.jsonb && column.updatable) {
            self.json_inputs(table);
        }
        if table.by_pk {
            self.input_object(name, "_pk_columns_input", &["primary key columns input for table: ", own]);
            for &key in table.table.primary_key.iter().flat_map(|key| &key.columns) {
                if let Some(column) = table.columns.iter().find(|column| column.id == key) {
                    let meaning = InputMeaning::Column(id, key);
                    self.input_field(column.name, column.comment, certain(column.ty), meaning);
                }
            }
        }
        self.input_object(name, "_updates", &[]);
        self.operators(table, |core, name, words, ty, meaning| core.input_field(name, words, ty, meaning));
        let words = "filter the rows which have to be updated";
        self.input_field("where", words, non_null(table.types.bool_exp), InputMeaning::Where(id));
    }

    /// The operators over jsonb columns.
    fn json_inputs(&mut self, table: &TableApi<'_>) {
        let string = self.common.string;
        let int = self.common.int;
        let jsonb = |column: &ColumnApi<'_>| column.jsonb.then_some(column.ty);
        let words = ["append existing jsonb value of filtered columns with new jsonb value"];
        self.columns_input(table, "_append_input", &words, jsonb);
        let words = ["prepend existing jsonb value of filtered columns with new jsonb value"];
        self.columns_input(table, "_prepend_input", &words, jsonb);
        let words =
            ["delete key/value pair or string element. key/value pairs are matched based on their key value"];
        self.columns_input(table, "_delete_key_input", &words, |column| {
            column.jsonb.then_some(plain(string))
        });
        let words = [
            "delete the array element with specified index (negative integers count from the end). throws an error if \
             top level container is not an array",
        ];
        self.columns_input(table, "_delete_elem_input", &words, |column| column.jsonb.then_some(plain(int)));
        let words = [
            "delete the field or element with specified path (for JSON arrays, negative integers count from the end)",
        ];
        self.input_object(&table.tracked.name, "_delete_at_path_input", &words);
        let path = super::schema_core::list(string);
        for column in table.columns.iter().filter(|column| column.jsonb && column.updatable) {
            self.input_field(column.name, column.comment, path, InputMeaning::Column(table.id, column.id));
        }
    }

    /// An input with one field for each column that can be written and that `ty` gives a type.
    fn columns_input(
        &mut self,
        table: &TableApi<'_>,
        suffix: &str,
        words: &[&str],
        ty: impl Fn(&ColumnApi<'_>) -> Option<TypeRef>,
    ) {
        self.input_object(&table.tracked.name, suffix, words);
        for column in table.columns.iter().filter(|column| column.updatable) {
            if let Some(ty) = ty(column) {
                let meaning = InputMeaning::Column(table.id, column.id);
                self.input_field(column.name, column.comment, ty, meaning);
            }
        }
    }

    /// The enum of an enum table's rows.
    pub(super) fn enum_table(&mut self, table: &TableApi<'_>) {
        let tracked = table.tracked;
        if tracked.enum_values.is_empty() {
            return;
        }
        let values =
            self.enumeration(&tracked.name, "_enum", &["values of table \"", &table.table.name, "\""]);
        for (at, value) in tracked.enum_values.iter().enumerate() {
            self.enum_value(&value.value, &value.comment, EnumMeaning::TableValue(table.id, at as u32));
        }
        let words = [COMPARES.0, &tracked.name, "_enum", COMPARES.1];
        self.input_object(&tracked.name, "_enum_comparison_exp", &words);
        self.compare(plain(values), &[Operators::Equality]);
    }
}

/// The name of a key as an enum value.
fn constraint_name(arbiter: &Arbiter, taken: &mut HashSet<String>) -> String {
    let made = graphql_name(&arbiter.name).unwrap_or("key".into());
    let mut name = made.clone().into_owned();
    let mut number = 2_u32;
    while !taken.insert(name.clone()) {
        name = format!("{made}_{number}");
        number += 1;
    }
    name
}

fn constraint_words(table: &TableApi<'_>, arbiter: &Arbiter) -> String {
    let mut words = String::from(match arbiter.target {
        ConflictTarget::Constraint | ConflictTarget::Columns => {
            "unique or primary key constraint on columns "
        }
        ConflictTarget::Index(_) => "unique index of some rows or expressions on columns ",
    });
    for (at, &column) in arbiter.columns.iter().enumerate() {
        if at > 0 {
            words.push_str(", ");
        }
        words.push('"');
        words.push_str(&table.table.column(column).name);
        words.push('"');
    }
    words
}
