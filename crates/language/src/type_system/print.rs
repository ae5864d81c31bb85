//! Prints a schema as SDL, in the form of graphql-js's `printSchema`; applied directives are kept.
//!
//! Built-in items are left out, and so is a schema definition that equals the default.
//! [`print_view`] prints what one profile sees, for readers that know fewer directives.
//!
//! **Invariant:** the text of [`print()`], read again, gives an equal schema.
//!
//! **Cost:** linear in the text, with one sort of names where order by name is asked for.

use super::{
    Applied, Input, Place, Run, Schema, SchemaDirective, SchemaField, SchemaView, Str, Type, TypeKind,
    builtin,
};
use crate::ids::{EnumValueId, FieldId, InputId, TypeId};
use crate::string_value::write_graphql;
use crate::syntax::ast::OperationKind;

/// The order of definitions and members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order of the schema.
    Defined,
    /// By name, so that two schemas can be compared line by line.
    ByName,
}

/// The schema as SDL.
pub fn print(schema: &Schema, order: Order) -> String {
    let view = SchemaView::from(schema);
    let mut printer = SchemaPrinter { view, order, added: None, out: String::new() };
    printer.schema_definition();
    for id in printer.sort_ids(view.directives_and_hidden().collect(), |id| view.directive(id).name) {
        if !view.directive(id).built_in {
            printer.directive(view.directive(id));
        }
    }
    printer.types();
    printer.out
}

/// Appends the directives of a type.
pub type TypeDirectives<'a> = &'a dyn Fn(TypeId, &mut String);

/// The members of `view` as SDL, without directives but `@deprecated` and `@specifiedBy`. `added` appends the directives of a type.
pub fn print_view(view: SchemaView<'_>, added: TypeDirectives<'_>) -> String {
    let mut printer = SchemaPrinter { view, order: Order::Defined, added: Some(added), out: String::new() };
    printer.schema_definition();
    printer.types();
    printer.out
}

struct SchemaPrinter<'s> {
    view: SchemaView<'s>,
    order: Order,
    /// Directives of types, which stand for all that the schema has.
    added: Option<TypeDirectives<'s>>,
    out: String,
}

impl<'s> SchemaPrinter<'s> {
    fn str(&self, text: Str) -> &'s str {
        self.view.str(text)
    }

    fn types(&mut self) {
        let types = self.view.types().filter(|it| it.0 >= builtin::TYPES).collect();
        for id in self.sort_ids(types, |id| self.view.ty(id).name) {
            self.ty(id);
        }
    }

    fn sort_ids<T: Copy>(&self, mut ids: Vec<T>, name: impl Fn(T) -> Str) -> Vec<T> {
        match self.order {
            Order::Defined => {}
            Order::ByName => ids.sort_by_key(|&id| self.str(name(id))),
        }
        ids
    }

    fn push(&mut self, texts: &[&str]) {
        self.out.extend(texts.iter().copied());
    }

    /// Definitions are set apart by an empty line.
    fn begin(&mut self, description: Str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.description(description, "");
    }

    fn schema_definition(&mut self) {
        let view = self.view;
        let kinds = [
            (OperationKind::Query, "query", "Query"),
            (OperationKind::Mutation, "mutation", "Mutation"),
            (OperationKind::Subscription, "subscription", "Subscription"),
        ];
        // A type with the default name of a root must not become that root.
        let is_default = |&(kind, _, name): &(OperationKind, &str, &str)| match view.root(kind) {
            Some(root) => view.type_name(root) == name,
            None => view.type_by_name(name).is_none(),
        };
        let says_nothing = view.description().is_empty() && view.applied_to_schema().len == 0;
        if says_nothing && kinds.iter().all(is_default) {
            return;
        }
        self.begin(view.description());
        self.out.push_str("schema");
        self.print_directives(view.applied_to_schema());
        self.out.push_str(" {\n");
        for (kind, keyword, _) in kinds {
            if let Some(root) = view.root(kind) {
                self.push(&["  ", keyword, ": ", view.type_name(root), "\n"]);
            }
        }
        self.out.push_str("}\n");
    }

    fn directive(&mut self, directive: &SchemaDirective) {
        self.begin(directive.description);
        self.push(&["directive @", self.str(directive.name)]);
        self.arguments(directive.arguments, "");
        self.print_deprecation(directive.deprecated);
        self.print_directives(directive.applied);
        self.out.push_str(if directive.repeatable { " repeatable on " } else { " on " });
        let places = Place::ALL.iter().filter(|place| directive.places & place.bit() != 0);
        let names: Vec<&str> = places.map(|place| place.name()).collect();
        self.push(&[&names.join(" | "), "\n"]);
    }

    fn ty(&mut self, id: TypeId) {
        let ty: &Type = self.view.ty(id);
        self.begin(ty.description);
        let name = self.str(ty.name);
        let keyword = match ty.kind {
            TypeKind::Scalar(_) => "scalar",
            TypeKind::Object => "type",
            TypeKind::Interface => "interface",
            TypeKind::Union => "union",
            TypeKind::Enum => "enum",
            TypeKind::Input { .. } => "input",
        };
        self.push(&[keyword, " ", name]);
        let interfaces = self.type_names(self.view.interfaces(id)).join(" & ");
        if !interfaces.is_empty() {
            self.push(&[" implements ", &interfaces]);
        }
        if !ty.specified_by.is_empty() {
            self.out.push_str(" @specifiedBy(url: ");
            write_graphql(self.str(ty.specified_by), &mut self.out);
            self.out.push(')');
        }
        if ty.kind == (TypeKind::Input { one_of: true }) && self.added.is_none() {
            self.out.push_str(" @oneOf");
        }
        self.print_directives(ty.applied);
        if let Some(added) = self.added {
            added(id, &mut self.out);
        }
        match ty.kind {
            TypeKind::Scalar(_) => self.out.push('\n'),
            TypeKind::Union => {
                let members = self.type_names(self.view.possible_types(id)).join(" | ");
                self.push(&[" = ", &members, "\n"]);
            }
            TypeKind::Object | TypeKind::Interface => self.fields(id),
            TypeKind::Enum => self.enum_values(id),
            TypeKind::Input { .. } => self.input_fields(ty.members),
        }
    }

    fn type_names(&self, types: impl Iterator<Item = TypeId>) -> Vec<&'s str> {
        let ids = self.sort_ids(types.collect(), |id| self.view.ty(id).name);
        ids.into_iter().map(|id| self.view.type_name(id)).collect()
    }

    fn fields(&mut self, ty: TypeId) {
        self.out.push_str(" {\n");
        let mut ids: Vec<FieldId> = self.view.fields(ty).collect();
        if ids.is_empty() {
            // Only a query root can be empty: it has the field that clients see in it.
            ids.push(self.view.meta().no_queries);
        }
        for (number, id) in self.sort_ids(ids, |id| self.view.field(id).name).into_iter().enumerate() {
            let field: &SchemaField = self.view.field(id);
            self.member(number, field.description, field.name);
            self.arguments(field.arguments, "  ");
            self.push(&[": ", &self.view.type_text(self.view.field_type(id))]);
            self.end_member(field.deprecated, field.applied);
        }
        self.out.push_str("}\n");
    }

    fn enum_values(&mut self, ty: TypeId) {
        self.out.push_str(" {\n");
        let ids: Vec<EnumValueId> = self.view.enum_values(ty).collect();
        for (number, id) in self.sort_ids(ids, |id| self.view.enum_value(id).name).into_iter().enumerate() {
            let value = self.view.enum_value(id);
            self.member(number, value.description, value.name);
            self.end_member(value.deprecated, value.applied);
        }
        self.out.push_str("}\n");
    }

    fn input_fields(&mut self, run: Run) {
        self.out.push_str(" {\n");
        let ids = self.view.inputs(run).collect();
        for (number, id) in self.sort_ids(ids, |id| self.view.input(id).name).into_iter().enumerate() {
            let input = self.view.input(id);
            self.member(number, input.description, input.name);
            self.input(input);
            self.end_member(input.deprecated, input.applied);
        }
        self.out.push_str("}\n");
    }

    /// A description is set apart from the member before it.
    fn member(&mut self, number: usize, description: Str, name: Str) {
        if number > 0 && !description.is_empty() {
            self.out.push('\n');
        }
        self.description(description, "  ");
        self.push(&["  ", self.str(name)]);
    }

    fn end_member(&mut self, deprecated: Option<Str>, applied: Run) {
        self.print_deprecation(deprecated);
        self.print_directives(applied);
        self.out.push('\n');
    }

    /// In one line, or, when one is described, in one line each.
    fn arguments(&mut self, run: Run, indent: &str) {
        let ids: Vec<InputId> = self.view.inputs(run).collect();
        if ids.is_empty() {
            return;
        }
        let ids = self.sort_ids(ids, |id| self.view.input(id).name);
        let described = ids.iter().any(|&id| !self.view.input(id).description.is_empty());
        self.out.push('(');
        for (number, id) in ids.into_iter().enumerate() {
            let input = self.view.input(id);
            if described {
                let inner = format!("{indent}  ");
                let apart = number > 0 && !input.description.is_empty();
                self.out.push_str(if apart { "\n\n" } else { "\n" });
                self.description(input.description, &inner);
                self.out.push_str(&inner);
            } else if number > 0 {
                self.out.push_str(", ");
            }
            self.out.push_str(self.str(input.name));
            self.input(input);
            self.print_deprecation(input.deprecated);
            self.print_directives(input.applied);
        }
        if described {
            self.push(&["\n", indent]);
        }
        self.out.push(')');
    }

    /// Type and default.
    fn input(&mut self, input: Input) {
        self.push(&[": ", &self.view.type_text(input.ty)]);
        if let Some(default) = input.default {
            self.push(&[" = ", self.str(default.literal)]);
        }
    }

    fn print_deprecation(&mut self, reason: Option<Str>) {
        let Some(reason) = reason else { return };
        let reason = self.str(reason);
        self.out.push_str(" @deprecated");
        if reason != builtin::DEPRECATED_REASON {
            self.out.push_str("(reason: ");
            write_graphql(reason, &mut self.out);
            self.out.push(')');
        }
    }

    fn print_directives(&mut self, run: Run) {
        if self.added.is_some() {
            return;
        }
        for Applied { name, arguments } in self.view.applied_directives(run) {
            self.push(&[" @", self.str(*name), self.str(*arguments)]);
        }
    }

    /// Prints a block string if it reads back as the same text, else a quoted string.
    fn description(&mut self, description: Str, indent: &str) {
        if description.is_empty() {
            return;
        }
        let text = self.str(description);
        self.out.push_str(indent);
        if !fits_block(text) {
            write_graphql(text, &mut self.out);
            self.out.push('\n');
            return;
        }
        let text = text.replace("\"\"\"", "\\\"\"\"");
        self.out.push_str("\"\"\"\n");
        for line in text.split('\n') {
            let indent = if line.is_empty() { "" } else { indent };
            self.push(&[indent, line, "\n"]);
        }
        self.push(&[indent, "\"\"\"\n"]);
    }
}

/// True if a block string can hold `text`: no control characters, no blank line at either end, and at least one line without
/// indentation.
fn fits_block(text: &str) -> bool {
    let blank = |line: &str| line.trim_matches([' ', '\t']).is_empty();
    let mut lines = text.split('\n');
    let ends_blank = lines.next().is_none_or(blank) || text.rsplit('\n').next().is_none_or(blank);
    let indented = text.split('\n').filter(|line| !blank(line)).all(|line| line.starts_with([' ', '\t']));
    let odd = text.split('\n').any(|line| blank(line) && !line.is_empty());
    let control = text.chars().any(|letter| letter.is_control() && letter != '\n' && letter != '\t');
    !ends_blank && !indented && !odd && !control
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, order: Order, expected: &str) {
        let schema = Schema::from_sdl(text).expect("a sound schema");
        let printed = print(&schema, order);
        assert_eq!(printed, expected);
        let again = Schema::from_sdl(&printed).expect("its own text is sound");
        assert_eq!(print(&again, order), expected, "a second reading prints the same");
    }

    #[test]
    fn members_are_printed_as_graphql_js_prints_them() {
        check(
            "\"all\" type Query implements B & A { \"first\" b(x:Int=1 y:[String!]!=[\"a\\\"\"]):Int @deprecated \
             a(\"why\" z:I={q:{q:null}}):Int@deprecated(reason:\"old\") } interface B{b(x:Int y:[String!]!):Int @deprecated} \
             interface A{a(z:I):Int @deprecated} input I { q:I=null }",
            Order::Defined,
            "\"\"\"\nall\n\"\"\"\ntype Query implements B & A {\n  \"\"\"\n  first\n  \"\"\"\n  \
             b(x: Int = 1, y: [String!]! = [\"a\\\"\"]): Int @deprecated\n  a(\n    \"\"\"\n    why\n    \"\"\"\n    \
             z: I = { q: { q: null } }\n  ): Int @deprecated(reason: \"old\")\n}\n\ninterface B {\n  \
             b(x: Int, y: [String!]!): Int @deprecated\n}\n\ninterface A {\n  a(z: I): Int @deprecated\n}\n\ninput I {\n  q: I = null\n}\n",
        );
    }

    #[test]
    fn a_view_has_its_members_and_no_directives_but_those_that_are_added() {
        let text = "type Query { a(x: Int @d, y: Int): A b: B } type A implements I @d { id: ID! @d old: Int @deprecated }
            interface I { id: ID! } type B { id: Int } union U = A | B input O @oneOf { a: Int } enum E { P @d Q }
            scalar S @specifiedBy(url: \"u\") directive @d on FIELD_DEFINITION | OBJECT | ARGUMENT_DEFINITION | ENUM_VALUE";
        let schema = Schema::from_sdl(text).expect("a sound schema");
        let id = |name: &str| schema.type_by_name(name).expect("it is there");
        let mut seen = super::super::Visibility::everything(&schema);
        seen.show_type(id("B"), false);
        seen.show_field(schema.field_by_name(schema.query, "b").expect("it is there"), false);
        let added = |ty: TypeId, out: &mut String| {
            out.push_str(if ty == id("A") { " @key(fields: \"id\")" } else { "" })
        };
        assert_eq!(
            print_view(SchemaView::new(&schema, Some(&seen)), &added),
            "type Query {\n  a(x: Int, y: Int): A\n}\n\n\
             type A implements I @key(fields: \"id\") {\n  id: ID!\n  old: Int @deprecated\n}\n\n\
             interface I {\n  id: ID!\n}\n\nunion U = A\n\ninput O {\n  a: Int\n}\n\nenum E {\n  P\n  Q\n}\n\n\
             scalar S @specifiedBy(url: \"u\")\n"
        );
    }

    #[test]
    fn applied_directives_roots_and_odd_descriptions_are_kept() {
        check(
            "schema @d(n: 1) { query: Q } directive @d(n: Int = 2) repeatable on SCHEMA | ENUM_VALUE \
             type Q { s: S e: E u: U } scalar S @specifiedBy(url: \"u\") enum E { \"  a\" B @d @d(n: 3) A } union U = Q \
             input O @oneOf { a: Int }",
            Order::ByName,
            "schema @d(n: 1) {\n  query: Q\n}\n\ndirective @d(n: Int = 2) repeatable on SCHEMA | ENUM_VALUE\n\n\
             enum E {\n  A\n\n  \"  a\"\n  B @d @d(n: 3)\n}\n\ninput O @oneOf {\n  a: Int\n}\n\n\
             type Q {\n  e: E\n  s: S\n  u: U\n}\n\nscalar S @specifiedBy(url: \"u\")\n\nunion U = Q\n",
        );
    }
}
