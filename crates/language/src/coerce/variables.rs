//! The variables of an operation: what they have to be, kept ready, and the JSON of a request coerced to it.
//!
//! Types are resolved and defaults coerced once, while planning; a warm request needs neither document nor names of
//! types.
//!
//! **Cost:** linear in the JSON; looking a member up is a binary search over the operation's variables.

use super::tape::Tape;
use super::walk::Walk;
use super::words::Form;
use super::{Reading, Settings};
use crate::ast::{Document, List, VariableDefinition};
use crate::error::{Code, Error};
use crate::json::JsonRef;
use crate::schema::{Schema, TypeRef};
use crate::span::Span;
use crate::value::{Node, Values, Variables};
use smallvec::SmallVec;

/// A variable of an operation.
#[derive(Clone, Debug)]
pub struct VariableType {
    /// Without `$`.
    pub name: Box<str>,
    /// What it takes.
    pub ty: TypeRef,
    /// The place of its coerced default in [`VariableTypes::defaults`].
    pub default: Option<u32>,
    /// Where it is defined: the place of errors about its value.
    pub span: Span,
}

/// All variables of an operation, in order: variable `i` of a plan is `variables[i]`.
#[derive(Clone, Debug)]
pub struct VariableTypes {
    /// The variables.
    pub variables: Vec<VariableType>,
    /// Their defaults.
    pub defaults: Values,
    /// Numbers of the variables, sorted by name.
    sorted: Vec<u32>,
}

impl VariableTypes {
    /// Resolves the variables `definitions` of an operation of `document`.
    /// # Errors
    /// Types that do not exist and defaults that do not fit; a valid document has neither.
    pub fn new(
        schema: &Schema,
        document: &Document<'_>,
        definitions: List<VariableDefinition>,
        settings: Settings,
    ) -> Result<Self, Vec<Error>> {
        let mut errors = Vec::new();
        let mut defaults = Values::default();
        let mut variables = Vec::with_capacity(definitions.len());
        for definition in document.list(definitions) {
            let type_name = document.str(definition.ty.name);
            let Some(base) = schema.type_by_name(type_name) else {
                let message = format!("Unknown type \"{type_name}\".");
                errors.push(Error::new(Code::Validation, definition.ty.span, message));
                continue;
            };
            let ty = TypeRef { base, wraps: definition.ty.wraps };
            let default = match definition.default {
                None => None,
                Some(value) => {
                    match super::literal(schema, document, value, ty, settings, &|_| None, &mut defaults) {
                        Ok(place) => Some(place),
                        Err(wrong) => {
                            errors.extend(wrong);
                            None
                        }
                    }
                }
            };
            let name = document.str(definition.name).into();
            variables.push(VariableType { name, ty, default, span: definition.span });
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut sorted: Vec<u32> = (0..variables.len() as u32).collect();
        sorted.sort_unstable_by_key(|&number| &variables[number as usize].name);
        Ok(Self { variables, defaults, sorted })
    }

    /// The number of the variable called `name`.
    #[must_use]
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
    pub fn coerce(
        &self,
        schema: &Schema,
        json: Option<JsonRef<'_>>,
        settings: Settings,
        out: &mut Variables,
    ) -> Result<(), Vec<Error>> {
        out.clear();
        let json = json.filter(|json| !json.is_null());
        if json.is_some_and(|json| !json.is_object()) {
            let words = "Variables must be provided as an Object where each property is a variable value.";
            return Err(vec![Error { message: words.into(), spans: Vec::new(), code: Code::Variable }]);
        }
        let mut sent: SmallVec<[Option<u32>; 16]> = smallvec::smallvec![None; self.variables.len()];
        for (key, value) in json.iter().flat_map(|json| json.members()) {
            if let Some(number) = self.number(&key) {
                sent[number as usize] = Some(value.at);
            }
        }
        let mut errors = Vec::new();
        for (variable, sent) in self.variables.iter().zip(sent) {
            if errors.len() >= settings.errors_max as usize {
                break;
            }
            out.starts.push(out.values.nodes.len() as u32);
            match (sent, json) {
                (Some(at), Some(json)) => {
                    let json = JsonRef { at, ..json };
                    variable.read(schema, json, settings, &mut out.values, &mut errors);
                }
                (None | Some(_), _) => self.absent(schema, variable, settings, &mut out.values, &mut errors),
            }
        }
        errors.truncate(settings.errors_max as usize);
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn absent(
        &self,
        schema: &Schema,
        variable: &VariableType,
        settings: Settings,
        out: &mut Values,
        errors: &mut Vec<Error>,
    ) {
        if let Some(default) = variable.default {
            out.push_copy(&self.defaults, default as usize);
        } else if variable.ty.is_non_null() {
            let name = &variable.name;
            errors.push(variable.error(match settings.reading {
                Reading::Strict => {
                    let ty = schema.type_text(variable.ty);
                    format!("Variable \"${name}\" of required type \"{ty}\" was not provided.")
                }
                Reading::Lenient => format!("expecting a value for non-nullable variable: \"{name}\""),
            }));
        } else {
            out.nodes.push(match settings.reading {
                Reading::Strict => Node::Absent,
                Reading::Lenient => Node::Null,
            });
        }
    }
}

impl VariableType {
    fn error(&self, message: String) -> Error {
        Error::new(Code::Variable, self.span, message)
    }

    /// Coerces the value that was sent.
    fn read(
        &self,
        schema: &Schema,
        json: JsonRef<'_>,
        settings: Settings,
        out: &mut Values,
        errors: &mut Vec<Error>,
    ) {
        let name = &self.name;
        if json.is_null() && self.ty.is_non_null() {
            let ty = schema.type_text(self.ty);
            errors.push(self.error(match settings.reading {
                Reading::Strict => format!("Variable \"${name}\" of non-null type \"{ty}\" must not be null."),
                Reading::Lenient => format!("null value found for non-nullable type: \"{ty}\""),
            }));
            return;
        }
        let tape = Tape { json: json.json, reading: settings.reading };
        let mut walk = Walk::new(schema, &tape, settings);
        walk.run(json.at, self.ty, out);
        for fault in &walk.faults {
            let shown = tape.inspect(fault.at);
            let kind = tape.kind_name(fault.at);
            let words = fault.unfit.words(schema, settings.reading, Form::Json, &shown, kind);
            let message = match settings.reading {
                Reading::Strict => {
                    let place = match &*fault.path {
                        "" => String::new(),
                        path => format!(" at \"{name}{path}\""),
                    };
                    format!("Variable \"${name}\" got invalid value {shown}{place}; {words}")
                }
                Reading::Lenient => words,
            };
            errors.push(Error::new(fault.unfit.code(Form::Json), self.span, message));
        }
    }
}
