//! Files of settings, as `weir.yaml`: typed values with places.

use super::deserialize::Reader;
use super::yaml::{Budget, Fill, parse_with_variables};
use crate::places::Step;
use crate::tree::{Node, Place, Value};
use serde::de::DeserializeOwned;

/// Something wrong in a file of settings.
#[derive(Debug)]
pub struct SettingFault {
    /// Line and column of the value, or of the key that is unknown.
    pub place: Place,
    /// The path of the value; empty where the text is no YAML, and for a key that is unknown.
    pub path: Vec<Step>,
    /// The cause; without values of the environment.
    pub message: String,
}

/// Reads `text`: the settings, and its tree for places. `fill` fills variables in values; an empty file has all defaults of `T`.
///
/// A number where a text is expected is its digits; a text may hold a number or boolean where one is expected.
///
/// # Errors
/// The text is no YAML, or does not fit `T`.
pub fn settings<T: DeserializeOwned>(text: &str, fill: Fill<'_>) -> Result<(T, Node), SettingFault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let read = parse_with_variables(text, 0, &mut Budget::default(), fill);
    let mut root =
        read.map_err(|it| SettingFault { place: it.place, path: Vec::new(), message: it.message })?;
    if matches!(root.value, Value::Null) {
        root.value = Value::Object(Vec::new());
    }
    match T::deserialize(Reader::of_settings(&root)) {
        Ok(settings) => Ok((settings, root)),
        Err(error) => Err(SettingFault {
            place: error.place.unwrap_or(root.place),
            path: if error.key.is_some() { Vec::new() } else { error.path() },
            message: error.message,
        }),
    }
}
