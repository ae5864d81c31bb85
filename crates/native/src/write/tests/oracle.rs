//! The same mutations on maps: objects by number, edges as sets on both of their ends.
//!
//! Written from the rules, not from the product: every end of an edge is a set of its own here, kept by hand.

use super::types::{NAMED, OracleKind, TYPES, members, scope};
use super::words::{Given, Operation, OracleInput};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OracleObject {
    pub(super) ty: usize,
    pub(super) ints: BTreeMap<&'static str, i64>,
    pub(super) key: String,
    pub(super) texts: BTreeSet<String>,
    pub(super) edges: BTreeMap<&'static str, BTreeSet<i64>>,
}

/// Answer of a mutation: the numbers it shows and its count, or its errors: a line for each reason.
pub(super) type Outcome = Result<(Vec<i64>, i64), String>;

#[derive(Clone, Debug)]
pub(super) struct Oracle {
    pub(super) objects: BTreeMap<i64, OracleObject>,
    next: i64,
    /// Edges that the mutation took away, and may have set again.
    cut: BTreeSet<(i64, &'static str)>,
}

/// An object of the input, its parent's edge, and what it is.
struct Node {
    input: OracleInput,
    /// Under which edge of which type it stands; `None`: at the top.
    below: Option<(usize, &'static str)>,
    /// Its children, by field.
    children: Vec<(&'static str, Vec<usize>)>,
    /// Once known.
    id: Option<i64>,
    same: Option<usize>,
    made: bool,
    changed: bool,
    ignored: bool,
}

impl Default for Oracle {
    fn default() -> Self {
        Self { objects: BTreeMap::new(), next: 1, cut: BTreeSet::new() }
    }
}

impl Oracle {
    /// Does `mutation`, or nothing of it.
    pub(super) fn run(&mut self, mutation: &Operation) -> Outcome {
        let before = self.clone();
        self.cut.clear();
        let outcome = match mutation {
            Operation::Add { ty, inputs, upsert } => self.add(*ty, inputs, *upsert),
            Operation::Update { ty, keys, set, remove } => {
                self.update(*ty, keys, set.as_ref(), remove.as_ref())
            }
            Operation::Delete { ty, keys } => Ok(self.delete(*ty, keys)),
        };
        if outcome.is_err() {
            *self = before;
        }
        outcome
    }

    fn matches(&self, ty: usize, keys: &[String]) -> Vec<i64> {
        let of = |object: &OracleObject| object.ty == ty || scope(object.ty) == ty;
        let found =
            self.objects.iter().filter(|it| of(it.1) && (keys.is_empty() || keys.contains(&it.1.key)));
        found.map(|it| *it.0).collect()
    }

    fn by_key(&self, ty: usize, key: &str) -> Option<i64> {
        self.objects.iter().find(|it| scope(it.1.ty) == scope(ty) && it.1.key == key).map(|it| *it.0)
    }

    /// Takes the edge away at both ends.
    fn unlink(&mut self, from: i64, field: &'static str, to: i64) {
        let inverse = self.inverse(from, field);
        let mut take = |id: i64, field: &'static str, other: i64| {
            if self.objects.get_mut(&id).is_some_and(|it| it.edges.entry(field).or_default().remove(&other)) {
                self.cut.insert((id, field));
            }
        };
        take(from, field, to);
        if let Some((inverse, _)) = inverse {
            take(to, inverse, from);
        }
    }

    /// An edge that has to lead somewhere and was taken away has to have been set again: a line for each that was not.
    fn check_cut(&self) -> Result<(), String> {
        let is_left = |(id, name): &&(i64, &'static str)| {
            let is_required = TYPES[self.objects[id].ty].field(name).is_some_and(|it| it.required);
            is_required && self.edges(*id, name).is_empty()
        };
        let words = |(id, name): &(i64, &'static str)| {
            let ty = TYPES[self.objects[id].ty].name;
            format!("type {ty} requires a value for field {name}, so it cannot be removed")
        };
        let left: Vec<String> = self.cut.iter().filter(is_left).map(words).collect();
        if left.is_empty() { Ok(()) } else { Err(left.join("\n")) }
    }

    /// The field at the other end, and whether it holds many.
    fn inverse(&self, from: i64, field: &str) -> Option<(&'static str, bool)> {
        match &TYPES[self.objects.get(&from)?.ty].field(field)?.kind {
            OracleKind::Edge { to, inverse, .. } => {
                let inverse = (*inverse)?;
                let many = match &TYPES[members(to)[0]].field(inverse)?.kind {
                    OracleKind::Edge { many, .. } => *many,
                    OracleKind::Key | OracleKind::Int | OracleKind::Texts => false,
                };
                Some((inverse, many))
            }
            OracleKind::Key | OracleKind::Int | OracleKind::Texts => None,
        }
    }

    fn edges(&self, of: i64, field: &str) -> Vec<i64> {
        self.objects[&of].edges.get(field).into_iter().flatten().copied().collect()
    }

    fn link(&mut self, from: i64, field: &'static str, to: i64) {
        let kind = &TYPES[self.objects[&from].ty].field(field).expect("it is a field").kind;
        let OracleKind::Edge { many, .. } = kind else { return };
        if !many {
            self.edges(from, field).into_iter().for_each(|old| self.unlink(from, field, old));
        }
        let inverse = self.inverse(from, field);
        if let Some((inverse, false)) = inverse {
            self.edges(to, inverse).into_iter().for_each(|old| self.unlink(to, inverse, old));
        }
        self.objects.get_mut(&from).expect("it is there").edges.entry(field).or_default().insert(to);
        if let Some((inverse, _)) = inverse {
            self.objects.get_mut(&to).expect("it is there").edges.entry(inverse).or_default().insert(from);
        }
    }

    fn flatten(input: &OracleInput, below: Option<(usize, &'static str)>, nodes: &mut Vec<Node>) -> usize {
        let at = nodes.len();
        let input = input.clone();
        let none = Vec::new();
        nodes.push(Node {
            input: input.clone(),
            below,
            children: none,
            id: None,
            same: None,
            made: false,
            changed: false,
            ignored: false,
        });
        let mut children = Vec::new();
        for (field, given) in &input.fields {
            let all: Vec<&OracleInput> = match given {
                Given::Object(it) => vec![it],
                Given::Objects(all) => all.iter().collect(),
                Given::Null | Given::Int(_) | Given::Text(_) | Given::Texts(_) => continue,
            };
            let below = Some((input.ty, *field));
            children.push((*field, all.into_iter().map(|it| Self::flatten(it, below, nodes)).collect()));
        }
        nodes[at].children = children;
        at
    }

    fn key(input: &OracleInput) -> Option<&str> {
        match input.get(TYPES[input.ty].key) {
            Some(Given::Text(text)) if input.id.is_none() => Some(text),
            _ => None,
        }
    }

    /// True if an object has more fields than its key.
    fn says(node: &Node) -> bool {
        node.input.fields.iter().any(|it| it.0 != TYPES[node.input.ty].key && it.1 != Given::Null)
    }

    /// Finds out which nodes are the same object of the input. With `patched`, node 0 is a patch of those.
    fn find_same(&self, nodes: &mut [Node], patched: Option<&[i64]>) -> Result<(), String> {
        let mut first: BTreeMap<(usize, String), usize> = BTreeMap::new();
        for at in 0..nodes.len() {
            if nodes[at].ignored {
                continue;
            }
            if nodes[at].input.id.is_some() {
                Self::ignore_below(nodes, at);
            }
            let Some(key) = Self::key(&nodes[at].input).map(str::to_owned) else { continue };
            if at == 0 && patched.is_some() {
                first.insert((scope(nodes[at].input.ty), key), at);
                continue;
            }
            let is_there = self.by_key(nodes[at].input.ty, &key).is_some();
            let name = (scope(nodes[at].input.ty), key.clone());
            let other = *first.entry(name.clone()).or_insert(at);
            let are_top = nodes[at].below.is_none() && nodes[other].below.is_none();
            if is_there && nodes[at].below.is_some() {
                Self::ignore_below(nodes, at);
            }
            if other == at || (is_there && !are_top) {
                continue;
            }
            let (says, said) = (Self::says(&nodes[at]), Self::says(&nodes[other]));
            if let Some(patched) = patched.filter(|_| other == 0) {
                let wanted = TYPES[nodes[at].input.ty].name;
                match patched {
                    _ if says => return Err(Self::twice(&key)),
                    [one] if !members(wanted).contains(&self.objects[one].ty) => {
                        return Err(Self::none_of(&key, nodes[at].input.ty));
                    }
                    _ => nodes[at].same = Some(0),
                }
                continue;
            }
            let equal = Self::plain(&nodes[at].input) == Self::plain(&nodes[other].input);
            if are_top || (says && said && !equal) {
                return Err(Self::twice(&key));
            }
            let is_here = (says && !said) || (says == said && nodes[at].below.is_none());
            let (link, is) = if is_here { (other, at) } else { (at, other) };
            let wanted = TYPES[nodes[link].input.ty].name;
            if !members(wanted).contains(&nodes[is].input.ty) {
                return Err(Self::none_of(&key, nodes[link].input.ty));
            }
            first.insert(name, is);
            nodes[link].same = Some(is);
            if link == at {
                Self::ignore_below(nodes, at);
            }
        }
        Ok(())
    }

    /// All that is nested in a node is not looked at.
    fn ignore_below(nodes: &mut [Node], at: usize) {
        let children: Vec<usize> = nodes[at].children.iter().flat_map(|it| it.1.clone()).collect();
        for child in children {
            nodes[child].ignored = true;
            Self::ignore_below(nodes, child);
        }
    }

    /// An input without what means nothing.
    fn plain(input: &OracleInput) -> OracleInput {
        let plain = |given: &Given| match given {
            Given::Object(it) => Given::Object(Box::new(Self::plain(it))),
            Given::Objects(all) => Given::Objects(all.iter().map(Self::plain).collect()),
            Given::Null | Given::Int(_) | Given::Text(_) | Given::Texts(_) => given.clone(),
        };
        let said = input.fields.iter().filter(|it| it.1 != Given::Null);
        OracleInput { ty: input.ty, id: input.id, fields: said.map(|it| (it.0, plain(&it.1))).collect() }
    }

    /// The refusal of `key`, which names no object of type `ty`.
    fn none_of(key: &str, ty: usize) -> String {
        format!("there is no {} whose {} is \"{key}\"", TYPES[ty].name, TYPES[ty].key)
    }

    fn twice(key: &str) -> String {
        format!("duplicate XID found: {key}")
    }

    /// The refusal of `key` for an object of type `ty`: the object `id` has it.
    fn exists(&self, key: &str, ty: usize, id: i64) -> String {
        let field = TYPES[ty].key;
        let name = TYPES[ty].name;
        if ty == NAMED || self.objects[&id].ty == ty {
            format!("id {key} already exists for field {field} inside type {name}")
        } else {
            format!(
                "id {key} already exists for field {field} in some other implementing type of interface Named"
            )
        }
    }

    /// Resolves a node that does not equal another.
    fn resolve(&self, node: &mut Node, upsert: bool) -> Result<(), String> {
        let ty = &TYPES[node.input.ty];
        let key = Self::key(&node.input).map(str::to_owned);
        let fits = |id: &i64| members(ty.name).contains(&self.objects[id].ty);
        if let Some(id) = node.input.id {
            node.id = Some(id).filter(|it| self.objects.contains_key(it)).filter(fits);
            return node.id.map(drop).ok_or_else(|| format!("ID \"0x{id:x}\" isn't a {}", ty.name));
        }
        let there = key.as_deref().and_then(|key| self.by_key(node.input.ty, key));
        match (there, node.below) {
            (Some(id), None) if upsert && self.objects[&id].ty == node.input.ty => {
                node.id = Some(id);
                node.changed = true;
                Ok(())
            }
            (Some(id), None) => Err(self.exists(&key.unwrap_or_default(), node.input.ty, id)),
            (Some(id), Some(_)) => {
                node.id = Some(id).filter(fits);
                node.id.map(drop).ok_or_else(|| Self::none_of(&key.unwrap_or_default(), node.input.ty))
            }
            (None, _) if node.input.ty == NAMED => {
                Err(key.map_or("id is not provided".into(), |it| Self::none_of(&it, NAMED)))
            }
            (None, _) => {
                let parent = node.below.and_then(|(of, field)| match &TYPES[of].field(field)?.kind {
                    OracleKind::Edge { inverse, .. } => *inverse,
                    OracleKind::Key | OracleKind::Int | OracleKind::Texts => None,
                });
                let given = |name: &str| {
                    parent == Some(name) || node.input.get(name).is_some_and(|it| *it != Given::Null)
                };
                match ty.fields.iter().find(|it| it.required && !given(it.name)) {
                    Some(lacking) => Err(format!(
                        "type {} requires a value for field {}, but no value present",
                        ty.name, lacking.name
                    )),
                    None => {
                        node.made = true;
                        Ok(())
                    }
                }
            }
        }
    }

    /// Makes, changes and links what the nodes say; `patched` are the objects that node 0 is a patch of.
    fn apply(&mut self, nodes: &mut [Node], patched: Option<&[i64]>) -> Result<i64, String> {
        let mut made = 0;
        for node in nodes.iter_mut().filter(|it| it.made) {
            node.id = Some(self.next);
            self.objects.insert(self.next, OracleObject { ty: node.input.ty, ..OracleObject::default() });
            self.next += 1;
            made += 1;
        }
        for at in 0..nodes.len() {
            let target = nodes[at].same.map_or(at, |it| nodes[it].same.unwrap_or(it));
            nodes[at].id = nodes[target].id;
        }
        let takers = |at: usize, node: &Node| match patched {
            Some(ids) if at == 0 => ids.to_vec(),
            _ if (node.made || node.changed) && node.same.is_none() => node.id.into_iter().collect(),
            _ => Vec::new(),
        };
        for (at, node) in nodes.iter().enumerate() {
            takers(at, node).into_iter().try_for_each(|id| self.check_children(nodes, node, id))?;
        }
        for (at, node) in nodes.iter().enumerate() {
            for id in takers(at, node) {
                self.write(id, &node.input);
                for (field, children) in &node.children {
                    for child in children.iter().filter_map(|it| nodes[*it].id) {
                        self.link(id, field, child);
                    }
                }
            }
        }
        Ok(made)
    }

    /// Objects created inside the object `id` must not name another one at the other end of that edge.
    fn check_children(&self, nodes: &[Node], node: &Node, id: i64) -> Result<(), String> {
        for (field, children) in &node.children {
            let Some((inverse, false)) = self.inverse(id, field) else { continue };
            for child in children.iter().map(|it| &nodes[*it]).filter(|it| it.made) {
                let named = child.children.iter().filter(|it| it.0 == inverse).flat_map(|it| &it.1);
                if named.filter_map(|it| nodes[*it].id).any(|it| it != id) {
                    return Err(format!(
                        "field {inverse} of type {} names another object than the one it is nested in",
                        TYPES[child.input.ty].name
                    ));
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, id: i64, input: &OracleInput) {
        let object = self.objects.get_mut(&id).expect("it is there");
        for (field, given) in &input.fields {
            match given {
                Given::Int(number) => drop(object.ints.insert(field, *number)),
                Given::Text(text) => object.key.clone_from(text),
                Given::Texts(texts) => object.texts.extend(texts.iter().cloned()),
                Given::Null | Given::Object(_) | Given::Objects(_) => {}
            }
        }
    }

    fn add(&mut self, _ty: usize, inputs: &[OracleInput], upsert: bool) -> Outcome {
        let mut nodes = Vec::new();
        let roots: Vec<usize> = inputs.iter().map(|it| Self::flatten(it, None, &mut nodes)).collect();
        self.find_same(&mut nodes, None)?;
        for node in nodes.iter_mut().filter(|it| it.same.is_none() && !it.ignored) {
            self.resolve(node, upsert)?;
        }
        let made = self.apply(&mut nodes, None)?;
        self.check_cut()?;
        let mut shown: Vec<i64> = roots.iter().filter_map(|it| nodes[*it].id).collect();
        shown.sort_unstable();
        Ok((shown, made))
    }

    fn update(
        &mut self,
        ty: usize,
        keys: &[String],
        set: Option<&OracleInput>,
        remove: Option<&OracleInput>,
    ) -> Outcome {
        let matched = self.matches(ty, keys);
        if matched.is_empty() || (set.is_none() && remove.is_none()) {
            return Ok((Vec::new(), 0));
        }
        let mut nodes = Vec::new();
        if let Some(set) = set {
            Self::flatten(set, None, &mut nodes);
            self.find_same(&mut nodes, Some(&matched))?;
            for node in nodes[1..].iter_mut().filter(|it| it.same.is_none() && !it.ignored) {
                self.resolve(node, false)?;
            }
            // An object with the key that is set is the patched object.
            nodes[0].id = matched.first().copied();
        }
        let gone = remove.map(|it| self.named(it)).transpose()?;
        if let Some(key) = set.and_then(Self::key) {
            if matched.len() > 1 {
                return Err(
                    "only one node is allowed in the filter while updating fields with @id directive".into(),
                );
            }
            if let Some(other) = self.by_key(ty, key).filter(|it| *it != matched[0]) {
                return Err(self.exists(key, ty, other));
            }
        }
        if set.is_some() {
            self.apply(&mut nodes, Some(&matched))?;
        }
        if let (Some(remove), Some(gone)) = (remove, gone) {
            let mut removed = Ok(());
            for id in &matched {
                removed = removed.and(self.remove(*id, remove, &gone, set));
            }
            self.check_cut()?;
            removed?;
        }
        self.check_cut()?;
        let count = matched.len() as i64;
        Ok((matched, count))
    }

    /// The objects that a `remove` names, by field.
    fn named(&self, remove: &OracleInput) -> Result<Vec<(&'static str, Vec<i64>)>, String> {
        let mut nodes = Vec::new();
        Self::flatten(remove, None, &mut nodes);
        let mut ids = Vec::new();
        for node in &nodes[1..] {
            let ty = TYPES[node.input.ty].name;
            let fits = |id: &i64| members(ty).contains(&self.objects[id].ty);
            let key = Self::key(&node.input);
            let id = match (node.input.id, key) {
                (Some(id), _) => match Some(id).filter(|it| self.objects.contains_key(it)).filter(fits) {
                    Some(id) => id,
                    None => return Err(format!("ID \"0x{id:x}\" isn't a {ty}")),
                },
                (None, Some(key)) => match self.by_key(node.input.ty, key) {
                    Some(id) if !fits(&id) => return Err(Self::none_of(key, node.input.ty)),
                    Some(id) => id,
                    None => return Err("id is not provided".into()),
                },
                (None, None) => return Err("id is not provided".into()),
            };
            ids.push(id);
        }
        let of = |all: &[usize]| all.iter().map(|at| ids[at - 1]).collect();
        Ok(nodes[0].children.iter().map(|(field, all)| (*field, of(all))).collect())
    }

    fn remove(
        &mut self,
        id: i64,
        remove: &OracleInput,
        gone: &[(&'static str, Vec<i64>)],
        set: Option<&OracleInput>,
    ) -> Result<(), String> {
        let ty = &TYPES[self.objects[&id].ty];
        let mut outcome = Ok(());
        for (name, given) in &remove.fields {
            let field = ty.field(name).expect("it is a field");
            let is_set = set.and_then(|it| it.get(name)).is_some_and(|it| *it != Given::Null);
            let named = || gone.iter().find(|it| it.0 == *name).map(|it| it.1.clone()).unwrap_or_default();
            if field.required {
                let object = &self.objects[&id];
                let is_it = match (&field.kind, given) {
                    (OracleKind::Int, Given::Int(number)) => object.ints.get(name) == Some(number),
                    (OracleKind::Key, Given::Text(text)) => object.key == *text,
                    (OracleKind::Edge { .. }, Given::Object(_)) => {
                        self.edges(id, field.name).iter().any(|it| named().contains(it))
                    }
                    _ => true,
                };
                if is_set && !is_it {
                    continue;
                }
                let words =
                    format!("type {} requires a value for field {name}, so it cannot be removed", ty.name);
                outcome = outcome.and(Err(words));
                continue;
            }
            let object = self.objects.get_mut(&id).expect("it is there");
            match (&field.kind, given) {
                (OracleKind::Int, Given::Int(number)) if object.ints.get(name) != Some(number) => {}
                (OracleKind::Int, _) => drop(object.ints.remove(name)),
                (OracleKind::Texts, Given::Texts(texts)) => object.texts.retain(|it| !texts.contains(it)),
                (OracleKind::Texts, _) => object.texts.clear(),
                (OracleKind::Edge { .. }, given) => {
                    let all = self.edges(id, field.name);
                    let cut = if *given == Given::Null { all } else { named() };
                    cut.into_iter().for_each(|to| self.unlink(id, field.name, to));
                }
                (OracleKind::Key, _) => {}
            }
        }
        outcome
    }

    fn delete(&mut self, ty: usize, keys: &[String]) -> (Vec<i64>, i64) {
        let matched = self.matches(ty, keys);
        for id in &matched {
            self.objects.remove(id);
        }
        for object in self.objects.values_mut() {
            for to in object.edges.values_mut() {
                to.retain(|it| !matched.contains(it));
            }
        }
        let count = matched.len() as i64;
        (matched, count)
    }

    /// The answer to the question for all objects of `ty`, as the engine gives it.
    pub(super) fn all(&self, ty: usize) -> serde_json::Value {
        let object = |(id, object): (&i64, &OracleObject)| {
            let mut out = serde_json::Map::new();
            out.insert("id".into(), format!("0x{id:x}").into());
            for field in TYPES[ty].fields {
                let value = match &field.kind {
                    OracleKind::Key => object.key.clone().into(),
                    OracleKind::Int => object.ints.get(field.name).copied().into(),
                    OracleKind::Texts => object.texts.iter().cloned().collect::<Vec<_>>().into(),
                    OracleKind::Edge { many, .. } => {
                        let ids = self.edges(*id, field.name).into_iter();
                        let ids: Vec<serde_json::Value> =
                            ids.map(|it| serde_json::json!({"id": format!("0x{it:x}")})).collect();
                        if *many { ids.into() } else { ids.first().cloned().unwrap_or_default() }
                    }
                };
                out.insert(field.name.into(), value);
            }
            serde_json::Value::Object(out)
        };
        let of = |it: &(&i64, &OracleObject)| it.1.ty == ty || scope(it.1.ty) == ty;
        self.objects.iter().filter(of).map(object).collect::<Vec<_>>().into()
    }
}
