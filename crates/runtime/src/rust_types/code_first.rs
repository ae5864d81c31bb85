//! Types and fields that a builder gets as code, printed as SDL when the schema is built.
//!
//! **Invariant:** what is built from types is what is built from their SDL.
//!
//! **Cost:** once per schema.

use super::type_definitions::{Member, TypeDefinitions, write_members};
use std::collections::HashMap;

/// Types and fields that are given as code.
#[derive(Default)]
pub(crate) struct CodeFirst {
    pub(crate) types: TypeDefinitions,
    /// Types of the fields, in the order in which they were met.
    owners: Vec<String>,
    fields: HashMap<String, Vec<Member>>,
    /// Coordinates that are described or deprecated but have no field.
    unknown: Vec<String>,
}

impl CodeFirst {
    pub(crate) fn add(&mut self, owner: &str, member: Member) {
        if !self.fields.contains_key(owner) {
            self.owners.push(owner.into());
        }
        self.fields.entry(owner.into()).or_default().push(member);
    }

    pub(crate) fn change(&mut self, coordinate: &str, change: impl FnOnce(Member) -> Member) {
        let (owner, name) = coordinate.split_once('.').unwrap_or((coordinate, ""));
        let members = self.fields.get_mut(owner);
        match members.and_then(|it| it.iter_mut().find(|it| it.name() == name)) {
            Some(member) => *member = change(std::mem::take(member)),
            None => self.unknown.push(coordinate.into()),
        }
    }

    /// The whole SDL, and what is wrong with the types.
    pub(crate) fn sdl(self, written: &str) -> (String, Vec<String>) {
        let mut out = String::from(written);
        let is_root = |it: &str| matches!(it, "Query" | "Mutation" | "Subscription");
        for owner in self.owners.iter().filter(|it| !self.types.has(it)) {
            let is_new = written.is_empty() && is_root(owner);
            out.push_str(if is_new { "type " } else { "\nextend type " });
            out.push_str(owner);
            write_members(self.fields[owner].iter(), &mut out);
            out.push_str("\n\n");
        }
        self.types.write(&self.fields, &mut out);
        let unknown = self.unknown.iter().map(|it| format!("`{it}` is no field that code adds"));
        let mut errors: Vec<String> = unknown.collect();
        errors.extend(self.types.into_conflicts());
        (out, errors)
    }
}
