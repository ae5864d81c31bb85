//! The fragments that are still to be sent, and what was sent.
//!
//! **Invariant:** a fragment within another is announced only once the other was sent.

use super::pass::{Note, NoteKind};
use crate::engine::IncrementForm;
use crate::plan::deferral::Deferral;
use crate::source::Step;
use std::collections::HashMap;

/// The place of an object in the answer.
pub(super) type Path = Vec<Step>;

type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// A fragment in one object.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    pub(super) fragment: u8,
    pub(super) path: Path,
    pub(super) id: u32,
    /// Objects with members of it that are still to be sent.
    pub(super) members: Vec<Path>,
}

/// Books of one answer.
pub(super) struct Ledger {
    form: IncrementForm,
    /// Fragments that the client waits for.
    begun: Vec<Begun>,
    /// Fragments whose outer fragment was not sent yet.
    inner: Vec<(u8, Path)>,
    /// Members still to be sent, by fragment.
    members: Map<u8, Vec<Path>>,
    /// By object: the fragments that begin in it and were sent.
    sent: Map<Path, u64>,
    ids: u32,
}

impl Ledger {
    pub(super) fn new(form: IncrementForm) -> Self {
        let (members, sent) = (Map::default(), Map::default());
        Self { form, begun: Vec::new(), inner: Vec::new(), members, sent, ids: 0 }
    }

    pub(super) const fn form(&self) -> IncrementForm {
        self.form
    }

    /// True if the client waits for nothing.
    pub(super) fn is_done(&self) -> bool {
        self.begun.is_empty()
    }

    /// True if the client waits for `fragment`.
    pub(super) fn waits_for(&self, fragment: u8) -> bool {
        self.begun.iter().any(|it| it.fragment == fragment)
    }

    /// Takes in the notes of a part that is sent. Returns the fragments that the client waits for from now on.
    pub(super) fn note(&mut self, deferral: &Deferral, notes: Vec<Note>) -> Vec<Begun> {
        let mut begun = Vec::new();
        for Note { fragment, kind, path } in notes {
            let is_inner = deferral.fragments[usize::from(fragment)].parent.is_some();
            match kind {
                NoteKind::Members => self.members.entry(fragment).or_default().push(path),
                NoteKind::Begin if is_inner && self.form == IncrementForm::Ids => {
                    self.inner.push((fragment, path));
                }
                NoteKind::Begin => begun.push(self.begin(fragment, path)),
            }
        }
        begun
    }

    fn begin(&mut self, fragment: u8, path: Path) -> Begun {
        let begun = Begun { fragment, path, id: self.ids, members: Vec::new() };
        self.ids += 1;
        self.begun.push(begun.clone());
        begun
    }

    /// Takes out all places of `fragment`, each with the objects that have members of it.
    pub(super) fn take(&mut self, fragment: u8) -> Vec<Begun> {
        let (mut taken, rest) =
            std::mem::take(&mut self.begun).into_iter().partition::<Vec<_>, _>(|it| it.fragment == fragment);
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

    /// Notes that `fragment`, which begins at `path`, was sent.
    pub(super) fn sent(&mut self, fragment: u8, path: Path) {
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
    pub(super) fn begin_within(&mut self, deferral: &Deferral, outer: u8) -> Vec<Begun> {
        let is_ready = |ledger: &Self, (fragment, path): &(u8, Path)| {
            let is_within = deferral.fragments[usize::from(*fragment)].parent == Some(outer);
            is_within && ledger.sent_around(path, *fragment) >> outer & 1 == 1
        };
        let inner = std::mem::take(&mut self.inner);
        let (ready, rest): (Vec<_>, Vec<_>) = inner.into_iter().partition(|it| is_ready(self, it));
        self.inner = rest;
        ready.into_iter().map(|(fragment, path)| self.begin(fragment, path)).collect()
    }
}
