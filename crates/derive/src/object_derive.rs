//! `Object`: a struct as an object type, or several where it has parameters.

use crate::attributes::Options;
use crate::type_fields::{
    Instance, MemberOf, all, check_flattened, check_names, fields, graphql_type_of, instances,
};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::DeriveInput;

pub(crate) fn object(input: &DeriveInput) -> syn::Result<TokenStream> {
    let fields = fields(input, "an object")?;
    let options = Options::read(&input.attrs, &["name", "concrete"])?;
    let allowed = &["name", "deprecated", "skip", "id", "flatten"];
    let members = all(fields.into_iter().map(|it| MemberOf::of_field(it, allowed)))?;
    let members: Vec<MemberOf> = members.into_iter().flatten().collect();
    check_names(&members)?;
    let instances = instances(input, &options)?;
    check_flattened(&members, &instances)?;
    Ok(instances.iter().map(|it| of_instance(it, &options, &members)).collect())
}

fn of_instance(instance: &Instance, options: &Options, members: &[MemberOf]) -> TokenStream {
    let rust = &instance.rust;
    let of = (&quote!(::weir_runtime::macros::ObjectFields), &format_ident!("object_fields"));
    let statements: Vec<TokenStream> = members.iter().map(|it| it.statement(instance, of)).collect();
    let list = quote!(<Self as ::weir_runtime::macros::ObjectFields>::object_fields(types));
    let ty = graphql_type_of(instance, options, "Object", &list);
    let record = record(instance, members);
    quote! {
        #record
        impl ::weir_runtime::macros::ObjectFields for #rust {
            #[allow(unused_variables, unused_mut)]
            fn object_fields(
                types: &mut ::weir_runtime::macros::TypeDefinitions,
            ) -> ::std::vec::Vec<::weir_runtime::macros::Member> {
                let mut members = ::std::vec::Vec::new();
                #(#statements)*
                members
            }
        }
        #ty
    }
}

/// The call of `record!`.
fn record(instance: &Instance, members: &[MemberOf]) -> TokenStream {
    let Instance { rust, name, .. } = instance;
    let own = members.iter().filter(|it| !it.is_flattened).map(|it| {
        let MemberOf { rust, name, .. } = it;
        quote!(#rust as #name)
    });
    let flattened = members.iter().filter(|it| it.is_flattened).map(|it| {
        let MemberOf { rust, ty, .. } = it;
        quote!(#rust: #ty)
    });
    quote!(::weir_runtime::record!(@ (#name) #rust { #(#own),* } { #(#flattened),* });)
}
