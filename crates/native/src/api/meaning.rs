//! The meaning of every field, input and enum value of the generated schema: tables parallel to the schema's.
//!
//! Nothing below looks at names: it reads these tables by id.
//!
//! **Invariant:** parallel to the tables of the schema they were made with; members of the introspection types and
//! the built-in directives mean [`FieldMeaning::None`], [`InputMeaning::None`] or [`EnumMeaning::None`].

use crate::model::{EnumId, FieldId, Model, TypeId};
use std::sync::Arc;
use weir_engine::source::EntityLookup;
use weir_language::schema::{self, EnumValueId, InputId, Schema};

/// A generated schema with its meaning.
#[derive(Debug)]
pub struct Api {
    pub schema: Arc<Schema>,
    /// The model that the schema was generated from.
    pub model: Model,
    /// By the schema's field.
    pub fields: Vec<FieldMeaning>,
    /// By [`InputId`].
    pub inputs: Vec<InputMeaning>,
    /// By [`EnumValueId`].
    pub enum_values: Vec<EnumMeaning>,
    /// By the schema's type: which of the model it is. Only objects, interfaces and unions are.
    pub types: Vec<Option<TypeId>>,
    /// Lookups of objects by a key.
    pub entity_lookups: Vec<EntityLookup>,
}

impl Api {
    /// The meaning of a field. `__typename` and fields of other sources have no id here.
    pub fn field(&self, id: schema::FieldId) -> FieldMeaning {
        self.fields.get(id.index()).copied().unwrap_or(FieldMeaning::None)
    }
    /// The meaning of an argument or input field.
    pub fn input(&self, id: InputId) -> InputMeaning {
        self.inputs.get(id.index()).copied().unwrap_or(InputMeaning::None)
    }
    pub fn enum_value(&self, id: EnumValueId) -> EnumMeaning {
        self.enum_values[id.index()]
    }
    /// The model's type of a type of the schema.
    pub fn ty(&self, id: schema::TypeId) -> Option<TypeId> {
        self.types[id.index()]
    }
}

/// Meanings of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldMeaning {
    /// A member that is not part of this API.
    None,
    /// `queryDish`.
    Query(TypeId),
    /// `getDish`.
    Get(TypeId),
    /// `aggregateDish`.
    Aggregate(TypeId),
    /// `checkUserPassword`.
    CheckPassword(TypeId),
    /// `addDish`.
    Add(TypeId),
    /// `updateDish`.
    Update(TypeId),
    /// `deleteDish`.
    Delete(TypeId),
    /// A field of an object or interface.
    Field(FieldId),
    /// `dishesAggregate`, by the edge.
    EdgeAggregate(FieldId),
    /// `count` of an aggregate.
    Count(TypeId),
    /// `priceMin`.
    Min(FieldId),
    /// `priceMax`.
    Max(FieldId),
    /// `priceSum`.
    Sum(FieldId),
    /// `priceAvg`.
    Avg(FieldId),
    /// `dish` of `AddDishPayload` and the like.
    PayloadObjects(TypeId),
    /// `numUids` of a payload.
    NumUids,
    /// `msg` of a payload.
    Msg,
    /// A member of a geo type.
    Geo(Geo),
}

/// Members of the geo types and of their inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Geo {
    /// Longitude of a `Point`.
    Longitude,
    /// Latitude of a `Point`.
    Latitude,
    /// `points` of `PointList`: a ring.
    Points,
    /// `coordinates` of `Polygon`: its rings.
    Coordinates,
    /// `polygons` of `MultiPolygon`.
    Polygons,
    /// `distance` of `near`, in metres.
    Distance,
    /// `coordinate` of `near`.
    Coordinate,
    /// `point` of `contains`.
    Point,
    /// `polygon` of `within`, `contains` and `intersects`.
    Polygon,
    /// `multiPolygon` of `intersects`.
    MultiPolygon,
}

/// Meanings of arguments and input fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputMeaning {
    /// A member that is not part of this API.
    None,
    /// `filter`.
    Filter(TypeId),
    /// `order`.
    Order(TypeId),
    /// `first`.
    First,
    /// `offset`.
    Offset,
    /// `input` of an add (a list) or of an update (one object).
    Input(TypeId),
    /// `upsert`.
    Upsert,
    /// `set` of an update.
    Set(TypeId),
    /// `remove` of an update.
    Remove(TypeId),
    /// A field: as an argument of get and check, in `AddTInput`, `TRef`, `TPatch`, in `TFilter` (there an edge takes the
    /// filter of its target, the ID a list, a Boolean its value, any other a filter of its type), and in `TOrder` (an edge,
    /// which takes the order of its target).
    Field(FieldId),
    /// The password in inputs and in `check…Password`.
    Secret(TypeId),
    /// `and`.
    And,
    /// `or`.
    Or,
    /// `not`.
    Not,
    /// `has`.
    Has(TypeId),
    /// `memberTypes` in the filter of a union.
    MemberTypes(TypeId),
    /// `cityFilter` and `cityRef` of a union's filter and reference: the member.
    Member(TypeId),
    /// An operator in the filter of a scalar.
    Compare(Operator),
    /// `min` of `between`.
    Min,
    /// `max` of `between`.
    Max,
    /// `fields` of `@cascade`.
    Cascade,
    /// `asc` of an order.
    Asc,
    /// `desc` of an order.
    Desc,
    /// `then` of an order.
    Then,
    /// A member of a geo input.
    Geo(Geo),
}

/// The operators of filters over scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Operator {
    Eq,
    In,
    Le,
    Lt,
    Ge,
    Gt,
    Between,
    AllOfTerms,
    AnyOfTerms,
    AllOfText,
    AnyOfText,
    Regexp,
    Ngram,
    Near,
    Within,
    Contains,
    Intersects,
}

/// Meanings of enum values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnumMeaning {
    /// A member that is not part of this API.
    None,
    /// A field, in `TOrderable` and `THasFilter`.
    Field(FieldId),
    /// A value of an enum of the model, by its place.
    Value(EnumId, u32),
    /// A member, in `memberTypes` of a union's filter.
    Member(TypeId),
}
