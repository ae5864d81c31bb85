//! Checks that every field of a type can be resolved in each place: by the selection, its own connector, or its type's.
//!
//! A field that some connector gives, but none where its type stands, is null there: a warning. One that nothing ever gives is a mistake.
//!
//! **Cost:** once per place of a type and field of it.

use super::{Connector, ConnectorId, Node, NodeId, Place, Reader};
use std::collections::HashSet;
use weir_language::schema::{FieldId, TypeKind};

/// A field that no call resolves in one place.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Complaint {
    connector: ConnectorId,
    message: String,
    /// True if the field is resolved in another place.
    is_given: bool,
}

impl Reader<'_> {
    pub(super) fn reach(&mut self) {
        let mut complaints: Vec<Complaint> = Vec::new();
        for at in 0..self.mapping.nodes.len() {
            let id = NodeId(at as u32);
            let node = self.mapping.node(id);
            // Fields missing here come from keys or other calls, so they are checked where the entity is referenced.
            let entity =
                matches!(self.mapping.connector(node.connector).place, Place::Entity(ty) if ty == node.ty);
            let root = self.mapping.connector(node.connector).node == Some(id);
            if !(entity && root) {
                complaints.extend(self.unreachable_fields(id));
            }
        }
        // A type may occur several times in one selection; each message is reported once.
        let mut told = HashSet::new();
        complaints.retain(|it| told.insert(it.clone()));
        for Complaint { connector, message, is_given } in complaints {
            let Some(literal) = self.selections[connector.index()] else { continue };
            let span = self.document.value(literal).span;
            if is_given {
                self.note(span, format!("{message}; it is null here"))
            } else {
                self.complain(span, message)
            }
        }
    }

    /// True if any selection returns `field`, or another graph resolves it.
    fn is_given(&self, field: FieldId) -> bool {
        self.external.contains(&field) || self.mapping.nodes.iter().any(|it| it.find(field).is_some())
    }

    /// Checks one place where a type is returned.
    fn unreachable_fields(&self, id: NodeId) -> Vec<Complaint> {
        let mapping = &self.mapping;
        let node = mapping.node(id);
        let schema = &mapping.schema;
        let type_name = schema.type_name(node.ty);
        let entity = mapping.entity_at(id).map(|it| mapping.connector(it));
        let missing_key = mapping.of_type(node.ty).filter(|_| entity.is_none()).and_then(|it| {
            let mut keys = mapping.connector(it).keys.iter();
            keys.find(|key| key.field.is_none_or(|it| node.find(it).is_none()))
        });
        let sides = Sides { node, entity: entity.and_then(|it| Some((it, mapping.node(it.node?)))) };
        let complaint = |message, is_given| Complaint { connector: node.connector, message, is_given };
        let mut all = Vec::new();
        let mut is_keyless = false;
        for field in self.fields_at(node) {
            let name = schema.field_name(field);
            let type_name = schema.type_name(schema.field(field).parent);
            if node.find(field).is_some() || mapping.entity_for(id, field).is_some() {
                continue;
            }
            if let Some(first) = mapping.of_field(field).map(|it| mapping.connector(it)) {
                if mapping.own_connector(id, field).is_none() {
                    let keys: Vec<_> = first.keys.iter().map(|key| (&*key.name, key.field)).collect();
                    let is_given = keys.iter().all(|it| it.1.is_some_and(|it| self.is_given(it)));
                    let lost = self.unreachable_key(&keys, &sides);
                    all.extend(lost.map(|it| complaint(it.of(type_name, name), is_given)));
                }
            } else if !is_keyless && !self.external.contains(&field) {
                // Report only the missing key, however many fields depend on it.
                is_keyless = missing_key.is_some();
                let message = match missing_key {
                    Some(key) => format!(
                        "nothing gives `{type_name}.{name}` here: select `{}`, by which the type's own `@connect` finds it",
                        key.name
                    ),
                    None => format!(
                        "nothing gives `{type_name}.{name}` here: select it, or give it or `{type_name}` a `@connect` of its own"
                    ),
                };
                all.push(complaint(message, self.is_given(field)));
            }
        }
        for join in mapping.joins.iter().filter(|it| *it.on == *type_name) {
            let keys = join.keys().map(|key| (key, schema.field_by_name(node.ty, key)));
            let lost = self.unreachable_key(&keys.collect::<Vec<_>>(), &sides);
            all.extend(lost.map(|it| complaint(it.of(type_name, &join.name), false)));
        }
        all
    }

    /// The fields of the types that objects at `node` may have.
    fn fields_at(&self, node: &Node) -> Vec<FieldId> {
        let schema = &self.mapping.schema;
        let of = schema.ty(node.ty);
        let types = match of.kind {
            TypeKind::Interface | TypeKind::Union => &schema.type_lists[of.possible.range()],
            _ => std::slice::from_ref(&node.ty),
        };
        let fields = types.iter().flat_map(|it| schema.ty(*it).fields.range());
        fields.map(|at| FieldId(at as u32)).collect()
    }

    /// The first of `keys` that one call cannot be asked with, as they do not come together.
    fn unreachable_key<'k>(
        &self,
        keys: &[(&'k str, Option<FieldId>)],
        sides: &Sides<'_>,
    ) -> Option<Lost<'k>> {
        let lost = keys.iter().find(|key| !key.1.is_some_and(|it| sides.is_reachable(it)));
        if let Some(&(key, field)) = lost {
            let apart = field.and_then(|it| self.mapping.of_field(it)).is_some();
            return Some(if apart { Lost::Apart(key) } else { Lost::Nowhere(key) });
        }
        // The call runs after the call that returns one of the keys, so all other keys must come with that call.
        let late = keys.iter().find(|key| !key.1.is_some_and(|it| sides.is_given_here(it)))?.0;
        let early = keys.iter().find(|key| !key.1.is_some_and(|it| sides.has_after_entity(it)))?.0;
        Some(Lost::Parted { early, late })
    }
}

/// Sources of the fields of a node's type: the node itself, and the call of the type.
struct Sides<'s> {
    node: &'s Node,
    entity: Option<(&'s Connector, &'s Node)>,
}

impl Sides<'_> {
    fn is_given_here(&self, field: FieldId) -> bool {
        self.node.find(field).is_some()
    }

    fn is_reachable(&self, field: FieldId) -> bool {
        self.is_given_here(field) || self.entity.is_some_and(|it| it.1.find(field).is_some())
    }

    /// True if the field is available after the type's own call.
    fn has_after_entity(&self, field: FieldId) -> bool {
        let is_key = |entity: &Connector| entity.keys.iter().any(|it| it.field == Some(field));
        self.entity.is_some_and(|(entity, root)| root.find(field).is_some() || is_key(entity))
    }
}

/// A key that is not available when a field is fetched.
enum Lost<'k> {
    /// No call returns it.
    Nowhere(&'k str),
    /// It has its own `@connect`.
    Apart(&'k str),
    /// One key comes with the object, another only with the type's own call.
    Parted { early: &'k str, late: &'k str },
}

impl Lost<'_> {
    fn of(&self, ty: &str, field: &str) -> String {
        match self {
            Self::Nowhere(key) => {
                format!("`{ty}.{field}` needs `{ty}.{key}`, which nothing gives here: select `{key}`")
            }
            Self::Apart(key) => format!(
                "`{ty}.{field}` needs `{ty}.{key}`, which has a `@connect` of its own and cannot be a key: have a selection give it"
            ),
            Self::Parted { early, late } => format!(
                "`{ty}.{field}` needs `{ty}.{early}` and `{ty}.{late}` of one call: select `{late}` here, or `{early}` in the `@connect` of `{ty}` too"
            ),
        }
    }
}
