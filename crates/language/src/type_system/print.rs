//! Prints a schema as SDL, in the form of graphql-js's `printSchema`; applied directives are kept.
//!
//! Built-in items are left out, and so is a schema definition that equals the default.
//!
//! **Invariant:** the text, read again, gives an equal schema.
//!
//! **Cost:** linear in the text, with one sort of names where order by name is asked for.

use super::{Applied, Input, Place, Run, Schema, SchemaDirective, SchemaField, Str, Type, TypeKind, builtin};
use crate::ids::{DirectiveId, EnumValueId, FieldId, InputId, TypeId};
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
    let mut printer = SchemaPrinter { schema, order, out: String::new() };
    printer.schema_definition();
    let directives = (0..schema.directives.len() as u32).map(DirectiveId);
    for id in printer.sort_ids(directives.collect(), |id| schema.directives[id.index()].name) {
        let directive = &schema.directives[id.index()];
        if !directive.built_in {
            printer.directive(directive);
        }
    }
    let types = (builtin::TYPES..schema.types.len() as u32).map(TypeId);
    let types = types.filter(|it| !schema.join_roots.contains(it));
    for id in printer.sort_ids(types.collect(), |id| schema.ty(id).name) {
        printer.ty(schema.ty(id));
    }
    printer.out
}

struct SchemaPrinter<'s> {
    schema: &'s Schema,
    order: Order,
    out: String,
}

impl<'s> SchemaPrinter<'s> {
    fn str(&self, text: Str) -> &'s str {
        self.schema.str(text)
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
        let schema = self.schema;
        let kinds = [
            (OperationKind::Query, "query", "Query"),
            (OperationKind::Mutation, "mutation", "Mutation"),
            (OperationKind::Subscription, "subscription", "Subscription"),
        ];
        // A type with the default name of a root must not become that root.
        let is_default = |&(kind, _, name): &(OperationKind, &str, &str)| match schema.root(kind) {
            Some(root) => schema.type_name(root) == name,
            None => schema.type_by_name(name).is_none(),
        };
        let says_nothing = schema.description.is_empty() && schema.applied_to_schema.len == 0;
        if says_nothing && kinds.iter().all(is_default) {
            return;
        }
        self.begin(schema.description);
        self.out.push_str("schema");
        self.print_directives(schema.applied_to_schema);
        self.out.push_str(" {\n");
        for (kind, keyword, _) in kinds {
            if let Some(root) = schema.root(kind) {
                self.push(&["  ", keyword, ": ", schema.type_name(root), "\n"]);
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

    fn ty(&mut self, ty: &Type) {
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
        if ty.interfaces.len > 0 {
            let interfaces = self.type_names(ty.interfaces).join(" & ");
            self.push(&[" implements ", &interfaces]);
        }
        if !ty.specified_by.is_empty() {
            self.out.push_str(" @specifiedBy(url: ");
            write_graphql(self.str(ty.specified_by), &mut self.out);
            self.out.push(')');
        }
        if ty.kind == (TypeKind::Input { one_of: true }) {
            self.out.push_str(" @oneOf");
        }
        self.print_directives(ty.applied);
        match ty.kind {
            TypeKind::Scalar(_) => self.out.push('\n'),
            TypeKind::Union => {
                let members = self.type_names(ty.possible).join(" | ");
                self.push(&[" = ", &members, "\n"]);
            }
            TypeKind::Object | TypeKind::Interface => self.fields(ty.fields),
            TypeKind::Enum => self.enum_values(ty.members),
            TypeKind::Input { .. } => self.input_fields(ty.members),
        }
    }

    fn type_names(&self, run: Run) -> Vec<&'s str> {
        let ids = self.sort_ids(self.schema.type_lists[run.range()].to_vec(), |id| self.schema.ty(id).name);
        ids.into_iter().map(|id| self.schema.type_name(id)).collect()
    }

    fn fields(&mut self, run: Run) {
        self.out.push_str(" {\n");
        let ids: Vec<FieldId> = match run.len {
            // Only a query root can be empty: print the field that clients see in it.
            0 => vec![self.schema.meta.no_queries],
            _ => ids(run).map(FieldId).collect(),
        };
        for (number, id) in self.sort_ids(ids, |id| self.schema.field(id).name).into_iter().enumerate() {
            let field: &SchemaField = self.schema.field(id);
            self.member(number, field.description, field.name);
            self.arguments(field.arguments, "  ");
            self.push(&[": ", &self.schema.type_text(field.ty)]);
            self.end_member(field.deprecated, field.applied);
        }
        self.out.push_str("}\n");
    }

    fn enum_values(&mut self, run: Run) {
        self.out.push_str(" {\n");
        let ids = ids(run).map(EnumValueId).collect();
        for (number, id) in self.sort_ids(ids, |id| self.schema.enum_value(id).name).into_iter().enumerate() {
            let value = self.schema.enum_value(id);
            self.member(number, value.description, value.name);
            self.end_member(value.deprecated, value.applied);
        }
        self.out.push_str("}\n");
    }

    fn input_fields(&mut self, run: Run) {
        self.out.push_str(" {\n");
        let ids = ids(run).map(InputId).collect();
        for (number, id) in self.sort_ids(ids, |id| self.schema.input(id).name).into_iter().enumerate() {
            let input = self.schema.input(id);
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
        if run.len == 0 {
            return;
        }
        let ids = ids(run).map(InputId).collect();
        let ids = self.sort_ids(ids, |id| self.schema.input(id).name);
        let described = ids.iter().any(|&id| !self.schema.input(id).description.is_empty());
        self.out.push('(');
        for (number, id) in ids.into_iter().enumerate() {
            let input = self.schema.input(id);
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
        self.push(&[": ", &self.schema.type_text(input.ty)]);
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
        for Applied { name, arguments } in &self.schema.applied[run.range()] {
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

fn ids(run: Run) -> std::ops::Range<u32> {
    run.start..run.start + run.len
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
