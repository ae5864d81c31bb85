//! Look-ahead: which fields a request selects below a field, read from the plan.
//!
//! **Cost:** nothing is built; each method walks the members of one selection.

use std::sync::Arc;
use weir_engine::plan::output_plan::{OutputField, OutputKind, OutputPlan, SelectionSetId};
use weir_engine::source::Ids;
use weir_language::schema::{FieldId, Schema, TypeId, TypeRef};

/// The selection below one field of a plan.
///
/// ```
/// use weir_runtime::{Context, Request, Schema, record, root};
/// struct User { name: String }
/// record!(User { name });
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Schema::builder("type Query { user: User } type User { name: String! }")
///     .resolve("Query.user", root(|_: &(), context: &Context| {
///         let look = context.lookahead();
///         assert_eq!((look.response_name(), look.names()), ("me", vec!["name"]));
///         assert!(look.selects("name") && look.below("posts").is_none());
///         let field = look.selected_field();
///         assert_eq!((field.name(), field.coordinate()), ("user", "Query.user".to_owned()));
///         let types = field.types();
///         assert_eq!((types[0].name(), types[0].fields()[0].name()), ("User", "name"));
///         User { name: "Ada".into() }
///     }))
///     .build()?;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// let answer = runtime.block_on(schema.execute(Request::new("{ me: user { name } }")));
/// assert_eq!(answer.text(), r#"{"data":{"me":{"name":"Ada"}}}"#);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Lookahead {
    output: Arc<OutputPlan>,
    schema: Arc<Schema>,
    ids: Arc<Ids>,
    /// Place of the field in [`OutputPlan::fields`].
    field: u32,
}

impl Lookahead {
    pub(crate) fn new(output: &Arc<OutputPlan>, schema: &Arc<Schema>, ids: &Arc<Ids>, field: u32) -> Self {
        let output = Arc::clone(output);
        let schema = Arc::clone(schema);
        let ids = Arc::clone(ids);
        Self { output, schema, ids, field }
    }

    /// The field's own response name: its alias, or its name.
    #[must_use]
    pub fn response_name(&self) -> &str {
        self.own().key.name()
    }

    /// True if the field `name` is selected here, for any of the types that may stand here.
    #[must_use]
    pub fn selects(&self, name: &str) -> bool {
        self.members().any(|(_, field)| self.name(field) == Some(name))
    }

    /// The selection below the field `name`; the first of several with different aliases.
    #[must_use]
    pub fn below(&self, name: &str) -> Option<Self> {
        let (field, _) = self.members().find(|(_, field)| self.name(field) == Some(name))?;
        Some(Self { field, ..self.clone() })
    }

    /// Names of the selected fields, each once, in the order of the response.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for name in self.members().filter_map(|(_, field)| self.name(field)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn own(&self) -> &OutputField {
        self.field_at(self.field)
    }

    /// The name in the schema of the library; `None` for fields of other sources and `__typename`.
    fn name(&self, field: &OutputField) -> Option<&str> {
        let own = self.ids.field(field.field);
        let is_own = own.0 != u32::MAX && own != self.schema.meta.typename;
        is_own.then(|| self.schema.field_name(own))
    }

    fn members(&self) -> impl Iterator<Item = (u32, &OutputField)> {
        let sets: Vec<SelectionSetId> = match self.own().member {
            OutputKind::Object(set) => vec![set],
            OutputKind::Abstract(choice) => {
                self.output.type_switches[choice.0 as usize].sets.iter().map(|it| it.1).collect()
            }
            OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => Vec::new(),
        };
        let places = sets.into_iter().flat_map(|set| self.output.set(set).range());
        places.map(|at| (at as u32, &self.output.fields[at]))
    }
}

/// A field with everything that is selected below it: for resolvers that make exactly the selected values.
///
/// Fields of one selection that differ in their response names alone read the same value, and are one of these.
/// [`Lookahead`] has an example.
pub struct SelectedField<'l> {
    lookahead: &'l Lookahead,
    /// Places in [`OutputPlan::fields`].
    fields: Vec<u32>,
}

/// An object type that may stand at a [`SelectedField`]. [`Lookahead`] has an example.
pub struct SelectedType<'l> {
    lookahead: &'l Lookahead,
    /// In the schema of the library.
    ty: TypeId,
    sets: Vec<SelectionSetId>,
}

impl Lookahead {
    /// The field itself with all that is selected below.
    #[must_use]
    pub fn selected_field(&self) -> SelectedField<'_> {
        SelectedField { lookahead: self, fields: vec![self.field] }
    }

    /// The schema of the library.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The field at `place`.
    fn field_at(&self, place: u32) -> &OutputField {
        let field = &self.output.fields[place as usize];
        match field.member {
            // The selection below a field that is fetched separately stands in the set of its own fetch.
            OutputKind::Foreign { field, .. } => &self.output.fields[field as usize],
            _ => field,
        }
    }
}

impl<'l> SelectedField<'l> {
    fn own(&self) -> FieldId {
        let field = self.fields.first().map(|it| self.lookahead.field_at(*it).field);
        field.map_or(FieldId(u32::MAX), |it| self.lookahead.ids.field(it))
    }

    /// The field's name.
    #[must_use]
    pub fn name(&self) -> &'l str {
        self.lookahead.schema.field_name(self.own())
    }

    /// `User.posts`.
    #[must_use]
    pub fn coordinate(&self) -> String {
        let schema = &self.lookahead.schema;
        format!("{}.{}", schema.type_name(schema.field(self.own()).parent), self.name())
    }

    /// The field's type.
    #[must_use]
    pub fn ty(&self) -> TypeRef {
        self.lookahead.schema.field(self.own()).ty
    }

    /// The object types that may stand here; none at a leaf.
    #[must_use]
    pub fn types(&self) -> Vec<SelectedType<'l>> {
        let lookahead = self.lookahead;
        let mut types = Vec::<SelectedType<'l>>::new();
        let mut add = |ty: TypeId, set: SelectionSetId| match types.iter_mut().find(|it| it.ty == ty) {
            Some(known) => known.sets.push(set),
            None => types.push(SelectedType { lookahead, ty, sets: vec![set] }),
        };
        for field in &self.fields {
            match lookahead.field_at(*field).member {
                OutputKind::Object(set) => add(lookahead.ids.ty(lookahead.output.set(set).on), set),
                OutputKind::Abstract(choice) => {
                    let sets = lookahead.output.type_switches[choice.0 as usize].sets.iter();
                    let own = sets.filter(|it| lookahead.ids.has_type(it.0));
                    own.for_each(|it| add(lookahead.ids.ty(it.0), it.1));
                }
                OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => {}
            }
        }
        types
    }
}

impl<'l> SelectedType<'l> {
    /// The type's name.
    #[must_use]
    pub fn name(&self) -> &'l str {
        self.lookahead.schema.type_name(self.ty)
    }

    /// True if resolvers below take these objects as their parents.
    #[must_use]
    pub fn is_parent(&self) -> bool {
        let typename = self.lookahead.schema.meta.typename;
        self.sets.iter().any(|it| self.lookahead.output.set(*it).hidden.contains(&typename))
    }

    /// The fields that come with the object itself, each once.
    #[must_use]
    pub fn fields(&self) -> Vec<SelectedField<'l>> {
        let lookahead = self.lookahead;
        let mut fields: Vec<SelectedField<'l>> = Vec::new();
        for place in self.sets.iter().flat_map(|it| lookahead.output.set(*it).range()) {
            let field = &lookahead.output.fields[place];
            let is_own =
                matches!(field.member, OutputKind::Leaf | OutputKind::Object(_) | OutputKind::Abstract(_));
            let own = lookahead.ids.field(field.field);
            if !is_own || own.0 == u32::MAX {
                continue;
            }
            match fields.iter_mut().find(|it| it.own() == own) {
                Some(known) => known.fields.push(place as u32),
                None => fields.push(SelectedField { lookahead, fields: vec![place as u32] }),
            }
        }
        fields
    }
}
