//! Finds equal work: members of one set that differ in nothing but their key.
//!
//! Sets and arguments get class numbers by hashing, from the leaves upwards, so that comparing two
//! subtrees is comparing two numbers.
//!
//! **Invariant:** a member that is `same_as` another comes after it in the same set and writes the same bytes after its
//! key. Root members of mutations are never the same: each is done.
//!
//! **Cost:** one look at each member; the arguments and the fields right below are hashed where a set has one field twice,
//! what stands further down only where those are equal too.

use crate::answer::output_plan::{OutputField, OutputKind, OutputPlan, SelectionSetId};
use crate::caching::keys::{Interner, hash_of};
use hashbrown::HashMap;
use weir_language::value::Node;

/// Marks the members of `output` that repeat an earlier one; members of the sets in `keep` are never marked.
pub(crate) fn mark(output: &mut OutputPlan, root: SelectionSetId, keep: &[SelectionSetId]) {
    let Some(repeated) = repeated_work(output, keep) else { return };
    let order = upwards(output, root);
    let compared = compared_sets(output, &order, &repeated);
    let mut classes = Classes::with_room_for(output);
    let mut set_classes = vec![u32::MAX; output.sets.len()];
    let mut members = Vec::new();
    for set in order {
        let is_compared = compared[set.0 as usize];
        members.clear();
        for at in output.set(set).range() {
            if !repeated[at] && !is_compared {
                continue;
            }
            let work = work(output, at, &set_classes, &mut classes);
            let same = work.filter(|_| repeated[at]);
            let same = same.and_then(|work| classes.earlier(set, work, at as u32));
            if let Some(earlier) = same {
                // One subtree for both: what is planned below is planned once.
                output.own_kinds.push((at as u32, output.fields[at].member));
                output.fields[at].same_as = same;
                output.fields[at].member = output.fields[earlier as usize].member;
            }
            members.push(work.unwrap_or(u32::MAX));
        }
        if is_compared {
            let words = classes.distinct.write();
            words.push(u64::from(output.set(set).on.0));
            for (&work, member) in members.iter().zip(output.members(set)) {
                words.push(u64::from(work));
                push_bytes(member.key.bytes(), words);
            }
            set_classes[set.0 as usize] = classes.of_written();
        }
    }
    output.own_kinds.sort_unstable_by_key(|it| it.0);
}

/// Whether each member's set has another member with the same field and, judging by a hash, the same arguments and direct
/// subfields. `None` if no member has one, as in most operations.
fn repeated_work(output: &OutputPlan, keep: &[SelectionSetId]) -> Option<Vec<bool>> {
    let mut repeated = Vec::new();
    // Field and place in one number: most sets are sorted for nothing.
    let mut members: Vec<u64> = Vec::new();
    let mut hashed = Vec::<(u64, u32)>::new();
    let mut words = Vec::new();
    for set in (0..output.sets.len() as u32).map(SelectionSetId).filter(|set| !keep.contains(set)) {
        let range = output.set(set).range();
        if range.len() < 2 {
            continue;
        }
        members.clear();
        members.extend(range.map(|at| u64::from(output.fields[at].field.0) << 32 | at as u64));
        members.sort_unstable();
        for same in members.chunk_by(|a, b| a >> 32 == b >> 32).filter(|same| same.len() > 1) {
            hashed.clear();
            hashed.extend(same.iter().map(|&it| {
                let at = it as u32;
                words.clear();
                words.push(u64::from(output.fields[at as usize].membership));
                push_arguments(output, &output.fields[at as usize], &mut words);
                push_below(output, &output.fields[at as usize], &mut words);
                (hash_of(&words), at)
            }));
            hashed.sort_unstable();
            for same in hashed.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
                repeated.resize(output.fields.len(), false);
                same.iter().for_each(|it| repeated[it.1 as usize] = true);
            }
        }
    }
    (!repeated.is_empty()).then_some(repeated)
}

/// By set: whether it lies below a repeated member, so that it has to be compared with others.
fn compared_sets(output: &OutputPlan, order: &[SelectionSetId], repeated: &[bool]) -> Vec<bool> {
    let mut compared = vec![false; output.sets.len()];
    // Parents come last in `order`.
    for &set in order.iter().rev() {
        for at in output.set(set).range() {
            if !repeated[at] && !compared[set.0 as usize] {
                continue;
            }
            match output.fields[at].member {
                OutputKind::Object(below) => compared[below.0 as usize] = true,
                OutputKind::Abstract(choice) => {
                    let sets = &output.type_switches[choice.0 as usize].sets;
                    sets.iter().for_each(|(_, below)| compared[below.0 as usize] = true);
                }
                OutputKind::Foreign { .. } | OutputKind::Leaf | OutputKind::Constant { .. } => {}
            }
        }
    }
    compared
}

/// All sets below and including `root`, children before parents, each once.
pub(crate) fn upwards(output: &OutputPlan, root: SelectionSetId) -> Vec<SelectionSetId> {
    let mut order = Vec::with_capacity(output.sets.len());
    let mut seen = vec![false; output.sets.len()];
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
        for member in output.members(set) {
            match member.member {
                OutputKind::Object(below) => stack.push((below, false)),
                OutputKind::Abstract(choice) => {
                    stack.extend(output.type_switches[choice.0 as usize].sets.iter().map(|it| (it.1, false)));
                }
                OutputKind::Foreign { .. } | OutputKind::Leaf | OutputKind::Constant { .. } => {}
            }
        }
    }
    order
}

/// Class of a member's selection without its key; `None` for constants.
fn work(output: &OutputPlan, at: usize, set_classes: &[u32], classes: &mut Classes) -> Option<u32> {
    let member = &output.fields[at];
    let words = classes.distinct.write();
    match member.member {
        OutputKind::Constant { .. } => return None,
        OutputKind::Leaf | OutputKind::Foreign { .. } => words.push(u64::MAX),
        OutputKind::Object(set) => words.push(u64::from(set_classes[set.0 as usize])),
        OutputKind::Abstract(choice) => {
            let sets = &output.type_switches[choice.0 as usize].sets;
            words.extend(sets.iter().map(|it| u64::from(set_classes[it.1.0 as usize])));
        }
    }
    words.push(u64::from(member.membership) << 32 | u64::from(member.field.0));
    push_arguments(output, member, words);
    Some(classes.of_written())
}

/// Appends the arguments of `member`.
fn push_arguments(output: &OutputPlan, member: &OutputField, words: &mut Vec<u64>) {
    for argument in output.arguments(member) {
        words.push(u64::from(argument.input.0) << 1 | u64::from(argument.default.is_some()));
        let start = argument.value as usize;
        for at in start..output.literals.end(start) {
            push_node(output, start, at, words);
        }
    }
}

/// Appends the direct subfields of `member`: if they differ, nothing below has to be compared. For an abstract type one possible
/// object is enough, as all have the same selections.
fn push_below(output: &OutputPlan, member: &OutputField, words: &mut Vec<u64>) {
    let below = match member.member {
        OutputKind::Object(set) => Some(set),
        OutputKind::Abstract(choice) => output.type_switches[choice.0 as usize].sets.first().map(|it| it.1),
        OutputKind::Foreign { .. } | OutputKind::Leaf | OutputKind::Constant { .. } => None,
    };
    words.extend(below.iter().flat_map(|&set| output.members(set)).map(|it| u64::from(it.field.0)));
}

/// Appends `bytes` and their length.
fn push_bytes(bytes: &[u8], words: &mut Vec<u64>) {
    words.push(bytes.len() as u64);
    words.extend(bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    }));
}

/// Appends an encoding of node `at` of the value that begins at `start`, different for different nodes.
fn push_node(output: &OutputPlan, start: usize, at: usize, words: &mut Vec<u64>) {
    let (kind, word) = match output.literals.nodes[at] {
        Node::Absent => (0, 0),
        Node::Null => (1, 0),
        Node::Bool(is) => (2, u64::from(is)),
        Node::Int(value) => (3, value.cast_unsigned()),
        Node::Float(value) => (4, value.to_bits()),
        Node::Number(text) | Node::Text(text) | Node::Json(text) => {
            push_bytes(output.literals.str(text).as_bytes(), words);
            (5, 0)
        }
        Node::Enum(value) => (8, u64::from(value.0)),
        Node::List { len, end } => (9, u64::from(len) << 32 | (end as usize - start) as u64),
        Node::Object { len, end } => (10, u64::from(len) << 32 | (end as usize - start) as u64),
        Node::Key(input) => (11, u64::from(input.0)),
        Node::Variable(number) => (12, u64::from(number)),
        Node::Parent(number) => (13, u64::from(number)),
        Node::QuotedInt(value) => (14, value.cast_unsigned()),
    };
    words.extend([kind, word]);
}

/// Numbers for equal things.
#[derive(Default)]
struct Classes {
    distinct: Interner<u64>,
    first: HashMap<(SelectionSetId, u32), u32, foldhash::fast::RandomState>,
}

impl Classes {
    /// Room for the classes of `output`, so that nothing grows on the way.
    fn with_room_for(output: &OutputPlan) -> Self {
        let classes = output.fields.len() + output.sets.len();
        let mut made = Self::default();
        made.distinct.reserve(classes, 8 * classes);
        made
    }

    /// Class of the words that were written.
    fn of_written(&mut self) -> u32 {
        self.distinct.intern_written().0
    }

    /// The member of `set` that does `work` already.
    fn earlier(&mut self, set: SelectionSetId, work: u32, at: u32) -> Option<u32> {
        let found = self.first.get(&(set, work)).copied();
        if found.is_none() {
            self.first.insert((set, work), at);
        }
        found
    }
}
