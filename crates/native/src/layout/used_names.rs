//! Gives out names that every database accepts, each once.

use hashbrown::HashSet;
use weir_relational::dialect::name_rules::{NAME_BYTES_MAX, RESERVED_PREFIXES, SHADOW_SUFFIXES};

/// Prefix of the names of the store's own tables.
const OWN_PREFIX: &str = "weir_";

/// Gives out names that differ in more than case: some databases see no difference in case.
#[derive(Debug, Default)]
pub(super) struct UsedNames(HashSet<String>);

impl UsedNames {
    /// `wanted`, or the name nearest to it that is free.
    pub(super) fn take(&mut self, wanted: &str) -> String {
        let wanted = escape_reserved(wanted);
        if self.0.insert(wanted.to_ascii_lowercase()) {
            return wanted;
        }
        for number in 2_u32.. {
            let next = shorten(&format!("{wanted}_{number}"));
            if self.0.insert(next.to_ascii_lowercase()) {
                return next;
            }
        }
        unreachable!("four thousand million names cannot all be taken")
    }

    /// The first of `wanted` that is free, or the name nearest to the last.
    pub(super) fn take_first(&mut self, wanted: &[&str]) -> String {
        let free = wanted.iter().find(|it| !self.0.contains(&it.to_ascii_lowercase()));
        self.take(free.or(wanted.last()).copied().unwrap_or("x"))
    }

    /// Takes a name for a virtual table, and the names of its shadow tables, see [`Self::take`].
    pub(super) fn take_virtual(&mut self, wanted: &str) -> String {
        let name = self.take(wanted);
        self.0.extend(SHADOW_SUFFIXES.map(|shadow| format!("{name}{shadow}").to_ascii_lowercase()));
        name
    }
}

fn escape_reserved(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let reserved = RESERVED_PREFIXES.iter().chain([&OWN_PREFIX]).any(|it| lower.starts_with(it));
    shorten(&if reserved { format!("t_{name}") } else { name.to_owned() })
}

/// `name`, shortened to the limit by replacing its end with a hash of the whole. GraphQL names are ASCII.
fn shorten(name: &str) -> String {
    if name.len() <= NAME_BYTES_MAX {
        return name.to_owned();
    }
    // FNV-1a: the same for ever, which a hash of the standard library does not promise.
    let hash =
        name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{}_{hash:08x}", &name[..NAME_BYTES_MAX - 9])
}

#[cfg(test)]
mod tests {
    use super::UsedNames;

    #[test]
    fn names_differ_in_more_than_case() {
        let mut names = UsedNames::default();
        assert_eq!(names.take("Dish"), "Dish");
        assert_eq!(names.take("dish"), "dish_2");
        assert_eq!(names.take("DISH"), "DISH_3");
        assert_eq!(names.take_first(&["dish", "meal", "food"]), "meal");
        assert_eq!(names.take_first(&["dish", "meal"]), "meal_2");
    }

    #[test]
    fn names_of_others_are_left_to_them() {
        let mut names = UsedNames::default();
        assert_eq!(names.take("SQLite_stat1"), "t_SQLite_stat1");
        assert_eq!(names.take("weir_store"), "t_weir_store");
        assert_eq!(names.take_virtual("Dish_name_terms"), "Dish_name_terms");
        assert_eq!(names.take("Dish_name_terms_data"), "Dish_name_terms_data_2");
    }

    #[test]
    fn long_names_stay_different() {
        let mut names = UsedNames::default();
        let one = format!("{}a", "x".repeat(80));
        let two = format!("{}b", "x".repeat(80));
        let first = names.take(&one);
        let second = names.take(&two);
        let again = names.take(&one);
        assert_eq!([first.len(), second.len(), again.len()], [63, 63, 63]);
        assert!(first != second && first != again);
    }
}
