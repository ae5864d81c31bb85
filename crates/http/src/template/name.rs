//! Names with values in them: what is kept is thrown away by these.

use super::read::{Constant, parts};
use super::render::text;
use super::{Part, Parts, RenderError, Slot, slots};
use crate::inputs::Inputs;
use crate::selection::SelectionError;

/// The longest name that is made.
const BYTES_MAX: usize = 1024;

/// A text with values in it, as in `player-{$this.id}`.
#[derive(Clone, Debug)]
pub struct NameTemplate(Parts);

impl NameTemplate {
    /// Reads a text.
    ///
    /// # Errors
    /// The first place where it is none.
    pub(crate) fn read(text: &str) -> Result<Self, SelectionError> {
        parts(text, 0, text.len(), Constant::Text).map(Self)
    }

    /// The values in it.
    pub(crate) fn slots(&self) -> impl Iterator<Item = &Slot> {
        slots(self.0.iter())
    }

    /// The name, if no value is in it.
    pub(crate) fn fixed(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Its name with `inputs` put in; nothing if one of the values is missing, null, or no text that a name can hold.
    ///
    /// # Errors
    /// A value that is a list or an object, or that cannot be found out.
    pub(crate) fn render(&self, inputs: &Inputs<'_>) -> Result<Option<String>, RenderError> {
        let (mut name, mut is_whole) = (Vec::new(), true);
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
