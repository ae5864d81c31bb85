//! Visibility: profiles of callers, and predicates that say which members of the schema a profile sees.
//!
//! A hidden member does not exist for the caller: not in validation, not in introspection, not in suggestions.
//!
//! **Invariant:** a predicate is evaluated once per profile and member, never per request. At most [`PROFILES_MAX`] profiles have
//! names; callers of any other profile are refused, and see no member that has a predicate.
//!
//! **Cost:** per request one call of the function that names the profile, and one look-up of the name.

use crate::resolve_error::field_error;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use weir_engine::caller::{Facts, Identity};
use weir_engine::source::FieldError;
use weir_language::schema::{EnumValueId, FieldId, InputId, Schema, TypeId, Visibility};

/// Profiles of one schema. Each has plans of its own, so a program has few: by role, not by user.
const PROFILES_MAX: usize = 256;

/// Code of a request whose caller has a profile beyond the bound.
const LIMIT_PROFILES: &str = "LIMIT_PROFILES";

/// The fact of all callers whose profiles are beyond the bound.
const BEYOND: u64 = u64::MAX;

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
    /// By name: the number of the profile, which is the fact of its callers.
    pub(crate) numbers: RwLock<HashMap<Arc<str>, u64>>,
}

/// Error of callers with these facts, if their profile is beyond the bound.
pub(crate) fn profile_limit_error(facts: &[u64]) -> Option<FieldError> {
    let message = || {
        format!(
            "the schema has {PROFILES_MAX} profiles of callers already, which is the most: let `profile_of` name profiles by role, not by user"
        )
    };
    (facts.first() == Some(&BEYOND)).then(|| field_error(LIMIT_PROFILES, message()))
}

impl Profiles {
    /// Facts of a caller: the number of its profile; none if the schema has no predicates.
    pub(crate) fn facts(&self, identity: &Identity, facts: &mut Facts) {
        if self.rules.is_empty() {
            return;
        }
        let name = match &self.profile_of {
            Some(profile_of) => profile_of(identity),
            None => identity.role.to_string(),
        };
        let known = |numbers: &HashMap<Arc<str>, u64>| {
            let number = numbers.get(&*name).copied();
            number.or_else(|| (numbers.len() >= PROFILES_MAX).then_some(BEYOND))
        };
        let found = known(&self.numbers.read().unwrap_or_else(PoisonError::into_inner));
        facts.push(found.unwrap_or_else(|| {
            let mut numbers = self.numbers.write().unwrap_or_else(PoisonError::into_inner);
            known(&numbers).unwrap_or_else(|| {
                let number = numbers.len() as u64;
                numbers.insert(Arc::from(&*name), number);
                number
            })
        }));
    }

    /// Visible part of the schema for the profile with these facts.
    pub(crate) fn visibility(&self, schema: &Schema, facts: &[u64]) -> Option<Visibility> {
        let number = facts.first()?;
        let name = {
            let numbers = self.numbers.read().unwrap_or_else(PoisonError::into_inner);
            numbers.iter().find(|it| it.1 == number).map(|it| Arc::clone(it.0))
        };
        let mut seen = Visibility::everything(schema);
        for (member, predicate) in &self.rules {
            if name.as_ref().is_some_and(|it| predicate(it)) {
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
