//! Fields and variants of Rust types as members of GraphQL types, and the implementation of `GraphqlType`.
//!
//! **Invariant:** members of one type have different names.

use crate::attributes::Options;
use crate::names;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, Fields, Type, Variant};

/// A field or variant that GraphQL sees.
pub(crate) struct MemberOf {
    pub(crate) rust: Ident,
    pub(crate) name: String,
    span: Span,
    /// Of a field, or of what a variant holds.
    pub(crate) ty: Option<Type>,
    options: Options,
}

impl MemberOf {
    /// A field with a name in camel case; `None` if it is skipped.
    pub(crate) fn of_field(field: &Field, allowed: &[&str]) -> syn::Result<Option<Self>> {
        let options = Options::read(&field.attrs, allowed)?;
        let Some(rust) = field.ident.clone() else {
            return Err(syn::Error::new(field.span(), "a field needs a name"));
        };
        let member = Self::new(rust, names::camel, Some(field.ty.clone()), options)?;
        Ok((!member.options.skip).then_some(member))
    }

    /// A variant that holds one value.
    pub(crate) fn of_variant(variant: &Variant, allowed: &[&str]) -> syn::Result<Self> {
        let options = Options::read(&variant.attrs, allowed)?;
        let ty = match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed[0].ty.clone(),
            _ => {
                return Err(syn::Error::new(variant.span(), "a variant holds exactly one value: `Cat(Cat)`"));
            }
        };
        Self::new(variant.ident.clone(), names::camel, Some(ty), options)
    }

    /// A variant that holds nothing.
    pub(crate) fn of_unit(variant: &Variant, allowed: &[&str]) -> syn::Result<Self> {
        let options = Options::read(&variant.attrs, allowed)?;
        match &variant.fields {
            Fields::Unit => Self::new(variant.ident.clone(), names::screaming, None, options),
            _ => Err(syn::Error::new(variant.fields.span(), "a value of an enum holds nothing")),
        }
    }

    fn new(rust: Ident, name: fn(&Ident) -> String, ty: Option<Type>, options: Options) -> syn::Result<Self> {
        let (name, span) = options.name.clone().unwrap_or_else(|| (name(&rust), rust.span()));
        names::check(&name, span)?;
        Ok(Self { rust, name, span, ty, options })
    }

    /// The expression that makes the `Member`. `types` is in scope.
    pub(crate) fn expression(&self, is_nullable: bool) -> TokenStream {
        let Self { name, options, ty, .. } = self;
        let mut member = quote!(::weir_runtime::macros::Member::new(#name));
        if let Some(ty) = ty {
            let ty_span = ty.span();
            let ty = if is_nullable { quote!(::std::option::Option<#ty>) } else { quote!(#ty) };
            let mut reference =
                quote_spanned!(ty_span=> <#ty as ::weir_runtime::GraphqlType>::reference(types));
            if options.id {
                reference = quote!(::weir_runtime::macros::as_id(&#reference));
            }
            member.extend(quote!(.of(#reference)));
        }
        if let Some(arguments) = &options.arguments {
            let arguments = quote_spanned! {arguments.span()=>
                <#arguments as ::weir_runtime::GraphqlFields>::fields(types)
            };
            member.extend(quote!(.arguments(#arguments)));
        }
        if !options.description.is_empty() {
            let description = &options.description;
            member.extend(quote!(.described(#description)));
        }
        if let Some(literal) = &options.default {
            member.extend(quote!(.defaulted(#literal)));
        }
        if let Some(checks) = &options.checks {
            member.extend(quote!(.validated(#checks)));
        }
        if let Some(reason) = &options.deprecated {
            member.extend(quote!(.deprecated(#reason)));
        }
        member
    }
}

/// Refuses two members of one name.
pub(crate) fn check_names(members: &[MemberOf]) -> syn::Result<()> {
    names::check_unique(members.iter().map(|it| (it.name.as_str(), it.span)))
}

/// The named fields of a struct.
pub(crate) fn fields<'d>(input: &'d DeriveInput, what: &str) -> syn::Result<Vec<&'d Field>> {
    no_generics(input)?;
    match &input.data {
        Data::Struct(data) if matches!(data.fields, Fields::Named(_)) => Ok(data.fields.iter().collect()),
        _ => Err(syn::Error::new(input.ident.span(), format!("{what} is a struct with named fields"))),
    }
}

/// The variants of an enum.
pub(crate) fn variants<'d>(input: &'d DeriveInput, what: &str) -> syn::Result<Vec<&'d Variant>> {
    no_generics(input)?;
    match &input.data {
        Data::Enum(data) if !data.variants.is_empty() => Ok(data.variants.iter().collect()),
        _ => Err(syn::Error::new(input.ident.span(), format!("{what} is an enum with variants"))),
    }
}

pub(crate) fn no_generics(input: &DeriveInput) -> syn::Result<()> {
    match input.generics.params.first() {
        None => Ok(()),
        Some(first) => Err(syn::Error::new(first.span(), "a GraphQL type has no parameters")),
    }
}

/// Collects the results, or all errors.
pub(crate) fn all<T>(results: impl Iterator<Item = syn::Result<T>>) -> syn::Result<Vec<T>> {
    let mut failed: Option<syn::Error> = None;
    let mut found = Vec::new();
    for result in results {
        match (result, &mut failed) {
            (Ok(value), _) => found.push(value),
            (Err(error), Some(failed)) => failed.combine(error),
            (Err(error), None) => failed = Some(error),
        }
    }
    failed.map_or(Ok(found), Err)
}

/// The GraphQL name of a type.
pub(crate) fn type_name(input: &DeriveInput, options: &Options) -> syn::Result<String> {
    match &options.name {
        Some((name, _)) => Ok(name.clone()),
        None => {
            let name = input.ident.to_string();
            names::check(&name, input.ident.span()).map(|()| name)
        }
    }
}

/// The implementation of `GraphqlType`; `members` is the expression of a list, with `types` in scope.
pub(crate) fn graphql_type(
    input: &DeriveInput,
    options: &Options,
    kind: &str,
    members: &TokenStream,
) -> syn::Result<TokenStream> {
    let (rust, name) = (&input.ident, type_name(input, options)?);
    let (kind, description) = (Ident::new(kind, Span::call_site()), &options.description);
    let specified_by = match &options.specified_by {
        Some(url) => quote!(::std::option::Option::Some(#url)),
        None => quote!(::std::option::Option::None),
    };
    Ok(quote! {
        impl ::weir_runtime::GraphqlType for #rust {
            #[allow(unused_variables)]
            fn reference(types: &mut ::weir_runtime::macros::TypeDefinitions) -> ::std::string::String {
                types.define::<Self>(#name, |types| ::weir_runtime::macros::TypeDefinition {
                    kind: ::weir_runtime::macros::DefinitionKind::#kind,
                    description: #description,
                    members: #members,
                    specified_by: #specified_by,
                })
            }
        }
    })
}
