//! Values between Python and the engine: arguments, answers, exceptions, files.

pub(crate) mod conversion;
pub(crate) mod exceptions;
pub(crate) mod json_scalars;
pub(crate) mod keyword_arguments;
pub(crate) mod python_selection;
pub(crate) mod python_upload;
