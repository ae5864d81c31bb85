//! Sizes of the lists of the API: by `limit` and its like, by the rows of a mutation, and by the limit of the caller's permission.

use crate::api::meaning::{Api, FieldMeaning, InputMeaning};
use weir_engine::demand::ListSize;
use weir_language::schema::{FieldId, TypeKind};
use weir_relational::catalog::TableId;

impl Api {
    /// The size of the list of `field`, or of the list below it; `None`: there is none.
    pub(crate) fn list_size(&self, field: FieldId, facts: &[u64]) -> Option<ListSize> {
        let schema = &self.schema;
        let ty = schema.field(field).ty;
        let sized: Vec<Box<str>> = if ty.wraps.is_list() { Vec::new() } else { self.lists_below(field) };
        if !ty.wraps.is_list() && sized.is_empty() {
            return None;
        }
        let slicing = schema.arguments(field).filter(|it| {
            matches!(
                self.input(*it),
                InputMeaning::Limit
                    | InputMeaning::First
                    | InputMeaning::Last
                    | InputMeaning::BatchSize
                    | InputMeaning::Objects(_)
                    | InputMeaning::Updates(_)
            )
        });
        let slicing = slicing.map(|it| schema.input_name(it).into()).collect();
        let max = self.read_table(field).and_then(|table| self.permissions.row_limit(facts, table));
        Some(ListSize { slicing, sized, max: max.map(u64::from), ..ListSize::default() })
    }

    /// The lists of rows in the object that `field` returns.
    fn lists_below(&self, field: FieldId) -> Vec<Box<str>> {
        let schema = &self.schema;
        let ty = schema.ty(schema.field(field).ty.base);
        if ty.kind != TypeKind::Object {
            return Vec::new();
        }
        let fields = ty.fields.range().map(|it| FieldId(it as u32)).filter(|it| {
            matches!(
                self.field(*it),
                FieldMeaning::Nodes(_) | FieldMeaning::Edges(_) | FieldMeaning::Returning(_)
            )
        });
        fields.map(|it| schema.field_name(it).into()).collect()
    }

    /// The table whose rows `field` reads, if the permission of its readers limits how many.
    fn read_table(&self, field: FieldId) -> Option<TableId> {
        match self.field(field) {
            FieldMeaning::Connection(table)
            | FieldMeaning::Select(table)
            | FieldMeaning::Stream(table)
            | FieldMeaning::SelectAggregate(table)
            | FieldMeaning::Lookup(table)
            | FieldMeaning::LookupAggregate(table)
            | FieldMeaning::Call(_, table)
            | FieldMeaning::CallAggregate(_, table)
            | FieldMeaning::Nodes(table)
            | FieldMeaning::Edges(table) => Some(table),
            FieldMeaning::Related(relationship)
            | FieldMeaning::RelatedConnection(relationship)
            | FieldMeaning::RelatedAggregate(relationship) => {
                Some(self.model.relations.relationship(relationship).to)
            }
            FieldMeaning::None
            | FieldMeaning::Node
            | FieldMeaning::Identifier(_)
            | FieldMeaning::EdgeNode(_)
            | FieldMeaning::Cursor(_)
            | FieldMeaning::PageInfo(_)
            | FieldMeaning::PageFact(_)
            | FieldMeaning::ByPk(_)
            | FieldMeaning::GroupBy(_)
            | FieldMeaning::LookupOne(_)
            | FieldMeaning::Computed(_)
            | FieldMeaning::Insert(_)
            | FieldMeaning::InsertOne(_)
            | FieldMeaning::Update(_)
            | FieldMeaning::UpdateByPk(_)
            | FieldMeaning::UpdateMany(_)
            | FieldMeaning::Delete(_)
            | FieldMeaning::DeleteByPk(_)
            | FieldMeaning::Column(..)
            | FieldMeaning::Aggregate(_)
            | FieldMeaning::Count(_)
            | FieldMeaning::Function(..)
            | FieldMeaning::FunctionColumn(..)
            | FieldMeaning::GroupKey(_)
            | FieldMeaning::AffectedRows(_)
            | FieldMeaning::Returning(_) => None,
        }
    }
}
