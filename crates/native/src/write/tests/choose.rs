//! Mutations at random: a tape of numbers decides, and a shorter or smaller tape asks for less, so that a failure shrinks.

use super::types::{BADGE, CITY, COUNTRY, NAMED, OracleKind, PERSON, PET, TYPES, VISA, members, scope};
use super::words::{Given, Operation, OracleInput};

/// Numbers that decide.
pub(super) struct Choices<'c> {
    tape: &'c [u32],
    at: usize,
    /// Keys per type: with few of them, objects of one mutation meet more often.
    keys: u32,
    /// Only people are at the top of mutations.
    people: bool,
    /// Objects say little and lack nothing, so that most mutations are done; a key is set by every other update.
    calm: bool,
}

/// Purpose of a generated object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    Add,
    Link,
    Set,
    Remove,
    Unlink,
}

impl<'c> Choices<'c> {
    pub(super) fn new(tape: &'c [u32]) -> Self {
        let mut choices = Self { tape, at: 0, keys: 6, people: false, calm: false };
        choices.keys = 6 - choices.below(5);
        choices.people = choices.once_in(3);
        choices.calm = choices.once_in(2);
        choices
    }

    pub(super) fn is_over(&self) -> bool {
        self.at >= self.tape.len()
    }

    /// A number below `end`: 0, the simplest, when the tape is over.
    fn below(&mut self, end: u32) -> u32 {
        let said = self.tape.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        said % end
    }

    /// Once in `of` times.
    fn once_in(&mut self, of: u32) -> bool {
        self.below(of) == of - 1
    }

    /// Once in `of` times, or in `calm` times where all is calm.
    fn seldom(&mut self, of: u32, calm: u32) -> bool {
        let of = if self.calm { calm } else { of };
        self.once_in(of)
    }

    fn key(&mut self, ty: usize) -> String {
        let mark = ["", "", "p", "n", "b", "v", "t"][scope(ty)];
        format!("{mark}{}", self.below(self.keys))
    }

    pub(super) fn mutation(&mut self) -> Operation {
        let what = self.below(8);
        let ty = if self.people {
            PERSON
        } else {
            [COUNTRY, CITY, PERSON, NAMED, BADGE, VISA, PET][self.below(7) as usize]
        };
        match (what, ty) {
            (0..=3, _) => {
                let ty = if ty == NAMED { PERSON } else { ty };
                let inputs = (0..=self.below(3)).map(|_| self.object(ty, For::Add, 0)).collect();
                Operation::Add { ty, inputs, upsert: self.once_in(2) }
            }
            (4..=6, _) => {
                let keys = self.keys(ty);
                let set = (!self.once_in(4)).then(|| self.object(ty, For::Set, 0));
                let remove = self.once_in(2).then(|| self.object(ty, For::Remove, 0));
                Operation::Update { ty, keys, set, remove }
            }
            _ => Operation::Delete { ty, keys: self.keys(ty) },
        }
    }

    /// Keys of the found objects; none finds all.
    fn keys(&mut self, ty: usize) -> Vec<String> {
        (0..self.below(4)).map(|_| self.key(ty)).collect()
    }

    fn object(&mut self, ty: usize, what: For, depth: u32) -> OracleInput {
        let mut input = OracleInput { ty, id: None, fields: Vec::new() };
        let is_link = matches!(what, For::Link | For::Unlink);
        if is_link && self.seldom(4, 24) {
            input.id = Some(i64::from(self.below(12)) + 1);
        }
        for field in TYPES[ty].fields {
            let given = match &field.kind {
                OracleKind::Key => {
                    let is_given = match what {
                        For::Add => true,
                        For::Link | For::Unlink => !self.once_in(8),
                        For::Set => self.seldom(6, 2),
                        For::Remove => self.once_in(12),
                    };
                    is_given.then(|| Given::Text(self.key(ty)))
                }
                // A reference to an interface, or one that is cut, has nothing but names.
                _ if (ty == NAMED && is_link) || what == For::Unlink => None,
                OracleKind::Int if field.required && !self.seldom(12, 60) => {
                    Some(Given::Int(i64::from(self.below(3))))
                }
                OracleKind::Edge { to, .. } if field.required && what == For::Add && !self.seldom(6, 60) => {
                    Some(Given::Object(Box::new(self.target(to, For::Link, depth))))
                }
                _ if !self.seldom(3, 8) => None,
                _ if self.once_in(12) => Some(Given::Null),
                OracleKind::Int => Some(Given::Int(i64::from(self.below(3)))),
                OracleKind::Texts => Some(Given::Texts((0..self.below(3)).map(|_| self.word()).collect())),
                OracleKind::Edge { .. } if depth > 1 => None,
                OracleKind::Edge { to, many, .. } => {
                    let below = if what == For::Remove { For::Unlink } else { For::Link };
                    if *many {
                        let count = self.below(3);
                        Some(Given::Objects((0..count).map(|_| self.target(to, below, depth)).collect()))
                    } else {
                        Some(Given::Object(Box::new(self.target(to, below, depth))))
                    }
                }
            };
            input.fields.extend(given.map(|it| (field.name, it)));
        }
        input
    }

    fn target(&mut self, to: &str, what: For, depth: u32) -> OracleInput {
        let ty = match to {
            "Named" => NAMED,
            _ => {
                let members = members(to);
                members[self.below(members.len() as u32) as usize]
            }
        };
        self.object(ty, what, depth + 1)
    }

    fn word(&mut self) -> String {
        ["a", "b", "c"][self.below(3) as usize].into()
    }
}
