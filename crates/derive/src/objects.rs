//! `Object`: a struct as an object type.

use crate::attributes::Options;
use crate::members::{MemberOf, all, check_names, fields, graphql_type, type_name};
use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

pub(crate) fn object(input: &DeriveInput) -> syn::Result<TokenStream> {
    let fields = fields(input, "an object")?;
    let options = Options::read(&input.attrs, &["name"])?;
    let allowed = &["name", "deprecated", "skip", "id"];
    let members = all(fields.into_iter().map(|it| MemberOf::of_field(it, allowed)))?;
    let members: Vec<MemberOf> = members.into_iter().flatten().collect();
    check_names(&members)?;
    let expressions = members.iter().map(|it| it.expression(false));
    let ty = graphql_type(input, &options, "Object", &quote!(::std::vec![#(#expressions),*]))?;
    let record = record(input, &type_name(input, &options)?, &members);
    Ok(quote!(#record #ty))
}

/// The output of `record!`.
fn record(input: &DeriveInput, name: &str, members: &[MemberOf]) -> TokenStream {
    let rust = &input.ident;
    let names = members.iter().map(|it| &it.name);
    let fields: Vec<_> = members.iter().map(|it| &it.rust).collect();
    let indexes: Vec<usize> = (0..members.len()).collect();
    quote! {
        impl ::weir_runtime::macros::Record for #rust {
            const NAME: &'static str = #name;
            const FIELDS: &'static [&'static str] = &[#(#names),*];
            fn bind_field(
                index: usize,
                binder: &mut ::weir_runtime::macros::Binder<'_>,
                spot: ::weir_runtime::macros::Spot<'_>,
            ) -> ::std::result::Result<(), ::weir_runtime::macros::Unbound> {
                match index {
                    #(#indexes => ::weir_runtime::macros::bind_by(|it: &#rust| &it.#fields, binder, spot),)*
                    _ => ::std::unreachable!("a binding has no other field"),
                }
            }
            #[inline(always)]
            fn write_field(
                &self,
                index: usize,
                field: u32,
                of: &::weir_runtime::macros::OutputField,
                writer: &mut ::weir_runtime::macros::Writer<'_>,
            ) -> bool {
                match index {
                    #(#indexes => ::weir_runtime::Answer::write_member(&self.#fields, field, of, writer),)*
                    _ => ::std::unreachable!("a binding has no other field"),
                }
            }
            fn field_column(
                records: &[::std::option::Option<&Self>],
                index: usize,
                spot: ::weir_runtime::macros::Spot<'_>,
                scope: ::weir_runtime::macros::Scope<'_>,
            ) -> ::weir_runtime::macros::Column {
                match index {
                    #(#indexes => {
                        let values: ::std::vec::Vec<_> =
                            records.iter().map(|record| record.map(|it| &it.#fields)).collect();
                        ::weir_runtime::Answer::column(&values, spot, scope)
                    })*
                    _ => ::std::unreachable!("a binding has no other field"),
                }
            }
        }
        ::weir_runtime::record!(@answer #rust);
    }
}
