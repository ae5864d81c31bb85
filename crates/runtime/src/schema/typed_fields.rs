//! Schemas from Rust types: fields whose types are those of their resolvers.
//!
//! **Cost:** once per schema.

use super::Schema;
use super::builder::SchemaBuilder;
use crate::resolver::TypedResolver;
use crate::resolver::any_resolver::AnyResolver;
use crate::resolver::leaf_resolver::TypedLeaf;
use crate::rust_types::type_definitions::Member;
use crate::rust_types::typed::{GraphqlFields, GraphqlType};

/// A resolver whose types are known: a [`TypedResolver`] or a [`TypedLeaf`]. [`Schema::code_first`] has an example.
pub trait TypedField: Into<AnyResolver> {
    /// Argument type of the field.
    type Arguments: GraphqlFields;
    /// The field's value.
    type Value: GraphqlType + ?Sized;
}

impl<I: GraphqlFields, A: GraphqlType> TypedField for TypedResolver<I, A> {
    type Arguments = I;
    type Value = A;
}

impl<A: GraphqlType + ?Sized> TypedField for TypedLeaf<A> {
    type Arguments = ();
    type Value = A;
}

impl Schema {
    /// Begins without an SDL: the schema is made of the fields that [`SchemaBuilder::field`] adds.
    ///
    /// ```
    /// use weir_runtime::{Context, Object, Schema, root};
    ///
    /// /// Someone who writes.
    /// #[derive(Object)]
    /// struct User { #[graphql(id)] id: String, full_name: String }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = Schema::code_first()
    ///     .field("Query.users", root(|_: &(), _: &Context| vec![User { id: "1".into(), full_name: "Ada".into() }]))
    ///     .build()?;
    /// assert!(schema.sdl().contains("type Query {\n  users: [User!]!\n}"));
    /// assert!(schema.sdl().contains("type User {\n  id: ID!\n  fullName: String!\n}"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn code_first() -> SchemaBuilder {
        Self::builder("")
    }
}

impl SchemaBuilder {
    /// Adds a field with its resolver, whose Rust types are the types of the field and its arguments. The type of `coordinate` is a
    /// root type, a derived `Object`, or one of the builder's SDL.
    pub fn field<F: TypedField>(mut self, coordinate: &str, resolver: F) -> Self {
        let (owner, name) = coordinate.split_once('.').unwrap_or((coordinate, ""));
        let ty = F::Value::reference(&mut self.code.types);
        let arguments = F::Arguments::fields(&mut self.code.types);
        self.code.add(owner, Member::new(name).of(ty).arguments(arguments));
        self.resolve(coordinate, resolver)
    }
    /// Adds a type that no field gives: an implementation of an interface.
    pub fn add_type<T: GraphqlType>(mut self) -> Self {
        T::reference(&mut self.code.types);
        self
    }
    /// Describes a field that [`SchemaBuilder::field`] added before.
    pub fn describe(mut self, coordinate: &str, description: &str) -> Self {
        self.code.change(coordinate, |it| it.with_description(description));
        self
    }
    /// Deprecates a field that [`SchemaBuilder::field`] added before.
    pub fn deprecate(mut self, coordinate: &str, reason: &str) -> Self {
        self.code.change(coordinate, |it| it.with_deprecation(reason));
        self
    }
}
