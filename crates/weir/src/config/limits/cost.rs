//! `limits.cost`: what an operation may cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_engine::caller::ADMIN;
use weir_engine::demand::{self, CostRule, DemandControl, DemandMode, ListSize, Rule};

/// `limits.cost`: each operation's cost is estimated before any source is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CostLimits {
    /// `enforce` refuses operations beyond the limit, `measure` runs and counts them.
    pub mode: CostMode,
    /// The greatest cost of an operation; without the key any. It does not hold for admin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// Limits of roles, in place of `max`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, u64>,
    /// Items of a list that no argument, permission or `@listSize` limits.
    pub list_size: u32,
    /// Cost of a mutation beside that of its fields.
    pub mutation: u32,
    /// Weights by schema coordinate: `Album`, `Query.search`, `Query.search(text:)`. A number, or a text with up to three decimals.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, CostWeight>,
    /// Sizes of lists by schema coordinate of their field.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lists: BTreeMap<String, CostList>,
    /// Roles that get the cost in `extensions.cost` if they send the header `x-weir-cost`, beside admin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shown_to: Vec<String>,
}

/// Treatment of operations that exceed the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostMode {
    /// The operation runs and is counted.
    Measure,
    /// The operation is refused.
    #[default]
    Enforce,
}

/// A weight: a whole number, or a text such as `2.5`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a weight is a whole number that is not negative, or a text such as `2.5`")]
pub enum CostWeight {
    /// A whole number.
    Whole(u32),
    /// A decimal number.
    Decimal(String),
}

/// Size of a list: `@listSize` in the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CostList {
    /// Items if no argument says how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed_size: Option<u64>,
    /// Arguments that say how many: `first`, `input.page.first`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slicing_arguments: Vec<String>,
    /// Lists in the returned object that have this size.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sized_fields: Vec<String>,
    /// True if exactly one of the arguments has to be given.
    pub require_one_slicing_argument: bool,
}

impl Default for CostLimits {
    fn default() -> Self {
        let DemandControl { list_size, mutation_weight, .. } = DemandControl::STANDARD;
        Self {
            mode: CostMode::default(),
            max: None,
            roles: BTreeMap::new(),
            list_size,
            mutation: mutation_weight,
            weights: BTreeMap::new(),
            lists: BTreeMap::new(),
            shown_to: Vec::new(),
        }
    }
}

impl CostWeight {
    fn weight(&self) -> Option<demand::CostWeight> {
        match self {
            Self::Whole(weight) => Some(demand::CostWeight::whole(*weight)),
            Self::Decimal(text) => demand::CostWeight::parse(text),
        }
    }
}

impl CostLimits {
    /// Checks the weights.
    /// # Errors
    /// The first that is none.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.weights.iter().find(|it| it.1.weight().is_none()) {
            Some((place, _)) => Err(format!(
                "`limits.cost.weights`: the weight of `{place}` is no number of at most three decimals that is not negative"
            )),
            None => Ok(()),
        }
    }

    /// Settings of the engine.
    pub(crate) fn demand(&self) -> Arc<DemandControl> {
        let mode = match self.mode {
            CostMode::Measure => DemandMode::Measure,
            CostMode::Enforce => DemandMode::Enforce,
        };
        let weights = self.weights.iter().filter_map(|(place, weight)| {
            let rule = Rule::Weight(weight.weight()?);
            Some(CostRule { place: place.clone(), rule, written: "weights".into() })
        });
        let lists = self.lists.iter().map(|(place, list)| CostRule {
            place: place.clone(),
            rule: Rule::ListSize(list.size()),
            written: "lists".into(),
        });
        Arc::new(DemandControl {
            mode,
            max: self.max,
            role_max: self.roles.iter().map(|(role, max)| (role.as_str().into(), *max)).collect(),
            exempt_roles: vec![ADMIN.into()],
            list_size: self.list_size,
            mutation_weight: self.mutation,
            rules: weights.chain(lists).collect(),
        })
    }

    /// True if callers of `role` may know what their operations cost.
    pub(crate) fn is_shown_to(&self, role: &str) -> bool {
        role == ADMIN || self.shown_to.iter().any(|it| it == role)
    }
}

impl CostList {
    fn size(&self) -> ListSize {
        let names = |all: &[String]| all.iter().map(|it| it.as_str().into()).collect();
        ListSize {
            assumed: self.assumed_size,
            slicing: names(&self.slicing_arguments),
            sized: names(&self.sized_fields),
            requires_one: self.require_one_slicing_argument && !self.slicing_arguments.is_empty(),
            max: None,
        }
    }
}
