//! Hasura's API as a front end of a database.

use crate::api::generate_relay;
use crate::api::meaning::{Api, EnumMeaning, FieldMeaning, InputMeaning};
use crate::compile::compile;
use crate::permission::{self, Permissions};
use crate::visibility::visibility;
use std::sync::Arc;
use weir_database::frontend::form::{Form, structural};
use weir_database::frontend::{ApiFrontend, Ask, RowRights, Violation};
use weir_database::postgres::DatabaseRole;
use weir_engine::caller::{Facts, Identity};
use weir_engine::demand::ListSize;
use weir_engine::plan::output_plan::{OutputKind, OutputPlan};
use weir_engine::source::{EntityLookup, Ids, PlanError, PlanNode};
use weir_language::error::Error;
use weir_language::schema::{EnumValueId, FieldId, InputId, Schema, Visibility};
use weir_language::value::{Node, Variables};
use weir_relational::catalog::{ColumnId, Relations, TableId};
use weir_relational::passes::policy::{Everything, Policy};
use weir_relational::plan::{Filter, Plan};

impl ApiFrontend for Api {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn namespace(&self) -> Option<&str> {
        // Relay's clients look for `node` at the root.
        self.model.customization.root_fields.namespace.as_deref().filter(|_| !self.is_relay)
    }

    fn entity_lookups(&self) -> &[EntityLookup] {
        &self.entity_lookups
    }

    fn relations(&self) -> &Relations {
        &self.model.relations
    }

    fn is_exposed(&self, table: TableId, column: Option<&str>, facts: &[u64]) -> bool {
        let columns = &self.model.relations.catalog.table(table).columns;
        let at = |name: &str| columns.iter().position(|it| it.name == name).map(|it| ColumnId(it as u32));
        self.model.tracked_table(table).is_some()
            && (Permissions::is_admin(facts)
                || match column {
                    None => self.permissions.knows(facts, table, None),
                    Some(name) => at(name).is_some_and(|it| self.permissions.knows(facts, table, Some(it))),
                })
    }

    fn row_rights(&self, table: TableId, facts: &[u64]) -> Result<RowRights, Box<str>> {
        let Some(tracked) = self.model.tracked_table(table) else {
            return Err("the table is not tracked".into());
        };
        if self.row_security.is_some() {
            return Err("the database itself chooses the rows here, by its own policies: ask it".into());
        }
        let served = tracked.columns.iter().map(Option::is_some);
        if Permissions::is_admin(facts) {
            return Ok(RowRights { is_granted: true, columns: served.collect(), ..RowRights::default() });
        }
        Ok(self.permissions.row_rights(facts, table, tracked.columns.len()))
    }

    fn read_condition(&self, table: TableId, json: &str) -> Result<Filter, Box<str>> {
        permission::read_condition(&self.model, table, json).map_err(String::into_boxed_str)
    }

    fn policy(&self, facts: &[u64]) -> Arc<dyn Policy> {
        if Permissions::is_admin(facts) {
            Arc::new(Everything)
        } else {
            Arc::new(self.permissions.policy(facts))
        }
    }

    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        match &self.row_security {
            None => self.permissions.profile(identity, facts),
            Some(rules) => {
                let Identity { role, is_anonymous, claims, .. } = identity;
                let role = DatabaseRole::of(rules, role, *is_anonymous, claims);
                self.permissions.secured_profile(&role, facts);
            }
        }
    }

    fn visibility(&self, facts: &[u64]) -> Option<Visibility> {
        Some(visibility(self, facts))
    }

    fn list_size(&self, field: FieldId, facts: &[u64]) -> Option<ListSize> {
        self.list_size(field, facts)
    }

    fn violation(&self, constraint: &str, _facts: &[u64]) -> Option<Violation<'_>> {
        let message = self.model.messages.get(constraint)?;
        Some(Violation { message, code: None })
    }

    fn ask(&self, plan_node: &PlanNode<'_>) -> Ask {
        let mut structural = structural(plan_node, self);
        let steered = self.identifiers(plan_node);
        let mut more: Vec<u32> = steered.iter().map(|it| it.0).collect();
        more.retain(|it| !structural.contains(it));
        more.dedup();
        structural.extend(more);
        Ask {
            set: plan_node.set,
            fields: plan_node.fields.to_vec(),
            protocol: plan_node.protocol,
            objects: find_row_lists(self, &structural, plan_node),
            signed: Vec::new(),
            steered,
            named: Vec::new(),
            conditions_max: plan_node.conditions_max,
            is_stream: is_stream(self, plan_node),
            facts: plan_node.facts.into(),
            structural,
        }
    }

    fn enum_texts(&self) -> &[Option<Box<str>>] {
        &self.enum_texts
    }

    /// Values of enum tables are data.
    fn chooses(&self, value: EnumValueId) -> bool {
        !matches!(self.enum_values.get(value.index()), Some(EnumMeaning::TableValue(..)) | None)
    }

    fn steers(&self, input: InputId, text: &str) -> Option<u32> {
        self.way(input, text)
    }

    fn relay(&self) -> Option<Result<Arc<dyn ApiFrontend>, Vec<Error>>> {
        let made = generate_relay(self);
        Some(made.map(|it| Arc::new(it) as Arc<dyn ApiFrontend>))
    }

    fn compile(
        &self,
        ids: &Ids,
        output: &OutputPlan,
        ask: &Ask,
        variables: Option<(&Variables, &Form)>,
    ) -> Result<Plan, PlanError> {
        compile(self, ids, output, ask, variables)
    }
}

/// True if rows of a stream are asked for.
fn is_stream(api: &Api, plan_node: &PlanNode<'_>) -> bool {
    let meaning = |it: &u32| api.field(plan_node.ids.field(plan_node.output.fields[*it as usize].field));
    let own = plan_node.fields.iter().filter(|it| {
        let member = plan_node.output.fields[**it as usize].member;
        !matches!(member, OutputKind::Constant { .. } | OutputKind::Foreign { .. })
    });
    own.map(meaning).any(|it| matches!(it, FieldMeaning::Stream(_)))
}

/// The variables among `structural` that are used only as a whole `objects` argument.
fn find_row_lists(api: &Api, structural: &[u32], plan_node: &PlanNode<'_>) -> Vec<u32> {
    let output = plan_node.output;
    let nodes = &output.literals.nodes;
    let arguments = || plan_node.fields.iter().flat_map(|&it| output.arguments(&output.fields[it as usize]));
    let is_objects = |input| matches!(api.input(plan_node.ids.input(input)), InputMeaning::Objects(_));
    let only = |variable: &u32| {
        let node = Node::Variable(*variable);
        let uses = nodes.iter().filter(|it| **it == node).count();
        let whole = arguments().filter(|it| nodes[it.value as usize] == node && is_objects(it.input)).count();
        whole > 0 && whole == uses
    };
    structural.iter().copied().filter(only).collect()
}
