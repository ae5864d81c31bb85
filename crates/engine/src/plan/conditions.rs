//! Variables that control `@skip`, `@include`, `@defer` and `@stream`, and the resulting selections.
//!
//! The state of these variables is part of a plan's key: a plan has only the selected fields, however many variables there are.
//! Most clients use few of the states.
//!
//! **Cost:** one walk over the selections an operation can reach, each fragment once.
//! Source: GraphQL specification, sections 3.13.1 and 3.13.2.

use std::cell::Cell;
use weir_language::ast::{Directive, Document, List, Selection, ValueId, ValueKind};
use weir_language::validate::Selected;
use weir_language::value::{Node, Variables};

/// The most variables that fit into a state.
const STEERING_MAX: usize = 64;

/// The variables that `@skip`, `@include` and, where parts may come later, the `if` of `@defer` and `@stream` of one operation
/// name, by number: bit `i` of the state is the `i`th.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConditionVariables {
    variables: Vec<SteeringVariable>,
}

/// A variable, by its number, and the offset of the condition in which it stands first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SteeringVariable {
    number: u32,
    offset: u32,
}

impl ConditionVariables {
    /// Adds variables of `@defer` and `@stream`, which a plan may leave to the execution.
    fn add_while_there_is_room(&mut self, variables: Vec<SteeringVariable>) {
        for variable in variables {
            if self.variables.len() < STEERING_MAX && !self.has(variable.number) {
                self.variables.push(variable);
            }
        }
    }

    /// True if there are none, so that the operation has one plan.
    pub(crate) fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// States that the variables can be in; nothing if they are more than `max`.
    pub(crate) fn states(&self, max: u64) -> Option<u64> {
        let states = 1u64.checked_shl(u32::try_from(self.variables.len()).ok()?)?;
        (states <= max).then_some(states)
    }

    /// Offsets of conditions on variables in `asked` that are null: a default allowed the variable there, but a condition takes no
    /// null.
    pub(crate) fn nulls(&self, asked: u64, variables: &Variables) -> impl Iterator<Item = u32> {
        let all = self.variables.iter().enumerate();
        all.filter(move |(bit, it)| asked >> bit & 1 == 1 && variables.node(it.number) == Node::Null)
            .map(|(_, it)| it.offset)
    }

    fn has(&self, number: u32) -> bool {
        self.variables.iter().any(|it| it.number == number)
    }

    /// State of a request. Null counts as false, and is refused later if the plan depends on it.
    pub(crate) fn bits(&self, variables: &Variables) -> u64 {
        let mut bits = 0;
        for (bit, it) in self.variables.iter().enumerate() {
            bits |= u64::from(variables.node(it.number) == Node::Bool(true)) << bit;
        }
        bits
    }
}

/// Finds the condition variables of an operation. `None`: there are more than fit into a state.
///
/// Conditions of `@defer` and `@stream` count only if `is_incremental`. If they do not fit, nothing is deferred or streamed.
pub(crate) fn condition_variables(
    selected: &Selected<'_, '_>,
    is_incremental: bool,
) -> Option<ConditionVariables> {
    let mut steering = ConditionVariables::default();
    let mut deferring: Vec<SteeringVariable> = Vec::new();
    let valid = selected.valid();
    let document = selected.valid().document();
    if document.directives.is_empty() {
        return Some(steering);
    }
    let steered = |value: ValueId| {
        let offset = document.value(value).span.start;
        selected.variable(value).map(|number| SteeringVariable { number, offset })
    };
    let mut seen = vec![false; valid.fragments().len()];
    let mut lists = vec![selected.operation().ast.selections];
    while let Some(list) = lists.pop() {
        for (at, selection) in list.range().zip(document.list(list)) {
            let directives = match selection {
                Selection::Field(field) => {
                    lists.push(field.selections);
                    field.directives
                }
                Selection::Inline(inline) => {
                    lists.push(inline.selections);
                    inline.directives
                }
                Selection::Spread(spread) => {
                    let id = valid.fragment(at).0 as usize;
                    if !std::mem::replace(&mut seen[id], true) {
                        lists.push(valid.fragments()[id].ast.selections);
                    }
                    spread.directives
                }
            };
            for (_, value) in conditions(document, directives) {
                if let Some(variable) = steered(value)
                    && !steering.has(variable.number)
                {
                    steering.variables.push(variable);
                }
            }
            if steering.variables.len() > STEERING_MAX {
                return None;
            }
            for name in ["defer", "stream"].into_iter().filter(|_| is_incremental) {
                let condition =
                    directive(document, directives, name).and_then(|it| argument(document, it, "if"));
                deferring.extend(condition.and_then(steered));
            }
        }
    }
    steering.add_while_there_is_room(deferring);
    steering.variables.sort_unstable();
    Some(steering)
}

/// The `if`s of `@include` (`true`) and `@skip` (`false`) among `directives`.
fn conditions<'d>(
    document: &'d Document<'_>,
    directives: List<Directive>,
) -> impl Iterator<Item = (bool, ValueId)> + 'd {
    document.list(directives).iter().filter_map(|directive| {
        let wanted = match document.str(directive.name) {
            "include" => true,
            "skip" => false,
            _ => return None,
        };
        let argument = document.list(directive.arguments).first()?;
        Some((wanted, argument.value))
    })
}

/// The first of `directives` that is called `name`.
fn directive<'d>(
    document: &'d Document<'_>,
    directives: List<Directive>,
    name: &str,
) -> Option<&'d Directive> {
    document.list(directives).iter().find(|it| document.str(it.name) == name)
}

/// The argument of `directive` that is called `name`.
fn argument(document: &Document<'_>, directive: &Directive, name: &str) -> Option<ValueId> {
    let arguments = document.list(directive.arguments);
    arguments.iter().find(|it| document.str(it.name) == name).map(|it| it.value)
}

/// The label of a `@defer` or `@stream`.
fn label(document: &Document<'_>, directive: &Directive) -> Option<Box<str>> {
    argument(document, directive, "label").map(|it| document.string(it).into())
}

/// Decides what is in the answer, for one state of the steering variables.
pub(crate) struct ConditionState<'b> {
    /// The variables.
    pub(crate) steering: &'b ConditionVariables,
    /// Their state.
    pub(crate) state: u64,
    /// Bits of the variables that were read so far.
    pub(crate) asked: Cell<u64>,
}

impl ConditionState<'_> {
    /// True if a selection with `directives` is in the answer.
    #[inline]
    pub(crate) fn admit(&self, selected: &Selected<'_, '_>, directives: List<Directive>) -> bool {
        directives.is_empty() || self.hold(selected, directives)
    }

    /// Decides like [`ConditionState::admit`], for selections with directives. `@include` is not read where `@skip` removes the
    /// selection.
    fn hold(&self, selected: &Selected<'_, '_>, directives: List<Directive>) -> bool {
        let document = selected.valid().document();
        [false, true].into_iter().all(|wanted| {
            let mut found = conditions(document, directives).filter(|it| it.0 == wanted);
            found.all(|(_, value)| self.is(selected, value).is_none_or(|is| is == wanted))
        })
    }

    /// Active `@defer` among `directives`: its label, if it has one.
    pub(crate) fn active_defer(
        &self,
        selected: &Selected<'_, '_>,
        directives: List<Directive>,
    ) -> Option<Option<Box<str>>> {
        let defer = self.active(selected, directives, "defer")?;
        Some(label(selected.valid().document(), defer))
    }

    /// Active `@stream` among `directives`: its label and item count, if it has them.
    pub(crate) fn active_stream(
        &self,
        selected: &Selected<'_, '_>,
        directives: List<Directive>,
    ) -> Option<(Option<Box<str>>, Option<ValueId>)> {
        let document = selected.valid().document();
        let stream = self.active(selected, directives, "stream")?;
        Some((label(document, stream), argument(document, stream, "initialCount")))
    }

    /// Directive `name` among `directives`, if its condition holds.
    fn active<'d>(
        &self,
        selected: &'d Selected<'_, '_>,
        directives: List<Directive>,
        name: &str,
    ) -> Option<&'d Directive> {
        let document = selected.valid().document();
        let found = directive(document, directives, name)?;
        let condition = argument(document, found, "if");
        condition.is_none_or(|it| self.is(selected, it) == Some(true)).then_some(found)
    }

    /// Value of the condition `value`.
    fn is(&self, selected: &Selected<'_, '_>, value: ValueId) -> Option<bool> {
        match selected.valid().document().value(value).kind {
            ValueKind::Boolean(is) => Some(is),
            ValueKind::Variable(_) => {
                let number = selected.variable(value)?;
                let bit = self.steering.variables.iter().position(|it| it.number == number)?;
                self.asked.set(self.asked.get() | 1 << bit);
                Some(self.state >> bit & 1 == 1)
            }
            ValueKind::Int
            | ValueKind::Float
            | ValueKind::String { .. }
            | ValueKind::Block
            | ValueKind::Null
            | ValueKind::Enum
            | ValueKind::List(_)
            | ValueKind::Object(_) => None,
        }
    }
}
