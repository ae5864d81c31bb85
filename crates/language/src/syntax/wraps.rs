//! The `[ ]` and `!` around a named type, packed into four bytes.
//!
//! Bit 0: the named type is non-null. Then two bits for each list around it, innermost first: bit 0 of
//! the pair says that the list exists, bit 1 that it is non-null. So `[[Int!]]!` is `1, 01, 11`.
//!
//! **Invariant:** at most 15 lists; the parser refuses more.

/// List and non-null modifiers of a named type. `Wraps::default()` is the plain nullable name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wraps(u32);

impl Wraps {
    /// The most lists that fit.
    pub const LISTS_MAX: u32 = 15;
    /// `T!`.
    pub const NON_NULL: Self = Self(1);

    /// The number of lists around the name.
    pub const fn lists(self) -> u32 {
        (32 - (self.0 >> 1).leading_zeros()).div_ceil(2)
    }

    /// True if the outermost modifier is a list, nullable or not.
    #[inline]
    pub const fn is_list(self) -> bool {
        self.0 > 1
    }

    /// True if the outermost modifier is `!`.
    #[inline]
    pub const fn is_non_null(self) -> bool {
        match self.lists() {
            0 => self.0 & 1 == 1,
            n => self.0 >> (2 * n) & 1 == 1,
        }
    }

    /// `[self]`. `None` when there are 15 lists already.
    #[must_use]
    pub const fn list(self) -> Option<Self> {
        let n = self.lists();
        if n == Self::LISTS_MAX { None } else { Some(Self(self.0 | 1 << (2 * n + 1))) }
    }

    /// `self!`; unchanged when it is non-null already.
    #[must_use]
    pub const fn non_null(self) -> Self {
        match self.lists() {
            0 => Self(self.0 | 1),
            n => Self(self.0 | 1 << (2 * n)),
        }
    }

    /// `self` without an outer `!`.
    #[must_use]
    pub const fn nullable(self) -> Self {
        match self.lists() {
            0 => Self(self.0 & !1),
            n => Self(self.0 & !(1 << (2 * n))),
        }
    }

    /// The type of an item: `[T!]!` gives `T!`; `None` when this is no list.
    #[must_use]
    #[inline]
    pub const fn item(self) -> Option<Self> {
        match self.lists() {
            0 => None,
            n => Some(Self(self.0 & !(0b11 << (2 * n - 1)))),
        }
    }

    /// True if a value of a type with the modifiers `given` is accepted here: the same lists, and non-null wherever this is.
    pub const fn accepts(self, given: Self) -> bool {
        self.lists() == given.lists() && self.0 & !given.0 == 0
    }

    /// `self` with each `!` that `other`, which has as many lists, has below the outermost modifier.
    #[must_use]
    pub const fn narrowed_below(self, other: Self) -> Self {
        Self(self.0 | other.nullable().0)
    }

    /// Appends `name` with its brackets and marks to `out`.
    pub fn write(self, name: &str, out: &mut String) {
        let lists = self.lists();
        out.extend(std::iter::repeat_n('[', lists as usize));
        out.push_str(name);
        if self.0 & 1 == 1 {
            out.push('!');
        }
        for list in 1..=lists {
            out.push(']');
            if self.0 >> (2 * list) & 1 == 1 {
                out.push('!');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(wraps: Wraps) -> String {
        let mut out = String::new();
        wraps.write("T", &mut out);
        out
    }

    #[test]
    fn wraps_are_built_outwards_and_taken_off_again() {
        let inner = Wraps::NON_NULL;
        let list = inner.list().unwrap();
        let outer = list.list().unwrap().non_null();
        assert_eq!(written(Wraps::default()), "T");
        assert_eq!(written(inner), "T!");
        assert_eq!(written(list), "[T!]");
        assert_eq!(written(outer), "[[T!]]!");
        assert_eq!(outer.lists(), 2);
        assert!(outer.is_non_null() && outer.is_list() && !list.is_non_null() && !inner.is_list());
        assert_eq!(outer.item(), Some(list));
        assert_eq!(list.item(), Some(inner));
        assert_eq!(inner.item(), None);
        assert_eq!(written(outer.nullable()), "[[T!]]");
        assert_eq!(Wraps::default().list().unwrap().lists(), 1);
        assert!(list.accepts(list.non_null()) && !outer.accepts(outer.nullable()));
        assert!(!inner.accepts(list) && !list.accepts(inner) && !inner.accepts(Wraps::default()));
    }

    #[test]
    fn a_sixteenth_list_is_refused() {
        let mut wraps = Wraps::default();
        for _ in 0..Wraps::LISTS_MAX {
            wraps = wraps.list().unwrap();
        }
        assert_eq!(wraps.list(), None);
        assert_eq!(wraps.lists(), 15);
    }
}
