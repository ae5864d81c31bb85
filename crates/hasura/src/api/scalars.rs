//! Scalars of column types, and the inputs that compare them.

use super::meaning::InputMeaning;
use super::schema_core::{Core, array_of, list, list_of, plain, write};
use super::shape_operators;
use crate::model::convention;
use crate::model::graphql_names::graphql_name;
use std::borrow::Cow;
use weir_language::schema::{ScalarReader, TypeId, TypeRef};
use weir_relational::catalog::ColumnType;
use weir_relational::catalog::facts::{InputForm, Operators};
use weir_relational::plan::comparison_table::{MEASURES, Takes};
use weir_relational::plan::operators::Cast;

/// The GraphQL name of a column type. Unknown types keep their own name where it can be one.
pub fn scalar_name(ty: &ColumnType) -> &str {
    let ty = nameable_type(ty.element().unwrap_or(ty));
    ty.facts().scalar.or(ty.own_name()).unwrap_or("String")
}

/// `ty`, or a text if no scalar can have the name of `ty`.
fn nameable_type(ty: &ColumnType) -> &ColumnType {
    let (None, Some(name)) = (ty.element(), ty.own_name()) else { return ty };
    let own = matches!(graphql_name(name), Some(Cow::Borrowed(_))) && !crate::model::is_reserved_type(name);
    if own { ty } else { &ColumnType::Text }
}

/// The reader of values of `form`.
const fn reader(form: InputForm) -> ScalarReader {
    match form {
        InputForm::BigInt => ScalarReader::BigInt,
        InputForm::Decimal => ScalarReader::Decimal,
        InputForm::Text => ScalarReader::Text,
        InputForm::Json => ScalarReader::Json,
    }
}

/// Casts of a family's values: the type of `_cast`, its field, the cast.
const CASTS: [(Operators, &str, &str, Cast); 3] = [
    (Operators::Jsonb, "jsonb_cast_exp", "String", Cast::Text),
    (Operators::Plane, "geometry_cast_exp", "geography", Cast::Geography),
    (Operators::Globe, "geography_cast_exp", "geometry", Cast::Geometry),
];

/// Description of comparison inputs, before and after the name of the compared type.
pub(super) const COMPARES: (&str, &str) =
    ("Boolean expression to compare columns of type \"", "\". All fields are combined with logical 'AND'.");

impl Core {
    /// The scalar of a column type, or the list of it, and the input that compares it; [`Self::define_scalars`] defines
    /// both.
    pub(super) fn scalar_uses(&mut self, ty: &ColumnType) -> (TypeRef, TypeId) {
        let ty = nameable_type(ty);
        if let Some(&(_, scalar, comparison)) = self.scalars.iter().find(|(known, ..)| known == ty) {
            return (scalar, comparison);
        }
        let name = scalar_name(ty);
        let (scalar, suffix) = match ty.element() {
            None => {
                let name = self.scalar(name);
                (plain(self.b.reference(&name)), "_comparison_exp")
            }
            Some(element) => (array_of(self.scalar_uses(element).0), "_array_comparison_exp"),
        };
        write(&mut self.name, &[name, suffix]);
        let comparison = self.b.reference(&self.shared_type_name(&self.name));
        self.scalars.push((ty.clone(), scalar, comparison));
        (scalar, comparison)
    }

    /// `name` of a scalar by the source's convention.
    fn scalar<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if self.is_camel { Cow::Owned(convention::capital(name)) } else { Cow::Borrowed(name) }
    }

    /// Defines all scalars that were used, and their comparisons.
    pub(super) fn define_scalars(&mut self) {
        if self.scalars.iter().any(|(ty, ..)| shape_operators::is_of_postgis(ty)) {
            self.scalar_uses(&ColumnType::Geometry);
            self.scalar_uses(&ColumnType::Geography);
        }
        for (family, name, field, to) in CASTS {
            if self.scalars.iter().any(|(ty, ..)| ty.facts().operators.contains(&family)) {
                let (_, comparison) = self.scalar_uses(&to.result_type());
                self.b.input_object(&self.shared_type_name(name), "");
                self.input_field(field, "", plain(comparison), InputMeaning::CastTo(to));
            }
        }
        self.define_measures();
        let mut defined: Vec<TypeId> = Vec::new();
        for (ty, scalar, comparison) in std::mem::take(&mut self.scalars) {
            if defined.contains(&comparison) {
                continue;
            }
            defined.push(comparison);
            let name = scalar_name(&ty);
            let facts = ty.facts();
            if ty.element().is_some() {
                self.comparison(&format!("{name}_array"), scalar, facts.operators);
                continue;
            }
            if let Some(form) = facts.input {
                let name = self.scalar(name);
                self.b.scalar(&name, "", reader(form));
            }
            self.comparison(name, scalar, facts.operators);
        }
    }

    /// The input that compares values of a scalar or a list of it by the operators of `families`.
    fn comparison(&mut self, name: &str, base: TypeRef, families: &[Operators]) {
        let own = format!("{name}_comparison_exp");
        self.b.input_object(&self.shared_type_name(&own), &[COMPARES.0, name, COMPARES.1].concat());
        self.compare(base, families);
    }

    /// The fields that compare values of `base` by the operators of `families`.
    pub(super) fn compare(&mut self, base: TypeRef, families: &[Operators]) {
        let mut fields: Vec<(&str, &str, TypeRef, InputMeaning)> = Vec::new();
        for &(name, operator, words) in families.iter().flat_map(|it| it.comparisons()) {
            let ty = match operator.takes() {
                Takes::Own | Takes::Pattern => base,
                Takes::Owns => list_of(base),
                Takes::Boolean => plain(self.common.boolean),
                Takes::Text | Takes::Question(_) => plain(self.common.string),
                Takes::Texts | Takes::Questions(_) => list(self.common.string),
            };
            fields.push((name, words, ty, InputMeaning::Compare(operator)));
        }
        for (_, cast, ..) in CASTS.iter().filter(|it| families.contains(&it.0)) {
            fields.push((
                "_cast",
                "",
                plain(self.b.reference(&self.shared_type_name(cast))),
                InputMeaning::Cast,
            ));
        }
        for &(_, name, by, input, words) in MEASURES.iter().filter(|it| families.contains(&it.0)) {
            let input = plain(self.b.reference(&self.shared_type_name(input.0)));
            fields.push((name, words, input, InputMeaning::Measure(by)));
        }
        // Hasura's order of the fields.
        fields.sort_unstable_by_key(|it| it.0);
        for (name, words, ty, meaning) in fields {
            self.input_field(name, words, ty, meaning);
        }
    }
}
