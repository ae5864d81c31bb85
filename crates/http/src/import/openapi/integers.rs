//! Chooses the GraphQL type of integers.

use super::document::text;
use serde_json::Value;

/// Scalar for integers beyond 32 bits.
pub(super) const WIDE: &str = "Int64";

/// `Int` if the schema limits values to 32 bits, else the 64-bit scalar.
///
/// Source: OpenAPI 3.1, section 4.4: without a format an integer is unbounded.
pub(super) fn type_of(schema: &Value) -> &'static str {
    let is_narrow = match text(schema, "format") {
        Some("int32" | "int16" | "int8" | "uint8" | "uint16") => true,
        Some("int64" | "uint64" | "uint32") => false,
        _ => is_bounded(schema),
    };
    if is_narrow { "Int" } else { WIDE }
}

/// `Int` if all `values` fit.
pub(super) fn type_of_values(values: &[Value]) -> &'static str {
    if values.iter().filter(|it| !it.is_null()).all(is_narrow) { "Int" } else { WIDE }
}

/// True for a 32-bit integer.
pub(super) fn is_narrow(value: &Value) -> bool {
    value.as_i64().is_some_and(|it| i32::try_from(it).is_ok())
}

fn is_bounded(schema: &Value) -> bool {
    let bound = |names: [&str; 2]| {
        let bounds = names.iter().filter_map(|it| schema.get(it)).filter_map(Value::as_f64);
        bounds.into_iter().next()
    };
    let least = bound(["minimum", "exclusiveMinimum"]);
    let most = bound(["maximum", "exclusiveMaximum"]);
    least.is_some_and(|it| it >= f64::from(i32::MIN)) && most.is_some_and(|it| it <= f64::from(i32::MAX))
}
