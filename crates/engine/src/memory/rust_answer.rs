//! Traits of Rust values in answers: a value is bound to an output plan once, then writes itself or becomes columns.
//!
//! The calls are static: a list of records is one loop over a `match`, without a dynamic call per item or field.
//!
//! **Invariant:** `write` and `columns` are only called with places that `bind` accepted for the same type, so kinds
//! are not asked for again; only values (null, range, enum) are.

use super::binder::{Binder, Bindings, Scope, Unbound};
use super::host::AnswerError;
use super::spot::Spot;
use crate::answer::field_error::{FieldError, PathError, Step};
use crate::answer::output_plan::{OutputField, OutputKind, OutputPlan};
use crate::answer::rows::{Bitmap, CellError, Column, Data, Texts};
use crate::answer::write::fault::Fault;
use crate::answer::write::out::Out;
use std::any::Any;
use std::sync::Arc;
use weir_language::schema::{ScalarReader, Schema, TypeId, TypeKind, builtin};

/// The way of a value into the response.
pub struct Writer<'w> {
    /// The source's own schema.
    pub(super) schema: &'w Schema,
    pub(super) output: &'w OutputPlan,
    pub(super) bindings: &'w Bindings,
    pub(super) out: &'w mut Out,
    /// Paths are kept backwards until the root is reached.
    pub(super) errors: &'w mut Vec<PathError>,
}

/// An item of a list, for a filter.
#[derive(Clone, Copy)]
pub enum ItemObject<'v> {
    /// It is null, or an error: it stays.
    None,
    /// It is this object.
    Object(&'v dyn Any),
    /// It is no object, or one that does not show itself.
    Opaque,
}

/// A Rust value that can stand in an answer.
pub trait Answer {
    /// Checks that values of this type fit `spot` and notes what writing them needs.
    /// # Errors
    /// The type mismatch.
    fn bind(binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound>;
    /// Writes the value. `false`: it failed and the error is noted; what was written is cut off by the caller.
    fn write(&self, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool;
    /// The values as a column, a row each; `None` is null.
    fn column(values: &[Option<&Self>], spot: Spot<'_>, scope: Scope<'_>) -> Column;

    /// The object that the value is or holds, for a filter.
    fn object(&self) -> ItemObject<'_>
    where
        Self: 'static,
    {
        ItemObject::Opaque
    }
    /// Collects the objects among the items of a list. `false`: it is no list, or one that cannot be filtered.
    fn items<'v>(&'v self, found: &mut Vec<&'v dyn Any>) -> bool
    where
        Self: 'static,
    {
        let _ = found;
        false
    }
    /// Leaves out those items whose verdict is `false`; there is a verdict per object that [`Answer::items`] collects, in order.
    fn retain(&mut self, verdicts: &mut dyn Iterator<Item = bool>)
    where
        Self: 'static,
    {
        let _ = verdicts;
    }

    /// Writes `"key":value,`.
    #[inline]
    fn write_member(&self, field: u32, output_field: &OutputField, writer: &mut Writer<'_>) -> bool {
        writer.member(field, output_field, |spot, writer| self.write(spot, writer))
    }

    /// Writes `items` with a comma after each; `spot` is the place of an item.
    #[inline]
    fn write_items<'i>(items: impl Iterator<Item = &'i Self>, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool
    where
        Self: Sized + 'i,
    {
        for (index, item) in items.enumerate() {
            if !writer.item(index as u32, spot, |writer| item.write(spot, writer)) {
                return false;
            }
        }
        true
    }
}

impl<'w> Writer<'w> {
    /// Writes to `out` and notes errors, whose paths are from the value to the root.
    pub fn new(
        output: &'w OutputPlan,
        bindings: &'w Bindings,
        out: &'w mut Out,
        errors: &'w mut Vec<PathError>,
    ) -> Self {
        Self { schema: &bindings.schema, output, bindings, out, errors }
    }

    /// The buffer.
    pub fn out(&mut self) -> &mut Out {
        self.out
    }
}

impl Writer<'_> {
    /// A value, or null in its place if it failed and the place may be null.
    #[inline]
    pub fn position(&mut self, spot: Spot<'_>, write: impl FnOnce(&mut Self) -> bool) -> bool {
        let mark = self.out.len();
        if write(self) {
            return true;
        }
        if spot.ty.is_non_null() {
            return false;
        }
        self.out.truncate(mark);
        self.out.null();
        true
    }

    /// `"key":value,` of the member at `field`, by what `write` writes.
    #[inline]
    pub(super) fn member(
        &mut self,
        field: u32,
        output_field: &OutputField,
        write: impl FnOnce(Spot<'_>, &mut Self) -> bool,
    ) -> bool {
        self.out.key(&output_field.key);
        let before = self.errors.len();
        let spot = Spot { field, output_field, ty: output_field.ty };
        let ok = self.position(spot, |writer| write(spot, writer));
        self.out.comma();
        if self.errors.len() != before {
            self.step(before, Step::Field(field));
        }
        ok
    }

    /// An item of a list, and its comma.
    #[inline]
    pub fn item(&mut self, index: u32, spot: Spot<'_>, write: impl FnOnce(&mut Self) -> bool) -> bool {
        let before = self.errors.len();
        let ok = self.position(spot, write);
        if self.errors.len() != before {
            self.step(before, Step::Index(index));
        }
        self.out.comma();
        ok
    }

    /// `null` where it may stand.
    #[cold]
    pub fn null(&mut self, spot: Spot<'_>) -> bool {
        if spot.ty.is_non_null() {
            return self.fail(spot, Fault::Null);
        }
        self.out.null();
        true
    }

    #[cold]
    #[inline(never)]
    pub(super) fn fail(&mut self, spot: Spot<'_>, fault: Fault<'_>) -> bool {
        let field = self.bindings.field(spot.output_field.field);
        let base = self.bindings.ty(spot.output_field.ty.base);
        self.report_error(spot, fault.error(self.schema, field, base))
    }

    /// Records `error` for the value at `spot`.
    #[cold]
    #[inline(never)]
    pub fn report_error(&mut self, spot: Spot<'_>, error: FieldError) -> bool {
        if self.errors.len() < crate::answer::write::row_writer::ERRORS_MAX {
            self.errors.push(PathError { error, path: Vec::new(), field: spot.field, is_undone: false });
        }
        false
    }

    #[cold]
    #[inline(never)]
    pub(super) fn step(&mut self, before: usize, step: Step) {
        for error in &mut self.errors[before..] {
            error.path.push(step);
        }
    }
}

/// Bitmap of the nulls in `values`.
pub(super) fn nulls<T>(values: &[Option<T>]) -> Bitmap {
    let mut nulls = Bitmap::default();
    for (row, _) in values.iter().enumerate().filter(|(_, value)| value.is_none()) {
        nulls.set(row);
    }
    nulls
}

/// Bitmap of the nulls in `values`; `push` gets the other values, and `filler` for nulls.
pub(super) fn leaves<T: Copy>(values: &[Option<T>], filler: T, mut push: impl FnMut(T)) -> Bitmap {
    let mut nulls = Bitmap::default();
    for (row, value) in values.iter().enumerate() {
        if value.is_none() {
            nulls.set(row);
        }
        push(value.unwrap_or(filler));
    }
    nulls
}

/// Writes an integer that may need more than the 32 bits of `Int`.
pub(super) fn write_wide(value: i64, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool {
    if i32::try_from(value).is_err() && spot.is_int(writer.bindings) {
        return writer.fail(spot, Fault::WideInt(value.into()));
    }
    writer.out.int(value);
    true
}

/// Widens to the number with the shortest digits: 0.1 stays 0.1 instead of its nearest binary fraction of 32 bits.
fn widen_float(value: f32) -> f64 {
    if !value.is_finite() {
        return value.into();
    }
    zmij::Buffer::new().format_finite(value).parse().unwrap_or_else(|_| value.into())
}

/// Leaves that are numbers of Rust or `bool`: how they are bound, written and kept.
macro_rules! leaf {
    (@kept $value:ident) => { $value.into() };
    (@kept $value:ident $kept:path) => { $kept($value) };
    ($($rust:ty: $readers:pat, $data:ident $(by $kept:path)?, |$spot:ident, $value:ident, $writer:ident, $key:ident| $member:expr, $alone:expr;)*) => { $(
        impl Answer for $rust {
            fn bind(binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
                binder.leaf(spot, stringify!($rust), |reader| matches!(reader, Some(ScalarReader::Json | $readers)))
            }
            #[inline]
            fn write(&self, $spot: Spot<'_>, $writer: &mut Writer<'_>) -> bool {
                let $value = *self;
                $alone
            }
            #[inline]
            fn write_member(&self, field: u32, output_field: &OutputField, $writer: &mut Writer<'_>) -> bool {
                let $value = *self;
                let $key = &output_field.key;
                if $member {
                    return true;
                }
                $writer.member(field, output_field, |spot, writer| self.write(spot, writer))
            }
            fn column(values: &[Option<&Self>], _: Spot<'_>, _: Scope<'_>) -> Column {
                let mut data = Vec::with_capacity(values.len());
                let nulls = leaves(values, &<$rust>::default(), |&value| data.push(leaf!(@kept value $($kept)?)));
                Column { nulls, data: Data::$data(data), ..Column::default() }
            }
        }
    )* };
}
leaf! {
    i32: ScalarReader::Int | ScalarReader::Float | ScalarReader::BigInt | ScalarReader::Decimal, Int,
        |_spot, value, writer, key| { writer.out.member_int(key, value.into()); true },
        { writer.out.int(value.into()); true };
    i8: ScalarReader::Int | ScalarReader::Float | ScalarReader::BigInt | ScalarReader::Decimal, Int,
        |_spot, value, writer, key| { writer.out.member_int(key, value.into()); true },
        { writer.out.int(value.into()); true };
    i16: ScalarReader::Int | ScalarReader::Float | ScalarReader::BigInt | ScalarReader::Decimal, Int,
        |_spot, value, writer, key| { writer.out.member_int(key, value.into()); true },
        { writer.out.int(value.into()); true };
    u8: ScalarReader::Int | ScalarReader::Float | ScalarReader::BigInt | ScalarReader::Decimal, Int,
        |_spot, value, writer, key| { writer.out.member_int(key, value.into()); true },
        { writer.out.int(value.into()); true };
    u16: ScalarReader::Int | ScalarReader::Float | ScalarReader::BigInt | ScalarReader::Decimal, Int,
        |_spot, value, writer, key| { writer.out.member_int(key, value.into()); true },
        { writer.out.int(value.into()); true };
    u32: ScalarReader::Int | ScalarReader::BigInt | ScalarReader::Decimal, Int,
        |spot, value, writer, key|
        i32::try_from(value).is_ok() && { writer.out.member_int(key, value.into()); true },
        write_wide(value.into(), spot, writer);
    i64: ScalarReader::Int | ScalarReader::BigInt | ScalarReader::Decimal, Int,
        |spot, value, writer, key|
        i32::try_from(value).is_ok() && { writer.out.member_int(key, value); true },
        write_wide(value, spot, writer);
    f32: ScalarReader::Float | ScalarReader::Decimal, Float by widen_float,
        |spot, value, writer, key| writer.out.member_float(key, widen_float(value)),
        writer.out.float(widen_float(value)) || writer.fail(spot, Fault::NotFinite(value.into()));
    f64: ScalarReader::Float | ScalarReader::Decimal, Float,
        |spot, value, writer, key| writer.out.member_float(key, value),
        writer.out.float(value) || writer.fail(spot, Fault::NotFinite(value));
    bool: ScalarReader::Boolean, Bool,
        |_spot, value, writer, key| { writer.out.member_bool(key, value); true },
        { writer.out.bool(value); true };
}

impl Spot<'_> {
    /// True if the position takes 32 bits only.
    pub(super) fn is_int(&self, bindings: &Bindings) -> bool {
        bindings.ty(self.ty.base) == builtin::INT
    }
}

/// True if the position of the source's own type `ty` accepts `text`: enums have only their values.
#[inline]
pub(super) fn fits(schema: &Schema, ty: TypeId, text: &str) -> bool {
    if ty <= builtin::ID {
        return true;
    }
    let ty = schema.ty(ty);
    ty.kind != TypeKind::Enum
        || schema.enum_values[ty.members.range()].iter().any(|value| schema.str(value.name) == text)
}

impl Answer for str {
    fn bind(binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
        binder.leaf(spot, "text", |reader| {
            matches!(
                reader,
                None | Some(
                    ScalarReader::String
                        | ScalarReader::Id
                        | ScalarReader::Text
                        | ScalarReader::Moment
                        | ScalarReader::Json
                )
            )
        })
    }
    #[inline]
    fn write(&self, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool {
        if fits(writer.schema, writer.bindings.ty(spot.ty.base), self) {
            writer.out.string(self);
            return true;
        }
        writer.fail(spot, Fault::NoEnumValue(self.as_bytes()))
    }
    #[inline]
    fn write_member(&self, field: u32, output_field: &OutputField, writer: &mut Writer<'_>) -> bool {
        if output_field.ty.base <= builtin::ID {
            writer.out.member_text(&output_field.key, self.as_bytes());
            return true;
        }
        writer.member(field, output_field, |spot, writer| self.write(spot, writer))
    }
    fn column(values: &[Option<&Self>], _: Spot<'_>, _: Scope<'_>) -> Column {
        let bytes = values.iter().flatten().map(|it| it.len()).sum();
        let mut texts = Texts { bytes: Vec::with_capacity(bytes), ends: Vec::with_capacity(values.len()) };
        let nulls = leaves(values, "", |text| texts.push(text.as_bytes()));
        Column { nulls, data: Data::Text(texts), ..Column::default() }
    }
}

/// Implements [`Answer`] for pointers and wrappers by their content.
macro_rules! through {
    ($([$($of:tt)*] $outer:ty => $inner:ty, |$this:ident| $get:expr; { $($retain:tt)* })*) => { $(
        impl<$($of)*> Answer for $outer {
            fn bind(binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
                <$inner>::bind(binder, spot)
            }
            #[inline]
            fn write(&self, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool {
                let $this = self;
                <$inner>::write($get, spot, writer)
            }
            #[inline]
            fn write_member(&self, field: u32, output_field: &OutputField, writer: &mut Writer<'_>) -> bool {
                let $this = self;
                <$inner>::write_member($get, field, output_field, writer)
            }
            fn column(values: &[Option<&Self>], spot: Spot<'_>, scope: Scope<'_>) -> Column {
                let inner: Vec<Option<&$inner>> = values.iter().map(|value| value.map(|$this| $get)).collect();
                <$inner>::column(&inner, spot, scope)
            }
            fn object(&self) -> ItemObject<'_>
            where
                Self: 'static,
            {
                let $this = self;
                <$inner>::object($get)
            }
            $($retain)*
        }
    )* };
}
through! {
    [] String => str, |this| this.as_str(); {}
    [T: Answer + ?Sized] &T => T, |this| *this; {}
    [T: Answer + ?Sized] Box<T> => T, |this| &**this; {
        fn items<'v>(&'v self, found: &mut Vec<&'v dyn Any>) -> bool
        where
            Self: 'static,
        {
            T::items(self, found)
        }
        fn retain(&mut self, verdicts: &mut dyn Iterator<Item = bool>)
        where
            Self: 'static,
        {
            T::retain(self, verdicts);
        }
    }
    [T: Answer + ?Sized] Arc<T> => T, |this| &**this; {}
    [T: Answer] Vec<T> => [T], |this| this.as_slice(); {
        fn items<'v>(&'v self, found: &mut Vec<&'v dyn Any>) -> bool
        where
            Self: 'static,
        {
            self.iter().all(|item| match item.object() {
                ItemObject::None => true,
                ItemObject::Object(object) => {
                    found.push(object);
                    true
                }
                ItemObject::Opaque => false,
            })
        }
        fn retain(&mut self, verdicts: &mut dyn Iterator<Item = bool>)
        where
            Self: 'static,
        {
            self.retain(|item| match item.object() {
                ItemObject::Object(_) => verdicts.next() != Some(false),
                ItemObject::None | ItemObject::Opaque => true,
            });
        }
    }
}

/// The part of [`Answer`] that filters need, of a type that holds a `T` or none.
macro_rules! of_the_held_value {
    () => {
        fn object(&self) -> ItemObject<'_>
        where
            Self: 'static,
        {
            self.as_ref().map_or(ItemObject::None, T::object)
        }
        fn items<'v>(&'v self, found: &mut Vec<&'v dyn Any>) -> bool
        where
            Self: 'static,
        {
            self.iter().all(|it| it.items(found))
        }
        fn retain(&mut self, verdicts: &mut dyn Iterator<Item = bool>)
        where
            Self: 'static,
        {
            self.iter_mut().for_each(|it| it.retain(verdicts));
        }
    };
}

impl<T: Answer> Answer for Option<T> {
    fn bind(binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
        T::bind(binder, spot)
    }
    #[inline]
    fn write(&self, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool {
        match self {
            Some(value) => value.write(spot, writer),
            None => writer.null(spot),
        }
    }
    #[inline]
    fn write_member(&self, field: u32, output_field: &OutputField, writer: &mut Writer<'_>) -> bool {
        match self {
            Some(value) => value.write_member(field, output_field, writer),
            None if !output_field.ty.is_non_null() => {
                writer.out.member_null(&output_field.key);
                true
            }
            None => {
                let before = writer.errors.len();
                writer.fail(Spot { field, output_field, ty: output_field.ty }, Fault::Null);
                writer.step(before, Step::Field(field));
                false
            }
        }
    }
    fn column(values: &[Option<&Self>], spot: Spot<'_>, scope: Scope<'_>) -> Column {
        let inner: Vec<Option<&T>> = values.iter().map(|value| value.and_then(Option::as_ref)).collect();
        T::column(&inner, spot, scope)
    }
    of_the_held_value!();
}

impl<T: Answer, E: AnswerError> Answer for Result<T, E> {
    fn bind(binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
        T::bind(binder, spot)
    }
    #[inline]
    fn write(&self, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool {
        match self {
            Ok(value) => value.write(spot, writer),
            Err(error) => {
                let error = error.field_error(writer.bindings.host());
                writer.report_error(spot, error)
            }
        }
    }
    fn column(values: &[Option<&Self>], spot: Spot<'_>, scope: Scope<'_>) -> Column {
        let inner: Vec<Option<&T>> =
            values.iter().map(|value| value.and_then(|it| it.as_ref().ok())).collect();
        let mut column = T::column(&inner, spot, scope);
        for (row, value) in values.iter().enumerate() {
            if let Some(Err(error)) = value {
                let error = error.field_error(scope.bindings.host());
                column.errors.push(CellError { row: row as u32, error });
            }
        }
        column.errors.sort_by_key(|cell| cell.row);
        column
    }
    of_the_held_value!();
}

impl<T: Answer> Answer for [T] {
    fn bind(binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
        let ty = spot.ty.item().ok_or_else(|| binder.unfit(spot, "a list"))?;
        T::bind(binder, Spot { ty, ..spot })
    }
    #[inline]
    fn write(&self, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool {
        let Some(ty) = spot.ty.item() else { return writer.fail(spot, Fault::Broken) };
        writer.out.open(b'[');
        let ok = T::write_items(self.iter(), Spot { ty, ..spot }, writer);
        writer.out.close(b']');
        ok
    }
    fn column(values: &[Option<&Self>], spot: Spot<'_>, scope: Scope<'_>) -> Column {
        let ty = spot.ty.item().unwrap_or(spot.ty);
        let mut items = Vec::new();
        let mut offsets = Vec::with_capacity(values.len() + 1);
        offsets.push(0);
        let nulls = leaves(values, &[], |list| {
            items.extend(list.iter().map(Some));
            offsets.push(items.len() as u32);
        });
        let items = Box::new(T::column(&items, Spot { ty, ..spot }, scope));
        Column { nulls, data: Data::List { offsets, items }, ..Column::default() }
    }
}

/// Bytes that are JSON already: documents, numbers whose digits matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawJson(pub Box<str>);

impl Answer for RawJson {
    fn bind(binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
        binder.leaf(spot, "JSON", |reader| reader.is_some())
    }
    fn write(&self, _: Spot<'_>, writer: &mut Writer<'_>) -> bool {
        writer.out.raw(self.0.as_bytes());
        true
    }
    fn column(values: &[Option<&Self>], _: Spot<'_>, _: Scope<'_>) -> Column {
        let mut texts = Texts::default();
        let values: Vec<Option<&str>> = values.iter().map(|it| it.map(|json| &*json.0)).collect();
        let nulls = leaves(&values, "null", |text| texts.push(text.as_bytes()));
        Column { nulls, data: Data::Json(texts), ..Column::default() }
    }
}

/// The set of an object called `name` (in the source's schema) at `spot`, and the graph's id of its type.
pub(super) fn set_of(
    spot: Spot<'_>,
    bindings: &Bindings,
    name: &str,
) -> Option<crate::answer::output_plan::SelectionSetId> {
    match spot.output_field.member {
        OutputKind::Object(set) => Some(set),
        OutputKind::Abstract(choice) => bindings.type_and_set(choice, name).map(|it| it.1),
        OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => None,
    }
}
