//! Units of cost: weights have up to three decimals, so costs are counted in thousandths and reported in whole units, rounded up.

/// The greatest cost: larger ones are reported as this. Every JSON reader keeps numbers of this size exactly.
pub const COST_MAX: u64 = 9_007_199_254_740_991;

/// Thousandths of one unit.
pub(crate) const UNIT: u64 = 1000;

/// The greatest cost in thousandths.
pub(crate) const LIMIT: u64 = COST_MAX * UNIT;

/// Sum that stops at the greatest cost.
pub(crate) fn add(one: u64, other: u64) -> u64 {
    one.saturating_add(other).min(LIMIT)
}

/// Product that stops at the greatest cost; one of the two is a number of items.
pub(crate) fn multiply(one: u64, other: u64) -> u64 {
    one.saturating_mul(other).min(LIMIT)
}

/// Whole units of `thousandths`, rounded up.
pub(crate) fn whole_units(thousandths: u64) -> u64 {
    thousandths.div_ceil(UNIT).min(COST_MAX)
}
