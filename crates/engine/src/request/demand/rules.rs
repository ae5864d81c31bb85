//! `@cost` and `@listSize` as data.

use super::units::UNIT;

/// Weight of a type, field, argument or input field: a decimal number that is not negative, kept in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CostWeight(u64);

/// Decimals of a weight.
const DECIMALS: usize = 3;

impl CostWeight {
    /// A whole weight.
    pub const fn whole(weight: u32) -> Self {
        Self(weight as u64 * UNIT)
    }

    /// Reads `5` or `2.5`. `None`: it is no decimal number, is negative, is beyond 4,294,967,295, or has more than three decimals.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(decimals) || decimals.len() > DECIMALS {
            return None;
        }
        let whole: u32 = whole.parse().ok()?;
        let decimals: u64 = format!("{decimals:0<DECIMALS$}").parse().ok()?;
        Some(Self(Self::whole(whole).0 + decimals))
    }

    /// Thousandths.
    pub(crate) const fn thousandths(self) -> u64 {
        self.0
    }
}

/// Size of the lists of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListSize {
    /// Items of a list that no argument limits; `None`: what is set for all lists.
    pub assumed: Option<u64>,
    /// Arguments that say how many items there are, `first` or `input.page.first`: an integer, or a list with as many items.
    pub slicing: Vec<Box<str>>,
    /// Fields of the returned object that have this size instead of the field itself.
    pub sized: Vec<Box<str>>,
    /// True if exactly one of the slicing arguments has to be given.
    pub requires_one: bool,
    /// Most items that there can be, whatever the arguments say.
    pub max: Option<u64>,
}

/// A rule of cost for one place of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// `@cost`.
    Weight(CostWeight),
    /// `@listSize`.
    ListSize(ListSize),
}

/// A rule and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostRule {
    /// Coordinate: `Album`, `Album.tracks`, `Query.albums(first:)`, `AlbumInput.title`, `@flag(of:)`.
    pub place: String,
    /// Weight or list size of the place.
    pub rule: Rule,
    /// Location of the rule, for messages: file, line and column, or a key of the configuration.
    pub written: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_a_decimal_that_is_not_negative() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(CostWeight::parse(text).map(CostWeight::thousandths), expected, "{text}");
        };
        check("5", Some(5000));
        check("2.5", Some(2500));
        check("0.001", Some(1));
        check("4294967295", Some(4_294_967_295_000));
        for wrong in ["", "-1", "+1", "1e3", "0.0001", "1.", ".5", "4294967296", "NaN", " 1", "1.2.3"] {
            check(wrong, None);
        }
    }
}
