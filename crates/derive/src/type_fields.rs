//! Fields and variants of Rust types as members of GraphQL types, and the implementation of `GraphqlType`.
//!
//! **Invariant:** members of one type have different names.

use crate::attributes::{Concrete, Options};
use crate::graphql_names;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, Fields, GenericParam, Type, Variant};

/// A field or variant that GraphQL sees.
pub(crate) struct MemberOf {
    pub(crate) rust: Ident,
    pub(crate) name: String,
    span: Span,
    /// True if the fields of its type stand in its place.
    pub(crate) is_flattened: bool,
    /// Type of the field, or of the variant's content.
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
        let member = Self::new(rust, graphql_names::camel, Some(field.ty.clone()), options)?;
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
        Self::new(variant.ident.clone(), graphql_names::camel, Some(ty), options)
    }

    /// A variant that holds nothing.
    pub(crate) fn of_unit(variant: &Variant, allowed: &[&str]) -> syn::Result<Self> {
        let options = Options::read(&variant.attrs, allowed)?;
        match &variant.fields {
            Fields::Unit => {
                Self::new(variant.ident.clone(), graphql_names::to_screaming_snake, None, options)
            }
            _ => Err(syn::Error::new(variant.fields.span(), "a value of an enum holds nothing")),
        }
    }

    fn new(rust: Ident, name: fn(&Ident) -> String, ty: Option<Type>, options: Options) -> syn::Result<Self> {
        let (name, span) = options.name.clone().unwrap_or_else(|| (name(&rust), rust.span()));
        if let Some(flatten) = options.flatten.filter(|_| options.has_options_beside_flatten()) {
            return Err(syn::Error::new(flatten, "a flattened field has no name and no options of its own"));
        }
        let is_flattened = options.flatten.is_some();
        if !is_flattened {
            graphql_names::check(&name, span)?;
        }
        Ok(Self { rust, name, span, is_flattened, ty, options })
    }

    /// The statement that adds the members to the list `members`. `types` is in scope; the method of the trait gives those of a flattened
    /// field's type.
    pub(crate) fn statement(&self, instance: &Instance, (of, method): (&TokenStream, &Ident)) -> TokenStream {
        match &self.ty {
            Some(ty) if self.is_flattened => {
                quote_spanned!(ty.span()=> members.extend(<#ty as #of>::#method(types));)
            }
            _ => {
                let expression = self.expression_in(instance);
                quote!(members.push(#expression);)
            }
        }
    }

    /// The expression that makes the `Member`. `types` is in scope.
    pub(crate) fn expression(&self, is_nullable: bool) -> TokenStream {
        let reference = self.ty.as_ref().map(|ty| {
            let ty_span = ty.span();
            let ty = if is_nullable { quote!(::std::option::Option<#ty>) } else { quote!(#ty) };
            quote_spanned!(ty_span=> <#ty as ::weir_runtime::GraphqlType>::reference(types))
        });
        self.member(reference)
    }

    /// The expression of a field of `instance`, whose type may be written with parameters.
    fn expression_in(&self, instance: &Instance) -> TokenStream {
        if !instance.has_parameters {
            return self.expression(false);
        }
        let rust = &self.rust;
        let owner = &instance.rust;
        self.member(Some(quote!(::weir_runtime::macros::reference_by(|it: &#owner| &it.#rust, types))))
    }

    fn member(&self, reference: Option<TokenStream>) -> TokenStream {
        let Self { name, options, .. } = self;
        let mut member = quote!(::weir_runtime::macros::Member::new(#name));
        if let Some(mut reference) = reference {
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
            member.extend(quote!(.with_description(#description)));
        }
        if let Some(literal) = &options.default {
            member.extend(quote!(.with_default(#literal)));
        }
        if let Some(checks) = &options.checks {
            member.extend(quote!(.with_checks(#checks)));
        }
        if let Some(reason) = &options.deprecated {
            member.extend(quote!(.with_deprecation(#reason)));
        }
        member
    }
}

/// Refuses two members of one name.
pub(crate) fn check_names(members: &[MemberOf]) -> syn::Result<()> {
    graphql_names::check_unique(
        members.iter().filter(|it| !it.is_flattened).map(|it| (it.name.as_str(), it.span)),
    )
}

/// A Rust type that is a type of the schema: a struct, or a use of one with parameters.
pub(crate) struct Instance {
    /// The type with its arguments.
    pub(crate) rust: TokenStream,
    /// The GraphQL name.
    pub(crate) name: String,
    pub(crate) has_parameters: bool,
}

/// The types that `input` stands for: itself, or each `concrete` use.
pub(crate) fn instances(input: &DeriveInput, options: &Options) -> syn::Result<Vec<Instance>> {
    let ident = &input.ident;
    let generics = &input.generics;
    let Some(first) = generics.params.first() else {
        return match options.concrete.first() {
            Some(concrete) => Err(syn::Error::new(concrete.span, "`concrete` is for types with parameters")),
            None => {
                let name = type_name(input, options)?;
                Ok(vec![Instance { rust: quote!(#ident), name, has_parameters: false }])
            }
        };
    };
    if options.concrete.is_empty() {
        let message = "a GraphQL type has no parameters: name each use of this one by \
            `#[graphql(concrete(name = \"UserPage\", params(User)))]`";
        return Err(syn::Error::new(first.span(), message));
    }
    if let Some((_, span)) = &options.name {
        return Err(syn::Error::new(*span, "a type with parameters is named by `concrete`"));
    }
    if let Some(other) = generics.params.iter().find(|it| !matches!(it, GenericParam::Type(_))) {
        return Err(syn::Error::new(other.span(), "a GraphQL type has no parameters but types"));
    }
    let instance = |concrete: &Concrete| {
        let expected = generics.params.len();
        let found = concrete.params.len();
        if expected != found {
            let message = format!("`{ident}` has {expected} parameters, and here are {found}");
            return Err(syn::Error::new(concrete.span, message));
        }
        let params = &concrete.params;
        let rust = quote!(#ident<#(#params),*>);
        Ok(Instance { rust, name: concrete.name.clone(), has_parameters: true })
    };
    options.concrete.iter().map(instance).collect()
}

/// Refuses flattened fields beside parameters: a list of names cannot depend on a parameter.
pub(crate) fn check_flattened(members: &[MemberOf], instances: &[Instance]) -> syn::Result<()> {
    match members.iter().find(|it| it.is_flattened && instances.iter().any(|it| it.has_parameters)) {
        Some(member) => {
            Err(syn::Error::new(member.rust.span(), "a type with parameters has no flattened field"))
        }
        None => Ok(()),
    }
}

/// The named fields of a struct.
pub(crate) fn fields<'d>(input: &'d DeriveInput, what: &str) -> syn::Result<Vec<&'d Field>> {
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
            graphql_names::check(&name, input.ident.span()).map(|()| name)
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
    let ident = &input.ident;
    let name = type_name(input, options)?;
    let instance = Instance { rust: quote!(#ident), name, has_parameters: false };
    Ok(graphql_type_of(&instance, options, kind, members))
}

/// The GraphQL type of one of several Rust types.
pub(crate) fn graphql_type_of(
    instance: &Instance,
    options: &Options,
    kind: &str,
    members: &TokenStream,
) -> TokenStream {
    let Instance { rust, name, .. } = instance;
    let kind = Ident::new(kind, Span::call_site());
    let description = &options.description;
    let specified_by = match &options.specified_by {
        Some(url) => quote!(::std::option::Option::Some(#url)),
        None => quote!(::std::option::Option::None),
    };
    quote! {
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
    }
}
