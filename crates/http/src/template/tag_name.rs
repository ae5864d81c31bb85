//! Names of tags with values in them.

use super::parse::{Constant, parts};
use super::render::text;
use super::{Part, Parts, RenderError, Slot, slots};
use crate::selection::SelectionError;
use crate::selection::inputs::Inputs;

/// Maximum length of a name, in bytes.
const BYTES_MAX: usize = 1024;

/// A name template, such as `player-{$this.id}`.
#[derive(Clone, Debug)]
pub struct NameTemplate(Parts);

impl NameTemplate {
    /// Parses a name template.
    ///
    /// # Errors
    /// The first syntax error.
    pub(crate) fn read(text: &str) -> Result<Self, SelectionError> {
        parts(text, 0, text.len(), Constant::Text).map(Self)
    }

    /// Expressions in it.
    pub(crate) fn slots(&self) -> impl Iterator<Item = &Slot> {
        slots(self.0.iter())
    }

    /// The name, if it contains no expression.
    pub(crate) fn as_fixed(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Renders the name for `inputs`; `None` if a value is missing, null or not valid in a name.
    ///
    /// # Errors
    /// A value is a list or an object, or its evaluation failed.
    pub(crate) fn render(&self, inputs: &Inputs<'_>) -> Result<Option<String>, RenderError> {
        let mut name = Vec::new();
        let mut is_whole = true;
        for part in &self.0 {
            match part {
                Part::Text(text) => name.extend_from_slice(text.as_bytes()),
                Part::Value(slot) => {
                    is_whole &= text(slot, inputs, &mut |text| name.extend_from_slice(text))?;
                }
            }
        }
        let fits = is_whole && name.len() <= BYTES_MAX;
        Ok(String::from_utf8(name).ok().filter(|_| fits))
    }
}
