//! The source of `_service` and `_entities`.
//!
//! **Invariant:** an answer of `_entities` has an item for each representation, in their order; what is wrong with one is an error of that
//! item alone.

use super::FederationSettings;
use super::read_representations::{EntitiesField, SwitchedType};
use crate::answer::field_error::{FieldError, PlanError, SourceError};
use crate::answer::output_plan::{OutputKind, OutputPlan, SelectionSetId};
use crate::answer::rows::{Column, Data, Rows, Table, Texts};
use crate::caching::tag_versions::Tag;
use crate::caller::{Facts, Identity};
use crate::request::demand::ListSize;
use crate::source::{
    BoxFuture, EntityLookup, ExplainInput, FetchBody, FetchInput, FetchResult, OthersChanges, PlanNode,
    PreparedFetch, Source,
};
use std::sync::{Arc, OnceLock};
use weir_language::error::Error;
use weir_language::schema::build::SchemaBuilder;
use weir_language::schema::{FieldId, ScalarReader, Schema, Visibility, Wording};

/// The name of the source.
pub(in crate::compose) const FEDERATION: &str = "federation";

/// The name of the field that finds objects.
pub(in crate::compose) const ENTITIES: &str = "_entities";

/// The name of the union of all types with keys.
pub(in crate::compose) const ENTITY: &str = "_Entity";

/// The name of the field that holds the text of the subgraph.
pub(in crate::compose) const SERVICE: &str = "_service";

/// Fact of callers who do not see [`SERVICE`].
const WITHOUT_SERVICE: u64 = 1;

/// The source.
#[derive(Debug)]
pub(in crate::compose) struct FederationSource {
    settings: FederationSettings,
    schema: Arc<Schema>,
    /// The lookups of all sources.
    lookups: Vec<EntityLookup>,
    /// The text of the subgraph, once the graph is composed.
    text: Arc<OnceLock<Box<str>>>,
}

impl FederationSource {
    /// The source for a graph whose sources have `lookups`.
    /// # Errors
    /// The schema builder refuses the schema.
    pub(in crate::compose) fn new(
        settings: FederationSettings,
        lookups: Vec<EntityLookup>,
        wording: Wording,
    ) -> Result<Self, Vec<Error>> {
        let mut schema = schema(!lookups.is_empty())?;
        schema.wording = wording;
        Ok(Self { settings, schema: Arc::new(schema), lookups, text: Arc::default() })
    }

    /// The settings.
    pub(in crate::compose) fn settings(&self) -> &FederationSettings {
        &self.settings
    }

    /// The lookups of all sources.
    pub(in crate::compose) fn lookups(&self) -> &[EntityLookup] {
        &self.lookups
    }

    /// Sets the text of the subgraph.
    pub(in crate::compose) fn publish(&self, text: String) {
        // The graph is composed once.
        let _ = self.text.set(text.into());
    }
}

/// The schema; the union's members are those of the graph, so here a stand-in is its only one.
fn schema(has_entities: bool) -> Result<Schema, Vec<Error>> {
    let mut b = SchemaBuilder::new();
    let query = b.object("Query", "");
    b.query(query);
    let service = b.type_ref("_Service!");
    b.field(SERVICE, "The text of this subgraph, for composition.", service);
    if has_entities {
        let list = b.type_ref("[_Entity]!");
        b.field(
            ENTITIES,
            "Objects by their keys, in the order of the representations; null where there is none.",
            list,
        );
        let representations = b.type_ref("[_Any!]!");
        b.argument("representations", "", representations);
        b.scalar("_Any", "A representation: `__typename` and the fields of a key.", ScalarReader::Json);
        b.union(ENTITY, "Types with keys.");
        let stand_in = b.reference("_Service");
        b.member(stand_in);
    }
    b.object("_Service", "This subgraph.");
    let text = b.type_ref("String!");
    b.field("sdl", "The types that a role sees, with their keys.", text);
    b.build()
}

impl Source for FederationSource {
    fn name(&self) -> &str {
        FEDERATION
    }

    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        if !identity.is_admin() && *identity.role != *self.settings.role {
            facts.push(WITHOUT_SERVICE);
        }
    }

    fn visibility(&self, facts: &[u64]) -> Option<Visibility> {
        if facts != [WITHOUT_SERVICE] {
            return Some(crate::source::nothing(&self.schema));
        }
        let mut seen = Visibility::everything(&self.schema);
        if let Some(service) = self.schema.field_by_name(self.schema.query, SERVICE) {
            seen.show_field(service, false);
        }
        Some(seen)
    }

    fn others_changes(&self) -> OthersChanges {
        OthersChanges::Constant
    }

    /// A list of entities has an item for each representation.
    fn list_size(&self, field: FieldId, _: &[u64]) -> Option<ListSize> {
        let slicing = self.schema.arguments(field).map(|it| self.schema.input_name(it).into()).collect();
        let is_list = self.schema.field(field).ty.wraps.is_list();
        is_list.then(|| ListSize { slicing, ..ListSize::default() })
    }

    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        let members = node.fields.iter().map(|&field| match node.output.fields[field as usize].member {
            OutputKind::Object(set) => Ok(RootAnswer::Service(set)),
            OutputKind::Abstract(choice) => {
                let sets = &node.output.type_switches[choice.0 as usize].sets;
                let types = sets.iter().map(|&(ty, set)| {
                    let name = node.schema.type_name(ty);
                    let lookups = self.lookups.iter().filter(|it| &*it.on == name);
                    SwitchedType::new(node, (ty, set), lookups)
                });
                let types = types.collect();
                Ok(RootAnswer::Entities(EntitiesField {
                    field,
                    types,
                    items_max: self.settings.representations_max,
                }))
            }
            OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => Err(PlanError {
                error: FieldError {
                    code: "INTERNAL",
                    message: "Internal error.".into(),
                    hasura_path: None,
                    extensions: None,
                },
                field,
            }),
        });
        let members = members.collect::<Result<Vec<_>, _>>()?;
        Ok(Box::new(FederationFetch { members, text: Arc::clone(&self.text) }))
    }
}

/// A member of the root.
enum RootAnswer {
    Service(SelectionSetId),
    Entities(EntitiesField),
}

struct FederationFetch {
    members: Vec<RootAnswer>,
    text: Arc<OnceLock<Box<str>>>,
}

impl FederationFetch {
    fn rows(&self, input: &FetchInput<'_>) -> Result<Rows, SourceError> {
        let columns = self.members.iter().map(|it| match it {
            RootAnswer::Service(set) => Ok(self.service(input.output, *set)),
            RootAnswer::Entities(field) => field.read(input.output, input.variables),
        });
        Ok(Rows { rows: 1, columns: columns.collect::<Result<_, _>>()?, hidden: Vec::new() })
    }

    fn service(&self, output: &OutputPlan, set: SelectionSetId) -> Column {
        let columns = output.members(set).iter().map(|it| match it.member {
            OutputKind::Leaf => {
                let mut texts = Texts::default();
                texts.push(self.text.get().map_or("", |it| it).as_bytes());
                Column { data: Data::Text(texts), ..Column::default() }
            }
            OutputKind::Object(_)
            | OutputKind::Abstract(_)
            | OutputKind::Constant { .. }
            | OutputKind::Foreign { .. } => Column::default(),
        });
        let table = Table { rows: 1, columns: columns.collect(), hidden: Vec::new() };
        Column { data: Data::Object(Box::new(table)), ..Column::default() }
    }
}

impl PreparedFetch for FederationFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        let rows = self.rows(&input).map(|rows| FetchResult {
            body: FetchBody::Rows(rows),
            errors: Vec::new(),
            cache_control: None,
        });
        Box::pin(std::future::ready(rows))
    }

    fn touches(&self) -> &[Tag] {
        &[]
    }

    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        out.push_str("read from the representations");
    }
}
