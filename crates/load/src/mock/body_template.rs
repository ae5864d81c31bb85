//! The body of an answer: a YAML value with expressions in it becomes JSON for each request.
//!
//! Keys that begin with `$` make lists and use objects again: `$list: 22` (so many items), `$ids: query.id` (an item for each id that
//! the request names), `$as: slot` (the name of an item's place, else `at`), `$id:` (what `id` is inside an item), `$item:` (an item
//! that is no object), `$of: player` (an object of `objects`).
//!
//! **Invariant:** an object of `objects` with one id is the same wherever it stands, alone or in a batch.

use super::scenario_names::{Name, resolve};
use crate::notation::expression::{Expression, Known, Value, mix};
use crate::notation::expression_text::{Piece, has_name, pieces, write_text};
use crate::notation::json_template::{JsonTemplate, TemplateReader};
use crate::notation::yaml::{Mistake, Pair, Tree, unknown_name};
use serde_saphyr::{Location, Spanned};

/// A part that only bodies have.
#[derive(Debug)]
enum BodyPart {
    List {
        count: ItemCount,
        id: Option<Expression<Name>>,
        item: Template,
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

#[derive(Debug)]
pub(crate) struct Template(JsonTemplate<Name, BodyPart>);

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
    objects: &'a [Template],
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
        has_name(&self.0, holds)
    }

    pub(crate) fn write(&self, asked: &dyn Asked, id: Value<'_>, seed: u64) -> String {
        let scope = Scope { asked, objects: &[], id, places: Vec::new(), seed };
        let mut out = String::new();
        write_text(&self.0, &scope, &mut out);
        out
    }
}

impl Template {
    pub(crate) fn read(tree: &Spanned<Tree>, names: &Names<'_>, calls: &mut u64) -> Result<Self, Mistake> {
        let mut reader = BodyReader { names, calls, lists: Vec::new() };
        let mut template = JsonTemplate::default();
        template.push_tree(tree, &mut reader)?;
        Ok(Self(template))
    }

    /// True if `holds` is true of a name in this template or in an object that it uses.
    pub(crate) fn any_name(&self, objects: &[Self], holds: &dyn Fn(&Name) -> bool) -> bool {
        self.0.parts().iter().any(|part| {
            part.has_name(holds, |special| match special {
                BodyPart::List { count, id, item } => {
                    let is_counted = match count {
                        ItemCount::Number(it) => it.any_name(holds),
                        ItemCount::Ids(name) => holds(name),
                    };
                    is_counted
                        || id.as_ref().is_some_and(|it| it.any_name(holds))
                        || item.any_name(objects, holds)
                }
                BodyPart::Object(number) => objects[*number].any_name(objects, holds),
            })
        })
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
        self.write_in(&mut Scope { asked, objects, id, places: Vec::new(), seed }, out);
    }

    fn write_in(&self, scope: &mut Scope<'_>, out: &mut Vec<u8>) {
        for part in self.0.parts() {
            match part.write(scope, out) {
                None => {}
                Some(BodyPart::List { count, id, item }) => {
                    out.push(b'[');
                    match count {
                        ItemCount::Number(it) => item.write_items(it, id.as_ref(), scope, out),
                        ItemCount::Ids(name) => {
                            let ids = scope.asked.ids(name);
                            let outer = scope.id.clone();
                            for (at, given) in ids.into_iter().enumerate() {
                                scope.id = given;
                                item.write_item(at, scope, out);
                            }
                            scope.id = outer;
                        }
                    }
                    out.push(b']');
                }
                Some(BodyPart::Object(number)) => {
                    let Scope { asked, objects, .. } = *scope;
                    let seed = mix(asked.seed(), mix(*number as u64, scope.id.hash()));
                    objects[*number].write(objects, asked, scope.id.clone(), seed, out);
                }
            }
        }
    }

    fn write_items(
        &self,
        count: &Expression<Name>,
        id: Option<&Expression<Name>>,
        scope: &mut Scope<'_>,
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
            self.write_item(at as usize, scope, out);
        }
        scope.id = outer;
    }

    fn write_item(&self, at: usize, scope: &mut Scope<'_>, out: &mut Vec<u8>) {
        if at > 0 {
            out.push(b',');
        }
        let seed = scope.seed;
        scope.seed = mix(seed, at as u64);
        scope.places.push(at as i64);
        self.write_in(scope, out);
        scope.places.pop();
        scope.seed = seed;
    }
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

/// Reads a body; `lists` are the names of the places in the lists around.
struct BodyReader<'n, 'c> {
    names: &'n Names<'n>,
    calls: &'c mut u64,
    lists: Vec<String>,
}

impl TemplateReader for BodyReader<'_, '_> {
    type Name = Name;
    type Special = BodyPart;

    fn pieces(&mut self, text: &str, place: Location) -> Result<Vec<Piece<Name>>, Mistake> {
        pieces(text, place, &|name| resolve(name, self.names.parameters, &self.lists), self.calls)
    }

    /// An object with keys that begin with `$`.
    fn special(&mut self, pairs: &[Pair], place: Location) -> Result<Option<BodyPart>, Mistake> {
        const KEYS: [&str; 6] = ["$list", "$ids", "$as", "$id", "$item", "$of"];
        if !pairs.iter().any(|it| it.0.value.starts_with('$')) {
            return Ok(None);
        }
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
            return find("$of").map(|it| self.object(it)).transpose();
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
        let id = find("$id").map(|it| self.expression(it)).transpose()?;
        let mut item = JsonTemplate::default();
        match (find("$of"), find("$item")) {
            (Some(of), _) => item.push_special(self.object(of)?),
            (None, Some(tree)) => item.push_tree(tree, self)?,
            (None, None) => item.push_object(fields, self)?,
        }
        self.lists.pop();
        Ok(Some(BodyPart::List { count, id, item: Template(item) }))
    }
}

impl BodyReader<'_, '_> {
    /// The object of `objects` that `of` names.
    fn object(&self, of: &Spanned<Tree>) -> Result<BodyPart, Mistake> {
        let Tree::Text(name) = &of.value else {
            return Err(Mistake::at(of.referenced, "`$of` takes the name of one of `objects`"));
        };
        match self.names.objects.iter().position(|it| it == name) {
            Some(at) if at < self.names.usable => Ok(BodyPart::Object(at)),
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
            Tree::Text(text) => match self.pieces(text, tree.referenced)?.pop() {
                Some(Piece::Value(it)) => Some(it),
                Some(Piece::Plain(_)) | None => None,
            },
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
