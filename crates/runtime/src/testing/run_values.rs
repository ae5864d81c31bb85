//! Values of one field that runs by itself, as JSON.
//!
//! **Invariant:** a value with an error in it, or with an object that the guard of its type refuses, is that error.

use crate::context::Context;
use crate::library::Library;
use crate::resolver::Parents;
use crate::resolver::answers::{Answers, refused_error};
use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;
use weir_engine::memory::{Binder, Bindings, ObjectVisitor, RecordHost, Scope, Spot, Writer};
use weir_engine::plan::output_plan::{OutputPlan, SelectionSetId};
use weir_engine::source::Ids;
use weir_engine::write::out::Out;

/// Each value as JSON, or the message of its first error.
pub(super) fn texts(
    library: &Arc<Library>,
    (output, place): (&OutputPlan, usize),
    answers: Box<dyn Answers>,
    context: &Context,
) -> Result<Vec<Result<String, String>>, String> {
    let host = Arc::clone(library) as Arc<dyn RecordHost>;
    let bindings = Bindings::new(&library.schema, &Arc::new(Ids::default()), output, Some(host));
    let mut binder = Binder::new(output, bindings);
    let output_field = &output.fields[place];
    let spot = Spot { field: place as u32, output_field, ty: output_field.ty };
    if let Some(entry) = library.parts.field(output_field.field) {
        entry.resolver.resolve.bind(&mut binder, spot).map_err(|it| it.message)?;
    }
    let bindings = binder.finish().map_err(|errors| errors[0].message.clone())?;
    let rows = answers.len();
    let judged = Judged {
        library,
        output,
        context,
        set: Cell::new(SelectionSetId(0)),
        goes_on: Cell::default(),
        is_refused: Cell::default(),
    };
    let text = |row: usize| {
        if judged.refuses(row, &*answers, spot, Scope::new(output, &bindings)) {
            return Err(refused_error().message.into());
        }
        let mut out = Out::new(Vec::new());
        let mut errors = Vec::new();
        let mut writer = Writer::new(output, &bindings, &mut out, &mut errors);
        answers.write(row, place as u32, output_field, &mut writer);
        match errors.first() {
            Some(error) => Err(error.error.message.clone().into()),
            // `"key":value,`
            None => {
                let start = output_field.key.name().len() + "\"\":".len();
                let bytes = out.into_bytes();
                let value = bytes.get(start..bytes.len().saturating_sub(1)).unwrap_or_default();
                Ok(String::from_utf8_lossy(value).into_owned())
            }
        }
    };
    Ok((0..rows).map(text).collect())
}

/// Asks the guards of types of all objects in a value.
struct Judged<'j> {
    library: &'j Library,
    output: &'j OutputPlan,
    context: &'j Context,
    /// The set whose objects are shown next.
    set: Cell<SelectionSetId>,
    /// True if there were objects in the set that was shown last.
    goes_on: Cell<bool>,
    is_refused: Cell<bool>,
}

impl Judged<'_> {
    /// True if a guard refuses an object in the value at `row`.
    fn refuses(&self, row: usize, answers: &dyn Answers, spot: Spot<'_>, scope: Scope<'_>) -> bool {
        if self.library.parts.type_guards.is_empty() {
            return false;
        }
        self.is_refused.set(false);
        answers.single(row, spot, scope.with_visitor(self));
        self.is_refused.get()
    }
}

impl ObjectVisitor for Judged<'_> {
    /// All sets are looked for. The last one that is asked about is the one that is shown.
    fn is_target(&self, set: SelectionSetId) -> bool {
        self.set.set(set);
        true
    }
    /// The visitor is asked after the objects of a set were visited. A type may contain itself, so the pass ends where there are no
    /// objects.
    fn is_above(&self, _: SelectionSetId) -> bool {
        self.goes_on.get()
    }
    fn visit(&self, _: u32, objects: &[Option<&dyn Any>]) {
        let present: Vec<&dyn Any> = objects.iter().copied().flatten().collect();
        self.goes_on.set(!present.is_empty());
        let guard = self.library.parts.type_guards.get(&self.output.set(self.set.get()).on);
        let Some(guard) = guard.filter(|_| !present.is_empty()) else { return };
        let allowed = guard(Parents::Objects(&present), self.context);
        if !allowed.is_some_and(|it| it.into_iter().all(|it| it)) {
            self.is_refused.set(true);
        }
    }
}
