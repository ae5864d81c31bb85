//! Look-ahead: which fields a request selects below a field, read from the plan.
//!
//! **Cost:** nothing is built; a question walks the members of one selection.

use std::sync::Arc;
use weir_engine::plan::output_plan::{OutputField, OutputKind, OutputPlan, SelectionSetId};
use weir_engine::source::Ids;
use weir_language::schema::Schema;

/// The selection below one field of a plan.
#[derive(Clone)]
pub struct Lookahead {
    output: Arc<OutputPlan>,
    schema: Arc<Schema>,
    ids: Arc<Ids>,
    /// Place of the field in [`OutputPlan::fields`].
    field: u32,
}

impl Lookahead {
    pub(crate) fn new(output: &Arc<OutputPlan>, schema: &Arc<Schema>, ids: &Arc<Ids>, field: u32) -> Self {
        let (output, schema, ids) = (Arc::clone(output), Arc::clone(schema), Arc::clone(ids));
        Self { output, schema, ids, field }
    }

    /// The field's own response name: its alias, or its name.
    #[must_use]
    pub fn response_name(&self) -> &str {
        self.own().key.name()
    }

    /// True if the field `name` is selected here, for any of the types that may stand here.
    #[must_use]
    pub fn selects(&self, name: &str) -> bool {
        self.members().any(|(_, field)| self.name(field) == Some(name))
    }

    /// The selection below the field `name`; the first of several with different aliases.
    #[must_use]
    pub fn below(&self, name: &str) -> Option<Self> {
        let (field, _) = self.members().find(|(_, field)| self.name(field) == Some(name))?;
        Some(Self { field, ..self.clone() })
    }

    /// Names of the selected fields, each once, in the order of the response.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for name in self.members().filter_map(|(_, field)| self.name(field)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn own(&self) -> &OutputField {
        let field = &self.output.fields[self.field as usize];
        match field.member {
            // The selection below a field that is fetched separately stands in the set of its own fetch.
            OutputKind::Foreign { field, .. } => &self.output.fields[field as usize],
            _ => field,
        }
    }

    /// The name in the schema of the library; `None` for fields of other sources and `__typename`.
    fn name(&self, field: &OutputField) -> Option<&str> {
        let own = self.ids.field(field.field);
        let is_own = own.0 != u32::MAX && own != self.schema.meta.typename;
        is_own.then(|| self.schema.field_name(own))
    }

    fn members(&self) -> impl Iterator<Item = (u32, &OutputField)> {
        let sets: Vec<SelectionSetId> = match self.own().member {
            OutputKind::Object(set) => vec![set],
            OutputKind::Abstract(choice) => {
                self.output.type_switches[choice.0 as usize].sets.iter().map(|it| it.1).collect()
            }
            OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => Vec::new(),
        };
        let places = sets.into_iter().flat_map(|set| self.output.set(set).range());
        places.map(|at| (at as u32, &self.output.fields[at]))
    }
}
