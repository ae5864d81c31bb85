//! Reads `weir.yaml`: fills in values of the environment and locates errors.

pub mod load;
pub mod places;
pub(crate) mod variables;
