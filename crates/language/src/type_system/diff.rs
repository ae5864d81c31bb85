//! Differences between two schemas, and which of them break clients.
//!
//! A change breaks if a document that was valid is not any more, or if a value can come that a client did not expect to. It is
//! dangerous if documents stay valid and mean something else.
//!
//! **Invariant:** equal schemas have no differences, whatever the order of their definitions.
//!
//! **Cost:** linear in both schemas. Source: graphql-js, `findBreakingChanges` and `findDangerousChanges`.

use super::{Input, Run, Schema, Str, Type, TypeKind, TypeRef};
use crate::ids::{FieldId, InputId, TypeId};
use crate::limits::Limits;
use crate::string_value::write_graphql;
use crate::syntax::ast::{Document, ValueId, ValueKind};
use crate::syntax::parser;

/// Effect of a change on clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Valid documents are not valid any more, or answers have what they could not have.
    Breaking,
    /// Documents stay valid and may behave differently.
    Dangerous,
    /// Clients cannot notice the change in their existing documents.
    Safe,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaChange {
    /// Severity of the change.
    pub severity: Severity,
    /// The member: `User`, `User.posts`, `User.posts(first:)`.
    pub coordinate: String,
    /// Description of the change.
    pub message: String,
}

/// All differences from `old` to `new`, breaking ones first, then in the order of the schemas.
pub fn diff(old: &Schema, new: &Schema) -> Vec<SchemaChange> {
    let mut differ = Differ { old, new, changes: Vec::new() };
    differ.roots();
    differ.types();
    differ.directives();
    differ.changes.sort_by_key(|it| it.severity);
    differ.changes
}

struct Differ<'s> {
    old: &'s Schema,
    new: &'s Schema,
    changes: Vec<SchemaChange>,
}

impl Differ<'_> {
    fn note(&mut self, severity: Severity, coordinate: impl Into<String>, message: impl Into<String>) {
        let coordinate = coordinate.into();
        let message = message.into();
        self.changes.push(SchemaChange { severity, coordinate, message });
    }

    fn compare_descriptions(&mut self, coordinate: &str, old: Str, new: Str) {
        let message = match (self.old.str(old), self.new.str(new)) {
            (old, new) if old == new => return,
            ("", _) => "it has a description now",
            (_, "") => "it has no description any more",
            (_, _) => "its description was changed",
        };
        self.note(Severity::Safe, coordinate, message);
    }

    fn compare_deprecations(&mut self, coordinate: &str, word: &str, old: Option<Str>, new: Option<Str>) {
        let message = match (old.map(|it| self.old.str(it)), new.map(|it| self.new.str(it))) {
            (None, Some(_)) => format!("the {word} is deprecated now"),
            (Some(_), None) => format!("the {word} is no longer deprecated"),
            (Some(old), Some(new)) if old != new => "the reason of its deprecation was changed".to_owned(),
            (Some(_), Some(_)) | (None, None) => return,
        };
        self.note(Severity::Safe, coordinate, message);
    }

    fn roots(&mut self) {
        use crate::syntax::ast::OperationKind;
        for (kind, word) in [
            (OperationKind::Query, "query"),
            (OperationKind::Mutation, "mutation"),
            (OperationKind::Subscription, "subscription"),
        ] {
            let name = |schema: &Schema| schema.root(kind).map(|it| schema.type_name(it).to_owned());
            match (name(self.old), name(self.new)) {
                (Some(old), Some(new)) if old != new => {
                    self.note(Severity::Breaking, old, format!("the {word} root is now `{new}`"));
                }
                (Some(old), None) => {
                    self.note(Severity::Breaking, old, format!("there is no {word} root any more"))
                }
                (None, Some(new)) => self.note(Severity::Safe, new, format!("there is a {word} root now")),
                (Some(_), Some(_)) | (None, None) => {}
            }
        }
    }

    fn types(&mut self) {
        for id in self.old.types_of_sources() {
            let name = self.old.type_name(id).to_owned();
            match self.new.type_by_name(&name) {
                None => self.note(Severity::Breaking, name, "the type was removed"),
                Some(other) => self.ty(&name, id, other),
            }
        }
        for id in self.new.types_of_sources() {
            let name = self.new.type_name(id);
            if self.old.type_by_name(name).is_none() {
                self.note(Severity::Safe, name.to_owned(), "the type was added");
            }
        }
    }

    fn ty(&mut self, name: &str, old: TypeId, new: TypeId) {
        let old: Type = *self.old.ty(old);
        let new: Type = *self.new.ty(new);
        self.compare_descriptions(name, old.description, new.description);
        match (old.kind, new.kind) {
            (TypeKind::Scalar(one), TypeKind::Scalar(other)) => {
                if one != other {
                    self.note(Severity::Dangerous, name, "the scalar is read differently");
                }
            }
            (TypeKind::Object, TypeKind::Object) | (TypeKind::Interface, TypeKind::Interface) => {
                self.list(name, "implements", old.interfaces, new.interfaces);
                self.fields(name, old.fields, new.fields);
            }
            (TypeKind::Union, TypeKind::Union) => {
                self.list(name, "has the member", old.possible, new.possible)
            }
            (TypeKind::Enum, TypeKind::Enum) => self.enum_values(name, old.members, new.members),
            (TypeKind::Input { one_of: one }, TypeKind::Input { one_of: other }) => {
                if one != other {
                    let word = if other { "now" } else { "no longer" };
                    let severity = if other { Severity::Breaking } else { Severity::Safe };
                    self.note(severity, name, format!("exactly one field has to be given {word}"));
                }
                self.inputs(old.members, new.members, |it| format!("{name}.{it}"), "field");
            }
            _ => self.note(Severity::Breaking, name, "the type is of another kind"),
        }
    }

    /// Lists of types: interfaces of an object, members of a union.
    fn list(&mut self, name: &str, verb: &str, old: Run, new: Run) {
        let names = |schema: &Schema, run: Run| -> Vec<String> {
            schema.type_lists[run.range()].iter().map(|it| schema.type_name(*it).to_owned()).collect()
        };
        let old = names(self.old, old);
        let new = names(self.new, new);
        for gone in old.iter().filter(|it| !new.contains(it)) {
            self.note(Severity::Breaking, name, format!("it no longer {verb} `{gone}`"));
        }
        for added in new.iter().filter(|it| !old.contains(it)) {
            self.note(Severity::Dangerous, name, format!("it now {verb} `{added}`"));
        }
    }

    fn enum_values(&mut self, name: &str, old: Run, new: Run) {
        let value = |schema: &Schema, run: Run, word: &str| {
            let mut values = schema.enum_values[run.range()].iter();
            values.find(|it| schema.str(it.name) == word).copied()
        };
        for at in old.range() {
            let one = self.old.enum_values[at];
            let word = self.old.str(one.name).to_owned();
            let coordinate = format!("{name}.{word}");
            match value(self.new, new, &word) {
                None => self.note(Severity::Breaking, coordinate, "the value was removed"),
                Some(other) => {
                    self.compare_descriptions(&coordinate, one.description, other.description);
                    self.compare_deprecations(&coordinate, "value", one.deprecated, other.deprecated);
                }
            }
        }
        for at in new.range() {
            let word = self.new.str(self.new.enum_values[at].name);
            if value(self.old, old, word).is_none() {
                let message = "the value was added: answers may have it";
                self.note(Severity::Dangerous, format!("{name}.{word}"), message);
            }
        }
    }

    fn fields(&mut self, name: &str, old: Run, new: Run) {
        let of = |run: Run| run.range().map(|it| FieldId(it as u32));
        let find =
            |schema: &Schema, run: Run, field: &str| of(run).find(|it| schema.field_name(*it) == field);
        for id in of(old) {
            let field = self.old.field_name(id).to_owned();
            let coordinate = format!("{name}.{field}");
            let Some(other) = find(self.new, new, &field) else {
                self.note(Severity::Breaking, coordinate, "the field was removed");
                continue;
            };
            let one = *self.old.field(id);
            let two = *self.new.field(other);
            self.output_type(&coordinate, one.ty, two.ty);
            self.compare_descriptions(&coordinate, one.description, two.description);
            self.compare_deprecations(&coordinate, "field", one.deprecated, two.deprecated);
            self.inputs(one.arguments, two.arguments, |it| format!("{coordinate}({it}:)"), "argument");
        }
        for id in of(new) {
            let field = self.new.field_name(id);
            if find(self.old, old, field).is_none() {
                self.note(Severity::Safe, format!("{name}.{field}"), "the field was added");
            }
        }
    }

    fn output_type(&mut self, coordinate: &str, old: TypeRef, new: TypeRef) {
        let one = self.old.type_text(old);
        let other = self.new.type_text(new);
        if one != other {
            let fits = fits(TypeUse { schema: self.new, ty: new }, TypeUse { schema: self.old, ty: old });
            let severity = if fits { Severity::Safe } else { Severity::Breaking };
            self.note(severity, coordinate, format!("its type was `{one}` and is `{other}`"));
        }
    }

    /// Arguments or input fields.
    fn inputs(&mut self, old: Run, new: Run, coordinate: impl Fn(&str) -> String, word: &str) {
        let of = |run: Run| run.range().map(|it| InputId(it as u32));
        for id in of(old) {
            let name = self.old.input_name(id);
            let coordinate = coordinate(name);
            let Some(other) = self.new.input_by_name(new, name) else {
                self.note(Severity::Breaking, coordinate, format!("the {word} was removed"));
                continue;
            };
            let one = self.old.input(id);
            let two = self.new.input(other);
            let from = self.old.type_text(one.ty);
            let to = self.new.type_text(two.ty);
            // A value of before has to be one still.
            if from != to {
                let fits =
                    fits(TypeUse { schema: self.old, ty: one.ty }, TypeUse { schema: self.new, ty: two.ty });
                let severity = if fits { Severity::Safe } else { Severity::Breaking };
                self.note(severity, coordinate.clone(), format!("its type was `{from}` and is `{to}`"));
            }
            self.compare_descriptions(&coordinate, one.description, two.description);
            self.compare_deprecations(&coordinate, word, one.deprecated, two.deprecated);
            self.default(coordinate, one, two);
        }
        for id in of(new) {
            let name = self.new.input_name(id);
            let input = self.new.input(id);
            if self.old.input_by_name(old, name).is_none() {
                let is_required = input.ty.is_non_null() && input.default.is_none();
                let (severity, kind) =
                    if is_required { (Severity::Breaking, "required ") } else { (Severity::Safe, "") };
                self.note(severity, coordinate(name), format!("the {kind}{word} was added"));
            }
        }
    }

    /// Compares defaults as values: the order of an object's fields means nothing.
    fn default(&mut self, coordinate: String, old: Input, new: Input) {
        let literal = |schema: &Schema, it: Input| it.default.map(|it| schema.str(it.literal).to_owned());
        let from = literal(self.old, old);
        let to = literal(self.new, new);
        if from.as_deref().map(sorted_literal) != to.as_deref().map(sorted_literal) {
            let shown = |it: Option<String>| it.map_or("nothing".into(), |it| format!("`{it}`"));
            let message = format!("its default was {} and is {}", shown(from), shown(to));
            self.note(Severity::Dangerous, coordinate, message);
        }
    }

    fn directives(&mut self) {
        for directive in self.old.directives.iter().filter(|it| !it.built_in) {
            let name = self.old.str(directive.name).to_owned();
            let Some(other) = self.new.directive_by_name(&name) else {
                self.note(Severity::Breaking, format!("@{name}"), "the directive was removed");
                continue;
            };
            let other = self.new.directives[other.index()];
            let coordinate = format!("@{name}");
            if directive.places & !other.places != 0 {
                self.note(Severity::Breaking, coordinate.clone(), "it may stand in fewer places");
            }
            if other.places & !directive.places != 0 {
                self.note(Severity::Safe, coordinate.clone(), "it may stand in more places");
            }
            match (directive.repeatable, other.repeatable) {
                (true, false) => {
                    let message = "it may not be repeated any more";
                    self.note(Severity::Breaking, coordinate.clone(), message);
                }
                (false, true) => self.note(Severity::Safe, coordinate.clone(), "it may be repeated now"),
                (true, true) | (false, false) => {}
            }
            self.compare_descriptions(&coordinate, directive.description, other.description);
            self.inputs(directive.arguments, other.arguments, |it| format!("@{name}({it}:)"), "argument");
        }
        for directive in self.new.directives.iter().filter(|it| !it.built_in) {
            let name = self.new.str(directive.name);
            if self.old.directive_by_name(name).is_none() {
                self.note(Severity::Safe, format!("@{name}"), "the directive was added");
            }
        }
    }
}

/// A literal with the fields of its objects in the order of their names. Depth is that of the schema's parser.
fn sorted_literal(literal: &str) -> String {
    let text = format!("{{ a(b: {literal}) }}");
    let Ok(document) = parser::parse(&text, &Limits::NONE) else { return literal.to_owned() };
    let mut out = String::new();
    if let Some(argument) = document.arguments.first() {
        write_sorted(&document, argument.value, &mut out);
    }
    out
}

fn write_sorted(document: &Document<'_>, id: ValueId, out: &mut String) {
    match document.value(id).kind {
        ValueKind::List(items) => {
            out.push('[');
            for at in items.range() {
                write_sorted(document, ValueId(at as u32), out);
                out.push(',');
            }
            out.push(']');
        }
        ValueKind::Object(members) => {
            let mut members: Vec<_> = document.list(members).iter().collect();
            members.sort_unstable_by_key(|it| document.str(it.name));
            out.push('{');
            for member in members {
                out.push_str(document.str(member.name));
                out.push(':');
                write_sorted(document, member.value, out);
                out.push(',');
            }
            out.push('}');
        }
        ValueKind::String { .. } | ValueKind::Block => write_graphql(&document.string(id), out),
        ValueKind::Variable(_)
        | ValueKind::Int
        | ValueKind::Float
        | ValueKind::Boolean(_)
        | ValueKind::Null
        | ValueKind::Enum => out.push_str(document.str(document.value(id).span)),
    }
}

/// A type as it is used in a schema.
#[derive(Clone, Copy)]
struct TypeUse<'s> {
    schema: &'s Schema,
    ty: TypeRef,
}

/// True if every value of `one` is a value of `other`: equal names, and nulls only where `other` has them.
fn fits(one: TypeUse<'_>, other: TypeUse<'_>) -> bool {
    if one.schema.type_name(one.ty.base) != other.schema.type_name(other.ty.base) {
        return false;
    }
    let mut one = one.ty;
    let mut other = other.ty;
    loop {
        if other.is_non_null() && !one.is_non_null() {
            return false;
        }
        match (one.item(), other.item()) {
            (Some(inner), Some(outer)) => (one, other) = (inner, outer),
            (None, None) => return true,
            (Some(_), None) | (None, Some(_)) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &[(Severity, &str, &str)]) {
        let read = |text: &str| Schema::from_sdl(text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let found = diff(&read(old), &read(new));
        let found: Vec<_> = found.iter().map(|it| (it.severity, &*it.coordinate, &*it.message)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn order_is_no_difference() {
        check(
            "type Query { a: Int b(x: Int = 1 i: I = {a: 1, b: [{a: 2, c: \"x\"}]}): Int } enum Kind { X Y } input I { a: Int b: [I!] c: String }",
            "enum Kind { Y X } type Query { b(i: I = {b: [{c: \"\"\"x\"\"\", a: 2}] a: 1} x: Int = 1): Int a: Int } input I { c: String b: [I!] a: Int }",
            &[],
        );
        let of = |items: &str| format!("type Query {{ a(x: [Int] = {items}): Int }}");
        let message = "its default was `[1, 2]` and is `[2, 1]`";
        check(&of("[1, 2]"), &of("[2, 1]"), &[(Severity::Dangerous, "Query.a(x:)", message)]);
    }

    #[test]
    fn words_and_directives_that_break_nothing_are_told() {
        use Severity::Safe;
        check(
            "type Query { a(x: Int): Int b: Int @deprecated c: Int @deprecated(reason: \"d\") } enum Kind { X Y } \"old\" input I { a: Int } directive @d on FIELD",
            "\"words\" type Query { \"f\" a(\"arg\" x: Int @deprecated): Int b: Int c: Int @deprecated(reason: \"e\") } enum Kind { \"x\" X Y @deprecated } \
             input I { \"in\" a: Int } \"dir\" directive @d repeatable on FIELD | QUERY directive @e on FIELD",
            &[
                (Safe, "Query", "it has a description now"),
                (Safe, "Query.a", "it has a description now"),
                (Safe, "Query.a(x:)", "it has a description now"),
                (Safe, "Query.a(x:)", "the argument is deprecated now"),
                (Safe, "Query.b", "the field is no longer deprecated"),
                (Safe, "Query.c", "the reason of its deprecation was changed"),
                (Safe, "Kind.X", "it has a description now"),
                (Safe, "Kind.Y", "the value is deprecated now"),
                (Safe, "I", "it has no description any more"),
                (Safe, "I.a", "it has a description now"),
                (Safe, "@d", "it may stand in more places"),
                (Safe, "@d", "it may be repeated now"),
                (Safe, "@d", "it has a description now"),
                (Safe, "@e", "the directive was added"),
            ],
        );
    }

    #[test]
    fn what_breaks_clients_comes_first() {
        use Severity::{Breaking, Dangerous, Safe};
        check(
            "type Query { a: Int! b: [Int] c: Int gone: Int f(x: Int, y: Int): Int } type Old { a: Int } enum Kind { X Y }",
            "type Query { a: Int b: [Int!]! c: String added: Int f(x: Int!, z: Int!, w: Int): Int } enum Kind { X Z }",
            &[
                (Breaking, "Query.a", "its type was `Int!` and is `Int`"),
                (Breaking, "Query.c", "its type was `Int` and is `String`"),
                (Breaking, "Query.gone", "the field was removed"),
                (Breaking, "Query.f(x:)", "its type was `Int` and is `Int!`"),
                (Breaking, "Query.f(y:)", "the argument was removed"),
                (Breaking, "Query.f(z:)", "the required argument was added"),
                (Breaking, "Old", "the type was removed"),
                (Breaking, "Kind.Y", "the value was removed"),
                (Dangerous, "Kind.Z", "the value was added: answers may have it"),
                (Safe, "Query.b", "its type was `[Int]` and is `[Int!]!`"),
                (Safe, "Query.f(w:)", "the argument was added"),
                (Safe, "Query.added", "the field was added"),
            ],
        );
    }

    #[test]
    fn unions_inputs_roots_and_directives_are_compared() {
        use Severity::{Breaking, Dangerous, Safe};
        check(
            "type Query { u: U } union U = A | B type A { a: Int } type B { a: Int } input I { a: Int! b: Int = 1 }
             directive @d(x: Int) repeatable on FIELD | QUERY type Mutation { a: Int }",
            "type Query { u: U } union U = B | C type A { a: Int } type B { a: Int } type C { a: Int }
             input I { a: Int b: Int = 2 } directive @d on FIELD",
            &[
                (Breaking, "Mutation", "there is no mutation root any more"),
                (Breaking, "U", "it no longer has the member `A`"),
                (Breaking, "Mutation", "the type was removed"),
                (Breaking, "@d", "it may stand in fewer places"),
                (Breaking, "@d", "it may not be repeated any more"),
                (Breaking, "@d(x:)", "the argument was removed"),
                (Dangerous, "U", "it now has the member `C`"),
                (Dangerous, "I.b", "its default was `1` and is `2`"),
                (Safe, "I.a", "its type was `Int!` and is `Int`"),
                (Safe, "C", "the type was added"),
            ],
        );
    }
}
