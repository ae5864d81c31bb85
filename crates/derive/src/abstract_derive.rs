//! `Union` and `Interface`: enums of objects.

use crate::attributes::Options;
use crate::type_fields::{MemberOf, all, check_names, graphql_type, type_name, variants};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, Type};

/// References of the objects that the variants hold.
fn objects(members: &[MemberOf]) -> impl Iterator<Item = TokenStream> {
    members.iter().filter_map(|it| it.ty.as_ref()).map(reference)
}

fn reference(ty: &Type) -> TokenStream {
    quote_spanned!(ty.span()=> <#ty as ::weir_runtime::GraphqlType>::reference(types))
}

pub(crate) fn union(input: &DeriveInput) -> syn::Result<TokenStream> {
    let variants = variants(input, "a union")?;
    let options = Options::read(&input.attrs, &["name"])?;
    let members = all(variants.into_iter().map(|it| MemberOf::of_variant(it, &[])))?;
    let rust = &input.ident;
    let objects = objects(&members);
    let list = quote!(::std::vec![
        #(::weir_runtime::macros::Member::new(#objects.trim_end_matches('!'))),*
    ]);
    let ty = graphql_type(input, &options, "Union", &list)?;
    let idents = members.iter().map(|it| &it.rust);
    Ok(quote! {
        ::weir_runtime::union!(#rust { #(#idents),* });
        #ty
    })
}

pub(crate) fn interface(input: &DeriveInput) -> syn::Result<TokenStream> {
    let variants = variants(input, "an interface")?;
    let options = Options::read(&input.attrs, &["name", "fields", "implements"])?;
    let members = all(variants.into_iter().map(|it| MemberOf::of_variant(it, &[])))?;
    if options.fields.is_empty() {
        let message = "an interface needs `#[graphql(fields(name: String))]`";
        return Err(syn::Error::new(input.ident.span(), message));
    }
    let allowed = &["name", "deprecated", "id", "arguments"];
    let fields = all(options.fields.iter().map(|it| MemberOf::of_field(it, allowed)))?;
    let fields: Vec<MemberOf> = fields.into_iter().flatten().collect();
    check_names(&fields)?;
    let rust = &input.ident;
    let name = type_name(input, &options)?;
    let objects = objects(&members);
    let expressions = fields.iter().map(|it| it.expression(false));
    let interfaces = options.implements.iter().map(reference);
    let list = quote!({
        #({
            let interface = #interfaces;
            types.implement(#name, &interface);
        })*
        #({
            let object = #objects;
            types.implement(&object, #name);
        })*
        ::std::vec![#(#expressions),*]
    });
    let ty = graphql_type(input, &options, "Interface", &list)?;
    let idents = members.iter().map(|it| &it.rust);
    Ok(quote! {
        ::weir_runtime::union!(#rust { #(#idents),* });
        #ty
    })
}
