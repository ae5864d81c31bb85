//! Checks that the types of resolvers fit the schema, when it is built.
//!
//! An output plan that selects every field of every type is bound once, by the code that also binds requests: a type that passes
//! here cannot fail there.
//!
//! **Cost:** once per schema, linear in its fields and the Rust types that resolvers give.

use super::Library;
use std::sync::Arc;
use weir_engine::memory::{Binder, Bindings, RecordHost, Spot};
use weir_engine::plan::output_plan::{
    OutputField, OutputKind, OutputPlan, PlanNodeId, ResponseKey, SelectionSet, SelectionSetId, TypeSwitch,
    TypeSwitchId,
};
use weir_engine::source::Ids;
use weir_language::schema::{FieldId, Schema, TypeId, TypeKind, builtin};

/// Message about a field whose resolver or record field does not fit.
pub(crate) type Misfit = (FieldId, String);

/// All mismatches.
pub(crate) fn check(library: &Arc<Library>) -> Vec<Misfit> {
    let schema = &library.schema;
    let output = everything(library);
    let host = Arc::clone(library) as Arc<dyn RecordHost>;
    let bindings = Bindings::new(schema, &Arc::new(Ids::default()), &output, Some(host));
    let mut binder = Binder::new(&output, bindings);
    let mut misfits: Vec<Misfit> = Vec::new();
    let first = output.sets.iter().map(|it| it.range().end).max().unwrap_or(0);
    for (at, output_field) in output.fields.iter().enumerate().skip(first) {
        let Some(entry) = library.parts.field(output_field.field) else { continue };
        let bound = entry
            .resolver
            .resolve
            .bind(&mut binder, Spot { field: at as u32, output_field, ty: output_field.ty });
        misfits.extend(bound.err().map(|it| (output_field.field, it.message)));
    }
    let refused = binder.finish().err().unwrap_or_default();
    misfits.extend(refused.into_iter().map(|it| (output.fields[it.field as usize].field, it.message)));
    let mut known = std::collections::HashSet::new();
    misfits.retain(|it| known.insert(it.clone()));
    misfits
}

/// The sets of all object types with all their fields, and behind them the fields that are resolved separately.
pub(crate) fn everything(library: &Library) -> OutputPlan {
    let schema = &library.schema;
    let mut output = OutputPlan::default();
    let types = || (builtin::TYPES..schema.types.len() as u32).map(TypeId);
    let mut sets = vec![None; schema.types.len()];
    let mut switches = vec![None; schema.types.len()];
    for ty in types().filter(|it| schema.ty(*it).kind == TypeKind::Object) {
        sets[ty.index()] = Some(SelectionSetId(output.sets.len() as u32));
        output.sets.push(SelectionSet { on: ty, start: 0, len: 0, hidden: Vec::new(), is_entity: false });
    }
    for ty in types().filter(|it| matches!(schema.ty(*it).kind, TypeKind::Interface | TypeKind::Union)) {
        switches[ty.index()] = Some(TypeSwitchId(output.type_switches.len() as u32));
        let mut possible = schema.possible_types(ty).to_vec();
        possible.sort_unstable();
        let possible = possible.into_iter().filter_map(|it| Some((it, sets[it.index()]?)));
        output.type_switches.push(TypeSwitch { on: ty, sets: possible.collect() });
    }
    let own_kind = |field: FieldId| {
        let base = schema.field(field).ty.base;
        let set = sets[base.index()].map(OutputKind::Object);
        set.or(switches[base.index()].map(OutputKind::Abstract)).unwrap_or(OutputKind::Leaf)
    };
    let mut separate = Vec::new();
    for at in 0..output.sets.len() {
        let on = output.sets[at].on;
        output.sets[at].start = output.fields.len() as u32;
        for field in schema.ty(on).fields.range().map(|it| FieldId(it as u32)) {
            let mut kind = own_kind(field);
            if library.parts.field(field).is_some() {
                separate.push((field, kind));
                kind = OutputKind::Foreign { node: PlanNodeId(0), field: 0, column: 0 };
            }
            output.fields.push(member(schema, field, kind));
            output.sets[at].len += 1;
        }
    }
    output.fields.extend(separate.into_iter().map(|(field, kind)| member(schema, field, kind)));
    output
}

fn member(schema: &Schema, field: FieldId, member: OutputKind) -> OutputField {
    OutputField {
        key: ResponseKey::new(schema.field_name(field)),
        field,
        ty: schema.field(field).ty,
        arguments_start: 0,
        arguments_len: 0,
        member,
        same_as: None,
        offset: 0,
        membership: 0,
    }
}
