//! Schemas from Rust types: fields whose types are those of their resolvers, printed as SDL when the schema is built.
//!
//! **Invariant:** what is built from types is what is built from their SDL.
//!
//! **Cost:** once per schema.

use crate::builder::SchemaBuilder;
use crate::resolver::TypedResolver;
use crate::schema::Schema;
use crate::type_definitions::{Member, TypeDefinitions, write_members};
use crate::typed::{GraphqlFields, GraphqlType};
use std::collections::HashMap;

/// Types and fields that are given as code.
#[derive(Default)]
pub(crate) struct CodeFirst {
    types: TypeDefinitions,
    /// Types of the fields, in the order in which they were met.
    owners: Vec<String>,
    fields: HashMap<String, Vec<Member>>,
    /// Coordinates that are described or deprecated but have no field.
    unknown: Vec<String>,
}

impl CodeFirst {
    fn add(&mut self, owner: &str, member: Member) {
        if !self.fields.contains_key(owner) {
            self.owners.push(owner.into());
        }
        self.fields.entry(owner.into()).or_default().push(member);
    }

    fn change(&mut self, coordinate: &str, change: impl FnOnce(Member) -> Member) {
        let (owner, name) = coordinate.split_once('.').unwrap_or((coordinate, ""));
        let members = self.fields.get_mut(owner);
        match members.and_then(|it| it.iter_mut().find(|it| it.name() == name)) {
            Some(member) => *member = change(std::mem::take(member)),
            None => self.unknown.push(coordinate.into()),
        }
    }

    /// The whole SDL, and what is wrong with the types.
    pub(crate) fn sdl(self, written: &str) -> (String, Vec<String>) {
        let mut out = String::from(written);
        let is_root = |it: &str| matches!(it, "Query" | "Mutation" | "Subscription");
        for owner in self.owners.iter().filter(|it| !self.types.has(it)) {
            let is_new = written.is_empty() && is_root(owner);
            out.push_str(if is_new { "type " } else { "\nextend type " });
            out.push_str(owner);
            write_members(self.fields[owner].iter(), &mut out);
            out.push_str("\n\n");
        }
        self.types.write(&self.fields, &mut out);
        let unknown = self.unknown.iter().map(|it| format!("`{it}` is no field that code adds"));
        let mut errors: Vec<String> = unknown.collect();
        errors.extend(self.types.into_conflicts());
        (out, errors)
    }
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
    pub fn field<I: GraphqlFields, A: GraphqlType>(
        mut self,
        coordinate: &str,
        resolver: TypedResolver<I, A>,
    ) -> Self {
        let (owner, name) = coordinate.split_once('.').unwrap_or((coordinate, ""));
        let ty = A::reference(&mut self.code.types);
        let arguments = I::fields(&mut self.code.types);
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
        self.code.change(coordinate, |it| it.described(description));
        self
    }
    /// Deprecates a field that [`SchemaBuilder::field`] added before.
    pub fn deprecate(mut self, coordinate: &str, reason: &str) -> Self {
        self.code.change(coordinate, |it| it.deprecated(reason));
        self
    }
}
