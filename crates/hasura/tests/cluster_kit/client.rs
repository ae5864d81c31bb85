//! Short ways to ask and to show what came.

use super::shared;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_postgres::{Error, Format, Parameters, Pool, Rows, Settings, Statement};

pub fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

pub fn values(values: &[&str]) -> Parameters {
    let mut parameters = Parameters::new();
    values.iter().for_each(|it| parameters.push(it.as_bytes()));
    parameters
}

/// A statement whose result columns are texts.
pub fn text(sql: &str, parameters: &[u32]) -> Arc<Statement> {
    Statement::new(sql, parameters, [Format::Text], [], None)
}

/// A thing by its key, alone and for many.
pub fn by_pk() -> Arc<Statement> {
    let many =
        "SELECT p.n, t.name FROM unnest($1::int4[]) WITH ORDINALITY AS p(k, n) JOIN thing AS t ON t.id = p.k";
    let formats = [Format::Binary, Format::Text];
    let many = Statement::new(many, [1007], formats, [20, 25], None);
    Statement::new("SELECT name FROM thing WHERE id = $1", [23], [Format::Text], [25], Some(many))
}

/// Settings of one lane, so that what is asked together goes together.
pub fn one_lane(mut settings: Settings) -> Settings {
    settings.limits.lanes = Some(1);
    settings
}

pub fn pool() -> Arc<Pool> {
    Pool::new(one_lane(shared().settings("postgres", "")))
}

pub fn show(rows: &Rows) -> String {
    let value = |it: Option<&[u8]>| it.map_or("-".into(), |it| String::from_utf8_lossy(it).into_owned());
    let lines: Vec<String> =
        rows.iter().map(|row| row.columns().map(value).collect::<Vec<_>>().join(" ")).collect();
    lines.join("|")
}

/// Rows, or the SQLSTATE, or the failure in words.
pub fn shown(result: Result<Rows, Error>) -> String {
    match result {
        Ok(rows) => show(&rows),
        Err(error) => match error.sqlstate() {
            Some(state) => String::from_utf8_lossy(&state).into_owned(),
            None => error.to_string(),
        },
    }
}

pub async fn ask(pool: &Pool, sql: &str) -> String {
    shown(pool.read(&text(sql, &[]), Parameters::new(), soon()).await)
}
