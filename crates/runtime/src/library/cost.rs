//! Complexity: the cost of a whole operation, from the plan and the bound arguments, before a resolver is called.
//!
//! A field costs its own weight, and the fields below it as many times as its list is long: as its arguments say, or a default. A field
//! of another source costs nothing itself, and the fields below it count once.
//!
//! **Invariant:** a cost never wraps: it stays at the largest number. All steps of a plan check the same cost, so it does not
//! matter which of them runs first.
//!
//! **Cost:** computed once per plan, with one look at each member; a set that depends on no argument is one number. Each check adds up the
//! other sets, each once, however many fields lead to it.

use crate::resolve_error::field_error;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use weir_engine::plan::output_plan::{OutputArgument, OutputField, OutputKind, SelectionSetId};
use weir_engine::source::{FetchInput, PlanNode, SourceError};
use weir_language::schema::{FieldId, InputId};
use weir_language::value::Node;

/// Code of an operation that costs too much.
const LIMIT_COMPLEXITY: &str = "LIMIT_COMPLEXITY";

/// Cost of a field.
///
/// ```
/// use weir_runtime::Cost;
/// let page = Cost { own: 5, page_arguments: &["first", "last"], page_default: 20 };
/// # let _ = page;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The field itself; 1 for fields without a cost.
    pub own: u32,
    /// Arguments that say how long the list is. The largest number among them counts.
    pub page_arguments: &'static [&'static str],
    /// Length of the list if none of the arguments is a number; 1 for fields without a cost.
    pub page_default: u32,
}

/// A cost at its field.
#[derive(Debug)]
pub(crate) struct FieldCost {
    pub(crate) own: u64,
    pub(crate) pages: Vec<InputId>,
    pub(crate) page_default: u64,
}

/// Costs of a schema.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    /// Operations that cost more are refused.
    pub(crate) max: Option<u64>,
    pub(crate) fields: HashMap<FieldId, FieldCost>,
}

/// The cost of an operation.
pub(crate) struct OperationCost {
    /// The sets whose costs depend on arguments, those below others first.
    sets: Vec<OpenSet>,
    root: Known,
}

/// The cost of a set, as far as the plan tells.
#[derive(Clone, Copy)]
enum Known {
    Constant(u64),
    /// Place in [`OperationCost::sets`].
    Open(usize),
}

/// A set whose cost depends on arguments.
#[derive(Default)]
struct OpenSet {
    /// Cost of the members that depend on no argument.
    constant: u64,
    members: Vec<OpenMember>,
}

/// A member whose cost, or the cost below it, depends on arguments.
struct OpenMember {
    own: u64,
    /// The arguments that say how long the list is.
    pages: Vec<OutputArgument>,
    page_default: u64,
    below: Below,
}

/// The sets below a member, one of each type that may stand there. The one that costs most counts.
#[derive(Default)]
struct Below {
    constant: u64,
    /// Places in [`OperationCost::sets`].
    open: Vec<usize>,
}

impl Below {
    fn add(&mut self, set: Known) {
        match set {
            Known::Constant(cost) => self.constant = self.constant.max(cost),
            Known::Open(at) => self.open.push(at),
        }
    }
}

impl Costs {
    /// The cost of the operation of which `node` is a part; `None` if there is no limit.
    pub(crate) fn operation(&self, node: &PlanNode<'_>) -> Option<Arc<OperationCost>> {
        self.max?;
        let make = || Arc::new(OperationCost::of(self, node));
        let shared = node.cache.get::<OnceLock<Arc<OperationCost>>>();
        Some(shared.map_or_else(make, |it| Arc::clone(it.get_or_init(make))))
    }
}

impl OperationCost {
    fn of(costs: &Costs, node: &PlanNode<'_>) -> Self {
        let known = vec![None; node.output.sets.len()];
        let mut walk = Walk { costs, node, known, sets: Vec::new() };
        let root = walk.set(SelectionSetId::ROOT);
        Self { sets: walk.sets, root }
    }

    fn value(&self, input: FetchInput<'_>) -> u64 {
        let mut costs = Vec::with_capacity(self.sets.len());
        for set in &self.sets {
            let members = set.members.iter().map(|it| it.value(&costs, input));
            costs.push(members.fold(set.constant, u64::saturating_add));
        }
        match self.root {
            Known::Constant(cost) => cost,
            Known::Open(at) => costs[at],
        }
    }

    /// Checks that the cost is within `max`.
    pub(crate) fn check(&self, input: FetchInput<'_>, max: Option<u64>) -> Result<(), SourceError> {
        let cost = self.value(input);
        match max {
            Some(max) if cost > max => {
                let message = format!("the operation costs {cost}, at most {max} are allowed: ask for less");
                let error = field_error(LIMIT_COMPLEXITY, message);
                Err(SourceError::Rejected { error, field: None })
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl OpenMember {
    /// The cost with the values of `input`; `costs` are those of the sets so far.
    fn value(&self, costs: &[u64], input: FetchInput<'_>) -> u64 {
        let times = self.pages.iter().filter_map(|&page| length(page, input)).max();
        let times = times.unwrap_or(self.page_default);
        let below = self.below.open.iter().map(|&at| costs[at]).fold(self.below.constant, u64::max);
        self.own.saturating_add(times.saturating_mul(below))
    }
}

/// The length that `page` says, if it is a number.
fn length(page: OutputArgument, input: FetchInput<'_>) -> Option<u64> {
    let value = |at: u32| match input.output.literals.nodes[at as usize] {
        Node::Variable(number) => input.variables.node(number),
        node => node,
    };
    let given = match (value(page.value), page.default) {
        (Node::Absent, Some(default)) => value(default),
        (given, _) => given,
    };
    match given {
        Node::Int(length) | Node::QuotedInt(length) => u64::try_from(length).ok(),
        _ => None,
    }
}

/// One walk over the output plan of an operation. Its depth is the plan's, which validation bounds.
struct Walk<'p> {
    costs: &'p Costs,
    node: &'p PlanNode<'p>,
    /// By set: its cost, once it is known.
    known: Vec<Option<Known>>,
    sets: Vec<OpenSet>,
}

impl<'p> Walk<'p> {
    fn set(&mut self, id: SelectionSetId) -> Known {
        let at = id.0 as usize;
        if let Some(known) = self.known[at] {
            return known;
        }
        let mut set = OpenSet::default();
        for of in self.node.output.members(id) {
            self.member(of, &mut set);
        }
        let known = if set.members.is_empty() {
            Known::Constant(set.constant)
        } else {
            self.sets.push(set);
            Known::Open(self.sets.len() - 1)
        };
        self.known[at] = Some(known);
        known
    }

    /// Adds the cost of the member `of` to `set`.
    fn member(&mut self, of: &'p OutputField, set: &mut OpenSet) {
        let output = self.node.output;
        let meta = self.node.schema.meta;
        if [meta.schema, meta.ty].contains(&of.field) {
            return;
        }
        let mut below = Below::default();
        match of.member {
            OutputKind::Constant { .. } => return,
            // The member of the node that answers.
            OutputKind::Foreign { field, .. } => return self.member(&output.fields[field as usize], set),
            OutputKind::Leaf => {}
            OutputKind::Object(id) => below.add(self.set(id)),
            OutputKind::Abstract(choice) => {
                let sets = output.type_switches[choice.0 as usize].sets.iter();
                sets.for_each(|it| below.add(self.set(it.1)));
            }
        }
        let (own, pages, page_default) = self.field(of.field);
        let ids = self.node.ids;
        let says_length =
            |it: &&OutputArgument| ids.has_input(it.input) && pages.contains(&ids.input(it.input));
        let pages: Vec<OutputArgument> = output.arguments(of).iter().filter(says_length).copied().collect();
        if below.open.is_empty() && (pages.is_empty() || below.constant == 0) {
            let cost = own.saturating_add(page_default.saturating_mul(below.constant));
            set.constant = set.constant.saturating_add(cost);
            return;
        }
        set.members.push(OpenMember { own, pages, page_default, below });
    }

    /// Own cost, arguments that say the length, and length without them of the graph's `field`.
    fn field(&self, field: FieldId) -> (u64, &'p [InputId], u64) {
        let own = self.node.ids.field(field);
        match self.costs.fields.get(&own) {
            Some(cost) => (cost.own, &cost.pages, cost.page_default),
            // Another source's.
            None if own.0 == u32::MAX => (0, &[], 1),
            None => (1, &[], 1),
        }
    }
}
