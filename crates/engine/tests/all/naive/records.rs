//! Lists of objects as records.

use std::sync::Arc;
use weir_engine::memory::{Object, Records, Value};

/// The object with records in place of all lists of objects that are alike.
pub(super) fn with_records(object: &Object) -> Object {
    let fields = object.fields.iter().map(|(name, value)| (Arc::clone(name), value_with_records(value)));
    Object { ty: Arc::clone(&object.ty), fields: fields.collect() }
}

fn value_with_records(value: &Value) -> Value {
    match value {
        Value::Object(object) => Value::Object(with_records(object)),
        Value::List(items) => match records(items) {
            Some(records) => Value::Records(Box::new(records)),
            None => Value::List(items.iter().map(value_with_records).collect()),
        },
        other => other.clone(),
    }
}

fn records(items: &[Value]) -> Option<Records> {
    let Some(Value::Object(first)) = items.first() else { return None };
    let names: Vec<Arc<str>> = first.fields.iter().map(|it| Arc::clone(&it.0)).collect();
    let is_alike = |it: &Value| matches!(it, Value::Object(it) if it.ty == first.ty && it.fields.iter().map(|it| &it.0).eq(&names));
    if names.is_empty() || !items.iter().all(is_alike) {
        return None;
    }
    let mut records = Records::new(Arc::clone(&first.ty), names.into());
    for item in items {
        let Value::Object(object) = item else { continue };
        for (_, value) in &object.fields {
            match value {
                Value::Null => records.push_null(),
                Value::Bool(value) => records.push_bool(*value),
                Value::Int(value) => records.push_int(*value),
                Value::Float(value) => records.push_float(*value),
                Value::Text(text) => records.push_text(text),
                other => records.push(value_with_records(other)),
            }
        }
    }
    assert_eq!(records.len(), items.len());
    Some(records)
}
