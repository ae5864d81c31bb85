//! Input texts of scenarios and plans: YAML with places, and texts with expressions.

pub(crate) mod expression;
pub(crate) mod expression_text;
pub(crate) mod json_template;
pub(crate) mod yaml;
