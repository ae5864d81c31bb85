//! The tool `search`: fields and types by words, the best first.
//!
//! **Cost:** one look at each visible member for each word, of which there are few.

use super::schema_text::field_text;
use weir_language::ast::OperationKind;
use weir_language::schema::{SchemaView, TypeId, TypeKind};

/// Words that count.
const WORDS_MAX: usize = 8;

/// Longest line of a result, in bytes; root fields of databases have many arguments.
const LINE_BYTES_MAX: usize = 400;

/// Points of a word that is a name, that a name contains, that the parent's name contains, that a description contains.
const POINTS: [u32; 4] = [8, 4, 2, 1];

/// Points of a field that an operation can begin with.
const ROOT_POINTS: u32 = 3;

/// A line with its points.
struct Match {
    points: u32,
    line: String,
}

/// Up to `count_max` lines for what fits `terms` best. Fields of the operations `left_out` are no answers, as nobody could run them.
pub(super) fn search(
    view: SchemaView<'_>,
    terms: &str,
    count_max: usize,
    left_out: &[OperationKind],
) -> Vec<String> {
    let lower = terms.to_lowercase();
    let words = lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let words: Vec<&str> = words.take(WORDS_MAX).collect();
    let roots = [OperationKind::Query, OperationKind::Mutation].map(|it| view.root(it));
    let left_out: Vec<TypeId> = left_out.iter().filter_map(|it| view.root(*it)).collect();
    let mut found = Vec::new();
    let is_shown =
        |it: &TypeId| view.is_listed(*it) && !view.type_name(*it).starts_with("__") && !left_out.contains(it);
    for id in view.types().filter(is_shown) {
        search_type(view, id, roots.contains(&Some(id)), &words, &mut found);
    }
    found.sort_by(|one: &Match, other| other.points.cmp(&one.points).then_with(|| one.line.cmp(&other.line)));
    found.truncate(count_max);
    found.into_iter().map(|it| it.line).collect()
}

fn search_type(view: SchemaView<'_>, id: TypeId, is_root: bool, words: &[&str], found: &mut Vec<Match>) {
    let name = view.type_name(id);
    let ty = view.ty(id);
    let description = view.str(ty.description);
    let keyword = match ty.kind {
        TypeKind::Object | TypeKind::Interface => "type",
        TypeKind::Enum => "enum",
        TypeKind::Union => "union",
        // Scalars and input types are found from the fields and arguments that use them.
        TypeKind::Scalar(_) | TypeKind::Input { .. } => return,
    };
    let points = count_points(words, name, "", description);
    if points > 0 && !is_root {
        found.push(Match { points, line: describe(format!("{keyword} {name}"), description) });
    }
    for field in view.fields(id) {
        let description = view.str(view.field(field).description);
        let parent = if is_root { "" } else { name };
        let points = count_points(words, view.field_name(field), parent, description);
        if points > 0 {
            let points = points + if is_root { ROOT_POINTS } else { 0 };
            let line = describe(format!("{name}.{}", field_text(view, field)), description);
            found.push(Match { points, line });
        }
    }
}

/// Points of a member for all words; 0 if its name and description have none of them.
fn count_points(words: &[&str], name: &str, parent: &str, description: &str) -> u32 {
    let [name, parent, description] = [name, parent, description].map(str::to_lowercase);
    let mut own = 0;
    let mut of_parent = 0;
    for word in words {
        if name == *word {
            own += POINTS[0];
        } else if name.contains(word) {
            own += POINTS[1];
        } else if description.contains(word) {
            own += POINTS[3];
        }
        if parent.contains(word) {
            of_parent += POINTS[2];
        }
    }
    if own > 0 { own + of_parent } else { 0 }
}

/// One line of a member with the first line of its description.
fn describe(mut line: String, description: &str) -> String {
    if line.len() > LINE_BYTES_MAX {
        line.truncate(line.floor_char_boundary(LINE_BYTES_MAX));
        line.push('…');
    }
    if let Some(first) = description.lines().map(str::trim).find(|it| !it.is_empty()) {
        line.push_str(" # ");
        line.push_str(first);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_language::schema::Schema;

    #[test]
    fn the_best_fit_comes_first() {
        let sdl = "type Query { Album(limit: Int): [Album!]! Album_by_pk(AlbumId: Int!): Album \"of an album\" hits: Int }
            \"A record.\" type Album { Title: String! Artist: Artist }
            type Artist { Name: String Albums: [Album!]! }
            input Album_order { Title: Int }
            type Mutation { add_Album: Album }";
        let schema = Schema::from_sdl(sdl).expect("it is sound");
        let view = SchemaView::from(&schema);
        assert_eq!(
            search(view, "album", 10, &[OperationKind::Mutation]),
            [
                "Query.Album(limit: Int): [Album!]!",
                "type Album # A record.",
                "Query.Album_by_pk(AlbumId: Int!): Album",
                "Artist.Albums: [Album!]!",
                "Query.hits: Int # of an album",
            ]
        );
        assert_eq!(search(view, "Title of an album", 1, &[]), ["Query.Album(limit: Int): [Album!]!"]);
        assert_eq!(search(view, "artist, title", 2, &[]), ["Album.Artist: Artist", "Album.Title: String!"]);
        assert!(search(view, "", 10, &[]).is_empty());
        assert!(search(view, "order", 10, &[]).is_empty());
    }
}
