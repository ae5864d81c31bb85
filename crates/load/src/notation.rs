//! What scenarios and plans are written in: YAML with places, and texts with expressions.

pub(crate) mod expression;
pub(crate) mod expression_text;
pub(crate) mod yaml;
