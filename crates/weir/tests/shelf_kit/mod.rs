//! A store of books that is changed at random: the changes as requests, what they make of the store, and what is in it.
//!
//! Several writers change one store at once. All that a writer names begins with its letter, so that what it has made is
//! known without the others.
//!
//! **Invariant:** [`Change::apply`] is what the documentation of mutations says, in a few lines of maps.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

use rusqlite::{Connection, OpenFlags, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One of everything that is stored in its own way: keys, word indexes, lists, edges of every number, a registry.
pub const TYPES: &str = "
interface Item {
  code: String! @id(interface: true)
  title: String! @search(by: [term, trigram])
}
type Book implements Item {
  author: Author @hasInverse(field: books)
  genres: [Genre] @hasInverse(field: books)
  sequel: Book @hasInverse(field: prequel)
  prequel: Book
  tags: [String]
}
type Author {
  name: String! @id
  books: [Book]
}
type Genre {
  name: String! @id
  books: [Book]
}
";

/// A writer with more books or authors drops some, so that a long storm takes no longer for each change than a short one.
const SHELF_MAX: usize = 40;

/// Numbers that look random and are the same for the same seed.
#[derive(Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// A number below `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % sides
    }
}

/// A book with its edges, by names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Book {
    pub title: String,
    pub author: Option<String>,
    pub genres: BTreeSet<String>,
    pub sequel: Option<String>,
    pub tags: BTreeSet<String>,
}

/// Objects of one writer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shelf {
    pub authors: BTreeSet<String>,
    pub genres: BTreeSet<String>,
    pub books: BTreeMap<String, Book>,
}

/// A mutation.
#[derive(Clone, Debug)]
pub enum Change {
    /// An author with books, each in genres that are linked or made, and with tags.
    Add {
        author: String,
        books: Vec<(String, Book)>,
    },
    /// An author gets a book, and another loses it.
    Move {
        author: String,
        book: String,
    },
    /// A book gets a sequel, and what was tied to either is not any more.
    Follow {
        book: String,
        sequel: String,
    },
    Rename {
        book: String,
        title: String,
    },
    /// A book leaves its genre.
    Leave {
        book: String,
        genre: String,
    },
    DropBook(String),
    DropAuthor(String),
}

/// Some member of `from`.
fn pick<'s>(dice: &mut Dice, mut from: impl ExactSizeIterator<Item = &'s String>) -> Option<String> {
    match from.len() {
        0 => None,
        count => from.nth(dice.roll(count)).cloned(),
    }
}

impl Change {
    /// Next change of writer `letter`; `number` is unused so far.
    pub fn next(dice: &mut Dice, shelf: &Shelf, letter: char, number: usize) -> Self {
        let book = pick(dice, shelf.books.keys());
        let other = pick(dice, shelf.books.keys());
        let author = pick(dice, shelf.authors.iter());
        match (dice.roll(10), book, other, author) {
            (_, Some(book), ..) if shelf.books.len() > SHELF_MAX => Self::DropBook(book),
            (_, _, _, Some(author)) if shelf.authors.len() > SHELF_MAX => Self::DropAuthor(author),
            (3 | 4, Some(book), _, Some(author)) => Self::Move { author, book },
            (5, Some(book), Some(sequel), _) if book != sequel => Self::Follow { book, sequel },
            (6, Some(book), ..) => Self::Rename { book, title: format!("renamed {number}") },
            (7, Some(book), ..) if !shelf.books[&book].genres.is_empty() => {
                let genre = pick(dice, shelf.books[&book].genres.iter()).unwrap_or_default();
                Self::Leave { book, genre }
            }
            (8, Some(book), ..) => Self::DropBook(book),
            (9, _, _, Some(author)) => Self::DropAuthor(author),
            _ => Self::add(dice, letter, number),
        }
    }

    fn add(dice: &mut Dice, letter: char, number: usize) -> Self {
        let book = |at: usize, dice: &mut Dice| {
            let some = |dice: &mut Dice, what: &str| {
                (0..dice.roll(4)).map(|_| format!("{letter}-{what}{}", dice.roll(5))).collect()
            };
            let title = format!("book {number} of {letter}");
            let book =
                Book { title, genres: some(dice, "genre"), tags: some(dice, "tag"), ..Book::default() };
            (format!("{letter}-{number}-{at}"), book)
        };
        let books = (0..dice.roll(4)).map(|at| book(at, dice)).collect();
        Self::Add { author: format!("{letter}-author{number}"), books }
    }

    /// As a request.
    pub fn request(&self) -> String {
        match self {
            Self::Add { author, books } => {
                let books: Vec<String> = books.iter().map(|(code, book)| nested_book(code, book)).collect();
                let books = books.join(", ");
                format!(
                    r#"mutation {{ addAuthor(input: [{{name: "{author}", books: [{books}]}}]) {{ numUids }} }}"#
                )
            }
            Self::Move { author, book } => {
                update("Author", "name", author, &format!(r#"set: {{books: [{{code: "{book}"}}]}}"#))
            }
            Self::Follow { book, sequel } => {
                update("Book", "code", book, &format!(r#"set: {{sequel: {{code: "{sequel}"}}}}"#))
            }
            Self::Rename { book, title } => {
                update("Book", "code", book, &format!(r#"set: {{title: "{title}"}}"#))
            }
            Self::Leave { book, genre } => {
                update("Book", "code", book, &format!(r#"remove: {{genres: [{{name: "{genre}"}}]}}"#))
            }
            Self::DropBook(book) => {
                format!(r#"mutation {{ deleteBook(filter: {{code: {{eq: "{book}"}}}}) {{ numUids }} }}"#)
            }
            Self::DropAuthor(author) => {
                format!(r#"mutation {{ deleteAuthor(filter: {{name: {{eq: "{author}"}}}}) {{ numUids }} }}"#)
            }
        }
    }

    /// Applies the change to `shelf`.
    pub fn apply(&self, shelf: &mut Shelf) {
        match self {
            Self::Add { author, books } => {
                shelf.authors.insert(author.clone());
                for (code, book) in books {
                    shelf.genres.extend(book.genres.iter().cloned());
                    shelf.books.insert(code.clone(), Book { author: Some(author.clone()), ..book.clone() });
                }
            }
            Self::Move { author, book } => shelf.book(book).author = Some(author.clone()),
            Self::Follow { book, sequel } => {
                shelf
                    .books
                    .values_mut()
                    .filter(|it| it.sequel.as_ref() == Some(sequel))
                    .for_each(|it| it.sequel = None);
                shelf.book(book).sequel = Some(sequel.clone());
            }
            Self::Rename { book, title } => shelf.book(book).title.clone_from(title),
            Self::Leave { book, genre } => shelf.book(book).genres.retain(|it| it != genre),
            Self::DropBook(book) => {
                shelf.books.remove(book);
                shelf
                    .books
                    .values_mut()
                    .filter(|it| it.sequel.as_ref() == Some(book))
                    .for_each(|it| it.sequel = None);
            }
            Self::DropAuthor(author) => {
                shelf.authors.remove(author);
                shelf
                    .books
                    .values_mut()
                    .filter(|it| it.author.as_ref() == Some(author))
                    .for_each(|it| it.author = None);
            }
        }
    }
}

/// A new book in the input of another object.
fn nested_book(code: &str, book: &Book) -> String {
    let genres: Vec<String> = book.genres.iter().map(|it| format!(r#"{{name: "{it}"}}"#)).collect();
    let tags: Vec<String> = book.tags.iter().map(|it| format!("{it:?}")).collect();
    let title = &book.title;
    let genres = genres.join(", ");
    let tags = tags.join(", ");
    format!(r#"{{code: "{code}", title: "{title}", genres: [{genres}], tags: [{tags}]}}"#)
}

fn update(ty: &str, key: &str, name: &str, what: &str) -> String {
    format!(
        r#"mutation {{ update{ty}(input: {{filter: {{{key}: {{eq: "{name}"}}}}, {what}}}) {{ numUids }} }}"#
    )
}

impl Shelf {
    fn book(&mut self, code: &str) -> &mut Book {
        self.books.get_mut(code).expect("only such books are changed")
    }

    /// Objects of writer `letter` in the store, read by SQL.
    pub fn read(store: &Connection, letter: char) -> Self {
        let is_own = format!("substr(name, 1, 1) = '{letter}'");
        let mut shelf = Self {
            authors: rows(store, &format!("SELECT name FROM Author WHERE {is_own}"), |row| row.get(0)),
            genres: rows(store, &format!("SELECT name FROM Genre WHERE {is_own}"), |row| row.get(0)),
            books: BTreeMap::new(),
        };
        let sql = format!(
            "SELECT b.code, b.title, a.name, s.code FROM Book b LEFT JOIN Author a ON a.id = b.author_id \
             LEFT JOIN Book s ON s.prequel_id = b.id WHERE substr(b.code, 1, 1) = '{letter}'"
        );
        shelf.books = rows(store, &sql, |row| {
            let title = row.get(1)?;
            let author = row.get(2)?;
            let sequel = row.get(3)?;
            Ok((row.get(0)?, Book { title, author, sequel, ..Book::default() }))
        });
        let pairs =
            |sql: &str| -> Vec<(String, String)> { rows(store, sql, |row| Ok((row.get(0)?, row.get(1)?))) };
        for (code, genre) in pairs(
            "SELECT b.code, g.name FROM Book_genres e JOIN Book b ON b.id = e.book_id JOIN Genre g ON g.id = e.genre_id",
        ) {
            shelf.books.entry(code).and_modify(|it| it.genres.extend([genre]));
        }
        for (code, tag) in pairs("SELECT b.code, t.value FROM Book_tags t JOIN Book b ON b.id = t.id") {
            shelf.books.entry(code).and_modify(|it| it.tags.extend([tag]));
        }
        shelf
    }
}

fn rows<T, C: FromIterator<T>>(
    store: &Connection,
    sql: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> C {
    let mut statement = store.prepare(sql).expect("the layout is the documented one");
    let rows = statement.query_map([], read).expect("the store can be read");
    rows.collect::<rusqlite::Result<C>>().expect("the store can be read")
}

/// Opens a store beside whoever serves it.
pub fn open(store: &Path) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(store, flags).expect("the store can be opened")
}

/// Checks all that holds for every sound store: its pages and indexes, its references, and that registry and word index have each
/// object once.
pub fn check_sound(store: &Connection) {
    let found: Vec<String> = rows(store, "PRAGMA integrity_check", |row| row.get(0));
    assert_eq!(found, ["ok"]);
    let broken: Vec<String> =
        rows(store, "SELECT \"table\" || ' ' || rowid FROM pragma_foreign_key_check", |row| row.get(0));
    assert_eq!(broken, Vec::<String>::new(), "rows that refer to nothing");
    let strays: Vec<String> = rows(
        store,
        "SELECT i.code FROM Item i LEFT JOIN Book b USING (id, code) WHERE b.id IS NULL OR i.type <> 'Book' \
         UNION ALL SELECT b.code FROM Book b LEFT JOIN Item i USING (id, code) WHERE i.id IS NULL \
         UNION ALL SELECT b.code FROM Book b JOIN Author a USING (id) \
         UNION ALL SELECT b.code FROM Book b LEFT JOIN Book_title_terms_docsize w USING (id) WHERE w.id IS NULL \
         UNION ALL SELECT w.id FROM Book_title_terms_docsize w LEFT JOIN Book b USING (id) WHERE b.id IS NULL \
         UNION ALL SELECT b.code FROM Book b WHERE b.id >= (SELECT next_id FROM weir_store)",
        |row| row.get(0),
    );
    assert_eq!(
        strays,
        Vec::<String>::new(),
        "objects that are not once in the registry and in the word index"
    );
}
