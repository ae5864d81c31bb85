//! Types of a code-first schema as they are collected, and their SDL.
//!
//! **Invariant:** a name has one Rust type; a second one is a conflict.
//!
//! **Cost:** once per schema.

use crate::input::value_checks;
use std::any::TypeId as RustType;
use std::collections::HashMap;
use std::fmt::Write;

/// The kind of a type. [`GraphqlType`](crate::GraphqlType) has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionKind {
    /// `type`
    Object,
    /// `interface`
    Interface,
    /// `union`
    Union,
    /// `enum`
    Enum,
    /// `input`
    Input,
    /// `input` with `@oneOf`
    OneOf,
    /// `scalar`
    Scalar,
}

/// A field, argument, input field, enum value or member of a union. [`GraphqlType`](crate::GraphqlType) has an example.
#[derive(Clone, Debug, Default)]
pub struct Member {
    name: String,
    description: String,
    arguments: Vec<Member>,
    /// SDL of its type; empty for enum values and members of unions.
    ty: String,
    /// A GraphQL literal.
    default: Option<String>,
    /// Arguments of `@validate`, perhaps none.
    checks: String,
    deprecation: Option<String>,
}

impl Member {
    /// A member without a type.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
    /// Sets the type.
    #[must_use]
    pub fn of(self, ty: String) -> Self {
        Self { ty, ..self }
    }
    /// Sets the arguments.
    #[must_use]
    pub fn arguments(self, arguments: Vec<Member>) -> Self {
        Self { arguments, ..self }
    }
    /// Sets the description.
    #[must_use]
    pub fn with_description(self, description: &str) -> Self {
        Self { description: description.into(), ..self }
    }
    /// Sets the default, a GraphQL literal.
    #[must_use]
    pub fn with_default(self, literal: &str) -> Self {
        Self { default: Some(literal.into()), ..self }
    }
    /// Sets checks, the arguments of `@validate`: `min: 1, max: 100`. Only arguments and fields of inputs have them.
    #[must_use]
    pub fn with_checks(self, arguments: &str) -> Self {
        Self { checks: arguments.into(), ..self }
    }
    /// Marks the member as deprecated.
    #[must_use]
    pub fn with_deprecation(self, reason: &str) -> Self {
        Self { deprecation: Some(reason.into()), ..self }
    }
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// A type of the schema. [`GraphqlType`](crate::GraphqlType) has an example.
#[derive(Clone, Debug)]
pub struct TypeDefinition {
    /// Kind of the type.
    pub kind: DefinitionKind,
    /// Description of the type, perhaps empty.
    pub description: &'static str,
    /// Fields, values or possible types.
    pub members: Vec<Member>,
    /// URL of `@specifiedBy`.
    pub specified_by: Option<&'static str>,
}

struct Named {
    name: String,
    rust: RustType,
    /// `None` while its members are collected.
    definition: Option<TypeDefinition>,
    interfaces: Vec<String>,
}

/// Types by name, in the order in which they were met. [`GraphqlType`](crate::GraphqlType) has an example.
#[derive(Default)]
pub struct TypeDefinitions {
    types: Vec<Named>,
    numbers: HashMap<String, usize>,
    conflicts: Vec<String>,
}

impl TypeDefinitions {
    /// Defines the type `name` of the Rust type `T`, unless it is known; returns its non-null reference.
    pub fn define<T: 'static>(
        &mut self,
        name: &str,
        define: impl FnOnce(&mut Self) -> TypeDefinition,
    ) -> String {
        let rust = RustType::of::<T>();
        match self.numbers.get(name) {
            Some(&known) if self.types[known].rust != rust => {
                let rust = std::any::type_name::<T>();
                self.conflicts
                    .push(format!("`{name}` is the name of several Rust types, one of them `{rust}`"));
            }
            Some(_) => {}
            None => {
                let number = self.types.len();
                self.numbers.insert(name.into(), number);
                self.types.push(Named { name: name.into(), rust, definition: None, interfaces: Vec::new() });
                let definition = define(self);
                self.types[number].definition = Some(definition);
            }
        }
        format!("{name}!")
    }

    /// Says that the object type or interface `implementor` implements `interface`, and so the interfaces that this one implements.
    pub fn implement(&mut self, implementor: &str, interface: &str) {
        let implementor = implementor.trim_end_matches('!');
        if let Some(&number) = self.numbers.get(implementor) {
            self.types[number].interfaces.push(interface.trim_end_matches('!').into());
        }
    }

    /// Adds the interfaces of a type and their interfaces to `found`, each once.
    fn interfaces<'t>(&'t self, named: &'t Named, found: &mut Vec<&'t str>) {
        for interface in &named.interfaces {
            if found.contains(&interface.as_str()) {
                continue;
            }
            found.push(interface);
            if let Some(&number) = self.numbers.get(interface) {
                self.interfaces(&self.types[number], found);
            }
        }
    }

    /// True if a type has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }

    /// The SDL of all types, the fields of `extra` appended to their types.
    pub(crate) fn write(&self, extra: &HashMap<String, Vec<Member>>, out: &mut String) {
        for named in &self.types {
            let Named { name, definition: Some(definition), .. } = named else { continue };
            let more = extra.get(name).map_or(&[][..], Vec::as_slice);
            let mut interfaces = Vec::new();
            self.interfaces(named, &mut interfaces);
            write_type(name, definition, &interfaces, more, out);
        }
    }

    pub(crate) fn into_conflicts(self) -> Vec<String> {
        self.conflicts
    }
}

fn write_type(
    name: &str,
    definition: &TypeDefinition,
    interfaces: &[&str],
    more: &[Member],
    out: &mut String,
) {
    let keyword = match definition.kind {
        DefinitionKind::Object => "type",
        DefinitionKind::Interface => "interface",
        DefinitionKind::Union => "union",
        DefinitionKind::Enum => "enum",
        DefinitionKind::Input | DefinitionKind::OneOf => "input",
        DefinitionKind::Scalar => "scalar",
    };
    write_description(definition.description, "", out);
    let _ = write!(out, "{keyword} {name}");
    if !interfaces.is_empty() {
        let _ = write!(out, " implements {}", interfaces.join(" & "));
    }
    if definition.kind == DefinitionKind::OneOf {
        out.push_str(" @oneOf");
    }
    if let Some(url) = definition.specified_by {
        let _ = write!(out, " @specifiedBy(url: {})", graphql_string(url));
    }
    match definition.kind {
        DefinitionKind::Scalar => {}
        DefinitionKind::Union => {
            let names: Vec<&str> = definition.members.iter().map(Member::name).collect();
            let _ = write!(out, " = {}", names.join(" | "));
        }
        _ => write_members(definition.members.iter().chain(more), out),
    }
    out.push_str("\n\n");
}

/// Members in braces, one a line.
pub(crate) fn write_members<'m>(members: impl Iterator<Item = &'m Member>, out: &mut String) {
    out.push_str(" {\n");
    for member in members {
        write_description(&member.description, "  ", out);
        out.push_str("  ");
        out.push_str(&member.name);
        if !member.arguments.is_empty() {
            out.push_str("(\n");
            for argument in &member.arguments {
                write_description(&argument.description, "    ", out);
                let _ = write!(out, "    {}", argument.name);
                write_type_and_rest(argument, out);
            }
            out.push_str("  )");
        }
        write_type_and_rest(member, out);
    }
    out.push('}');
}

fn write_type_and_rest(member: &Member, out: &mut String) {
    if !member.ty.is_empty() {
        let _ = write!(out, ": {}", member.ty);
    }
    if let Some(literal) = &member.default {
        let _ = write!(out, " = {literal}");
    }
    if !member.checks.is_empty() {
        let _ = write!(out, " @{}({})", value_checks::DIRECTIVE, member.checks);
    }
    match member.deprecation.as_deref() {
        None => {}
        Some("") => out.push_str(" @deprecated"),
        Some(reason) => {
            let _ = write!(out, " @deprecated(reason: {})", graphql_string(reason));
        }
    }
    out.push('\n');
}

fn write_description(text: &str, indentation: &str, out: &mut String) {
    if !text.is_empty() {
        let _ = writeln!(out, "{indentation}{}", graphql_string(text));
    }
}

fn graphql_string(text: &str) -> String {
    let mut out = String::new();
    weir_language::json::quote(text, &mut out);
    out
}
