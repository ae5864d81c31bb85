//! Hooks for a runtime on top of these values: resolvers beside the fields of records, client messages of errors, and numbered
//! objects.
//!
//! **Invariant:** a pass over equal values numbers the objects of a set in the same order, so that an object is found again by its
//! number ([`crate::source::OBJECT_KEY`]) in a second pass.
//!
//! **Cost:** nothing for values without a host; a number is one addition per table.

use crate::answer::field_error::FieldError;
use crate::answer::output_plan::SelectionSetId;
use std::any::{Any, TypeId as RustType};
use std::cell::RefCell;
use weir_language::schema::FieldId;

/// An error of a resolver from this process.
pub type ProgramError = dyn std::error::Error + Send + Sync + 'static;

/// Additions of a runtime to records.
pub trait RecordHost: Send + Sync {
    /// The resolver of `field`, the source's own id, on records of the Rust type `record`: an `Arc<dyn` [`LeafOf<R>`](super::LeafOf)`>`.
    fn leaf(&self, record: RustType, field: FieldId) -> Option<&(dyn Any + Send + Sync)>;
    /// Client error for an error of the program.
    fn field_error(&self, cause: &ProgramError) -> FieldError;
    /// Checks that objects of the type that has `field` may be of the Rust type `record`, as the field is fetched separately by them.
    /// # Errors
    /// Message for the author of the types.
    fn check_parent(&self, record: RustType, rust_name: &'static str, field: FieldId) -> Result<(), String> {
        let _ = (record, rust_name, field);
        Ok(())
    }
}

/// An error that stands in the place of a value.
pub trait AnswerError {
    /// Error for the client.
    fn field_error(&self, host: Option<&dyn RecordHost>) -> FieldError;
}

impl AnswerError for FieldError {
    fn field_error(&self, _: Option<&dyn RecordHost>) -> FieldError {
        self.clone()
    }
}

/// Sees the objects of one set during a pass that makes no columns.
pub trait ObjectVisitor {
    /// True if the objects of `set` are those that are looked for.
    fn is_target(&self, set: SelectionSetId) -> bool;
    /// True if those objects stand below `set`.
    fn is_above(&self, set: SelectionSetId) -> bool;
    /// Takes objects; the first has the number `first`.
    fn visit(&self, first: u32, objects: &[Option<&dyn Any>]);
}

/// Numbers of the objects of a pass, set by set.
#[derive(Debug, Default)]
pub struct ObjectNumbers(RefCell<Vec<(SelectionSetId, u32)>>);

impl ObjectNumbers {
    /// The number of the first of `len` more objects of `set`.
    pub(super) fn take(&self, set: SelectionSetId, len: usize) -> u32 {
        let mut sets = self.0.borrow_mut();
        match sets.iter_mut().find(|it| it.0 == set) {
            Some((_, next)) => {
                *next += len as u32;
                *next - len as u32
            }
            None => {
                sets.push((set, len as u32));
                0
            }
        }
    }
}
