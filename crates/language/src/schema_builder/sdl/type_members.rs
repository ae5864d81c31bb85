//! Reads the body of a type: of its definition and of all its extensions.

use super::SdlReader;
use crate::coerce::literal_text::{self, Style};
use crate::ids::TypeId;
use crate::syntax::ast::{
    Directive, EnumValueDefinition, FieldDefinition, InputDefinition, List, NameNode, TypeBody,
    TypeDefinition, TypeExpr,
};
use crate::type_system::{Place, ScalarReader, TypeRef};

/// A definition or extension and the number of its document.
type TypePart<'d> = (usize, &'d TypeDefinition);

impl<'d> SdlReader<'d> {
    /// Defines one type from its definition and its extensions, in this order.
    pub(super) fn define(&mut self, parts: &[TypePart<'d>]) {
        let Some(&(document, definition)) = parts.first() else { return };
        self.current = document;
        self.set_place(definition.name);
        let name = self.str(definition.name);
        let description = self.description(definition.description);
        let place = match definition.body {
            TypeBody::Scalar => {
                self.b.scalar(name, &description, ScalarReader::Json);
                Place::Scalar
            }
            TypeBody::Object { .. } => {
                self.b.object(name, &description);
                Place::Object
            }
            TypeBody::Interface { .. } => {
                self.b.interface(name, &description);
                Place::Interface
            }
            TypeBody::Union { .. } => {
                self.b.union(name, &description);
                Place::Union
            }
            TypeBody::Enum { .. } => {
                self.b.enumeration(name, &description);
                Place::Enum
            }
            TypeBody::Input { .. } => {
                self.b.input_object(name, &description);
                Place::InputObject
            }
        };
        self.begin_place();
        for &(document, part) in parts {
            self.current = document;
            self.apply(part.directives, place);
        }
        for &(document, part) in parts {
            self.current = document;
            self.body(&part.body);
        }
    }

    /// Extensions of built-in scalars have directives and nothing else.
    pub(super) fn extend_built_in(&mut self, id: TypeId, parts: &[TypePart<'d>]) {
        self.b.select_type(id);
        self.begin_place();
        for &(document, part) in parts {
            self.current = document;
            self.apply(part.directives, Place::Scalar);
        }
    }

    fn body(&mut self, body: &TypeBody) {
        match *body {
            TypeBody::Scalar => {}
            TypeBody::Object { interfaces, fields } | TypeBody::Interface { interfaces, fields } => {
                self.interfaces(interfaces);
                for field in self.document().list(fields) {
                    self.field(field);
                }
            }
            TypeBody::Union { members } => {
                for name in self.document().list(members) {
                    self.set_place(name.0);
                    let member = self.b.reference(self.str(name.0));
                    self.b.member(member);
                }
            }
            TypeBody::Enum { values } => {
                for value in self.document().list(values) {
                    self.enum_value(value);
                }
            }
            TypeBody::Input { fields } => {
                for field in self.document().list(fields) {
                    self.input(field, true, Some(Place::InputFieldDefinition));
                }
            }
        }
    }

    fn interfaces(&mut self, interfaces: List<NameNode>) {
        for name in self.document().list(interfaces) {
            self.set_place(name.0);
            let interface = self.b.reference(self.str(name.0));
            self.b.implement(interface);
        }
    }

    fn field(&mut self, field: &FieldDefinition) {
        let ty = self.type_ref(field.ty);
        self.set_place(field.name);
        let description = self.description(field.description);
        self.b.field(self.str(field.name), &description, ty);
        self.apply_all(field.directives, Place::FieldDefinition);
        for argument in self.document().list(field.arguments) {
            self.input(argument, false, Some(Place::ArgumentDefinition));
        }
    }

    fn enum_value(&mut self, value: &EnumValueDefinition) {
        self.set_place(value.name);
        let description = self.description(value.description);
        self.b.enum_value(self.str(value.name), &description);
        self.apply_all(value.directives, Place::EnumValue);
    }

    /// An argument, or a field of an input object. Without a `place` its directives are kept but checked later.
    pub(super) fn input(&mut self, input: &InputDefinition, is_field: bool, place: Option<Place>) {
        let ty = self.type_ref(input.ty);
        self.set_place(input.name);
        let description = self.description(input.description);
        let name = self.str(input.name);
        if is_field {
            self.b.input_field(name, &description, ty);
        } else {
            self.b.argument(name, &description, ty);
        }
        if let Some(value) = input.default {
            self.buffer.clear();
            let document = self.document();
            // Constants hold no variables, so rendering them cannot fail.
            if literal_text::literal(document, value, Style::GraphQl, &mut self.buffer).is_ok() {
                self.b.default_from(&self.buffer, Some((self.current as u32, value)));
            }
        }
        match place {
            Some(place) => self.apply_all(input.directives, place),
            None => self.keep_all(input.directives),
        }
    }

    fn apply_all(&mut self, directives: List<Directive>, place: Place) {
        if !directives.is_empty() {
            self.begin_place();
            self.apply(directives, place);
        }
    }

    fn type_ref(&mut self, ty: TypeExpr) -> TypeRef {
        self.set_place(ty.span);
        TypeRef { base: self.b.reference(self.str(ty.name)), wraps: ty.wraps }
    }
}
