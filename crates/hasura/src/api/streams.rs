//! Streams: rows of a table in the order of a cursor, batch by batch.

use super::meaning::{EnumMeaning, FieldMeaning, InputMeaning};
use super::schema_core::{Core, NULLABLE_LIST, non_null, plain};
use super::table_types::TableApi;
use weir_language::schema::TypeRef;

impl Core {
    /// `Album_stream`.
    pub(super) fn stream_root(&mut self, table: &TableApi<'_>) {
        let id = table.id;
        let types = table.types;
        let name = &table.tracked.name;
        let words = ("fetch data from the table in a streaming manner: ", "");
        let special = &table.tracked.root_fields.select_stream;
        let rows = super::schema_core::full_list(types.object);
        self.root(table, ("", "_stream"), special, words, rows, FieldMeaning::Stream(id));
        let words = "maximum number of rows returned in a single batch";
        self.argument("batch_size", words, non_null(self.common.int), InputMeaning::BatchSize);
        let base = self.reference(name, "_stream_cursor_input");
        let cursors = TypeRef { base, wraps: NULLABLE_LIST.non_null() };
        let words = "cursor to stream the results returned by the query";
        self.argument("cursor", words, cursors, InputMeaning::StreamCursor(id));
        let filter = plain(types.bool_exp);
        self.argument("where", "filter the rows returned", filter, InputMeaning::Where(id));
    }

    /// The inputs of a table's stream.
    pub(super) fn stream_inputs(&mut self, table: &TableApi<'_>) {
        let name = &table.tracked.name;
        let own = &table.table.name;
        self.input_object(name, "_stream_cursor_input", &["Streaming cursor of the table \"", own, "\""]);
        let value = non_null(self.reference(name, "_stream_cursor_value_input"));
        let words = "Stream column input with initial value";
        self.input_field("initial_value", words, value, InputMeaning::InitialValue);
        let ordering = self.shared_type_name("cursor_ordering").into_owned();
        let ordering = plain(self.b.reference(&ordering));
        self.input_field("ordering", "cursor ordering", ordering, InputMeaning::StreamOrdering);
        let words = ["Initial value of the column from where the streaming should start"];
        self.input_object(name, "_stream_cursor_value_input", &words);
        for column in &table.columns {
            let meaning = InputMeaning::Column(table.id, column.id);
            self.input_field(column.name, column.comment, column.ty, meaning);
        }
    }

    /// `cursor_ordering`.
    pub(super) fn stream_ordering(&mut self) {
        let name = self.shared_type_name("cursor_ordering").into_owned();
        self.b.enumeration(&name, "ordering argument of a cursor");
        for (name, words, descending) in [
            ("ASC", "ascending ordering of the cursor", false),
            ("DESC", "descending ordering of the cursor", true),
        ] {
            self.enum_value(name, words, EnumMeaning::Order { descending, nulls_first: descending });
        }
    }
}
