//! Index of members by value-dependent tags of their last results, such as `player-7`; plans do not name these tags.
//!
//! **Invariant:** tags with one slot wake each other's members, which costs reads and no results.

use super::live_result::MemberId;
use super::member_registry::Registry;
use crate::caching::tag_versions::{TagSnapshot, place};

impl Registry {
    /// Replaces the tags of a member by those of its last result.
    pub(super) fn replace_tags(&mut self, id: MemberId, ages: &TagSnapshot) {
        let Some(member) = self.member(id) else { return };
        let mut places: Vec<u16> = ages.places().collect();
        places.sort_unstable();
        places.dedup();
        if places == member.places {
            return;
        }
        let before = std::mem::replace(&mut member.places, places.clone());
        self.untag(id, &before);
        for place in places {
            self.tagged.entry(place).or_default().insert(id);
        }
    }

    /// Removes a member from these slots.
    pub(super) fn untag(&mut self, id: MemberId, places: &[u16]) {
        for place in places {
            if let Some(members) = self.tagged.get_mut(place) {
                members.remove(&id);
                if members.is_empty() {
                    self.tagged.remove(place);
                }
            }
        }
    }

    /// Members whose last result may have `tag`.
    pub(super) fn with_tag(&self, tag: &str) -> impl Iterator<Item = MemberId> + '_ {
        let members = (!self.tagged.is_empty()).then(|| self.tagged.get(&place(tag))).flatten();
        members.into_iter().flatten().copied()
    }
}
