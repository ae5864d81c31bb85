//! Queries of `@auth` rules as conditions on rows: every selected field has to be there, at every depth.

use super::cascade::Cascade;
use super::native::Native;
use super::{Compiler, Purpose};
use crate::api::meaning::FieldMeaning;
use crate::auth::FoundRows;
use crate::auth::graph::GraphQuery;
use crate::auth::rule_tree::{AbstractMember, RowsOfType, RuleTables};
use crate::model::{TypeId, TypeKind};
use std::cell::Cell;
use std::sync::Arc;
use weir_database::frontend::input::Inputs;
use weir_engine::source::{Ids, Protocol};
use weir_relational::catalog::{ColumnAt, Relations, Relationship, RelationshipId, RelationshipKind};
use weir_relational::passes::bounds::Bounds;
use weir_relational::plan::Plan;

/// Parts that the condition of one rule may have.
const CONDITIONS_MAX: u32 = 10_000;

impl Native {
    /// The rows that a query of a rule finds; `None`: it cannot be a condition.
    pub(super) fn rows_of_rule(&self, query: &GraphQuery) -> Option<FoundRows> {
        let ids = Ids::default();
        let field = &query.output.fields[query.field as usize];
        let FieldMeaning::Query(on) = self.api.field(ids.field(field.field)) else { return None };
        let inputs = Inputs { literals: &query.output.literals, variables: None, structural: &[] };
        let mut compiler = Compiler {
            native: self,
            ids: &ids,
            output: &query.output,
            protocol: Protocol::GraphqlOverHttp,
            inputs,
            plan: Plan::default(),
            keys: Vec::new(),
            field: query.field,
            depth: 0,
            bounds: Bounds::new(CONDITIONS_MAX),
            cascade: Some(Arc::new(Cascade::All)),
            policy: None,
            rule: Some(query),
            is_inexpressible: Cell::new(false),
            purpose: Purpose::Root,
        };
        let rows = compiler.rows_arguments(field, on).ok()?;
        let found = FoundRows { on, table: rows.at.table, filter: rows.filter };
        (!compiler.is_inexpressible.get()).then_some(found)
    }

    /// The tables of objects, and the ways between an object's own and those of its interfaces and unions.
    pub(super) fn places(&self) -> RuleTables {
        let mut places = RuleTables { relations: self.layout.relations.clone(), ..RuleTables::default() };
        for ty in self.api.model.type_ids() {
            let is_object = self.api.model.ty(ty).kind == TypeKind::Object;
            for at in [self.registry(ty), self.rows_of(ty)] {
                let kind = at.kind.filter(|_| !is_object);
                let is_new = places.rows.insert(at.table, RowsOfType { ty, kind }).is_none();
                if !is_object && is_new {
                    self.connect(ty, ColumnAt { table: at.table, column: at.id }, &mut places);
                }
            }
        }
        places
    }

    /// Adds the ways between rows of an abstract type and those of its members.
    fn connect(&self, ty: TypeId, rows: ColumnAt, places: &mut RuleTables) {
        for &member in &self.api.model.ty(ty).members {
            let own = ColumnAt {
                table: self.layout.tables[member.index()],
                column: self.layout.ids[member.index()],
            };
            let name = self.api.model.ty(member).name.as_str();
            let by = add_relationship(&mut places.relations, name, rows, own);
            let back = add_relationship(&mut places.relations, name, own, rows);
            places.to_abstract.insert((member, rows.table), back);
            let member = AbstractMember { ty: member, name: name.into(), by };
            places.members.entry(rows.table).or_default().push(member);
        }
    }
}

/// Adds a way between rows with the same number.
fn add_relationship(relations: &mut Relations, name: &str, from: ColumnAt, to: ColumnAt) -> RelationshipId {
    relations.relationships.push(Relationship {
        name: name.to_owned(),
        from: from.table,
        to: to.table,
        comment: None,
        on: vec![(from.column, to.column)],
        call: None,
        through: None,
        kind: RelationshipKind::Object { certain: false },
        insert_first: false,
        enforced: false,
        deferrable: false,
    });
    RelationshipId(relations.relationships.len() as u32 - 1)
}
