//! JSON of a handler as columns. What does not fit its type is an error of its place, in Hasura's words.
//!
//! Hasura checks the outermost objects alone, and finds members of others by the client's aliases. Here all that is asked for is
//! checked, and members have the names of their fields.
//!
//! **Invariant:** every column has a row for each value it was given; bytes of numbers and texts are those of the handler.

use super::MemberNames;
use weir_engine::plan::output_plan::{OutputKind, OutputPlan, SelectionSetId};
use weir_engine::rows::{Bitmap, CellError, Column, Data, Table, Texts};
use weir_engine::source::{FieldError, Ids, Protocol};
use weir_language::json::{JsonKind, JsonRef};
use weir_language::schema::{FieldId, ScalarReader, Schema, TypeId, TypeKind, TypeRef};

/// End of most messages.
const OF_RESPONSE: &str = "for the action webhook response";

/// Makes columns of the values of one root field.
pub(crate) struct AnswerColumns<'a> {
    /// Schema of the source.
    pub(crate) schema: &'a Schema,
    pub(crate) ids: &'a Ids,
    pub(crate) output: &'a OutputPlan,
    pub(crate) names: &'a MemberNames,
    pub(crate) protocol: Protocol,
}

/// A value, or none where an object lacks the member.
type Given<'t> = Option<JsonRef<'t>>;

/// Position of values: the field that has them, if they stand in an object, and whether they are the outermost ones.
#[derive(Clone, Copy)]
struct Spot<'n> {
    field: Option<&'n str>,
    is_outermost: bool,
}

impl AnswerColumns<'_> {
    /// Column of the root field at `place`, whose value is `value`.
    pub(crate) fn root(&self, place: u32, value: JsonRef<'_>) -> Column {
        let spot = Spot { field: None, is_outermost: true };
        let of = &self.output.fields[place as usize];
        let mut column = self.column(of.ty, of.member, spot, &[Some(value)]);
        // Hasura's path of what is wrong with the answer as a whole.
        column.errors.iter_mut().for_each(|it| it.error.hasura_path = Some("$".into()));
        column
    }

    /// Column of an inner member.
    fn member(&self, place: u32, name: &str, values: &[Given<'_>]) -> Column {
        let of = &self.output.fields[place as usize];
        let spot = Spot { field: Some(name), is_outermost: false };
        self.column(of.ty, of.member, spot, values)
    }

    fn column(&self, ty: TypeRef, member: OutputKind, spot: Spot<'_>, values: &[Given<'_>]) -> Column {
        match (ty.item(), member) {
            (_, OutputKind::Constant { .. } | OutputKind::Foreign { .. } | OutputKind::Abstract(_)) => {
                Column::default()
            }
            (Some(item), _) => self.list(ty, item, member, spot, values),
            (None, OutputKind::Leaf) => self.leaf(ty, spot, values),
            (None, OutputKind::Object(set)) => self.objects(ty, set, spot, values),
        }
    }

    /// Calls `take` for each value that is not null. Notes nulls, and errors: those of `take`, and nulls where there may be none.
    fn each<'t>(
        &self,
        ty: TypeRef,
        spot: Spot<'_>,
        values: &[Given<'t>],
        mut take: impl FnMut(Given<'t>) -> Result<(), FieldError>,
    ) -> (Bitmap, Vec<CellError>) {
        let mut nulls = Bitmap::default();
        let mut errors = Vec::new();
        for (row, value) in values.iter().enumerate() {
            let error = match value {
                Some(value) if !value.is_null() => match take(Some(*value)) {
                    Ok(()) => continue,
                    Err(error) => Some(error),
                },
                _ if !ty.is_non_null() => None,
                _ => Some(self.misfit(null_message(*value, spot))),
            };
            // No value fits.
            drop(take(None));
            nulls.set(row);
            errors.extend(error.map(|error| CellError { row: row as u32, error }));
        }
        (nulls, errors)
    }

    fn list(
        &self,
        ty: TypeRef,
        item: TypeRef,
        member: OutputKind,
        spot: Spot<'_>,
        values: &[Given<'_>],
    ) -> Column {
        let mut offsets = vec![0];
        let mut items = Vec::new();
        let (nulls, errors) = self.each(ty, spot, values, |value| {
            let is_list = value.is_none_or(JsonRef::is_array);
            if is_list {
                items.extend(value.into_iter().flat_map(JsonRef::items).map(Some));
                offsets.push(items.len() as u32);
            }
            if is_list { Ok(()) } else { Err(self.misfit("expecting array for the action webhook response")) }
        });
        let items = Box::new(self.column(item, member, Spot { field: None, ..spot }, &items));
        Column { nulls, data: Data::List { offsets, items }, errors, ..Column::default() }
    }

    fn leaf(&self, ty: TypeRef, spot: Spot<'_>, values: &[Given<'_>]) -> Column {
        let own = self.ids.ty(ty.base);
        let mut texts = Texts::default();
        let (nulls, errors) = self.each(ty, spot, values, |value| {
            if let Some(value) = value {
                self.check_leaf(own, value)?;
            }
            texts.push(value.map_or("null", JsonRef::raw).as_bytes());
            Ok(())
        });
        Column { nulls, data: Data::Json(texts), errors, ..Column::default() }
    }

    /// Checks that `value` fits the leaf `ty`, a type of the source.
    fn check_leaf(&self, ty: TypeId, value: JsonRef<'_>) -> Result<(), FieldError> {
        let name = self.schema.type_name(ty);
        let fits = match self.schema.ty(ty).kind {
            // Custom scalars, and those of databases, are any JSON.
            TypeKind::Scalar(
                ScalarReader::BigInt
                | ScalarReader::Decimal
                | ScalarReader::Text
                | ScalarReader::Moment
                | ScalarReader::Json,
            ) => true,
            TypeKind::Scalar(ScalarReader::Int) => match (value.as_number(), self.protocol) {
                (Some(_), Protocol::Hasura) => true,
                (Some(digits), Protocol::GraphqlOverHttp) => digits.parse::<i32>().is_ok(),
                (None, _) => false,
            },
            TypeKind::Scalar(ScalarReader::Float) => value.as_number().is_some(),
            TypeKind::Scalar(ScalarReader::String | ScalarReader::Id) => value.as_str().is_some(),
            TypeKind::Scalar(ScalarReader::Boolean) => value.as_bool().is_some(),
            TypeKind::Enum => {
                value.as_str().is_some_and(|it| self.schema.enum_value_by_name(ty, &it).is_some())
            }
            TypeKind::Object | TypeKind::Interface | TypeKind::Union | TypeKind::Input { .. } => false,
        };
        if fits { Ok(()) } else { Err(self.misfit(kind_message(value, name))) }
    }

    fn objects(&self, ty: TypeRef, set: SelectionSetId, spot: Spot<'_>, values: &[Given<'_>]) -> Column {
        let own = self.ids.ty(ty.base);
        let name = self.schema.type_name(own);
        let required = if spot.is_outermost { self.unselected_required(own, set) } else { Vec::new() };
        let mut objects = Vec::with_capacity(values.len());
        let (nulls, errors) = self.each(ty, spot, values, |value| {
            if let Some(value) = value {
                if !value.is_object() {
                    return Err(self.misfit(kind_message(value, name)));
                }
                self.check_required(&required, value)?;
            }
            objects.push(value);
            Ok(())
        });
        Column { nulls, data: Data::Object(Box::new(self.table(set, &objects))), errors, ..Column::default() }
    }

    /// Names of the fields of `ty` that may not be null and are not in `set`: those in it are checked at their own places.
    fn unselected_required(&self, ty: TypeId, set: SelectionSetId) -> Vec<&str> {
        let is_selected = |name: &str| {
            let mut places = self.output.set(set).range();
            places.any(|it| self.names.fields.get(&(it as u32)).is_some_and(|it| **it == *name))
        };
        let fields = self.schema.ty(ty).fields.range().map(|it| FieldId(it as u32));
        let required = fields.filter(|it| self.schema.field(*it).ty.is_non_null());
        required.map(|it| self.schema.field_name(it)).filter(|it| !is_selected(it)).collect()
    }

    fn check_required(&self, required: &[&str], object: JsonRef<'_>) -> Result<(), FieldError> {
        for name in required {
            let value = object.get(name);
            if value.is_none_or(JsonRef::is_null) {
                let spot = Spot { field: Some(name), is_outermost: true };
                return Err(self.misfit(null_message(value, spot)));
            }
        }
        Ok(())
    }

    fn table(&self, set: SelectionSetId, objects: &[Given<'_>]) -> Table {
        let column = |place: usize| match self.names.fields.get(&(place as u32)) {
            Some(name) => self.member(place as u32, name, &members(objects, name)),
            None => Column::default(),
        };
        let columns = self.output.set(set).range().map(column).collect();
        let names = self.names.hidden.get(&set).map_or(&[][..], |it| it);
        let hidden = self.output.set(set).hidden.iter().zip(names);
        let hidden = hidden.map(|(field, name)| self.key(*field, &members(objects, name))).collect();
        Table { rows: objects.len() as u32, columns, hidden }
    }

    /// A key for other sources: a typed column. A value that is no key of its type is null, so nothing is asked by it.
    fn key(&self, field: FieldId, values: &[Given<'_>]) -> Column {
        let ty = self.schema.field(self.ids.field(field)).ty;
        let is_whole = matches!(
            self.schema.ty(ty.base).kind,
            TypeKind::Scalar(ScalarReader::Int | ScalarReader::BigInt)
        );
        let mut nulls = Bitmap::default();
        let mut numbers = Vec::new();
        let mut texts = Texts::default();
        for (row, value) in values.iter().enumerate() {
            let text = value.and_then(|it| it.as_str().or_else(|| it.as_number().map(Into::into)));
            let number = text.as_deref().and_then(|it| it.parse::<i64>().ok());
            if text.is_none() || is_whole && number.is_none() {
                nulls.set(row);
            }
            if is_whole {
                numbers.push(number.unwrap_or_default());
            } else {
                texts.push(text.as_deref().unwrap_or_default().as_bytes());
            }
        }
        let data = if is_whole { Data::Int(numbers) } else { Data::Text(texts) };
        Column { nulls, data, ..Column::default() }
    }

    fn misfit(&self, message: impl Into<Box<str>>) -> FieldError {
        let code = match self.protocol {
            Protocol::Hasura => "unexpected",
            Protocol::GraphqlOverHttp => "SOURCE_ANSWER",
        };
        FieldError { code, message: message.into(), hasura_path: None, extensions: None }
    }
}

/// The member `name` of each object.
fn members<'t>(objects: &[Given<'t>], name: &str) -> Vec<Given<'t>> {
    objects.iter().map(|it| it.and_then(|it| it.get(name))).collect()
}

/// Message of a null, or of a member that is not there, where a value has to be.
fn null_message(value: Given<'_>, spot: Spot<'_>) -> String {
    match (spot.field, value) {
        (Some(field), Some(_)) => format!("expecting not null value for field \"{field}\""),
        (Some(field), None) => format!("field \"{field}\" expected in webhook response, but not found"),
        (None, _) => "got null for the action webhook response".into(),
    }
}

/// Message of a value of another kind than that of the type `expected`.
fn kind_message(value: JsonRef<'_>, expected: &str) -> String {
    let found = match value.kind() {
        JsonKind::Array => "array",
        JsonKind::Object => "object",
        JsonKind::True | JsonKind::False => "scalar Boolean",
        JsonKind::Null | JsonKind::Number | JsonKind::String { .. } => "scalar String",
    };
    format!("got {found} {OF_RESPONSE}, expecting {expected}")
}
