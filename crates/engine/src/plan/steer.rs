//! Which variables steer `@skip` and `@include`, and what they make of a selection.
//!
//! Up to [`SPECIALISED_MAX`] of them are part of a plan's key, so that the plan holds only what is asked. With more,
//! members carry masks; their order is then that of the text with everything included.
//!
//! **Cost:** one walk over the selections an operation can reach, each fragment once.
//! Source: GraphQL specification, sections 3.13.1 and 3.13.2.

use super::shape::{Bits, Condition};
use weir_language::ast::{Directive, Document, List, Selection, ValueId, ValueKind};
use weir_language::validate::Selected;
use weir_language::value::{Node, Variables};

/// The most variables a plan is specialised for.
pub(crate) const SPECIALISED_MAX: usize = 4;
/// The most variables that fit into a mask.
const MASKED_MAX: usize = 64;

/// The variables that `@skip` and `@include` of one operation name, by number: bit `i` of the state is the `i`th.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steering {
    variables: Vec<u32>,
}

impl Steering {
    /// Whether there are any and the plan is made for one state of them.
    pub(crate) fn is_in_key(&self) -> bool {
        (1..=SPECIALISED_MAX).contains(&self.variables.len())
    }

    /// Whether one of them is null, where a default let it stand for the condition, which takes none.
    pub(crate) fn is_null(&self, variables: &Variables) -> bool {
        self.variables.iter().any(|&number| variables.node(number) == Node::Null)
    }

    /// The state of a request. Null counts as false, and is refused later.
    pub(crate) fn bits(&self, variables: &Variables) -> u64 {
        let mut bits = 0;
        for (bit, &number) in self.variables.iter().enumerate() {
            bits |= u64::from(variables.node(number) == Node::Bool(true)) << bit;
        }
        bits
    }
}

/// Finds the steering variables of an operation. `None`: more than fit into a mask.
pub(crate) fn steering(selected: &Selected<'_, '_>) -> Option<Steering> {
    let mut steering = Steering::default();
    let (valid, document) = (selected.valid(), selected.valid().document());
    if document.directives.is_empty() {
        return Some(steering);
    }
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
                if let Some(number) = selected.variable(value)
                    && !steering.variables.contains(&number)
                {
                    steering.variables.push(number);
                }
            }
            if steering.variables.len() > MASKED_MAX {
                return None;
            }
        }
    }
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

/// Decides what is in the answer, for one state of the steering variables or by masks.
pub(crate) struct Guards<'b> {
    /// The variables.
    pub(crate) steering: &'b Steering,
    /// Their state, if the plan is specialised.
    pub(crate) state: u64,
}

impl Guards<'_> {
    /// What has to hold for a selection with `directives` inside one for which `outer` has to hold. `None`: it is
    /// never there.
    #[inline]
    pub(crate) fn inner(
        &self,
        selected: &Selected<'_, '_>,
        directives: List<Directive>,
        outer: Bits,
    ) -> Option<Bits> {
        if directives.is_empty() { Some(outer) } else { self.guarded(selected, directives, outer) }
    }

    /// As [`Guards::inner`], for selections that have directives.
    fn guarded(&self, selected: &Selected<'_, '_>, directives: List<Directive>, outer: Bits) -> Option<Bits> {
        let mut bits = outer;
        let document = selected.valid().document();
        for (wanted, value) in conditions(document, directives) {
            match document.value(value).kind {
                ValueKind::Boolean(is) if is != wanted => return None,
                ValueKind::Variable(_) => {
                    let number = selected.variable(value)?;
                    let bit = self.steering.variables.iter().position(|&it| it == number)?;
                    let is = self.state >> bit & 1 == 1;
                    let mask = 1 << bit;
                    let want = u64::from(wanted) << bit;
                    if self.steering.variables.len() <= SPECIALISED_MAX {
                        if is != wanted {
                            return None;
                        }
                    } else if bits.mask & mask != 0 && bits.want & mask != want {
                        return None;
                    } else {
                        bits = Bits { mask: bits.mask | mask, want: bits.want | want };
                    }
                }
                ValueKind::Boolean(_)
                | ValueKind::Int
                | ValueKind::Float
                | ValueKind::String { .. }
                | ValueKind::Block
                | ValueKind::Null
                | ValueKind::Enum
                | ValueKind::List(_)
                | ValueKind::Object(_) => {}
            }
        }
        Some(bits)
    }
}

/// The condition of a member that was written in several places.
pub(crate) fn any(places: impl Iterator<Item = Bits>) -> Condition {
    let mut any = Vec::<Bits>::new();
    for bits in places {
        if bits.mask == 0 {
            return Condition::Always;
        }
        if any.last() != Some(&bits) {
            any.push(bits);
        }
    }
    any.sort_unstable_by_key(|it| (it.mask, it.want));
    any.dedup();
    Condition::Any(any)
}
