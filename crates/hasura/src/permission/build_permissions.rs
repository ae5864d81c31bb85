//! Compiles all permissions of a model.
//!
//! A permission that does not fit goes as a whole, with a warning that holds its path; so do inherited roles without a parent or in a circle.

use super::inherit;
use super::permission_builder::PermissionBuilder;
use super::table_rules::TableRules;
use super::{Permissions, Role, TablePermissions};
use crate::model::{Model, ModelOptions, Serves};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;
use weir_metadata::document::function::ExposedAs;
use weir_metadata::document::permission::{PermissionEntry, SelectPermission};
use weir_metadata::document::table::TableEntry;
use weir_relational::catalog::{ConfigStep, TableId, Warning};

/// The role that needs no permission and takes none.
const ADMIN: &str = "admin";

/// The place of a list of permissions in the configuration.
#[derive(Clone, Copy)]
struct ListPlace {
    table: TableId,
    entry: usize,
    kind: &'static str,
}

/// The permissions of `model`, which was made with `options`.
pub fn build(model: &Model, options: &ModelOptions<'_>) -> (Permissions, Vec<Warning>) {
    let mut building =
        PermissionBuilder { model, roles: BTreeMap::new(), inherited: BTreeMap::new(), warnings: Vec::new() };
    let mut seen = BTreeSet::new();
    for (at, entry) in options.tables.iter().enumerate() {
        let (schema, name) = entry.table.parts();
        let table =
            model.relations.catalog.find(schema, name).filter(|it| model.tracked_table(*it).is_some());
        // If two entries name the same table, the first one counts.
        if let Some(table) = table.filter(|it| seen.insert(*it)) {
            building.entry(at, table, entry);
        }
    }
    for (at, table) in &model.models {
        building.logical_model(*at, *table, &options.logical_models[*at].select_permissions);
    }
    for role in model.functions.iter().flat_map(|it| &it.roles) {
        building.role(role);
    }
    let inherited = options.inherited_roles;
    let plain: BTreeSet<String> = building.roles.keys().chain(options.roles).cloned().collect();
    inherit::roles(&mut building, inherited, &plain);
    let mut inherited_rows = building.inherited;
    let roles = building.roles.into_iter().map(|(name, tables)| {
        let names = if inherit::is_sound(&name, inherited, |it| plain.contains(it)) {
            inherit::reachable(&name, inherited)
        } else {
            BTreeSet::from([&*name])
        };
        let functions = functions(model, &tables, &names, options.explicit_functions);
        let inherited = inherited_rows.remove(&name).unwrap_or_default().into();
        Arc::new(Role { name, tables: tables.into(), functions, inherited, claims: Default::default() })
    });
    (Permissions { roles: roles.collect() }, building.warnings)
}

/// Functions that a role may call; `names`: itself and all it is made of.
fn functions(
    model: &Model,
    tables: &[TablePermissions],
    names: &BTreeSet<&str>,
    explicit: bool,
) -> Box<[bool]> {
    let may_call = |function: &crate::model::TrackedFunction| match &function.serves {
        Serves::Root { table, root, .. } => {
            let is_named = || function.roles.iter().any(|it| names.contains(&it.as_str()));
            let is_native = model.is_model(*table);
            let is_inferred = is_native || !explicit && *root == ExposedAs::Query;
            tables[table.0 as usize].select.is_some() && (is_inferred || is_named())
        }
        Serves::Row { .. } => false,
    };
    model.functions.iter().map(may_call).collect()
}

impl PermissionBuilder<'_> {
    fn entry(&mut self, entry: usize, table: TableId, it: &TableEntry) {
        let mut rules = TableRules::new(self.model, table);
        let place = |kind| ListPlace { table, entry, kind };
        let list = place("select_permissions");
        self.list(list, &it.select_permissions, |it| rules.select(it), |it| &mut it.select);
        let list = place("insert_permissions");
        self.list(list, &it.insert_permissions, |it| rules.insert(it), |it| &mut it.insert);
        let list = place("update_permissions");
        self.list(list, &it.update_permissions, |it| rules.update(it), |it| &mut it.update);
        self.tell_stricter(table, it);
        let list = place("delete_permissions");
        self.list(list, &it.delete_permissions, |it| rules.delete(it), |it| &mut it.delete);
    }

    /// Gives roles their rules on the rows of a logical model.
    fn logical_model(&mut self, entry: usize, table: TableId, list: &[PermissionEntry<SelectPermission>]) {
        let mut rules = TableRules::new(self.model, table);
        for (at, PermissionEntry { role, permission, .. }) in list.iter().enumerate() {
            let rule = rules.select(permission).map(Arc::new);
            if let Err(reason) = self.put(table, role, &rule, |it| &mut it.select) {
                let place = self.model.relations.catalog.table(table).name.clone();
                let entry: Vec<ConfigStep> =
                    vec!["logical_models".into(), entry.into(), "select_permissions".into(), at.into()];
                self.warnings.push(Warning { place, reason, entry });
            }
        }
    }

    /// Gives the roles of a list their rules. Equal permissions are read once.
    fn list<'p, P: Eq + Hash, R>(
        &mut self,
        place: ListPlace,
        list: &'p [PermissionEntry<P>],
        mut read: impl FnMut(&'p P) -> Result<R, String>,
        slot: fn(&mut TablePermissions) -> &mut Option<Arc<R>>,
    ) {
        let mut known: HashMap<&P, Result<Arc<R>, String>> = HashMap::new();
        for (at, PermissionEntry { role, permission, .. }) in list.iter().enumerate() {
            let rule = known.entry(permission).or_insert_with(|| read(permission).map(Arc::new));
            if let Err(reason) = self.put(place.table, role, rule, slot) {
                self.warn(place, at, reason);
            }
        }
    }

    /// Gives `role` the rule.
    /// # Errors
    /// The reason for which it has none.
    fn put<R>(
        &mut self,
        table: TableId,
        role: &str,
        rule: &Result<Arc<R>, String>,
        slot: fn(&mut TablePermissions) -> &mut Option<Arc<R>>,
    ) -> Result<(), String> {
        if role == ADMIN {
            return Err("cannot define permission for admin role".to_owned());
        }
        if role.is_empty() {
            return Err("a role has a name".to_owned());
        }
        // The role exists, though perhaps without this permission.
        let slot = slot(&mut self.role(role)[table.0 as usize]);
        match (rule, &slot) {
            (Err(reason), _) => Err(format!("in permission for role \"{role}\": {reason}")),
            (Ok(_), Some(_)) => {
                Err(format!("the role \"{role}\" has this permission twice: the first counts"))
            }
            (Ok(rule), None) => {
                *slot = Some(Arc::clone(rule));
                Ok(())
            }
        }
    }

    /// Warns of updates whose rows have to stay in the filter, where Hasura would let them leave it.
    fn tell_stricter(&mut self, table: TableId, it: &TableEntry) {
        let is_stricter = |it: &&TablePermissions| it.update.as_ref().is_some_and(|it| it.stays_in_filter);
        let roles = it.update_permissions.iter().map(|it| it.role.as_str());
        let roles: Vec<&str> = roles
            .filter(|role| {
                self.roles.get(*role).map(|it| &it[table.0 as usize]).filter(is_stricter).is_some()
            })
            .collect();
        if !roles.is_empty() {
            let place = self.model.relations.catalog.table(table).name.clone();
            let reason = format!(
                "update permission of {}: a row has to fulfil the filter after the update too, as there is no check; `check: {{}}` lets it leave",
                roles.join(", ")
            );
            self.warnings.push(Warning { place, reason, entry: Vec::new() });
        }
    }

    /// Says that the permission at `at` of a list is left out.
    #[cold]
    fn warn(&mut self, place: ListPlace, at: usize, reason: String) {
        let table = self.model.relations.catalog.table(place.table).name.clone();
        let entry: Vec<ConfigStep> = vec!["tables".into(), place.entry.into(), place.kind.into(), at.into()];
        self.warnings.push(Warning { place: table, reason, entry });
    }
}
