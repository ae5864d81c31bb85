//! `Object`: a struct as an object type, or several where it has parameters.

use crate::attributes::Options;
use crate::type_fields::{
    Instance, MemberOf, all, check_flattened, check_names, fields, graphql_type_of, instances,
};
use proc_macro2::{Ident, TokenStream};
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

/// The fields of a record: those of the struct itself come first, those of flattened ones follow.
struct RecordFields<'m> {
    rust: &'m TokenStream,
    own: Vec<&'m MemberOf>,
    flattened: Vec<&'m MemberOf>,
}

/// The output of `record!`.
fn record(instance: &Instance, members: &[MemberOf]) -> TokenStream {
    let Instance { rust, name, .. } = instance;
    let (flattened, own) = members.iter().partition(|it: &&MemberOf| it.is_flattened);
    let fields = RecordFields { rust, own, flattened };
    let names = fields.own.iter().map(|it| &it.name);
    let own_len = fields.own.len();
    let bases: Vec<_> = fields.flattened.iter().filter_map(|it| it.ty.as_ref()).collect();
    let bind = fields.bind();
    let write = fields.write();
    let column = fields.column();
    quote! {
        impl ::weir_runtime::macros::Record for #rust {
            const NAME: &'static str = #name;
            const FIELDS: &'static [&'static str] = {
                const LEN: usize = #own_len #(+ <#bases as ::weir_runtime::macros::Record>::FIELDS.len())*;
                const ALL: [&str; LEN] = ::weir_runtime::macros::join_names(
                    &[&[#(#names),*], #(<#bases as ::weir_runtime::macros::Record>::FIELDS),*]
                );
                &ALL
            };
            fn bind_field(
                index: usize,
                binder: &mut ::weir_runtime::macros::Binder<'_>,
                spot: ::weir_runtime::macros::Spot<'_>,
            ) -> ::std::result::Result<(), ::weir_runtime::macros::Unbound> {
                #bind
            }
            #[inline(always)]
            fn write_field(
                &self,
                index: usize,
                field: u32,
                of: &::weir_runtime::macros::OutputField,
                writer: &mut ::weir_runtime::macros::Writer<'_>,
            ) -> bool {
                #write
            }
            fn field_column(
                records: &[::std::option::Option<&Self>],
                index: usize,
                spot: ::weir_runtime::macros::Spot<'_>,
                scope: ::weir_runtime::macros::Scope<'_>,
            ) -> ::weir_runtime::macros::Column {
                #column
            }
        }
        ::weir_runtime::record!(@answer #rust);
    }
}

impl RecordFields<'_> {
    /// Statements that return what `own` makes of the field with the number `index`, or `within` of that of a flattened field's type, whose
    /// number is `rest`.
    fn choose(
        &self,
        own: impl Fn(&MemberOf) -> TokenStream,
        within: impl Fn(&MemberOf) -> TokenStream,
    ) -> TokenStream {
        let arms = self.own.iter().enumerate().map(|(index, it)| {
            let value = own(it);
            quote!(#index => return #value,)
        });
        let mut start = {
            let own_len = self.own.len();
            quote!(#own_len)
        };
        let parts = self.flattened.iter().map(|it| {
            let ty = &it.ty;
            let value = within(it);
            let from = start.clone();
            start.extend(quote!(+ <#ty as ::weir_runtime::macros::Record>::FIELDS.len()));
            quote! {
                if index < #start {
                    let rest = index - (#from);
                    return #value;
                }
            }
        });
        let parts: Vec<TokenStream> = parts.collect();
        quote! {
            match index {
                #(#arms)*
                _ => {}
            }
            #(#parts)*
            ::std::unreachable!("a binding has no other field")
        }
    }

    fn bind(&self) -> TokenStream {
        let rust = self.rust;
        self.choose(
            |it| {
                let field = &it.rust;
                quote!(::weir_runtime::macros::bind_by(|it: &#rust| &it.#field, binder, spot))
            },
            |it| {
                let ty = &it.ty;
                quote!(<#ty as ::weir_runtime::macros::Record>::bind_field(rest, binder, spot))
            },
        )
    }

    fn write(&self) -> TokenStream {
        self.choose(
            |it| {
                let field = &it.rust;
                quote!(::weir_runtime::Answer::write_member(&self.#field, field, of, writer))
            },
            |it| {
                let field = &it.rust;
                quote!(::weir_runtime::macros::Record::write_field(&self.#field, rest, field, of, writer))
            },
        )
    }

    fn column(&self) -> TokenStream {
        let values = |field: &Ident| {
            quote! {
                let values: ::std::vec::Vec<_> =
                    records.iter().map(|record| record.map(|it| &it.#field)).collect();
            }
        };
        self.choose(
            |it| {
                let values = values(&it.rust);
                quote!({ #values ::weir_runtime::Answer::column(&values, spot, scope) })
            },
            |it| {
                let values = values(&it.rust);
                quote!({ #values ::weir_runtime::macros::Record::field_column(&values, rest, spot, scope) })
            },
        )
    }
}
