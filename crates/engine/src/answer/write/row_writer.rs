//! Rows to bytes: walks a [`OutputPlan`] over [`Column`]s.
//!
//! A member that fails returns `false` upwards; the nearest nullable position cuts the buffer back to where it began and
//! writes `null`. Paths are not tracked: a frame compares the number of errors around its child and adds its own step
//! only if it grew.
//!
//! **Invariant:** what `false` leaves in the buffer behind its caller's mark is cut off by the caller; every
//! `false` at a non-null position has an error behind it, or belongs to a node whose error is reported already.
//!
//! **Cost:** no allocation per row or member without errors; depth of recursion is the output plan's.
//! Source: GraphQL specification, sections 6.4.3 (value completion) and 6.4.4 (handling execution errors).

use super::fault::Fault;
use super::out::Out;
use super::parting::{Parting, Undivided};
use crate::answer::field_error::{PathError, Step};
use crate::answer::output_plan::{OutputField, OutputKind, OutputPlan, PlanNodeId, SelectionSetId};
use crate::answer::rows::{Column, Data, NO_PLACE, Rows, Table, Variants};
use std::ops::Range;
use weir_language::schema::{Schema, TypeKind, TypeRef, builtin};

/// Upper bound of the errors of one root member: further failures are nulls without an error, so that memory stays bounded.
pub const ERRORS_MAX: usize = 1000;

/// Constants of the writing of a response.
#[derive(Clone, Copy)]
pub struct Writing<'r> {
    /// The graph's schema, whose ids the output plan holds.
    pub schema: &'r Schema,
    /// Form of the answer.
    pub output: &'r OutputPlan,
    /// By `PlanNodeId`: the reply of each node below the root, a column per member. `None`: it failed as a whole, which is reported
    /// already; its members are null.
    pub children: &'r [Option<Rows>],
}

/// Writes `"key":value,` of the member at `field` for `row` of `column`.
///
/// `false`, with nothing written: a non-null member failed and the caller has to bubble. Of a member that is `same_as`
/// another `column` is that other's. Paths in `errors` begin with that member.
pub fn member(
    writing: &Writing<'_>,
    out: &mut Out,
    field: u32,
    column: &Column,
    row: usize,
    errors: &mut Vec<PathError>,
) -> bool {
    member_in(&mut Undivided, writing, out, field, (column, row), errors)
}

/// Writes a member like [`member`], for one part of an answer.
pub(crate) fn member_in<P: Parting>(
    part: &mut P,
    writing: &Writing<'_>,
    out: &mut Out,
    field: u32,
    (column, row): (&Column, usize),
    errors: &mut Vec<PathError>,
) -> bool {
    let place = &writing.output.fields[field as usize];
    let mark = out.len();
    let before = errors.len();
    let noted = part.note_count();
    let mut writer = RowWriter { writing, out, errors, errors_from: before, part };
    let ok = match place.same_as {
        Some(earlier) => writer.repeat(field, place, earlier, column, row),
        None => writer.member(field, place, column, row),
    };
    for error in &mut errors[before..] {
        error.path.reverse();
    }
    settle(part, out, ok, (mark, noted))
}

/// Writes the members of the object in `row` of `table` that `part` has: `{…}`. Paths in `errors` and of what is noted begin
/// below the object, which stands at `field`.
///
/// `false`, with nothing written or noted: a non-null member failed.
pub(crate) fn object_in<P: Parting>(
    part: &mut P,
    writing: &Writing<'_>,
    out: &mut Out,
    (field, set): (u32, SelectionSetId),
    (table, row): (&Table, usize),
    errors: &mut Vec<PathError>,
) -> bool {
    let output_field = &writing.output.fields[field as usize];
    let mark = out.len();
    let before = errors.len();
    let noted = part.note_count();
    let mut writer = RowWriter { writing, out, errors, errors_from: before, part };
    let ok = writer.object(
        ValuePosition { field, output_field, member: OutputKind::Object(set) },
        set,
        table,
        row,
    );
    for error in &mut errors[before..] {
        error.path.reverse();
    }
    settle(part, out, ok, (mark, noted))
}

/// Writes an item of the list that is the member at `field`, or null if it may be: the value in `row` of `items`, whose kind is
/// `member`. Paths in `errors` and of what is noted begin below the item.
///
/// `false`, with nothing written or noted: a non-null item failed.
pub(crate) fn item_in<P: Parting>(
    part: &mut P,
    writing: &Writing<'_>,
    out: &mut Out,
    (field, member): (u32, OutputKind),
    (items, row): (&Column, usize),
    errors: &mut Vec<PathError>,
) -> bool {
    let output_field = &writing.output.fields[field as usize];
    let Some(ty) = output_field.ty.item() else { return false };
    let mark = out.len();
    let before = errors.len();
    let noted = part.note_count();
    let mut writer = RowWriter { writing, out, errors, errors_from: before, part };
    let ok = writer.position(ValuePosition { field, output_field, member }, ty, items, row);
    for error in &mut errors[before..] {
        error.path.reverse();
    }
    settle(part, out, ok, (mark, noted))
}

/// Keeps what was written and noted since `mark` and `noted`, or takes it back if it is not `ok`. Returns `ok`.
fn settle<P: Parting>(part: &mut P, out: &mut Out, ok: bool, (mark, noted): (usize, usize)) -> bool {
    if ok {
        part.reached_root(noted);
    } else {
        out.truncate(mark);
        part.forget(noted);
    }
    ok
}

/// Position of a value: its type, the place of its error, and its selections.
#[derive(Clone, Copy)]
struct ValuePosition<'w> {
    field: u32,
    output_field: &'w OutputField,
    member: OutputKind,
}

struct RowWriter<'w, P> {
    writing: &'w Writing<'w>,
    out: &'w mut Out,
    /// Paths are kept backwards until the root is reached.
    errors: &'w mut Vec<PathError>,
    errors_from: usize,
    part: &'w mut P,
}

impl<'w, P: Parting> RowWriter<'w, P> {
    /// `"key":value,`; after `false` the buffer holds part of it.
    #[inline]
    fn member(&mut self, field: u32, output_field: &'w OutputField, column: &Column, row: usize) -> bool {
        let cell = match output_field.member {
            OutputKind::Constant { start, end } => {
                self.out.span(&self.writing.output.constants, start as usize, end as usize);
                return true;
            }
            OutputKind::Leaf => Some((column, row)),
            OutputKind::Foreign { node, column: own, .. } => self.foreign_cell(node, own, column, row),
            OutputKind::Object(_) | OutputKind::Abstract(_) => None,
        };
        let cell = cell.filter(|_| !output_field.ty.wraps.is_list());
        cell.is_some_and(|(column, row)| self.leaf_member(output_field, column, row))
            || self.any_member(field, output_field, column, row)
    }

    /// A member of any kind, sound or not.
    fn any_member(&mut self, field: u32, output_field: &'w OutputField, column: &Column, row: usize) -> bool {
        self.out.key(&output_field.key);
        self.write_value_after_key(
            ValuePosition { field, output_field, member: output_field.member },
            column,
            row,
        )
    }

    /// Column and row in which `node` answered the foreign member in `row` of `column`; `None` if there are none.
    #[inline]
    fn foreign_cell(
        &self,
        node: PlanNodeId,
        own: u32,
        column: &Column,
        row: usize,
    ) -> Option<(&'w Column, usize)> {
        let Data::Foreign(places) = &column.data else { return None };
        let at = *places.get(row).filter(|it| **it != NO_PLACE)?;
        let reply = self.writing.children.get(node.0 as usize)?.as_ref()?;
        Some((reply.columns.get(own as usize)?, at as usize))
    }

    /// A member that equals an earlier one but for its key: its values stand in the other's column.
    fn repeat(
        &mut self,
        field: u32,
        output_field: &'w OutputField,
        earlier: u32,
        column: &Column,
        row: usize,
    ) -> bool {
        let earlier = &self.writing.output.fields[earlier as usize];
        self.out.key(&output_field.key);
        self.write_value_after_key(
            ValuePosition { field, output_field: earlier, member: earlier.member },
            column,
            row,
        )
    }

    /// The value of a member whose key is written, and its comma.
    fn write_value_after_key(&mut self, place: ValuePosition<'w>, column: &Column, row: usize) -> bool {
        let before = self.errors.len();
        let noted = self.part.note_count();
        let ok = self.position(place, place.output_field.ty, column, row);
        self.out.comma();
        if self.errors.len() != before {
            self.step(before, Step::Field(place.field));
        }
        self.part.step(noted, Step::Field(place.field));
        ok
    }

    /// A value, or null in its place if it failed and the place may be null.
    fn position(&mut self, place: ValuePosition<'w>, ty: TypeRef, column: &Column, row: usize) -> bool {
        let mark = self.out.len();
        let noted = self.part.note_count();
        if self.value(place, ty, column, row) {
            return true;
        }
        if ty.is_non_null() {
            return false;
        }
        self.part.forget(noted);
        self.out.truncate(mark);
        self.out.null();
        true
    }

    /// A value; `false` if it failed, with the error noted.
    fn value(&mut self, place: ValuePosition<'w>, ty: TypeRef, column: &Column, row: usize) -> bool {
        if !column.nulls.is_empty() && column.nulls.get(row) {
            return self.null(place, ty, column, row);
        }
        match &column.data {
            Data::List { offsets, items } => match ty.item() {
                Some(item) => self.list(place, item, offsets, items, row),
                None => self.fail(place, Fault::Broken),
            },
            Data::Foreign(places) => self.foreign(place, ty, column, places, row),
            Data::Empty => self.null(place, ty, column, row),
            _ if ty.wraps.is_list() => self.fail(place, Fault::Broken),
            Data::Object(table) => match place.member {
                OutputKind::Object(set) => self.object(place, set, table, row),
                OutputKind::Abstract(_)
                | OutputKind::Leaf
                | OutputKind::Constant { .. }
                | OutputKind::Foreign { .. } => self.fail(place, Fault::Broken),
            },
            Data::Abstract(variants) => self.variant(place, variants, row),
            Data::Bool(_) | Data::Int(_) | Data::Float(_) | Data::Text(_) | Data::Json(_) => {
                self.leaf(place, &column.data, row)
            }
        }
    }

    fn list(
        &mut self,
        place: ValuePosition<'w>,
        ty: TypeRef,
        offsets: &[u32],
        items: &Column,
        row: usize,
    ) -> bool {
        let (Some(&start), Some(&end)) = (offsets.get(row), offsets.get(row + 1)) else {
            return self.fail(place, Fault::Broken);
        };
        let Some(len) = self.part.items(place.output_field, ty, end.saturating_sub(start)) else {
            return self.fail(place, Fault::InitialCount);
        };
        self.out.open(b'[');
        for item in start..start + len {
            let before = self.errors.len();
            let noted = self.part.note_count();
            let ok = self.position(place, ty, items, item as usize);
            if self.errors.len() != before {
                self.step(before, Step::Index(item - start));
            }
            self.part.step(noted, Step::Index(item - start));
            if !ok {
                return false;
            }
            self.out.comma();
        }
        self.out.close(b']');
        true
    }

    fn object(&mut self, place: ValuePosition<'w>, set: SelectionSetId, table: &Table, row: usize) -> bool {
        let output = self.writing.output;
        let range = output.set(set).range();
        let first = range.start;
        let members = &output.fields[range];
        if output.set(set).is_entity {
            return self.entity(place, members, table, row);
        }
        if table.columns.len() < members.len() || row >= table.rows as usize {
            return self.fail(place, Fault::Broken);
        }
        self.out.open(b'{');
        self.part.enter(set);
        for (at, (output_field, column)) in members.iter().zip(&table.columns).enumerate() {
            if !self.part.holds(output_field) {
                continue;
            }
            let field = (first + at) as u32;
            let ok = match output_field.same_as {
                None => self.member(field, output_field, column, row),
                Some(earlier) => {
                    let column = &table.columns[earlier as usize - first];
                    self.repeat(field, output_field, earlier, column, row)
                }
            };
            if !ok {
                return false;
            }
        }
        self.out.close(b'}');
        true
    }

    /// The object to which one of `members` leads.
    fn entity(
        &mut self,
        place: ValuePosition<'w>,
        members: &'w [OutputField],
        table: &Table,
        row: usize,
    ) -> bool {
        for (output_field, column) in members.iter().zip(&table.columns) {
            let Data::Foreign(places) = &column.data else { continue };
            let has_failed = column.errors.binary_search_by_key(&(row as u32), |it| it.row).is_ok();
            if has_failed || places.get(row).is_some_and(|it| *it != NO_PLACE) {
                let position =
                    ValuePosition { field: place.field, output_field, member: output_field.member };
                return self.value(position, output_field.ty, column, row);
            }
        }
        self.out.null();
        true
    }

    fn variant(&mut self, place: ValuePosition<'w>, variants: &Variants, row: usize) -> bool {
        let (Some(&ty), Some(&at)) = (variants.types.get(row), variants.places.get(row)) else {
            return self.fail(place, Fault::Broken);
        };
        let set = match place.member {
            OutputKind::Abstract(choice) => self.writing.output.set_for_type(choice, ty),
            OutputKind::Object(set) if self.writing.output.set(set).on == ty => Some(set),
            OutputKind::Object(_)
            | OutputKind::Leaf
            | OutputKind::Constant { .. }
            | OutputKind::Foreign { .. } => None,
        };
        let Some(set) = set else {
            return self.fail(place, Fault::WrongType(ty));
        };
        match variants.tables.iter().find(|table| table.0 == ty) {
            Some((_, table)) => self.object(place, set, table, at as usize),
            None => self.fail(place, Fault::Broken),
        }
    }

    fn foreign(
        &mut self,
        place: ValuePosition<'w>,
        ty: TypeRef,
        column: &Column,
        places: &[u32],
        row: usize,
    ) -> bool {
        let (OutputKind::Foreign { node, field, column: own }, Some(&at)) = (place.member, places.get(row))
        else {
            return self.fail(place, Fault::Broken);
        };
        if at == NO_PLACE {
            return self.null(place, ty, column, row);
        }
        let answered = self.writing.output.fields[field as usize].member;
        match self.writing.children.get(node.0 as usize) {
            Some(Some(reply)) => match reply.columns.get(own as usize) {
                Some(column) => {
                    self.value(ValuePosition { member: answered, ..place }, ty, column, at as usize)
                }
                None => self.fail(place, Fault::Broken),
            },
            Some(None) | None => false,
        }
    }

    /// A leaf below a list, or anything whose key is written already.
    fn leaf(&mut self, place: ValuePosition<'w>, data: &Data, row: usize) -> bool {
        let fault = match data {
            Data::Int(values) => match values.get(row) {
                Some(&value) if Self::is_int(place.output_field, value) => {
                    self.out.int(value);
                    return true;
                }
                Some(&value) => Fault::WideInt(value.into()),
                None => Fault::Broken,
            },
            Data::Float(values) => match values.get(row) {
                Some(&value) if self.out.float(value) => return true,
                Some(&value) => Fault::NotFinite(value),
                None => Fault::Broken,
            },
            Data::Bool(values) => match values.get(row) {
                Some(&value) => {
                    self.out.bool(value);
                    return true;
                }
                None => Fault::Broken,
            },
            Data::Text(texts) => match texts.find(row) {
                Some(text) if self.is_text(place.output_field, text) => {
                    self.out.text(text);
                    return true;
                }
                Some(text) => Fault::NoEnumValue(text),
                None => Fault::Broken,
            },
            Data::Json(texts) => match texts.find(row) {
                Some(text) => {
                    self.out.raw(text);
                    return true;
                }
                None => Fault::Broken,
            },
            Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => {
                Fault::Broken
            }
        };
        self.fail(place, fault)
    }

    /// `"key":value,` of a sound leaf, or of a null that may stand there, in one go. `false`: it is neither, and nothing is written.
    #[inline]
    fn leaf_member(&mut self, output_field: &OutputField, column: &Column, row: usize) -> bool {
        if column.nulls.is_empty() || !column.nulls.get(row) {
            match &column.data {
                Data::Int(values) => match values.get(row) {
                    Some(&value) if Self::is_int(output_field, value) => {
                        self.out.member_int(&output_field.key, value);
                        return true;
                    }
                    Some(_) | None => {}
                },
                Data::Text(texts) => match texts.find(row) {
                    Some(text) if self.is_text(output_field, text) => {
                        self.out.member_text(&output_field.key, text);
                        return true;
                    }
                    Some(_) | None => {}
                },
                Data::Float(values) => match values.get(row) {
                    Some(&value) if self.out.member_float(&output_field.key, value) => return true,
                    Some(_) | None => {}
                },
                Data::Bool(values) => {
                    if let Some(&value) = values.get(row) {
                        self.out.member_bool(&output_field.key, value);
                        return true;
                    }
                }
                Data::Json(texts) => {
                    if let Some(Range { start, end }) = texts.find_range(row) {
                        self.out.key(&output_field.key);
                        self.out.span(&texts.bytes, start, end);
                        self.out.comma();
                        return true;
                    }
                }
                Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => {}
            }
        } else if !output_field.ty.is_non_null() && column.errors.is_empty() {
            self.out.member_null(&output_field.key);
            return true;
        }
        false
    }

    /// True if `value` fits the member's type: `Int` has 32 bits.
    #[inline]
    fn is_int(output_field: &OutputField, value: i64) -> bool {
        i32::try_from(value).is_ok() || output_field.ty.base != builtin::INT
    }

    /// True if `text` fits the member's type: enums have only their values.
    #[inline]
    fn is_text(&self, output_field: &OutputField, text: &[u8]) -> bool {
        if output_field.ty.base <= builtin::ID {
            return true;
        }
        let ty = self.writing.schema.ty(output_field.ty.base);
        ty.kind != TypeKind::Enum
            || self.writing.schema.enum_values[ty.members.range()]
                .iter()
                .any(|value| self.writing.schema.str(value.name).as_bytes() == text)
    }

    /// A null value: the cell's own error, or the place's if it may not be null.
    #[cold]
    fn null(&mut self, place: ValuePosition<'w>, ty: TypeRef, column: &Column, row: usize) -> bool {
        if let Ok(at) = column.errors.binary_search_by_key(&(row as u32), |cell| cell.row) {
            self.note(PathError {
                error: column.errors[at].error.clone(),
                path: Vec::new(),
                field: place.field,
                is_undone: false,
            });
            return false;
        }
        if ty.is_non_null() {
            return self.fail(place, Fault::Null);
        }
        self.out.null();
        true
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, place: ValuePosition<'w>, fault: Fault<'_>) -> bool {
        let error = fault.error(self.writing.schema, place.output_field.field, place.output_field.ty.base);
        self.note(PathError { error, path: Vec::new(), field: place.field, is_undone: false });
        false
    }

    fn note(&mut self, error: PathError) {
        if self.errors.len() - self.errors_from < ERRORS_MAX {
            self.errors.push(error);
        }
    }

    #[cold]
    #[inline(never)]
    fn step(&mut self, before: usize, step: Step) {
        for error in &mut self.errors[before..] {
            error.path.push(step);
        }
    }
}

#[cfg(test)]
mod tests;
