//! Values of Python as values of an answer: what the request selects of them, in one pass.
//!
//! **Invariant:** a value that does not fit is an error of its place, which names field and type; no exception of a value's own methods
//! leaves this module.
//!
//! **Cost:** one look-up per selected field and object; nothing is read that is not selected. Leaves of lists of objects that no step
//! below needs are not allocated one by one.

use super::exceptions::{field_error, unfit};
use super::json_scalars;
use super::python_selection::{FieldPlan, ObjectPlan, Place, PlaceKind};
use crate::registry::Registry;
use crate::run_state::RunState;
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use std::sync::Arc;
use weir_language::schema::TypeRef;
use weir_runtime::{Object, Records, Value};

/// Converts values of one step.
pub(crate) struct Converter<'c> {
    pub(crate) registry: &'c Registry,
    pub(crate) state: &'c RunState,
    /// [`NUMBER`](crate::run_state::NUMBER).
    pub(crate) number: Arc<str>,
}

impl Converter<'_> {
    /// The value at `place`.
    pub(crate) fn value(&self, place: &Place<'_>, value: &Bound<'_, PyAny>) -> Value {
        self.convert_typed(place, place.ty, value)
    }

    /// The value of one item of the list at `place`.
    pub(crate) fn item(&self, place: &Place<'_>, value: &Bound<'_, PyAny>) -> Value {
        self.convert_typed(place, place.ty.item().unwrap_or(place.ty), value)
    }

    /// The error that an exception at `place` is.
    pub(crate) fn error_value(&self, py: Python<'_>, place: &Place<'_>, error: PyErr) -> Value {
        Value::Error(field_error(py, error, &place.coordinate(), self.registry, self.state))
    }

    fn convert_typed(&self, place: &Place<'_>, ty: TypeRef, value: &Bound<'_, PyAny>) -> Value {
        if value.is_none() {
            return Value::Null;
        }
        if value.is_instance_of::<PyBaseException>() {
            return self.error_value(value.py(), place, PyErr::from_value(value.clone()));
        }
        if let Some(item) = ty.item() {
            return self.list(place, item, value);
        }
        match &place.kind {
            PlaceKind::Object(plan) => self.object(plan, value),
            PlaceKind::Abstract(plans) => match self.type_name(value) {
                Ok(name) => match plans.iter().find(|it| *it.name == *name) {
                    Some(plan) => self.object(plan, value),
                    // The writer says which types may stand here.
                    None => Value::Object(Object { ty: name.into(), fields: Vec::new() }),
                },
                Err(error) => self.error_value(value.py(), place, error),
            },
            PlaceKind::Custom(writer) => self.custom(place, writer.as_ref(), value),
            leaf => match self.leaf(leaf, value) {
                Some(leaf) => leaf,
                None => self.unfit(place, value, ""),
            },
        }
    }

    fn list(&self, place: &Place<'_>, item: TypeRef, value: &Bound<'_, PyAny>) -> Value {
        if let Ok(items) = value.cast::<PyList>() {
            if let Some(records) = self.records(place, item, items) {
                return Value::Records(Box::new(records));
            }
            return Value::List(items.iter().map(|it| self.convert_typed(place, item, &it)).collect());
        }
        if let Ok(items) = value.cast::<PyTuple>() {
            return Value::List(items.iter().map(|it| self.convert_typed(place, item, &it)).collect());
        }
        let is_leaf = value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>();
        if is_leaf || value.is_instance_of::<PyDict>() {
            return self.unfit(place, value, "");
        }
        let Ok(items) = value.try_iter() else { return self.unfit(place, value, "") };
        let items = items.map(|it| it.map(|it| self.convert_typed(place, item, &it)));
        match items.collect::<PyResult<Vec<Value>>>() {
            Ok(items) => Value::List(items),
            Err(error) => self.error_value(value.py(), place, error),
        }
    }

    /// The items of a list of objects that no step below needs; `None` if some are no objects.
    fn records(&self, place: &Place<'_>, item: TypeRef, items: &Bound<'_, PyList>) -> Option<Records> {
        let PlaceKind::Object(plan) = &place.kind else { return None };
        let is_object = |it: Bound<'_, PyAny>| !it.is_none() && !it.is_instance_of::<PyBaseException>();
        if plan.is_parent || plan.fields.is_empty() || item.wraps.is_list() || !items.iter().all(is_object) {
            return None;
        }
        let mut records = Records::new(Arc::clone(&plan.name), Arc::clone(&plan.names));
        records.reserve(items.len());
        for item in items.iter() {
            let dict = item.cast::<PyDict>().ok();
            for field in &plan.fields {
                match find(&item, dict, field) {
                    Ok(Some(found)) => {
                        if !push_leaf(&mut records, &field.place, &found) {
                            records.push(self.value(&field.place, &found));
                        }
                    }
                    absent => records.push(self.absent(field, &item, absent)),
                }
            }
        }
        Some(records)
    }

    fn object(&self, plan: &ObjectPlan<'_>, value: &Bound<'_, PyAny>) -> Value {
        let mut fields = Vec::with_capacity(plan.fields.len() + usize::from(plan.is_parent));
        let dict = value.cast::<PyDict>().ok();
        for field in &plan.fields {
            let converted = match find(value, dict, field) {
                Ok(Some(found)) => self.value(&field.place, &found),
                absent => self.absent(field, value, absent),
            };
            fields.push((Arc::clone(&field.name), converted));
        }
        if plan.is_parent {
            let number = self.state.keep(value.clone().unbind());
            fields.push((Arc::clone(&self.number), Value::Int(number)));
        }
        Value::Object(Object { ty: Arc::clone(&plan.name), fields })
    }

    /// The value of a field that was not `found` in an object.
    fn absent(
        &self,
        field: &FieldPlan<'_>,
        object: &Bound<'_, PyAny>,
        found: PyResult<Option<Bound<'_, PyAny>>>,
    ) -> Value {
        match found {
            Err(error) => self.error_value(object.py(), &field.place, error),
            Ok(_) if object.is_instance_of::<PyDict>() => Value::Null,
            Ok(_) => self.unfit(&field.place, object, "has neither attribute nor key for it"),
        }
    }

    /// Name of the object type of a value where several may stand.
    fn type_name(&self, value: &Bound<'_, PyAny>) -> PyResult<String> {
        if let Ok(dict) = value.cast::<PyDict>()
            && let Some(name) = dict.get_item("__typename")?
        {
            return name.extract();
        }
        let class = value.get_type();
        if let Some(name) = self.registry.classes.bind(value.py()).get_item(&class)? {
            return name.extract();
        }
        match value.getattr_opt("__typename")? {
            Some(name) => name.extract(),
            None => class.name()?.extract(),
        }
    }

    fn leaf(&self, kind: &PlaceKind<'_>, value: &Bound<'_, PyAny>) -> Option<Value> {
        let is_bool = value.is_instance_of::<PyBool>();
        match kind {
            PlaceKind::Int if !is_bool => value.extract().ok().map(Value::Int),
            PlaceKind::Float if !is_bool => value.extract().ok().map(Value::Float),
            PlaceKind::Bool => value.cast::<PyBool>().ok().map(|it| Value::Bool(it.is_true())),
            PlaceKind::Text => text(value),
            PlaceKind::Id if !is_bool => {
                let is_id = value.is_instance_of::<PyInt>()
                    || value.is_instance(self.registry.uuid.bind(value.py())).unwrap_or(false);
                if is_id { text(value.str().ok()?.as_any()) } else { text(value) }
            }
            PlaceKind::Enum(names) => self.enum_value(names, value),
            PlaceKind::Int
            | PlaceKind::Float
            | PlaceKind::Id
            | PlaceKind::Custom(_)
            | PlaceKind::Object(_)
            | PlaceKind::Abstract(_) => None,
        }
    }

    /// A text, or a member of an enum class by its name or its value.
    fn enum_value(&self, names: &[&str], value: &Bound<'_, PyAny>) -> Option<Value> {
        if !value.is_instance(self.registry.enum_base.bind(value.py())).ok()? {
            return text(value);
        }
        let name = value.getattr("name").ok()?;
        let is_known = name.cast::<PyString>().ok()?.to_str().is_ok_and(|it| names.contains(&it));
        if is_known { text(&name) } else { text(&value.getattr("value").ok()?) }
    }

    fn custom(&self, place: &Place<'_>, writer: Option<&Py<PyAny>>, value: &Bound<'_, PyAny>) -> Value {
        let py = value.py();
        let written = match writer {
            Some(writer) => writer.call1(py, (value,)),
            None => Ok(value.clone().unbind()),
        };
        let mut out = String::new();
        match written {
            Err(error) => self.error_value(py, place, error),
            Ok(written) if written.is_none(py) => Value::Null,
            Ok(written) => match json_scalars::write(&mut out, written.bind(py), self.registry, 0) {
                Ok(()) => Value::Json(out.into()),
                Err(reason) => self.unfit(place, value, &reason),
            },
        }
    }

    fn unfit(&self, place: &Place<'_>, value: &Bound<'_, PyAny>, reason: &str) -> Value {
        let class = value.get_type();
        let class = class.name().and_then(|it| it.extract::<String>()).unwrap_or_default();
        let coordinate = place.coordinate();
        let ty = place.type_text();
        let reason = if reason.is_empty() { "does not fit" } else { reason };
        Value::Error(unfit(format!("{coordinate} is {ty}: a value of class {class} {reason}.")))
    }
}

fn text(value: &Bound<'_, PyAny>) -> Option<Value> {
    Some(Value::Text(value.cast::<PyString>().ok()?.to_str().ok()?.into()))
}

/// Appends null, or a value whose class is exactly that of its place. `false`: it is another, and nothing is appended.
fn push_leaf(records: &mut Records, place: &Place<'_>, value: &Bound<'_, PyAny>) -> bool {
    if value.is_none() {
        records.push_null();
        return true;
    }
    if place.ty.wraps.is_list() {
        return false;
    }
    match &place.kind {
        PlaceKind::Text | PlaceKind::Id => {
            let text = value.cast_exact::<PyString>().ok().and_then(|it| it.to_str().ok());
            text.map(|it| records.push_text(it)).is_some()
        }
        PlaceKind::Int => {
            let is_int = value.cast_exact::<PyInt>().is_ok();
            let number = if is_int { value.extract().ok() } else { None };
            number.map(|it| records.push_int(it)).is_some()
        }
        PlaceKind::Float => {
            let number = value.cast_exact::<PyFloat>().ok().map(|it| it.value());
            number.map(|it| records.push_float(it)).is_some()
        }
        PlaceKind::Bool => {
            let is_true = value.cast_exact::<PyBool>().ok().map(|it| it.is_true());
            is_true.map(|it| records.push_bool(it)).is_some()
        }
        PlaceKind::Enum(_) | PlaceKind::Custom(_) | PlaceKind::Object(_) | PlaceKind::Abstract(_) => false,
    }
}

/// The value of a field in an object, which may be a dictionary.
fn find<'py>(
    object: &Bound<'py, PyAny>,
    dict: Option<&Bound<'py, PyDict>>,
    field: &FieldPlan<'_>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match dict {
        Some(dict) => key(dict, field),
        None => attribute(object, field),
    }
}

/// The value of a field in a dictionary.
fn key<'py>(dict: &Bound<'py, PyDict>, field: &FieldPlan<'_>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = dict.py();
    match (dict.get_item(field.attribute.bind(py))?, &field.alternative) {
        (None, Some(name)) => dict.get_item(name.bind(py)),
        (found, _) => Ok(found),
    }
}

/// The value of a field as an attribute, or as an item of another mapping.
fn attribute<'py>(value: &Bound<'py, PyAny>, field: &FieldPlan<'_>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = value.py();
    if let Some(found) = value.getattr_opt(field.attribute.bind(py))? {
        return Ok(Some(found));
    }
    if let Some(name) = &field.alternative
        && let Some(found) = value.getattr_opt(name.bind(py))?
    {
        return Ok(Some(found));
    }
    // Rows of databases have items and no attributes, and few of their classes say that they are mappings.
    if value.cast::<PyMapping>().is_ok() || value.hasattr("keys")? {
        let names = std::iter::once(&field.attribute).chain(&field.alternative);
        return Ok(names.filter_map(|it| value.get_item(it.bind(py)).ok()).next());
    }
    Ok(None)
}
