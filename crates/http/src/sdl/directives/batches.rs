//! Batches of `@connect`: where the items of an answer stand, and how they are matched to the keys that were asked for.

use crate::sdl::expression_keys::find_answer_reference;
use crate::sdl::{Connector, ItemKey, Items, Matching, Reader};
use crate::selection::{Expr, Selection, SelectionError, Start, Step, StepKind};
use weir_language::ast::ValueId;

impl Reader<'_> {
    /// Settings that split a batch answer.
    pub(crate) fn batch_items(&mut self, connector: &Connector, literal: ValueId) -> Option<Items> {
        let selection = &connector.selection;
        let whole = selection.span(selection.root());
        if connector.place.field().is_some() {
            let path = selection.plain_path(selection.root(), usize::MAX);
            if path.is_none() {
                let message = "a batch of fields answers with a list: write a plain path to it (`$.items`)";
                self.complain_within(literal, SelectionError::new(whole, message));
            }
            return path.map(|path| Items { path, matching: Matching::Order });
        }
        let found = match selection.expr(selection.root()) {
            Expr::Members(members) => Some((Vec::new(), members.as_slice())),
            Expr::Path { start: Start::Scope | Start::Current | Start::Key(_), steps } => {
                path_and_members(selection, steps)
            }
            _ => None,
        };
        let Some((path, members)) = found else {
            let message =
                "a batch answers with a list: write its members, or a plain path to it (`$.items { id }`)";
            self.complain_within(literal, SelectionError::new(whole, message));
            return None;
        };
        let mut keys = Vec::new();
        for key in &connector.keys {
            let own = std::slice::from_ref(&key.name);
            let parts = key.parts.iter().map(|it| [own, it].concat());
            let wanted = if key.parts.is_empty() { vec![own.to_vec()] } else { parts.collect() };
            for names in wanted {
                let Some(path) = find_item_key(selection, members, &names) else {
                    let message = match names.join(".") {
                        name if key.parts.is_empty() => {
                            format!("a batch is matched by its keys: select `{name}` of each item")
                        }
                        name => format!("a batch is matched by its keys: select `{name}`, plainly"),
                    };
                    self.complain_within(literal, SelectionError::new(whole, message));
                    return None;
                };
                keys.push(path);
            }
        }
        Some(Items { path, matching: Matching::Keys(keys) })
    }
}

/// Where an item has the key that its member called by `names` gives.
fn find_item_key(
    selection: &Selection,
    members: &[crate::selection::Member],
    names: &[Box<str>],
) -> Option<ItemKey> {
    if let Some(path) = member_path(selection, members, names) {
        return Some(ItemKey::At(path));
    }
    let [name] = names else { return None };
    let value = members.iter().find(|it| it.name.as_ref() == Some(name))?.value;
    find_answer_reference(selection, value).map(|_| ItemKey::Made(value))
}

/// The keys that lead from an item to what its member called by `names` gives.
fn member_path(
    selection: &Selection,
    members: &[crate::selection::Member],
    names: &[Box<str>],
) -> Option<Vec<Box<str>>> {
    let (name, rest) = names.split_first()?;
    let value = members.iter().find(|it| it.name.as_ref() == Some(name))?.value;
    if rest.is_empty() {
        return selection.plain_path(value, usize::MAX);
    }
    let Some(inner) = selection.group(value) else {
        return Some([selection.plain_path(value, usize::MAX)?, rest.to_vec()].concat());
    };
    let before = match selection.expr(value) {
        Expr::Members(_) => Vec::new(),
        _ => selection.plain_path(value, selection.steps_before_members(value)?)?,
    };
    Some([before, member_path(selection, inner, rest)?].concat())
}

/// The keys of a path that ends with members, and these.
fn path_and_members<'s>(
    selection: &'s Selection,
    steps: &'s [Step],
) -> Option<(Vec<Box<str>>, &'s [crate::selection::Member])> {
    let (last, before) = steps.split_last()?;
    let StepKind::Members(members) = &last.kind else { return None };
    let Expr::Path { start, .. } = selection.expr(selection.root()) else { return None };
    let first = match start {
        Start::Key(key) => Some(key.clone()),
        Start::Scope | Start::Current | Start::Local(_) | Start::Variable(_) | Start::Value(_) => None,
    };
    let key = |step: &Step| match &step.kind {
        StepKind::Key(key) => Some(key.clone()),
        StepKind::Optional
        | StepKind::Bind { .. }
        | StepKind::Call(_)
        | StepKind::UnknownCall { .. }
        | StepKind::Members(_) => None,
    };
    let path: Option<Vec<Box<str>>> = first.map(Some).into_iter().chain(before.iter().map(key)).collect();
    Some((path?, members))
}
