//! Turns input into [`Values`](crate::value::Values): the JSON of variables and the literals of documents and schemas.
//!
//! Both are read by one walk, which knows lists, input objects, defaults and limits; what a JSON value and a literal
//! are is behind a trait. Scalars are read strictly, by the letter of the specification, or leniently,
//! as Hasura reads them.
//!
//! **Invariant:** fields of input objects come out in the order of their type, defaults filled in.
//!
//! **Cost:** linear in the input and the defaults it pulls in (sorting the keys of each object apart); nothing is
//! allocated per value but what the growing buffers need.
//! Source: GraphQL specification, sections 3.5 to 3.12 (input coercion) and 6.1.2.

pub(crate) mod dgraph;
mod digits;
mod fallback;
mod fault_messages;
mod input_walk;
mod json_input;
mod json_template;
mod literal_input;
pub(crate) mod literal_text;
mod request_variables;
mod scalar_readers;

pub(crate) use digits::is_beyond;
pub use fallback::Fallback;
pub use fault_messages::scientific;
pub(crate) use fault_messages::{kind_of_literal, list_mark, object_mark};
pub use json_template::Template;
pub(crate) use literal_input::{Constant, constant};
pub use literal_input::{Number, literal};
pub use request_variables::{VariableError, VariableType, VariableTypes};

use crate::limits::Limits;
use crate::type_system::ScalarReader;

/// Rules and limits for reading input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Strict or lenient.
    pub reading: Reading,
    /// Items of one list.
    pub list_items_max: u32,
    /// Errors reported at once.
    pub errors_max: u32,
    /// The reader of `Int`.
    pub int: ScalarReader,
    /// Meaning of a variable that was not sent and has no default.
    pub unsent: Unsent,
}

/// The value of a variable that was not sent and has no default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unsent {
    /// Absent: the position is treated as if nothing had been written there.
    Absent,
    /// Null.
    Null,
}

impl Settings {
    /// The part of `limits` that concerns values.
    pub const fn new(reading: Reading, limits: &Limits) -> Self {
        let Limits { list_items_max, errors_max, .. } = *limits;
        let unsent = match reading {
            Reading::Strict => Unsent::Absent,
            Reading::Lenient => Unsent::Null,
        };
        Self { reading, list_items_max, errors_max, int: ScalarReader::Int, unsent }
    }

    /// Allows 64-bit `Int` values, if the settings have a wide `Int` reader.
    #[must_use]
    pub const fn wide(self) -> Self {
        let int = match self.reading {
            Reading::Strict => ScalarReader::Int,
            Reading::Lenient => ScalarReader::BigInt,
        };
        Self { int, ..self }
    }
}

/// Rules for scalars and wording of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// Strictly by the specification, with the messages of graphql-js.
    Strict,
    /// Leniently like Hasura: strings are accepted for numbers and booleans.
    Lenient,
}
