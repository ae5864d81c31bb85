//! `#[graphql(…)]` and doc comments.
//!
//! **Invariant:** an option that has no meaning at its place is refused.

use crate::{check_attributes, graphql_names};
use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Field, Lit, LitStr, Meta, Path, Token, Type, parenthesized, token};

/// Options of a type, field or variant.
#[derive(Default)]
pub(crate) struct Options {
    /// The GraphQL name, and where it stands.
    pub(crate) name: Option<(String, Span)>,
    /// The reason, perhaps empty.
    pub(crate) deprecated: Option<String>,
    pub(crate) skip: bool,
    /// The fields of the field's type stand in its place; where that is said.
    pub(crate) flatten: Option<Span>,
    /// Uses of a type with parameters.
    pub(crate) concrete: Vec<Concrete>,
    /// The base type is `ID`.
    pub(crate) id: bool,
    /// A GraphQL literal.
    pub(crate) default: Option<String>,
    /// Reader of a scalar.
    pub(crate) read: Option<Path>,
    /// Writer of a scalar.
    pub(crate) write: Option<Path>,
    pub(crate) specified_by: Option<String>,
    /// Fields of an interface.
    pub(crate) fields: Vec<Field>,
    /// Interfaces of an interface.
    pub(crate) implements: Vec<Type>,
    /// The struct of the arguments of an interface's field.
    pub(crate) arguments: Option<Type>,
    /// Arguments of `@validate`.
    pub(crate) checks: Option<String>,
    /// The doc comment.
    pub(crate) description: String,
}

/// A use of a type with parameters: `concrete(name = "UserPage", params(User))`.
pub(crate) struct Concrete {
    pub(crate) name: String,
    pub(crate) params: Vec<Type>,
    pub(crate) span: Span,
}

impl Concrete {
    fn read(meta: &ParseNestedMeta<'_>) -> syn::Result<Self> {
        let span = meta.path.span();
        let mut name = None;
        let mut params = Vec::new();
        if meta.input.peek(token::Paren) {
            meta.parse_nested_meta(|inner| {
                if inner.path.is_ident("name") {
                    let text: LitStr = inner.value()?.parse()?;
                    graphql_names::check(&text.value(), text.span())?;
                    name = Some(text.value());
                    return Ok(());
                }
                if inner.path.is_ident("params") {
                    let content;
                    parenthesized!(content in inner.input);
                    params.extend(Punctuated::<Type, Token![,]>::parse_terminated(&content)?);
                    return Ok(());
                }
                Err(inner.error("unknown option; known: `name`, `params`"))
            })?;
        }
        match name {
            Some(name) => Ok(Self { name, params, span }),
            None => Err(meta.error("`concrete` names a use: `concrete(name = \"UserPage\", params(User))`")),
        }
    }
}

impl Options {
    /// True if a field has options beside `flatten` and its doc comment.
    pub(crate) fn has_options_beside_flatten(&self) -> bool {
        let Self { name, deprecated, skip, id, default, checks, .. } = self;
        name.is_some() || deprecated.is_some() || *skip || *id || default.is_some() || checks.is_some()
    }

    /// Reads the options; those that are not `allowed` are errors.
    pub(crate) fn read(attributes: &[Attribute], allowed: &[&str]) -> syn::Result<Self> {
        let mut options = Self { description: description(attributes), ..Self::default() };
        for attribute in attributes.iter().filter(|it| it.path().is_ident("graphql")) {
            attribute.parse_nested_meta(|meta| options.option(&meta, allowed))?;
        }
        Ok(options)
    }

    fn option(&mut self, meta: &ParseNestedMeta<'_>, allowed: &[&str]) -> syn::Result<()> {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        if !allowed.contains(&key.as_str()) {
            let known = allowed.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
            let known =
                if known.is_empty() { "there are none here".into() } else { format!("known: {known}") };
            return Err(meta.error(format!("unknown option; {known}")));
        }
        match key.as_str() {
            "name" => {
                let text: LitStr = meta.value()?.parse()?;
                graphql_names::check(&text.value(), text.span())?;
                self.name = Some((text.value(), text.span()));
            }
            "deprecated" if meta.input.peek(Token![=]) => self.deprecated = Some(text(meta)?),
            "deprecated" => self.deprecated = Some(String::new()),
            "skip" => self.skip = true,
            "flatten" => self.flatten = Some(meta.path.span()),
            "concrete" => self.concrete.push(Concrete::read(meta)?),
            "id" => self.id = true,
            "default" => self.default = Some(text(meta)?),
            "read" => self.read = Some(meta.value()?.parse()?),
            "write" => self.write = Some(meta.value()?.parse()?),
            "specified_by" => self.specified_by = Some(text(meta)?),
            "fields" => {
                let content;
                parenthesized!(content in meta.input);
                let fields = content.parse_terminated(Field::parse_named, Token![,]);
                self.fields.extend(fields.map_err(|error| unfit_field(&error))?);
            }
            "implements" => self.implements.extend(interfaces(meta)?),
            "arguments" if meta.input.peek(Token![=]) => self.arguments = Some(meta.value()?.parse()?),
            "arguments" => {
                let message = "`arguments` names a struct that derives `Input`: `arguments = PostsArguments`";
                return Err(meta.error(message));
            }
            "validate" if self.checks.is_some() => {
                return Err(meta.error("`validate` is there twice: put all checks into one"));
            }
            "validate" => self.checks = Some(check_attributes::read(meta)?),
            _ => return Err(meta.error("unknown option")),
        }
        Ok(())
    }
}

/// An interface's field that is not written as one.
fn unfit_field(error: &syn::Error) -> syn::Error {
    let message = format!(
        "{error}; a field is `posts: Vec<Post>`, one with arguments `#[graphql(arguments = PostsArguments)] \
         posts: Vec<Post>`"
    );
    syn::Error::new(error.span(), message)
}

/// The types of `implements(Node, Named)`.
fn interfaces(meta: &ParseNestedMeta<'_>) -> syn::Result<Punctuated<Type, Token![,]>> {
    let mut found = Punctuated::new();
    if meta.input.peek(token::Paren) {
        let content;
        parenthesized!(content in meta.input);
        found = Punctuated::parse_terminated(&content)?;
    }
    if found.is_empty() {
        return Err(meta.error("`implements` names interfaces: `implements(Node, Named)`"));
    }
    Ok(found)
}

fn text(meta: &ParseNestedMeta<'_>) -> syn::Result<String> {
    meta.value()?.parse::<LitStr>().map(|it| it.value())
}

/// The doc comment without the space that begins its lines.
fn description(attributes: &[Attribute]) -> String {
    let line = |it: &Attribute| match &it.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    };
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    let lines: Vec<&str> = lines.iter().map(|it| it.strip_prefix(' ').unwrap_or(it).trim_end()).collect();
    lines.join("\n").trim().to_owned()
}
