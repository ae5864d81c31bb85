//! Texts made from bytes, and what must hold for every text: shared by the property tests and the fuzz targets.

pub(crate) mod grammar;
pub(crate) mod printer;
pub(crate) mod properties;
