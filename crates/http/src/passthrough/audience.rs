//! Visibility of a remote server: which callers see it, and which of its types and fields have guards.
//!
//! **Invariant:** without an audience the admin alone sees a server.

use crate::sdl::{Condition, Guard, Guarded, ServerGuard};
use crate::visible;
use weir_engine::caller::{Facts, Identity};
use weir_engine::source::{nothing, only_admin};
use weir_language::schema::{FieldId, Schema, TypeId, Visibility};

/// Audience as configured in the SDL.
#[derive(Clone, Debug)]
pub struct Audience {
    /// All conditions, each once.
    pub conditions: Vec<Condition>,
    /// Indices of the conditions for the whole server.
    pub whole: Vec<u32>,
    /// Guards of types and fields, including those of other servers in the file.
    pub guards: Vec<ServerGuard>,
}

/// Audience resolved against the server's schema.
#[derive(Debug)]
pub(crate) struct Shown(Option<Guards>);

#[derive(Debug)]
struct Guards {
    conditions: Vec<Condition>,
    guards: Vec<Guard>,
}

impl Shown {
    pub(crate) fn new(audience: Option<&Audience>, schema: &Schema) -> Self {
        Self(audience.map(|it| Guards::new(it, schema)))
    }

    pub(crate) fn profile(&self, identity: &Identity, facts: &mut Facts) {
        match &self.0 {
            Some(it) => visible::profile(&it.conditions, identity, facts),
            None => only_admin(identity, facts),
        }
    }

    pub(crate) fn visibility(&self, schema: &Schema, facts: &[u64]) -> Option<Visibility> {
        match &self.0 {
            Some(it) => visible::visibility(schema, &it.guards, facts),
            None => Some(nothing(schema)),
        }
    }
}

impl Guards {
    fn new(audience: &Audience, schema: &Schema) -> Self {
        let roots = [Some(schema.query), schema.mutation];
        let fields = roots.into_iter().flatten().flat_map(|it| schema.ty(it).fields.range());
        let whole = fields.flat_map(|at| {
            let guarded = Guarded::Field(FieldId(at as u32));
            audience.whole.iter().map(move |&condition| Guard { guarded, condition })
        });
        let own = audience.guards.iter().filter_map(|it| {
            Some(Guard { guarded: find(schema, &it.ty, it.field.as_deref())?, condition: it.condition })
        });
        Self { conditions: audience.conditions.clone(), guards: whole.chain(own).collect() }
    }
}

/// Finds the type `ty` of a server, or its field `field`. Root types are called `Query` and `Mutation` here, whatever their name on the
/// server.
pub(crate) fn find(schema: &Schema, ty: &str, field: Option<&str>) -> Option<Guarded> {
    let named = || schema.type_by_name(ty).filter(|it| !is_root(schema, *it));
    let id = match ty {
        "Query" => Some(schema.query),
        "Mutation" => schema.mutation,
        _ => named(),
    }?;
    match field {
        Some(field) => schema.field_by_name(id, field).map(Guarded::Field),
        None => Some(Guarded::Type(id)),
    }
}

fn is_root(schema: &Schema, id: TypeId) -> bool {
    id == schema.query || Some(id) == schema.mutation
}
