//! Derive macros of `weir-runtime`: Rust types as types of a GraphQL schema. The rules are in `docs/library/code-first.md`.
//!
//! Each macro makes what the macros of `weir-runtime` make (`record!`, `input!`, …), and an implementation of `GraphqlType`, from which
//! the SDL of the type is printed. Names are in camel case; `#[graphql(name = "…")]` gives another. Doc comments are descriptions.
//!
//! **Invariant:** an error stands at the attribute, field or variant that it is about.
//!
//! **Cost:** at compile time only; the code is that of the macros by hand.

mod abstract_derive;
mod attributes;
mod check_attributes;
mod graphql_names;
mod input_derive;
mod leaf_derive;
mod object_derive;
#[cfg(test)]
mod tests;
mod type_fields;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// The expansion of a macro, or its errors.
type Expand = fn(&DeriveInput) -> syn::Result<proc_macro2::TokenStream>;

fn run(input: TokenStream, expand: Expand) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// A struct as an object type.
#[proc_macro_derive(Object, attributes(graphql))]
pub fn object(input: TokenStream) -> TokenStream {
    run(input, object_derive::object)
}

/// A struct as an input object type, or as the arguments of a field.
#[proc_macro_derive(Input, attributes(graphql))]
pub fn input(input: TokenStream) -> TokenStream {
    run(input, input_derive::input)
}

/// An enum as a `@oneOf` input object type.
#[proc_macro_derive(OneOf, attributes(graphql))]
pub fn one_of(input: TokenStream) -> TokenStream {
    run(input, input_derive::one_of)
}

/// An enum without fields as an enum type.
#[proc_macro_derive(Enum, attributes(graphql))]
pub fn enumeration(input: TokenStream) -> TokenStream {
    run(input, leaf_derive::enumeration)
}

/// A type with a reader and a writer as a custom scalar.
#[proc_macro_derive(Scalar, attributes(graphql))]
pub fn scalar(input: TokenStream) -> TokenStream {
    run(input, leaf_derive::scalar)
}

/// An enum of objects as a union.
#[proc_macro_derive(Union, attributes(graphql))]
pub fn union(input: TokenStream) -> TokenStream {
    run(input, abstract_derive::union)
}

/// An enum of objects as an interface.
#[proc_macro_derive(Interface, attributes(graphql))]
pub fn interface(input: TokenStream) -> TokenStream {
    run(input, abstract_derive::interface)
}
