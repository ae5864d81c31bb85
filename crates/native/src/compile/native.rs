//! Native types as a style of API: what the drivers ask while planning.

use super::{At, compile};
use crate::api::meaning::{Api, EnumMeaning, InputMeaning};
use crate::layout::{Layout, View};
use crate::model::{TypeId, TypeKind};
use hashbrown::HashMap;
use std::sync::Arc;
use weir_engine::plan::shape::Shape;
use weir_engine::source::{Ids, Piece, PlanError};
use weir_language::schema::{EnumValueId, Schema};
use weir_language::value::{Node, Variables};
use weir_sql::catalog::{ColumnId, TableId};
use weir_sql::model::{Model, Relationship, RelationshipId, RelationshipKind};
use weir_sql::relational::Plan;
use weir_sql::relational::compile::Ask;
use weir_sql::relational::form::{Form, structural};
use weir_sql::relational::piece::Style;

/// An API over native types and where they are stored.
#[derive(Debug)]
pub struct Native {
    /// Schema and meanings.
    pub api: Api,
    /// Tables and columns.
    pub layout: Layout,
    /// From the registry of an abstract type to the tables of its members.
    to_members: HashMap<(TypeId, TypeId), RelationshipId>,
}

impl Native {
    /// Serves `api`, stored as `layout` says.
    #[must_use]
    pub fn new(api: Api, mut layout: Layout) -> Self {
        let mut to_members = HashMap::new();
        for ty in api.model.type_ids() {
            let abstract_type = api.model.ty(ty);
            if abstract_type.kind == TypeKind::Object {
                continue;
            }
            for &member in &abstract_type.members {
                let way = Relationship {
                    name: api.model.ty(member).name.clone(),
                    from: layout.tables[ty.index()],
                    to: layout.tables[member.index()],
                    on: vec![(layout.ids[ty.index()], layout.ids[member.index()])],
                    call: None,
                    through: None,
                    kind: RelationshipKind::Object { certain: false },
                    insert_first: false,
                    enforced: false,
                };
                to_members.insert((ty, member), RelationshipId(layout.sql.relationships.len() as u32));
                layout.sql.relationships.push(way);
            }
        }
        Self { api, layout, to_members }
    }

    /// The rows of objects of `ty`; of an abstract type, its registry.
    pub(super) fn registry(&self, ty: TypeId) -> At {
        let layout = &self.layout;
        let at = ty.index();
        At { ty, table: layout.tables[at], id: layout.ids[at], kind: layout.kinds[at] }
    }

    /// The rows of objects of `ty` with the columns of its fields: of an interface, its view.
    pub(super) fn rows_of(&self, ty: TypeId) -> At {
        match &self.layout.all[ty.index()] {
            Some(View { table, id, kind, .. }) => At { ty, table: *table, id: *id, kind: Some(*kind) },
            None => self.registry(ty),
        }
    }

    /// From the registry of an abstract type to the table of a member.
    pub(super) fn to_member(&self, ty: TypeId, member: TypeId) -> Option<RelationshipId> {
        self.to_members.get(&(ty, member)).copied()
    }

    /// The names of the indexes of one kind on the columns that `column` of `table` shows: its own, or those of a view's
    /// members.
    pub(super) fn indexes(
        &self,
        table: TableId,
        column: ColumnId,
        kind: crate::layout::IndexKind,
    ) -> Vec<Box<str>> {
        let own = |table, column| self.layout.index(table, column, kind).map(|it| it.name.as_str().into());
        let views = self.layout.all.iter().enumerate();
        let view = views.filter_map(|(ty, it)| Some((ty, it.as_ref()?))).find(|it| it.1.table == table);
        let Some((ty, view)) = view else { return own(table, column).into_iter().collect() };
        let members = self.api.model.types[ty].members.iter().zip(&view.members);
        members
            .filter_map(|(member, columns)| {
                own(self.layout.tables[member.index()], columns[column.0 as usize]?)
            })
            .collect()
    }
}

impl Style for Native {
    fn schema(&self) -> &Arc<Schema> {
        &self.api.schema
    }

    fn model(&self) -> &Model {
        &self.layout.sql
    }

    fn ask(&self, piece: &Piece<'_>) -> Ask {
        let mut structural = structural(piece, self);
        let nodes = &piece.shape.literals.nodes;
        let is_first = |input| {
            let own = piece.ids.input(input);
            self.api.inputs.get(own.index()) == Some(&InputMeaning::First)
        };
        let mut signed = Vec::new();
        for argument in piece.shape.arguments.iter().filter(|it| is_first(it.input)) {
            if let Node::Variable(variable) = nodes[argument.value as usize]
                && !signed.contains(&variable)
            {
                signed.push(variable);
            }
        }
        structural.extend(signed.iter().filter(|it| !structural.contains(it)).copied().collect::<Vec<_>>());
        let (set, fields, accent) = (piece.set, piece.fields.to_vec(), piece.accent);
        Ask { set, fields, accent, structural, objects: Vec::new(), signed }
    }

    /// Values of the enums of the model are data.
    fn chooses(&self, value: EnumValueId) -> bool {
        match self.api.enum_values.get(value.index()) {
            Some(EnumMeaning::Value(..)) | None => false,
            Some(EnumMeaning::None | EnumMeaning::Field(_) | EnumMeaning::Member(_)) => true,
        }
    }

    fn compile(
        &self,
        ids: &Ids,
        shape: &Shape,
        ask: &Ask,
        variables: Option<(&Variables, &Form)>,
    ) -> Result<Plan, PlanError> {
        compile(self, ids, shape, ask, variables)
    }
}
