//! Division of fields by call: a connector's selection gives some, other connectors bring the others.
//!
//! **Invariant:** the engine's nodes are the mapping's, shifted by one behind the root; behind them stands one for each
//! connector, where the field stands that it answers.

use crate::sdl::{ConnectorId, Mapping, Place as Stands};
use std::sync::Arc;
use weir_engine::source::{FieldResolution, FieldResolver, NodeId, SeparateFetch, SeparateFetchId};
use weir_language::schema::{FieldId, TypeId};

/// Node without fields below: of leaves, and of fields that no call brings.
const NOTHING: NodeId = NodeId(u32::MAX);

/// The division of one mapping.
pub(super) struct Division {
    mapping: Arc<Mapping>,
    /// By field: its own connector.
    of_field: Vec<Option<ConnectorId>>,
    /// By type: the connector that brings what its keys do not say.
    of_type: Vec<Option<ConnectorId>>,
    /// By connector: the names of its keys.
    keys: Vec<Vec<Box<str>>>,
}

impl Division {
    pub(super) fn new(mapping: &Arc<Mapping>) -> Self {
        let schema = &mapping.schema;
        let (mut of_field, mut of_type) = (vec![None; schema.fields.len()], vec![None; schema.types.len()]);
        for (at, connector) in mapping.connectors.iter().enumerate() {
            let id = Some(ConnectorId(at as u32));
            match connector.place {
                Stands::Root(field) | Stands::Field(field) | Stands::Extension(field) => {
                    of_field[field.index()] = id
                }
                Stands::Entity(ty) => of_type[ty.0 as usize] = id,
            }
        }
        let keys = mapping.connectors.iter().map(|it| it.keys.iter().map(|key| key.name.clone()).collect());
        let keys = keys.collect();
        Self { mapping: Arc::clone(mapping), of_field, of_type, keys }
    }

    /// Node of the objects that `connector` answers with.
    fn below(&self, connector: ConnectorId) -> NodeId {
        self.mapping.connector(connector).node.map_or(NOTHING, |it| NodeId(it.0 + 1))
    }

    /// Node of the field that `connector` answers.
    fn at_field(&self, connector: ConnectorId) -> NodeId {
        NodeId(self.mapping.nodes.len() as u32 + 1 + connector.0)
    }

    /// A field of objects at a node of the mapping.
    fn in_answer(&self, node: crate::sdl::NodeId, field: FieldId) -> FieldResolution {
        let known = self.mapping.node(node);
        if let Some(given) = known.find(field) {
            return FieldResolution::Inline(given.below.map_or(NOTHING, |it| NodeId(it.0 + 1)));
        }
        if let Some(own) = self.of_field[field.index()] {
            return FieldResolution::Separate(SeparateFetchId(own.0));
        }
        match self.of_type[known.ty.0 as usize] {
            Some(entity) if !self.is_said(entity, node, field) => {
                FieldResolution::Separate(SeparateFetchId(entity.0))
            }
            Some(_) | None => FieldResolution::Inline(NOTHING),
        }
    }

    /// True if the call of `entity` would not add to `field`: it is one of its keys, or objects at `node` are its answer.
    fn is_said(&self, entity: ConnectorId, node: crate::sdl::NodeId, field: FieldId) -> bool {
        let connector = self.mapping.connector(entity);
        connector.node == Some(node) || connector.keys.iter().any(|it| it.field == Some(field))
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
                Some((own, Stands::Root(_))) => FieldResolution::Inline(self.below(own)),
                Some((_, Stands::Field(_) | Stands::Entity(_))) | None => FieldResolution::Inline(NOTHING),
            },
            at if at <= nodes => self.in_answer(crate::sdl::NodeId(at - 1), field),
            at => {
                let connector = ConnectorId(at - nodes - 1);
                FieldResolution::Inline(if own == Some(connector) { self.below(connector) } else { NOTHING })
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
                SeparateFetch { keys, required, node: self.below(connector), is_together: true }
            }
            Stands::Root(_) | Stands::Field(_) | Stands::Extension(_) => {
                SeparateFetch { keys, required, node: self.at_field(connector), is_together: false }
            }
        }
    }

    fn extended(&self) -> &[TypeId] {
        &self.mapping.foreign
    }

    fn is_hidden(&self, field: FieldId) -> bool {
        self.mapping.stub == Some(field)
    }
}
