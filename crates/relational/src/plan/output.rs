//! The queries of a plan node, in terms that every database supports: the node becomes levels of queries.
//!
//! A [`Plan`] is the output tree as [`Member`]s and, for each nested level, one [`Query`] over one table. Scalars are
//! never in it: a `Parameter` says where the value of a request is found and how it is read.
//!
//! **Invariant:** flat tables; ids are places in the tables of one plan. Filters are at most
//! `compile::FILTER_DEPTH_MAX` deep, so walking them may recurse; `bounds` holds their size.

use super::{Judged, Query, write};
use crate::catalog::facts::Cell;
use crate::catalog::{FunctionId, RelationshipId};

/// The queries of a plan node, and the composition of its answer.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Nested levels and root queries: one statement each.
    pub levels: Vec<Level>,
    /// Members of all sets.
    pub members: Vec<Member>,
    /// Root fields of a mutation.
    pub writes: Vec<write::Write>,
    /// Statements that change rows.
    pub changes: Vec<write::Change>,
    /// Checks of the policy that are judged when the root field has run.
    pub row_checks: Vec<write::RowCheck>,
    /// Paths of the levels that were removed, as their parents' rows hold their columns.
    pub elided: Vec<String>,
    /// The functions that are called.
    pub functions: Vec<FunctionId>,
    /// Members of the plan node.
    pub root: Run,
    /// Root fields of a query that show an object which the front end looks up before the plan runs: indexes into the output plan.
    pub lookups: Vec<u32>,
    /// The only level of the root, of at most one row, if a database of shards is to read it before the levels below it, which are
    /// found by its values then.
    pub first: Option<u32>,
    /// True if a later member may copy some member of the root.
    pub root_copied: bool,
    /// The name of the policy that restricts it, or empty.
    pub policy: Box<str>,
    /// Names of the session variables that the policy's conditions and values read, sorted.
    pub claims: Vec<Box<str>>,
    /// Texts that are made of rows.
    pub codes: Vec<Code>,
    /// The rows of a stream, if the operation is one: the only list of the root.
    pub stream: Option<StreamRows>,
    /// Updates that say not even that nothing is to be set: an error, unless the policy sets something.
    pub unset: Vec<Unset>,
    /// Changes that a database of shards refuses: an error.
    pub unsupported: Vec<write::Unsupported>,
    /// Patterns that are judged before a row is read.
    pub judged: Vec<Judged>,
    /// Number of conditions without an index, because they are tested only on rows that the policy shows.
    pub unindexed: u32,
    /// Values that have to be equal, or the mutation is refused before it begins.
    pub unmoved: Vec<write::Unmoved>,
    /// Hidden columns of the rows that changes return, by the members of the rows.
    pub returned_keys: Vec<(Run, Vec<Hidden>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamRows {
    /// The code of their position.
    pub code: u32,
    /// The output column with the statement's snapshot.
    pub snapshot: u16,
}

/// An update without an operator.
#[derive(Clone, Debug)]
pub struct Unset {
    /// The place of the update in the plan's changes.
    pub change: u32,
    /// Index of the root field in the output plan.
    pub field: u32,
    /// The path of its arguments in Hasura's words.
    pub path: Box<str>,
}

/// A text made of values of a row: JSON in base64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The parts of the JSON.
    pub pieces: Vec<CodePiece>,
}

/// A part of a [`Code`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodePiece {
    /// Text that is equal in every row.
    Text(Box<str>),
    /// The value of an output column of the row's level.
    Value {
        column: u16,
        /// Format of the value.
        cell: Cell,
    },
}

impl Plan {
    /// Hidden columns of the rows with the members `run`, which a change returns.
    pub fn returned_keys(&self, run: Run) -> &[Hidden] {
        self.returned_keys.iter().find(|it| it.0 == run).map_or(&[], |it| &it.1)
    }

    /// The levels in the order in which they are first asked: parents before children. Those that answer a mutation
    /// come last.
    pub fn levels_in_order(&self) -> Vec<usize> {
        let mut out = Vec::new();
        let mut waiting: Vec<Run> = vec![self.root];
        while let Some(run) = waiting.pop() {
            let Some(member) = self.members[run.range()].first() else { continue };
            waiting.push(Run { start: run.start + 1, len: run.len - 1 });
            waiting.extend(member.kind.inner_members());
            let mut below: Vec<u32> = member.kind.levels().collect();
            below.reverse();
            while let Some(level) = below.pop() {
                if out.contains(&(level as usize)) {
                    continue;
                }
                out.push(level as usize);
                let level = &self.levels[level as usize];
                waiting.push(level.members);
                for object in level.objects() {
                    match object {
                        Object::Row(run) => waiting.push(run),
                        Object::Level(level) => below.push(level),
                    }
                }
            }
        }
        let rest = || (0..self.levels.len()).filter(|it| !out.contains(it));
        let below: Vec<u32> = rest().flat_map(|it| self.levels_of(it as u32)).collect();
        let mut waiting: Vec<u32> = rest().map(|it| it as u32).filter(|it| !below.contains(it)).collect();
        waiting.reverse();
        while let Some(level) = waiting.pop() {
            out.push(level as usize);
            waiting.extend(self.levels_of(level).into_iter().rev());
        }
        out
    }
}

impl Plan {
    /// The level that finds the objects which the program of a root field changes.
    pub fn finder(&self, member: &Member) -> Option<u32> {
        let MemberKind::Write(write) = member.kind else { return None };
        self.writes[write as usize].works.iter().find_map(|work| match work {
            write::Work::Program { find, .. } => *find,
            write::Work::Nothing
            | write::Work::Change(_)
            | write::Work::Insert(_)
            | write::Work::Each { .. } => None,
        })
    }

    /// The levels by which the program of a root field checks objects.
    pub fn checks(&self, member: &Member) -> &[write::ObjectCheck] {
        let MemberKind::Write(write) = member.kind else { return &[] };
        let checks = self.writes[write as usize].works.iter().find_map(|work| match work {
            write::Work::Program { checks, .. } => Some(checks.as_slice()),
            write::Work::Nothing
            | write::Work::Change(_)
            | write::Work::Insert(_)
            | write::Work::Each { .. } => None,
        });
        checks.unwrap_or_default()
    }

    /// The level of the check that is judged of the rows of a change when its root field has run.
    pub fn row_check(&self, change: u32) -> Option<u32> {
        self.row_checks.iter().find(|it| it.change == change).map(|it| it.level)
    }

    /// The levels directly below the members `run`, in order; those that are copied are not asked.
    pub fn levels_below(&self, run: Run) -> Vec<u32> {
        let mut out = Vec::new();
        let mut waiting = vec![run];
        while let Some(run) = waiting.pop() {
            let Some(member) = self.members[run.range()].first() else { continue };
            waiting.push(Run { start: run.start + 1, len: run.len - 1 });
            if member.same_as.is_some() {
                continue;
            }
            waiting.extend(member.kind.inner_members());
            for level in member.kind.levels() {
                if !out.contains(&level) {
                    out.push(level);
                }
            }
        }
        out
    }

    /// The levels directly below the rows of a level.
    pub fn levels_of(&self, level: u32) -> Vec<u32> {
        let level = &self.levels[level as usize];
        let mut out = self.levels_below(level.members);
        for object in level.objects() {
            match object {
                Object::Row(run) => out.extend(self.levels_below(run)),
                Object::Level(level) => out.push(level),
            }
        }
        out
    }
}

/// A run of members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// First.
    pub start: u32,
    /// Number of items.
    pub len: u32,
}

impl Run {
    /// The run as a range of indexes.
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// A query, and the members that are made of each of its rows.
#[derive(Clone, Debug)]
pub struct Level {
    pub query: Query,
    /// Members of a row.
    pub members: Run,
    /// Members by type, if rows are of several types.
    pub choice: Option<Choice>,
    /// Hidden output columns, for children in other sources.
    pub hidden: Vec<Hidden>,
    /// The relationship from its parent's row, where nothing but that ties their rows.
    pub by: Option<RelationshipId>,
    /// Index in the output plan of the field that it answers.
    pub field: u32,
    /// Response keys down to it, for people.
    pub path: String,
}

impl Level {
    /// Objects of its rows, if these are of several types.
    fn objects(&self) -> impl Iterator<Item = Object> {
        self.choice.iter().flat_map(|it| &it.variants).map(|it| it.object)
    }
}

/// Members of rows of several types.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The output column with the name of a row's type.
    pub column: u16,
    /// The types.
    pub variants: Vec<Variant>,
}

impl Object {
    /// Members of the object, and the hidden columns of its row: a row of `of`, or of the object's own level.
    pub fn parts<'p>(self, of: &'p Level, plan: &'p Plan) -> (Run, &'p [Hidden]) {
        match self {
            Self::Row(run) => (run, &of.hidden),
            Self::Level(level) => {
                let level = &plan.levels[level as usize];
                (level.members, &level.hidden)
            }
        }
    }
}

impl Choice {
    /// Members of a row whose type is called `name`.
    pub fn find(&self, name: &[u8]) -> Option<&Variant> {
        self.variants.iter().find(|it| it.name.as_bytes() == name)
    }
}

/// The number of a type in the schema of the front end, which hands it back to the executor; it means nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphType(pub u32);

/// Members of rows of one type.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Value of the type column.
    pub name: Box<str>,
    /// The type in the graph's schema.
    pub on: GraphType,
    /// The object of a row of this type.
    pub object: Object,
}

/// An object that stands for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// Made from the current row.
    Row(Run),
    /// Made from the only row of a level below.
    Level(u32),
}

/// A value no one asked for that a child in another source needs.
#[derive(Clone, Copy, Debug)]
pub struct Hidden {
    /// Output column of the level's query.
    pub column: u16,
    /// Format of the value.
    pub cell: Cell,
}

/// A member of an object.
#[derive(Clone, Debug)]
pub struct Member {
    /// Index in the output plan's fields.
    pub field: u32,
    /// An earlier member whose bytes it may copy.
    pub same_as: Option<u32>,
    /// True if a later member may copy it.
    pub copied: bool,
    /// True if its field may be null.
    pub nullable: bool,
    /// For a list: true if an item may be null.
    pub null_items: bool,
    pub kind: MemberKind,
}

/// Marks the members that later ones copy.
pub fn mark_copied(members: &mut [Member]) {
    for at in 0..members.len() {
        if let Some(earlier) = members[at].same_as
            && let Some(source) = members[..at].iter_mut().find(|it| it.field == earlier)
        {
            source.copied = true;
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberKind {
    /// A column of the row.
    Leaf {
        /// Output column of the level's query.
        column: u16,
        /// Output format.
        cell: Cell,
    },
    /// Bytes of the output plan's constants.
    Constant,
    /// Another source's.
    Foreign,
    /// An object made of the same row.
    Inline(Run),
    /// An object made of the same row, or null where this output column is.
    Maybe {
        column: u16,
        /// The object.
        run: Run,
    },
    /// An object made of a text of coordinates in this output column, or null.
    Shape {
        column: u16,
        /// The object: of `Items`, `Ordinate` and constants.
        run: Run,
    },
    /// In a shape: an object per item of the current list.
    Items(Run),
    /// In a shape: a number of the current point.
    Ordinate(u16),
    /// The first row of a level, or null. Where rows are of several types it is the only one: types may share a key.
    One(u32),
    /// All rows of a level.
    Many(u32),
    /// The first output column of all rows of a level.
    Values {
        level: u32,
        /// Output format.
        cell: Cell,
    },
    /// A text made of the row: one of the plan's codes.
    Coded(u32),
    /// A text made of the first or last row of a level that other members show too; empty if it has no rows.
    End {
        level: u32,
        code: u32,
        /// True for the last row, false for the first.
        is_last: bool,
    },
    /// True if a level that other members show has a row, and so has one of two others.
    Beyond {
        /// The level that is shown; `None`: no row can lie beyond it.
        page: Option<u32>,
        /// The others: rows that would follow, or go before.
        probes: [Option<u32>; 2],
    },
    /// Answer of a root field of a mutation.
    Write(u32),
    /// Number of changed rows.
    Affected,
    /// A message for people about the outcome.
    Message,
    /// The changed rows.
    Returned(Run),
}

impl MemberKind {
    /// The levels whose rows it reads.
    pub fn levels(&self) -> impl Iterator<Item = u32> + use<> {
        let [first, second, third] = match *self {
            Self::One(level) | Self::Many(level) | Self::Values { level, .. } | Self::End { level, .. } => {
                [Some(level), None, None]
            }
            Self::Beyond { page, probes: [one, other] } => [page, one, other],
            Self::Leaf { .. }
            | Self::Constant
            | Self::Foreign
            | Self::Inline(_)
            | Self::Maybe { .. }
            | Self::Shape { .. }
            | Self::Items(_)
            | Self::Ordinate(_)
            | Self::Coded(_)
            | Self::Write(_)
            | Self::Affected
            | Self::Message
            | Self::Returned(_) => [None, None, None],
        };
        first.into_iter().chain(second).chain(third)
    }

    /// The members that are read from the row of this one.
    fn inner_members(&self) -> Option<Run> {
        match *self {
            Self::Inline(run) | Self::Returned(run) | Self::Maybe { run, .. } => Some(run),
            Self::One(_)
            | Self::Many(_)
            | Self::Values { .. }
            | Self::End { .. }
            | Self::Beyond { .. }
            | Self::Leaf { .. }
            | Self::Coded(_)
            | Self::Shape { .. }
            | Self::Items(_)
            | Self::Ordinate(_)
            | Self::Constant
            | Self::Foreign
            | Self::Write(_)
            | Self::Affected
            | Self::Message => None,
        }
    }

    /// Calls `change` with each of these levels.
    pub(crate) fn renumber(&mut self, change: impl Fn(&mut u32)) {
        match self {
            Self::One(level) | Self::Many(level) | Self::Values { level, .. } | Self::End { level, .. } => {
                change(level);
            }
            Self::Beyond { page, probes } => {
                page.iter_mut().chain(probes.iter_mut().flatten()).for_each(change)
            }
            Self::Leaf { .. }
            | Self::Constant
            | Self::Foreign
            | Self::Inline(_)
            | Self::Maybe { .. }
            | Self::Shape { .. }
            | Self::Items(_)
            | Self::Ordinate(_)
            | Self::Coded(_)
            | Self::Write(_)
            | Self::Affected
            | Self::Message
            | Self::Returned(_) => {}
        }
    }
}
