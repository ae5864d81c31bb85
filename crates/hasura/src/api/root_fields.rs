//! The fields of `query_root`, `subscription_root` and `mutation_root`.

use super::generate::Tables;
use super::meaning::{FieldMeaning, InputMeaning};
use super::schema_core::{Core, Style, certain, full_list, list, non_null, plain, write};
use super::table_types::TableApi;
use crate::model::{Model, RootField};
use weir_language::schema::{TypeId, TypeRef};
use weir_metadata::document::function::ExposedAs;
use weir_relational::catalog::ColumnId;

/// Description of the condition on rows to update.
const UPDATE_WHERE: &str = "filter the rows which have to be updated";

impl Core {
    /// All roots. What can be read can be subscribed to.
    pub(super) fn roots(&mut self, model: &Model, tables: &Tables<'_>) {
        let query = self.b.object("query_root", "");
        self.b.query(query).may_lack_queries();
        self.reads(model, tables, false);
        if tables.iter().next().is_some() {
            let subscription = self.b.object("subscription_root", "");
            self.b.subscription(subscription);
            self.reads(model, tables, true);
        }
        let written = |table: &&TableApi<'_>| table.types.mutation_response.is_some();
        let called = model.functions.iter().any(|it| it.is_on(ExposedAs::Mutation));
        if called || tables.iter().any(|table| written(&table)) {
            let mutation = self.b.object("mutation_root", "mutation root");
            self.b.mutation(mutation);
            for table in tables.iter().filter(written) {
                self.inserts(table);
                self.updates(table);
                self.deletes(table);
            }
            self.calls(model, tables, ExposedAs::Mutation);
        }
    }

    /// The fields that only joins of other sources ask.
    pub(super) fn join_root(&mut self, model: &Model, tables: &Tables<'_>) {
        if self.style == Style::Connections || model.lookups.is_empty() {
            return;
        }
        self.b.join_root();
        for lookup in &model.lookups {
            let Some(table) = tables.get(lookup.table) else { continue };
            let (id, types) = (table.id, table.types);
            if !lookup.is_list {
                self.field(&lookup.name, "", plain(types.object), FieldMeaning::LookupOne(id));
                self.lookup_keys(table, &lookup.columns);
                continue;
            }
            self.field(&lookup.name, "", full_list(types.object), FieldMeaning::Lookup(id));
            self.page(table);
            self.lookup_keys(table, &lookup.columns);
            let name = format!("{}_aggregate", lookup.name);
            self.field(&name, "", non_null(types.aggregate), FieldMeaning::LookupAggregate(id));
            self.page(table);
            self.lookup_keys(table, &lookup.columns);
        }
    }

    /// Adds one argument per column of a lookup, which may be hidden from clients.
    fn lookup_keys(&mut self, table: &TableApi<'_>, columns: &[ColumnId]) {
        for (at, &column) in columns.iter().enumerate() {
            let (ty, _) = self.scalar_uses(&table.table.column(column).ty);
            self.argument(&format!("key{at}"), "", ty, InputMeaning::Column(table.id, column));
        }
    }

    /// The fields of the open root that give rows; of subscriptions if it `is_live`.
    fn reads(&mut self, model: &Model, tables: &Tables<'_>, is_live: bool) {
        if self.style == Style::Connections {
            self.connection_roots(tables);
            return;
        }
        for table in tables.iter().filter(|it| !it.is_model) {
            self.selects(table);
            if is_live {
                self.stream_root(table);
            }
        }
        self.calls(model, tables, ExposedAs::Query);
    }

    /// Adds a root field: its default name is `parts` joined, its default description is `words`, the table's name in
    /// quotes, and `rest`.
    pub(super) fn root(
        &mut self,
        table: &TableApi<'_>,
        (before, after): (&str, &str),
        special: &RootField,
        (words, rest): (&str, &str),
        ty: TypeRef,
        meaning: FieldMeaning,
    ) {
        let name = match &special.name {
            Some(special) => ["", special, ""],
            None => [before, &table.tracked.name, after],
        };
        let is_given = special.name.is_some();
        match &special.comment {
            Some(comment) => self.root_field(name, is_given, &[comment], ty, meaning),
            None => {
                let words = [words, "\"", &table.table.name, "\"", rest];
                self.root_field(name, is_given, &words, ty, meaning);
            }
        }
    }

    /// Adds a root field whose name and description are ready; `is_given` if the configuration gave the name.
    pub(super) fn root_field(
        &mut self,
        name: [&str; 3],
        is_given: bool,
        words: &[&str],
        ty: TypeRef,
        meaning: FieldMeaning,
    ) {
        self.root_name(name, is_given);
        let name = std::mem::take(&mut self.name);
        let mut text = std::mem::take(&mut self.words);
        write(&mut text, words);
        self.field(&name, &text, ty, meaning);
        self.name = name;
        self.words = text;
    }

    fn selects(&mut self, table: &TableApi<'_>) {
        let id = table.id;
        let types = table.types;
        let special = &table.tracked.root_fields;
        let words = "fetch data from the table: ";
        let rows = full_list(types.object);
        self.root(table, ("", ""), &special.select, (words, ""), rows, FieldMeaning::Select(id));
        self.page(table);
        if table.by_pk {
            let one = plain(types.object);
            let words = (words, " using primary key columns");
            self.root(table, ("", "_by_pk"), &special.select_by_pk, words, one, FieldMeaning::ByPk(id));
            self.key_arguments(table);
        }
        let words = ("fetch aggregated fields from the table: ", "");
        let aggregate = non_null(types.aggregate);
        let meaning = FieldMeaning::SelectAggregate(id);
        self.root(table, ("", "_aggregate"), &special.select_aggregate, words, aggregate, meaning);
        self.page(table);
        if let Some(group) = types.group {
            let words = ("fetch groups of rows from the table: ", "");
            let meaning = FieldMeaning::GroupBy(id);
            self.root(table, ("", "_group_by"), &special.select_group_by, words, full_list(group), meaning);
            self.group_arguments(table);
        }
    }

    /// The arguments of everything that gives rows.
    pub(super) fn page(&mut self, table: &TableApi<'_>) {
        let id = table.id;
        let types = table.types;
        let int = self.common.int;
        let distinct = list(types.select_column);
        self.argument("distinct_on", "distinct select on columns", distinct, InputMeaning::DistinctOn(id));
        self.argument("limit", "limit the number of rows returned", plain(int), InputMeaning::Limit);
        let words = "skip the first n rows. Use only with order_by";
        self.argument("offset", words, plain(int), InputMeaning::Offset);
        self.b.wide();
        let order = list(types.order_by);
        self.argument("order_by", "sort the rows by one or more columns", order, InputMeaning::OrderBy(id));
        let filter = plain(types.bool_exp);
        self.argument("where", "filter the rows returned", filter, InputMeaning::Where(id));
    }

    fn group_arguments(&mut self, table: &TableApi<'_>) {
        let id = table.id;
        let types = table.types;
        let int = self.common.int;
        let name = &table.tracked.name;
        let by = full_list(types.select_column);
        self.argument("by", "columns that are equal within a group", by, InputMeaning::GroupBy(id));
        let filter = plain(types.bool_exp);
        self.argument("where", "filter the rows that are grouped", filter, InputMeaning::Where(id));
        let having = plain(self.reference(name, "_group_having"));
        self.argument("having", "filter the groups returned", having, InputMeaning::Having(id));
        let order = list(self.reference(name, "_group_order_by"));
        let words = "sort the groups by columns of the key or aggregates";
        self.argument("order_by", words, order, InputMeaning::GroupOrderBy(id));
        self.argument("limit", "limit the number of groups returned", plain(int), InputMeaning::Limit);
        let words = "skip the first n groups. Use only with order_by";
        self.argument("offset", words, plain(int), InputMeaning::Offset);
        self.b.wide();
    }

    /// Adds one argument per column of the primary key.
    fn key_arguments(&mut self, table: &TableApi<'_>) {
        for &key in table.table.primary_key.iter().flat_map(|key| &key.columns) {
            if let Some(column) = table.columns.iter().find(|column| column.id == key) {
                let meaning = InputMeaning::Column(table.id, key);
                self.argument(column.name, column.comment, certain(column.ty), meaning);
            }
        }
    }

    fn inserts(&mut self, table: &TableApi<'_>) {
        let types = table.types;
        let special = &table.tracked.root_fields;
        let (Some(response), Some(row)) = (types.mutation_response, types.insert_input) else { return };
        let words = ("insert data into the table: ", "");
        let meaning = FieldMeaning::Insert(table.id);
        self.root(table, ("insert_", ""), &special.insert, words, plain(response), meaning);
        let objects = InputMeaning::Objects(table.id);
        self.argument("objects", "the rows to be inserted", full_list(row), objects);
        self.conflict(table);
        let words = ("insert a single row into the table: ", "");
        let meaning = FieldMeaning::InsertOne(table.id);
        self.root(table, ("insert_", "_one"), &special.insert_one, words, plain(types.object), meaning);
        self.argument("object", "the row to be inserted", non_null(row), objects);
        self.conflict(table);
    }

    fn conflict(&mut self, table: &TableApi<'_>) {
        if let Some(on_conflict) = table.types.on_conflict {
            let meaning = InputMeaning::OnConflict(table.id);
            self.argument("on_conflict", "upsert condition", plain(on_conflict), meaning);
        }
    }

    fn updates(&mut self, table: &TableApi<'_>) {
        let id = table.id;
        let types = table.types;
        let special = &table.tracked.root_fields;
        let (Some(response), true) = (types.mutation_response, table.updatable) else { return };
        let words = ("update data of the table: ", "");
        self.root(table, ("update_", ""), &special.update, words, plain(response), FieldMeaning::Update(id));
        self.operators(table, |core, name, words, ty, meaning| core.argument(name, words, ty, meaning));
        self.argument("where", UPDATE_WHERE, non_null(types.bool_exp), InputMeaning::Where(id));
        if table.by_pk {
            let words = ("update single row of the table: ", "");
            let meaning = FieldMeaning::UpdateByPk(id);
            self.root(
                table,
                ("update_", "_by_pk"),
                &special.update_by_pk,
                words,
                plain(types.object),
                meaning,
            );
            self.operators(table, |core, name, words, ty, meaning| core.argument(name, words, ty, meaning));
            let key = non_null(self.reference(&table.tracked.name, "_pk_columns_input"));
            self.argument("pk_columns", "", key, InputMeaning::PkColumns(id));
        }
        let words = ("update multiples rows of table: ", "");
        let responses = TypeRef { base: response, wraps: super::schema_core::NULLABLE_LIST };
        let meaning = FieldMeaning::UpdateMany(id);
        self.root(table, ("update_", "_many"), &special.update_many, words, responses, meaning);
        let updates = full_list(self.reference(&table.tracked.name, "_updates"));
        self.argument("updates", "updates to execute, in order", updates, InputMeaning::Updates(id));
    }

    /// Update operators of columns, as arguments or as input fields.
    pub(super) fn operators(
        &mut self,
        table: &TableApi<'_>,
        add: impl Fn(&mut Self, &str, &str, TypeRef, InputMeaning),
    ) {
        let name = &table.tracked.name;
        let jsonb = table.columns.iter().any(|column| column.jsonb && column.updatable);
        let json = [
            (
                "_append",
                "_append_input",
                InputMeaning::Append,
                "append existing jsonb value of filtered columns with new jsonb value",
            ),
            (
                "_delete_at_path",
                "_delete_at_path_input",
                InputMeaning::DeleteAtPath,
                "delete the field or element with specified path (for JSON arrays, negative integers count from the \
                 end)",
            ),
            (
                "_delete_elem",
                "_delete_elem_input",
                InputMeaning::DeleteElem,
                "delete the array element with specified index (negative integers count from the end). throws an \
                 error if top level container is not an array",
            ),
            (
                "_delete_key",
                "_delete_key_input",
                InputMeaning::DeleteKey,
                "delete key/value pair or string element. key/value pairs are matched based on their key value",
            ),
        ];
        let one = |core: &mut Self, field: &str, suffix: &str, meaning: InputMeaning, words: &str| {
            let ty: TypeId = core.reference(name, suffix);
            add(core, field, words, plain(ty), meaning);
        };
        if jsonb {
            for (field, suffix, meaning, words) in json {
                one(self, field, suffix, meaning, words);
            }
        }
        if table.columns.iter().any(|column| column.numeric && column.updatable) {
            let words = "increments the numeric columns with given value of the filtered values";
            one(self, "_inc", "_inc_input", InputMeaning::Inc, words);
        }
        if jsonb {
            let words = "prepend existing jsonb value of filtered columns with new jsonb value";
            one(self, "_prepend", "_prepend_input", InputMeaning::Prepend, words);
        }
        let words = "sets the columns of the filtered rows to the given values";
        one(self, "_set", "_set_input", InputMeaning::Set, words);
    }

    fn deletes(&mut self, table: &TableApi<'_>) {
        let id = table.id;
        let types = table.types;
        let special = &table.tracked.root_fields;
        let (Some(response), true) = (types.mutation_response, table.deletable) else { return };
        let words = ("delete data from the table: ", "");
        self.root(table, ("delete_", ""), &special.delete, words, plain(response), FieldMeaning::Delete(id));
        let words = "filter the rows which have to be deleted";
        self.argument("where", words, non_null(types.bool_exp), InputMeaning::Where(id));
        if table.by_pk {
            let words = ("delete single row from the table: ", "");
            let meaning = FieldMeaning::DeleteByPk(id);
            self.root(
                table,
                ("delete_", "_by_pk"),
                &special.delete_by_pk,
                words,
                plain(types.object),
                meaning,
            );
            self.key_arguments(table);
        }
    }
}
