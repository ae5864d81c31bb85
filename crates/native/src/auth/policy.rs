//! The rights of callers with equal facts: a decision or a condition per type and operation.

use super::Right;
use super::rule_tree::{AbstractMember, DecidedRules, FoundRows, LeafState, RuleTables, RuleTree};
use crate::model::{Model, TypeId};
use std::sync::Arc;
use weir_relational::catalog::TableId;
use weir_relational::passes::policy::Policy;
use weir_relational::plan::{Filter, Purpose};

/// Objects that an operation is allowed on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Allowed {
    All,
    Nothing,
    /// Objects whose rows fulfil the filter.
    If(Filter),
}

/// The rights of callers with equal facts.
#[derive(Debug)]
pub(crate) struct AuthPolicy {
    /// By type and operation.
    allowed: Vec<[Allowed; 5]>,
    places: Arc<RuleTables>,
    is_refused: bool,
}

impl AuthPolicy {
    pub(super) fn new(rules: &DecidedRules<'_>) -> Self {
        let mut allowed = Vec::new();
        for (at, of) in rules.types.iter().enumerate() {
            let deciding = Deciding { rules, ty: TypeId(at as u32) };
            allowed.push(Right::ALL.map(|it| match it.select_rule(of) {
                _ if rules.is_refused => Allowed::Nothing,
                None => Allowed::All,
                Some(tree) => deciding.evaluate_rule(tree, true),
            }));
        }
        Self { allowed, places: Arc::clone(rules.tables), is_refused: rules.is_refused }
    }

    /// The objects of the object type `ty` on which `operation` is allowed.
    pub(crate) fn allowed_objects(&self, ty: TypeId, operation: Right) -> &Allowed {
        // Types without rules are not listed where there are none at all.
        let unlisted = if self.is_refused { &Allowed::Nothing } else { &Allowed::All };
        self.allowed.get(ty.index()).map_or(unlisted, |it| &it[operation as usize])
    }

    /// True if the caller sees every object of `ty`, of whatever kind.
    pub(crate) fn sees_all(&self, model: &Model, ty: TypeId) -> bool {
        model.ty(ty).members.iter().all(|it| *self.allowed_objects(*it, Right::Query) == Allowed::All)
    }

    /// The rows of `table` that `operation` is allowed on.
    pub(crate) fn allowed_in(&self, table: TableId, operation: Right) -> Allowed {
        let Some(rows) = self.places.rows.get(&table) else { return Allowed::All };
        let (Some(kind), Some(members)) = (rows.kind, self.places.members.get(&table)) else {
            return self.allowed_objects(rows.ty, operation).clone();
        };
        let all: Vec<(&AbstractMember, &Allowed)> =
            members.iter().map(|it| (it, self.allowed_objects(it.ty, operation))).collect();
        if all.iter().all(|it| *it.1 == Allowed::All) && !self.is_refused {
            return Allowed::All;
        }
        let whole = all.iter().filter(|it| *it.1 == Allowed::All).map(|it| it.0.name.clone());
        let whole: Vec<Box<str>> = whole.collect();
        let mut any = Vec::new();
        if !whole.is_empty() {
            any.push(Filter::Named { of: kind, names: whole });
        }
        for (member, allowed) in all {
            if let Allowed::If(filter) = allowed {
                let named = Filter::Named { of: kind, names: vec![member.name.clone()] };
                let fits = Filter::exists(&self.places.relations, member.by, filter.clone());
                any.push(Filter::All(vec![named, fits]));
            }
        }
        if any.is_empty() { Allowed::Nothing } else { Allowed::If(Filter::Any(any)) }
    }
}

impl Policy for AuthPolicy {
    fn rows(&self, table: TableId, purpose: Purpose) -> Option<Filter> {
        let operation = match purpose {
            Purpose::Root | Purpose::Related | Purpose::Exists | Purpose::Value | Purpose::Aggregate => {
                Right::Query
            }
            Purpose::Opened => Right::Password,
            Purpose::Insert => Right::Add,
            Purpose::Update => Right::Update,
            Purpose::Delete => Right::Delete,
            // A mutation's program asks for what it clears and looks up.
            Purpose::Reference | Purpose::Lookup => return None,
        };
        match self.allowed_in(table, operation) {
            Allowed::All => None,
            Allowed::Nothing => Some(Filter::Any(Vec::new())),
            Allowed::If(filter) => Some(filter),
        }
    }
}

/// Decides a rule of one type.
struct Deciding<'d> {
    rules: &'d DecidedRules<'d>,
    ty: TypeId,
}

impl Deciding<'_> {
    /// Objects that fulfil `tree`; `grants` is false under an odd number of `not`. There a query without its claims counts as
    /// true, so that it never grants anything.
    fn evaluate_rule(&self, tree: &RuleTree, grants: bool) -> Allowed {
        match tree {
            RuleTree::Leaf(at) => match self.rules.leaves[*at as usize] {
                LeafState::Claim(true) => Allowed::All,
                LeafState::Claim(false) => Allowed::Nothing,
                LeafState::Query(found) => self.objects_of_query(found),
                LeafState::Unclaimed if grants => Allowed::Nothing,
                LeafState::Unclaimed => Allowed::All,
            },
            RuleTree::Not(rule) => match self.evaluate_rule(rule, !grants) {
                Allowed::All => Allowed::Nothing,
                Allowed::Nothing => Allowed::All,
                Allowed::If(filter) => Allowed::If(Filter::NotTrue(Box::new(filter))),
            },
            RuleTree::All(rules) => {
                let mut all = Vec::new();
                for rule in rules {
                    match self.evaluate_rule(rule, grants) {
                        Allowed::All => {}
                        Allowed::Nothing => return Allowed::Nothing,
                        Allowed::If(filter) => all.push(filter),
                    }
                }
                match all.len() {
                    0 => Allowed::All,
                    1 => Allowed::If(all.remove(0)),
                    _ => Allowed::If(Filter::All(all)),
                }
            }
            RuleTree::Any(rules) => {
                let mut any = Vec::new();
                for rule in rules {
                    match self.evaluate_rule(rule, grants) {
                        Allowed::All => return Allowed::All,
                        Allowed::Nothing => {}
                        Allowed::If(filter) => any.push(filter),
                    }
                }
                match any.len() {
                    0 => Allowed::Nothing,
                    1 => Allowed::If(any.remove(0)),
                    _ => Allowed::If(Filter::Any(any)),
                }
            }
        }
    }

    /// Objects of this type among the rows that a query finds.
    fn objects_of_query(&self, found: &FoundRows) -> Allowed {
        let places = self.rules.tables;
        if found.on == self.ty {
            // A rule that finds all objects is no condition.
            return if found.filter.is_true() { Allowed::All } else { Allowed::If(found.filter.clone()) };
        }
        match places.to_abstract.get(&(self.ty, found.table)) {
            Some(_) if found.filter.is_true() => Allowed::All,
            Some(by) => Allowed::If(Filter::exists(&places.relations, *by, found.filter.clone())),
            None => Allowed::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Rules;
    use crate::sdl;
    use weir_engine::caller::{Claims, Facts, Identity, Token};
    use weir_relational::catalog::ColumnId;

    /// The word for what a caller with these claims may do: `all`, `nothing` or `some`.
    fn decided(rule: &str, claims: &[(&str, &str)]) -> &'static str {
        let text = format!(
            "type Boat @auth(query: {rule}) {{ id: ID! tons: Int @search name: String @search(by: [hash]) }}"
        );
        let api = crate::api::generate(sdl::read(&text).expect("sound types").model).expect("sound");
        let rules = Rules::new(&api);
        let token = Token::of(claims.iter().map(|it| (it.0.to_owned(), it.1.to_owned())));
        let variables = super::super::claims::variables(rules.variables(), &token);
        let found = FoundRows {
            on: TypeId(0),
            table: TableId(0),
            filter: Filter::Null { of: weir_relational::plan::Expr::Column(ColumnId(0)), is: false },
        };
        let rules = rules.compile(Arc::default(), &|_| Some(found.clone()));
        let claims = Arc::new(Claims::new(variables, token));
        let caller = Identity { role: "user".into(), is_backend: false, is_anonymous: false, claims };
        let mut facts = Facts::new();
        rules.facts(&caller, &mut facts);
        match rules.policy(&facts).expect("rules").allowed_objects(TypeId(0), Right::Query) {
            Allowed::All => "all",
            Allowed::Nothing => "nothing",
            Allowed::If(_) => "some",
        }
    }

    #[test]
    fn rules_are_decided_in_three_values() {
        let admin = r#"{rule: "{$ROLE: {eq: \"A\"}}"}"#;
        let graph = r#"{rule: "query($T: Int!) { queryBoat(filter: {tons: {lt: $T}}) { id } }"}"#;
        let open = r#"{rule: "query { queryBoat(filter: {tons: {lt: 5}}) { id } }"}"#;
        let role: (&str, &str) = ("ROLE", "\"A\"");
        let tons: (&str, &str) = ("T", "7");
        let check = |rule: &str, claims: &[(&str, &str)], expected: &str| {
            assert_eq!(decided(rule, claims), expected, "{rule} {claims:?}");
        };
        check(admin, &[role], "all");
        check(admin, &[("ROLE", "\"B\"")], "nothing");
        check(admin, &[], "nothing");
        check(graph, &[], "nothing");
        check(graph, &[("T", "\"x\"")], "nothing");
        check(graph, &[("T", "null")], "nothing");
        check(graph, &[tons], "some");
        check(open, &[], "some");
        let not = |rule: &str| format!("{{not: {rule}}}");
        let and = |one: &str, other: &str| format!("{{and: [{one}, {other}]}}");
        let or = |one: &str, other: &str| format!("{{or: [{one}, {other}]}}");
        check(&not(admin), &[], "all");
        check(&not(admin), &[role], "nothing");
        check(&not(&not(admin)), &[role], "all");
        check(&not(graph), &[], "nothing");
        check(&not(&not(graph)), &[], "nothing");
        check(&not(graph), &[tons], "some");
        check(&or(admin, graph), &[role], "all");
        check(&or(admin, graph), &[], "nothing");
        check(&or(admin, graph), &[tons], "some");
        check(&and(admin, graph), &[role], "nothing");
        check(&and(admin, graph), &[tons], "nothing");
        check(&and(admin, graph), &[role, tons], "some");
        check(&not(&or(admin, graph)), &[role, tons], "nothing");
        check(&not(&or(admin, graph)), &[tons], "some");
        check(&not(&or(admin, graph)), &[], "nothing");
        check(&not(&and(admin, graph)), &[], "all");
        check(&not(&and(admin, graph)), &[role], "nothing");
        check(&and(&or(admin, graph), open), &[role, tons], "some");
    }
}
