//! Compiles the client's selection and the mapping to a [`Projection`], once per plan.
//!
//! **Invariant:** depth is that of the output plan, which validation bounds.

use super::locate::Scan;
use super::{ColumnPlan, Evaluate, Find, Kind, Leaf, Projection, TablePlan, Top, VariantPlan};
use crate::sdl::{ConnectorId, Given, Mapping, NodeId, Taken};
use crate::selection::{Expr, ExprId, Variable};
use std::sync::Arc;
use weir_engine::plan::output_plan::{OutputField, OutputKind, OutputPlan, SelectionSetId};
use weir_engine::source::PlanNode;
use weir_language::schema::{FieldId, TypeId, TypeKind};
use weir_language::wraps::Wraps;

struct Compile<'c> {
    mapping: &'c Arc<Mapping>,
    connector: ConnectorId,
    plan_node: &'c PlanNode<'c>,
    scan: Scan,
    slots: u32,
    tables: Vec<TablePlan>,
    variants: Vec<Vec<VariantPlan>>,
}

impl Projection {
    /// Projection for a field's connector: one column with the value of the member at `field` of the node's output.
    pub fn field(
        mapping: &Arc<Mapping>,
        connector: ConnectorId,
        plan_node: &PlanNode<'_>,
        field: u32,
    ) -> Self {
        let mut compile = Compile::new(mapping, connector, plan_node);
        let output_field = &plan_node.output.fields[field as usize];
        let node = mapping.connector(connector).node;
        // Items of a batch are split before the projection.
        let is_batch = mapping.connector(connector).items.is_some();
        let find = if is_batch { Find::Itself } else { compile.root(node) };
        let kind = compile.kind(output_field, node);
        let whole = match (&find, kind) {
            (Find::Itself, Kind::Table(table)) if !output_field.ty.wraps.is_list() => Some(table),
            _ => None,
        };
        compile.finish(Top::Column(ColumnPlan { find, wraps: output_field.ty.wraps, kind }), whole)
    }

    /// Projection for a type's connector: the columns of the node's members and of the hidden keys of its set.
    pub fn entity(mapping: &Arc<Mapping>, connector: ConnectorId, plan_node: &PlanNode<'_>) -> Self {
        let mut compile = Compile::new(mapping, connector, plan_node);
        let node = mapping.connector(connector).node;
        // Items of a batch are split before the projection.
        let batch = mapping.connector(connector).items.is_some();
        let find = if batch { Find::Itself } else { compile.root(node) };
        let members: Vec<usize> = plan_node.fields.iter().map(|&it| it as usize).collect();
        let table = compile.table(node, plan_node.set, &members, true);
        let whole = (!batch && matches!(find, Find::Itself)).then_some(table);
        compile.finish(Top::Rows { find, table }, whole)
    }
}

impl<'c> Compile<'c> {
    fn new(mapping: &'c Arc<Mapping>, connector: ConnectorId, plan_node: &'c PlanNode<'c>) -> Self {
        Self {
            mapping,
            connector,
            plan_node,
            scan: Scan::default(),
            slots: 0,
            tables: Vec::new(),
            variants: Vec::new(),
        }
    }

    fn finish(self, top: Top, table: Option<u32>) -> Projection {
        let selection = &self.mapping.connector(self.connector).selection;
        let by_row = [Variable::This, Variable::Status, Variable::Response];
        let of_answers = table.filter(|_| matches!(selection.expr(selection.root()), Expr::Members(_)));
        let origins = selection.variables().any(|it| by_row.contains(&it.variable));
        Projection {
            mapping: Arc::clone(self.mapping),
            connector: self.connector,
            scan: self.scan,
            slots: self.slots,
            top,
            tables: self.tables,
            variants: self.variants,
            origins,
            of_answers,
        }
    }

    fn output(&self) -> &OutputPlan {
        self.plan_node.output
    }

    /// Path to the value of the whole selection.
    fn root(&mut self, node: Option<NodeId>) -> Find {
        let selection = &self.mapping.connector(self.connector).selection;
        let root = selection.root();
        let is_taken_apart = self.is_taken_apart(node);
        let steps = self.steps(root, is_taken_apart);
        if is_taken_apart && matches!(selection.expr(root), Expr::Members(_)) {
            return Find::Itself;
        }
        let evaluate = Evaluate { within: Vec::new(), expr: Some((root, steps)), member: None };
        match selection.plain_path(root, steps) {
            Some(path) => match self.scan.reserve_slot(&path, &mut self.slots) {
                Some(slot) => Find::Slot(slot, evaluate),
                None => Find::Itself,
            },
            None => Find::Evaluate(evaluate),
        }
    }

    /// True for objects whose members are found one by one, without evaluation of the selection as a whole.
    fn is_taken_apart(&self, node: Option<NodeId>) -> bool {
        node.is_some_and(|it| !self.mapping.node(it).is_evaluated)
    }

    /// Number of steps of an expression that lead to the object taken apart below, or to the value.
    fn steps(&self, expr: ExprId, below: bool) -> usize {
        let selection = &self.mapping.connector(self.connector).selection;
        selection.steps_before_members(expr).filter(|_| below).unwrap_or(usize::MAX)
    }

    fn kind(&mut self, output_field: &OutputField, node: Option<NodeId>) -> Kind {
        let ty = self.plan_node.ids.ty(output_field.ty.base);
        match output_field.member {
            OutputKind::Leaf => Kind::Leaf(Leaf::of(&self.mapping.schema, ty)),
            OutputKind::Object(set) => {
                let members: Vec<usize> = self.output().set(set).range().collect();
                Kind::Table(self.table(node, set, &members, false))
            }
            OutputKind::Abstract(choice) => {
                let sets = self.output().type_switches[choice.0 as usize].sets.clone();
                let variant = |(ty, set): (TypeId, SelectionSetId)| {
                    let members: Vec<usize> = self.output().set(set).range().collect();
                    let name = self.mapping.schema.type_name(self.plan_node.ids.ty(ty)).into();
                    VariantPlan { name, ty, table: self.table(node, set, &members, false) }
                };
                let plans = sets.into_iter().map(variant).collect();
                self.variants.push(plans);
                Kind::Variants(self.variants.len() as u32 - 1)
            }
            OutputKind::Constant { .. } | OutputKind::Foreign { .. } => Kind::Nothing,
        }
    }

    /// A table with `members` and the hidden keys of `set`. `entity`: the table of a type's own connector, whose keys are known.
    fn table(&mut self, node: Option<NodeId>, set: SelectionSetId, members: &[usize], entity: bool) -> u32 {
        let of_scalars = node.and_then(|it| self.mapping.node(it).of_scalars);
        let mut plan = TablePlan { of_scalars, ..TablePlan::default() };
        let plan_node = *self.plan_node;
        for &at in members {
            let output_field = &plan_node.output.fields[at];
            let column = match (output_field.same_as, output_field.member) {
                (Some(_), _) | (None, OutputKind::Constant { .. } | OutputKind::Foreign { .. }) => {
                    empty_column()
                }
                (None, OutputKind::Leaf | OutputKind::Object(_) | OutputKind::Abstract(_)) => {
                    self.column(node, output_field, entity, &mut plan)
                }
            };
            plan.columns.push(column);
        }
        if !entity {
            plan.needed = self.required_keys(node, &mut plan);
        }
        for &field in &plan_node.output.set(set).hidden {
            let column = self.hidden(node, field, entity, &mut plan);
            plan.hidden.push(column);
        }
        self.tables.push(plan);
        self.tables.len() as u32 - 1
    }

    /// Keys without which an object built by the selection is null.
    fn required_keys(&self, node: Option<NodeId>, plan: &mut TablePlan) -> Vec<Find> {
        let Some((id, node)) = node.map(|it| (it, self.mapping.node(it))).filter(|it| it.1.is_made) else {
            return Vec::new();
        };
        let Some(entity) = self.mapping.entity_at(id) else { return Vec::new() };
        let keys = &self.mapping.connector(entity).keys;
        let is_key = |given: &&Given| keys.iter().any(|it| it.field == Some(given.field));
        let is_key_alone = node.given.iter().all(|it| is_key(&it));
        let needed = |given: &&Given| is_key_alone || self.mapping.schema.field(given.field).ty.is_non_null();
        node.given.iter().filter(is_key).filter(needed).map(|it| self.find(it, plan)).collect()
    }

    fn column(
        &mut self,
        node: Option<NodeId>,
        output_field: &OutputField,
        entity: bool,
        plan: &mut TablePlan,
    ) -> ColumnPlan {
        let field = self.plan_node.ids.field(output_field.field);
        let Some(given) = self.find_given(node, field) else {
            // Keys that are objects or lists are available only as JSON.
            return if matches!(output_field.member, OutputKind::Leaf) && !output_field.ty.wraps.is_list() {
                self.key(field, entity)
            } else {
                empty_column()
            };
        };
        let find = self.find(&given, plan);
        let kind = self.kind(output_field, given.below);
        ColumnPlan { find, wraps: output_field.ty.wraps, kind }
    }

    fn hidden(&self, node: Option<NodeId>, field: FieldId, entity: bool, plan: &mut TablePlan) -> ColumnPlan {
        let own = self.plan_node.ids.field(field);
        let Some(given) = self.find_given(node, own) else { return self.key(own, entity) };
        let ty = self.mapping.schema.field(own).ty;
        let leaf = Leaf::of(&self.mapping.schema, ty.base);
        let is_leaf = matches!(self.mapping.schema.ty(ty.base).kind, TypeKind::Scalar(_) | TypeKind::Enum);
        if is_leaf && !ty.wraps.is_list() {
            return ColumnPlan {
                find: self.find(&given, plan),
                wraps: ty.wraps,
                kind: Kind::Leaf(leaf.key()),
            };
        }
        // An object or list used as a key is taken whole, as the client would see it.
        let find = self.find(&Given { below: None, ..given }, plan);
        ColumnPlan { find, wraps: Wraps::default(), kind: Kind::Leaf(Leaf::Any) }
    }

    fn find_given(&self, node: Option<NodeId>, field: FieldId) -> Option<Given> {
        self.mapping.node(node?).find(field).cloned()
    }

    /// A field that the answer does not contain: a key of the parents, or a column filled by another connector.
    fn key(&self, field: FieldId, entity: bool) -> ColumnPlan {
        let keys = &self.mapping.connector(self.connector).keys;
        let at = keys.iter().position(|it| it.field == Some(field)).filter(|_| entity);
        at.map_or_else(empty_column, |at| ColumnPlan { kind: Kind::Key(at as u32), ..empty_column() })
    }

    fn find(&self, given: &Given, plan: &mut TablePlan) -> Find {
        let selection = &self.mapping.connector(self.connector).selection;
        let within: Vec<(ExprId, usize)> =
            given.within.iter().map(|&it| (it, self.steps(it, true))).collect();
        let expr = match &given.value {
            Taken::Expr(expr) => *expr,
            Taken::Own => {
                let name = self.mapping.schema.field_name(given.field).into();
                return Self::member(name, within, plan);
            }
            Taken::Named(name) => return Self::member(name.clone(), within, plan),
        };
        let is_taken_apart = self.is_taken_apart(given.below);
        let steps = self.steps(expr, is_taken_apart);
        let group = matches!(selection.expr(expr), Expr::Members(_)) && is_taken_apart;
        let expr = (!group).then_some((expr, steps));
        let evaluate = Evaluate { within, expr, member: None };
        let mut path: Option<Vec<Box<str>>> = Some(Vec::new());
        for (expr, steps) in &evaluate.within {
            path = path.zip(selection.plain_path(*expr, *steps)).map(|(path, more)| [path, more].concat());
        }
        let own = evaluate.expr.map_or(Some(Vec::new()), |(expr, steps)| selection.plain_path(expr, steps));
        // A spread value may be a list, which has no members.
        let own = own.filter(|it| evaluate.within.is_empty() || !it.is_empty());
        match path.zip(own).map(|(path, own)| [path, own].concat()) {
            Some(path) => match plan.scan.reserve_slot(&path, &mut plan.slots) {
                Some(slot) => Find::Slot(slot, evaluate),
                None => Find::Itself,
            },
            None => Find::Evaluate(evaluate),
        }
    }
}

impl Compile<'_> {
    /// The member `name` of the value at `within`.
    fn member(name: Box<str>, within: Vec<(ExprId, usize)>, plan: &mut TablePlan) -> Find {
        if !within.is_empty() {
            return Find::Evaluate(Evaluate { within, expr: None, member: Some(name) });
        }
        let evaluate = Evaluate { within, expr: None, member: None };
        plan.scan.reserve_slot(&[name], &mut plan.slots).map_or(Find::Itself, |it| Find::Slot(it, evaluate))
    }
}

fn empty_column() -> ColumnPlan {
    ColumnPlan { find: Find::Itself, wraps: Wraps::default(), kind: Kind::Nothing }
}
