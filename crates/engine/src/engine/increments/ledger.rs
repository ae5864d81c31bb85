//! Fragments and list items that are still to be sent, and fragments that were sent.
//!
//! **Invariant:** a nested fragment is announced only after its outer fragment was sent.

use super::pass::{Note, NoteKind};
use crate::answer::field_error::Step;
use crate::plan::deferral::Deferral;
use crate::request::IncrementForm;
use std::collections::{HashMap, VecDeque};

/// The place of an object in the answer.
pub(super) type Path = Vec<Step>;

type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// A deferred fragment or streamed list, by its number in the plan.
#[derive(Clone, Copy, Debug)]
pub(super) enum LatePart {
    Fragment(u8),
    Stream(u8),
}

impl LatePart {
    /// Label of the fragment or stream.
    pub(super) fn label(self, deferral: &Deferral) -> Option<&str> {
        match self {
            Self::Fragment(number) => deferral.fragments[usize::from(number)].label.as_deref(),
            Self::Stream(number) => deferral.streams[usize::from(number)].label.as_deref(),
        }
    }
}

/// A pending result that the client is told of.
#[derive(Clone, Debug)]
pub(super) struct Announced {
    pub(super) late: LatePart,
    pub(super) path: Path,
    pub(super) id: u32,
}

/// A fragment in one object.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    pub(super) fragment: u8,
    pub(super) path: Path,
    pub(super) id: u32,
    /// Objects with members of it that are still to be sent.
    pub(super) members: Vec<Path>,
    /// Number of the world that holds its object.
    world: u32,
}

/// The items of one list that are still to be sent.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) path: Path,
    /// The place of the first of them in the list.
    pub(super) next: u32,
    pub(super) id: u32,
}

/// Lists of one stream in one world.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) world: u32,
    pub(super) stream: u8,
    pub(super) tails: VecDeque<Tail>,
    /// True while items of the first list are being fetched or sent.
    pub(super) is_taken: bool,
}

/// A fragment whose outer fragment was not sent yet.
struct Inner {
    fragment: u8,
    path: Path,
    world: u32,
}

/// State of the delivery of one answer.
pub(super) struct Ledger {
    form: IncrementForm,
    /// Fragments that the client waits for.
    begun: Vec<Begun>,
    inner: Vec<Inner>,
    /// Members still to be sent, by fragment.
    members: Map<u8, Vec<Path>>,
    /// By object: the fragments that begin in it and were sent.
    sent: Map<Path, u64>,
    /// Lists whose items the client waits for, each queue with one at least.
    pub(super) queues: Vec<Queue>,
    ids: u32,
}

impl Ledger {
    pub(super) fn new(form: IncrementForm) -> Self {
        let members = Map::default();
        let sent = Map::default();
        Self { form, begun: Vec::new(), inner: Vec::new(), members, sent, queues: Vec::new(), ids: 0 }
    }

    pub(super) const fn form(&self) -> IncrementForm {
        self.form
    }

    /// True if the client waits for nothing.
    pub(super) fn is_done(&self) -> bool {
        self.begun.is_empty() && self.queues.is_empty()
    }

    /// True if the client waits for `fragment` in `world`.
    pub(super) fn waits_for(&self, fragment: u8, world: u32) -> bool {
        self.begun.iter().any(|it| it.fragment == fragment && it.world == world)
    }

    /// True if the client waits for something in `world`, or will.
    pub(super) fn uses(&self, world: u32) -> bool {
        self.begun.iter().any(|it| it.world == world)
            || self.inner.iter().any(|it| it.world == world)
            || self.queues.iter().any(|it| it.world == world)
    }

    /// Records the notes of a part of `world` that is sent. Returns the new pending results.
    pub(super) fn note(&mut self, deferral: &Deferral, notes: Vec<Note>, world: u32) -> Vec<Announced> {
        let mut announced = Vec::new();
        for Note { number, kind, path } in notes {
            match kind {
                NoteKind::Members => self.members.entry(number).or_default().push(path),
                NoteKind::Begin
                    if deferral.fragments[usize::from(number)].parent.is_some()
                        && self.form == IncrementForm::Ids =>
                {
                    self.inner.push(Inner { fragment: number, path, world });
                }
                NoteKind::Begin => announced.push(self.begin(number, path, world)),
                NoteKind::Items { next } => announced.push(self.queue(number, world, path, next)),
            }
        }
        announced
    }

    fn begin(&mut self, fragment: u8, path: Path, world: u32) -> Announced {
        let id = self.next_id();
        let begun = Begun { fragment, path: path.clone(), id, members: Vec::new(), world };
        self.begun.push(begun);
        Announced { late: LatePart::Fragment(fragment), path, id }
    }

    fn queue(&mut self, stream: u8, world: u32, path: Path, next: u32) -> Announced {
        let id = self.next_id();
        let tail = Tail { path: path.clone(), next, id };
        // Queues of one world are made one after another.
        match self.queues.iter_mut().rev().find(|it| it.world == world && it.stream == stream) {
            Some(queue) => queue.tails.push_back(tail),
            None => {
                let tails = VecDeque::from([tail]);
                self.queues.push(Queue { world, stream, tails, is_taken: false });
            }
        }
        Announced { late: LatePart::Stream(stream), path, id }
    }

    const fn next_id(&mut self) -> u32 {
        self.ids += 1;
        self.ids - 1
    }

    /// Takes out all places of `fragment` in `world`, each with the objects that have members of it.
    pub(super) fn take(&mut self, fragment: u8, world: u32) -> Vec<Begun> {
        let is_ours = |it: &Begun| it.fragment == fragment && it.world == world;
        let (mut taken, rest) = std::mem::take(&mut self.begun).into_iter().partition::<Vec<_>, _>(is_ours);
        self.begun = rest;
        let places: Map<Path, usize> =
            taken.iter().enumerate().map(|(at, it)| (it.path.clone(), at)).collect();
        let mut left = Vec::new();
        for path in self.members.remove(&fragment).unwrap_or_default() {
            match (0..=path.len()).rev().find_map(|len| places.get(&path[..len])) {
                Some(&at) => taken[at].members.push(path),
                None => left.push(path),
            }
        }
        if !left.is_empty() {
            self.members.insert(fragment, left);
        }
        taken
    }

    /// The first list in the queue of `stream` in `world`.
    pub(super) fn first_tail(&mut self, stream: u8, world: u32) -> Option<&mut Tail> {
        let queue = self.queues.iter_mut().find(|it| it.world == world && it.stream == stream)?;
        queue.tails.front_mut()
    }

    /// Takes the first list out of its queue: the client waits for none of its items.
    pub(super) fn end_tail(&mut self, stream: u8, world: u32) {
        let Some(at) = self.queues.iter().position(|it| it.world == world && it.stream == stream) else {
            return;
        };
        self.queues[at].tails.pop_front();
        if self.queues[at].tails.is_empty() {
            self.queues.remove(at);
        }
    }

    /// Allows further items of the queue of `stream` in `world` to be fetched.
    pub(super) fn release(&mut self, stream: u8, world: u32) {
        let queue = self.queues.iter_mut().find(|it| it.world == world && it.stream == stream);
        queue.into_iter().for_each(|it| it.is_taken = false);
    }

    /// Notes that `fragment`, which begins at `path`, was sent.
    pub(super) fn record_sent(&mut self, fragment: u8, path: Path) {
        if self.form == IncrementForm::Ids {
            *self.sent.entry(path).or_default() |= 1 << fragment;
        }
    }

    /// The fragments around `path` that were sent, but for `fragment`.
    pub(super) fn sent_around(&self, path: &[Step], fragment: u8) -> u64 {
        let around = (0..=path.len()).filter_map(|len| self.sent.get(&path[..len]));
        around.fold(0, |all, it| all | it) & !(1 << fragment)
    }

    /// The fragments within `outer`, where that was sent: the client waits for them from now on.
    pub(super) fn begin_within(&mut self, deferral: &Deferral, outer: u8) -> Vec<Announced> {
        let is_ready = |ledger: &Self, Inner { fragment, path, .. }: &Inner| {
            let is_within = deferral.fragments[usize::from(*fragment)].parent == Some(outer);
            is_within && ledger.sent_around(path, *fragment) >> outer & 1 == 1
        };
        let inner = std::mem::take(&mut self.inner);
        let (ready, rest): (Vec<_>, Vec<_>) = inner.into_iter().partition(|it| is_ready(self, it));
        self.inner = rest;
        ready.into_iter().map(|it| self.begin(it.fragment, it.path, it.world)).collect()
    }
}
