//! The rules of all types over shared leaves, and the policies that callers get.

use super::claims::{ReadyTest, TokenVariable};
use super::graph::{self, GraphQuery};
use super::policy::AuthPolicy;
use super::rule_tree::{DecidedRules, FoundRows, LeafState, RuleTables, RuleTree, TypeRules};
use crate::api::meaning::Api;
use crate::model::{Model, Rule, TypeId};
use hashbrown::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use weir_engine::caller::{Facts, Identity, Token};

/// More policies are not kept.
const POLICIES_MAX: usize = 1024;
/// Facts of any caller but the admin.
const RESTRICTED: u64 = 1;
/// The token was refused.
const REFUSED: u64 = 2;
/// The first bit of a leaf.
const LEAVES: usize = 2;

/// A rule that has no other in it.
#[derive(Debug)]
enum RuleLeaf {
    Claim { name: String, test: ReadyTest },
    Graph { query: Box<GraphQuery>, found: Option<Box<FoundRows>> },
}

impl RuleLeaf {
    /// The state of the leaf for callers with `facts`, in which it has the bit `bit`.
    fn decide(&self, facts: &[u64], bit: usize) -> LeafState<'_> {
        let holds = facts.get(bit / 64).is_some_and(|it| it >> (bit % 64) & 1 == 1);
        match self {
            Self::Claim { .. } => LeafState::Claim(holds),
            Self::Graph { found: Some(found), .. } if holds => LeafState::Query(found),
            Self::Graph { .. } => LeafState::Unclaimed,
        }
    }
}

/// The rules of all types over shared leaves.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    leaves: Vec<RuleLeaf>,
    /// By type; of abstract types nothing.
    types: Vec<TypeRules>,
    variables: Vec<TokenVariable>,
    /// Value of [`Model::authority`].
    authority: Box<str>,
    policies: RwLock<HashMap<Box<[u64]>, Arc<AuthPolicy>>>,
    /// Tables and ways between them, for conditions on objects of interfaces.
    places: Arc<RuleTables>,
}

impl Rules {
    /// The rules of the types of `api`, whose queries are not compiled yet.
    pub(crate) fn new(api: &Api) -> Self {
        let mut rules = Self { authority: api.model.authority.clone(), ..Self::default() };
        let mut known: Vec<(Rule, u32)> = Vec::new();
        for ty in &api.model.types {
            let auth = &ty.auth;
            let of = [&auth.query, &auth.add, &auth.update, &auth.delete, &auth.password];
            let is_concrete = ty.kind == crate::model::TypeKind::Object;
            let trees = of.map(|it| {
                let it = it.as_ref().filter(|_| is_concrete)?;
                Some(rules.tree(api, it, &mut known))
            });
            rules.types.push(trees);
        }
        rules.variables.sort();
        rules.variables.dedup();
        rules
    }

    fn tree(&mut self, api: &Api, rule: &Rule, known: &mut Vec<(Rule, u32)>) -> RuleTree {
        let mut all = |it: &[Rule]| it.iter().map(|it| self.tree(api, it, known)).collect();
        let leaf = match rule {
            Rule::All(rules) => return RuleTree::All(all(rules)),
            Rule::Any(rules) => return RuleTree::Any(all(rules)),
            Rule::Not(rule) => return RuleTree::Not(Box::new(self.tree(api, rule, known))),
            Rule::Claim { .. } | Rule::Graph { .. } if known.iter().any(|it| it.0 == *rule) => {
                let at = known.iter().find(|it| it.0 == *rule).map_or(0, |it| it.1);
                return RuleTree::Leaf(at);
            }
            Rule::Claim { name, test } => RuleLeaf::Claim { name: name.clone(), test: ReadyTest::new(test) },
            // The reader of types has checked it.
            Rule::Graph { text, on } => match graph::read(api, &api.model.ty(*on).name, text) {
                Ok(query) => {
                    self.variables.extend(query.variables.iter().cloned());
                    RuleLeaf::Graph { query: Box::new(query), found: None }
                }
                Err(_) => RuleLeaf::Claim { name: String::new(), test: ReadyTest::Never },
            },
        };
        self.leaves.push(leaf);
        let at = self.leaves.len() as u32 - 1;
        known.push((rule.clone(), at));
        RuleTree::Leaf(at)
    }

    /// Gives every query its condition; `None`: it grants nothing.
    pub(crate) fn compile(
        mut self,
        places: Arc<RuleTables>,
        compile: &dyn Fn(&GraphQuery) -> Option<FoundRows>,
    ) -> Self {
        for leaf in &mut self.leaves {
            if let RuleLeaf::Graph { query, found } = leaf {
                *found = compile(query).map(Box::new);
            }
        }
        self.places = places;
        self
    }

    /// The claims that queries read.
    pub(crate) fn variables(&self) -> &[TokenVariable] {
        &self.variables
    }

    /// True if no type has a rule.
    pub(crate) fn is_empty(&self) -> bool {
        !self.types.iter().flatten().any(Option::is_some)
    }

    /// Appends the facts of `identity`: none for the admin, and where nothing is restricted.
    pub(crate) fn facts(&self, identity: &Identity, facts: &mut Facts) {
        let token = identity.claims.token_of(&self.authority);
        let is_refused = matches!(token, Token::Refused(_));
        if identity.is_admin() || (self.is_empty() && !is_refused) {
            return;
        }
        let start = facts.len();
        facts.push(RESTRICTED);
        if is_refused {
            facts[start] |= REFUSED;
            return;
        }
        for (at, leaf) in self.leaves.iter().enumerate() {
            let holds = match leaf {
                RuleLeaf::Claim { name, test } => test.passes(token.claim(name)),
                RuleLeaf::Graph { query, .. } => {
                    query.variables.iter().all(|it| identity.claims.variable(&it.name).is_some())
                }
            };
            let word = (at + LEAVES) / 64;
            let bit = (at + LEAVES) % 64;
            while facts.len() <= start + word {
                facts.push(0);
            }
            facts[start + word] |= u64::from(holds) << bit;
        }
    }

    /// The rights of callers with these facts; `None`: all.
    pub(crate) fn policy(&self, facts: &[u64]) -> Option<Arc<AuthPolicy>> {
        if facts.is_empty() {
            return None;
        }
        if let Some(known) = self.policies.read().unwrap_or_else(PoisonError::into_inner).get(facts) {
            return Some(Arc::clone(known));
        }
        let made = Arc::new(AuthPolicy::new(&self.decide_leaves(facts)));
        let mut policies = self.policies.write().unwrap_or_else(PoisonError::into_inner);
        if policies.len() >= POLICIES_MAX {
            policies.clear();
        }
        Some(Arc::clone(policies.entry(facts.into()).or_insert(made)))
    }

    /// The state of each leaf for callers with `facts`.
    fn decide_leaves(&self, facts: &[u64]) -> DecidedRules<'_> {
        DecidedRules {
            types: &self.types,
            tables: &self.places,
            leaves: self.leaves.iter().zip(LEAVES..).map(|(leaf, bit)| leaf.decide(facts, bit)).collect(),
            is_refused: facts.first().is_some_and(|it| it & REFUSED != 0),
        }
    }
}

/// The types that objects of `ty` can lead to by edges, itself among them.
pub(crate) fn reachable(model: &Model, ty: TypeId) -> Vec<TypeId> {
    let mut all = vec![ty];
    let mut at = 0;
    while let Some(&ty) = all.get(at) {
        let edges = model.fields_of(ty).filter_map(|(_, field)| match field.kind {
            crate::model::FieldKind::Edge { to, .. } => Some(to),
            _ => None,
        });
        let next: Vec<TypeId> = edges.chain(model.ty(ty).members.iter().copied()).collect();
        for it in next {
            if !all.contains(&it) {
                all.push(it);
            }
        }
        at += 1;
    }
    all
}
