//! Operators, operator classes and aggregates that a database has for the values of a type: comparison, order, grouping.
//!
//! A statement with an operator that is missing fails as one whose column changed its type does, so it is refused before.
//!
//! **Invariant:** a type of which the catalog says nothing has all operators; so has every type of SQLite.

use super::ColumnType;
use hashbrown::HashMap;

/// Abilities of the values of one type, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueAbilities(u32);

/// The operators, in the order of their bits. The last finds equal values of shapes, whose `=` compares areas or numbers of points.
const OPERATORS: [&str; 7] = ["=", "<>", "<", "<=", ">", ">=", "~="];
const EQUALITY: u32 = 0b11;
const COMPARISONS: u32 = 0b11_1111;
const SAME: u32 = 64;
const SORTS: u32 = 128;
const HASHES: u32 = 256;
const EXTREMES: u32 = 512;
const CAST_EXTREMES: u32 = 1024;
const SETS_APART: u32 = 2048;

impl ValueAbilities {
    /// All comparisons, order and groups.
    pub const ALL: Self = Self(COMPARISONS | SORTS | HASHES);
    pub const NONE: Self = Self(0);
    /// All comparisons alone.
    pub const COMPARISONS: Self = Self(COMPARISONS);

    /// Abilities from the bits that the catalog query of PostgreSQL returns.
    pub const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    const fn has(self, bits: u32) -> bool {
        self.0 & bits == bits
    }

    /// Values have an order.
    pub const fn sorts(self) -> bool {
        self.has(SORTS)
    }

    /// Equal values make a group.
    pub const fn groups(self) -> bool {
        self.has(SORTS) || self.has(HASHES)
    }

    /// Equal values are found by `~=`: no class of operators says that `=` does.
    pub const fn is_same(self) -> bool {
        self.has(SAME) && !self.groups()
    }

    /// True if values have a minimum and a maximum.
    pub const fn has_extremes(self) -> bool {
        self.has(EXTREMES) || self.casts_extremes()
    }

    /// The smallest and the largest value are of another type, from which they are cast.
    pub const fn casts_extremes(self) -> bool {
        self.has(CAST_EXTREMES) && !self.has(EXTREMES)
    }

    /// Arrays are compared as sets by an extension, which takes fewer of them than PostgreSQL: `intarray` none with nulls.
    pub const fn compares_sets_apart(self) -> bool {
        self.has(SETS_APART)
    }

    /// True if values can be compared by `operator`.
    pub fn has_operator(self, operator: &str) -> bool {
        match operator {
            "=" | "<>" if self.is_same() => true,
            _ => OPERATORS.iter().position(|it| *it == operator).is_none_or(|at| self.has(1 << at)),
        }
    }

    /// Abilities of arrays of such values. PostgreSQL compares items by their operator classes.
    #[must_use]
    pub const fn of_arrays(self) -> Self {
        let bits = match (self.has(SORTS), self.has(HASHES)) {
            (true, _) => Self::ALL.0,
            (false, true) => EQUALITY | HASHES,
            (false, false) => 0,
        };
        Self(bits | (self.0 & SETS_APART))
    }

    /// Abilities that both have.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Abilities that at least one has.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Abilities of the types of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeAbilities(HashMap<ColumnType, ValueAbilities>);

impl TypeAbilities {
    /// Notes those of `ty`; types of one name share theirs.
    pub fn note(&mut self, ty: ColumnType, abilities: ValueAbilities) {
        let of = self.0.entry(ty).or_insert(abilities);
        *of = of.or(abilities);
    }

    /// Abilities of values of `ty`.
    pub fn of(&self, ty: &ColumnType) -> ValueAbilities {
        self.0.get(ty).copied().unwrap_or(ValueAbilities::ALL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_compare_what_classes_of_operators_compare() {
        let json = ValueAbilities::NONE;
        let xid = ValueAbilities::of_bits(EQUALITY | HASHES);
        let int = ValueAbilities::ALL;
        assert_eq!([json, xid, int].map(|it| it.of_arrays().has_operator("=")), [false, true, true]);
        assert_eq!([json, xid, int].map(|it| it.of_arrays().has_operator("<")), [false, false, true]);
        assert_eq!([json, xid, int].map(|it| it.of_arrays().groups()), [false, true, true]);
    }

    #[test]
    fn arrays_keep_the_word_of_an_extension() {
        let apart = ValueAbilities::of_bits(SORTS | SETS_APART);
        assert!(apart.of_arrays().compares_sets_apart() && apart.of_arrays().groups());
        assert!(!ValueAbilities::ALL.of_arrays().compares_sets_apart());
    }

    #[test]
    fn a_shape_is_equal_to_the_same_shape() {
        let shape = ValueAbilities::of_bits(SAME | 0b11_1101);
        assert!(shape.is_same() && shape.has_operator("<>") && shape.has_operator("<") && !shape.sorts());
        assert!(!ValueAbilities::of_bits(SAME | COMPARISONS | SORTS).is_same());
    }
}
