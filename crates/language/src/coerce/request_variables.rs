//! The variables of an operation: what they have to be, kept ready, and the JSON of a request coerced to it.
//!
//! Types are resolved and defaults coerced once, while planning; a warm request needs neither document nor names of
//! types.
//!
//! **Cost:** linear in the JSON; looking a member up is a binary search over the operation's variables.

use super::fallback::{Fallback, Fallbacks};
use super::fault_messages::{Form, short};
use super::input_walk::Walk;
use super::json_input::Tape;
use super::json_template::{FILLED_BYTES_MAX, Template, Templates};
use super::{Number, Reading, Settings, Unsent};
use crate::error::{Code, Error};
use crate::ids::{InputId, TypeId};
use crate::json::JsonRef;
use crate::span::Span;
use crate::syntax::ast::{Document, List, ValueId, VariableDefinition};
use crate::syntax::wraps::Wraps;
use crate::type_system::{SchemaView, TypeRef, Wording};
use crate::value::{Node, Values, Variables};
use smallvec::SmallVec;

/// A variable of an operation.
#[derive(Clone, Debug)]
pub struct VariableType {
    /// Without `$`.
    pub name: Box<str>,
    /// The variable's type.
    pub ty: TypeRef,
    /// The place of its coerced default in [`VariableTypes::defaults`].
    pub default: Option<u32>,
    /// True if it is used only where an `Int` may have 64 bits.
    pub is_wide: bool,
    /// Span of the definition, for errors about the value.
    pub span: Span,
}

/// A complaint about the variables that were sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableError {
    /// Words and code, at the definition of the variable.
    pub error: Error,
    /// Path to the error in the JSON of the variables, `where.id._eq`; `None` when the variable was not sent.
    pub way: Option<String>,
    /// Missing or unexpected member at the end of that path; only in messages of Dgraph.
    pub member: Option<Box<str>>,
}

/// All variables of an operation, in order: variable `i` of a plan is `variables[i]`. JSON literals with variables inside follow, then
/// variables with a fallback.
#[derive(Clone, Debug)]
pub struct VariableTypes {
    /// The variables.
    pub variables: Vec<VariableType>,
    /// Their defaults.
    pub defaults: Values,
    /// Numbers of the variables, sorted by name.
    sorted: Vec<u32>,
    templates: Templates,
    fallbacks: Fallbacks,
}

impl VariableTypes {
    /// Resolves the variables `definitions` of an operation of `document`; `wide` are the numbers of those that stand
    /// only where an `Int` may have 64 bits.
    /// # Errors
    /// Types that do not exist and defaults that do not fit; a valid document has neither.
    pub fn new<'s>(
        schema: impl Into<SchemaView<'s>>,
        document: &Document<'_>,
        definitions: List<VariableDefinition>,
        settings: Settings,
        wide: &[u32],
    ) -> Result<Self, Vec<Error>> {
        let declared = |it: u32| document.list(definitions)[it as usize].ty.wraps;
        Self::with_wraps(schema, document, definitions, settings, wide, declared)
    }

    /// Resolves the variables of an operation, with the lists and marks that `wraps` gives for the number of each.
    /// # Errors
    /// See [`Self::new`].
    pub fn with_wraps<'s>(
        schema: impl Into<SchemaView<'s>>,
        document: &Document<'_>,
        definitions: List<VariableDefinition>,
        settings: Settings,
        wide: &[u32],
        wraps: impl Fn(u32) -> Wraps,
    ) -> Result<Self, Vec<Error>> {
        let schema = schema.into();
        let mut errors = Vec::new();
        let mut defaults = Values::default();
        let mut variables = Vec::with_capacity(definitions.len());
        for (number, definition) in document.list(definitions).iter().enumerate() {
            let type_name = document.str(definition.ty.name);
            let Some(base) = schema.type_by_name(type_name) else {
                let message = format!("Unknown type \"{type_name}\".");
                errors.push(Error::new(Code::Validation, definition.ty.span, message));
                continue;
            };
            let ty = TypeRef { base, wraps: wraps(number as u32) };
            let is_wide = wide.contains(&(number as u32));
            let settings = if is_wide { settings.wide() } else { settings };
            let default = match definition.default {
                None => None,
                Some(value) => {
                    match crate::coerce::literal(
                        schema,
                        document,
                        value,
                        ty,
                        settings,
                        &|_| None,
                        &mut defaults,
                    ) {
                        Ok(place) => Some(place),
                        Err(wrong) => {
                            errors.extend(wrong);
                            None
                        }
                    }
                }
            };
            let name = document.str(definition.name).into();
            variables.push(VariableType { name, ty, default, is_wide, span: definition.span });
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut sorted: Vec<u32> = (0..variables.len() as u32).collect();
        sorted.sort_unstable_by_key(|&number| &variables[number as usize].name);
        Ok(Self {
            variables,
            defaults,
            sorted,
            templates: Templates::default(),
            fallbacks: Fallbacks::default(),
        })
    }

    /// Adds the JSON `literals`, each with its scalar, that contain variables. `number` finds the variable at a place.
    #[must_use]
    pub fn with_templates(
        self,
        document: &Document<'_>,
        literals: impl Iterator<Item = (ValueId, TypeId)>,
        number: Number<'_>,
    ) -> Self {
        Self { templates: Templates::new(document, literals, number), ..self }
    }

    /// The JSON literals with variables inside, whose numbers follow those of the variables.
    pub fn templates(&self) -> &[Template] {
        &self.templates.0
    }

    /// The number of the JSON literal at `value`, if variables stand in it.
    pub fn template(&self, value: ValueId) -> Option<u32> {
        self.templates.position(value).map(|at| self.variables.len() as u32 + at)
    }

    /// Adds the variables among `fields` (variables in fields of input objects) that may be absent where the field has a default. The
    /// JSON literals must have been added before.
    #[must_use]
    pub fn with_fallbacks<'s>(
        self,
        schema: impl Into<SchemaView<'s>>,
        settings: Settings,
        fields: impl Iterator<Item = (ValueId, u32, InputId)>,
    ) -> Self {
        let schema = schema.into();
        let found = fields.filter_map(|(value, variable, input)| {
            let default = schema.input(input).default.filter(|_| self.may_be_absent(variable, settings))?;
            Some((value, Fallback { variable, input, default: default.value }))
        });
        let fallbacks = Fallbacks::new(found);
        Self { fallbacks, ..self }
    }

    /// True if variable `number` may be absent when values are read by `settings`.
    pub fn may_be_absent(&self, number: u32, settings: Settings) -> bool {
        let variable = self.variables.get(number as usize);
        settings.unsent == Unsent::Absent
            && variable.is_some_and(|it| it.default.is_none() && !it.ty.is_non_null())
    }

    /// The variables with a fallback, whose numbers follow those of the JSON literals.
    pub fn fallbacks(&self) -> &[Fallback] {
        &self.fallbacks.all
    }

    /// The number of the variable at `value` with its fallback, if it has one.
    pub fn fallback(&self, value: ValueId) -> Option<u32> {
        let before = self.variables.len() + self.templates.0.len();
        self.fallbacks.position(value).map(|at| before as u32 + at)
    }

    /// The variable with a fallback that has this number.
    pub fn fallback_of(&self, number: u32) -> Option<Fallback> {
        let before = self.variables.len() + self.templates.0.len();
        self.fallbacks.all.get((number as usize).checked_sub(before)?).copied()
    }

    /// The number of the variable called `name`.
    pub fn number(&self, name: &str) -> Option<u32> {
        let at = self.sorted.binary_search_by_key(&name, |&number| &self.variables[number as usize].name);
        at.ok().map(|at| self.sorted[at])
    }

    /// Coerces the variables of a request. Members of `json` that are no variables of the operation are ignored.
    ///
    /// - `json`: the request's `variables`; absent and `null` are the empty object.
    /// - `out`: is cleared first; keeps its room.
    ///
    /// # Errors
    /// At most `errors_max` complaints, each at the definition of its variable.
    /// Source: GraphQL specification, section 6.1.2.
    pub fn coerce<'s>(
        &self,
        schema: impl Into<SchemaView<'s>>,
        json: Option<JsonRef<'_>>,
        settings: Settings,
        out: &mut Variables,
    ) -> Result<(), Vec<VariableError>> {
        let schema = schema.into();
        out.clear();
        let json = json.filter(|json| !json.is_null());
        if json.is_some_and(|json| !json.is_object()) {
            let words = "Variables must be provided as an Object where each property is a variable value.";
            let error = Error { message: words.into(), spans: Vec::new(), code: Code::Variable };
            return Err(vec![VariableError { error, way: None, member: None }]);
        }
        let mut sent: SmallVec<[Option<u32>; 16]> = smallvec::smallvec![None; self.variables.len()];
        for (key, value) in json.iter().flat_map(|json| json.members()) {
            if let Some(number) = self.number(&key) {
                sent[number as usize] = Some(value.at);
            }
        }
        let mut errors = Vec::new();
        for (variable, &sent) in self.variables.iter().zip(&sent) {
            if errors.len() >= settings.errors_max as usize {
                break;
            }
            out.starts.push(out.values.nodes.len() as u32);
            match (sent, json) {
                (Some(at), Some(json)) => {
                    let json = JsonRef { at, ..json };
                    let settings = if variable.is_wide { settings.wide() } else { settings };
                    variable.read(schema, json, settings, &mut out.values, &mut errors);
                }
                (None | Some(_), _) => self.absent(schema, variable, settings, &mut out.values, &mut errors),
            }
        }
        errors.truncate(settings.errors_max as usize);
        if !errors.is_empty() {
            return Err(errors);
        }
        let raw = |number: u32| match (settings.reading, sent[number as usize], json) {
            (Reading::Lenient, Some(at), Some(json)) => Some(JsonRef { at, ..json }.raw()),
            (Reading::Lenient | Reading::Strict, ..) => None,
        };
        self.templates.fill(schema, raw, out).map_err(|template| {
            let message = format!(
                "JSON literals have more than {FILLED_BYTES_MAX} bytes once their variables are filled in."
            );
            let error = Error::new(Code::LimitBytes, template.span, message);
            vec![VariableError { error, way: None, member: None }]
        })?;
        self.fallbacks.fill(schema.defaults(), out).map_err(|fallback| {
            let variable = &self.variables[fallback.variable as usize];
            vec![variable.error(Code::LimitList, "Default values make the value too large.".into(), None)]
        })
    }

    fn absent(
        &self,
        schema: SchemaView<'_>,
        variable: &VariableType,
        settings: Settings,
        out: &mut Values,
        errors: &mut Vec<VariableError>,
    ) {
        if let Some(default) = variable.default {
            out.push_copy(&self.defaults, default as usize);
        } else if variable.ty.is_non_null() {
            let name = &variable.name;
            let message = match settings.reading {
                Reading::Strict if schema.wording() == Wording::Dgraph => {
                    let way = Some(name.to_string());
                    return errors.push(variable.error(Code::Variable, "must be defined".into(), way));
                }
                Reading::Strict => {
                    let ty = schema.type_text(variable.ty);
                    format!("Variable \"${name}\" of required type \"{ty}\" was not provided.")
                }
                Reading::Lenient => format!("expecting a value for non-nullable variable: \"{name}\""),
            };
            errors.push(variable.error(Code::Variable, message, None));
        } else {
            out.nodes.push(match settings.unsent {
                Unsent::Absent => Node::Absent,
                Unsent::Null => Node::Null,
            });
        }
    }
}

impl VariableType {
    fn error(&self, code: Code, message: String, way: Option<String>) -> VariableError {
        VariableError { error: Error::new(code, self.span, message), way, member: None }
    }

    /// Coerces the value that was sent.
    fn read(
        &self,
        schema: SchemaView<'_>,
        json: JsonRef<'_>,
        settings: Settings,
        out: &mut Values,
        errors: &mut Vec<VariableError>,
    ) {
        let name = &self.name;
        if json.is_null() && self.ty.is_non_null() {
            let ty = schema.type_text(self.ty);
            let message = match settings.reading {
                Reading::Strict if schema.wording() == Wording::Dgraph => "cannot be null".to_owned(),
                Reading::Strict => {
                    format!("Variable \"${name}\" of non-null type \"{ty}\" must not be null.")
                }
                Reading::Lenient => format!("null value found for non-nullable type: \"{ty}\""),
            };
            errors.push(self.error(Code::Variable, message, Some(name.to_string())));
            return;
        }
        let tape = Tape { json: json.json, reading: settings.reading };
        let mut walk = Walk::new(schema, &tape, settings);
        walk.run(json.at, self.ty, out);
        for fault in &walk.faults {
            let kind = tape.kind_name(fault.at);
            let shown = if fault.unfit.hides(schema) { kind.into() } else { tape.show(fault.at) };
            let words = fault.unfit.words(schema, settings.reading, Form::Json, &shown, kind);
            let is_dgraph = settings.reading == Reading::Strict && schema.wording() == Wording::Dgraph;
            let member = fault.unfit.member(schema).filter(|_| is_dgraph);
            let message = match settings.reading {
                Reading::Strict if is_dgraph => words,
                Reading::Strict => {
                    let place = match &*fault.path {
                        "" => String::new(),
                        path => format!(" at \"{name}{path}\""),
                    };
                    format!("Variable \"${name}\" got invalid value {shown}{place}; {words}")
                }
                Reading::Lenient => words,
            };
            let way = Some(format!("{name}{}", fault.path));
            let error = self.error(fault.unfit.code(Form::Json), message, way);
            errors.push(VariableError { member: member.map(|it| short(it).into()), ..error });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use crate::limits::Limits;
    use crate::schema_builder::build::SchemaBuilder;
    use crate::syntax::parser;
    use crate::type_system::Schema;

    fn schema() -> Schema {
        let mut b = SchemaBuilder::new();
        let query = b.object("Query", "");
        let int = b.type_ref("Int");
        b.field("a", "", int);
        b.query(query);
        b.input_object("Where", "");
        for (name, ty) in [("b", "Int"), ("a", "[Where!]"), ("must", "String!"), ("order", "Order")] {
            let ty = b.type_ref(ty);
            b.input_field(name, "", ty);
            if name == "must" {
                b.default("\"x\"");
            }
        }
        b.enumeration("Order", "");
        b.enum_value("asc", "");
        b.build().expect("a sound schema")
    }

    /// Coerces `json` as the variables of `query (definitions) { a }`; says the nodes or the messages.
    fn check(definitions: &str, json: &str, expected: &str) {
        let schema = schema();
        let text = format!("query ({definitions}) {{ a }}");
        let document = parser::parse(&text, &Limits::STANDARD).expect("a document");
        let list = crate::syntax::ast::List::new(0, document.variables.len() as u32);
        let settings = Settings::new(Reading::Strict, &Limits::STANDARD);
        let types = VariableTypes::new(&schema, &document, list, settings, &[]).expect("types");
        let json = Json::parse(json.as_bytes(), 100).expect("JSON");
        let mut out = Variables::default();
        let said = match types.coerce(&schema, Some(JsonRef { json: &json, at: 0 }), settings, &mut out) {
            Ok(()) => shown(&schema, &out),
            Err(errors) => errors.into_iter().map(|it| it.error.message).collect::<Vec<_>>().join("\n"),
        };
        assert_eq!(said, expected, "{definitions} with {}", json.text);
    }

    fn shown(schema: &Schema, out: &Variables) -> String {
        let words = out.values.nodes.iter().map(|node| match *node {
            Node::Key(id) => format!("{}:", schema.input_name(id)),
            Node::Text(span) => format!("{:?}", out.values.str(span)),
            Node::Enum(id) => schema.str(schema.enum_value(id).name).to_owned(),
            Node::List { len, end } => format!("[{len} to {end}]"),
            Node::Object { len, end } => format!("{{{len} to {end}}}"),
            Node::Int(int) => int.to_string(),
            node => format!("{node:?}"),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn input_objects_come_out_in_the_order_of_their_type_with_defaults() {
        check("$w: Where", r#"{"w": {"a": [], "b": 1}}"#, "{3 to 7} b: 1 a: [0 to 5] must: \"x\"");
        check(
            "$w: Where",
            r#"{"w": {"a": {"must": "y"}}}"#,
            "{2 to 8} a: [1 to 6] {1 to 6} must: \"y\" must: \"x\"",
        );
    }

    #[test]
    fn what_is_not_sent_is_absent_null_or_its_default() {
        check("$a: Int, $b: Int, $c: Int = 3", r#"{"b": null, "z": 1}"#, "Absent Null 3");
        check("$w: Int!", "{}", "Variable \"$w\" of required type \"Int!\" was not provided.");
        check("$w: Int!", r#"{"w": null}"#, "Variable \"$w\" of non-null type \"Int!\" must not be null.");
    }

    #[test]
    fn complaints_name_the_value_the_place_and_the_reason() {
        check(
            "$x: Int, $w: Where",
            r#"{"x": "a", "w": {"a": [{}, {"b": 1.5}], "zz": 1}}"#,
            "Variable \"$x\" got invalid value \"a\"; Int cannot represent non-integer value: \"a\"\n\
             Variable \"$w\" got invalid value {…}; Field \"zz\" is not defined by \
             type \"Where\".\n\
             Variable \"$w\" got invalid value 1.5 at \"w.a[1].b\"; Int cannot represent non-integer value: 1.5",
        );
        check(
            "$o: Order",
            r#"{"o": "down"}"#,
            "Variable \"$o\" got invalid value \"down\"; Value \"down\" does not exist in \"Order\" enum.",
        );
    }
}
