//! GraphQL names of Rust names.
//!
//! **Invariant:** a name that is accepted is a name of the GraphQL grammar and not reserved.

use proc_macro2::{Ident, Span};
use std::collections::HashSet;
use syn::ext::IdentExt;

/// Words of a Rust name in lower case: `HTTPStatus` and `http_status` are `http`, `status`.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|it| letters.get(it));
        let after = letters.get(at + 1);
        let is_new = letter.is_uppercase()
            && before.is_some_and(|it| !it.is_uppercase() || after.is_some_and(|it| it.is_lowercase()));
        if is_new || *letter == '_' {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| *letter != '_') {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|it| !it.is_empty());
    words
}

fn capitalize(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|it| it.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// `min_stars` and `MinStars` as `minStars`.
pub(crate) fn camel(ident: &Ident) -> String {
    let words = words(&ident.unraw().to_string());
    let word = |(at, word): (usize, &String)| if at == 0 { word.clone() } else { capitalize(word) };
    words.iter().enumerate().map(word).collect()
}

/// `NewHope` as `NEW_HOPE`.
pub(crate) fn to_screaming_snake(ident: &Ident) -> String {
    words(&ident.unraw().to_string()).join("_").to_uppercase()
}

/// Refuses a name that GraphQL does not allow.
pub(crate) fn check(name: &str, span: Span) -> syn::Result<()> {
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|it| it.is_ascii_alphabetic() || it == '_');
    if !begins || !letters.all(|it| it.is_ascii_alphanumeric() || it == '_') {
        return Err(syn::Error::new(span, format!("`{name}` is no GraphQL name")));
    }
    if name.starts_with("__") {
        return Err(syn::Error::new(
            span,
            format!("`{name}` is reserved: names with `__` belong to GraphQL"),
        ));
    }
    Ok(())
}

/// Refuses the second of two equal names.
pub(crate) fn check_unique<'n>(names: impl Iterator<Item = (&'n str, Span)>) -> syn::Result<()> {
    let mut known = HashSet::new();
    let twice = |(name, span): (&str, Span)| syn::Error::new(span, format!("`{name}` is there twice"));
    names.filter(|it| !known.insert(it.0)).map(twice).try_for_each(Err)
}
