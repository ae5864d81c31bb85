//! Results of selections for interfaces and unions: each object says its type by `__typename`, so that a selection is evaluated as a whole.
//!
//! **Invariant:** depth is that of the selection, which is bounded.

use super::nodes::{Branches, Build, known_members};
use super::{Given, NodeId, Taken, hint};
use crate::selection::{Expr, ExprId, Selection, SelectionError, Start};
use weir_language::schema::{FieldId, TypeId, TypeKind};

/// The first version 0.x that maps interfaces and unions.
const SINCE: u8 = 4;
/// The member that says the type of an object.
const TYPE_NAME: &str = "__typename";

impl Build<'_> {
    /// Result of `id` for the interface or union `ty`. `of`: for messages.
    pub(super) fn one_of_several(&mut self, ty: TypeId, id: ExprId, of: &str) -> Option<NodeId> {
        let span = self.selection.span(id);
        let name = self.schema.type_name(ty);
        if self.version < SINCE {
            let version = self.version;
            let message = format!(
                "{of} is a `{name}`: interfaces and unions are mapped by connect v0.{SINCE}, and this text links v0.{version}"
            );
            self.wrong(span, message);
            return None;
        }
        self.evaluate_whole(ty, id, of)
    }

    /// Result of `id` for `ty`, which is evaluated as a whole. `of`: for messages.
    pub(super) fn evaluate_whole(&mut self, ty: TypeId, id: ExprId, of: &str) -> Option<NodeId> {
        let node = self.add_evaluated(ty, &[id], of)?;
        self.nodes[node.index()].is_evaluated = true;
        Some(node)
    }

    /// Adds the node of the members of `ids`, each of which may stand for an object of `ty`.
    fn add_evaluated(&mut self, ty: TypeId, ids: &[ExprId], of: &str) -> Option<NodeId> {
        let selection = self.selection;
        let mut all: Vec<(Box<str>, Vec<ExprId>)> = Vec::new();
        for &id in ids.iter().filter(|it| !matches!(selection.expr(**it), Expr::Null)) {
            let span = selection.span(id);
            let name = self.schema.type_name(ty);
            let Some(members) = known_members(selection, id, usize::MAX, Branches::All) else {
                let message = format!(
                    "{of} is an object: say what of it is a field of `{name}`, as in `$.item {{ id }}`"
                );
                self.wrong(span, message);
                return None;
            };
            let is_named = members.iter().any(|it| &*it.0 == TYPE_NAME);
            if !is_named && self.schema.ty(ty).kind != TypeKind::Object {
                // Other servers take this, and ask another connector for the type.
                let message = format!(
                    "{of} is a `{name}`, and an object that does not say its type is null: write `{TYPE_NAME}: $('…')`, or `->match` with one for each type"
                );
                self.notes.push(SelectionError::new(span, message));
            }
            for (name, value) in members {
                match all.iter_mut().find(|it| it.0 == name) {
                    Some(known) => known.1.push(value),
                    None => all.push((name, vec![value])),
                }
            }
        }
        let node = self.open(ty, false);
        for (name, values) in all {
            if &*name == TYPE_NAME {
                values.iter().for_each(|it| self.check_type_name(ty, *it));
            } else {
                self.add_evaluated_member(node, ty, &name, &values);
            }
        }
        Some(node)
    }

    /// The types that objects of `ty` may have.
    fn types_of(&self, ty: TypeId) -> Vec<TypeId> {
        let of = self.schema.ty(ty);
        match of.kind {
            TypeKind::Interface | TypeKind::Union => self.schema.type_lists[of.possible.range()].to_vec(),
            TypeKind::Object | TypeKind::Scalar(_) | TypeKind::Enum | TypeKind::Input { .. } => vec![ty],
        }
    }

    /// Gives the field `name` of each type that has it.
    fn add_evaluated_member(&mut self, node: NodeId, ty: TypeId, name: &str, values: &[ExprId]) {
        let types = self.types_of(ty);
        let own = types.iter().filter(|it| **it != ty).chain([&ty]);
        let fields: Vec<FieldId> = own.filter_map(|it| self.schema.field_by_name(*it, name)).collect();
        let span = self.selection.span(values[0]);
        if fields.is_empty() {
            let names = types
                .iter()
                .flat_map(|it| self.schema.ty(*it).fields.range())
                .map(|at| self.schema.field_name(FieldId(at as u32)));
            let hint = hint(name, names);
            let message = format!("`{}` has no field `{name}`{hint}", self.schema.type_name(ty));
            return self.wrong(span, message);
        }
        let of = format!("`{name}`");
        let mut below: Option<(TypeId, Option<NodeId>)> = None;
        for field in fields {
            self.check_given(field, span);
            let base = self.schema.field(field).ty.base;
            let is_leaf = matches!(self.schema.ty(base).kind, TypeKind::Scalar(_) | TypeKind::Enum);
            let under = match below {
                _ if is_leaf => None,
                Some((known, node)) if known == base => node,
                Some(_) | None => self.add_evaluated(base, values, &of),
            };
            below = Some((base, under));
            let given = Given { field, within: Vec::new(), value: Taken::Own, below: under };
            self.nodes[node.index()].given.push(given);
        }
    }

    /// A type that is written out is one that objects of `ty` may have.
    fn check_type_name(&mut self, ty: TypeId, id: ExprId) {
        let Some(name) = text(self.selection, id) else { return };
        let types = self.types_of(ty);
        let names = || types.iter().map(|it| self.schema.type_name(*it));
        if names().all(|it| it != name) {
            let of = self.schema.type_name(ty);
            let message = format!("`{name}` is no type of `{of}`{}", hint(name, names()));
            self.wrong(self.selection.span(id), message);
        }
    }
}

/// The text that `id` is, whatever the answer says.
fn text(selection: &Selection, id: ExprId) -> Option<&str> {
    match selection.expr(id) {
        Expr::Text(text) => Some(text),
        Expr::Path { start: Start::Value(inner), steps } if steps.is_empty() => text(selection, *inner),
        _ => None,
    }
}
