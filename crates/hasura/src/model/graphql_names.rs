//! Converts names of a database to GraphQL names.
//!
//! A valid name stays as it is. Of others only what cannot stand is replaced, so that a person recognises them:
//! `Order Details` becomes `Order_Details`, `größe` becomes `grosse`, `1st` becomes `_1st`, `__x` becomes `_x`.

use super::Warning;
use hashbrown::HashSet;
use std::borrow::Cow;
use weir_language::suggest;
use weir_relational::catalog::Catalog;

/// A valid GraphQL name made of `name`; `None` if no letter or digit is left. UniqueNames that begin with `__` belong to
/// introspection and are no valid names here.
pub fn graphql_name(name: &str) -> Option<Cow<'_, str>> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let first_ok = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if first_ok && name.chars().all(allowed) && !name.starts_with("__") {
        return Some(Cow::Borrowed(name));
    }
    let mut out = String::with_capacity(name.len() + 1);
    let mut gap = false;
    for c in name.chars() {
        let plain = plain_letters(c);
        if allowed(c) || plain.is_some() {
            if gap && !out.is_empty() {
                out.push('_');
            }
            gap = false;
            match plain {
                Some(plain) => out.push_str(plain),
                None => out.push(c),
            }
        } else {
            // An accent that stands alone belongs to the letter before it.
            gap |= !('\u{300}'..='\u{36f}').contains(&c);
        }
    }
    let rest = out.trim_start_matches('_');
    if rest.is_empty() {
        return None;
    }
    let under = rest.len() < out.len() || rest.starts_with(|c: char| c.is_ascii_digit());
    Some(Cow::Owned(if under { format!("_{rest}") } else { rest.to_owned() }))
}

/// Letters of the Latin alphabet without their accents, in the words of most languages that have them; `None`: it is no such letter.
fn plain_letters(letter: char) -> Option<&'static str> {
    Some(match letter {
        'À'..='Å' | 'Ā' | 'Ă' | 'Ą' => "A",
        'à'..='å' | 'ā' | 'ă' | 'ą' => "a",
        'Æ' => "AE",
        'æ' => "ae",
        'Ç' | 'Ć' | 'Ĉ' | 'Ċ' | 'Č' => "C",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'Ð' | 'Ď' | 'Đ' => "D",
        'ð' | 'ď' | 'đ' => "d",
        'È'..='Ë' | 'Ē' | 'Ĕ' | 'Ė' | 'Ę' | 'Ě' => "E",
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => "e",
        'Ĝ' | 'Ğ' | 'Ġ' | 'Ģ' => "G",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'Ĥ' | 'Ħ' => "H",
        'ĥ' | 'ħ' => "h",
        'Ì'..='Ï' | 'Ĩ' | 'Ī' | 'Ĭ' | 'Į' | 'İ' => "I",
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => "i",
        'Ĵ' => "J",
        'ĵ' => "j",
        'Ķ' => "K",
        'ķ' => "k",
        'Ĺ' | 'Ļ' | 'Ľ' | 'Ŀ' | 'Ł' => "L",
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => "l",
        'Ñ' | 'Ń' | 'Ņ' | 'Ň' => "N",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'Ò'..='Ö' | 'Ø' | 'Ō' | 'Ŏ' | 'Ő' => "O",
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' => "o",
        'Œ' => "OE",
        'œ' => "oe",
        'Ŕ' | 'Ŗ' | 'Ř' => "R",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'Ś' | 'Ŝ' | 'Ş' | 'Š' | 'Ș' => "S",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ẞ' => "SS",
        'ß' => "ss",
        'Ţ' | 'Ť' | 'Ŧ' | 'Ț' => "T",
        'ţ' | 'ť' | 'ŧ' | 'ț' => "t",
        'Þ' => "TH",
        'þ' => "th",
        'Ù'..='Ü' | 'Ũ' | 'Ū' | 'Ŭ' | 'Ů' | 'Ű' | 'Ų' => "U",
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => "u",
        'Ŵ' => "W",
        'ŵ' => "w",
        'Ý' | 'Ŷ' | 'Ÿ' => "Y",
        'ý' | 'ÿ' | 'ŷ' => "y",
        'Ź' | 'Ż' | 'Ž' => "Z",
        'ź' | 'ż' | 'ž' => "z",
        _ => return None,
    })
}

/// Gives out names that are unique in one place.
#[derive(Debug, Default)]
pub(super) struct UniqueNames {
    taken: HashSet<String>,
}

impl UniqueNames {
    /// Takes `name` if it is free.
    pub(super) fn take(&mut self, name: &str) -> bool {
        !self.taken.contains(name) && self.taken.insert(name.to_owned())
    }

    /// Takes both names if both are free.
    pub(super) fn take_both(&mut self, one: &str, other: &str) -> bool {
        let free = !self.taken.contains(one) && !self.taken.contains(other);
        if free {
            self.taken.insert(one.to_owned());
            self.taken.insert(other.to_owned());
        }
        free
    }

    /// Takes `name`, or `name_2`, `name_3` …: the first that is free and that `fits`.
    pub(super) fn take_like(&mut self, name: &str, fits: impl Fn(&str) -> bool) -> String {
        if fits(name) && self.take(name) {
            return name.to_owned();
        }
        for number in 2_u32.. {
            let next = format!("{name}_{number}");
            if fits(&next) && self.take(&next) {
                return next;
            }
        }
        unreachable!("four thousand million names cannot all be taken")
    }
}

/// GraphQL names for `names`, in their order. Valid names win over generated ones; `changed` receives each changed name
/// and its new form.
pub(super) fn assign<'n>(
    names: impl Iterator<Item = &'n str> + Clone,
    fits: impl Fn(&str) -> bool,
    place: impl Fn(&str) -> String,
    warnings: &mut Vec<Warning>,
) -> Vec<Option<String>> {
    let mut unique = UniqueNames::default();
    let valid = |name: &str| matches!(graphql_name(name), Some(Cow::Borrowed(_)));
    let mut out: Vec<Option<String>> = names
        .clone()
        .map(|name| (valid(name) && fits(name) && unique.take(name)).then(|| name.to_owned()))
        .collect();
    for (slot, name) in out.iter_mut().zip(names).filter(|(slot, _)| slot.is_none()) {
        let reason = match graphql_name(name) {
            None => "its name holds no letter a GraphQL name may have: it needs a `custom_name`".to_owned(),
            Some(made) => {
                let given = unique.take_like(&made, &fits);
                let why =
                    if valid(name) { "its name is taken by the API" } else { "its name is no GraphQL name" };
                let reason = format!("{why}: it is called `{given}`");
                *slot = Some(given);
                reason
            }
        };
        warnings.push(Warning::new(place(name), reason));
    }
    out
}

/// `; did you mean `Title`?` if one of `names` is near `name`, else nothing.
pub(super) fn hint<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    let nearest = suggest::find_near(name, names).into_iter().next();
    nearest.map_or_else(String::new, |it| format!("; did you mean `{it}`?"))
}

/// Why a configuration's table is not found: its schema is wrong, or there is none of that name.
pub(super) fn no_table(catalog: &Catalog, schema: &str, name: &str) -> String {
    let of_name: Vec<&str> =
        catalog.tables.iter().filter(|it| it.name == name).map(|it| it.schema.as_str()).collect();
    match of_name.as_slice() {
        [] => {
            let tables = catalog.tables.iter().map(|table| table.name.as_str());
            format!("there is no table `{name}`{}", hint(name, tables))
        }
        [other] => format!("there is no table `{name}` in schema `{schema}`; did you mean schema `{other}`?"),
        several => {
            format!("there is no table `{name}` in schema `{schema}`; it is in `{}`", several.join("`, `"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Option<&str>) {
        assert_eq!(graphql_name(name).as_deref(), expected, "{name}");
    }

    #[test]
    fn names_keep_what_graphql_allows() {
        check("Album", Some("Album"));
        check("_x", Some("_x"));
        check("Order Details", Some("Order_Details"));
        check("it's \"odd\"", Some("it_s_odd"));
        check("1st", Some("_1st"));
        check("__x", Some("_x"));
        check("__", None);
        check("🎵", None);
        check("名前", None);
        check("", None);
        check("Straße", Some("Strasse"));
        check("größe", Some("grosse"));
        check("gro\u{308}ße", Some("grosse"));
        check("Łódź Øst", Some("Lodz_Ost"));
        check("Æøå", Some("AEoa"));
        check("naïve 名前 été", Some("naive_ete"));
        check(&"l".repeat(70), Some(&"l".repeat(70)));
    }

    #[test]
    fn valid_names_win_over_made_up_ones() {
        let mut warnings = Vec::new();
        let names = ["a b", "a_b", "a-b", "null", "🎵"];
        let given =
            assign(names.iter().copied(), |name| name != "null", |name| format!("t.{name}"), &mut warnings);
        let given: Vec<Option<&str>> = given.iter().map(Option::as_deref).collect();
        assert_eq!(given, [Some("a_b_2"), Some("a_b"), Some("a_b_3"), Some("null_2"), None]);
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            warnings,
            [
                "`t.a b`: its name is no GraphQL name: it is called `a_b_2`",
                "`t.a-b`: its name is no GraphQL name: it is called `a_b_3`",
                "`t.null`: its name is taken by the API: it is called `null_2`",
                "`t.🎵`: its name holds no letter a GraphQL name may have: it needs a `custom_name`",
            ]
        );
    }
}
