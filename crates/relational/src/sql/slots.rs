//! Columns of a statement that several levels share: each level puts its values where the type fits.
//!
//! **Invariant:** a slot has one type, and no arm puts two values into one slot.

/// The columns after the first, which holds the place of the arm.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// The number of the type of each.
    pub(super) types: Vec<u32>,
}

/// A value of an arm: its text and the number of its type.
pub(super) type SlotValue = (String, u32);

impl Slots {
    /// Puts the values of an arm into slots; gives the slot of each. Equal texts share one.
    pub(super) fn place(&mut self, values: &[SlotValue], taken: &mut Vec<Option<String>>) -> Vec<u16> {
        values.iter().map(|value| self.place_one(value, taken)).collect()
    }

    fn place_one(&mut self, (text, ty): &SlotValue, taken: &mut Vec<Option<String>>) -> u16 {
        if let Some(at) = taken.iter().position(|it| it.as_ref() == Some(text)) {
            return at as u16;
        }
        let free = |at: &usize| self.types[*at] == *ty && taken.get(*at).is_none_or(Option::is_none);
        let at = (0..self.types.len()).find(free).unwrap_or_else(|| {
            self.types.push(*ty);
            self.types.len() - 1
        });
        taken.resize(taken.len().max(at + 1), None);
        taken[at] = Some(text.clone());
        at as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arms: &[&[(&str, u32)]], types: &[u32], places: &[&[u16]]) {
        let mut slots = Slots::default();
        let found: Vec<Vec<u16>> = arms
            .iter()
            .map(|arm| {
                let values: Vec<SlotValue> = arm.iter().map(|&(text, ty)| (text.to_owned(), ty)).collect();
                slots.place(&values, &mut Vec::new())
            })
            .collect();
        assert_eq!(slots.types, types);
        assert_eq!(found, places);
    }

    #[test]
    fn arms_share_slots_of_one_type_and_equal_values_share_one_slot() {
        check(
            &[&[("a", 25), ("b", 23), ("c", 25)], &[("d", 23), ("e", 23), ("d", 23), ("f", 25)]],
            &[25, 23, 25, 23],
            &[&[0, 1, 2], &[1, 3, 1, 0]],
        );
    }
}
