//! Types the results of selections: every member must be a field of its type, every object must have a selection.
//!
//! **Invariant:** depth is that of the selection, which is bounded.

use super::{ConnectorId, Embedding, Given, Node, NodeId, Place, Reader, Taken, hint};
use crate::selection::{Call, Expr, ExprId, Member, Method, Selection, SelectionError, Start, StepKind};
use std::collections::HashMap;
use weir_language::schema::{FieldId, Schema, TypeId, TypeKind, builtin};
use weir_language::span::Span;

/// Builder for one connector.
pub(super) struct Build<'b> {
    pub(super) schema: &'b Schema,
    pub(super) selection: &'b Selection,
    connector: ConnectorId,
    pub(super) nodes: &'b mut Vec<Node>,
    errors: Vec<SelectionError>,
    pub(super) notes: Vec<SelectionError>,
    /// Fields with connectors of their own.
    connected: &'b [FieldId],
    /// Only for generated text, where a path to an object returns all of its fields.
    embedding: Option<&'b Embedding<'b>>,
    /// True if several members give objects of one name, which only an evaluation can merge.
    has_merged_objects: bool,
    /// Per type: the node with all its fields.
    wholes: HashMap<TypeId, NodeId>,
    /// The linked version 0.x.
    pub(super) version: u8,
}

impl Reader<'_> {
    pub(super) fn nodes(&mut self) {
        let schema = std::sync::Arc::clone(&self.mapping.schema);
        let connected: Vec<FieldId> =
            self.mapping.connectors.iter().filter_map(|it| it.place.field()).collect();
        for at in 0..self.mapping.connectors.len() {
            let connector = &self.mapping.connectors[at];
            let ty = match connector.place {
                Place::Entity(ty) => ty,
                Place::Root(field) | Place::Field(field) | Place::Extension(field) => {
                    schema.field(field).ty.base
                }
            };
            let mut build = Build {
                schema: &schema,
                selection: &connector.selection,
                connector: ConnectorId(at as u32),
                nodes: &mut self.mapping.nodes,
                errors: Vec::new(),
                notes: Vec::new(),
                connected: &connected,
                embedding: self.outside.embedding,
                has_merged_objects: false,
                wholes: HashMap::new(),
                version: self.links.version,
            };
            let nodes = build.nodes.len();
            let mut node = build.value(ty, connector.selection.root(), "this field");
            if build.has_merged_objects && connector.items.is_some() {
                // Items of a batch are taken from the answer as it is.
                let message = "objects of one name are given twice, and a batch cannot merge them";
                build.wrong(connector.selection.span(connector.selection.root()), message);
            } else if build.has_merged_objects {
                build.nodes.truncate(nodes);
                build.errors.clear();
                build.notes.clear();
                node = build.evaluate_whole(ty, connector.selection.root(), "this field");
            }
            let errors = build.errors;
            let notes = build.notes;
            self.mapping.connectors[at].node = node;
            if let Some(literal) = self.selections[at] {
                errors.into_iter().for_each(|error| self.complain_within(literal, error));
                notes.into_iter().for_each(|note| self.note_shifted(literal, 0, note));
            }
        }
    }
}

impl Reader<'_> {
    /// Adds a node for each type with a `@connect` of its own: an object that has nothing but the keys of the first one.
    pub(super) fn entity_nodes(&mut self) {
        for at in 0..self.mapping.connectors.len() {
            let connector = &self.mapping.connectors[at];
            let Place::Entity(ty) = connector.place else { continue };
            let keys = connector.keys.iter().map(|it| Some((it.field?, it.name.clone())));
            let keys: Option<Vec<(FieldId, Box<str>)>> = keys.collect();
            let is_whole = connector.keys.iter().all(|it| it.parts.is_empty() && !it.is_optional);
            let is_known = self.mapping.entity_nodes.iter().any(|it| it.0 == ty);
            let Some(keys) = keys.filter(|it| !it.is_empty() && is_whole && !is_known) else { continue };
            let given = keys.into_iter().map(|(field, name)| Given {
                field,
                within: Vec::new(),
                value: Taken::Named(name),
                below: None,
            });
            let id = ConnectorId(at as u32);
            let given = given.collect();
            let node = NodeId(self.mapping.nodes.len() as u32);
            let is_made = false;
            self.mapping.nodes.push(Node {
                connector: id,
                ty,
                given,
                is_made,
                is_evaluated: false,
                of_scalars: None,
            });
            self.mapping.entity_nodes.push((ty, id, node));
        }
    }
}

impl Build<'_> {
    pub(super) fn wrong(&mut self, span: Span, message: impl Into<String>) {
        self.errors.push(SelectionError::new(span, message));
    }

    /// Types the result of `id` as `ty`; `None` for leaves and errors. `of` names it in messages.
    fn value(&mut self, ty: TypeId, id: ExprId, of: &str) -> Option<NodeId> {
        let span = self.selection.span(id);
        let members = self.selection.group(id);
        let name = self.schema.type_name(ty);
        match (self.schema.ty(ty).kind, members) {
            (TypeKind::Scalar(_) | TypeKind::Enum, Some(_)) if ty <= builtin::ID || self.is_enum(ty) => {
                let message =
                    format!("{of} is a `{name}`, which has no members: write the path alone, as in `$.name`");
                if id == self.selection.root() {
                    // Other servers take this, and give null.
                    self.notes.push(SelectionError::new(span, message));
                } else {
                    self.wrong(span, message);
                }
                None
            }
            (TypeKind::Scalar(_) | TypeKind::Enum, _) => None,
            (TypeKind::Object, Some(members)) => {
                let group = matches!(self.selection.expr(id), Expr::Members(_));
                // At the root the members belong to the answer itself.
                let is_made = group && id != self.selection.root() || self.selection.takes_itself(members);
                let node = self.open(ty, is_made);
                self.nodes[node.index()].of_scalars = self.selection.may_take_scalars(members).then_some(id);
                self.members(node, members, &mut Vec::new());
                Some(node)
            }
            (TypeKind::Object, None) => match self.embedding {
                Some(embedding) => Some(self.all_fields(ty, embedding)),
                None => self.node_of_expression(ty, id, usize::MAX, of),
            },
            (TypeKind::Interface | TypeKind::Union, None) if self.embedding.is_some() => {
                self.embedding.map(|it| self.all_fields(ty, it))
            }
            (TypeKind::Interface | TypeKind::Union, _) => self.one_of_several(ty, id, of),
            (TypeKind::Input { .. }, _) => None,
        }
    }

    /// The node with all fields of `ty`, each from the member of its name or as the embedding says. For abstract types it has the fields
    /// of all concrete types.
    fn all_fields(&mut self, ty: TypeId, embedding: &Embedding<'_>) -> NodeId {
        let root = self.whole_node(ty).0;
        let mut open = vec![(ty, root)];
        while let Some((ty, node)) = open.pop() {
            let of = self.schema.ty(ty);
            let possible = match of.kind {
                TypeKind::Interface | TypeKind::Union => &self.schema.type_lists[of.possible.range()],
                _ => &[],
            };
            for &ty in std::iter::once(&ty).chain(possible) {
                for at in self.schema.ty(ty).fields.range() {
                    let field = FieldId(at as u32);
                    let base = self.schema.field(field).ty.base;
                    let is_composite = matches!(
                        self.schema.ty(base).kind,
                        TypeKind::Object | TypeKind::Interface | TypeKind::Union
                    );
                    let below = is_composite.then(|| self.whole_node(base));
                    open.extend(below.filter(|it| it.1).map(|it| (base, it.0)));
                    let member = (embedding.member)(self.schema.type_name(ty), self.schema.field_name(field));
                    let value = member.map_or(Taken::Own, Taken::Named);
                    let given = Given { field, within: Vec::new(), value, below: below.map(|it| it.0) };
                    self.nodes[node.index()].given.push(given);
                }
            }
        }
        root
    }

    /// The node for all fields of `ty`, and true if it is new.
    fn whole_node(&mut self, ty: TypeId) -> (NodeId, bool) {
        if let Some(&known) = self.wholes.get(&ty) {
            return (known, false);
        }
        let node = self.open(ty, false);
        self.wholes.insert(ty, node);
        (node, true)
    }

    fn is_enum(&self, ty: TypeId) -> bool {
        self.schema.ty(ty).kind == TypeKind::Enum
    }

    pub(super) fn open(&mut self, ty: TypeId, is_made: bool) -> NodeId {
        let connector = self.connector;
        let given = Vec::new();
        self.nodes.push(Node { connector, ty, given, is_made, is_evaluated: false, of_scalars: None });
        NodeId(self.nodes.len() as u32 - 1)
    }

    fn members(&mut self, node: NodeId, members: &[Member], within: &mut Vec<ExprId>) {
        for member in members {
            match &member.name {
                Some(name) => {
                    let value = Taken::Expr(member.value);
                    let Some(field) = self.field(node, name, member.span) else { continue };
                    let of = format!("`{name}`");
                    let below = self.value(self.schema.field(field).ty.base, member.value, &of);
                    let given = Given { field, within: within.clone(), value, below };
                    self.add_given(node, given);
                }
                None => match self.selection.group(member.value) {
                    Some(inner) => {
                        within.push(member.value);
                        self.members(node, inner, within);
                        within.pop();
                    }
                    None => self.spread_member(node, member, within),
                },
            }
        }
    }

    /// `... path`: what it leads to has to have members whose names are known.
    fn spread_member(&mut self, node: NodeId, member: &Member, within: &mut Vec<ExprId>) {
        let Some(made) = known_members(self.selection, member.value, usize::MAX, Branches::Common) else {
            return self
                .wrong(member.span, "say what is spread: name its members, as in `... $.item { id }`");
        };
        within.push(member.value);
        self.own_members(node, made, within);
        within.pop();
    }

    /// The field of the node's type that a member returns.
    fn field(&mut self, node: NodeId, name: &str, span: Span) -> Option<FieldId> {
        let ty = self.nodes[node.index()].ty;
        let type_name = self.schema.type_name(ty);
        // The type of an object is known, whatever the service calls it.
        if name == "__typename" {
            return None;
        }
        let Some(field) = self.schema.field_by_name(ty, name) else {
            let run = self.schema.ty(ty).fields;
            let names = (run.start..run.start + run.len).map(|at| self.schema.field_name(FieldId(at)));
            let message = format!("`{type_name}` has no field `{name}`{}", hint(name, names));
            self.wrong(span, message);
            return None;
        };
        self.check_given(field, span).then_some(field)
    }

    /// True if a selection may give `field`. That its own `@connect` is not asked then is noted.
    pub(super) fn check_given(&mut self, field: FieldId, span: Span) -> bool {
        let of = self.schema.type_name(self.schema.field(field).parent);
        let name = self.schema.field_name(field);
        if self.connected.contains(&field) {
            let message = format!(
                "`{of}.{name}` has a `@connect` of its own, which is not asked where a selection gives the field"
            );
            self.notes.push(SelectionError::new(span, message));
        }
        let has_arguments = self.schema.field(field).arguments.len > 0;
        if has_arguments {
            let message = format!("`{of}.{name}` has arguments, which only a `@connect` of its own can read");
            self.wrong(span, message);
        }
        !has_arguments
    }

    /// A value that an expression makes: its members have their own names.
    fn node_of_expression(&mut self, ty: TypeId, id: ExprId, steps: usize, of: &str) -> Option<NodeId> {
        let Some(made) = known_members(self.selection, id, steps, Branches::Common) else {
            let span = self.selection.span(id);
            let name = self.schema.type_name(ty);
            self.wrong(
                span,
                format!("{of} is an object: say what of it is a field of `{name}`, as in `$.item {{ id }}`"),
            );
            return None;
        };
        let node = self.open(ty, true);
        self.own_members(node, made, &[]);
        Some(node)
    }

    fn own_members(&mut self, node: NodeId, made: Vec<(Box<str>, ExprId)>, within: &[ExprId]) {
        for (name, value) in made {
            let span = self.selection.span(value);
            let Some(field) = self.field(node, &name, span) else { continue };
            let base = self.schema.field(field).ty.base;
            let below = match self.schema.ty(base).kind {
                TypeKind::Object => self.node_of_expression(base, value, usize::MAX, &format!("`{name}`")),
                _ => None,
            };
            let given = Given { field, within: within.to_vec(), value: Taken::Own, below };
            self.add_given(node, given);
        }
    }

    /// Adds a field to a node. For two scalar values the last one counts; two object values are merged.
    fn add_given(&mut self, node: NodeId, given: Given) {
        let known = self.nodes[node.index()].given.iter().position(|it| it.field == given.field);
        let Some(known) = known else { return self.nodes[node.index()].given.push(given) };
        let is_object = self.nodes[node.index()].given[known].below.is_some() || given.below.is_some();
        if is_object {
            self.has_merged_objects = true;
            return;
        }
        self.nodes[node.index()].given[known] = given;
    }
}

/// Which members count of values that are chosen from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Branches {
    /// Members that all branches have.
    Common,
    /// Members that some branch has.
    All,
}

/// The members that a value has, if they are known: of a list, those of its items.
pub(super) fn known_members(
    selection: &Selection,
    id: ExprId,
    steps_max: usize,
    branches: Branches,
) -> Option<Vec<(Box<str>, ExprId)>> {
    match selection.expr(id) {
        Expr::Null => Some(Vec::new()),
        Expr::Bool(_) | Expr::Number(_) | Expr::Text(_) => None,
        Expr::Object(members) => Some(members.clone()),
        Expr::Merged(parts) => {
            let each = parts.iter().map(|&it| known_members(selection, it, usize::MAX, branches));
            each.collect::<Option<Vec<_>>>().map(|all| all.concat())
        }
        Expr::Array(items) => choice_members(selection, items.iter().copied(), branches),
        Expr::Coalesce(choices) | Expr::IfMissing(choices) => {
            choice_members(selection, choices.iter().copied(), branches)
        }
        Expr::Members(members) => expand_spreads(selection, members, branches),
        Expr::Path { start, steps } => {
            let steps = &steps[..steps.len().min(steps_max)];
            match (steps.last().map(|it| &it.kind), start) {
                (None, Start::Value(inner)) => known_members(selection, *inner, usize::MAX, branches),
                (Some(StepKind::Members(members)), _) => expand_spreads(selection, members, branches),
                (Some(StepKind::Optional | StepKind::Bind { .. }), _) => {
                    known_members(selection, id, steps.len() - 1, branches)
                }
                (Some(StepKind::Call(Call { method, arguments })), _) => match method {
                    Method::Map | Method::Echo => {
                        known_members(selection, *arguments.first()?, usize::MAX, branches)
                    }
                    Method::Match => choice_members(
                        selection,
                        arguments.iter().filter_map(|&it| match selection.expr(it) {
                            Expr::Array(pair) => pair.get(1).copied(),
                            _ => None,
                        }),
                        branches,
                    ),
                    Method::First
                    | Method::Last
                    | Method::Find
                    | Method::Filter
                    | Method::Slice
                    | Method::Get
                    | Method::WithError => known_members(selection, id, steps.len() - 1, branches),
                    _ => None,
                },
                (None | Some(StepKind::Key(_) | StepKind::UnknownCall { .. }), _) => None,
            }
        }
    }
}

/// The members of values one of which is chosen; null has none.
fn choice_members(
    selection: &Selection,
    ids: impl Iterator<Item = ExprId>,
    branches: Branches,
) -> Option<Vec<(Box<str>, ExprId)>> {
    let mut all: Option<Vec<(Box<str>, ExprId)>> = None;
    for id in ids.filter(|&id| !matches!(selection.expr(id), Expr::Null)) {
        let own = known_members(selection, id, usize::MAX, branches)?;
        match &mut all {
            None => all = Some(own),
            Some(all) if branches == Branches::All => all.extend(own),
            Some(all) => all.retain(|it| own.iter().any(|other| other.0 == it.0)),
        }
    }
    all
}

fn expand_spreads(
    selection: &Selection,
    members: &[Member],
    branches: Branches,
) -> Option<Vec<(Box<str>, ExprId)>> {
    let mut all = Vec::new();
    for member in members {
        match &member.name {
            Some(name) => all.push((name.clone(), member.value)),
            None => all.extend(known_members(selection, member.value, usize::MAX, branches)?),
        }
    }
    Some(all)
}
