//! Random operations over any schema: fields, arguments and input objects as the types allow.

use weir_language::ast::OperationKind;
use weir_language::schema::{InputId, ScalarReader, Schema, TypeId, TypeKind, TypeRef};

/// Values of texts and identifiers; some occur in the data.
const TEXTS: &[&str] = &["a", "b", "c", "%a%", "b c", ""];
/// Depth of selections.
const DEPTH_MAX: u32 = 3;

/// A sequence of random numbers that its seed repeats.
pub struct Random(u64);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`.
    pub const fn below(&mut self, end: u32) -> u32 {
        // xorshift64*, from "An experimental exploration of Marsaglia's xorshift generators, scrambled" (Vigna).
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % end as u64) as u32
    }
}

/// Rules of a front end.
pub struct Rules {
    /// Arguments that make the order of rows complete: name of the type, and the last items of the list.
    pub orders: &'static [(&'static str, &'static str)],
    /// The key of most rows.
    pub key: &'static str,
    /// Objects of types that end in `Ref` may be their keys alone.
    pub references: bool,
    /// Fields of objects may have `@cascade`.
    pub cascades: bool,
    /// Fields of patches may be null, which `remove` takes for all that is there.
    pub nulls: bool,
    /// Fields and arguments that are never used.
    pub without: &'static [&'static str],
}

/// Writes one operation.
pub struct Asker<'s> {
    pub schema: &'s Schema,
    pub random: Random,
    pub rules: &'s Rules,
    /// Half of the root fields have this in their names.
    pub focus: &'s str,
    /// Names of the input types that were used, but for references.
    pub inputs: Vec<String>,
    aliases: u32,
}

impl<'s> Asker<'s> {
    pub const fn new(schema: &'s Schema, seed: u64, rules: &'s Rules, focus: &'s str) -> Self {
        Self { schema, random: Random::new(seed), rules, focus, inputs: Vec::new(), aliases: 0 }
    }

    /// A query with up to two root fields, or a mutation with one.
    pub fn operation(&mut self, kind: OperationKind) -> Option<String> {
        let root = self.schema.root(kind)?;
        let (word, fields) = match kind {
            OperationKind::Mutation => ("mutation", 1),
            OperationKind::Query | OperationKind::Subscription => ("query", 1 + self.random.below(2)),
        };
        let selection = self.selection(root, 0, fields);
        Some(format!("{word} {selection}"))
    }

    fn selection(&mut self, ty: TypeId, depth: u32, count: u32) -> String {
        let of = self.schema.ty(ty);
        if of.kind == TypeKind::Union {
            return self.fragments(ty, depth);
        }
        let mut out = String::from("{ __typename");
        let fields = self.candidates(of.fields.range(), depth);
        for _ in 0..count {
            let at = fields[self.random.below(fields.len() as u32) as usize];
            let field = weir_language::schema::FieldId(at as u32);
            let name = self.schema.field_name(field);
            if name.starts_with("__") || self.rules.without.contains(&name) {
                continue;
            }
            let base = self.schema.field(field).ty.base;
            let is_leaf = matches!(self.schema.ty(base).kind, TypeKind::Scalar(_) | TypeKind::Enum);
            if !is_leaf && depth > DEPTH_MAX {
                continue;
            }
            self.aliases += 1;
            let alias = self.aliases;
            let arguments = self.arguments(self.schema.arguments(field).collect());
            out.push_str(&format!(" f{alias}: {name}{arguments}"));
            if !is_leaf {
                let count = 1 + self.random.below(3);
                let cascades = self.rules.cascades && self.random.below(8) == 0;
                out.push_str(if cascades { " @cascade " } else { " " });
                out.push_str(&self.selection(base, depth + 1, count));
            }
        }
        if of.kind == TypeKind::Interface {
            out.push_str(&self.fragments(ty, depth).replacen("{ __typename", "", 1));
        } else {
            out.push_str(" }");
        }
        out
    }

    /// The fields one of which is selected: sometimes those of the focus alone, or nothing but the key of a related row.
    fn candidates(&mut self, fields: std::ops::Range<usize>, depth: u32) -> Vec<usize> {
        let name = |it: &usize| self.schema.field_name(weir_language::schema::FieldId(*it as u32));
        let special: Vec<usize> = match depth {
            0 => fields.clone().filter(|it| name(it).contains(self.focus)).collect(),
            _ => fields.clone().filter(|it| name(it) == self.rules.key).collect(),
        };
        let is_special = self.random.below(if depth == 0 { 2 } else { 4 }) == 0;
        if is_special && !special.is_empty() { special } else { fields.collect() }
    }

    fn fragments(&mut self, ty: TypeId, depth: u32) -> String {
        let mut out = String::from("{ __typename");
        for &object in self.schema.possible_types(ty) {
            if depth <= DEPTH_MAX && self.random.below(2) == 0 {
                let selection = self.selection(object, depth + 1, 2);
                out.push_str(&format!(" ... on {} {selection}", self.schema.type_name(object)));
            }
        }
        out.push_str(" }");
        out
    }

    fn arguments(&mut self, arguments: Vec<InputId>) -> String {
        let mut out = Vec::new();
        for argument in arguments {
            let ty = self.schema.input(argument).ty;
            let name = self.schema.input_name(argument);
            let order = self.rules.orders.iter().find(|it| it.0 == self.schema.type_name(ty.base));
            if let Some((_, last)) = order {
                let first = if self.random.below(2) == 0 { self.value(ty.base, 2) } else { String::new() };
                out.push(format!("{name}: [{first} {last}]"));
            } else if !self.rules.without.contains(&name) && (ty.is_non_null() || self.random.below(2) == 0) {
                let value = self.of(ty, 0);
                out.push(format!("{name}: {value}"));
            }
        }
        if out.is_empty() { String::new() } else { format!("({})", out.join(", ")) }
    }

    /// A value of a type with its lists.
    fn of(&mut self, ty: TypeRef, depth: u32) -> String {
        match ty.item() {
            Some(item) => {
                let items: Vec<String> =
                    (0..1 + self.random.below(2)).map(|_| self.of(item, depth)).collect();
                format!("[{}]", items.join(", "))
            }
            None => self.value(ty.base, depth),
        }
    }

    fn value(&mut self, ty: TypeId, depth: u32) -> String {
        let of = self.schema.ty(ty);
        match of.kind {
            TypeKind::Scalar(reader) => self.scalar(reader),
            TypeKind::Enum => {
                let values = of.members.range();
                let at = values.start + self.random.below(values.len() as u32) as usize;
                let value = weir_language::schema::EnumValueId(at as u32);
                self.schema.str(self.schema.enum_value(value).name).to_owned()
            }
            TypeKind::Input { .. } => self.object(ty, depth),
            TypeKind::Object | TypeKind::Interface | TypeKind::Union => "null".to_owned(),
        }
    }

    fn scalar(&mut self, reader: ScalarReader) -> String {
        match reader {
            ScalarReader::Int | ScalarReader::BigInt | ScalarReader::Decimal => {
                self.random.below(9).to_string()
            }
            ScalarReader::Float => format!("{}.5", self.random.below(5)),
            ScalarReader::Boolean => (self.random.below(2) == 0).to_string(),
            ScalarReader::Id => format!("\"0x{:x}\"", 1 + self.random.below(20)),
            ScalarReader::String | ScalarReader::Text | ScalarReader::Moment | ScalarReader::Json => {
                format!("\"{}\"", TEXTS[self.random.below(TEXTS.len() as u32) as usize])
            }
        }
    }

    fn object(&mut self, ty: TypeId, depth: u32) -> String {
        let fields: Vec<InputId> = self.schema.input_fields(ty).collect();
        let wanted = 1 + self.random.below(2);
        // Rows that are inserted mostly need all their columns.
        let is_row = self.schema.type_name(ty).ends_with("_insert_input") && self.random.below(4) > 0;
        let mut chosen: Vec<InputId> = Vec::new();
        for &field in &fields {
            let input = self.schema.input(field);
            let is_column = matches!(self.schema.ty(input.ty.base).kind, TypeKind::Scalar(_));
            if is_row && is_column || input.ty.is_non_null() && input.default.is_none() {
                chosen.push(field);
            }
        }
        if self.rules.references && self.random.below(2) == 0 {
            chosen.extend(fields.iter().copied().filter(|it| is_key_of(self.schema, self.rules, *it)));
        }
        let is_focused = |it: &InputId| {
            let base = self.schema.input(*it).ty.base;
            self.schema.type_name(base).starts_with(self.focus)
        };
        let focused: Vec<InputId> = fields.iter().copied().filter(is_focused).collect();
        if !focused.is_empty() && self.random.below(2) == 0 {
            chosen.push(focused[self.random.below(focused.len() as u32) as usize]);
        }
        for _ in 0..wanted {
            let field = fields[self.random.below(fields.len() as u32) as usize];
            if !chosen.contains(&field) && !self.rules.without.contains(&self.schema.input_name(field)) {
                chosen.push(field);
            }
        }
        let is_key = |it: &&InputId| is_key_of(self.schema, self.rules, **it);
        // An object that is told by its key alone is not made.
        match chosen.iter().find(is_key).copied() {
            Some(key) if self.rules.references && self.schema.type_name(ty).ends_with("Ref") => {
                chosen = vec![key];
            }
            _ => self.inputs.push(self.schema.type_name(ty).to_owned()),
        }
        let mut members = Vec::new();
        for field in chosen {
            let input = self.schema.input(field);
            let is_object = matches!(self.schema.ty(input.ty.base).kind, TypeKind::Input { .. });
            let may_be_null = self.rules.nulls && self.schema.type_name(ty).ends_with("Patch");
            if may_be_null && !input.ty.is_non_null() && self.random.below(4) == 0 {
                members.push(format!("{}: null", self.schema.input_name(field)));
            } else if !is_object || depth < 4 || input.ty.is_non_null() {
                let value = self.of(input.ty, depth + 1);
                members.push(format!("{}: {value}", self.schema.input_name(field)));
            }
        }
        format!("{{{}}}", members.join(", "))
    }
}

fn is_key_of(schema: &Schema, rules: &Rules, field: InputId) -> bool {
    schema.input_name(field) == rules.key
}
