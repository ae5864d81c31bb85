//! Modifiers of the item added last: deprecation, default, directives; and settings of the schema itself.
//!
//! **Invariant:** modifiers of an item come before the next item, so its directives lie side by side.

use super::build::{Item, PendingDefault, SchemaBuilder, grow};
use crate::ids::TypeId;
use crate::syntax::ast::{OperationKind, ValueId};
use crate::type_system::{Applied, PENDING, TypeKind};
use crate::value::{Node, Values};

impl SchemaBuilder {
    /// Marks the field, argument, input field, enum value or directive added last as deprecated.
    pub fn deprecate(&mut self, reason: &str) -> &mut Self {
        let reason = Some(self.text(reason));
        match self.last {
            Item::Field(id) => self.schema.fields[id.index()].deprecated = reason,
            Item::Input(id) => self.schema.inputs.extras_mut(id.index()).deprecated = reason,
            Item::EnumValue(id) => self.schema.enum_values[id.index()].deprecated = reason,
            Item::Directive(id) => self.schema.directives[id.index()].deprecated = reason,
            Item::Schema | Item::Type(_) => {
                self.complain("`@deprecated` stands where nothing can be deprecated".into());
            }
        }
        self
    }
    /// Gives the argument or input field added last a default: a GraphQL literal, coerced by [`Self::build`].
    pub fn default(&mut self, literal: &str) -> &mut Self {
        self.default_from(literal, None);
        self
    }
    /// Lets the `Int` of the argument added last have 64 bits where input is read leniently.
    pub fn wide(&mut self) -> &mut Self {
        match self.last {
            Item::Input(id) => self.schema.inputs.extras_mut(id.index()).is_wide = true,
            Item::Schema | Item::Type(_) | Item::Field(_) | Item::EnumValue(_) | Item::Directive(_) => {
                self.complain("only an argument can be wide".into());
            }
        }
        self
    }
    /// Says where the scalar opened last is specified.
    pub fn specified_by(&mut self, url: &str) -> &mut Self {
        let url = self.text(url);
        self.open_type().specified_by = url;
        self
    }
    /// Makes the input object opened last one of which exactly one field is given.
    pub fn one_of(&mut self) -> &mut Self {
        self.open_type().kind = TypeKind::Input { one_of: true };
        self
    }
    /// Makes the input object opened last one whose fields come out as they were written, not in the order of the type. It has no
    /// required fields and no defaults.
    pub fn sequence(&mut self) -> &mut Self {
        self.open_type().is_sequence = true;
        self
    }
    /// Keeps a directive of the thing added last for the printer. `arguments` as written: `(a: 1)`, or empty.
    pub fn apply(&mut self, name: &str, arguments: &str) -> &mut Self {
        let at = self.schema.applied.len() as u32;
        let applied = Applied { name: self.text(name), arguments: self.text(arguments) };
        self.schema.applied.push(applied);
        let schema = &mut self.schema;
        let run = match self.last {
            Item::Schema => &mut schema.applied_to_schema,
            Item::Type(id) => &mut schema.types[id.index()].applied,
            Item::Field(id) => &mut schema.fields[id.index()].applied,
            Item::Input(id) => &mut schema.inputs.extras_mut(id.index()).applied,
            Item::EnumValue(id) => &mut schema.enum_values[id.index()].applied,
            Item::Directive(id) => &mut schema.directives[id.index()].applied,
        };
        grow(run, at);
        self
    }
    /// Describes the schema itself.
    pub fn description(&mut self, description: &str) -> &mut Self {
        self.schema.description = self.text(description);
        self.last = Item::Schema;
        self
    }
    /// Names the root of queries.
    pub fn query(&mut self, root: TypeId) -> &mut Self {
        self.root(OperationKind::Query, root)
    }
    /// Lets the query root be without fields: callers are shown `no_queries_available` in it.
    pub fn may_lack_queries(&mut self) -> &mut Self {
        self.may_lack_queries = true;
        self
    }
    /// Names the root of mutations.
    pub fn mutation(&mut self, root: TypeId) -> &mut Self {
        self.root(OperationKind::Mutation, root)
    }
    /// Names the root of subscriptions.
    pub fn subscription(&mut self, root: TypeId) -> &mut Self {
        self.root(OperationKind::Subscription, root)
    }
    /// Names the root of an operation kind.
    pub fn root(&mut self, kind: OperationKind, root: TypeId) -> &mut Self {
        self.roots[kind as usize] = Some(root);
        self.places.roots[kind as usize] = self.places.at;
        self
    }

    /// Opens an object whose fields only joins ask; its fields follow. Its name is one that no client can give a type.
    pub fn join_root(&mut self) -> TypeId {
        let id = self.object(&format!("__Joins{}", self.schema.join_roots.len()), "");
        self.schema.join_roots.push(id);
        id
    }

    /// Gives the input added last a default: its literal, and where it stands in a document if it does.
    pub(super) fn default_from(&mut self, literal: &str, written: Option<(u32, ValueId)>) {
        let literal = self.text(literal);
        if let Item::Input(id) = self.last {
            self.schema.inputs.extras_mut(id.index()).default =
                Some(crate::type_system::Default { literal, value: PENDING });
            self.defaults.push(PendingDefault { input: id, written });
        } else {
            self.complain("a default follows no argument and no input field".into());
        }
    }

    /// Gives the input added last a default that is coerced already.
    pub(super) fn default_node(&mut self, literal: &str, node: impl FnOnce(&mut Values) -> Node) {
        let literal = self.text(literal);
        let node = node(&mut self.schema.defaults);
        let value = self.schema.defaults.nodes.len() as u32;
        self.schema.defaults.nodes.push(node);
        if let Some(last) = self.schema.inputs.len().checked_sub(1) {
            self.schema.inputs.extras_mut(last).default =
                Some(crate::type_system::Default { literal, value });
        }
    }
}
