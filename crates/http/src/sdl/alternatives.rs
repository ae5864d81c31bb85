//! Chooses between several connectors of one field or type, depending on the keys available at a node.
//!
//! A connector can be asked where its keys are at hand: the objects come with them, or the type's own call brings them. Of several that can
//! be asked, and that give the field, the first is.
//!
//! **Invariant:** what is chosen here is what the planner asks, and what is checked when the text is read.

use super::{Connector, ConnectorId, Mapping, NodeId, Place};
use weir_language::schema::{FieldId, TypeId};

impl Mapping {
    /// Registers a connector.
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

    pub(crate) fn connectors_of(&self, field: FieldId) -> &[ConnectorId] {
        self.places.fields.get(&field).map_or(&[], Vec::as_slice)
    }

    /// Connectors that fetch objects of a type.
    pub(crate) fn entities(&self, ty: TypeId) -> &[ConnectorId] {
        self.places.types.get(&ty).map_or(&[], Vec::as_slice)
    }

    /// Connector of a field: at the root, in a type, or in a type of another source. With several, the one whose selection has the most
    /// fields.
    pub fn of_field(&self, field: FieldId) -> Option<ConnectorId> {
        let given = |id: ConnectorId| self.connector(id).node.map_or(0, |it| self.node(it).given.len());
        // `max_by_key` returns the last of equal connectors, so the order is reversed to get the first.
        self.connectors_of(field).iter().copied().rev().max_by_key(|it| given(*it))
    }

    /// First connector of a type that returns more than its keys.
    pub fn of_type(&self, ty: TypeId) -> Option<ConnectorId> {
        self.entities(ty).first().copied()
    }

    /// True if objects at `node` have `field`, from the selection or as a key of their call.
    fn has(&self, node: NodeId, field: FieldId) -> bool {
        let known = self.node(node);
        known.find(field).is_some() || self.is_found_by(node, field)
    }

    /// True if objects at `node` were fetched by a call with the key `field`.
    pub(crate) fn is_found_by(&self, node: NodeId, field: FieldId) -> bool {
        let connector = self.connector(self.node(node).connector);
        connector.node == Some(node)
            && matches!(connector.place, Place::Entity(_))
            && connector.keys.iter().any(|it| it.field == Some(field))
    }

    fn has_keys(&self, node: NodeId, connector: &Connector) -> bool {
        connector.keys.iter().all(|key| key.field.is_some_and(|it| self.has(node, it)))
    }

    /// True if the answer of `connector` contains `field`.
    fn returns_field(&self, connector: &Connector, field: FieldId) -> bool {
        connector.node.is_some_and(|it| self.has(it, field))
    }

    /// The call of the type that brings `field` to objects at `node`, whose keys they have.
    fn entity_with_keys_at(&self, node: NodeId, field: FieldId) -> Option<ConnectorId> {
        self.entities(self.schema.field(field).parent).iter().copied().find(|it| {
            let entity = self.connector(*it);
            entity.node != Some(node) && self.has_keys(node, entity) && self.returns_field(entity, field)
        })
    }

    /// True if one call of the type fetches all missing keys of `connector` for objects at `node`.
    fn is_carried(&self, node: NodeId, connector: &Connector) -> bool {
        let mut far = connector.keys.iter().filter_map(|it| it.field).filter(|it| !self.has(node, *it));
        let Some(first) = far.next() else { return false };
        let apart = |field: FieldId| !self.connectors_of(field).is_empty();
        let carrier = self.entity_with_keys_at(node, first).map(|it| self.connector(it));
        let all = |carrier: &Connector| {
            connector.keys.iter().all(|key| key.field.is_some_and(|it| self.returns_field(carrier, it)))
        };
        !connector.keys.iter().any(|it| it.field.is_none_or(apart)) && carrier.is_some_and(all)
    }

    /// First of `all` whose keys are available at `node`, else the first whose keys one call of the type fetches.
    fn first_callable(
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

    /// The field's own connector for objects at `node`.
    pub(crate) fn own_connector(&self, node: NodeId, field: FieldId) -> Option<ConnectorId> {
        self.first_callable(node, self.connectors_of(field), |_| true)
    }

    /// Connector of the type that fetches `field` for objects at `node`.
    pub(crate) fn entity_for(&self, node: NodeId, field: FieldId) -> Option<ConnectorId> {
        let entities = self.entities(self.schema.field(field).parent);
        self.first_callable(node, entities, |it| it.node != Some(node) && self.returns_field(it, field))
    }

    /// First connector of the type whose keys objects at `node` have.
    pub(crate) fn entity_at(&self, node: NodeId) -> Option<ConnectorId> {
        let mut entities = self.entities(self.node(node).ty).iter().copied();
        entities.find(|it| self.has_keys(node, self.connector(*it)))
    }
}
