//! Members by the tags that their last results have by the values in them, such as `player-7`: no plan names these.
//!
//! **Invariant:** tags with one place wake each other's members, which costs reads and no results.

use super::registry::{MemberId, Registry};
use crate::tag_versions::{TagSnapshot, place};

impl Registry {
    /// The last result of a member has these tags, and no others.
    pub(super) fn tagged(&mut self, id: MemberId, ages: &TagSnapshot) {
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

    /// A member has no tags at these places any more.
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

    /// The members whose last result may have `tag`.
    pub(super) fn with_tag(&self, tag: &str) -> impl Iterator<Item = MemberId> + '_ {
        let members = (!self.tagged.is_empty()).then(|| self.tagged.get(&place(tag))).flatten();
        members.into_iter().flatten().copied()
    }
}
