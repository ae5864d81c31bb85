//! Values as they are stored: checked, and in all the columns that a field has.
//!
//! **Invariant:** digits never pass through floating point but in `Float`; texts are stored as they were given, but for those of a
//! `DateTime`, which are normal.

use super::input::InputValue;
use super::refusal::MutationRefusal;
use crate::api::meaning::{Api, EnumMeaning, Geo, InputMeaning};
use crate::layout::Storage;
use crate::model::{DefaultValue, Field, FieldKind, Scalar};
use smallvec::SmallVec;
use weir_database::frontend::program::Value;
use weir_language::value::Node;
use weir_relational::catalog::ColumnId;
use weir_relational::values::geometry::{Geometry, is_on_globe};
use weir_relational::values::instant;

pub(super) type Columns = SmallVec<[(ColumnId, Value); 2]>;

/// A value of a list and, of a DateTime, its point in time.
pub(super) type ListItem = (Value, Option<i64>);

/// Reads values of the fields of one API.
pub(super) struct ValueReader<'a> {
    pub(super) api: &'a Api,
    /// Value of `$now` in this mutation, in microseconds since 1970 in UTC.
    pub(super) now_us: i64,
}

impl ValueReader<'_> {
    /// The columns of `given` as the value of `field`.
    pub(super) fn columns(
        &self,
        field: &Field,
        storage: &Storage,
        given: InputValue<'_>,
    ) -> Result<Columns, MutationRefusal> {
        match *storage {
            Storage::Column(column) => Ok(SmallVec::from_iter([(column, self.scalar(field, given)?)])),
            Storage::Instant { text, at } => {
                let (normal, at_us) = moment(given.text().unwrap_or_default())?;
                Ok(SmallVec::from_iter([(text, normal), (at, Value::Int(at_us))]))
            }
            Storage::Point { longitude, latitude } => {
                let [x, y] = self.point(given)?;
                Ok(SmallVec::from_iter([(longitude, Value::Float(x)), (latitude, Value::Float(y))]))
            }
            Storage::Shape { text, bounds } => {
                let words = given.coordinates();
                let shape = Geometry::read(&words);
                if let Some(fault) = shape.fault() {
                    return Err(MutationRefusal::Value { text: words, ty: fault });
                }
                let mut columns = SmallVec::from_iter([(text, Value::Text(words.into()))]);
                columns.extend(bounds.into_iter().zip(shape.reach(0.0).map(Value::Float)));
                Ok(columns)
            }
            _ => Ok(SmallVec::new()),
        }
    }

    /// The items of a list of scalars.
    pub(super) fn items(
        &self,
        field: &Field,
        given: InputValue<'_>,
    ) -> Result<Vec<ListItem>, MutationRefusal> {
        let item = |it: InputValue<'_>| match field.kind {
            FieldKind::Scalar(Scalar::DateTime) => {
                let (normal, at_us) = moment(it.text().unwrap_or_default())?;
                Ok((normal, Some(at_us)))
            }
            FieldKind::Scalar(_) | FieldKind::Enum(_) | FieldKind::Id | FieldKind::Edge { .. } => {
                Ok((self.scalar(field, it)?, None))
            }
        };
        given.items().map(item).collect()
    }

    /// A scalar of one column.
    fn scalar(&self, field: &Field, given: InputValue<'_>) -> Result<Value, MutationRefusal> {
        Ok(match given.node() {
            Node::Bool(it) => Value::Bool(it),
            Node::Int(it) | Node::QuotedInt(it) => match field.kind {
                FieldKind::Scalar(Scalar::Float) => Value::Float(it as f64),
                FieldKind::Scalar(_) | FieldKind::Enum(_) | FieldKind::Id | FieldKind::Edge { .. } => {
                    Value::Int(it)
                }
            },
            Node::Float(it) => Value::Float(it),
            Node::Enum(it) => match self.api.enum_value(given.own(it)) {
                EnumMeaning::Value(of, at) => {
                    Value::Text(self.api.model.enumeration(of).values[at as usize].name.as_str().into())
                }
                EnumMeaning::None | EnumMeaning::Field(_) | EnumMeaning::Member(_) => Value::Null,
            },
            _ => text(given.text().unwrap_or_default())?,
        })
    }

    /// Value of a field without input.
    pub(super) fn default(
        &self,
        field: &Field,
        storage: &Storage,
        default: &DefaultValue,
    ) -> Result<Columns, MutationRefusal> {
        let now;
        let value = match default {
            DefaultValue::Now => {
                now = instant::format(self.now_us);
                Value::Text(now.as_str().into())
            }
            DefaultValue::Text(it) => Value::Text(it.as_str().into()),
            DefaultValue::Int(it) => Value::Int(*it),
            DefaultValue::Float(it) => Value::Float(*it),
            DefaultValue::Boolean(it) => Value::Bool(*it),
            DefaultValue::Enum(at) => match field.kind {
                FieldKind::Enum(of) => {
                    Value::Text(self.api.model.enumeration(of).values[*at as usize].name.as_str().into())
                }
                FieldKind::Scalar(_) | FieldKind::Id | FieldKind::Edge { .. } => Value::Null,
            },
        };
        Ok(match (*storage, value) {
            (Storage::Instant { text, at }, Value::Text(words)) => {
                let (normal, at_us) = moment(&words)?;
                SmallVec::from_iter([(text, normal), (at, Value::Int(at_us))])
            }
            (Storage::Column(column), value) => SmallVec::from_iter([(column, value)]),
            _ => SmallVec::new(),
        })
    }

    /// Longitude and latitude.
    fn point(&self, given: InputValue<'_>) -> Result<[f64; 2], MutationRefusal> {
        let mut point = [0.0; 2];
        for (input, it) in given.members() {
            let number = match it.node() {
                Node::Float(number) => number,
                Node::Int(number) => number as f64,
                _ => continue,
            };
            match self.api.input(input) {
                InputMeaning::Geo(Geo::Longitude) => point[0] = number,
                InputMeaning::Geo(Geo::Latitude) => point[1] = number,
                _ => {}
            }
        }
        let [longitude, latitude] = point;
        if is_on_globe(point) {
            return Ok(point);
        }
        Err(MutationRefusal::Value { text: format!("{longitude}, {latitude}"), ty: "longitude and latitude" })
    }
}

/// A DateTime as it is stored: its normal text and its microseconds.
fn moment(text: &str) -> Result<(Value, i64), MutationRefusal> {
    match (instant::normal(text), instant::parse(text)) {
        (Some(normal), Some(at_us)) => Ok((Value::Text(normal.into()), at_us)),
        (_, _) => Err(MutationRefusal::Value { text: text.to_owned(), ty: "DateTime" }),
    }
}

/// A text that every database can store.
pub(super) fn text(text: &str) -> Result<Value, MutationRefusal> {
    if text.contains('\0') {
        return Err(MutationRefusal::Nul);
    }
    Ok(Value::Text(text.into()))
}
