//! Weights of a graph: rules where there are some, defaults by the kind of type elsewhere.

use super::DemandControl;
use super::resolve_rules::ResolvedRules;
use super::units::{UNIT, add};
use smallvec::SmallVec;
use std::sync::Arc;
use weir_language::schema::{FieldId, InputId, Schema, TypeId, TypeKind};
use weir_language::value::{Node, Values, Variables};

/// Weights and list sizes of a graph.
#[derive(Debug)]
pub(crate) struct Weights {
    schema: Arc<Schema>,
    rules: Arc<ResolvedRules>,
    /// Size of a list that nothing limits.
    pub(crate) list_size: u64,
    /// Thousandths that every mutation has.
    pub(crate) mutation: u64,
}

/// Weight of a variable where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VariableWeight {
    pub(crate) variable: u32,
    /// Thousandths of each value there.
    pub(crate) weight: u64,
    /// Thousandths if it is absent: those of a default.
    pub(crate) absent: u64,
}

impl Weights {
    pub(crate) fn new(schema: &Arc<Schema>, rules: &Arc<ResolvedRules>, control: &DemandControl) -> Self {
        Self {
            schema: Arc::clone(schema),
            rules: Arc::clone(rules),
            list_size: control.list_size.into(),
            mutation: u64::from(control.mutation_weight) * UNIT,
        }
    }

    /// The rules.
    pub(crate) fn rules(&self) -> &ResolvedRules {
        &self.rules
    }

    /// Weight of a type: 1 for objects, and for each input object; 0 for scalars and enums.
    pub(crate) fn ty(&self, id: TypeId) -> u64 {
        let rule = if self.rules.types.is_empty() { None } else { self.rules.types.get(&id).copied() };
        rule.unwrap_or_else(|| match self.schema.ty(id).kind {
            TypeKind::Object | TypeKind::Interface | TypeKind::Union | TypeKind::Input { .. } => UNIT,
            TypeKind::Scalar(_) | TypeKind::Enum => 0,
        })
    }

    /// Weight of a field that has one of its own, which stands in place of its type's.
    pub(crate) fn field(&self, id: FieldId) -> Option<u64> {
        self.rules.fields.get(&id).copied()
    }

    /// Weight of each value of an argument or input field.
    pub(crate) fn input(&self, id: InputId) -> u64 {
        let rule = if self.rules.inputs.is_empty() { None } else { self.rules.inputs.get(&id).copied() };
        rule.unwrap_or_else(|| self.ty(self.schema.input(id).ty.base))
    }

    /// Cost of the value of a variable.
    pub(crate) fn variable_cost(&self, variables: &Variables, value: &VariableWeight) -> u64 {
        let Some(&start) = variables.starts.get(value.variable as usize) else { return 0 };
        let values = &variables.values;
        if values.nodes[start as usize] == Node::Absent {
            return value.absent;
        }
        self.value_cost(values, start as usize, value.weight, &mut |_, _| {})
    }

    /// Cost of the value at `start`, of whose variables `on_variable` learns number and weight. Each item of a list has the weight of
    /// the list's place.
    pub(crate) fn value_cost(
        &self,
        values: &Values,
        start: usize,
        weight: u64,
        on_variable: &mut dyn FnMut(u32, u64),
    ) -> u64 {
        let mut total = 0;
        // Open lists: where they end, and the weight of their items.
        let mut lists: SmallVec<[(usize, u64); 8]> = SmallVec::new();
        let mut expected = Some(weight);
        for at in start..values.end(start) {
            while lists.last().is_some_and(|it| it.0 <= at) {
                lists.pop();
            }
            if let Node::Key(input) = values.nodes[at] {
                expected = Some(self.input(input));
                continue;
            }
            let weight = expected.take().or_else(|| lists.last().map(|it| it.1)).unwrap_or_default();
            match values.nodes[at] {
                Node::List { end, .. } => lists.push((end as usize, weight)),
                Node::Variable(variable) => on_variable(variable, weight),
                Node::Absent | Node::Null | Node::Key(_) => {}
                Node::Bool(_)
                | Node::Int(_)
                | Node::QuotedInt(_)
                | Node::Float(_)
                | Node::Number(_)
                | Node::Text(_)
                | Node::Json(_)
                | Node::Enum(_)
                | Node::Object { .. }
                | Node::Parent(_) => total = add(total, weight),
            }
        }
        total
    }
}
