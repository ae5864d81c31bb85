//! JSON in the shape of a selection, as columns: bytes of numbers and strings are copied as they came.
//!
//! **Invariant:** every column has a row for each value that was given to it, null where the value is missing, is null or does not fit
//! its type. What does not fit is an error of its cell alone.

use super::client_error;
use foldhash::HashMap;
use std::sync::Arc;
use weir_engine::plan::output_plan::{OutputKind, OutputPlan, SelectionSetId, TypeSwitchId};
use weir_engine::rows::{Bitmap, CellError, Column, Data, Table, Texts, Variants};
use weir_engine::source::{FieldError, Ids};
use weir_language::json::{JsonKind, JsonRef};
use weir_language::schema::{FieldId, ScalarReader, Schema, TypeId, TypeKind, TypeRef};

/// Response keys of members in an answer.
#[derive(Debug, Default)]
pub(crate) struct ResponseKeys {
    /// Key of each requested field, by its position in the output plan.
    pub(crate) members: HashMap<u32, Box<str>>,
    /// Keys of hidden fields, by selection set.
    pub(crate) hidden: HashMap<SelectionSetId, Vec<Box<str>>>,
    /// Concrete types by their name on the server.
    pub(crate) types: HashMap<Box<str>, TypeId>,
}

/// Response key of `__typename`.
pub(crate) const TYPENAME: &str = "t";

/// Errors that a server reports, by the null that they explain.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    at: HashMap<(usize, u32), FieldError>,
}

impl Errors {
    fn key(value: JsonRef<'_>) -> (usize, u32) {
        (std::ptr::from_ref(value.json) as usize, value.at)
    }

    /// Records an error at the first null along `path` from `root`. Without a null the error explains nothing, and `false` is returned.
    pub(crate) fn note(&mut self, root: JsonRef<'_>, path: JsonRef<'_>, error: FieldError) -> bool {
        let mut value = root;
        for step in path.items() {
            let next = match (step.as_str(), step.as_number().and_then(|it| it.parse().ok())) {
                (Some(name), _) => value.get(&name),
                (None, Some(index)) => value.items().nth(index),
                (None, None) => None,
            };
            match next {
                Some(next) => value = next,
                None => break,
            }
        }
        value.is_null() && self.at.insert(Self::key(value), error).is_none()
    }

    fn find(&self, value: JsonRef<'_>) -> Option<&FieldError> {
        if self.at.is_empty() { None } else { self.at.get(&Self::key(value)) }
    }
}

/// Converts the values of one node to columns.
pub(crate) struct Columns<'a> {
    /// Schema of the source.
    pub(crate) schema: &'a Schema,
    pub(crate) ids: &'a Arc<Ids>,
    pub(crate) output: &'a OutputPlan,
    pub(crate) keys: &'a ResponseKeys,
    pub(crate) errors: &'a Errors,
    /// True for a marker in place of a leaf that JSON cannot represent.
    pub(crate) is_fault: fn(JsonRef<'_>) -> bool,
}

/// Values of a column; `None` if absent.
type FieldValues<'t> = [Option<JsonRef<'t>>];

/// Error of a value that does not fit.
type Unfit = FieldError;

impl Columns<'_> {
    /// Column of the member at `place` of the output plan.
    pub(crate) fn member(&self, place: u32, values: &FieldValues<'_>) -> Column {
        let output_field = &self.output.fields[place as usize];
        match output_field.same_as {
            Some(_) => Column::default(),
            None => self.column(output_field.ty, output_field.member, values),
        }
    }

    fn column(&self, ty: TypeRef, member: OutputKind, values: &FieldValues<'_>) -> Column {
        match (ty.item(), member) {
            (_, OutputKind::Constant { .. } | OutputKind::Foreign { .. }) => Column::default(),
            (Some(item), _) => self.list(item, member, values),
            (None, OutputKind::Leaf) => self.leaf(ty.base, values),
            (None, OutputKind::Object(set)) => self.objects(set, values),
            (None, OutputKind::Abstract(choice)) => self.variants(choice, values),
        }
    }

    /// Calls `take` for each value that is present. Records nulls, and the errors that `take` returns.
    fn each<'t>(
        &self,
        values: &FieldValues<'t>,
        mut take: impl FnMut(Option<JsonRef<'t>>) -> Result<(), Unfit>,
    ) -> (Bitmap, Vec<CellError>) {
        let mut nulls = Bitmap::default();
        let mut errors = Vec::new();
        for (row, value) in values.iter().enumerate() {
            let error = match value {
                Some(value) if !value.is_null() => match take(Some(*value)) {
                    Ok(()) => continue,
                    Err(error) => Some(error),
                },
                Some(value) => self.errors.find(*value).cloned(),
                None => None,
            };
            // `take(None)` cannot fail.
            drop(take(None));
            nulls.set(row);
            errors.extend(error.map(|error| CellError { row: row as u32, error }));
        }
        (nulls, errors)
    }

    fn list(&self, item: TypeRef, member: OutputKind, values: &FieldValues<'_>) -> Column {
        let mut offsets = vec![0];
        let mut items = Vec::new();
        let (nulls, errors) = self.each(values, |value| {
            let is_list = value.is_none_or(JsonRef::is_array);
            if is_list {
                items.extend(value.into_iter().flat_map(JsonRef::items).map(Some));
                offsets.push(items.len() as u32);
            }
            is_list.then_some(()).ok_or_else(type_mismatch_error)
        });
        let items = Box::new(self.column(item, member, &items));
        Column { nulls, data: Data::List { offsets, items }, errors, ..Column::default() }
    }

    fn leaf(&self, base: TypeId, values: &FieldValues<'_>) -> Column {
        let ty = self.ids.ty(base);
        let mut texts = Texts::default();
        let (nulls, errors) = self.each(values, |value| match value {
            None => {
                texts.push(b"null");
                Ok(())
            }
            Some(value) => self.check(ty, value).map(|is_bare| {
                if is_bare {
                    texts.push(format!("\"{}\"", value.raw()).as_bytes())
                } else {
                    texts.push(value.raw().as_bytes())
                }
            }),
        });
        Column { nulls, data: Data::Json(texts), errors, ..Column::default() }
    }

    /// Checks that `value` fits the leaf `ty`; `true` if it must be quoted.
    fn check(&self, ty: TypeId, value: JsonRef<'_>) -> Result<bool, Unfit> {
        if (self.is_fault)(value) {
            return Err(client_error("INVALID_VALUE", "The source gave a value that cannot be shown."));
        }
        let is_text = matches!(value.kind(), JsonKind::String { .. });
        let fits = match self.schema.ty(ty).kind {
            TypeKind::Scalar(ScalarReader::Int) => match value.as_number().map(str::parse::<i32>) {
                Some(Ok(_)) => true,
                Some(Err(_)) => {
                    return Err(client_error("INT_RANGE", "The source gave a number that is no Int."));
                }
                None => false,
            },
            TypeKind::Scalar(ScalarReader::Float) => value.as_number().is_some(),
            TypeKind::Scalar(ScalarReader::BigInt | ScalarReader::Decimal) => {
                value.as_number().is_some() || is_text
            }
            TypeKind::Scalar(ScalarReader::String) => is_text,
            TypeKind::Scalar(ScalarReader::Boolean) => value.as_bool().is_some(),
            TypeKind::Scalar(ScalarReader::Id) => {
                let number = value.as_number().is_some_and(|it| it.parse::<i64>().is_ok());
                if number {
                    return Ok(true);
                }
                is_text
            }
            TypeKind::Scalar(ScalarReader::Text | ScalarReader::Moment | ScalarReader::Json) => true,
            TypeKind::Enum => {
                let name = value.as_str().unwrap_or_default();
                if self.schema.enum_value_by_name(ty, &name).is_none() {
                    return Err(client_error("ENUM_VALUE", "The source gave what is no value of the enum."));
                }
                true
            }
            TypeKind::Object | TypeKind::Interface | TypeKind::Union | TypeKind::Input { .. } => false,
        };
        if fits { Ok(false) } else { Err(type_mismatch_error()) }
    }

    fn objects(&self, set: SelectionSetId, values: &FieldValues<'_>) -> Column {
        let mut objects = Vec::with_capacity(values.len());
        let (nulls, errors) = self.each(values, |value| {
            let is_object = value.is_none_or(JsonRef::is_object);
            if is_object {
                objects.push(value);
            }
            is_object.then_some(()).ok_or_else(type_mismatch_error)
        });
        Column { nulls, data: Data::Object(Box::new(self.table(set, &objects))), errors, ..Column::default() }
    }

    fn table(&self, set: SelectionSetId, objects: &FieldValues<'_>) -> Table {
        let none = Vec::new();
        let hidden_keys = self.keys.hidden.get(&set).unwrap_or(&none);
        let places = self.output.set(set).range();
        let asked = places.clone().filter_map(|it| self.keys.members.get(&(it as u32)));
        let names: Vec<&str> = asked.chain(hidden_keys).map(|it| &**it).collect();
        let mut parts = split_members(objects, &names).into_iter();
        let mut columns = Vec::with_capacity(places.len());
        for place in places {
            columns.push(if self.keys.members.contains_key(&(place as u32)) {
                self.member(place as u32, &parts.next().unwrap_or_default())
            } else {
                Column::default()
            });
        }
        let hidden = self.output.set(set).hidden.iter().zip(parts);
        let hidden = hidden.map(|(field, values)| self.hidden(*field, &values)).collect();
        Table { rows: objects.len() as u32, columns, hidden }
    }

    /// A key for other sources, in a typed column rather than as JSON.
    fn hidden(&self, field: FieldId, values: &FieldValues<'_>) -> Column {
        let ty = self.schema.field(self.ids.field(field)).ty.base;
        match self.schema.ty(ty).kind {
            TypeKind::Scalar(ScalarReader::Int | ScalarReader::BigInt) => self.numbers(values),
            // `UInt64` values stay numbers as long as they fit the signed integers of other sources.
            TypeKind::Scalar(ScalarReader::Decimal) if values.iter().flatten().all(|it| is_integer(*it)) => {
                self.numbers(values)
            }
            TypeKind::Scalar(
                ScalarReader::String | ScalarReader::Id | ScalarReader::Text | ScalarReader::Moment,
            )
            | TypeKind::Enum => {
                let mut texts = Texts::default();
                let (nulls, errors) = self.each(values, |value| {
                    let text = value.map(|it| it.as_str().unwrap_or_else(|| it.raw().into()));
                    texts.push(text.unwrap_or_default().as_bytes());
                    Ok(())
                });
                let mut digits = Bitmap::default();
                let is_number = |it: &JsonRef<'_>| it.as_number().is_some();
                let numbers = values.iter().enumerate().filter(|it| it.1.as_ref().is_some_and(is_number));
                numbers.for_each(|it| digits.set(it.0));
                Column { nulls, data: Data::Text(texts), digits, errors }
            }
            TypeKind::Scalar(_)
            | TypeKind::Object
            | TypeKind::Interface
            | TypeKind::Union
            | TypeKind::Input { .. } => {
                let mut texts = Texts::default();
                let (nulls, errors) = self.each(values, |value| {
                    texts.push(value.map_or("null", JsonRef::raw).as_bytes());
                    Ok(())
                });
                Column { nulls, data: Data::Json(texts), errors, ..Column::default() }
            }
        }
    }

    fn numbers(&self, values: &FieldValues<'_>) -> Column {
        let mut numbers = Vec::with_capacity(values.len());
        let (nulls, errors) = self.each(values, |value| {
            let number = value.map_or(Some(0), |it| it.raw().trim_matches('"').parse().ok());
            numbers.extend(number);
            number.map(drop).ok_or_else(type_mismatch_error)
        });
        Column { nulls, data: Data::Int(numbers), errors, ..Column::default() }
    }

    fn variants(&self, choice: TypeSwitchId, values: &FieldValues<'_>) -> Column {
        let mut by_type: Vec<(TypeId, Vec<Option<JsonRef<'_>>>)> = Vec::new();
        let mut types = Vec::new();
        let mut places = Vec::new();
        let filler = self.output.type_switches[choice.0 as usize].sets.first().map_or(TypeId(0), |it| it.0);
        let (nulls, errors) = self.each(values, |value| {
            let Some(object) = value else {
                types.push(filler);
                places.push(0);
                return Ok(());
            };
            let name = object.get(TYPENAME).and_then(JsonRef::as_str).unwrap_or_default();
            let ty = *self.keys.types.get(&*name).ok_or_else(type_mismatch_error)?;
            let at = by_type.iter().position(|it| it.0 == ty).unwrap_or_else(|| {
                by_type.push((ty, Vec::new()));
                by_type.len() - 1
            });
            types.push(ty);
            places.push(by_type[at].1.len() as u32);
            by_type[at].1.push(value);
            Ok(())
        });
        let table = |(ty, objects): (TypeId, Vec<_>)| {
            Some((ty, self.table(self.output.set_for_type(choice, ty)?, &objects)))
        };
        let tables = by_type.into_iter().filter_map(table).collect();
        Column {
            nulls,
            data: Data::Abstract(Box::new(Variants { types, places, tables })),
            errors,
            ..Column::default()
        }
    }
}

/// The values of `objects` under each name. Servers return members in the requested order, so most are found without a search.
fn split_members<'t>(objects: &FieldValues<'t>, names: &[&str]) -> Vec<Vec<Option<JsonRef<'t>>>> {
    let mut parts: Vec<Vec<Option<JsonRef<'t>>>> =
        names.iter().map(|_| Vec::with_capacity(objects.len())).collect();
    for object in objects {
        let mut members = object.map(JsonRef::members);
        for (name, part) in names.iter().zip(&mut parts) {
            let next = members.as_mut().and_then(Iterator::next);
            part.push(match next {
                Some((key, value)) if key == *name => Some(value),
                Some(_) | None => object.and_then(|it| it.get(name)),
            });
        }
    }
    parts
}

/// True for null and signed 64-bit integers.
fn is_integer(value: JsonRef<'_>) -> bool {
    value.is_null() || value.raw().trim_matches('"').parse::<i64>().is_ok()
}

fn type_mismatch_error() -> Unfit {
    client_error("INVALID_VALUE", "The source gave a value of another type.")
}
