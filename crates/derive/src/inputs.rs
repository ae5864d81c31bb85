//! `Input` and `OneOf`: structs and enums as input objects and arguments.

use crate::attributes::Options;
use crate::members::{MemberOf, all, check_names, fields, graphql_type, variants};
use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

pub(crate) fn input(input: &DeriveInput) -> syn::Result<TokenStream> {
    let fields = fields(input, "an input")?;
    let options = Options::read(&input.attrs, &["name"])?;
    let allowed = &["name", "deprecated", "default", "id", "validate"];
    let members = all(fields.into_iter().map(|it| MemberOf::of_field(it, allowed)))?;
    let members: Vec<MemberOf> = members.into_iter().flatten().collect();
    check_names(&members)?;
    let rust = &input.ident;
    let list = quote!(<Self as ::weir_runtime::GraphqlFields>::fields(types));
    let ty = graphql_type(input, &options, "Input", &list)?;
    let (names, idents) = (members.iter().map(|it| &it.name), members.iter().map(|it| &it.rust));
    let expressions = members.iter().map(|it| it.expression(false));
    Ok(quote! {
        ::weir_runtime::input!(#rust { #(#idents as #names),* });
        impl ::weir_runtime::GraphqlFields for #rust {
            #[allow(unused_variables)]
            fn fields(
                types: &mut ::weir_runtime::macros::TypeDefinitions,
            ) -> ::std::vec::Vec<::weir_runtime::macros::Member> {
                ::std::vec![#(#expressions),*]
            }
        }
        #ty
    })
}

pub(crate) fn one_of(input: &DeriveInput) -> syn::Result<TokenStream> {
    let variants = variants(input, "a `@oneOf` input")?;
    let options = Options::read(&input.attrs, &["name"])?;
    let allowed = &["name", "deprecated", "id", "validate"];
    let members = all(variants.into_iter().map(|it| MemberOf::of_variant(it, allowed)))?;
    check_names(&members)?;
    let rust = &input.ident;
    let expressions = members.iter().map(|it| it.expression(true));
    let ty = graphql_type(input, &options, "OneOf", &quote!(::std::vec![#(#expressions),*]))?;
    let (names, idents) = (members.iter().map(|it| &it.name), members.iter().map(|it| &it.rust));
    Ok(quote! {
        ::weir_runtime::input_one_of!(#rust { #(#idents => #names),* });
        #ty
    })
}
