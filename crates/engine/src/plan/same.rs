//! Finds equal work: members of one set that differ in nothing but their key.
//!
//! Sets, conditions and arguments get class numbers by hashing, from the leaves upwards, so that comparing two
//! subtrees is comparing two numbers.
//!
//! **Invariant:** a member that is `same_as` another comes after it in the same set, is there only if the other
//! is, and writes the same bytes after its key. Root members of mutations are never the same: each is done.
//!
//! **Cost:** one look at each member; hashing only where a set has one field twice, and below that.

use super::shape::{Condition, Member, SetId, Shape};
use hashbrown::HashMap;
use weir_language::value::Node;

type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Marks the members of `shape` that repeat an earlier one; `keep` is the set whose members are all to be done.
pub(crate) fn mark(shape: &mut Shape, root: SetId, keep: Option<SetId>) {
    let order = upwards(shape, root);
    let Some(repeated) = repeated_fields(shape, &order, keep) else { return };
    let compared = compared_sets(shape, &order, &repeated);
    let mut classes = Classes::default();
    let mut set_classes = vec![u32::MAX; shape.sets.len()];
    for set in order {
        let is_compared = compared[set.0 as usize];
        let mut content = vec![u64::from(shape.set(set).on.0)];
        for at in shape.set(set).range() {
            if !repeated[at] && !is_compared {
                continue;
            }
            let work = work(shape, at, &set_classes, &mut classes);
            let same = work.filter(|_| repeated[at]).and_then(|work| {
                let when = classes.of_condition(&shape.fields[at].when);
                classes.earlier(set, work, when, at as u32)
            });
            if let Some(earlier) = same {
                // One subtree for both: what is planned below is planned once.
                shape.fields[at].same_as = same;
                shape.fields[at].member = shape.fields[earlier as usize].member;
            }
            if is_compared {
                content.push(u64::from(classes.of(shape.fields[at].key.bytes())));
                content.push(work.map_or(u64::MAX, u64::from));
                content.push(u64::from(classes.of_condition(&shape.fields[at].when)));
            }
        }
        if is_compared {
            set_classes[set.0 as usize] = classes.of_words(content);
        }
    }
}

/// By member: whether its set has another one of the same field. `None` if none has, as in most operations.
fn repeated_fields(shape: &Shape, order: &[SetId], keep: Option<SetId>) -> Option<Vec<bool>> {
    let mut repeated = Vec::new();
    let mut by_field: Vec<(u32, usize)> = Vec::new();
    for &set in order.iter().filter(|&&set| Some(set) != keep) {
        by_field.clear();
        by_field.extend(shape.set(set).range().map(|at| (shape.fields[at].field.0, at)));
        by_field.sort_unstable();
        for same in by_field.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            repeated.resize(shape.fields.len(), false);
            same.iter().for_each(|&(_, at)| repeated[at] = true);
        }
    }
    (!repeated.is_empty()).then_some(repeated)
}

/// By set: whether it lies below a repeated member, so that it has to be compared with others.
fn compared_sets(shape: &Shape, order: &[SetId], repeated: &[bool]) -> Vec<bool> {
    let mut compared = vec![false; shape.sets.len()];
    // Parents come last in `order`.
    for &set in order.iter().rev() {
        for at in shape.set(set).range() {
            if !repeated[at] && !compared[set.0 as usize] {
                continue;
            }
            match shape.fields[at].member {
                Member::Object(below) => compared[below.0 as usize] = true,
                Member::Abstract(choice) => {
                    let sets = &shape.choices[choice.0 as usize].sets;
                    sets.iter().for_each(|(_, below)| compared[below.0 as usize] = true);
                }
                Member::Foreign { .. } | Member::Leaf | Member::Constant { .. } => {}
            }
        }
    }
    compared
}

/// All sets below and including `root`, children before parents, each once.
pub(crate) fn upwards(shape: &Shape, root: SetId) -> Vec<SetId> {
    let mut order = Vec::with_capacity(shape.sets.len());
    let mut seen = vec![false; shape.sets.len()];
    let mut stack = vec![(root, false)];
    while let Some((set, is_done)) = stack.pop() {
        if is_done {
            order.push(set);
            continue;
        }
        if std::mem::replace(&mut seen[set.0 as usize], true) {
            continue;
        }
        stack.push((set, true));
        for member in shape.members(set) {
            match member.member {
                Member::Object(below) => stack.push((below, false)),
                Member::Abstract(choice) => {
                    stack.extend(shape.choices[choice.0 as usize].sets.iter().map(|it| (it.1, false)));
                }
                Member::Foreign { .. } | Member::Leaf | Member::Constant { .. } => {}
            }
        }
    }
    order
}

/// The class of what a member asks for, its key and condition left out; `None` for constants.
fn work(shape: &Shape, at: usize, set_classes: &[u32], classes: &mut Classes) -> Option<u32> {
    let member = &shape.fields[at];
    let mut content = vec![u64::from(member.field.0)];
    match member.member {
        Member::Leaf | Member::Foreign { .. } => content.push(u64::MAX),
        Member::Object(set) => content.push(u64::from(set_classes[set.0 as usize])),
        Member::Abstract(choice) => {
            for (_, set) in &shape.choices[choice.0 as usize].sets {
                content.push(u64::from(set_classes[set.0 as usize]));
            }
        }
        Member::Constant { .. } => return None,
    }
    for argument in shape.arguments(member) {
        content.push(u64::from(argument.input.0));
        content.push(u64::from(argument.default.is_some()));
        let start = argument.value as usize;
        for at in start..shape.literals.end(start) {
            classes.push_node(shape, start, at, &mut content);
        }
    }
    Some(classes.of_words(content))
}

/// Numbers for equal things.
#[derive(Default)]
struct Classes {
    bytes: Map<Box<[u8]>, u32>,
    words: Map<Vec<u64>, u32>,
    first: Map<(SetId, u32, u32), u32>,
}

impl Classes {
    const ALWAYS: u32 = u32::MAX;

    fn of(&mut self, bytes: &[u8]) -> u32 {
        let next = self.bytes.len() as u32;
        match self.bytes.get(bytes) {
            Some(&class) => class,
            None => *self.bytes.entry(bytes.into()).or_insert(next),
        }
    }

    fn of_words(&mut self, words: Vec<u64>) -> u32 {
        let next = self.words.len() as u32;
        *self.words.entry(words).or_insert(next)
    }

    fn of_condition(&mut self, when: &Condition) -> u32 {
        match when {
            Condition::Always => Self::ALWAYS,
            Condition::Any(any) => {
                let words = any.iter().flat_map(|it| [it.mask, it.want]).collect();
                self.of_words(words)
            }
        }
    }

    /// The member of `set` that does `work` already and is there whenever this one is.
    fn earlier(&mut self, set: SetId, work: u32, when: u32, at: u32) -> Option<u32> {
        let first = self.first.get(&(set, work, Self::ALWAYS)).or_else(|| self.first.get(&(set, work, when)));
        let found = first.copied();
        if found.is_none() {
            self.first.insert((set, work, when), at);
        }
        found
    }

    /// Appends what tells node `at` of the value that begins at `start` from other nodes.
    fn push_node(&mut self, shape: &Shape, start: usize, at: usize, content: &mut Vec<u64>) {
        let (kind, word) = match shape.literals.nodes[at] {
            Node::Absent => (0, 0),
            Node::Null => (1, 0),
            Node::Bool(is) => (2, u64::from(is)),
            Node::Int(value) => (3, value.cast_unsigned()),
            Node::Float(value) => (4, value.to_bits()),
            Node::Number(text) => (5, u64::from(self.of(shape.literals.str(text).as_bytes()))),
            Node::Text(text) => (6, u64::from(self.of(shape.literals.str(text).as_bytes()))),
            Node::Json(text) => (7, u64::from(self.of(shape.literals.str(text).as_bytes()))),
            Node::Enum(value) => (8, u64::from(value.0)),
            Node::List { len, end } => (9, u64::from(len) << 32 | (end as usize - start) as u64),
            Node::Object { len, end } => (10, u64::from(len) << 32 | (end as usize - start) as u64),
            Node::Key(input) => (11, u64::from(input.0)),
            Node::Variable(number) => (12, u64::from(number)),
            Node::Parent(number) => (13, u64::from(number)),
        };
        content.extend([kind, word]);
    }
}
