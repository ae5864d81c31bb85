//! Offsets in the text of an operation, for the locations of errors.

use super::field_error::Step;
use super::output_plan::{OutputKind, OutputPlan, SelectionSetId, TypeSwitchId};

/// Byte of the text where the last member of `path` was first written.
///
/// Members below one that is `same_as` another stand in the path by the other's sets: each is looked up at the same place
/// of the member's own sets. **Cost:** for errors only.
pub(crate) fn offset_at(output: &OutputPlan, path: &[Step]) -> Option<u32> {
    let fields = path.iter().filter_map(|step| match step {
        Step::Field(field) => Some(*field),
        Step::Index(_) => None,
    });
    let mut above: Option<(OutputKind, OutputKind)> = None;
    let mut offset = None;
    for field in fields {
        let own = above.and_then(|(shared, own)| counterpart(output, shared, own, field)).unwrap_or(field);
        offset = Some(output.fields[own as usize].offset);
        let own_kind = output.own_kinds.binary_search_by_key(&own, |it| it.0);
        let own_kind = own_kind.map_or(output.fields[own as usize].member, |at| output.own_kinds[at].1);
        above = Some((output.fields[field as usize].member, own_kind));
    }
    offset
}

/// The member of `own` that corresponds to `field` of `shared`, an equal selection.
fn counterpart(output: &OutputPlan, shared: OutputKind, own: OutputKind, field: u32) -> Option<u32> {
    let found = |(shared, own): (SelectionSetId, SelectionSetId)| {
        let place = output.set(shared).range().position(|at| at == field as usize)?;
        output.set(own).range().nth(place).map(|at| at as u32)
    };
    match (resolve_foreign_kind(output, shared), resolve_foreign_kind(output, own)) {
        (OutputKind::Object(shared), OutputKind::Object(own)) => found((shared, own)),
        (OutputKind::Abstract(shared), OutputKind::Abstract(own)) => {
            let sets =
                |choice: TypeSwitchId| output.type_switches[choice.0 as usize].sets.iter().map(|it| it.1);
            sets(shared).zip(sets(own)).find_map(found)
        }
        _ => None,
    }
}

/// Kind of the value itself: for a foreign member that of the member which answers it.
fn resolve_foreign_kind(output: &OutputPlan, kind: OutputKind) -> OutputKind {
    match kind {
        OutputKind::Foreign { field, .. } => output.fields[field as usize].member,
        OutputKind::Object(_) | OutputKind::Abstract(_) | OutputKind::Leaf | OutputKind::Constant { .. } => {
            kind
        }
    }
}
