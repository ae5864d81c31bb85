//! The Python side of a schema: classes, enums, inputs, scalars, and functions of the package.
//!
//! **Invariant:** never changes once a schema is built.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::{HashMap, HashSet};

/// Functions of a custom scalar.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ScalarFunctions {
    pub(crate) read: Option<Py<PyAny>>,
    pub(crate) write: Option<Py<PyAny>>,
}

/// A class that an input object becomes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct InputClass {
    pub(crate) class: Py<PyAny>,
    /// Keywords of its constructor by field.
    pub(crate) keywords: HashMap<String, String>,
}

/// All of it, as the package hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Registry {
    /// Names of object types by class.
    pub(crate) classes: Py<PyDict>,
    /// Enum classes by name.
    pub(crate) enums: HashMap<String, Py<PyAny>>,
    pub(crate) inputs: HashMap<String, InputClass>,
    pub(crate) scalars: HashMap<String, ScalarFunctions>,
    /// Types whose objects are judged by a guard.
    pub(crate) guarded_types: HashSet<String>,
    /// Fields whose items are judged.
    pub(crate) filtered: HashSet<String>,
    /// Attributes by coordinate, where the name does not tell them.
    pub(crate) attributes: HashMap<String, String>,
    /// `weir.GraphQLError`.
    pub(crate) graphql_error: Py<PyAny>,
    /// `weir.SchemaError`.
    pub(crate) schema_error: Py<PyAny>,
    /// `enum.Enum`.
    pub(crate) enum_base: Py<PyAny>,
    /// `decimal.Decimal`.
    pub(crate) decimal: Py<PyAny>,
    /// `uuid.UUID`.
    pub(crate) uuid: Py<PyAny>,
    /// Writes an exception of a resolver to the log: coordinate and exception.
    pub(crate) log: Py<PyAny>,
    /// A coroutine of a list of values, some of them awaitable, and exceptions.
    pub(crate) gather: Py<PyAny>,
    /// A coroutine of an awaitable.
    pub(crate) awaited: Py<PyAny>,
    /// Runs a coroutine on an event loop of its own.
    pub(crate) run_alone: Py<PyAny>,
    /// The asynchronous iterator of what a subscription's function returned.
    pub(crate) open: Py<PyAny>,
    /// A coroutine of the next value of an iterator: true and the value, or false.
    pub(crate) next: Py<PyAny>,
    /// Reads JSON, digits of decimals untouched.
    pub(crate) loads: Py<PyAny>,
}

/// `fullName` as `full_name`.
pub(crate) fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before = '_';
    for c in name.chars() {
        if c.is_ascii_uppercase() && before != '_' && !before.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
        before = c;
    }
    out
}
