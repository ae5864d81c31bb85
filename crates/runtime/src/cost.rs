//! Complexity: what an operation costs, from the plan and the bound arguments, before a resolver is called.
//!
//! A field costs its own weight, and the fields below it as many times as its list is long: as an argument says, or a default.
//!
//! **Invariant:** a cost never wraps: it stays at the largest number.
//!
//! **Cost:** the tree is made once per plan; what depends on no argument is one number.

use crate::error::field_error;
use std::collections::HashMap;
use weir_engine::plan::output_plan::{OutputField, OutputKind, OutputPlan, SelectionSetId};
use weir_engine::source::{FetchInput, PlanNode, SourceError};
use weir_language::schema::{FieldId, InputId};
use weir_language::value::{Node, Values};

/// Code of an operation that costs too much.
const LIMIT_COMPLEXITY: &str = "LIMIT_COMPLEXITY";

/// Cost of a field.
///
/// ```
/// use weir_runtime::Cost;
/// let page = Cost { own: 5, page_argument: Some("first"), page_default: 20 };
/// # let _ = page;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The field itself; 1 for fields without a cost.
    pub own: u32,
    /// The argument that says how long the list is.
    pub page_argument: Option<&'static str>,
    /// Length of the list if the argument says nothing; 1 for fields without a cost.
    pub page_default: u32,
}

/// A cost at its field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldCost {
    pub(crate) own: u64,
    pub(crate) page: Option<InputId>,
    pub(crate) page_default: u64,
}

/// Costs of a schema.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    /// Operations that cost more are refused.
    pub(crate) max: Option<u64>,
    pub(crate) fields: HashMap<FieldId, FieldCost>,
}

/// The cost of a part of a plan.
pub(crate) enum CostTree {
    Constant(u64),
    /// `own`, and what is below as many times as a value says.
    Paged {
        own: u64,
        value: u32,
        default: Option<u32>,
        page_default: u64,
        below: Box<CostTree>,
    },
    Sum(Vec<CostTree>),
    /// The highest cost of the types that may stand there.
    Most(Vec<CostTree>),
    /// The fields below, a constant number of times.
    Times {
        own: u64,
        times: u64,
        below: Box<CostTree>,
    },
}

impl CostTree {
    /// The cost of the members of `node`; `None` if there is no limit.
    pub(crate) fn of(costs: &Costs, node: &PlanNode<'_>) -> Option<Self> {
        costs.max?;
        let all = node.fields.iter().map(|&it| member(costs, node, &node.output.fields[it as usize]));
        Some(sum(all.collect()))
    }

    fn constant(&self) -> Option<u64> {
        match self {
            Self::Constant(cost) => Some(*cost),
            Self::Paged { .. } | Self::Sum(_) | Self::Most(_) | Self::Times { .. } => None,
        }
    }

    fn value(&self, input: FetchInput<'_>) -> u64 {
        match self {
            Self::Constant(cost) => *cost,
            Self::Sum(all) => all.iter().fold(0, |sum, it| sum.saturating_add(it.value(input))),
            Self::Most(all) => all.iter().map(|it| it.value(input)).max().unwrap_or(0),
            Self::Times { own, times, below } => own.saturating_add(times.saturating_mul(below.value(input))),
            Self::Paged { own, value, default, page_default, below } => {
                let given = length(&input.output.literals, *value as usize, input);
                let given = given.or_else(|| length(&input.output.literals, (*default)? as usize, input));
                let times = given.unwrap_or(*page_default);
                own.saturating_add(times.saturating_mul(below.value(input)))
            }
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

/// The length that the value at `at` says, if it is a number.
fn length(values: &Values, at: usize, input: FetchInput<'_>) -> Option<u64> {
    match values.nodes[at] {
        Node::Int(value) | Node::QuotedInt(value) => u64::try_from(value).ok(),
        Node::Variable(number) => match input.variables.node(number) {
            Node::Int(value) | Node::QuotedInt(value) => u64::try_from(value).ok(),
            _ => None,
        },
        _ => None,
    }
}

fn sum(all: Vec<CostTree>) -> CostTree {
    match all.iter().map(CostTree::constant).collect::<Option<Vec<u64>>>() {
        Some(constants) => CostTree::Constant(constants.into_iter().fold(0, u64::saturating_add)),
        None => CostTree::Sum(all),
    }
}

/// Depth is the output plan's, which validation bounds.
fn member(costs: &Costs, node: &PlanNode<'_>, of: &OutputField) -> CostTree {
    let output: &OutputPlan = node.output;
    let set = |set: SelectionSetId| {
        let members = output.members(set).iter();
        sum(members.map(|it| member(costs, node, it)).collect())
    };
    let below = match of.member {
        OutputKind::Constant { .. } => return CostTree::Constant(0),
        OutputKind::Foreign { field, .. } => return member(costs, node, &output.fields[field as usize]),
        OutputKind::Leaf => CostTree::Constant(0),
        OutputKind::Object(id) => set(id),
        OutputKind::Abstract(choice) => {
            let sets = output.type_switches[choice.0 as usize].sets.iter();
            let all: Vec<CostTree> = sets.map(|it| set(it.1)).collect();
            match all.iter().map(CostTree::constant).collect::<Option<Vec<u64>>>() {
                Some(constants) => CostTree::Constant(constants.into_iter().max().unwrap_or(0)),
                None => CostTree::Most(all),
            }
        }
    };
    let cost = costs.fields.get(&node.ids.field(of.field)).copied();
    let FieldCost { own, page, page_default } =
        cost.unwrap_or(FieldCost { own: 1, page: None, page_default: 1 });
    let argument = page.and_then(|page| {
        let mut given = output.arguments(of).iter();
        given.find(|it| node.ids.has_input(it.input) && node.ids.input(it.input) == page)
    });
    match (argument, below.constant()) {
        (Some(argument), _) => {
            let (value, default, below) = (argument.value, argument.default, Box::new(below));
            CostTree::Paged { own, value, default, page_default, below }
        }
        (None, Some(below)) => CostTree::Constant(own.saturating_add(page_default.saturating_mul(below))),
        (None, None) => CostTree::Times { own, times: page_default, below: Box::new(below) },
    }
}
