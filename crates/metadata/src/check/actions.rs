//! Faults of actions that the types of their entries cannot say. Types are checked against each other with the schema.

use super::{Walk, not_admin};
use crate::document::Metadata;
use crate::names::is_name;

/// Faults of all actions.
pub(super) fn check_actions(walk: &mut Walk, document: &Metadata) {
    walk.unique("actions", &document.actions, |it| it.name.clone(), "actions");
    walk.each("actions", &document.actions, |walk, action| {
        if !is_name(&action.name) {
            let message = format!("\"{}\" is not a valid GraphQL identifier", action.name);
            walk.walk_below(["name".into()], |walk| walk.wrong(message));
        }
        walk.unique("permissions", &action.permissions, |it| it.role.clone(), "action permissions");
        walk.each("permissions", &action.permissions, |walk, it| not_admin(walk, &it.role));
    });
}
