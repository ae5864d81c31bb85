//! Native types as a front end: the answers to the drivers' questions while planning.

use super::list_sizes::list_size;
use super::{At, compile};
use crate::api::meaning::{Api, EnumMeaning, FieldMeaning, InputMeaning};
use crate::auth::{Rules, TokenVariable};
use crate::layout::{Database, Index, IndexKind, Layout, View, comparable_column};
use crate::model::{TypeId, TypeKind};
use crate::write::Mutations;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_database::frontend::form::{Form, structural};
use weir_database::frontend::program::{Call, Programs};
use weir_database::frontend::{ApiFrontend, Ask, RowRights, Violation};
use weir_engine::caller::{Claims, Facts, Identity, Token};
use weir_engine::demand::{CostRule, ListSize};
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::source::{EntityLookup, FieldError, Ids, PlanError, PlanNode};
use weir_language::schema::{EnumValueId, FieldId, InputId, Schema, Visibility};
use weir_language::value::{Node, Variables};
use weir_relational::catalog::{
    ColumnId, Relations, Relationship, RelationshipId, RelationshipKind, TableId,
};
use weir_relational::passes::policy::{Everything, Policy};
use weir_relational::plan::Plan;
use weir_relational::values::trigram::{self, Written};

/// An API over native types and where they are stored.
#[derive(Debug)]
pub struct Native {
    /// Schema and meanings.
    pub api: Arc<Api>,
    /// Tables and columns.
    pub layout: Arc<Layout>,
    mutations: Mutations,
    database: Database,
    policy: Arc<dyn Policy>,
    pub(super) rules: Arc<Rules>,
    /// Relationships from an abstract type's registry to the tables of its members.
    to_members: HashMap<(TypeId, TypeId), RelationshipId>,
    /// The message for each violated constraint that stands for a rule of a type.
    constraint_messages: BTreeMap<String, (TypeId, String)>,
}

impl Native {
    /// Serves `api`, stored in `database` as `layout` says.
    pub fn new(api: Api, layout: Layout, database: Database) -> Self {
        Self::with_policy(api, layout, database, Arc::new(Everything))
    }

    /// Serves `api` like [`Self::new`], restricted to the rows that `policy` allows.
    pub fn with_policy(api: Api, mut layout: Layout, database: Database, policy: Arc<dyn Policy>) -> Self {
        let mut to_members = HashMap::new();
        for ty in api.model.type_ids() {
            let abstract_type = api.model.ty(ty);
            if abstract_type.kind == TypeKind::Object {
                continue;
            }
            for &member in &abstract_type.members {
                let way = Relationship {
                    name: api.model.ty(member).name.clone(),
                    from: layout.tables[ty.index()],
                    to: layout.tables[member.index()],
                    comment: None,
                    on: vec![(layout.ids[ty.index()], layout.ids[member.index()])],
                    call: None,
                    through: None,
                    kind: RelationshipKind::Object { certain: false },
                    insert_first: false,
                    enforced: false,
                    deferrable: false,
                };
                to_members.insert((ty, member), RelationshipId(layout.relations.relationships.len() as u32));
                layout.relations.relationships.push(way);
            }
        }
        let constraint_messages = constraint_messages(&api, &layout);
        let api = Arc::new(api);
        let layout = Arc::new(layout);
        let mutations = Mutations::new(Arc::clone(&api), Arc::clone(&layout), database, Arc::clone(&policy));
        let rules = Arc::default();
        let native =
            Self { api, layout, mutations, database, policy, rules, to_members, constraint_messages };
        native.with_rules()
    }

    /// Compiles the rules of the types, and adds the relations that they need.
    fn with_rules(mut self) -> Self {
        let rules = Rules::new(&self.api);
        if rules.is_empty() {
            return self;
        }
        let places = self.places();
        let mut layout = Layout::clone(&self.layout);
        layout.relations = places.relations.clone();
        self.layout = Arc::new(layout);
        let rules = rules.compile(Arc::new(places), &|query| self.rows_of_rule(query));
        self.rules = Arc::new(rules);
        self.mutations.restrict(Arc::clone(&self.rules));
        self
    }

    /// Tells clients of denied changes, which are null without an error else.
    #[must_use]
    pub fn telling_denials(mut self) -> Self {
        self.mutations.tell_denials();
        self
    }

    /// The claims that queries of rules read, as session variables.
    pub fn token_variables(&self) -> &[TokenVariable] {
        self.rules.variables()
    }

    /// The rows of objects of `ty`; of an abstract type, its registry.
    pub(super) fn registry(&self, ty: TypeId) -> At {
        let layout = &self.layout;
        let at = ty.index();
        At { ty, table: layout.tables[at], id: layout.ids[at], kind: layout.kinds[at] }
    }

    /// The rows of objects of `ty` with the columns of its fields: of an interface, its view.
    pub(super) fn rows_of(&self, ty: TypeId) -> At {
        match &self.layout.all[ty.index()] {
            Some(View { table, id, kind, .. }) => At { ty, table: *table, id: *id, kind: Some(*kind) },
            None => self.registry(ty),
        }
    }

    /// True if indexes of trigrams are separate tables, which a condition names.
    pub(super) fn has_side_indexes(&self) -> bool {
        self.database.store_dialect().index_is_table(IndexKind::Trigrams)
    }

    /// The relationship from an abstract type's registry to the table of `member`.
    pub(super) fn to_member(&self, ty: TypeId, member: TypeId) -> Option<RelationshipId> {
        self.to_members.get(&(ty, member)).copied()
    }

    /// The names of the indexes of one kind on the columns that `column` of `table` shows: its own, or those of all a view's
    /// members. None if one of them is not there.
    pub(super) fn indexes(
        &self,
        table: TableId,
        column: ColumnId,
        kind: crate::layout::IndexKind,
    ) -> Vec<Box<str>> {
        let own = |table, column| self.layout.index(table, column, kind).map(|it| it.name.as_str().into());
        let views = self.layout.all.iter().enumerate();
        let view = views.filter_map(|(ty, it)| Some((ty, it.as_ref()?))).find(|it| it.1.table == table);
        let Some((ty, view)) = view else { return own(table, column).into_iter().collect() };
        let members = self.api.model.types[ty].members.iter().zip(&view.members);
        let all: Option<Vec<Box<str>>> = members
            .map(|(member, columns)| own(self.layout.tables[member.index()], columns[column.0 as usize]?))
            .collect();
        all.unwrap_or_default()
    }
}

/// Messages for objects with equal values in fields that are unique together, by the name of the index.
fn constraint_messages(api: &Api, layout: &Layout) -> BTreeMap<String, (TypeId, String)> {
    let mut messages = BTreeMap::new();
    for (id, &table) in api.model.type_ids().zip(&layout.tables) {
        let ty = api.model.ty(id);
        for together in &ty.unique {
            let columns = together
                .iter()
                .filter_map(|it| comparable_column(layout.fields[it.index()]))
                .collect::<Vec<_>>();
            let is_its =
                |it: &&Index| it.table == table && it.kind == IndexKind::Unique && it.columns == columns;
            let Some(index) = layout.indexes.iter().find(is_its) else { continue };
            let names: Vec<&str> = together.iter().map(|it| api.model.field(*it).name.as_str()).collect();
            let names = names.join(" and ");
            let message = format!("an object with the same {names} already exists inside type {}", ty.name);
            messages.insert(index.name.clone(), (id, message));
        }
    }
    messages
}

impl Native {
    /// Variables that are only data of objects: the input of an add, and `set` and `remove` of an update. A program reads them, so
    /// no statement depends on them.
    fn data(&self, plan_node: &PlanNode<'_>) -> Vec<u32> {
        let output = plan_node.output;
        let literals = &plan_node.output.literals;
        let meaning = |input| self.api.inputs.get(plan_node.ids.input(input).index());
        let mut spans = Vec::new();
        for field in plan_node.fields.iter().map(|it| &output.fields[*it as usize]) {
            let adds = matches!(self.api.field(plan_node.ids.field(field.field)), FieldMeaning::Add(_));
            for argument in output.arguments(field) {
                let at = argument.value as usize;
                if !matches!(meaning(argument.input), Some(InputMeaning::Input(_))) {
                    continue;
                }
                if adds {
                    spans.push(at..literals.end(at))
                } else {
                    let patch = |input| {
                        matches!(meaning(input), Some(InputMeaning::Set(_) | InputMeaning::Remove(_)))
                    };
                    let patches = literals.members(at).filter(|it| patch(it.0));
                    spans.extend(patches.map(|it| it.1..literals.end(it.1)));
                }
            }
        }
        let mut data = Vec::new();
        let mut other = Vec::new();
        for (at, node) in literals.nodes.iter().enumerate() {
            if let Node::Variable(number) = node {
                let is_data = spans.iter().any(|it| it.contains(&at));
                if is_data { data.push(*number) } else { other.push(*number) }
            }
        }
        data.retain(|it| !other.contains(it));
        data
    }
}

impl Native {
    /// Notation of a pattern under `input`; `None` unless a separate trigram index may answer it.
    fn pattern_notation(&self, input: InputId) -> Option<Written> {
        let meaning = self.api.inputs.get(input.index())?;
        let InputMeaning::Compare(operator) = meaning else { return None };
        super::search::pattern_notation(*operator)
            .filter(|it| self.has_side_indexes() || *it == Written::Sequence)
    }

    /// Variables with names of fields for a `@cascade`.
    fn cascade_variables(&self, plan_node: &PlanNode<'_>) -> Vec<u32> {
        let output = plan_node.output;
        let meaning = |input| self.api.inputs.get(plan_node.ids.input(input).index());
        let names = output.arguments.iter().filter(|it| meaning(it.input) == Some(&InputMeaning::Cascade));
        let nodes = names.flat_map(|it| {
            let at = it.value as usize;
            &output.literals.nodes[at..output.literals.end(at)]
        });
        nodes
            .filter_map(|it| if let Node::Variable(variable) = it { Some(*variable) } else { None })
            .collect()
    }

    /// Variables with patterns, and the inputs that take them.
    fn pattern_variables(&self, plan_node: &PlanNode<'_>) -> Vec<(u32, InputId)> {
        let nodes = &plan_node.output.literals.nodes;
        let mut out = Vec::new();
        for pair in nodes.windows(2) {
            if let [Node::Key(input), Node::Variable(variable)] = pair {
                let steered = (*variable, plan_node.ids.input(*input));
                if self.pattern_notation(steered.1).is_some() && !out.contains(&steered) {
                    out.push(steered);
                }
            }
        }
        out
    }
}

impl ApiFrontend for Native {
    fn schema(&self) -> &Arc<Schema> {
        &self.api.schema
    }

    fn relations(&self) -> &Relations {
        &self.layout.relations
    }

    fn entity_lookups(&self) -> &[EntityLookup] {
        &self.api.entity_lookups
    }

    fn cost_rules(&self) -> &[CostRule] {
        &self.api.model.cost_rules
    }

    fn list_size(&self, field: FieldId, _facts: &[u64]) -> Option<ListSize> {
        list_size(&self.api, field)
    }

    /// Clients know types, not tables.
    fn is_exposed(&self, _table: TableId, _column: Option<&str>, _facts: &[u64]) -> bool {
        false
    }

    /// Rules choose objects; all their fields are shown.
    fn row_rights(&self, table: TableId, _facts: &[u64]) -> Result<RowRights, Box<str>> {
        if self.layout.tables.contains(&table) {
            Ok(RowRights { is_granted: true, ..RowRights::default() })
        } else {
            Err("the table holds no objects of a type".into())
        }
    }

    /// Objects are known by `id`, or by a field that is one.
    fn row_key(&self, table: TableId, name: &str, value: &str) -> Result<(ColumnId, Box<str>), Box<str>> {
        let at = self.layout.tables.iter().position(|it| *it == table).ok_or("no type has this table")?;
        if name == "id" {
            let digits = value.strip_prefix("0x").map(|it| u64::from_str_radix(it, 16).ok());
            let number = digits.unwrap_or_else(|| value.parse().ok());
            let number = number.ok_or_else(|| format!("\"{value}\" is no id of an object"))?;
            return Ok((self.layout.ids[at], number.to_string().into()));
        }
        let of = self.layout.relations.catalog.table(table);
        let column = of.find(name).ok_or_else(|| format!("\"{}\" has no field \"{name}\"", of.name))?;
        Ok((column, value.into()))
    }

    fn policy(&self, facts: &[u64]) -> Arc<dyn Policy> {
        match self.rules.policy(facts) {
            Some(policy) => policy,
            None => Arc::clone(&self.policy),
        }
    }

    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        self.rules.facts(identity, facts);
    }

    fn refusal<'c>(&self, claims: &'c Claims, facts: &[u64]) -> Option<&'c str> {
        match claims.token_of(&self.api.model.authority) {
            Token::Refused(reason) if !facts.is_empty() => Some(reason),
            Token::Refused(_) | Token::Absent | Token::Claims(_) => None,
        }
    }

    fn token_error(&self, call: &Call<'_>, reason: &str) -> FieldError {
        self.mutations.token_error(call, reason)
    }

    /// Rules hide objects, not fields.
    fn visibility(&self, _facts: &[u64]) -> Option<Visibility> {
        None
    }

    /// The other object may be hidden from the caller, so a violation is reported like a denial.
    fn violation(&self, constraint: &str, facts: &[u64]) -> Option<Violation<'_>> {
        let (ty, message) = self.constraint_messages.get(constraint)?;
        let is_told = self.rules.policy(facts).is_none_or(|it| it.sees_all(&self.api.model, *ty));
        let code = (!is_told).then(|| self.mutations.denial_code());
        Some(Violation { message, code })
    }

    fn ask(&self, plan_node: &PlanNode<'_>) -> Ask {
        let mut structural = structural(plan_node, self);
        let data = self.data(plan_node);
        structural.retain(|it| !data.contains(it));
        let nodes = &plan_node.output.literals.nodes;
        let is_first = |input| {
            let own = plan_node.ids.input(input);
            self.api.inputs.get(own.index()) == Some(&InputMeaning::First)
        };
        let mut signed = Vec::new();
        for argument in plan_node.output.arguments.iter().filter(|it| is_first(it.input)) {
            if let Node::Variable(variable) = nodes[argument.value as usize]
                && !signed.contains(&variable)
            {
                signed.push(variable);
            }
        }
        let steered = self.pattern_variables(plan_node);
        let named = self.cascade_variables(plan_node);
        let more = signed.iter().copied().chain(steered.iter().map(|it| it.0)).chain(named.iter().copied());
        for variable in more {
            if !structural.contains(&variable) {
                structural.push(variable);
            }
        }
        let set = plan_node.set;
        let fields = plan_node.fields.to_vec();
        let protocol = plan_node.protocol;
        let objects = Vec::new();
        let conditions_max = plan_node.conditions_max;
        let facts = plan_node.facts.into();
        Ask {
            set,
            fields,
            protocol,
            structural,
            objects,
            signed,
            steered,
            named,
            conditions_max,
            is_stream: false,
            facts,
        }
    }

    /// Values of the enums of the model are data.
    fn chooses(&self, value: EnumValueId) -> bool {
        match self.api.enum_values.get(value.index()) {
            Some(EnumMeaning::Value(..)) | None => false,
            Some(EnumMeaning::None | EnumMeaning::Field(_) | EnumMeaning::Member(_)) => true,
        }
    }

    fn steers(&self, input: InputId, text: &str) -> Option<u32> {
        self.pattern_notation(input).filter(|it| trigram::narrows(text, *it)).map(|_| 0)
    }

    fn compile(
        &self,
        ids: &Ids,
        output: &OutputPlan,
        ask: &Ask,
        variables: Option<(&Variables, &Form)>,
    ) -> Result<Plan, PlanError> {
        compile(self, ids, output, ask, variables)
    }

    fn programs(&self) -> Option<&dyn Programs> {
        Some(&self.mutations)
    }
}
