//! Writes random documents that mostly fit a schema: a stream of choices decides, so that shrinking the stream shrinks
//! the document.
//!
//! The cases of `corpus/disagreements.md` are never generated: OneOf literals with anything but one field, variables below
//! the top of an argument, defaults that are null, lists of different lengths.

use std::collections::BTreeMap;
use std::fmt::Write;
use weir_language::schema::{FieldId, Run, Schema, TypeId, TypeKind, TypeRef};

/// Fragments a document may have.
const FRAGMENTS: usize = 4;

/// A document being written.
pub(crate) struct Writer<'s> {
    schema: &'s Schema,
    choices: &'s [u16],
    next: usize,
    /// Variables of the operation: name and type.
    variables: BTreeMap<String, String>,
    /// The type that each fragment is on.
    on: [TypeId; FRAGMENTS],
    out: String,
}

/// A document for `schema`.
pub(crate) fn document(schema: &Schema, choices: &[u16]) -> String {
    let mut writer = Writer {
        schema,
        choices,
        next: 0,
        variables: BTreeMap::new(),
        on: [schema.query; FRAGMENTS],
        out: String::new(),
    };
    writer.document()
}

impl Writer<'_> {
    /// A number below `below`; 0 once the choices have run out.
    fn choose(&mut self, below: usize) -> usize {
        let choice = self.choices.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        usize::from(choice) % below.max(1)
    }

    /// Once in `times`, and never once the choices have run out.
    fn once_in(&mut self, times: usize) -> bool {
        self.choose(times) == times - 1
    }

    fn document(&mut self) -> String {
        for at in 0..FRAGMENTS {
            self.on[at] = self.composite();
        }
        let fragments: Vec<String> = (0..FRAGMENTS)
            .map(|at| {
                self.set(self.on[at], 2, at + 1);
                let on = self.schema.type_name(self.on[at]);
                format!("fragment F{at} on {on} {}\n", std::mem::take(&mut self.out))
            })
            .collect();
        self.set(self.schema.query, 4, 0);
        let mut text = std::mem::take(&mut self.out);
        // A fragment is only spread by those before it, mostly.
        for (at, fragment) in fragments.iter().enumerate() {
            if text.contains(&format!("...F{at} ")) || self.once_in(60) {
                text.push_str(fragment);
            }
        }
        let mut definitions = Vec::new();
        for (name, ty) in std::mem::take(&mut self.variables) {
            let ends = [format!("${name})"), format!("${name},")];
            if ends.iter().any(|end| text.contains(end)) || self.once_in(60) {
                definitions.push(format!("${name}: {ty}"));
            }
        }
        if self.once_in(60) {
            definitions.pop();
        }
        let definitions =
            if definitions.is_empty() { String::new() } else { format!("({})", definitions.join(", ")) };
        format!("query Q{definitions} {text}")
    }

    /// Some object, interface or union.
    fn composite(&mut self) -> TypeId {
        let is_composite = |id: &TypeId| {
            matches!(self.schema.ty(*id).kind, TypeKind::Object | TypeKind::Interface | TypeKind::Union)
        };
        let all: Vec<TypeId> = (0..self.schema.types.len() as u32).map(TypeId).filter(is_composite).collect();
        all[self.choose(all.len())]
    }

    /// A selection set on `ty`. Only fragments from number `first` may be spread, so that few form cycles.
    fn set(&mut self, ty: TypeId, depth: usize, first: usize) {
        self.out.push_str("{ ");
        let members = 1 + self.choose(4);
        for _ in 0..members {
            match self.choose(8) {
                0..5 => self.field(ty, depth, first),
                5 => {
                    let on = if self.once_in(50) { self.composite() } else { self.fitting(ty) };
                    write!(self.out, "... on {} ", self.schema.type_name(on)).expect("a string takes all");
                    self.directive();
                    if depth == 0 {
                        self.out.push_str("{ __typename } ")
                    } else {
                        self.set(on, depth - 1, first)
                    }
                }
                _ => self.spread(ty, first),
            }
        }
        self.out.push_str("} ");
    }

    fn spread(&mut self, ty: TypeId, first: usize) {
        let from = if self.once_in(60) { 0 } else { first };
        let any = self.once_in(40);
        let fits = |on: TypeId| {
            on == ty
                || self.schema.possible_types(ty).contains(&on)
                || self.schema.possible_types(on).contains(&ty)
        };
        let fitting: Vec<usize> = (from..FRAGMENTS).filter(|&at| any || fits(self.on[at])).collect();
        if fitting.is_empty() {
            self.out.push_str("__typename ");
            return;
        }
        let number = fitting[self.choose(fitting.len())];
        write!(self.out, "...F{number} ").expect("a string takes all");
        self.directive();
    }

    /// A type that some object of `ty` has.
    fn fitting(&mut self, ty: TypeId) -> TypeId {
        let possible = self.schema.possible_types(ty);
        if possible.is_empty() || self.once_in(3) { ty } else { possible[self.choose(possible.len())] }
    }

    fn directive(&mut self) {
        match self.choose(60) {
            37 => self.out.push_str("@skip(if: true) "),
            38 => self.out.push_str("@once @tag(name: \"a\") @tag(name: \"b\") "),
            59 => self.out.push_str("@onField "),
            _ => {}
        }
    }

    fn field(&mut self, ty: TypeId, depth: usize, first: usize) {
        let run = self.schema.ty(ty).fields;
        if run.len == 0 || self.once_in(10) {
            self.out.push_str("__typename ");
            return;
        }
        if self.once_in(120) {
            self.out.push_str("nothing ");
            return;
        }
        let id = FieldId(run.start + self.choose(run.len as usize) as u32);
        let field = *self.schema.field(id);
        if self.once_in(12) {
            let key = ["a", "b", "id"][self.choose(3)];
            write!(self.out, "{key}: ").expect("a string takes all");
        }
        self.out.push_str(self.schema.field_name(id));
        self.arguments(field.arguments);
        self.out.push(' ');
        self.directive();
        match self.schema.ty(field.ty.base).kind {
            TypeKind::Object | TypeKind::Interface | TypeKind::Union if self.once_in(100) => {}
            TypeKind::Object | TypeKind::Interface | TypeKind::Union => {
                if depth == 0 {
                    self.out.push_str("{ __typename } ")
                } else {
                    self.set(field.ty.base, depth - 1, first)
                }
            }
            TypeKind::Scalar(_) | TypeKind::Enum | TypeKind::Input { .. } => {
                if self.once_in(150) {
                    self.out.push_str("{ x } ");
                }
            }
        }
    }

    fn arguments(&mut self, run: Run) {
        let mut written = Vec::new();
        for at in run.range() {
            let input = self.schema.inputs.get(at);
            let is_required = input.ty.is_non_null() && input.default.is_none();
            let is_given = if is_required { !self.once_in(60) } else { self.once_in(3) };
            if is_given {
                let value = self.argument(input.ty);
                written.push(format!("{}: {value}", self.schema.str(input.name)));
            }
        }
        if self.once_in(150) {
            written.push("other: 1".to_owned());
        }
        if !written.is_empty() {
            write!(self.out, "({})", written.join(", ")).expect("a string takes all");
        }
    }

    fn argument(&mut self, ty: TypeRef) -> String {
        if !self.once_in(4) {
            return self.literal(ty, 3);
        }
        let mut wanted = self.schema.type_text(ty);
        match self.choose(20) {
            17 => wanted = wanted.trim_end_matches('!').to_owned(),
            18 => wanted = format!("[{}]", wanted.trim_end_matches('!')),
            19 => wanted = "Int".to_owned(),
            _ => {}
        }
        let name = format!("v{}", self.choose(3));
        let is_taken = self.variables.get(&name).is_some_and(|known| *known != wanted);
        let name = if is_taken && !self.once_in(10) {
            format!("{name}_{}", wanted.replace(['[', ']'], "l").replace('!', "n"))
        } else {
            name
        };
        self.variables.entry(name.clone()).or_insert(wanted);
        format!("${name}")
    }

    fn literal(&mut self, ty: TypeRef, depth: usize) -> String {
        if !ty.is_non_null() && self.once_in(15) || self.once_in(150) {
            return "null".to_owned();
        }
        if let Some(item) = ty.item() {
            return match self.choose(3) {
                0 => self.literal(item, depth),
                _ => format!("[{}, {}]", self.literal(item, depth), self.literal(item, depth)),
            };
        }
        let wrong = self.once_in(60);
        let kind = self.schema.ty(ty.base).kind;
        match kind {
            _ if wrong => ["1", "\"a\"", "ROCK", "true", "1.5", "{ a: 1 }"][self.choose(6)].to_owned(),
            TypeKind::Input { one_of: true } => "{ id: 1 }".to_owned(),
            TypeKind::Input { one_of: false } => self.object(ty.base, depth),
            TypeKind::Enum => {
                let run = self.schema.ty(ty.base).members;
                let at = run.start as usize + self.choose(run.len as usize);
                self.schema.str(self.schema.enum_values[at].name).to_owned()
            }
            TypeKind::Scalar(_) | TypeKind::Object | TypeKind::Interface | TypeKind::Union => {
                match self.schema.type_name(ty.base) {
                    "Int" => ["0", "1", "-7", "2147483647"][self.choose(4)].to_owned(),
                    "Float" => ["1", "1.5", "-1e3"][self.choose(3)].to_owned(),
                    "Boolean" => ["true", "false"][self.choose(2)].to_owned(),
                    "ID" => ["1", "\"a\""][self.choose(2)].to_owned(),
                    _ => ["\"a\"", "\"\"\"b\"\"\""][self.choose(2)].to_owned(),
                }
            }
        }
    }

    fn object(&mut self, base: TypeId, depth: usize) -> String {
        let mut written = Vec::new();
        for id in self.schema.input_fields(base) {
            let input = self.schema.input(id);
            let is_required = input.ty.is_non_null() && input.default.is_none();
            if (is_required && !self.once_in(40)) || (depth > 0 && self.once_in(4)) {
                let value = self.literal(input.ty, depth.saturating_sub(1));
                written.push(format!("{}: {value}", self.schema.str(input.name)));
            }
        }
        if self.once_in(60) {
            written.push("other: 1".to_owned());
        }
        format!("{{ {} }}", written.join(", "))
    }
}
