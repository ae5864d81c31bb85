//! Check that every field of a type can be resolved in each place: by the selection, its own connector, or its type's.
//!
//! **Cost:** once per place of a type and field of it.

use super::{Connector, ConnectorId, KeyField, Node, NodeId, Place, Reader};
use std::collections::HashSet;
use weir_language::schema::FieldId;

impl Reader<'_> {
    pub(super) fn reach(&mut self) {
        let mut complaints: Vec<(ConnectorId, String)> = Vec::new();
        for at in 0..self.mapping.nodes.len() {
            let node = self.mapping.node(NodeId(at as u32));
            // An entity's missing fields come by its keys or other calls: they are checked where the entity is referenced.
            let entity =
                matches!(self.mapping.connector(node.connector).place, Place::Entity(ty) if ty == node.ty);
            let root = self.mapping.connector(node.connector).node == Some(NodeId(at as u32));
            if !(entity && root) {
                complaints.extend(self.lost(node).into_iter().map(|message| (node.connector, message)));
            }
        }
        // Of a type that stands in one selection several times all is told once.
        let mut told = HashSet::new();
        complaints.retain(|it| told.insert(it.clone()));
        for (connector, message) in complaints {
            if let Some(literal) = self.selections[connector.index()] {
                self.complain(self.document.value(literal).span, message);
            }
        }
    }

    /// Errors of a place where a type is given.
    fn lost(&self, node: &Node) -> Vec<String> {
        let mapping = &self.mapping;
        let schema = &mapping.schema;
        let type_name = schema.type_name(node.ty);
        let entity = mapping.of_type(node.ty).map(|id| mapping.connector(id));
        let is_given = |key: &KeyField| key.field.is_some_and(|it| node.find(it).is_some());
        let missing_key = entity.and_then(|it| it.keys.iter().find(|key| !is_given(key)));
        let found = entity.filter(|_| missing_key.is_none());
        let entity = found.and_then(|it| Some((it, mapping.node(it.node?))));
        let sides = Sides { node, entity };
        let (mut all, mut is_keyless) = (Vec::new(), false);
        for at in schema.ty(node.ty).fields.range() {
            let field = FieldId(at as u32);
            let name = schema.field_name(field);
            if let Some(connector) = mapping.of_field(field).map(|id| mapping.connector(id)) {
                let keys = connector.keys.iter().map(|key| (&*key.name, key.field));
                let lost = self.lost_key(&keys.collect::<Vec<_>>(), &sides);
                all.extend(lost.map(|it| it.of(type_name, name)));
            } else if !sides.brought(field) && !is_keyless && !self.external.contains(&field) {
                // One key is all that is to be mended, however many fields it would bring.
                is_keyless = missing_key.is_some();
                all.push(match missing_key {
                    Some(key) => format!(
                        "nothing gives `{type_name}.{name}` here: select `{}`, by which the type's own `@connect` finds it",
                        key.name
                    ),
                    None => format!(
                        "nothing gives `{type_name}.{name}` here: select it, or give it or `{type_name}` a `@connect` of its own"
                    ),
                });
            }
        }
        for join in mapping.joins.iter().filter(|it| *it.on == *type_name) {
            let keys = join.keys().map(|key| (key, schema.field_by_name(node.ty, key)));
            let lost = self.lost_key(&keys.collect::<Vec<_>>(), &sides);
            all.extend(lost.map(|it| it.of(type_name, &join.name)));
        }
        all
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
