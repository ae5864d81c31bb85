//! The data every contender answers from: 1,000 items of ten fields, 100 x 10 x 10 nested rows, and 20 chains of links.

use std::sync::LazyLock;

pub struct Item {
    pub id: String,
    pub name: String,
    pub title: Option<String>,
    pub price: f64,
    pub stock: i32,
    pub active: bool,
    pub rating: Option<f64>,
    pub sku: String,
    pub views: i32,
    pub note: Option<String>,
}

pub struct Row {
    pub id: String,
    pub name: String,
    pub value: i32,
}

pub struct Section {
    pub id: String,
    pub name: String,
    pub rows: Vec<Row>,
}

pub struct Group {
    pub id: String,
    pub name: String,
    pub sections: Vec<Section>,
}

pub static ITEMS: LazyLock<Vec<Item>> = LazyLock::new(|| (0..1000).map(item).collect());
pub static GROUPS: LazyLock<Vec<Group>> = LazyLock::new(|| (0..100).map(group).collect());

/// The links with which the chains begin. Link `id` is followed by link `id + 1`, without an end.
pub fn first_links() -> impl Iterator<Item = i32> + Send {
    (0..20).map(|chain| chain * 100)
}

fn item(i: i32) -> Item {
    Item {
        id: i.to_string(),
        name: format!("Item {i}"),
        title: (i % 7 != 0).then(|| format!("Title of item {i}")),
        price: f64::from(i) * 1.25 + 0.1,
        stock: i % 100,
        active: i % 2 == 0,
        rating: (i % 5 != 0).then(|| f64::from(i % 50) / 10.0),
        sku: format!("SKU-{i:06}"),
        views: i * 37,
        note: (i % 3 != 0).then(|| format!("A note with \"quotes\" for item {i}")),
    }
}

fn group(a: i32) -> Group {
    let row = |b, c| Row { id: format!("r{a}-{b}-{c}"), name: format!("Row {c}"), value: a * b + c };
    let section = |b| Section {
        id: format!("s{a}-{b}"),
        name: format!("Section {b}"),
        rows: (0..10).map(|c| row(b, c)).collect(),
    };
    Group { id: format!("g{a}"), name: format!("Group {a}"), sections: (0..10).map(section).collect() }
}
