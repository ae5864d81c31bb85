//! Checks the values of arguments of directives applied in SDL, once all types are known.

use super::complaints::Complaints;
use crate::coerce::{Constant, constant};
use crate::error::{Code, Error};
use crate::ids::InputId;
use crate::span::Span;
use crate::syntax::ast::{Document, ValueId};
use crate::type_system::Schema;
use crate::value::Values;

/// Checks the values of all arguments of directives in `document`, whose spans begin at `base`.
pub(super) fn check_values(schema: &Schema, document: &Document<'_>, base: u32, errors: &mut Complaints) {
    for directive in &document.directives {
        if errors.are_enough() {
            return;
        }
        let Some(id) = schema.directive_by_name(document.str(directive.name)) else { continue };
        for argument in document.list(directive.arguments) {
            let run = schema.directives[id.index()].arguments;
            if let Some(input) = schema.input_by_name(run, document.str(argument.name)) {
                check_value(schema, document, argument.value, input, base, errors);
            }
        }
    }
}

fn check_value(
    schema: &Schema,
    document: &Document<'_>,
    value: ValueId,
    input: InputId,
    base: u32,
    errors: &mut Complaints,
) {
    let mut scratch = Values::default();
    if let Constant::Wrong(wrong) = constant(schema, document, value, schema.input(input).ty, &mut scratch) {
        for error in wrong {
            let spans =
                error.spans.iter().map(|span| Span::new(span.start + base, span.end + base)).collect();
            errors.push(Error { spans, code: Code::Schema, ..error });
        }
    }
}
