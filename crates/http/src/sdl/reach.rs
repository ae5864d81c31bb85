//! Whether every field can be had wherever its type is given: by the selection, by a connector of its own, by its type's.
//!
//! **Cost:** once per place of a type and field of it.

use super::{ConnectorId, Node, NodeId, Place, Reader};
use weir_language::schema::FieldId;

impl Reader<'_> {
    pub(super) fn reach(&mut self) {
        let mut complaints: Vec<(ConnectorId, String)> = Vec::new();
        for at in 0..self.mapping.nodes.len() {
            let node = self.mapping.node(NodeId(at as u32));
            // What an entity's own call does not bring, its keys or other calls do: it is looked at where it is named.
            let entity =
                matches!(self.mapping.connector(node.connector).place, Place::Entity(ty) if ty == node.ty);
            let root = self.mapping.connector(node.connector).node == Some(NodeId(at as u32));
            if !(entity && root) {
                complaints.extend(self.lost(node).map(|message| (node.connector, message)));
            }
        }
        for (connector, message) in complaints {
            if let Some(literal) = self.selections[connector.index()] {
                self.complain(self.document.value(literal).span, message);
            }
        }
    }

    /// What is wrong with a place where a type is given.
    fn lost(&self, node: &Node) -> Option<String> {
        let mapping = &self.mapping;
        let schema = &mapping.schema;
        let type_name = schema.type_name(node.ty);
        let entity = mapping.of_type(node.ty).map(|id| mapping.connector(id));
        let given = |field: FieldId| node.find(field).is_some();
        let missing_key =
            entity.and_then(|it| it.keys.iter().find(|key| key.field.is_none_or(|key| !given(key))));
        let brought = |field: FieldId| {
            let root = entity.filter(|_| missing_key.is_none()).and_then(|it| it.node);
            given(field) || root.is_some_and(|root| mapping.node(root).find(field).is_some())
        };
        for at in schema.ty(node.ty).fields.range() {
            let field = FieldId(at as u32);
            let name = schema.field_name(field);
            let connector = mapping.of_field(field).map(|id| mapping.connector(id));
            if let Some(connector) = connector {
                let lost = connector.keys.iter().find(|key| key.field.is_none_or(|key| !brought(key)));
                if let Some(lost) = lost {
                    let key = &lost.name;
                    return Some(format!(
                        "`{type_name}.{name}` needs `{type_name}.{key}`, which nothing gives here: select `{key}`"
                    ));
                }
            } else if !brought(field) {
                return Some(match missing_key {
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
        let joins = mapping.joins.iter().filter(|it| *it.on == *type_name);
        for join in joins {
            for part in join.arguments.split("$this.").skip(1) {
                let end =
                    part.find(|it: char| !it.is_ascii_alphanumeric() && it != '_').unwrap_or(part.len());
                let key = &part[..end];
                if !schema.field_by_name(node.ty, key).is_some_and(brought) {
                    return Some(format!(
                        "`{type_name}.{}` needs `{type_name}.{key}`, which nothing gives here: select `{key}`",
                        join.name
                    ));
                }
            }
        }
        None
    }
}
