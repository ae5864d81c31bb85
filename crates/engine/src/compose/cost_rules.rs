//! Applies weights and list sizes to a graph: those of its sources, then those of operators, which overrule them.

use super::{ComposeError, Graph};
use crate::demand::CostRule;
use crate::demand::resolve_rules::ResolvedRules;
use std::sync::Arc;
use weir_language::schema::FieldId;

impl Graph {
    /// The weights and list sizes.
    pub(crate) const fn cost_rules(&self) -> &Arc<ResolvedRules> {
        &self.cost_rules
    }

    /// Applies the rules of all sources. Also returns errors for rules that fit nothing.
    pub(super) fn apply_source_rules(mut self) -> (Self, Vec<ComposeError>) {
        let mut resolved = ResolvedRules::default();
        let mut errors = Vec::new();
        for (source, _) in &self.sources {
            let root = |name: &str| self.root_of(source, name);
            for rule in source.cost_rules() {
                if let Err(reason) = resolved.add(&self.schema, rule, &root) {
                    errors.push(error_of(rule, reason));
                }
            }
        }
        self.complete_rules(resolved);
        (self, errors)
    }

    /// Applies the rules of an operator, which overrule those of sources.
    /// # Errors
    /// Rules that fit nothing.
    pub fn with_cost_rules(mut self, rules: &[CostRule]) -> Result<Self, Vec<ComposeError>> {
        let mut resolved = ResolvedRules::clone(&self.cost_rules);
        let added = rules.iter().filter_map(|rule| {
            let added = resolved.add(&self.schema, rule, &|_| None);
            added.err().map(|reason| error_of(rule, reason))
        });
        let errors: Vec<ComposeError> = added.collect();
        self.complete_rules(resolved);
        if errors.is_empty() { Ok(self) } else { Err(errors) }
    }

    /// Gives implementers the rules of interfaces, and subscriptions to live queries those of the queries.
    fn complete_rules(&mut self, mut resolved: ResolvedRules) {
        resolved.inherit(&self.schema);
        for (source, ids) in &self.sources {
            // The root of queries is the first of the graph.
            let mut first = vec![None; source.schema().fields.len()];
            for (at, own) in ids.fields.iter().enumerate() {
                let Some(first) = first.get_mut(*own as usize) else { continue };
                match *first {
                    None => *first = Some(FieldId(at as u32)),
                    Some(query) => resolved.copy(query, FieldId(at as u32)),
                }
            }
        }
        self.cost_rules = Arc::new(resolved);
    }
}

fn error_of(rule: &CostRule, reason: String) -> ComposeError {
    ComposeError::Cost { place: rule.place.clone(), written: rule.written.clone(), reason }
}
