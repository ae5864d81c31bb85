//! Visibility: profiles of callers, and predicates that say which members of the schema a profile sees.
//!
//! A hidden member does not exist for the caller: not in validation, not in introspection, not in suggestions.
//!
//! **Invariant:** a predicate is evaluated once per profile and member, never per request.
//!
//! **Cost:** per request one call of the function that names the profile, and one look-up of the name.

use std::sync::{Arc, PoisonError, RwLock};
use weir_engine::caller::{Facts, Identity};
use weir_language::schema::{EnumValueId, FieldId, InputId, Schema, TypeId, Visibility};

/// Names the profile of a caller.
pub(crate) type ProfileOf = dyn Fn(&Identity) -> String + Send + Sync;

/// Says whether a profile sees a member.
pub(crate) type Predicate = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// A member of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaMember {
    Type(TypeId),
    Field(FieldId),
    Input(InputId),
    EnumValue(EnumValueId),
}

/// Profiles and predicates of one schema.
#[derive(Default)]
pub(crate) struct Profiles {
    pub(crate) profile_of: Option<Box<ProfileOf>>,
    pub(crate) rules: Vec<(SchemaMember, Predicate)>,
    /// Names of profiles; a fact is a place here.
    pub(crate) names: RwLock<Vec<Arc<str>>>,
}

impl Profiles {
    /// The facts of a caller: the number of its profile. None where everything is visible to everybody.
    pub(crate) fn facts(&self, identity: &Identity, facts: &mut Facts) {
        if self.rules.is_empty() {
            return;
        }
        let name = match &self.profile_of {
            Some(profile_of) => profile_of(identity),
            None => identity.role.to_string(),
        };
        let known = |names: &[Arc<str>]| names.iter().position(|it| **it == *name);
        let found = known(&self.names.read().unwrap_or_else(PoisonError::into_inner));
        let number = found.unwrap_or_else(|| {
            let mut names = self.names.write().unwrap_or_else(PoisonError::into_inner);
            known(&names).unwrap_or_else(|| {
                names.push(Arc::from(&*name));
                names.len() - 1
            })
        });
        facts.push(number as u64);
    }

    /// Visible part of the schema for the profile with these facts.
    pub(crate) fn visibility(&self, schema: &Schema, facts: &[u64]) -> Option<Visibility> {
        let number = usize::try_from(*facts.first()?).ok()?;
        let name = Arc::clone(self.names.read().unwrap_or_else(PoisonError::into_inner).get(number)?);
        let mut seen = Visibility::everything(schema);
        for (member, predicate) in &self.rules {
            if predicate(&name) {
                continue;
            }
            match *member {
                SchemaMember::Type(id) => seen.show_type(id, false),
                SchemaMember::Field(id) => seen.show_field(id, false),
                SchemaMember::Input(id) => seen.show_input(id, false),
                SchemaMember::EnumValue(id) => seen.show_enum_value(id, false),
            }
        }
        seen.close(schema);
        Some(seen)
    }
}
