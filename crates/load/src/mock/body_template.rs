//! The body of an answer: a YAML value with expressions in it becomes JSON for each request.
//!
//! Keys that begin with `$` make lists and use objects again: `$list: 22` (so many items), `$ids: query.id` (an item for each id that
//! the request names), `$as: slot` (the name of an item's place, else `at`), `$id:` (what `id` is inside an item), `$item:` (an item
//! that is no object), `$of: player` (an object of `objects`).
//!
//! **Invariant:** an object of `objects` with one id is the same wherever it stands, alone or in a batch.

use super::scenario_names::{Name, resolve};
use crate::notation::expression::{Expression, Known, Value, mix};
use crate::notation::expression_text::{Piece, pieces, write_json, write_text};
use crate::notation::yaml::{Mistake, Tree, unknown_name};
use serde_saphyr::{Location, Spanned};

/// One step of making a body.
#[derive(Debug)]
enum Part {
    /// JSON that is the same each time.
    Bytes(Vec<u8>),
    Value(Expression<Name>),
    /// A text with expressions inside.
    Text(Vec<Piece<Name>>),
    List {
        count: ItemCount,
        id: Option<Expression<Name>>,
        item: Vec<Part>,
    },
    /// An object of `objects`, by number.
    Object(usize),
}

#[derive(Debug)]
enum ItemCount {
    Number(Expression<Name>),
    Ids(Name),
}

/// A text with expressions, as headers have it.
#[derive(Debug)]
pub(crate) struct Words(Vec<Piece<Name>>);

/// A body.
#[derive(Debug)]
pub(crate) struct Template(Vec<Part>);

/// Names that a body may refer to.
pub(crate) struct Names<'a> {
    /// The path's parameters.
    pub parameters: &'a [String],
    /// The names of all objects; those before `usable` may be used.
    pub objects: &'a [String],
    pub usable: usize,
}

/// Values of one request and the time of its answer.
pub(crate) trait Asked {
    /// The value of a name that belongs to the request or the clock, not to a list.
    fn value(&self, name: &Name) -> Value<'_>;
    /// The ids that the request names there, those which are known.
    fn ids(&self, name: &Name) -> Vec<Value<'_>>;
    /// The seed of the scenario.
    fn seed(&self) -> u64;
}

/// Position of the writer: the object's id, the indexes in the lists around it, the seed.
struct Scope<'a> {
    asked: &'a dyn Asked,
    id: Value<'a>,
    places: Vec<i64>,
    seed: u64,
}

impl Known<Name> for Scope<'_> {
    fn value(&self, name: &Name) -> Value<'_> {
        match name {
            Name::Id => self.id.clone(),
            Name::At(up) => Value::Int(self.places[self.places.len() - 1 - up]),
            Name::Path(_)
            | Name::Query(_)
            | Name::Header(_)
            | Name::Body(_)
            | Name::Version
            | Name::VersionLeft => self.asked.value(name),
        }
    }
    fn seed(&self) -> u64 {
        self.seed
    }
}

/// The most items that one list has.
const ITEMS_MAX: i64 = 100_000;

impl Words {
    pub(crate) fn read(text: &Spanned<String>, names: &Names<'_>, calls: &mut u64) -> Result<Self, Mistake> {
        Ok(Self(pieces(&text.value, text.referenced, &|name| resolve(name, names.parameters, &[]), calls)?))
    }

    pub(crate) fn any_name(&self, holds: &dyn Fn(&Name) -> bool) -> bool {
        self.0.iter().any(|it| matches!(it, Piece::Value(value) if value.any_name(holds)))
    }

    pub(crate) fn write(&self, asked: &dyn Asked, id: Value<'_>, seed: u64) -> String {
        let scope = Scope { asked, id, places: Vec::new(), seed };
        text(&self.0, &scope)
    }
}

impl Template {
    pub(crate) fn read(tree: &Spanned<Tree>, names: &Names<'_>, calls: &mut u64) -> Result<Self, Mistake> {
        let mut reader = TemplateReader { names, calls, lists: Vec::new(), parts: Vec::new() };
        reader.tree(tree)?;
        Ok(Self(reader.parts))
    }

    /// True if `holds` is true of a name in this template or in an object that it uses.
    pub(crate) fn any_name(&self, objects: &[Self], holds: &dyn Fn(&Name) -> bool) -> bool {
        any_name(&self.0, objects, holds)
    }

    /// Appends the body; `seed` is that of the endpoint.
    pub(crate) fn write(
        &self,
        objects: &[Self],
        asked: &dyn Asked,
        id: Value<'_>,
        seed: u64,
        out: &mut Vec<u8>,
    ) {
        let mut scope = Scope { asked, id, places: Vec::new(), seed };
        write(&self.0, objects, &mut scope, out);
    }
}

fn any_name(parts: &[Part], objects: &[Template], holds: &dyn Fn(&Name) -> bool) -> bool {
    parts.iter().any(|part| match part {
        Part::Bytes(_) => false,
        Part::Value(it) => it.any_name(holds),
        Part::Text(pieces) => {
            pieces.iter().any(|it| matches!(it, Piece::Value(value) if value.any_name(holds)))
        }
        Part::List { count, id, item } => {
            let counted = match count {
                ItemCount::Number(it) => it.any_name(holds),
                ItemCount::Ids(name) => holds(name),
            };
            counted || id.as_ref().is_some_and(|it| it.any_name(holds)) || any_name(item, objects, holds)
        }
        Part::Object(number) => any_name(&objects[*number].0, objects, holds),
    })
}

fn write<'a>(parts: &'a [Part], objects: &'a [Template], scope: &mut Scope<'a>, out: &mut Vec<u8>) {
    for part in parts {
        match part {
            Part::Bytes(bytes) => out.extend_from_slice(bytes),
            Part::Value(it) => write_json(&it.value(scope), out),
            Part::Text(pieces) => write_json(&Value::Text(text(pieces, scope).into()), out),
            Part::List { count, id, item } => {
                out.push(b'[');
                match count {
                    ItemCount::Number(it) => write_items(it, id.as_ref(), item, objects, scope, out),
                    ItemCount::Ids(name) => {
                        let ids = scope.asked.ids(name);
                        let outer = scope.id.clone();
                        for (at, given) in ids.into_iter().enumerate() {
                            scope.id = given;
                            write_item(at, item, objects, scope, out);
                        }
                        scope.id = outer;
                    }
                }
                out.push(b']');
            }
            Part::Object(number) => {
                let inner = mix(scope.asked.seed(), mix(*number as u64, scope.id.hash()));
                let mut inside =
                    Scope { asked: scope.asked, id: scope.id.clone(), places: Vec::new(), seed: inner };
                write(&objects[*number].0, objects, &mut inside, out);
            }
        }
    }
}

fn write_items<'a>(
    count: &'a Expression<Name>,
    id: Option<&'a Expression<Name>>,
    item: &'a [Part],
    objects: &'a [Template],
    scope: &mut Scope<'a>,
    out: &mut Vec<u8>,
) {
    let Value::Int(count) = count.value(scope) else { return };
    let outer = scope.id.clone();
    for at in 0..count.clamp(0, ITEMS_MAX) {
        if let Some(id) = id {
            scope.id = outer.clone();
            scope.places.push(at);
            let given = into_owned(id.value(scope));
            scope.places.pop();
            scope.id = given;
        }
        #[expect(
            clippy::cast_sign_loss,
            clippy::cast_possible_truncation,
            reason = "between 0 and the most items"
        )]
        write_item(at as usize, item, objects, scope, out);
    }
    scope.id = outer;
}

fn write_item<'a>(
    at: usize,
    item: &'a [Part],
    objects: &'a [Template],
    scope: &mut Scope<'a>,
    out: &mut Vec<u8>,
) {
    if at > 0 {
        out.push(b',');
    }
    let seed = scope.seed;
    scope.seed = mix(seed, at as u64);
    scope.places.push(at as i64);
    write(item, objects, scope, out);
    scope.places.pop();
    scope.seed = seed;
}

fn into_owned(value: Value<'_>) -> Value<'static> {
    match value {
        Value::Null => Value::Null,
        Value::Bool(it) => Value::Bool(it),
        Value::Int(it) => Value::Int(it),
        Value::Decimal(it) => Value::Decimal(it),
        Value::Text(it) => Value::Text(it.into_owned().into()),
        Value::Json(it) => Value::Json(it.into_owned().into()),
    }
}

fn text(pieces: &[Piece<Name>], scope: &Scope<'_>) -> String {
    let mut out = String::new();
    write_text(pieces, scope, &mut out);
    out
}

/// Reads a body; what is the same each time grows together into one part.
struct TemplateReader<'n, 'c> {
    names: &'n Names<'n>,
    calls: &'c mut u64,
    lists: Vec<String>,
    parts: Vec<Part>,
}

impl TemplateReader<'_, '_> {
    fn bytes(&mut self, bytes: &[u8]) {
        if let Some(Part::Bytes(last)) = self.parts.last_mut() {
            last.extend_from_slice(bytes);
        } else {
            self.parts.push(Part::Bytes(bytes.to_vec()));
        }
    }

    fn constant(&mut self, value: &Value<'_>) {
        let mut bytes = Vec::new();
        write_json(value, &mut bytes);
        self.bytes(&bytes);
    }

    fn tree(&mut self, tree: &Spanned<Tree>) -> Result<(), Mistake> {
        match &tree.value {
            Tree::Null => self.constant(&Value::Null),
            Tree::Bool(it) => self.constant(&Value::Bool(*it)),
            Tree::Int(it) => self.constant(&Value::Int(*it)),
            Tree::Decimal(it) => self.constant(&Value::Decimal(*it)),
            Tree::Text(it) => self.text(it, tree.referenced)?,
            Tree::List(items) => {
                self.bytes(b"[");
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        self.bytes(b",");
                    }
                    self.tree(item)?;
                }
                self.bytes(b"]");
            }
            Tree::Map(pairs) if pairs.iter().any(|it| it.0.value.starts_with('$')) => {
                self.list(pairs, tree.referenced)?
            }
            Tree::Map(pairs) => self.object(pairs.iter())?,
        }
        Ok(())
    }

    fn object<'t>(
        &mut self,
        pairs: impl Iterator<Item = &'t (Spanned<String>, Spanned<Tree>)>,
    ) -> Result<(), Mistake> {
        self.bytes(b"{");
        for (at, (key, value)) in pairs.enumerate() {
            if at > 0 {
                self.bytes(b",");
            }
            self.constant(&Value::Text(key.value.as_str().into()));
            self.bytes(b":");
            self.tree(value)?;
        }
        self.bytes(b"}");
        Ok(())
    }

    fn text(&mut self, text: &str, place: Location) -> Result<(), Mistake> {
        let mut pieces =
            pieces(text, place, &|name| resolve(name, self.names.parameters, &self.lists), self.calls)?;
        match pieces.as_slice() {
            [] => self.constant(&Value::Text("".into())),
            [Piece::Plain(it)] => self.constant(&Value::Text(it.as_str().into())),
            // An expression alone keeps its type.
            [Piece::Value(_)] => {
                if let Some(Piece::Value(it)) = pieces.pop() {
                    self.parts.push(Part::Value(it));
                }
            }
            _ => self.parts.push(Part::Text(pieces)),
        }
        Ok(())
    }

    /// An object with keys that begin with `$`.
    fn list(&mut self, pairs: &[(Spanned<String>, Spanned<Tree>)], place: Location) -> Result<(), Mistake> {
        const KEYS: [&str; 6] = ["$list", "$ids", "$as", "$id", "$item", "$of"];
        if let Some((key, _)) =
            pairs.iter().find(|it| it.0.value.starts_with('$') && !KEYS.contains(&it.0.value.as_str()))
        {
            return Err(Mistake::at(key.referenced, unknown_name("key", &key.value, &KEYS)));
        }
        let find = |name: &str| pairs.iter().find(|it| it.0.value == name).map(|it| &it.1);
        let fields: Vec<_> = pairs.iter().filter(|it| !it.0.value.starts_with('$')).collect();
        let number = find("$list");
        let ids = find("$ids");
        if number.is_some() && ids.is_some() {
            return Err(Mistake::at(place, "`$list` and `$ids` say the same; keep one of them"));
        }
        let whats = usize::from(find("$of").is_some())
            + usize::from(find("$item").is_some())
            + usize::from(!fields.is_empty());
        if whats != 1 {
            return Err(Mistake::at(place, "say what stands there once: by `$of`, by `$item`, or by fields"));
        }
        if number.is_none() && ids.is_none() {
            if let Some(odd) = pairs.iter().find(|it| it.0.value != "$of") {
                let message =
                    format!("`{}` belongs to a list; add `$list: 10` or `$ids: query.id`", odd.0.value);
                return Err(Mistake::at(odd.0.referenced, message));
            }
            return self.what(find("$of"), None, &fields);
        }
        let count = match (number, ids) {
            (_, Some(ids)) => ItemCount::Ids(self.ids(ids)?),
            (number, None) => ItemCount::Number(self.expression(number.unwrap_or_else(|| &pairs[0].1))?),
        };
        let name = match find("$as").map(|it| (&it.value, it.referenced)) {
            None => "at".to_string(),
            Some((Tree::Text(name), _)) => name.clone(),
            Some((_, place)) => return Err(Mistake::at(place, "`$as` takes a name, such as `slot`")),
        };
        self.lists.push(name);
        let outer = std::mem::take(&mut self.parts);
        let id = find("$id").map(|it| self.expression(it)).transpose()?;
        self.what(find("$of"), find("$item"), &fields)?;
        self.lists.pop();
        let item = std::mem::replace(&mut self.parts, outer);
        self.parts.push(Part::List { count, id, item });
        Ok(())
    }

    /// An object of `objects`, an item, or fields.
    fn what(
        &mut self,
        of: Option<&Spanned<Tree>>,
        item: Option<&Spanned<Tree>>,
        fields: &[&(Spanned<String>, Spanned<Tree>)],
    ) -> Result<(), Mistake> {
        let Some(of) = of else {
            return match item {
                Some(item) => self.tree(item),
                None => self.object(fields.iter().copied()),
            };
        };
        let Tree::Text(name) = &of.value else {
            return Err(Mistake::at(of.referenced, "`$of` takes the name of one of `objects`"));
        };
        match self.names.objects.iter().position(|it| it == name) {
            Some(at) if at < self.names.usable => {
                self.parts.push(Part::Object(at));
                Ok(())
            }
            Some(_) => {
                let message =
                    format!("`{name}` stands further down in `objects`; move it before what uses it");
                Err(Mistake::at(of.referenced, message))
            }
            None => Err(Mistake::at(of.referenced, unknown_name("object", name, self.names.objects))),
        }
    }

    /// A number or the text `$(…)`.
    fn expression(&mut self, tree: &Spanned<Tree>) -> Result<Expression<Name>, Mistake> {
        let read = match &tree.value {
            Tree::Int(it) => Some(Expression::Constant(Value::Int(*it))),
            Tree::Text(text) => {
                match pieces(
                    text,
                    tree.referenced,
                    &|name| resolve(name, self.names.parameters, &self.lists),
                    self.calls,
                )?
                .pop()
                {
                    Some(Piece::Value(it)) => Some(it),
                    Some(Piece::Plain(_)) | None => None,
                }
            }
            Tree::Null | Tree::Bool(_) | Tree::Decimal(_) | Tree::List(_) | Tree::Map(_) => None,
        };
        read.ok_or_else(|| Mistake::at(tree.referenced, "a number or an expression `$(…)` belongs there"))
    }

    fn ids(&self, tree: &Spanned<Tree>) -> Result<Name, Mistake> {
        let Tree::Text(text) = &tree.value else {
            return Err(Mistake::at(
                tree.referenced,
                "`$ids` takes where the ids are: `query.id` or `body.ids`",
            ));
        };
        match resolve(text, self.names.parameters, &[]) {
            Ok(name @ (Name::Query(_) | Name::Body(_))) => Ok(name),
            Ok(
                Name::Id | Name::At(_) | Name::Path(_) | Name::Header(_) | Name::Version | Name::VersionLeft,
            ) => Err(Mistake::at(tree.referenced, "ids are read from `query.…` or `body.…`")),
            Err(message) => Err(Mistake::at(tree.referenced, message)),
        }
    }
}
