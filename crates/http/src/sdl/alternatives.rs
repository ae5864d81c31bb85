//! Several connectors of one field or type: which of them is asked for a field of objects that stand at a node.
//!
//! A connector can be asked where its keys are at hand: the objects come with them, or the type's own call brings them. Of several that can
//! be asked, and that give the field, the first is.
//!
//! **Invariant:** what is chosen here is what the planner asks, and what is checked when the text is read.

use super::{Connector, ConnectorId, Mapping, NodeId, Place};
use weir_language::schema::{FieldId, TypeId};

impl Mapping {
    /// Adds a connector.
    pub(super) fn add_connector(&mut self, connector: Connector) {
        let id = ConnectorId(self.connectors.len() as u32);
        match connector.place {
            Place::Root(field) | Place::Field(field) | Place::Extension(field) => {
                self.places.fields.entry(field).or_default().push(id);
            }
            Place::Entity(ty) => self.places.types.entry(ty).or_default().push(id),
        }
        self.connectors.push(connector);
    }

    /// All connectors of a field.
    pub(crate) fn connectors_of(&self, field: FieldId) -> &[ConnectorId] {
        self.places.fields.get(&field).map_or(&[], Vec::as_slice)
    }

    /// All connectors that find objects of a type.
    pub(crate) fn entities(&self, ty: TypeId) -> &[ConnectorId] {
        self.places.types.get(&ty).map_or(&[], Vec::as_slice)
    }

    /// The connector of a field: of a root, of a type, or added to a type of another source. Of several the one that gives most.
    #[must_use]
    pub fn of_field(&self, field: FieldId) -> Option<ConnectorId> {
        let given = |id: ConnectorId| self.connector(id).node.map_or(0, |it| self.node(it).given.len());
        // The first of equals counts.
        self.connectors_of(field).iter().copied().rev().max_by_key(|it| given(*it))
    }

    /// The first connector that brings what the keys of a type do not say.
    #[must_use]
    pub fn of_type(&self, ty: TypeId) -> Option<ConnectorId> {
        self.entities(ty).first().copied()
    }

    /// True if objects at `node` come with `field`: the selection gives it, or they were asked for by it.
    fn has(&self, node: NodeId, field: FieldId) -> bool {
        let known = self.node(node);
        known.find(field).is_some() || self.is_found_by(node, field)
    }

    /// True if objects at `node` are the answer to a call of their type by `field`.
    pub(crate) fn is_found_by(&self, node: NodeId, field: FieldId) -> bool {
        let connector = self.connector(self.node(node).connector);
        connector.node == Some(node)
            && matches!(connector.place, Place::Entity(_))
            && connector.keys.iter().any(|it| it.field == Some(field))
    }

    fn has_keys(&self, node: NodeId, connector: &Connector) -> bool {
        connector.keys.iter().all(|key| key.field.is_some_and(|it| self.has(node, it)))
    }

    /// True if a call of `connector` for an object brings `field`.
    fn brings(&self, connector: &Connector, field: FieldId) -> bool {
        connector.node.is_some_and(|it| self.has(it, field))
    }

    /// The call of the type that brings `field` to objects at `node`, whose keys they have.
    fn near_entity(&self, node: NodeId, field: FieldId) -> Option<ConnectorId> {
        self.entities(self.schema.field(field).parent).iter().copied().find(|it| {
            let entity = self.connector(*it);
            entity.node != Some(node) && self.has_keys(node, entity) && self.brings(entity, field)
        })
    }

    /// True if the keys of `connector` come to objects at `node` by one call of their type.
    fn is_carried(&self, node: NodeId, connector: &Connector) -> bool {
        let mut far = connector.keys.iter().filter_map(|it| it.field).filter(|it| !self.has(node, *it));
        let Some(first) = far.next() else { return false };
        let apart = |field: FieldId| !self.connectors_of(field).is_empty();
        let carrier = self.near_entity(node, first).map(|it| self.connector(it));
        let all = |carrier: &Connector| {
            connector.keys.iter().all(|key| key.field.is_some_and(|it| self.brings(carrier, it)))
        };
        !connector.keys.iter().any(|it| it.field.is_none_or(apart)) && carrier.is_some_and(all)
    }

    /// The first of `all` whose keys are at hand at `node`, else the first whose keys the type's own call brings.
    fn askable(
        &self,
        node: NodeId,
        all: &[ConnectorId],
        is_fit: impl Fn(&Connector) -> bool,
    ) -> Option<ConnectorId> {
        let fit = || all.iter().copied().filter(|it| is_fit(self.connector(*it)));
        fit()
            .find(|it| self.has_keys(node, self.connector(*it)))
            .or_else(|| fit().find(|it| self.is_carried(node, self.connector(*it))))
    }

    /// The connector of its own that answers `field` of objects at `node`.
    pub(crate) fn own_connector(&self, node: NodeId, field: FieldId) -> Option<ConnectorId> {
        self.askable(node, self.connectors_of(field), |_| true)
    }

    /// The call of the type that brings `field` to objects at `node`.
    pub(crate) fn entity_for(&self, node: NodeId, field: FieldId) -> Option<ConnectorId> {
        let entities = self.entities(self.schema.field(field).parent);
        self.askable(node, entities, |it| it.node != Some(node) && self.brings(it, field))
    }

    /// The first call of the type whose keys objects at `node` have.
    pub(crate) fn entity_at(&self, node: NodeId) -> Option<ConnectorId> {
        let mut entities = self.entities(self.node(node).ty).iter().copied();
        entities.find(|it| self.has_keys(node, self.connector(*it)))
    }
}
