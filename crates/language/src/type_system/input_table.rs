//! The arguments and input fields of a schema. There are more of them than of anything else, so what few have stands apart.
//!
//! **Cost:** 28 bytes each, and 44 more for one with a default, a deprecation, directives or 64 bits.

use super::{Default as DefaultValue, Input, Run, Str, TypeRef};
use std::ops::Range;

/// An argument or input field without what few have.
#[derive(Clone, Copy, Debug)]
struct PackedInput {
    name: Str,
    description: Str,
    ty: TypeRef,
    /// Place in [`InputTable::extras`]; zero for none.
    extras: u32,
}

/// Parts that few arguments and input fields have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InputExtras {
    pub(crate) default: Option<DefaultValue>,
    pub(crate) is_wide: bool,
    pub(crate) deprecated: Option<Str>,
    pub(crate) applied: Run,
}

/// All arguments and input fields, by [`super::InputId`].
#[derive(Clone, Debug, Default)]
pub struct InputTable {
    inputs: Vec<PackedInput>,
    /// The first is without any.
    extras: Vec<InputExtras>,
}

impl InputTable {
    /// Number of arguments and input fields.
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// The one at `at`.
    #[inline]
    pub fn get(&self, at: usize) -> Input {
        self.unpack(&self.inputs[at])
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = Input> + '_ {
        self.range(0..self.len())
    }

    /// A run of them.
    pub fn range(&self, run: Range<usize>) -> impl Iterator<Item = Input> + '_ {
        self.inputs[run].iter().map(|it| self.unpack(it))
    }

    #[inline]
    fn unpack(&self, packed: &PackedInput) -> Input {
        let PackedInput { name, description, ty, extras } = *packed;
        let extras = match extras {
            0 => InputExtras::default(),
            at => self.extras[at as usize],
        };
        let InputExtras { default, is_wide, deprecated, applied } = extras;
        Input { name, description, ty, default, is_wide, deprecated, applied }
    }

    /// Makes room for `more`.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.inputs.reserve(more);
    }

    /// Adds one without extras.
    pub(crate) fn push(&mut self, name: Str, description: Str, ty: TypeRef) {
        self.inputs.push(PackedInput { name, description, ty, extras: 0 });
    }

    /// The extras of the one at `at`, to be changed.
    pub(crate) fn extras_mut(&mut self, at: usize) -> &mut InputExtras {
        let place = &mut self.inputs[at].extras;
        if *place == 0 {
            if self.extras.is_empty() {
                self.extras.push(InputExtras::default());
            }
            *place = self.extras.len() as u32;
            self.extras.push(InputExtras::default());
        }
        &mut self.extras[*place as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TypeId;
    use crate::syntax::wraps::Wraps;

    #[test]
    fn what_few_have_costs_only_those() {
        let mut inputs = InputTable::default();
        let ty = TypeRef { base: TypeId(3), wraps: Wraps::NON_NULL };
        for at in 0..1000 {
            inputs.push(Str { start: at, len: 1 }, Str::default(), ty);
        }
        let reason = Some(Str { start: 7, len: 2 });
        inputs.extras_mut(500).deprecated = reason;
        inputs.extras_mut(500).is_wide = true;
        assert_eq!(inputs.extras.len(), 2);
        assert_eq!(size_of::<PackedInput>(), 28);
        for (at, input) in inputs.iter().enumerate() {
            assert_eq!((input.name.start as usize, input.ty), (at, ty));
            assert_eq!((input.deprecated, input.is_wide), (reason.filter(|_| at == 500), at == 500));
        }
        assert_eq!(inputs.range(499..501).map(|it| it.is_wide).collect::<Vec<_>>(), [false, true]);
    }
}
