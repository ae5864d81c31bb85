//! Plurals and singulars of English nouns, as tables are called.
//!
//! Irregular words that are common in databases are in lists. A wrong guess gives an odd name, never a wrong row.

/// Words whose plural follows no rule.
const IRREGULAR: [(&str, &str); 14] = [
    ("person", "people"),
    ("man", "men"),
    ("woman", "women"),
    ("child", "children"),
    ("foot", "feet"),
    ("tooth", "teeth"),
    ("goose", "geese"),
    ("mouse", "mice"),
    ("criterion", "criteria"),
    ("leaf", "leaves"),
    ("half", "halves"),
    ("shelf", "shelves"),
    ("life", "lives"),
    ("knife", "knives"),
];

/// Words that are their own plural.
const UNCOUNTABLE: [&str; 16] = [
    "data",
    "metadata",
    "media",
    "information",
    "equipment",
    "money",
    "news",
    "series",
    "species",
    "sheep",
    "fish",
    "staff",
    "feedback",
    "software",
    "people",
    "children",
];

/// Singular words in `s`, which would else be taken for plurals.
const SINGULAR_IN_S: [&str; 8] = ["alias", "atlas", "bias", "bus", "canvas", "gas", "lens", "plus"];

/// The plural of a table's name: of its last word. A name that is plural already stays.
pub fn plural(name: &str) -> String {
    let start = last_word(name);
    let (head, word) = name.split_at(start);
    let lower = word.to_ascii_lowercase();
    let shout = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    if UNCOUNTABLE.contains(&lower.as_str()) || IRREGULAR.iter().any(|(_, many)| *many == lower) {
        return name.to_owned();
    }
    if let Some((_, many)) = IRREGULAR.iter().find(|(one, _)| *one == lower) {
        let first = word.chars().next().map_or(String::new(), |first| first.to_string());
        return format!("{head}{}", if shout { many.to_ascii_uppercase() } else { first + &many[1..] });
    }
    let (cut, ending) = ending(&lower);
    let ending = if shout { ending.to_ascii_uppercase() } else { ending.to_owned() };
    format!("{}{ending}", &name[..name.len() - cut])
}

/// Number of bytes to remove, and their replacement.
fn ending(word: &str) -> (usize, &'static str) {
    let vowel_before = |cut: usize| {
        let before = word.len().checked_sub(cut + 1).map(|at| word.as_bytes()[at]);
        before.is_none_or(|byte| b"aeiou".contains(&byte))
    };
    if word.ends_with("sis") {
        (2, "es")
    } else if ["ss", "us", "is", "x", "z", "ch", "sh"].iter().any(|end| word.ends_with(end))
        || SINGULAR_IN_S.contains(&word)
        || ["hero", "potato", "tomato", "echo"].contains(&word)
    {
        (0, "es")
    } else if word.ends_with('s') {
        (0, "")
    } else if word.ends_with('y') && !vowel_before(1) {
        (1, "ies")
    } else {
        (0, "s")
    }
}

/// Start of the last word of `some_name` or `SomeName`.
fn last_word(name: &str) -> usize {
    let bytes = name.as_bytes();
    (1..bytes.len())
        .rev()
        .find(|&at| {
            bytes[at - 1] == b'_' || (bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase())
        })
        .unwrap_or(0)
}

/// Words in `…ses`, `…ches`, `…ies` and `…oes` that lose the `s` alone.
const SINGULAR_IN_E: [&str; 16] = [
    "use", "excuse", "cache", "niche", "ache", "movie", "cookie", "zombie", "calorie", "selfie", "tie",
    "pie", "shoe", "toe", "axe", "lie",
];

/// The singular of a table's name: of its last word. A name that is singular already stays.
pub fn singular(name: &str) -> String {
    let (head, word) = name.split_at(last_word(name));
    let lower = word.to_ascii_lowercase();
    if let Some((one, _)) = IRREGULAR.iter().find(|(_, many)| *many == lower) {
        let first = word.chars().next().map_or(String::new(), |first| first.to_string());
        let is_shout = word.bytes().all(|byte| byte.is_ascii_uppercase());
        return format!("{head}{}", if is_shout { one.to_ascii_uppercase() } else { first + &one[1..] });
    }
    let (cut, ending) = singular_ending(&lower);
    let is_shout = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let ending = if is_shout { ending.to_ascii_uppercase() } else { ending.to_owned() };
    format!("{}{ending}", &name[..name.len() - cut])
}

/// True if a name is a plural, or may be one.
pub fn is_plural(name: &str) -> bool {
    let lower = name[last_word(name)..].to_ascii_lowercase();
    UNCOUNTABLE.contains(&lower.as_str()) || singular(name) != name
}

/// Number of bytes to remove, and their replacement.
fn singular_ending(word: &str) -> (usize, &'static str) {
    let ends = |endings: &[&str]| endings.iter().any(|end| word.ends_with(end));
    let stem = |cut: usize| &word[..word.len().saturating_sub(cut)];
    if UNCOUNTABLE.contains(&word) || !word.ends_with('s') || ends(&["ss", "us", "is"]) {
        (0, "")
    } else if SINGULAR_IN_E.contains(&stem(1)) {
        (1, "")
    } else if SINGULAR_IN_S.contains(&word) {
        (0, "")
    } else if ends(&["ies"]) {
        (3, "y")
    } else if ends(&["lyses", "theses", "crises"]) {
        (2, "is")
    } else if ends(&["zzes"]) {
        (3, "")
    } else if ends(&["sses", "xes", "ches", "shes"])
        || SINGULAR_IN_S.contains(&stem(2))
        || (ends(&["uses"]) && !ends(&["ouses", "auses"]))
        || ["heroes", "potatoes", "tomatoes", "echoes"].contains(&word)
    {
        (2, "")
    } else {
        (1, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_plural(name: &str, expected: &str) {
        assert_eq!(plural(name), expected, "{name}");
    }

    #[test]
    fn plurals_are_english() {
        check_plural("Album", "Albums");
        check_plural("PlaylistTrack", "PlaylistTracks");
        check_plural("invoice_line", "invoice_lines");
        check_plural("Category", "Categories");
        check_plural("Day", "Days");
        check_plural("Address", "Addresses");
        check_plural("status", "statuses");
        check_plural("Box", "Boxes");
        check_plural("Branch", "Branches");
        check_plural("Analysis", "Analyses");
        check_plural("SalesPerson", "SalesPeople");
        check_plural("PERSON", "PEOPLE");
        check_plural("ORDER", "ORDERS");
        check_plural("users", "users");
        check_plural("people", "people");
        check_plural("user_metadata", "user_metadata");
        check_plural("Bus", "Buses");
        check_plural("Table1", "Table1s");
        check_plural("x", "xes");
    }

    #[test]
    fn singulars_are_english() {
        for (many, one) in [
            ("articles", "article"),
            ("invoice_lines", "invoice_line"),
            ("PlaylistTracks", "PlaylistTrack"),
            ("categories", "category"),
            ("movies", "movie"),
            ("days", "day"),
            ("addresses", "address"),
            ("statuses", "status"),
            ("houses", "house"),
            ("clauses", "clause"),
            ("databases", "database"),
            ("caches", "cache"),
            ("branches", "branch"),
            ("boxes", "box"),
            ("quizzes", "quiz"),
            ("sizes", "size"),
            ("analyses", "analysis"),
            ("aliases", "alias"),
            ("heroes", "hero"),
            ("shoes", "shoe"),
            ("people", "person"),
            ("user_children", "user_child"),
            ("ORDERS", "ORDER"),
            ("ADDRESSES", "ADDRESS"),
            ("PEOPLE", "PERSON"),
            ("Buses", "Bus"),
        ] {
            assert_eq!(singular(many), one, "{many}");
            assert!(is_plural(many), "{many}");
            assert_eq!(singular(one), one, "{one}");
        }
        for same in ["status", "address", "analysis", "alias", "news", "user_metadata", "Album", "x", ""] {
            assert_eq!(singular(same), same, "{same}");
        }
        assert!(is_plural("user_metadata") && !is_plural("Album") && !is_plural("status"));
    }

    #[test]
    fn the_singular_of_a_plural_is_the_word_again() {
        for word in [
            "Album",
            "invoice_line",
            "Category",
            "Day",
            "Address",
            "status",
            "Box",
            "Branch",
            "Analysis",
            "Hero",
            "leaf",
        ] {
            assert_eq!(singular(&plural(word)), word);
        }
    }
}
