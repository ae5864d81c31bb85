//! The members of the generated schema that a role sees.
//!
//! A member's meaning says of which table and column it is, and the type it stands in what for: the same column is read in a condition, given in an
//! insert, changed in an update.
//!
//! **Invariant:** a member is visible only if a permission of the role grants it; what the admin alone needs no permission for is absent for others.
//!
//! Source: `docs/permissions.md`, "Reading".

use crate::api::meaning::{Api, EnumMeaning, FieldMeaning, InputMeaning};
use crate::permission::{InsertRule, Permissions, Role, SelectRule, TablePermissions, UpdateRule};
use weir_language::schema::{EnumValueId, FieldId, InputId, Schema, TypeId, TypeKind, Visibility};
use weir_metadata::document::permission::{QueryRootField, SubscriptionRootField};
use weir_relational::catalog::{FunctionId, RelationshipId, RelationshipKind, TableId};

/// The use of an input type or enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// An unknown use, or one that is the same for all roles.
    Common,
    /// `where`, `having`.
    Condition,
    /// `order_by`, and columns to count or group by.
    Read,
    /// `objects`, `data`.
    Insert,
    /// `_set`, `_inc` and the like, `update_columns`.
    Update,
}

/// The uses of all types, by [`TypeId`].
fn uses(api: &Api) -> Vec<Use> {
    let schema = &*api.schema;
    let mut uses = vec![Use::Common; schema.types.len()];
    let mut pending: Vec<(TypeId, Use)> = Vec::new();
    for field in &schema.fields {
        for at in field.arguments.range() {
            pending.push((schema.inputs.get(at).ty.base, use_below(api.inputs[at], Use::Common)));
        }
    }
    while let Some((id, of)) = pending.pop() {
        if of == Use::Common && !matches!(schema.ty(id).kind, TypeKind::Input { .. }) {
            continue;
        }
        if uses[id.index()] != Use::Common {
            continue;
        }
        uses[id.index()] = of;
        if let TypeKind::Input { .. } = schema.ty(id).kind {
            for at in schema.ty(id).members.range() {
                let base = schema.inputs.get(at).ty.base;
                let next = use_below(api.inputs[at], of);
                if next != Use::Common && uses[base.index()] == Use::Common {
                    pending.push((base, next));
                }
            }
        }
    }
    uses
}

/// The use of the type of an input with this meaning, which stands in a type of use `around`.
fn use_below(meaning: InputMeaning, around: Use) -> Use {
    match meaning {
        InputMeaning::Where(_) | InputMeaning::Filter(_) | InputMeaning::Having(_) => Use::Condition,
        InputMeaning::OrderBy(_)
        | InputMeaning::GroupOrderBy(_)
        | InputMeaning::DistinctOn(_)
        | InputMeaning::CountColumns(_)
        | InputMeaning::Pair
        | InputMeaning::StreamCursor(_)
        | InputMeaning::GroupBy(_) => Use::Read,
        InputMeaning::Objects(_) | InputMeaning::Data(_) => Use::Insert,
        InputMeaning::Set
        | InputMeaning::Inc
        | InputMeaning::Append
        | InputMeaning::Prepend
        | InputMeaning::DeleteKey
        | InputMeaning::DeleteElem
        | InputMeaning::DeleteAtPath
        | InputMeaning::UpdateColumns => Use::Update,
        // Members of these inputs decide for themselves.
        InputMeaning::OnConflict(_) | InputMeaning::Updates(_) | InputMeaning::PkColumns(_) => Use::Common,
        _ => around,
    }
}

/// The members of `api` that callers with these facts see.
pub(crate) fn visibility(api: &Api, facts: &[u64]) -> Visibility {
    let mut seen = Visibility::everything(&api.schema);
    if Permissions::is_admin(facts) {
        hide_placeholders(api, &mut seen);
        return seen;
    }
    let (role, is_backend) = match api.permissions.role(facts) {
        Some((role, is_backend)) => (Some(&**role), is_backend),
        None => (None, false),
    };
    let view = RoleView { api, role, is_backend };
    let uses = uses(api);
    for at in 0..api.schema.fields.len() as u32 {
        view.show_field(FieldId(at), &mut seen);
    }
    for at in 0..api.schema.types.len() as u32 {
        view.show_members(TypeId(at), uses[at as usize], &mut seen);
    }
    seen.close_with_joins(&api.schema);
    seen
}

/// Hides the placeholder members that stand in for columns of roles which have none.
fn hide_placeholders(api: &Api, seen: &mut Visibility) {
    for (at, meaning) in api.enum_values.iter().enumerate() {
        if let EnumMeaning::NoColumn(_) = meaning {
            seen.show_enum_value(EnumValueId(at as u32), false);
        }
    }
    for (at, meaning) in api.inputs.iter().enumerate() {
        if let InputMeaning::NoColumn(_) = meaning {
            seen.show_input(InputId(at as u32), false);
        }
    }
}

/// A role and the schema.
struct RoleView<'r> {
    api: &'r Api,
    /// `None`: it has no permission.
    role: Option<&'r Role>,
    is_backend: bool,
}

impl RoleView<'_> {
    fn schema(&self) -> &Schema {
        &self.api.schema
    }

    fn select(&self, table: TableId) -> Option<&SelectRule> {
        self.role?.table(table).select.as_deref()
    }

    fn insert(&self, table: TableId) -> Option<&InsertRule> {
        self.role?.table(table).insert.as_deref().filter(|it| self.is_backend || !it.backend_only)
    }

    fn update(&self, table: TableId) -> Option<&UpdateRule> {
        self.role?.table(table).update.as_deref().filter(|it| self.is_backend || !it.backend_only)
    }

    fn deletes(&self, table: TableId) -> bool {
        let rule = self.role.and_then(|it| it.table(table).delete.as_ref());
        rule.is_some_and(|it| self.is_backend || !it.backend_only)
    }

    fn aggregates(&self, table: TableId) -> bool {
        self.select(table).is_some_and(|it| it.aggregations)
    }

    fn calls(&self, function: FunctionId) -> bool {
        self.role.is_some_and(|it| it.calls(function))
    }

    /// True if the role reads the table and the root field is granted at the root that holds the field `id`.
    fn is_root(&self, table: TableId, root: QueryRootField, id: FieldId) -> bool {
        let Some(rule) = self.select(table) else { return false };
        if Some(self.schema().field(id).parent) != self.schema().subscription {
            return rule.query_roots.as_ref().is_none_or(|it| it.contains(&root));
        }
        let root = match root {
            QueryRootField::Select => SubscriptionRootField::Select,
            QueryRootField::SelectByPk => SubscriptionRootField::SelectByPk,
            QueryRootField::SelectAggregate => SubscriptionRootField::SelectAggregate,
        };
        rule.subscription_roots.as_ref().is_none_or(|it| it.contains(&root))
    }

    /// True if the role may stream the rows of the table that it reads.
    fn streams(&self, table: TableId) -> bool {
        let roots = self.select(table).map(|it| it.subscription_roots.as_ref());
        roots.is_some_and(|it| it.is_none_or(|it| it.contains(&SubscriptionRootField::SelectStream)))
    }

    /// True if the role sees the whole primary key.
    fn sees_key(&self, table: TableId) -> bool {
        let key = self.api.model.relations.catalog.table(table).primary_key.as_ref();
        self.select(table).zip(key).is_some_and(|(rule, key)| key.columns.iter().all(|it| rule.shows(*it)))
    }

    /// True if the role sees the whole primary key in every row that it sees: identifiers and cursors hold it.
    fn is_node(&self, table: TableId) -> bool {
        let key = self.api.model.relations.catalog.table(table).primary_key.as_ref();
        let (Some(rule), Some(key)) = (self.select(table), key) else { return false };
        key.columns.iter().all(|it| rule.shows(*it) && !rule.guards(*it))
    }

    /// True if the role sees rows of some table by their identifiers.
    fn has_nodes(&self) -> bool {
        let identifiers = self.api.fields.iter().filter_map(|it| match it {
            FieldMeaning::Identifier(table) => Some(*table),
            _ => None,
        });
        identifiers.into_iter().any(|it| self.is_node(it))
    }

    fn target(&self, by: RelationshipId) -> TableId {
        self.api.model.relations.relationship(by).to
    }

    fn show_field(&self, id: FieldId, seen: &mut Visibility) {
        let shown = match self.api.field(id) {
            FieldMeaning::None | FieldMeaning::PageFact(_) => return,
            FieldMeaning::Node => self.has_nodes(),
            FieldMeaning::Connection(table) => {
                self.is_root(table, QueryRootField::Select, id) && self.is_node(table)
            }
            FieldMeaning::RelatedConnection(by) => self.is_node(self.target(by)),
            FieldMeaning::Identifier(table)
            | FieldMeaning::Edges(table)
            | FieldMeaning::EdgeNode(table)
            | FieldMeaning::Cursor(table)
            | FieldMeaning::PageInfo(table) => self.is_node(table),
            FieldMeaning::Select(table) => self.is_root(table, QueryRootField::Select, id),
            FieldMeaning::Stream(table) => self.streams(table),
            FieldMeaning::ByPk(table) => {
                self.is_root(table, QueryRootField::SelectByPk, id) && self.sees_key(table)
            }
            FieldMeaning::SelectAggregate(table) | FieldMeaning::GroupBy(table) => {
                self.is_root(table, QueryRootField::SelectAggregate, id) && self.aggregates(table)
            }
            FieldMeaning::Lookup(table) | FieldMeaning::LookupOne(table) => self.select(table).is_some(),
            FieldMeaning::LookupAggregate(table) => self.aggregates(table),
            FieldMeaning::Call(function, _) => self.calls(function),
            FieldMeaning::CallAggregate(function, table) => self.calls(function) && self.aggregates(table),
            FieldMeaning::Computed(function) => self.computes(function),
            FieldMeaning::Insert(table) => self.insert(table).is_some(),
            FieldMeaning::InsertOne(table) => self.insert(table).is_some() && self.select(table).is_some(),
            FieldMeaning::Update(table) | FieldMeaning::UpdateMany(table) => self.update(table).is_some(),
            FieldMeaning::UpdateByPk(table) => self.update(table).is_some() && self.sees_key(table),
            FieldMeaning::Delete(table) => self.deletes(table),
            FieldMeaning::DeleteByPk(table) => self.deletes(table) && self.sees_key(table),
            FieldMeaning::Column(table, column) | FieldMeaning::FunctionColumn(table, _, column) => {
                self.select(table).is_some_and(|it| it.shows(column))
            }
            FieldMeaning::Related(by) => self.select(self.target(by)).is_some(),
            FieldMeaning::RelatedAggregate(by) => self.aggregates(self.target(by)),
            FieldMeaning::Aggregate(table)
            | FieldMeaning::Nodes(table)
            | FieldMeaning::Count(table)
            | FieldMeaning::Function(table, _)
            | FieldMeaning::GroupKey(table) => self.aggregates(table),
            FieldMeaning::AffectedRows(_) => true,
            FieldMeaning::Returning(table) => self.select(table).is_some(),
        };
        seen.show_field(id, shown);
        if let (FieldMeaning::Identifier(_), false) = (self.api.field(id), shown) {
            seen.detach(self.schema().field(id).parent);
        }
        if shown && self.may_be_hidden(self.api.field(id)) {
            seen.make_nullable(id);
        }
    }

    /// True if a field that the database never leaves empty may be null for the role: a guarded cell, or a row that is filtered.
    fn may_be_hidden(&self, meaning: FieldMeaning) -> bool {
        match meaning {
            FieldMeaning::Column(table, column) => self.select(table).is_some_and(|it| it.guards(column)),
            FieldMeaning::Related(by) => {
                let related = self.api.model.relations.relationship(by);
                matches!(related.kind, RelationshipKind::Object { certain: true })
                    && self.select(related.to).is_some_and(|it| !it.filter.is_true())
            }
            _ => false,
        }
    }

    /// A computed field of a value is granted by name, one of rows by the table they are of.
    fn computes(&self, function: FunctionId) -> bool {
        match self.api.model.function(function).1.table {
            Some(table) => self.select(table).is_some(),
            None => {
                let is_listed = |it: &TablePermissions| {
                    it.select.as_ref().is_some_and(|it| it.computed.contains(&function))
                };
                self.role.is_some_and(|it| it.tables().iter().any(is_listed))
            }
        }
    }

    /// Shows the fields of an input object and the values of an enum.
    fn show_members(&self, id: TypeId, of: Use, seen: &mut Visibility) {
        let ty = self.schema().ty(id);
        match ty.kind {
            TypeKind::Input { .. } => {
                for at in ty.members.range() {
                    let shown = self.shows_input(self.api.inputs[at], of);
                    seen.show_input(InputId(at as u32), shown);
                }
            }
            TypeKind::Enum => {
                for at in ty.members.range() {
                    let value = EnumValueId(at as u32);
                    seen.show_enum_value(value, self.shows_enum_value(self.api.enum_value(value), of));
                }
            }
            TypeKind::Scalar(_) | TypeKind::Object | TypeKind::Interface | TypeKind::Union => {}
        }
    }

    fn shows_input(&self, meaning: InputMeaning, of: Use) -> bool {
        match (meaning, of) {
            (InputMeaning::Column(table, column), Use::Condition | Use::Read) => {
                self.select(table).is_some_and(|it| it.shows(column))
            }
            (InputMeaning::Column(table, column), Use::Insert) => {
                self.insert(table).is_some_and(|it| it.takes(column))
            }
            (InputMeaning::Column(table, column), Use::Update) => {
                self.update(table).is_some_and(|it| it.takes(column))
            }
            // Columns of a key: its field is shown or not.
            (InputMeaning::Column(..), Use::Common) => true,
            (InputMeaning::Related(by), Use::Insert) => self.insert(self.target(by)).is_some(),
            (InputMeaning::Related(by), _) => self.select(self.target(by)).is_some(),
            (InputMeaning::RelatedAggregate(by), Use::Condition) => self.aggregates(self.target(by)),
            (InputMeaning::RelatedAggregate(by), _) => self.select(self.target(by)).is_some(),
            (InputMeaning::Computed(function), _) => self.computes(function),
            // Columns that are all preset: a row is inserted without any.
            (InputMeaning::NoColumn(table), _) => self.insert(table).is_some_and(|it| !it.takes_any()),
            _ => true,
        }
    }

    fn shows_enum_value(&self, meaning: EnumMeaning, of: Use) -> bool {
        match (meaning, of) {
            (EnumMeaning::Column(table, column), Use::Update) => {
                self.update(table).is_some_and(|it| it.takes(column))
            }
            (EnumMeaning::Column(table, column), _) => self.select(table).is_some_and(|it| it.shows(column)),
            // A table without a column that may be updated: see `api::writes`.
            (EnumMeaning::NoColumn(table), _) => !self.update(table).is_some_and(UpdateRule::takes_any),
            // Constraints of upserts are used only by insert fields, which are hidden without the permission.
            (
                EnumMeaning::None
                | EnumMeaning::Order { .. }
                | EnumMeaning::TableValue(..)
                | EnumMeaning::Constraint(..),
                _,
            ) => true,
        }
    }
}
