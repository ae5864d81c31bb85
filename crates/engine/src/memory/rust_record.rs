//! Structs and enums of Rust as objects and unions of GraphQL, by [`record!`](crate::record!) and
//! [`one_of!`](crate::one_of!).

use super::binder::{Binder, Binding, NO_FIELD, Scope, Unbound, WHOLE_OBJECT};
use super::rust_answer::{Answer, Writer, nulls, set_of};
use super::spot::Spot;
use crate::answer::output_plan::{OutputField, OutputKind, SelectionSetId};
use crate::answer::rows::{Column, Data, Table, Variants};
use crate::answer::write::fault::Fault;
use std::any::{Any, TypeId as RustType};
use std::sync::Arc;
use weir_language::schema::FieldId;

/// A struct whose fields answer those of an object type. Made by [`record!`](crate::record!).
pub trait Record: 'static {
    /// The object type's name.
    const NAME: &'static str;
    /// The fields, in order.
    const FIELDS: &'static [&'static str];
    /// Binds field `index`.
    /// # Errors
    /// The type mismatch.
    fn bind_field(index: usize, binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound>;
    /// Writes `"key":value,` of field `index`.
    fn write_field(
        &self,
        index: usize,
        field: u32,
        output_field: &OutputField,
        writer: &mut Writer<'_>,
    ) -> bool;
    /// Field `index` of all `records`.
    fn field_column(records: &[Option<&Self>], index: usize, spot: Spot<'_>, scope: Scope<'_>) -> Column;
}

/// Makes a struct an object type: names the fields that GraphQL can ask for.
///
/// ```
/// use weir_engine::record;
/// struct User { id: i32, born_in: i32, first: String, last: String }
/// record!(User { id, born_in as "bornIn", name = |user| format!("{} {}", user.first, user.last) });
/// ```
///
/// The struct's name is the object type's unless another is given: `record!(UserRow as "User" { id })`.
#[macro_export]
macro_rules! record {
    ($rust:ident { $($fields:tt)* }) => { $crate::record!(@ (stringify!($rust)) $rust { $($fields)* } {}); };
    ($rust:ident as $name:literal { $($fields:tt)* }) => { $crate::record!(@ ($name) $rust { $($fields)* } {}); };
    // The last braces hold bases: fields whose own fields follow those of the record. The derive macro writes them.
    (@ ($name:expr) $rust:ty {
        $($field:ident $(as $key:literal)? $(= |$this:ident| $value:expr)?),* $(,)?
    } { $($base:ident: $base_type:ty),* }) => {
        const _: () = {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum RecordFieldNumber { $($field),* }
            const RECORD_FIELDS: &[&str] = &[$($crate::record!(@name $field $($key)?)),*];
            impl $crate::memory::Record for $rust {
                const NAME: &'static str = $name;
                const FIELDS: &'static [&'static str] = {
                    const LEN: usize = RECORD_FIELDS.len() $(+ <$base_type as $crate::memory::Record>::FIELDS.len())*;
                    const ALL: [&str; LEN] = $crate::memory::join_names(
                        &[RECORD_FIELDS, $(<$base_type as $crate::memory::Record>::FIELDS),*],
                    );
                    &ALL
                };
                fn bind_field(
                    index: usize, binder: &mut $crate::memory::Binder<'_>, spot: $crate::memory::Spot<'_>,
                ) -> Result<(), $crate::memory::Unbound> {
                    $(if index == RecordFieldNumber::$field as usize {
                        return $crate::record!(@bind $rust, binder spot $field $(= |$this| $value)?);
                    })*
                    $crate::record!(@within index $($base_type => <$base_type as $crate::memory::Record>::bind_field(index, binder, spot)),*)
                }
                #[inline(always)]
                fn write_field(
                    &self, index: usize, field: u32, output_field: &$crate::answer::output_plan::OutputField, writer: &mut $crate::memory::Writer<'_>,
                ) -> bool {
                    $(if index == RecordFieldNumber::$field as usize {
                        return $crate::memory::Answer::write_member(
                            &$crate::record!(@get self $field $(= |$this| $value)?), field, output_field, writer,
                        );
                    })*
                    $crate::record!(@within index $($base_type => $crate::memory::Record::write_field(&self.$base, index, field, output_field, writer)),*)
                }
                fn field_column(
                    records: &[Option<&Self>], index: usize, spot: $crate::memory::Spot<'_>, scope: $crate::memory::Scope<'_>,
                ) -> $crate::answer::rows::Column {
                    $(if index == RecordFieldNumber::$field as usize {
                        return $crate::record!(@column $rust, records spot scope $field $(= |$this| $value)?);
                    })*
                    $crate::record!(@within index $($base_type => $crate::memory::Record::field_column(
                            &records.iter().map(|record| record.map(|it| &it.$base)).collect::<Vec<_>>(), index, spot, scope,
                        )),*)
                }
            }
            impl $crate::memory::Answer for $rust {
                fn bind(binder: &mut $crate::memory::Binder<'_>, spot: $crate::memory::Spot<'_>) -> Result<(), $crate::memory::Unbound> {
                    $crate::memory::bind_record::<Self>(binder, spot)
                }
                fn write(&self, spot: $crate::memory::Spot<'_>, writer: &mut $crate::memory::Writer<'_>) -> bool {
                    $crate::memory::write_records([self].into_iter(), spot, writer, false)
                }
                fn write_items<'i>(
                    items: impl Iterator<Item = &'i Self>, spot: $crate::memory::Spot<'_>, writer: &mut $crate::memory::Writer<'_>,
                ) -> bool {
                    $crate::memory::write_records(items, spot, writer, true)
                }
                fn column(values: &[Option<&Self>], spot: $crate::memory::Spot<'_>, scope: $crate::memory::Scope<'_>) -> $crate::answer::rows::Column {
                    $crate::memory::record_column(values, spot, scope)
                }
                fn object(&self) -> $crate::memory::ItemObject<'_> {
                    $crate::memory::ItemObject::Object(self)
                }
            }
        };
    };
    // The value of field `$index`, which is past the record's own fields: of the base that has it.
    (@within $index:ident $($base_type:ty => $value:expr),*) => {{
        let $index = $index - RECORD_FIELDS.len();
        $(let $index = match $index.checked_sub(<$base_type as $crate::memory::Record>::FIELDS.len()) {
            None => return $value,
            Some(rest) => rest,
        };)*
        let _ = $index;
        unreachable!("a binding has no other field")
    }};
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $key:literal) => { $key };
    (@get $it:ident $field:ident) => { $it.$field };
    (@get $it:ident $field:ident = |$this:ident| $value:expr) => {{ let $this = $it; $value }};
    (@bind $rust:ty, $binder:ident $spot:ident $field:ident) => {
        $crate::memory::bind_by(|it: &$rust| &it.$field, $binder, $spot)
    };
    (@bind $rust:ty, $binder:ident $spot:ident $field:ident = |$this:ident| $value:expr) => {
        $crate::memory::bind_by_value(
            || {
                let $this: &$rust = $crate::memory::never();
                $value
            },
            $binder,
            $spot,
        )
    };
    (@column $rust:ty, $records:ident $spot:ident $scope:ident $field:ident) => {{
        let values: Vec<_> = $records.iter().map(|record| record.map(|it| &it.$field)).collect();
        $crate::memory::Answer::column(&values, $spot, $scope)
    }};
    (@column $rust:ty, $records:ident $spot:ident $scope:ident $field:ident = |$this:ident| $value:expr) => {{
        let values: Vec<_> = $records.iter().map(|record| record.map(|$this| $value)).collect();
        let values: Vec<_> = values.iter().map(Option::as_ref).collect();
        $crate::memory::Answer::column(&values, $spot, $scope)
    }};
}

/// One list of `N` names from several.
/// # Panics
/// The lists have another number of names together.
#[doc(hidden)]
pub const fn join_names<const N: usize>(lists: &[&[&'static str]]) -> [&'static str; N] {
    let mut all = [""; N];
    let mut at = 0;
    let mut list = 0;
    while list < lists.len() {
        let mut item = 0;
        while item < lists[list].len() {
            all[at] = lists[list][item];
            (at, item) = (at + 1, item + 1);
        }
        list += 1;
    }
    assert!(at == N, "the number of names is that of the lists");
    all
}

/// Makes an enum of records a union or interface: `one_of!(Hit { User, Post })` for
/// `enum Hit { User(User), Post(Post) }`, where each variant holds a record (or a reference or box of one).
#[macro_export]
macro_rules! one_of {
    ($rust:ident { $($variant:ident),* $(,)? }) => {
        impl $crate::memory::Answer for $rust {
            fn bind(
                binder: &mut $crate::memory::Binder<'_>, spot: $crate::memory::Spot<'_>,
            ) -> Result<(), $crate::memory::Unbound> {
                $($crate::memory::bind_variant($rust::$variant, binder, spot)?;)*
                Ok(())
            }
            fn write(&self, spot: $crate::memory::Spot<'_>, writer: &mut $crate::memory::Writer<'_>) -> bool {
                match self { $($rust::$variant(value) => $crate::memory::Answer::write(value, spot, writer)),* }
            }
            fn column(
                values: &[Option<&Self>], spot: $crate::memory::Spot<'_>, scope: $crate::memory::Scope<'_>,
            ) -> $crate::answer::rows::Column {
                let parts = [$({
                    let part: Vec<_> = values.iter().map(|value| match value {
                        Some($rust::$variant(value)) => Some(value),
                        _ => None,
                    }).collect();
                    $crate::memory::Answer::column(&part, spot, scope)
                }),*];
                $crate::memory::merge_variants(values.len(), parts)
            }
            fn object(&self) -> $crate::memory::ItemObject<'_> {
                $crate::memory::ItemObject::Object(self)
            }
        }
    };
}

/// Binds by the type that `get` borrows.
#[doc(hidden)]
pub fn bind_by<T, A: Answer>(
    _get: impl Fn(&T) -> &A,
    binder: &mut Binder<'_>,
    spot: Spot<'_>,
) -> Result<(), Unbound> {
    A::bind(binder, spot)
}

/// Placeholder for a value of which only the type matters; never called.
#[doc(hidden)]
pub fn never<T>() -> T {
    unreachable!("closures that infer types are not called")
}

/// Binds by the type that `get` gives; it is not called.
#[doc(hidden)]
pub fn bind_by_value<A: Answer>(
    _get: impl FnOnce() -> A,
    binder: &mut Binder<'_>,
    spot: Spot<'_>,
) -> Result<(), Unbound> {
    A::bind(binder, spot)
}

/// Binds by what a variant holds.
#[doc(hidden)]
pub fn bind_variant<T, A: Answer>(
    _variant: impl Fn(A) -> T,
    binder: &mut Binder<'_>,
    spot: Spot<'_>,
) -> Result<(), Unbound> {
    A::bind(binder, spot)
}

#[doc(hidden)]
pub fn bind_record<R: Record>(binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
    match set_of(spot, &binder.bindings, R::NAME) {
        Some(set) if !spot.ty.wraps.is_list() => binder.record::<R>(set),
        Some(_) | None => Err(binder.unfit(spot, R::NAME)),
    }
}

/// Writes one record, or the items of a list with a comma after each.
#[doc(hidden)]
#[inline]
pub fn write_records<'i, R: Record>(
    records: impl Iterator<Item = &'i R>,
    spot: Spot<'_>,
    writer: &mut Writer<'_>,
    are_items: bool,
) -> bool {
    let found = set_of(spot, writer.bindings, R::NAME);
    let Some((set, binding)) = found.and_then(|set| Some((set, writer.bindings.binding_of::<R>(set)?)))
    else {
        return writer.fail(spot, Fault::Broken);
    };
    let output = writer.output;
    let range = output.set(set).range();
    let first = range.start as u32;
    let members = &output.fields[range];
    let indexes = &*binding.indexes;
    let leaves = binding.leaves::<R>();
    for (index, record) in records.enumerate() {
        let ok = if are_items {
            writer.item(index as u32, spot, |writer| {
                write_record(record, first, members, (indexes, leaves), writer)
            })
        } else {
            write_record(record, first, members, (indexes, leaves), writer)
        };
        if !ok {
            return false;
        }
    }
    true
}

#[inline(always)]
fn write_record<R: Record>(
    record: &R,
    first: u32,
    members: &[OutputField],
    (indexes, leaves): (&[u32], &[Arc<dyn LeafOf<R>>]),
    writer: &mut Writer<'_>,
) -> bool {
    writer.out.open(b'{');
    for (at, (output_field, &index)) in members.iter().zip(indexes).enumerate() {
        let index = index as usize;
        let field = first + at as u32;
        let is_written = if index < R::FIELDS.len() {
            record.write_field(index, field, output_field, writer)
        } else if index == NO_FIELD as usize {
            writer.constant(output_field);
            true
        } else {
            leaves[index - R::FIELDS.len()].write(record, field, output_field, writer)
        };
        if !is_written {
            return false;
        }
    }
    writer.out.close(b'}');
    true
}

impl Writer<'_> {
    /// A member whose bytes the plan holds.
    pub(super) fn constant(&mut self, output_field: &OutputField) {
        if let OutputKind::Constant { start, end } = output_field.member {
            self.out.span(&self.output.constants, start as usize, end as usize);
        }
    }
}

#[doc(hidden)]
pub fn record_column<R: Record>(records: &[Option<&R>], spot: Spot<'_>, scope: Scope<'_>) -> Column {
    let nulls = nulls(records);
    let data = match spot.output_field.member {
        OutputKind::Object(set) => Data::Object(Box::new(table(records, set, scope))),
        OutputKind::Abstract(choice) => match scope.bindings.type_and_set(choice, R::NAME) {
            Some((ty, set)) => Data::Abstract(Box::new(Variants {
                types: vec![ty; records.len()],
                places: (0..records.len() as u32).collect(),
                tables: vec![(ty, table(records, set, scope))],
            })),
            None => Data::Empty,
        },
        OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => Data::Empty,
    };
    Column { nulls, data, ..Column::default() }
}

fn table<R: Record>(records: &[Option<&R>], set: SelectionSetId, scope: Scope<'_>) -> Table {
    let Some(binding) = scope.bindings.binding_of::<R>(set) else { return Table::default() };
    let leaves = binding.leaves::<R>();
    let column = |index: u32, output_field: &OutputField| {
        let index = index as usize;
        let spot = Spot { field: 0, output_field, ty: output_field.ty };
        match index.checked_sub(R::FIELDS.len()) {
            Some(leaf) => leaves[leaf].column(records, spot, scope),
            None => R::field_column(records, index, spot, scope),
        }
    };
    let members = binding.indexes.iter().zip(scope.output.members(set));
    if let Some(goes_on) = visit_objects(records, set, scope) {
        for (&index, output_field) in members.filter(|it| goes_on && is_above(it.1, scope)) {
            column(index, output_field);
        }
        return Table::default();
    }
    let columns = members.map(|(&index, output_field)| match index {
        NO_FIELD => Column::default(),
        _ if output_field.same_as.is_some() => Column::default(),
        _ => column(index, output_field),
    });
    let columns = columns.collect();
    let hidden = binding.hidden.iter().map(|&index| match index {
        WHOLE_OBJECT => object_numbers(records, set, scope),
        _ => column(index, &scope.bindings.hidden),
    });
    Table { rows: records.len() as u32, columns, hidden: hidden.collect() }
}

/// True if the objects that a visitor looks for stand in or below the sets of `of`.
pub(super) fn is_above(output_field: &OutputField, scope: Scope<'_>) -> bool {
    let Some(visitor) = scope.visitor.filter(|_| output_field.same_as.is_none()) else { return false };
    let leads = |set: SelectionSetId| visitor.is_target(set) || visitor.is_above(set);
    match output_field.member {
        OutputKind::Object(set) => leads(set),
        OutputKind::Abstract(choice) => {
            scope.output.type_switches[choice.0 as usize].sets.iter().any(|it| leads(it.1))
        }
        OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => false,
    }
}

/// One column of the rows of several, each of which has a value where the others are null.
#[doc(hidden)]
pub fn merge_variants<const N: usize>(rows: usize, parts: [Column; N]) -> Column {
    let mut column = Column::default();
    let mut variants = Variants { types: Vec::new(), places: (0..rows as u32).collect(), tables: Vec::new() };
    let parts: Vec<(Column, Variants)> = parts
        .into_iter()
        .filter_map(|mut part| match std::mem::take(&mut part.data) {
            Data::Abstract(own) => Some((part, *own)),
            _ => None,
        })
        .collect();
    for row in 0..rows {
        let part = parts.iter().find(|(part, _)| !part.nulls.get(row));
        if part.is_none() {
            column.nulls.set(row);
        }
        let ty = part.or(parts.first()).map(|(_, own)| own.types[row]);
        variants.types.extend(ty);
    }
    variants.tables.extend(parts.into_iter().flat_map(|(_, own)| own.tables));
    column.data = Data::Abstract(Box::new(variants));
    column
}

/// A resolver of one field on records of type `R`.
pub trait LeafOf<R>: Send + Sync {
    /// Binds the resolver to `spot`, see [`Answer::bind`].
    /// # Errors
    /// The type mismatch.
    fn bind(&self, binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound>;
    /// Writes `"key":value,`.
    fn write(&self, record: &R, field: u32, output_field: &OutputField, writer: &mut Writer<'_>) -> bool;
    /// The values of all records.
    fn column(&self, records: &[Option<&R>], spot: Spot<'_>, scope: Scope<'_>) -> Column;
}

/// The hidden column of the objects themselves.
pub(super) fn object_numbers<T>(objects: &[Option<&T>], set: SelectionSetId, scope: Scope<'_>) -> Column {
    let len = objects.len();
    let first = scope.numbers.map_or(0, |it| it.take(set, len));
    let numbers = (0..len as u32).map(|it| i64::from(first + it));
    Column { nulls: nulls(objects), data: Data::Int(numbers.collect()), ..Column::default() }
}

/// Shows the objects of `set` to the visitor of the pass, if they are its target. Returns whether to continue below; `None` without
/// a visitor.
pub(super) fn visit_objects<T: 'static>(
    objects: &[Option<&T>],
    set: SelectionSetId,
    scope: Scope<'_>,
) -> Option<bool> {
    let visitor = scope.visitor?;
    if visitor.is_target(set) {
        let first = scope.numbers.map_or(0, |it| it.take(set, objects.len()));
        let objects: Vec<Option<&dyn Any>> =
            objects.iter().map(|it| it.map(|object| object as &dyn Any)).collect();
        visitor.visit(first, &objects);
    }
    Some(visitor.is_above(set))
}

impl Binding {
    /// The resolvers beside the record `R`.
    #[inline]
    pub(super) fn leaves<R: Record>(&self) -> &[Arc<dyn LeafOf<R>>] {
        let leaves = self.leaves.as_ref().and_then(|it| it.downcast_ref::<Vec<Arc<dyn LeafOf<R>>>>());
        leaves.map_or(&[], Vec::as_slice)
    }
}

impl Binder<'_> {
    /// Ties `R` to `set` and what it holds to the sets below.
    pub(super) fn record<R: Record>(&mut self, set: SelectionSetId) -> Result<(), Unbound> {
        if self.bindings.binding_of::<R>(set).is_some() {
            return Ok(());
        }
        let output = self.output;
        let range = output.set(set).range();
        let mut indexes = Vec::with_capacity(range.len());
        let mut leaves: Vec<Arc<dyn LeafOf<R>>> = Vec::new();
        for at in range.clone() {
            let field = &output.fields[at];
            indexes.push(match field.member {
                OutputKind::Foreign { .. } => {
                    self.check_parent::<R>(field.field, at as u32);
                    NO_FIELD
                }
                OutputKind::Constant { .. } => NO_FIELD,
                OutputKind::Leaf | OutputKind::Object(_) | OutputKind::Abstract(_) => {
                    match self.leaf_beside::<R>(field.field) {
                        Some(leaf) => {
                            leaves.push(leaf);
                            (R::FIELDS.len() + leaves.len() - 1) as u32
                        }
                        None => self.index::<R>(field.field, at as u32),
                    }
                }
            });
        }
        let typename = self.bindings.schema.meta.typename;
        let hidden = output.set(set).hidden.iter().map(|&field| {
            if field == typename { WHOLE_OBJECT } else { self.index::<R>(field, range.start as u32) }
        });
        let hidden = hidden.collect();
        let own = leaves.clone();
        let leaves = (!leaves.is_empty()).then(|| Box::new(leaves) as Box<dyn Any + Send + Sync>);
        let binding = Binding { rust: RustType::of::<R>(), indexes: indexes.clone(), hidden, leaves };
        self.bindings.sets[set.0 as usize].push(binding);
        for (at, index) in range.zip(indexes) {
            if index == NO_FIELD {
                continue;
            }
            let output_field = &output.fields[at];
            let index = index as usize;
            let spot = Spot { field: at as u32, output_field, ty: output_field.ty };
            let bound = match index.checked_sub(R::FIELDS.len()) {
                Some(leaf) => own[leaf].bind(self, spot),
                None => R::bind_field(index, self, spot),
            };
            self.refused.extend(bound.err());
        }
        Ok(())
    }

    /// The resolver of `field` beside the record.
    fn leaf_beside<R: Record>(&self, field: FieldId) -> Option<Arc<dyn LeafOf<R>>> {
        let leaf = self.bindings.host.as_ref()?.leaf(RustType::of::<R>(), self.bindings.field(field))?;
        leaf.downcast_ref::<Arc<dyn LeafOf<R>>>().cloned()
    }

    fn check_parent<R: Record>(&mut self, id: FieldId, field: u32) {
        let own = self.bindings.field(id);
        let Some(host) = self.bindings.host.as_ref().filter(|_| own.0 != u32::MAX) else { return };
        let checked = host.check_parent(RustType::of::<R>(), std::any::type_name::<R>(), own);
        self.refused.extend(checked.err().map(|message| Unbound { message, field }));
    }

    fn index<R: Record>(&mut self, id: FieldId, field: u32) -> u32 {
        let name = self.name(id);
        let is_it = |own: &&str| own.strip_prefix("r#").unwrap_or(own) == name;
        if let Some(index) = R::FIELDS.iter().position(is_it) {
            return index as u32;
        }
        let unbound = Unbound { message: format!("`{}` has no field `{name}`", R::NAME), field };
        self.refused.push(unbound);
        NO_FIELD
    }
}
