//! Whole numbers: the type of GraphQL that holds all that a schema allows.

use super::document::text;
use serde_json::Value;

/// The scalar for whole numbers that 32 bits may not hold.
pub(super) const WIDE: &str = "Int64";

/// `Int`, if a schema says that 32 bits are enough; else the scalar of 64.
///
/// Source: OpenAPI 3.1, section 4.4: without a format an integer has no bounds but those of JSON.
pub(super) fn type_of(schema: &Value) -> &'static str {
    let is_narrow = match text(schema, "format") {
        Some("int32" | "int16" | "int8" | "uint8" | "uint16") => true,
        Some("int64" | "uint64" | "uint32") => false,
        _ => is_bounded(schema),
    };
    if is_narrow { "Int" } else { WIDE }
}

/// `Int`, if all of `values` fit it.
pub(super) fn type_of_values(values: &[Value]) -> &'static str {
    if values.iter().filter(|it| !it.is_null()).all(is_narrow) { "Int" } else { WIDE }
}

/// True for a whole number of 32 bits.
pub(super) fn is_narrow(value: &Value) -> bool {
    value.as_i64().is_some_and(|it| i32::try_from(it).is_ok())
}

fn is_bounded(schema: &Value) -> bool {
    let bound = |names: [&str; 2]| {
        let bounds = names.iter().filter_map(|it| schema.get(it)).filter_map(Value::as_f64);
        bounds.into_iter().next()
    };
    let (least, most) = (bound(["minimum", "exclusiveMinimum"]), bound(["maximum", "exclusiveMaximum"]));
    least.is_some_and(|it| it >= f64::from(i32::MIN)) && most.is_some_and(|it| it <= f64::from(i32::MAX))
}
