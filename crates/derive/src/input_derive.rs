//! `Input` and `OneOf`: structs and enums as input objects and arguments.

use crate::attributes::Options;
use crate::type_fields::{
    Instance, MemberOf, all, check_flattened, check_names, fields, graphql_type, graphql_type_of, instances,
    variants,
};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::DeriveInput;

pub(crate) fn input(input: &DeriveInput) -> syn::Result<TokenStream> {
    let fields = fields(input, "an input")?;
    let options = Options::read(&input.attrs, &["name", "concrete"])?;
    let allowed = &["name", "deprecated", "default", "id", "validate", "flatten"];
    let members = all(fields.into_iter().map(|it| MemberOf::of_field(it, allowed)))?;
    let members: Vec<MemberOf> = members.into_iter().flatten().collect();
    check_names(&members)?;
    let instances = instances(input, &options)?;
    check_flattened(&members, &instances)?;
    Ok(instances.iter().map(|it| of_instance(it, &options, &members)).collect())
}

fn of_instance(instance: &Instance, options: &Options, members: &[MemberOf]) -> TokenStream {
    let rust = &instance.rust;
    let list = quote!(<Self as ::weir_runtime::GraphqlFields>::fields(types));
    let ty = graphql_type_of(instance, options, "Input", &list);
    let of = (&quote!(::weir_runtime::GraphqlFields), &format_ident!("fields"));
    let statements: Vec<TokenStream> = members.iter().map(|it| it.statement(instance, of)).collect();
    let object = input_object(instance, members);
    quote! {
        #object
        impl ::weir_runtime::GraphqlFields for #rust {
            #[allow(unused_variables, unused_mut)]
            fn fields(
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

/// The output of `input!`. Fields of the struct itself come first, those of flattened ones follow.
fn input_object(instance: &Instance, members: &[MemberOf]) -> TokenStream {
    let rust = &instance.rust;
    let type_name = instance.rust.to_string();
    let own: Vec<&MemberOf> = members.iter().filter(|it| !it.is_flattened).collect();
    let names = own.iter().map(|it| &it.name);
    let idents: Vec<_> = own.iter().map(|it| &it.rust).collect();
    let indexes: Vec<usize> = (0..own.len()).collect();
    let flattened: Vec<&MemberOf> = members.iter().filter(|it| it.is_flattened).collect();
    let bases: Vec<_> = flattened.iter().filter_map(|it| it.ty.as_ref()).collect();
    let within = flattened.iter().map(|it| &it.rust);
    let own_len = own.len();
    let starts = (0..bases.len()).map(|at| {
        let before = &bases[..at];
        quote!(#own_len #(+ <#before as ::weir_runtime::InputObject>::FIELDS.len())*)
    });
    let starts: Vec<TokenStream> = starts.collect();
    quote! {
        impl ::weir_runtime::InputObject for #rust {
            const NAME: &'static str = #type_name;
            const FIELDS: &'static [&'static str] = {
                const LEN: usize = #own_len #(+ <#bases as ::weir_runtime::InputObject>::FIELDS.len())*;
                const ALL: [&str; LEN] = ::weir_runtime::macros::join_names(
                    &[&[#(#names),*], #(<#bases as ::weir_runtime::InputObject>::FIELDS),*]
                );
                &ALL
            };
            fn bind_field(
                index: usize,
                binder: &mut ::weir_runtime::InputBinder<'_>,
                ty: ::weir_runtime::TypeRef,
            ) -> ::std::result::Result<::weir_runtime::BoundInput, ::std::string::String> {
                match index {
                    #(#indexes => return ::weir_runtime::bind_input_by(|it: &#rust| &it.#idents, binder, ty),)*
                    _ => {}
                }
                #(
                    if (#starts..#starts + <#bases as ::weir_runtime::InputObject>::FIELDS.len()).contains(&index) {
                        return <#bases as ::weir_runtime::InputObject>::bind_field(index - (#starts), binder, ty);
                    }
                )*
                ::std::result::Result::Err(::std::format!("there is no field {index}"))
            }
            #[allow(unused_variables)]
            fn read_fields(
                fields: &::weir_runtime::InputFields<'_>,
            ) -> ::std::result::Result<Self, ::weir_runtime::InputError> {
                ::std::result::Result::Ok(Self {
                    #(#idents: fields.get(#indexes)?,)*
                    #(#within: <#bases as ::weir_runtime::InputObject>::read_fields(
                        &fields.part(#starts, <#bases as ::weir_runtime::InputObject>::FIELDS.len())
                    )?,)*
                })
            }
        }
        ::weir_runtime::input!(@value #rust);
    }
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
    let names = members.iter().map(|it| &it.name);
    let idents = members.iter().map(|it| &it.rust);
    Ok(quote! {
        ::weir_runtime::input_one_of!(#rust { #(#idents => #names),* });
        #ty
    })
}
