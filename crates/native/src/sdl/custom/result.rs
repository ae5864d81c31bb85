//! Types that custom fields give and take, and their definitions for whoever serves them.

use super::super::named_types::{self, Named};
use super::super::{SdlReader, hint};
use super::CustomDraft;
use crate::custom::{Customs, RemoteDefinition, ResponseName};
use crate::model::Scalar;
use hashbrown::HashSet;
use weir_language::ast::{
    EnumValueDefinition, FieldDefinition, InputDefinition, List, NameNode, TypeBody, TypeDefinition, TypeExpr,
};
use weir_language::json::quote;
use weir_language::span::Span;

/// Scalars that every schema has.
const BUILT_IN: [&str; 5] = ["Int", "Float", "String", "Boolean", "ID"];

/// Kind of a type that a service gives or takes.
enum Use {
    Leaf,
    Remote,
    Input,
    Stored,
    Shape,
    Unknown,
}

impl<'d> SdlReader<'d> {
    fn kind_of_use(&self, name: &str) -> Use {
        match (named_types::scalar(name), self.names.get(name)) {
            _ if BUILT_IN.contains(&name) => Use::Leaf,
            (Some(Scalar::Point | Scalar::Polygon | Scalar::MultiPolygon), _) => Use::Shape,
            (Some(_), _) | (None, Some((Named::Enum(_), _))) => Use::Leaf,
            (None, Some(&(Named::Remote(at), _))) => match self.not_stored[at].body {
                TypeBody::Enum { .. } => Use::Leaf,
                TypeBody::Input { .. } => Use::Input,
                _ => Use::Remote,
            },
            (None, Some((Named::Input(_), _))) => Use::Input,
            (None, Some((Named::Type(_), _))) => Use::Stored,
            (None, None) => Use::Unknown,
        }
    }

    /// Checks the type of a custom field, or of a field of a remote type.
    pub(super) fn result(&mut self, ty: TypeExpr) {
        let name = self.str(ty.name);
        let message = match self.kind_of_use(name) {
            Use::Leaf | Use::Remote => return,
            Use::Input => format!("`{name}` is an input, which no field can give: use a type"),
            Use::Stored => format!(
                "`{name}` is stored, and a service gives no stored objects: declare a type of its answers with `@remote`, or give their keys and ask for them by `get{name}`"
            ),
            Use::Shape => {
                format!("`{name}` is a shape, which only stored fields have: declare a type with `@remote`")
            }
            Use::Unknown => self.unknown_type(name),
        };
        self.complain(ty.span, message);
    }

    /// Checks the type of an argument or of an input's field.
    pub(super) fn input_type(&mut self, ty: TypeExpr) {
        let name = self.str(ty.name);
        let message = match self.kind_of_use(name) {
            Use::Leaf | Use::Input => return,
            Use::Remote | Use::Stored => {
                format!("`{name}` is a type, which no argument can be: define an `input`")
            }
            Use::Shape => format!("`{name}` is a shape: define an `input` with its numbers"),
            Use::Unknown => self.unknown_type(name),
        };
        self.complain(ty.span, message);
    }

    fn unknown_type(&self, name: &str) -> String {
        let known = self.names.keys().copied().chain(named_types::SCALARS.map(|it| it.0)).chain(["ID"]);
        format!("there is no type `{name}`{}", hint(name, known))
    }

    /// Definitions of all that `fields` give and take, and of all remote types.
    pub(super) fn definitions(&mut self, fields: &[CustomDraft<'d>], made: &mut Customs) {
        let not_stored = self.not_stored.clone();
        let mut seen: HashSet<&str> = HashSet::new();
        let mut open: Vec<&str> = Vec::new();
        for draft in fields {
            open.push(self.str(draft.definition.ty.name));
            let arguments = self.document.list(draft.definition.arguments);
            open.extend(arguments.iter().filter(|_| draft.ty.is_none()).map(|it| self.str(it.ty.name)));
        }
        open.extend(not_stored.iter().filter(|it| self.is_remote(it)).map(|it| self.str(it.name)));
        while let Some(name) = open.pop() {
            if BUILT_IN.contains(&name) || !seen.insert(name) {
                continue;
            }
            match self.names.get(name) {
                Some(&(Named::Remote(at) | Named::Input(at), _)) => {
                    let definition = self.not_stored[at];
                    self.definition(definition, made, &mut open);
                }
                Some(&(Named::Enum(_), span)) => self.stored_enum(name, span, made),
                Some((Named::Type(_), _)) => {}
                None if named_types::scalar(name).is_some() => {
                    let place = self.place_of(Span::default());
                    made.definitions.push(RemoteDefinition {
                        name: name.to_owned(),
                        text: format!("scalar {name}"),
                        fields: Vec::new(),
                        is_remote: false,
                        place,
                    });
                }
                None => {}
            }
        }
        made.definitions.sort_by(|a, b| a.name.cmp(&b.name));
        for input in not_stored {
            let name = self.str(input.name);
            if !self.is_remote(input) && !seen.contains(name) {
                let message =
                    format!("the input `{name}` is ignored: Weir makes those that its mutations take");
                self.warn(input.name, message);
            }
        }
    }

    fn stored_enum(&mut self, name: &'d str, span: Span, made: &mut Customs) {
        let found = self.document.definitions.iter().find_map(|it| match it {
            weir_language::ast::Definition::Type(it) if it.name == span => Some(it),
            _ => None,
        });
        let Some(TypeBody::Enum { values }) = found.map(|it| it.body) else { return };
        let text = format!("enum {name} {{ {}}}", self.values(values));
        let place = self.place_of(span);
        made.definitions.push(RemoteDefinition {
            name: name.to_owned(),
            text,
            fields: Vec::new(),
            is_remote: false,
            place,
        });
    }

    /// One type, input or enum; names of the types of its members go to `open`.
    fn definition(&mut self, definition: &'d TypeDefinition, made: &mut Customs, open: &mut Vec<&'d str>) {
        let name = self.str(definition.name);
        let is_remote = self.is_remote(definition);
        let mut text = self.quote_description(definition.description);
        let mut members = Vec::new();
        match definition.body {
            TypeBody::Object { interfaces, fields } | TypeBody::Interface { interfaces, fields } => {
                let kind =
                    if matches!(definition.body, TypeBody::Object { .. }) { "type" } else { "interface" };
                text.push_str(&format!("{kind} {name} "));
                let interfaces = self.remote_names(interfaces, open);
                if !interfaces.is_empty() {
                    text.push_str(&format!("implements {} ", interfaces.join(" & ")));
                }
                text.push_str("{ ");
                for field in self.document.list(fields) {
                    text.push_str(&self.remote_field(name, field, &mut made.names));
                    members.push((self.str(field.name).to_owned(), self.type_use(field.ty)));
                    open.push(self.str(field.ty.name));
                }
                text.push('}');
            }
            TypeBody::Union { members } => {
                let members = self.remote_names(members, open);
                text.push_str(&format!("union {name} = {}", members.join(" | ")));
            }
            TypeBody::Input { fields } => {
                text.push_str(&format!("input {name} {{ "));
                for field in self.document.list(fields) {
                    self.none_allowed(field.directives, "a field of an input");
                    self.input_type(field.ty);
                    text.push_str(&self.input(field));
                    text.push(' ');
                    members.push((self.str(field.name).to_owned(), self.type_use(field.ty)));
                    open.push(self.str(field.ty.name));
                }
                text.push('}');
            }
            TypeBody::Enum { values } => {
                text.push_str(&format!("enum {name} {{ {}}}", self.values(values)));
            }
            TypeBody::Scalar => {}
        }
        let place = self.place_of(definition.name);
        made.definitions.push(RemoteDefinition {
            name: name.to_owned(),
            text,
            fields: members,
            is_remote,
            place,
        });
    }

    /// Names of remote types, which go to `open` too.
    fn remote_names(&mut self, list: List<NameNode>, open: &mut Vec<&'d str>) -> Vec<&'d str> {
        let mut names = Vec::new();
        for NameNode(span) in self.document.list(list).iter().copied() {
            let name = self.str(span);
            if !matches!(self.kind_of_use(name), Use::Remote) {
                self.complain(
                    span,
                    format!("`{name}` is no type with `@remote`: write the directive there too"),
                );
            }
            open.push(name);
            names.push(name);
        }
        names
    }

    /// A field of a remote type, with a blank behind it.
    fn remote_field(
        &mut self,
        ty: &str,
        field: &'d FieldDefinition,
        names: &mut Vec<ResponseName>,
    ) -> String {
        let own = self.str(field.name);
        self.result(field.ty);
        let known = ["remoteResponse", "deprecated"];
        let directives = self.directives(field.directives, &known, "a field of a remote type");
        let mut deprecated = None;
        for (name, directive) in directives {
            if name == "deprecated" {
                deprecated = self.reason(directive);
            } else if let Some((name, _)) = self.name_argument(directive, "name") {
                names.push(ResponseName { ty: ty.to_owned(), field: own.to_owned(), name });
            }
        }
        if let Some(argument) = self.document.list(field.arguments).first() {
            let message = format!(
                "the arguments of `{ty}.{own}` are ignored: a call is made of those of its own field"
            );
            self.warn(argument.span, message);
        }
        self.signature(field, &[], deprecated.as_deref()) + " "
    }

    /// Description, name, arguments, type and `@deprecated`, on one line.
    pub(super) fn signature(
        &mut self,
        field: &FieldDefinition,
        arguments: &[InputDefinition],
        deprecated: Option<&str>,
    ) -> String {
        let mut text = self.quote_description(field.description);
        text.push_str(self.str(field.name));
        if !arguments.is_empty() {
            let all: Vec<String> = arguments.iter().map(|it| self.input(it)).collect();
            text.push_str(&format!("({})", all.join(" ")));
        }
        text.push_str(": ");
        text.push_str(&self.type_use(field.ty).to_string());
        text.push_str(&deprecation(deprecated));
        text
    }

    fn input(&mut self, input: &InputDefinition) -> String {
        let mut text = self.quote_description(input.description);
        text.push_str(&format!("{}: {}", self.str(input.name), self.type_use(input.ty)));
        if let Some(default) = input.default {
            let span = self.document.value(default).span;
            let written = self.str(span);
            if written.contains(['\n', '\r']) {
                self.complain(span, "write this default on one line");
            }
            text.push_str(&format!(" = {written}"));
        }
        text
    }

    fn values(&mut self, values: List<EnumValueDefinition>) -> String {
        let mut text = String::new();
        for value in self.document.list(values) {
            text.push_str(&self.quote_description(value.description));
            text.push_str(self.str(value.name));
            // Other mistakes are reported where stored enums are read.
            let mut directives = self.document.list(value.directives).iter();
            let found = directives.find(|it| self.str(it.name) == "deprecated").copied();
            let reason = found.and_then(|it| self.reason(it));
            text.push_str(&deprecation(reason.as_deref()));
            text.push(' ');
        }
        text
    }

    /// A description as a quoted string with a blank behind it, or nothing.
    fn quote_description(&self, description: weir_language::ast::Description) -> String {
        let mut text = String::new();
        if let Some(id) = description {
            quote(&self.document.string(id), &mut text);
            text.push(' ');
        }
        text
    }
}

fn deprecation(reason: Option<&str>) -> String {
    let Some(reason) = reason else { return String::new() };
    let mut text = " @deprecated(reason: ".to_owned();
    quote(reason, &mut text);
    text.push(')');
    text
}
