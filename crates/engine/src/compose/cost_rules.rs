//! Applies weights and list sizes to a graph: those of its sources, then those of operators, which overrule them.

use super::{ComposeError, Graph};
use crate::request::demand::CostRule;
use crate::request::demand::resolve_rules::ResolvedRules;
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

    /// Applies the rules of an operator, which overrule those of sources. Rules that fit nothing are ignored.
    pub(crate) fn apply_operator_rules(&mut self, rules: &[CostRule]) {
        let mut resolved = ResolvedRules::clone(&self.cost_rules);
        // `check_cost_rules` reports the others.
        rules.iter().for_each(|rule| drop(resolved.add(&self.schema, rule, &|_| None)));
        self.complete_rules(resolved);
    }

    /// The reasons for which rules of an operator fit nothing, by their places in `rules`.
    pub fn check_cost_rules(&self, rules: &[CostRule]) -> Vec<(usize, String)> {
        let mut scratch = ResolvedRules::default();
        let added = rules.iter().enumerate().filter_map(|(at, rule)| {
            let added = scratch.add(&self.schema, rule, &|_| None);
            added.err().map(|reason| (at, reason))
        });
        added.collect()
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
