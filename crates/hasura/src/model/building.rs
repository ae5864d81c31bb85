//! A model in the making.

use super::{Model, ModelOptions};
use hashbrown::HashMap;
use weir_relational::catalog::{
    ConfigStep, FunctionId, Relationship, RelationshipId, TableId, TableKind, Warning,
};

/// A model in the making.
pub(super) struct Building<'o> {
    pub(super) model: Model,
    pub(super) options: ModelOptions<'o>,
    pub(super) warnings: Vec<Warning>,
    /// Entries whose table is there: place of the entry, table.
    pub(super) entries: Vec<(usize, TableId)>,
    /// Logical models: place of the entry, table.
    pub(super) models: Vec<(usize, TableId)>,
    /// Native queries by their names, with the tables of their rows.
    pub(super) natives: HashMap<String, (FunctionId, TableId)>,
}

impl Building<'_> {
    pub(super) fn warn_at(&mut self, table: TableId, member: &str, reason: String, entry: Vec<ConfigStep>) {
        let place = format!("{}.{member}", self.model.relations.catalog.table(table).name);
        self.warnings.push(Warning { place, reason, entry });
    }

    /// True if the rule gives some root field this name.
    pub(super) fn is_root(&self, name: &str) -> bool {
        let verbs = ["", "insert_", "update_", "delete_"];
        let ends = ["", "_one", "_by_pk", "_many", "_aggregate", "_group_by", "_stream"];
        let mut rests = verbs
            .iter()
            .filter_map(|verb| name.strip_prefix(verb))
            .flat_map(|rest| ends.iter().filter_map(move |end| rest.strip_suffix(end)));
        rests.any(|base| self.model.all().any(|it| it.1.kind != TableKind::Model && it.2.name == base))
    }

    pub(super) fn add_relationship(&mut self, relationship: Relationship) {
        let id = RelationshipId(self.model.relations.relationships.len() as u32);
        if let Some(tracked) = &mut self.model.tables[relationship.from.0 as usize] {
            tracked.relationships.push(id);
            self.model.relations.relationships.push(relationship);
        }
    }
}
