//! Gives each member to the source that answers it: pieces at the root, pieces below foreign members.
//!
//! At a query's root all members of one source are one piece, in a mutation each maximal run of them is; below,
//! each foreign member is one. A member that is refused is one wherever it stands. What the foreign ones need of their parents becomes hidden fields of the set.
//!
//! **Invariant:** a piece below the root comes after the piece that has its parents.

use super::ParentKeys;
use super::refused::Refused;
use super::shape::{Member, PieceId, Set, SetId, Shape, ShapeArgument, ShapeField};
use crate::compose::{Graph, Joined, Owner};
use crate::source::{Answer, FieldError};
use weir_language::ast::OperationKind;
use weir_language::value::{Node, TextSpan, Values};

/// A piece before its source has prepared it.
pub(crate) struct Cut {
    /// As in [`super::PlannedPiece`].
    pub(crate) source: Option<u16>,
    pub(crate) set: SetId,
    pub(crate) fields: Vec<u32>,
    pub(crate) parent: Option<ParentKeys>,
    pub(crate) answer: Answer,
    /// Why it fails whatever it is asked.
    pub(crate) refused: Option<FieldError>,
}

/// Cuts `shape` into pieces and says how many of them stand at the root. `refused` are in the order of their places.
pub(crate) fn cut(
    graph: &Graph,
    shape: &mut Shape,
    root: SetId,
    kind: OperationKind,
    refused: &[Refused],
) -> (Vec<Cut>, usize) {
    let mut pieces = cut_root(graph, shape, root, kind, refused);
    let root_pieces = pieces.len();
    let mut at = 0;
    let hangs = graph.has_joins() || !refused.is_empty();
    while hangs && at < pieces.len() {
        cut_below(graph, shape, PieceId(at as u32), refused, &mut pieces);
        at += 1;
    }
    for piece in &mut pieces[root_pieces..] {
        piece.answer = Answer::Rows;
    }
    (pieces, root_pieces)
}

/// Why the member at `at` fails, if it does.
fn why(refused: &[Refused], at: usize) -> Option<&FieldError> {
    let found = refused.binary_search_by_key(&(at as u32), |it| it.field);
    found.ok().map(|found| &refused[found].error)
}

fn cut_root(graph: &Graph, shape: &Shape, root: SetId, kind: OperationKind, refused: &[Refused]) -> Vec<Cut> {
    let mut pieces: Vec<Cut> = Vec::new();
    for at in shape.set(root).range() {
        let member = &shape.fields[at];
        let source = match (member.member, graph.owner(member.field)) {
            (Member::Constant { .. }, _) => continue,
            _ if member.same_as.is_some() => continue,
            (_, Owner::Source(source)) => Some(source),
            (_, Owner::Introspection) => None,
            (_, Owner::Join(_)) => unreachable!("joins do not hang on root types"),
        };
        let why = why(refused, at);
        let source = if why.is_some() { None } else { source };
        let open = match kind {
            _ if why.is_some() => None,
            OperationKind::Query | OperationKind::Subscription => {
                pieces.iter_mut().find(|it| it.source == source && it.refused.is_none())
            }
            OperationKind::Mutation => pieces.last_mut().filter(|it| it.source == source),
        };
        match open {
            Some(piece) => piece.fields.push(at as u32),
            None => pieces.push(Cut {
                source,
                set: root,
                fields: vec![at as u32],
                parent: None,
                answer: Answer::Any { contiguous: true },
                refused: why.cloned(),
            }),
        }
    }
    for piece in &mut pieces {
        let contiguous = piece.fields.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        piece.answer = Answer::Any { contiguous };
    }
    pieces
}

/// What hangs below a set and is no member of its piece.
enum Hung<'h> {
    Join(&'h Joined),
    Refused(&'h FieldError),
}

/// Finds the members in what `piece` answers that it does not answer itself, and appends a piece for each.
fn cut_below(graph: &Graph, shape: &mut Shape, piece: PieceId, refused: &[Refused], pieces: &mut Vec<Cut>) {
    let before = pieces.len();
    if pieces[piece.0 as usize].refused.is_some() {
        return;
    }
    let mut seen = vec![false; shape.sets.len()];
    let mut stack = Vec::new();
    push_below(shape, pieces[piece.0 as usize].fields.iter().map(|&it| it as usize), &mut stack);
    while let Some(set) = stack.pop() {
        if std::mem::replace(&mut seen[set.0 as usize], true) {
            continue;
        }
        for at in shape.set(set).range() {
            let hung = match (why(refused, at), graph.owner(shape.fields[at].field)) {
                (Some(error), _) => Hung::Refused(error),
                (None, Owner::Join(join)) => Hung::Join(graph.join(join)),
                (None, Owner::Source(_) | Owner::Introspection) => continue,
            };
            if let Some(earlier) = shape.fields[at].same_as {
                shape.fields[at].member = shape.fields[earlier as usize].member;
                continue;
            }
            let id = PieceId(pieces.len() as u32);
            pieces.push(match hung {
                Hung::Join(join) => hang(join, shape, set, at, piece, id),
                Hung::Refused(error) => refuse(error, shape, set, at, piece, id),
            });
        }
        push_below(shape, shape.set(set).range(), &mut stack);
    }
    if pieces.len() > before {
        pieces[piece.0 as usize].answer = Answer::Rows;
    }
}

fn push_below(shape: &Shape, members: impl Iterator<Item = usize>, stack: &mut Vec<SetId>) {
    for at in members {
        match shape.fields[at].member {
            Member::Object(set) => stack.push(set),
            Member::Abstract(choice) => {
                stack.extend(shape.choices[choice.0 as usize].sets.iter().map(|it| it.1));
            }
            Member::Leaf | Member::Constant { .. } | Member::Foreign { .. } => {}
        }
    }
}

/// Makes the member at `at` foreign: what it asks for moves into a set of its own.
fn hang(join: &Joined, shape: &mut Shape, set: SetId, at: usize, parent: PieceId, piece: PieceId) -> Cut {
    let hidden = join.keys.iter().map(|key| {
        let hidden = &mut shape.sets[set.0 as usize].hidden;
        let known = hidden.iter().position(|it| it == key);
        known.unwrap_or_else(|| {
            hidden.push(*key);
            hidden.len() - 1
        }) as u32
    });
    let hidden = hidden.collect();
    let arguments_start = shape.arguments.len() as u32;
    for index in 0..shape.fields[at].arguments_len {
        let given = shape.arguments[(shape.fields[at].arguments_start + index) as usize];
        let input = join.target_input(given.input);
        shape.arguments.push(ShapeArgument { input, ..given });
    }
    for &(input, value) in &join.arguments {
        let value = copy(&join.values, value as usize, &mut shape.literals);
        shape.arguments.push(ShapeArgument { input, value, default: None });
    }
    let answered = ShapeField {
        key: shape.fields[at].key.clone(),
        field: join.target,
        ty: shape.fields[at].ty,
        arguments_start,
        arguments_len: shape.arguments.len() as u32 - arguments_start,
        member: shape.fields[at].member,
        same_as: None,
        offset: shape.fields[at].offset,
    };
    let field = shape.fields.len() as u32;
    shape.fields.push(answered);
    shape.fields[at].member = Member::Foreign { piece, field };
    let own = SetId(shape.sets.len() as u32);
    shape.sets.push(Set { on: join.root, start: field, len: 1, hidden: Vec::new() });
    let parent = Some(ParentKeys { piece: parent, set, hidden });
    let source = Some(join.source);
    Cut { source, set: own, fields: vec![field], parent, answer: Answer::Rows, refused: None }
}

/// Makes the member at `at` foreign, in a piece that always fails.
fn refuse(
    error: &FieldError,
    shape: &mut Shape,
    set: SetId,
    at: usize,
    parent: PieceId,
    piece: PieceId,
) -> Cut {
    let field = shape.fields.len() as u32;
    shape.fields.push(ShapeField { member: Member::Leaf, same_as: None, ..shape.fields[at].clone() });
    shape.fields[at].member = Member::Foreign { piece, field };
    let own = SetId(shape.sets.len() as u32);
    shape.sets.push(Set { on: shape.set(set).on, start: field, len: 1, hidden: Vec::new() });
    let parent = Some(ParentKeys { piece: parent, set, hidden: Vec::new() });
    let refused = Some(error.clone());
    Cut { source: None, set: own, fields: vec![field], parent, answer: Answer::Rows, refused }
}

/// Appends the value at `at` of `from` to `to`; its place there.
pub(crate) fn copy(from: &Values, at: usize, to: &mut Values) -> u32 {
    let start = to.nodes.len();
    let shift = |end: u32| end - at as u32 + start as u32;
    for place in at..from.end(at) {
        let mut text = |span: TextSpan| to.push_text(from.str(span));
        let node = match from.nodes[place] {
            Node::Number(span) => Node::Number(text(span)),
            Node::Text(span) => Node::Text(text(span)),
            Node::Json(span) => Node::Json(text(span)),
            Node::List { len, end } => Node::List { len, end: shift(end) },
            Node::Object { len, end } => Node::Object { len, end: shift(end) },
            plain @ (Node::Absent
            | Node::Null
            | Node::Bool(_)
            | Node::Int(_)
            | Node::QuotedInt(_)
            | Node::Float(_)
            | Node::Enum(_)
            | Node::Key(_)
            | Node::Variable(_)
            | Node::Parent(_)) => plain,
        };
        to.nodes.push(node);
    }
    start as u32
}
