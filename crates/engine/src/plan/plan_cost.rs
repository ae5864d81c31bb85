//! Compiles an output plan to the formula of its cost.
//!
//! A field costs its arguments, and for each item of its list its weight and what lies below it. An interface or union costs as much
//! as its most expensive type. Introspection costs nothing: it has limits of its own and asks no source.
//!
//! **Invariant:** the fields of the client's document count, not the fetches: fields that repeat each other under several keys count
//! each. It is made before passes change the members of the output plan.
//!
//! **Cost:** one visit per member of the output plan, and per size that its parent gives it.

use super::plan_context::PlanContext;
use crate::answer::output_plan::{OutputArgument, OutputField, OutputKind, OutputPlan, SelectionSetId};
use crate::compose::{Graph, Joined, Owner};
use crate::request::demand::ListSize;
use crate::request::demand::formula::{Formula, FormulaStep, Results, Term};
use crate::request::demand::list_argument::{ListArgument, ListItems, SlicingFault, follow, read_number};
use crate::request::demand::resolve_rules::find_argument;
use crate::request::demand::units::whole_units;
use crate::request::demand::weights::{VariableWeight, Weights};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::fmt;
use weir_language::ast::OperationKind;
use weir_language::schema::{FieldId, InputId, TypeId};
use weir_language::value::{Node, Values, Variables};

/// Sizes that a field gives lists of the object below it, by their names.
type Sized = SmallVec<[(Box<str>, Term); 1]>;

/// Cost of a plan.
pub(crate) struct PlanCost {
    formula: Formula,
    total: Term,
    /// Thousandths that the operation has whatever it asks for.
    pub(crate) base: u64,
    /// By member of the output plan.
    pub(crate) fields: Box<[FieldCost]>,
}

impl fmt::Debug for PlanCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanCost").field("total", &self.total).finish_non_exhaustive()
    }
}

/// Cost of a member, for the actual cost.
#[derive(Clone, Debug)]
pub(crate) struct FieldCost {
    /// Cost of its arguments.
    pub(crate) arguments: Term,
    /// Depth of its lists.
    pub(crate) lists: u32,
    /// Sets of its objects with the weight of an object; none: a leaf.
    pub(crate) below: SmallVec<[(SelectionSetId, u64); 1]>,
    /// Weight of a leaf.
    pub(crate) leaf: u64,
}

impl FieldCost {
    /// Cost of a member that costs nothing.
    fn free() -> Self {
        Self { arguments: Term::ZERO, lists: 0, below: SmallVec::new(), leaf: 0 }
    }
}

/// Cost of an operation for the variables of one request.
pub(crate) struct Estimate {
    /// Cost in whole units.
    pub(crate) cost: u64,
    /// Arguments that contradict each other.
    pub(crate) fault: Option<SlicingFault>,
}

impl PlanCost {
    /// The cost of `output`, as it was collected.
    pub(crate) fn new(context: &PlanContext<'_>, weights: &Weights, output: &OutputPlan) -> Self {
        let fields = vec![FieldCost::free(); output.fields.len()];
        let is_visited = vec![false; output.fields.len()];
        let formula = Formula::default();
        let mut compiler =
            CostCompiler { context, weights, output, formula, fields, is_visited, known: HashMap::new() };
        let below = compiler.set(SelectionSetId::ROOT, &Sized::new());
        let base = match context.operation.kind {
            OperationKind::Mutation => weights.mutation,
            OperationKind::Query | OperationKind::Subscription => 0,
        };
        let total = compiler.formula.add(Term::Known(base), below);
        Self { formula: compiler.formula, total, base, fields: compiler.fields.into() }
    }

    /// Cost before the operation runs.
    pub(crate) fn estimate(&self, weights: &Weights, variables: &Variables) -> Estimate {
        let results = self.results(weights, variables);
        Estimate { cost: whole_units(results.value(self.total)), fault: results.fault }
    }

    /// Results of all steps.
    pub(crate) fn results(&self, weights: &Weights, variables: &Variables) -> Results {
        self.formula.evaluate(weights, variables)
    }

    /// Bytes it takes, roughly.
    pub(crate) fn weight_bytes(&self) -> usize {
        self.formula.weight_bytes() + size_of_val(&*self.fields)
    }
}

struct CostCompiler<'c> {
    context: &'c PlanContext<'c>,
    weights: &'c Weights,
    output: &'c OutputPlan,
    formula: Formula,
    fields: Vec<FieldCost>,
    is_visited: Vec<bool>,
    /// Costs of sets that get no sizes from above.
    known: HashMap<SelectionSetId, Term>,
}

/// Rules for a field, from directives, configuration and source.
struct FieldRules<'c> {
    weight: Option<u64>,
    size: ListSize,
    joined: Option<&'c Joined>,
    /// Field whose arguments the slicing arguments are.
    target: FieldId,
}

impl<'c> CostCompiler<'c> {
    /// Cost of the members of `set`, whose lists have the sizes `sized`. The depth of the output plan is bounded, so this may recurse.
    fn set(&mut self, set: SelectionSetId, sized: &Sized) -> Term {
        if sized.is_empty()
            && let Some(term) = self.known.get(&set)
        {
            return *term;
        }
        let output = self.output;
        let mut total = Term::ZERO;
        for at in output.set(set).range() {
            let cost = self.field(at, sized);
            total = self.formula.add(total, cost);
        }
        if sized.is_empty() {
            self.known.insert(set, total);
        }
        total
    }

    fn field(&mut self, at: usize, sized: &Sized) -> Term {
        let field = &self.output.fields[at];
        let graph = self.context.graph;
        if graph.owner(field.field) == Owner::Introspection || field.field == graph.schema().meta.typename {
            return Term::ZERO;
        }
        let rules = self.rules(field.field);
        self.visit(at, field, &rules);
        let own = self.list_items(field, &rules);
        let is_object = !matches!(field.member, OutputKind::Leaf | OutputKind::Constant { .. });
        let below: Sized = match own {
            Some(size) => rules.size.sized.iter().map(|it| (it.clone(), size)).collect(),
            None => Sized::new(),
        };
        let mut each = Term::Known(self.fields[at].leaf);
        if is_object {
            let sets = self.fields[at].below.clone();
            each = Term::ZERO;
            for (set, weight) in sets {
                let members = self.set(set, &below);
                let object = self.formula.add(Term::Known(weight), members);
                each = self.formula.greater(each, object);
            }
        }
        let inherited = sized.iter().find(|it| *it.0 == *graph.schema().field_name(field.field));
        let outer = match (inherited, own.filter(|_| below.is_empty())) {
            (Some((_, size)), _) => *size,
            (None, Some(size)) => size,
            (None, None) => Term::Known(self.weights.list_size.min(rules.size.max.unwrap_or(u64::MAX))),
        };
        let lists = field.ty.wraps.lists();
        for depth in 0..lists {
            // Only the outermost list has a size of its own.
            let size = if depth == 0 { outer } else { Term::Known(self.weights.list_size) };
            each = self.formula.multiply(size, each);
        }
        let arguments = self.fields[at].arguments;
        self.formula.add(arguments, each)
    }

    /// Notes what the actual cost needs of the member at `at`, once.
    fn visit(&mut self, at: usize, field: &OutputField, rules: &FieldRules<'c>) {
        if std::mem::replace(&mut self.is_visited[at], true) {
            return;
        }
        let weight = |ty: TypeId| rules.weight.unwrap_or_else(|| self.weights.ty(ty));
        let mut below: SmallVec<[(SelectionSetId, u64); 1]> = SmallVec::new();
        match field.member {
            OutputKind::Object(set) => below.push((set, weight(field.ty.base))),
            OutputKind::Abstract(switch) => {
                for &(ty, set) in &self.output.type_switches[switch.0 as usize].sets {
                    match below.iter_mut().find(|it| it.0 == set) {
                        Some(known) => known.1 = known.1.max(weight(ty)),
                        None => below.push((set, weight(ty))),
                    }
                }
            }
            OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => {}
        }
        let leaf = if below.is_empty() { weight(field.ty.base) } else { 0 };
        let lists = field.ty.wraps.lists();
        let arguments = self.arguments(field);
        self.fields[at] = FieldCost { arguments, lists, below, leaf };
    }

    /// Cost of the arguments of a member and of its directives.
    fn arguments(&mut self, field: &OutputField) -> Term {
        let literals = &self.output.literals;
        let mut total = Term::ZERO;
        for argument in self.output.arguments(field) {
            let weight = self.weights.input(argument.input);
            let mut found: SmallVec<[VariableWeight; 2]> = SmallVec::new();
            let absent = argument.default.map_or(0, |default| {
                self.weights.value_cost(literals, default as usize, weight, &mut |_, _| {})
            });
            let known = self.weights.value_cost(
                literals,
                argument.value as usize,
                weight,
                &mut |variable, weight| {
                    found.push(VariableWeight { variable, weight, absent });
                },
            );
            total = self.formula.add(total, Term::Known(known));
            for value in found {
                let cost = self.formula.push(FormulaStep::Value(value));
                total = self.formula.add(total, cost);
            }
        }
        total
    }

    fn rules(&self, field: FieldId) -> FieldRules<'c> {
        let graph: &'c Graph = self.context.graph;
        let rules = self.weights.rules();
        let joined = match graph.owner(field) {
            Owner::Join(at) => Some(graph.join(at)),
            Owner::Source(_) | Owner::Namespace | Owner::Introspection => None,
        };
        let target = joined.map_or(field, |it| it.target);
        let set = rules.sizes.get(&field).or_else(|| rules.sizes.get(&target)).cloned().unwrap_or_default();
        let size = join_sizes(set, self.source_size(graph, target));
        let weight = self.weights.field(field).or_else(|| self.weights.field(target));
        FieldRules { weight, size, joined, target }
    }

    /// The size that the source of `field` knows.
    fn source_size(&self, graph: &Graph, field: FieldId) -> ListSize {
        let Owner::Source(at) = graph.owner(field) else { return ListSize::default() };
        let (source, ids) = &graph.sources()[usize::from(at)];
        source.list_size(ids.field(field), self.context.profile.facts(at)).unwrap_or_default()
    }

    /// The message for slicing arguments of `field` of which not exactly one is given. Arguments that the caller does not see are left out.
    fn slicing_fault(&self, field: FieldId, target: FieldId, slicing: &[Box<str>]) -> SlicingFault {
        let schema = self.context.graph.schema();
        let is_seen = |path: &str| {
            let found = find_argument(schema, target, path);
            found.is_some_and(|(first, rest)| {
                std::iter::once(first).chain(rest).all(|it| self.context.view.has_input(it))
            })
        };
        let names: Vec<String> =
            slicing.iter().filter(|it| is_seen(it)).map(|it| format!("`{it}`")).collect();
        let on = schema.type_name(schema.field(field).parent);
        let field = format!("{on}.{}", schema.field_name(field)).into();
        SlicingFault { field, arguments: names.join(", ").into() }
    }

    /// The size of the list that the arguments of `field` say; `None`: the field is no list and has none below.
    fn list_items(&mut self, field: &OutputField, rules: &FieldRules<'c>) -> Option<Term> {
        let FieldRules { size, joined, target, .. } = rules;
        if !field.ty.wraps.is_list() && size.sized.is_empty() {
            return None;
        }
        let schema = self.context.graph.schema();
        let max = size.max.unwrap_or(u64::MAX);
        let otherwise = size.assumed.or(size.max).unwrap_or(self.weights.list_size);
        let exactly_one = size.requires_one.then(|| self.slicing_fault(field.field, *target, &size.slicing));
        let mut items =
            ListItems { arguments: Vec::new(), known: None, known_count: 0, exactly_one, otherwise, max };
        for path in &size.slicing {
            let Some((input, rest)) = find_argument(schema, *target, path) else { continue };
            if let Some((_, value)) = joined.and_then(|it| it.arguments.iter().find(|it| it.0 == input)) {
                let values = joined.map(|it| &it.values);
                items.add_value(values.and_then(|it| read_number(it, follow(it, *value as usize, &rest)?)));
                continue;
            }
            let is_meant = |it: &&OutputArgument| {
                joined.map_or(it.input, |joined| joined.target_input(it.input)) == input
            };
            if let Some(argument) = self.output.arguments(field).iter().find(is_meant) {
                items.add_argument(&self.output.literals, argument, &rest);
            }
        }
        Some(match items.constant() {
            Some(size) => Term::Known(size),
            None => self.formula.push(FormulaStep::Size(items)),
        })
    }
}

impl ListItems {
    /// Adds an argument whose value is known.
    fn add_value(&mut self, number: Option<u64>) {
        if number.is_some() {
            self.known = self.known.max(number);
            self.known_count += 1;
        }
    }

    /// Adds the argument whose number lies at the end of `path`.
    fn add_argument(&mut self, literals: &Values, argument: &OutputArgument, path: &[InputId]) {
        let number =
            |start: u32, path: &[InputId]| read_number(literals, follow(literals, start as usize, path)?);
        let mut at = argument.value as usize;
        let mut rest = path;
        loop {
            if let Node::Variable(variable) = literals.nodes[at] {
                let absent = argument.default.and_then(|it| number(it, path));
                self.arguments.push(ListArgument { variable, path: rest.into(), absent });
                return;
            }
            let Some((first, behind)) = rest.split_first() else { break };
            let Some(found) = follow(literals, at, &[*first]) else { return };
            at = found;
            rest = behind;
        }
        self.add_value(read_number(literals, at));
    }
}

/// Rules of directives and configuration, with what the source knows where they say nothing. Its limit always holds.
fn join_sizes(set: ListSize, source: ListSize) -> ListSize {
    let has_slicing = !set.slicing.is_empty();
    ListSize {
        assumed: set.assumed.or(source.assumed),
        requires_one: if has_slicing { set.requires_one } else { source.requires_one },
        slicing: if has_slicing { set.slicing } else { source.slicing },
        sized: if set.sized.is_empty() { source.sized } else { set.sized },
        max: source.max,
    }
}
