//! Relay's form of the API: `node`, connections with edges and cursors, identifiers of rows.
//!
//! Source: the specification of Relay, "Cursor Connections" and "Global Object Identification"; `docs/relay.md`.

use super::generate::Tables;
use super::meaning::{FieldMeaning, InputMeaning, PageFact};
use super::schema_core::{Core, Style, full_list, list, non_null, plain, write};
use super::table_types::TableApi;
use crate::model::Model;
use weir_language::schema::TypeRef;
use weir_relational::catalog::{RelationshipId, RelationshipKind};

/// The name of the field that holds a row's identifier; a column of this name is not selected in this form.
pub(crate) const IDENTIFIER: &str = "id";

/// The interface of all rows that have identifiers.
const NODE: &str = "Node";

const PAGE_INFO: &str = "PageInfo";

/// The suffix of the names of connections.
const SUFFIX: &str = "_connection";

impl Core {
    /// `node` and the connections of all tables, if any row has an identifier.
    pub(super) fn connection_roots(&mut self, tables: &Tables<'_>) {
        let mut any = false;
        for table in tables.iter() {
            let Some(connection) = table.types.connection else { continue };
            any = true;
            let words = ["fetch a page of data from the table: \"", &table.table.name, "\""];
            let name = ["", &table.tracked.name, SUFFIX];
            let meaning = FieldMeaning::Connection(table.id);
            self.root_field(name, false, &words, non_null(connection), meaning);
            self.pages(table);
        }
        if any {
            let node = self.b.reference(NODE);
            self.field("node", "fetch an object by its global id", plain(node), FieldMeaning::Node);
            let id = self.b.reference("ID");
            self.argument("id", "a global id", non_null(id), InputMeaning::NodeId);
        }
    }

    /// The arguments of a connection.
    fn pages(&mut self, table: &TableApi<'_>) {
        let id = table.id;
        let types = table.types;
        let int = plain(self.common.int);
        let string = plain(self.common.string);
        self.argument("after", "rows behind this cursor", string, InputMeaning::After);
        self.argument("before", "rows ahead of this cursor", string, InputMeaning::Before);
        let distinct = list(types.select_column);
        self.argument("distinct_on", "distinct select on columns", distinct, InputMeaning::DistinctOn(id));
        self.argument("first", "so many rows from the start", int, InputMeaning::First);
        self.argument("last", "so many rows from the end", int, InputMeaning::Last);
        let order = list(types.order_by);
        self.argument("order_by", "sort the rows by one or more columns", order, InputMeaning::OrderBy(id));
        let filter = plain(types.bool_exp);
        self.argument("where", "filter the rows returned", filter, InputMeaning::Where(id));
    }

    /// Makes the open type a node, with its identifier.
    pub(super) fn identifier(&mut self, table: &TableApi<'_>) {
        let node = self.b.reference(NODE);
        self.b.implement(node);
        let id = self.b.reference("ID");
        let words = "the identifier of the row among those of all tables";
        self.field(IDENTIFIER, words, non_null(id), FieldMeaning::Identifier(table.id));
    }

    /// The connection of an array relationship of the rows of `of`.
    pub(super) fn related_connection(
        &mut self,
        model: &Model,
        tables: &Tables<'_>,
        of: &TableApi<'_>,
        id: RelationshipId,
    ) {
        let relationship = model.relations.relationship(id);
        let connection = tables.get(relationship.to).and_then(|it| Some((it, it.types.connection?)));
        let Some((target, connection)) = connection else { return };
        if relationship.kind != RelationshipKind::Array || relationship.call.is_some() {
            return;
        }
        let mut name = std::mem::take(&mut self.name);
        write(&mut name, &[&relationship.name, SUFFIX]);
        let is_taken = of.columns.iter().any(|it| it.name == name)
            || of.tracked.relationships.iter().any(|it| model.relations.relationship(*it).name == name);
        if !is_taken {
            let ty = non_null(connection);
            self.field(&name, "An array relationship connection", ty, FieldMeaning::RelatedConnection(id));
            self.pages(target);
        }
        self.name = name;
    }

    /// The types of a table's connection and of its edges.
    pub(super) fn connection(&mut self, table: &TableApi<'_>) {
        if table.types.connection.is_none() {
            return;
        }
        let id = table.id;
        let base = &table.tracked.name;
        let name = &table.table.name;
        let edge = self.reference(base, "Edge");
        let info = self.b.reference(PAGE_INFO);
        self.object(base, "Connection", &["a page of rows of \"", name, "\""]);
        self.field("edges", "", full_list(edge), FieldMeaning::Edges(id));
        self.field("pageInfo", "", non_null(info), FieldMeaning::PageInfo(id));
        self.object(base, "Edge", &["a row of \"", name, "\" with its cursor"]);
        self.field("cursor", "", non_null(self.common.string), FieldMeaning::Cursor(id));
        self.field("node", "", non_null(table.types.object), FieldMeaning::EdgeNode(id));
    }

    /// The interface of nodes and `PageInfo`, where something refers to them.
    pub(super) fn page_types(&mut self) {
        if self.style != Style::Connections || !self.fields.contains(&FieldMeaning::Node) {
            return;
        }
        let id = self.b.reference("ID");
        self.b.interface(NODE, "An object with globally unique ID");
        self.field(IDENTIFIER, "A globally unique identifier", non_null(id), FieldMeaning::None);
        self.b.object(PAGE_INFO, "the position of a page among all rows");
        let boolean = non_null(self.common.boolean);
        let string = non_null(self.common.string);
        let facts: [(&str, &str, TypeRef, PageFact); 4] = [
            ("endCursor", "the cursor of the last row; empty without rows", string, PageFact::End),
            ("hasNextPage", "true if rows follow the last one", boolean, PageFact::HasNext),
            ("hasPreviousPage", "true if rows go before the first one", boolean, PageFact::HasPrevious),
            ("startCursor", "the cursor of the first row; empty without rows", string, PageFact::Start),
        ];
        for (name, words, ty, fact) in facts {
            self.field(name, words, ty, FieldMeaning::PageFact(fact));
        }
    }
}
