//! Reads a text of types with Dgraph's directives: text in, a [`Model`] out, or everything that is wrong with it.
//!
//! The text is no GraphQL schema: it has no `Query`, types need not repeat what they inherit, and the directives are
//! known rather than defined. So only the parser is the language's; every rule stands here. What is not served is
//! refused: a directive that did nothing would be a promise that is not kept. What
//! nothing needs is ignored with a warning: definitions of directives, scalars and inputs, arguments of fields.
//!
//! Passes, each over all types: names; own fields; interfaces and what is inherited from them; edges; what stands on
//! types; names of the API.
//!
//! **Invariant:** a model that comes out can be laid out and served: nothing below reports what a text could have wrong.
//!
//! **Cost:** linear in the text and in the fields that come out, of which there are at most [`FIELDS_MAX`].

mod auth;
#[cfg(test)]
mod auth_tests;
mod authorization;
mod clashes;
mod custom;
#[cfg(test)]
mod custom_tests;
mod defaults;
mod directives;
mod edges;
mod fields;
mod inherit;
mod named_types;
mod search;
#[cfg(test)]
mod tests;
mod types;

use crate::custom::Customs;
use crate::model::{Auth, Authorization, Enum, Field, FieldId, Model, Type, TypeId};
use auth::GraphRule;
use custom::CustomParts;
use directives::Written;
use hashbrown::{HashMap, HashSet};
use named_types::Named;
use weir_language::ast::{Document, TypeDefinition};
use weir_language::error::{Code, Error};
use weir_language::limits::Limits;
use weir_language::report;
use weir_language::schema::sdl::parse_sdl;
use weir_language::span::{Location, Span};
use weir_language::suggest;

/// The most fields a model may have, inherited ones counted for each type.
pub const FIELDS_MAX: usize = 100_000;

/// A model that was read.
#[derive(Debug)]
pub struct Read {
    /// Model of the text.
    pub model: Model,
    /// Fields that services answer.
    pub customs: Customs,
    /// Parts that are accepted but have no effect, or an unexpected one.
    pub warnings: Vec<Warning>,
}

/// Something that is accepted but has no effect, or another than one may expect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The part and the reason.
    pub message: String,
    /// Place in the text.
    pub place: Location,
}

/// Reads `text`.
///
/// ```
/// let read = weir_native::sdl::read("type Dish { id: ID!, name: String! @search(by: [term]) }").unwrap();
/// assert_eq!(read.model.types[0].name, "Dish");
/// let errors = weir_native::sdl::read("type Dish { id: ID!, name: Sting! }").unwrap_err();
/// assert_eq!(errors[0].message, "there is no type `Sting`; did you mean `String`?");
/// ```
///
/// # Errors
/// Everything that is wrong with it, at most as many as [`Limits::STANDARD`] says, in the order of the text.
/// [`report::text`] shows them to people.
pub fn read(text: &str) -> Result<Read, Vec<Error>> {
    let document = parse_sdl(text).map_err(|error| vec![error])?;
    let mut reader = SdlReader::new(&document);
    reader.names();
    reader.own_fields();
    reader.inherit();
    reader.edges();
    reader.types();
    reader.clashes();
    let customs = reader.customs();
    let cost_rules = reader.cost_rules();
    let rules = std::mem::take(&mut reader.graph_rules);
    let mut read = reader.finish(customs)?;
    read.model.cost_rules = cost_rules;
    auth::check(&read.model, rules)?;
    Ok(read)
}

/// A type in the making. Ids of types are places of these.
struct Draft<'d> {
    ty: Type,
    /// Span of the name.
    span: Span,
    definition: &'d TypeDefinition,
    /// The interfaces it names itself.
    interfaces: Vec<TypeId>,
    /// The fields it has itself; inherited ones follow in `Reader::fields`.
    own: Vec<FieldDraft>,
}

/// A field in the making.
#[derive(Clone)]
struct FieldDraft {
    field: Field,
    /// Span of the name.
    span: Span,
    /// `@hasInverse`: the name of the other side, and where it was written.
    inverse: Option<(String, Span)>,
    /// Directives on the field that an interface could have set.
    written: Written,
    /// The interface that has this field too.
    origin: Option<TypeId>,
    /// The field of an interface that this is in the end: its name; of others their own.
    root: Span,
}

/// State of the passes, and the model that they build.
struct SdlReader<'d> {
    document: &'d Document<'d>,
    names: HashMap<&'d str, (Named, Span)>,
    /// The directives that the text defines.
    defined: HashSet<&'d str>,
    types: Vec<Draft<'d>>,
    enums: Vec<Enum>,
    enum_spans: Vec<Span>,
    /// Fields of all types once inherited ones are known. Ids of fields are indexes into this list.
    fields: Vec<FieldDraft>,
    /// By type: what its own `@auth` says.
    own_auth: Vec<Auth>,
    graph_rules: Vec<GraphRule>,
    authorization: Option<Authorization>,
    /// Types with `@remote`, and inputs.
    not_stored: Vec<&'d TypeDefinition>,
    customs: CustomParts<'d>,
    warnings: Vec<(Span, String)>,
    errors: Vec<Error>,
}

impl<'d> SdlReader<'d> {
    fn new(document: &'d Document<'d>) -> Self {
        Self {
            document,
            names: HashMap::new(),
            defined: HashSet::new(),
            types: Vec::new(),
            enums: Vec::new(),
            enum_spans: Vec::new(),
            fields: Vec::new(),
            own_auth: Vec::new(),
            graph_rules: Vec::new(),
            authorization: None,
            not_stored: Vec::new(),
            customs: CustomParts::default(),
            warnings: Vec::new(),
            errors: Vec::new(),
        }
    }

    fn str(&self, span: Span) -> &'d str {
        self.document.str(span)
    }

    fn complain(&mut self, span: Span, message: impl Into<String>) {
        self.complain_of(vec![span], message);
    }

    /// Reports an error with several places; the first is the one to fix.
    fn complain_of(&mut self, spans: Vec<Span>, message: impl Into<String>) {
        self.errors.push(Error { message: message.into(), spans, code: Code::Schema });
    }

    fn warn(&mut self, span: Span, message: impl Into<String>) {
        self.warnings.push((span, message.into()));
    }

    fn draft(&self, id: TypeId) -> &Draft<'d> {
        &self.types[id.index()]
    }

    fn field(&self, id: FieldId) -> &FieldDraft {
        &self.fields[id.index()]
    }

    /// The final fields of a type.
    fn fields_of(&self, id: TypeId) -> impl Iterator<Item = (FieldId, &FieldDraft)> {
        self.draft(id).ty.fields.clone().map(|at| (FieldId(at), self.field(FieldId(at))))
    }

    fn find_field(&self, ty: TypeId, name: &str) -> Option<FieldId> {
        self.fields_of(ty).find(|(_, draft)| draft.field.name == name).map(|(id, _)| id)
    }

    fn type_ids(&self) -> impl Iterator<Item = TypeId> + use<> {
        (0..self.types.len() as u32).map(TypeId)
    }

    /// The model with its places as people read them, or the errors in their order.
    fn finish(mut self, customs: Customs) -> Result<Read, Vec<Error>> {
        if !self.errors.is_empty() {
            self.errors.sort_by_key(|error| error.spans.first().map_or(0, |span| span.start));
            self.errors.dedup();
            self.errors.truncate(Limits::STANDARD.errors_max as usize);
            return Err(self.errors);
        }
        self.warnings.sort_by_key(|it| it.0.start);
        let spans = |spans: Vec<Span>| Error { message: String::new(), spans, code: Code::Schema };
        let asked = [
            spans(self.types.iter().map(|draft| draft.span).collect()),
            spans(self.fields.iter().map(|draft| draft.span).collect()),
            spans(self.enum_spans),
            spans(self.warnings.iter().map(|(span, _)| *span).collect()),
        ];
        let places = report::locations(self.document.text, &asked);
        let authorization = self.authorization;
        let enums = self.enums;
        let mut model = Model { enums, authorization, ..Model::default() };
        for (draft, &place) in self.types.into_iter().zip(&places[0]) {
            model.types.push(Type { place, ..draft.ty });
        }
        for (draft, &place) in self.fields.into_iter().zip(&places[1]) {
            model.fields.push(Field { place, ..draft.field });
        }
        for (named, &place) in model.enums.iter_mut().zip(&places[2]) {
            named.place = place;
        }
        let warnings = self.warnings.into_iter().zip(&places[3]);
        let warnings = warnings.map(|((_, message), &place)| Warning { message, place }).collect();
        Ok(Read { model, customs, warnings })
    }
}

/// `; did you mean `String`?` if one of `names` is near `name`, else nothing.
fn hint<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    let nearest = suggest::find_near(name, names).into_iter().next();
    nearest.map_or_else(String::new, |it| format!("; did you mean `{it}`?"))
}
