//! Decides which fields come with a connector's answer and which need a call of their own.
//!
//! **Invariant:** the engine's nodes are the mapping's, shifted by one behind the root; behind them stands one for each
//! connector, where the field stands that it answers.

use crate::sdl::{ConnectorId, Mapping, Place as Stands};
use std::sync::Arc;
use weir_engine::source::{FieldResolution, FieldResolver, NodeId, SeparateFetch, SeparateFetchId};
use weir_language::schema::{FieldId, TypeId};

/// Node without fields: for leaves, and for fields that no call returns.
const NOTHING: NodeId = NodeId(u32::MAX);

/// Division of one mapping.
pub(super) struct Division {
    mapping: Arc<Mapping>,
    /// Per field: its own connector; with several, the one whose selection has the most fields.
    of_field: Vec<Option<ConnectorId>>,
    /// Per connector: the names of its keys.
    keys: Vec<Vec<Box<str>>>,
}

impl Division {
    pub(super) fn new(mapping: &Arc<Mapping>) -> Self {
        let fields = 0..mapping.schema.fields.len() as u32;
        let of_field = fields.map(|at| mapping.of_field(FieldId(at))).collect();
        let keys = mapping.connectors.iter().map(|it| it.keys.iter().map(|key| key.name.clone()).collect());
        let keys = keys.collect();
        Self { mapping: Arc::clone(mapping), of_field, keys }
    }

    /// Node of the objects that `connector` returns.
    fn node_below(&self, connector: ConnectorId) -> NodeId {
        self.mapping.connector(connector).node.map_or(NOTHING, |it| NodeId(it.0 + 1))
    }

    /// Node of the field that `connector` resolves.
    fn at_field(&self, connector: ConnectorId) -> NodeId {
        NodeId(self.mapping.nodes.len() as u32 + 1 + connector.0)
    }

    /// Resolution of a field at a node of the mapping. A field that no call returns is null.
    fn resolve_in_answer(&self, node: crate::sdl::NodeId, field: FieldId) -> FieldResolution {
        let mapping = &self.mapping;
        if let Some(given) = mapping.node(node).find(field) {
            return FieldResolution::Inline(given.below.map_or(NOTHING, |it| NodeId(it.0 + 1)));
        }
        if mapping.is_found_by(node, field) {
            return FieldResolution::Inline(NOTHING);
        }
        let own = self.of_field[field.index()].and_then(|_| mapping.own_connector(node, field));
        match own.or_else(|| mapping.entity_for(node, field)) {
            Some(connector) => FieldResolution::Separate(SeparateFetchId(connector.0)),
            None => FieldResolution::Inline(NOTHING),
        }
    }
}

impl FieldResolver for Division {
    fn resolution(&self, node: NodeId, field: FieldId) -> FieldResolution {
        if node == NOTHING {
            return FieldResolution::Inline(NOTHING);
        }
        let own = self.of_field[field.index()];
        let nodes = self.mapping.nodes.len() as u32;
        match node.0 {
            0 => match own.map(|it| (it, self.mapping.connector(it).place)) {
                Some((own, Stands::Extension(_))) => FieldResolution::Separate(SeparateFetchId(own.0)),
                Some((own, Stands::Root(_))) => FieldResolution::Inline(self.node_below(own)),
                Some((_, Stands::Field(_) | Stands::Entity(_))) | None => FieldResolution::Inline(NOTHING),
            },
            at if at <= nodes => self.resolve_in_answer(crate::sdl::NodeId(at - 1), field),
            at => {
                let connector = ConnectorId(at - nodes - 1);
                let is_own = self.mapping.connector(connector).place.field() == Some(field);
                FieldResolution::Inline(if is_own { self.node_below(connector) } else { NOTHING })
            }
        }
    }

    fn separate_fetch(&self, id: SeparateFetchId) -> SeparateFetch<'_> {
        let connector = ConnectorId(id.0);
        let keys = &self.keys[id.0 as usize];
        let all = &self.mapping.connector(connector).keys;
        let required = all.iter().take_while(|it| !it.is_optional).count();
        match self.mapping.connector(connector).place {
            Stands::Entity(_) => {
                SeparateFetch { keys, required, node: self.node_below(connector), is_together: true }
            }
            Stands::Root(_) | Stands::Field(_) | Stands::Extension(_) => {
                SeparateFetch { keys, required, node: self.at_field(connector), is_together: false }
            }
        }
    }

    fn extended_types(&self) -> &[TypeId] {
        &self.mapping.foreign
    }

    fn entity_node(&self, ty: TypeId) -> Option<NodeId> {
        self.mapping.entity_nodes.iter().find(|it| it.0 == ty).map(|it| NodeId(it.2.0 + 1))
    }

    fn is_hidden(&self, field: FieldId) -> bool {
        self.mapping.stub == Some(field)
    }
}
