//! Check that every field of a type can be resolved in each place: by the selection, its own connector, or its type's.
//!
//! A field that some connector gives, but none where its type stands, is null there: a warning. One that nothing ever gives is a mistake.
//!
//! **Cost:** once per place of a type and field of it.

use super::{Connector, ConnectorId, Node, NodeId, Place, Reader};
use std::collections::HashSet;
use weir_language::schema::{FieldId, TypeKind};

/// Words about a field that nothing brings in one place.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Complaint {
    connector: ConnectorId,
    message: String,
    /// True if something gives it elsewhere.
    is_given: bool,
}

impl Reader<'_> {
    pub(super) fn reach(&mut self) {
        let mut complaints: Vec<Complaint> = Vec::new();
        for at in 0..self.mapping.nodes.len() {
            let id = NodeId(at as u32);
            let node = self.mapping.node(id);
            // An entity's missing fields come by its keys or other calls: they are checked where the entity is referenced.
            let entity =
                matches!(self.mapping.connector(node.connector).place, Place::Entity(ty) if ty == node.ty);
            let root = self.mapping.connector(node.connector).node == Some(id);
            if !(entity && root) {
                complaints.extend(self.lost(id));
            }
        }
        // Of a type that stands in one selection several times all is told once.
        let mut told = HashSet::new();
        complaints.retain(|it| told.insert(it.clone()));
        for Complaint { connector, message, is_given } in complaints {
            let Some(literal) = self.selections[connector.index()] else { continue };
            let span = self.document.value(literal).span;
            match is_given {
                true => self.note(span, format!("{message}; it is null here")),
                false => self.complain(span, message),
            }
        }
    }

    /// True if a selection gives `field` anywhere, or another graph does.
    fn is_given(&self, field: FieldId) -> bool {
        self.external.contains(&field) || self.mapping.nodes.iter().any(|it| it.find(field).is_some())
    }

    /// Errors of a place where a type is given.
    fn lost(&self, id: NodeId) -> Vec<Complaint> {
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
        let (mut all, mut is_keyless) = (Vec::new(), false);
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
                    let lost = self.lost_key(&keys, &sides);
                    all.extend(lost.map(|it| complaint(it.of(type_name, name), is_given)));
                }
            } else if !is_keyless && !self.external.contains(&field) {
                // One key is all that is to be mended, however many fields it would bring.
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
            let lost = self.lost_key(&keys.collect::<Vec<_>>(), &sides);
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
    fn lost_key<'k>(&self, keys: &[(&'k str, Option<FieldId>)], sides: &Sides<'_>) -> Option<Lost<'k>> {
        let lost = keys.iter().find(|key| !key.1.is_some_and(|it| sides.brought(it)));
        if let Some(&(key, field)) = lost {
            let apart = field.and_then(|it| self.mapping.of_field(it)).is_some();
            return Some(if apart { Lost::Apart(key) } else { Lost::Nowhere(key) });
        }
        // Asked below the call that brings one of them, so the others have to come with that too.
        let late = keys.iter().find(|key| !key.1.is_some_and(|it| sides.given(it)))?.0;
        let early = keys.iter().find(|key| !key.1.is_some_and(|it| sides.comes_late(it)))?.0;
        Some(Lost::Parted { early, late })
    }
}

/// Sources of the fields of a node's type: the node itself, or the call of the type.
struct Sides<'s> {
    node: &'s Node,
    entity: Option<(&'s Connector, &'s Node)>,
}

impl Sides<'_> {
    fn given(&self, field: FieldId) -> bool {
        self.node.find(field).is_some()
    }

    fn brought(&self, field: FieldId) -> bool {
        self.given(field) || self.entity.is_some_and(|it| it.1.find(field).is_some())
    }

    /// True if the field is available after the type's own call.
    fn comes_late(&self, field: FieldId) -> bool {
        let is_key = |entity: &Connector| entity.keys.iter().any(|it| it.field == Some(field));
        self.entity.is_some_and(|(entity, root)| root.find(field).is_some() || is_key(entity))
    }
}

/// A key that is not there when a field is asked.
enum Lost<'k> {
    /// Nothing gives it.
    Nowhere(&'k str),
    /// It has a `@connect` of its own.
    Apart(&'k str),
    /// One comes with the object, the other with the type's own call, and no call gives both.
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
