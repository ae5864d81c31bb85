//! `Enum` and `Scalar`: leaves of a schema.

use crate::attributes::Options;
use crate::type_fields::{MemberOf, all, check_names, graphql_type, no_generics, type_name, variants};
use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

pub(crate) fn enumeration(input: &DeriveInput) -> syn::Result<TokenStream> {
    let variants = variants(input, "an enum")?;
    let options = Options::read(&input.attrs, &["name"])?;
    let members = all(variants.into_iter().map(|it| MemberOf::of_unit(it, &["name", "deprecated"])))?;
    check_names(&members)?;
    let rust = &input.ident;
    let expressions = members.iter().map(|it| it.expression(false));
    let ty = graphql_type(input, &options, "Enum", &quote!(::std::vec![#(#expressions),*]))?;
    let names = members.iter().map(|it| &it.name);
    let idents = members.iter().map(|it| &it.rust);
    Ok(quote! {
        ::weir_runtime::enumeration!(#rust { #(#idents => #names),* });
        #ty
    })
}

pub(crate) fn scalar(input: &DeriveInput) -> syn::Result<TokenStream> {
    no_generics(input)?;
    let options = Options::read(&input.attrs, &["name", "read", "write", "specified_by"])?;
    let (Some(read), Some(write)) = (&options.read, &options.write) else {
        let message = "a scalar needs `#[graphql(read = path, write = path)]`: \
            `fn(ScalarValue<'_>) -> Result<Self, String>` and `fn(&Self, &mut ScalarWriter<'_>)`";
        return Err(syn::Error::new(input.ident.span(), message));
    };
    let rust = &input.ident;
    let name = type_name(input, &options)?;
    let ty = graphql_type(input, &options, "Scalar", &quote!(::std::vec::Vec::new()))?;
    Ok(quote! {
        impl ::weir_runtime::Scalar for #rust {
            const NAME: &'static str = #name;
            fn read(
                value: ::weir_runtime::ScalarValue<'_>,
            ) -> ::std::result::Result<Self, ::std::string::String> {
                #read(value)
            }
            fn write(&self, writer: &mut ::weir_runtime::ScalarWriter<'_>) {
                #write(self, writer);
            }
        }
        ::weir_runtime::scalar!(#rust);
        #ty
    })
}
