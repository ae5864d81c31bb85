//! The form of structural variables: which keys are present, null or absent, which enum values choose columns, by which way a
//! text is looked for, and the table of a row's identifier.
//!
//! Two requests with the same form use the same statements; scalars and the lengths of their lists are no part of it.
//! While it is computed the places of all leaves are noted, so that binding needs no second walk.
//!
//! **Invariant:** a key is a prefix code of the tapes, so equal keys mean equal structure.
//!
//! **Cost:** one pass over the structural variables; no allocation for usual ones.

use super::{ApiFrontend, Ask};
use smallvec::SmallVec;
use weir_engine::source::{Ids, PlanNode, PlanVariable};
use weir_language::schema::{EnumValueId, InputId, Schema, TypeKind};
use weir_language::value::{Node, Variables};

const LEAF: u32 = 0;
const NULL: u32 = 1;
const ABSENT: u32 = 2;
const TRUE: u32 = 3;
const FALSE: u32 = 4;
const ENUM: u32 = 5;
const OBJECT: u32 = 6;
const LIST: u32 = 7;
const KEY: u32 = 8;
const EACH: u32 = 9;
const NEGATIVE: u32 = 10;
const STEERS: u32 = 11;
const NAME: u32 = 12;

/// Form and leaves of the structural variables of one request.
#[derive(Clone, Debug, Default)]
pub struct Form {
    /// The prefix code.
    pub key: SmallVec<[u32; 48]>,
    leaves: SmallVec<[u32; 16]>,
    starts: SmallVec<[u32; 4]>,
    /// Slots that hold rows of one form.
    rows: SmallVec<[Rows; 1]>,
}

/// A list of rows to be inserted that all have the same form, whatever their number.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// Number of the structural variable.
    pub slot: u32,
    /// Number of leaves.
    pub len: u32,
    pub leaves: u32,
}

impl Form {
    /// The rows in `slot`, if it holds rows of one form.
    pub fn rows(&self, slot: u32) -> Option<Rows> {
        self.rows.iter().find(|it| it.slot == slot).copied()
    }

    /// The node of a leaf.
    pub fn leaf(&self, slot: u32, leaf: u32) -> u32 {
        self.leaves[self.starts[slot as usize] as usize + leaf as usize]
    }

    /// The leaf of `slot` at `node`.
    pub fn leaf_at(&self, slot: u32, node: u32) -> Option<u32> {
        let start = self.starts[slot as usize] as usize;
        let end = self.starts.get(slot as usize + 1).map_or(self.leaves.len(), |&end| end as usize);
        self.leaves[start..end].binary_search(&node).ok().map(|at| at as u32)
    }
}

/// The numbers of the variables whose value can change a statement.
pub fn structural(plan_node: &PlanNode<'_>, frontend: &dyn ApiFrontend) -> Vec<u32> {
    let changes =
        |it: &&(usize, &PlanVariable)| is_structural(it.1, plan_node.schema, plan_node.ids, frontend);
    plan_node.variables.iter().enumerate().filter(|it| changes(&it)).map(|it| it.0 as u32).collect()
}

fn is_structural(variable: &PlanVariable, schema: &Schema, ids: &Ids, frontend: &dyn ApiFrontend) -> bool {
    if !variable.ty.is_non_null() {
        return true;
    }
    let ty = schema.ty(variable.ty.base);
    match ty.kind {
        TypeKind::Input { .. } => true,
        TypeKind::Enum => ty
            .members
            .range()
            .next()
            .is_some_and(|at| frontend.chooses(ids.enum_value(EnumValueId(at as u32)))),
        TypeKind::Scalar(reader) => reader == weir_language::schema::ScalarReader::Boolean,
        TypeKind::Object | TypeKind::Interface | TypeKind::Union => false,
    }
}

/// Computes the form of the structural variables of a request.
pub fn form(ask: &Ask, variables: &Variables, frontend: &dyn ApiFrontend, ids: &Ids) -> Form {
    let mut form = Form::default();
    for (slot, &variable) in ask.structural.iter().enumerate() {
        form.starts.push(form.leaves.len() as u32);
        let start = variables.starts[variable as usize] as usize;
        if ask.signed.contains(&variable) && matches!(variables.values.nodes[start], Node::Int(..0)) {
            form.key.push(NEGATIVE);
        }
        if ask.named.contains(&variable) {
            name(&mut form, variables, start);
        }
        let steered = ask.steered.iter().filter(|it| it.0 == variable);
        steered.for_each(|it| steer(&mut form, it.1, variables, start, frontend));
        let rows = ask.objects.contains(&variable);
        if !rows || !walk_rows(&mut form, slot as u32, variables, start, frontend, ids) {
            walk(&mut form, variables, start, frontend, ids);
        }
    }
    form
}

/// Notes the texts from `start` on letter by letter: they are names in the statement.
fn name(form: &mut Form, variables: &Variables, start: usize) {
    for node in &variables.values.nodes[start..variables.values.end(start)] {
        if let Node::Text(span) = node {
            let text = variables.values.str(*span);
            form.key.extend([NAME, text.len() as u32]);
            form.key.extend(text.bytes().map(u32::from));
        }
    }
}

/// Notes the way that the text at `at`, which stands under `input`, decides for.
fn steer(form: &mut Form, input: InputId, variables: &Variables, at: usize, frontend: &dyn ApiFrontend) {
    if let Some(Node::Text(span)) = variables.values.nodes.get(at)
        && let Some(way) = frontend.steers(input, variables.values.str(*span))
    {
        form.key.extend([STEERS, way]);
    }
}

/// Walks a list of rows; `false`, and nothing noted, if they differ in form.
fn walk_rows(
    form: &mut Form,
    slot: u32,
    variables: &Variables,
    start: usize,
    frontend: &dyn ApiFrontend,
    ids: &Ids,
) -> bool {
    let key = form.key.len();
    let leaves = form.leaves.len();
    form.key.push(EACH);
    form.leaves.push(start as u32);
    let mut rows = Rows { slot, len: 0, leaves: 0 };
    let mut first = 0..0;
    for item in variables.values.items(start) {
        let before = form.key.len();
        walk(form, variables, item, frontend, ids);
        if rows.len == 0 {
            first = before..form.key.len();
            rows.leaves = (form.leaves.len() - leaves - 1) as u32;
        } else if form.key[before..] == form.key[first.clone()] {
            form.key.truncate(before);
        } else {
            rows.len = 0;
            break;
        }
        rows.len += 1;
    }
    if rows.len == 0 {
        form.key.truncate(key);
        form.leaves.truncate(leaves);
        return false;
    }
    form.rows.push(rows);
    true
}

fn walk(form: &mut Form, variables: &Variables, start: usize, frontend: &dyn ApiFrontend, ids: &Ids) {
    let nodes = &variables.values.nodes;
    let end = variables.values.end(start);
    let mut at = start;
    while at < end {
        match nodes[at] {
            Node::Absent => form.key.push(ABSENT),
            Node::Null => form.key.push(NULL),
            Node::Key(input) => {
                form.key.extend([KEY, input.0]);
                steer(form, ids.input(input), variables, at + 1, frontend);
            }
            Node::Object { len, .. } => {
                form.leaves.push(at as u32);
                form.key.extend([OBJECT, len]);
            }
            Node::List { len, end } => {
                // Lists of lists are values of arrays.
                let branches = match nodes.get(at + 1) {
                    Some(Node::Object { .. }) if len > 0 => true,
                    Some(Node::Enum(value)) if len > 0 => frontend.chooses(ids.enum_value(*value)),
                    _ => false,
                };
                form.leaves.push(at as u32);
                if branches {
                    form.key.extend([LIST, len]);
                } else {
                    form.key.push(LEAF);
                    at = end as usize;
                    continue;
                }
            }
            Node::Bool(value) => {
                form.leaves.push(at as u32);
                form.key.push(if value { TRUE } else { FALSE });
            }
            Node::Enum(value) => {
                form.leaves.push(at as u32);
                if frontend.chooses(ids.enum_value(value)) {
                    form.key.extend([ENUM, value.0]);
                } else {
                    form.key.push(LEAF);
                }
            }
            Node::Int(_)
            | Node::QuotedInt(_)
            | Node::Float(_)
            | Node::Number(_)
            | Node::Text(_)
            | Node::Json(_)
            | Node::Variable(_)
            | Node::Parent(_) => {
                form.leaves.push(at as u32);
                form.key.push(LEAF);
            }
        }
        at += 1;
    }
}
