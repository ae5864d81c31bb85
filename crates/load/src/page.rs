//! Self-contained HTML pages with charts: styles, scripts and data in one file that loads nothing.
//!
//! **Invariant:** every text is escaped when it is added, so a text from a server cannot become markup; and the page's own
//! policy runs no script but the two whose hashes it names.
//!
//! `uplot/` holds uPlot 1.6.32 as published, with its licence; a newer one replaces the three files and the line in the
//! footer.

pub(crate) mod figures;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use figures::printable;
use serde::Serialize;
use sha2::{Digest, Sha256};

const UPLOT: &str = include_str!("page/uplot/uplot.js");
const UPLOT_STYLE: &str = include_str!("page/uplot/uplot.css");
const SCRIPT: &str = include_str!("page/page.js");
const STYLE: &str = include_str!("page/page.css");

/// Units of an axis; the script knows how each is written.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    Seconds,
    /// Seconds since the start.
    Clock,
    Rate,
    Bytes,
    /// Parts of 1.
    Percent,
    /// `1 / (1 - quantile)`.
    Percentile,
    Cores,
    Number,
    Factor,
}

/// An axis.
#[derive(Debug, Serialize)]
pub(crate) struct Axis {
    pub label: &'static str,
    pub unit: Unit,
    pub log: bool,
    /// Values of the x axis, shared by all series; empty for a y axis.
    pub values: Vec<f64>,
}

impl Axis {
    pub(crate) fn x(label: &'static str, unit: Unit, values: Vec<f64>) -> Self {
        Self { label, unit, log: false, values }
    }

    pub(crate) fn y(unit: Unit) -> Self {
        Self { label: "", unit, log: false, values: Vec::new() }
    }

    pub(crate) fn log(self) -> Self {
        Self { log: true, ..self }
    }
}

/// One line of a chart.
#[derive(Debug, Serialize)]
pub(crate) struct Series {
    pub name: String,
    pub values: Vec<Option<f64>>,
    pub dashed: bool,
    /// True for points without a line.
    pub points: bool,
}

impl Series {
    pub(crate) fn line(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        Self {
            name: name.into(),
            values: values.into_iter().map(Some).collect(),
            dashed: false,
            points: false,
        }
    }

    pub(crate) fn with_dashes(self) -> Self {
        Self { dashed: true, ..self }
    }
}

/// A chart: lines, or cells of a heat map.
#[derive(Debug, Serialize)]
pub(crate) struct Chart {
    #[serde(skip)]
    pub title: &'static str,
    #[serde(skip)]
    pub note: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Left, right, bottom, top, count.
    pub cells: Vec<(f64, f64, f64, f64, u64)>,
}

impl Chart {
    pub(crate) fn lines(title: &'static str, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self { title, note: String::new(), x, y, series, cells: Vec::new() }
    }

    pub(crate) fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }
}

/// A cell of a table.
pub(crate) enum Cell {
    /// Left-aligned, wrapped.
    Text(String),
    /// Right-aligned.
    Figure(String),
    /// A figure that signals a problem.
    Bad(String),
}

/// A row of a table.
pub(crate) struct Row {
    pub cells: Vec<Cell>,
    /// True for a sum of the rows above.
    pub is_sum: bool,
}

impl Row {
    pub(crate) fn of(cells: Vec<Cell>) -> Self {
        Self { cells, is_sum: false }
    }
}

/// A page while it is written.
pub(crate) struct Page {
    title: String,
    subtitle: String,
    body: String,
    charts: Vec<Chart>,
}

impl Page {
    pub(crate) fn new(title: &str, subtitle: &str) -> Self {
        Self { title: escape(title), subtitle: escape(subtitle), body: String::new(), charts: Vec::new() }
    }

    pub(crate) fn add_heading(&mut self, text: &str) {
        self.push(&format!("<h2>{}</h2>", escape(text)));
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        self.push(&format!("<p>{}</p>", escape(text)));
    }

    pub(crate) fn note(&mut self, text: &str) {
        self.push(&format!("<p class=note>{}</p>", escape(text)));
    }

    /// A text as it came, from anywhere.
    pub(crate) fn verbatim(&mut self, text: &str) {
        self.push(&format!("<pre>{}</pre>", escape(text)));
    }

    /// A box with the result, and reasons.
    pub(crate) fn verdict(&mut self, is_good: bool, text: &str, reasons: &[String]) {
        let class = if is_good { "good" } else { "bad" };
        let items: String = reasons.iter().map(|it| format!("<li>{}</li>", escape(it))).collect();
        let list = if items.is_empty() { String::new() } else { format!("<ul>{items}</ul>") };
        self.push(&format!("<div class=\"verdict {class}\"><p><b>{}</b></p>{list}</div>", escape(text)));
    }

    /// Large figures with names.
    pub(crate) fn tiles(&mut self, tiles: &[(&str, String)]) {
        let items: String = tiles
            .iter()
            .map(|(name, figure)| format!("<li><b>{}</b><span>{}</span></li>", escape(figure), escape(name)))
            .collect();
        self.push(&format!("<ul class=tiles>{items}</ul>"));
    }

    pub(crate) fn table(&mut self, name: &str, head: &[&str], rows: &[Row]) {
        let mut text = format!(
            "<div class=scroll tabindex=0 role=region aria-label=\"{}\"><table><thead><tr>",
            escape(name)
        );
        for (column, title) in head.iter().enumerate() {
            let is_text = matches!(rows.first().and_then(|it| it.cells.get(column)), Some(Cell::Text(_)));
            let class = if is_text { " class=text" } else { "" };
            text.push_str(&format!("<th{class} scope=col>{}</th>", escape(title)));
        }
        text.push_str("</tr></thead><tbody>");
        for row in rows {
            text.push_str(if row.is_sum { "<tr class=sum>" } else { "<tr>" });
            for cell in &row.cells {
                let (class, inner) = match cell {
                    Cell::Text(it) => (" class=text", it),
                    Cell::Figure(it) => ("", it),
                    Cell::Bad(it) => (" class=bad", it),
                };
                text.push_str(&format!("<td{class}>{}</td>", escape(inner)));
            }
            text.push_str("</tr>");
        }
        text.push_str("</tbody></table></div>");
        self.push(&text);
    }

    /// Charts side by side where there is room.
    pub(crate) fn charts(&mut self, charts: Vec<Chart>) {
        self.push("<div class=grid>");
        charts.into_iter().for_each(|it| self.chart(it));
        self.push("</div>");
    }

    pub(crate) fn chart(&mut self, chart: Chart) {
        let index = self.charts.len();
        let title = escape(chart.title);
        let note = escape(&chart.note);
        self.push(&format!(
            "<figure><figcaption><b>{title}</b> {note}</figcaption>\
             <div class=chart data-chart={index} role=img aria-label=\"{title}\"></div></figure>"
        ));
        self.charts.push(chart);
    }

    fn push(&mut self, html: &str) {
        self.body.push_str(html);
        self.body.push('\n');
    }

    /// The file.
    pub(crate) fn finish(self) -> String {
        let policy = format!(
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '{}' '{}'",
            hash(UPLOT),
            hash(SCRIPT)
        );
        // Serialising plain data to memory cannot fail; a script ends only at `</script>`.
        let data =
            printable(&serde_json::to_string(&self.charts).unwrap_or_default()).replace('<', "\\u003c");
        let Self { title, subtitle, body, .. } = self;
        let version = env!("CARGO_PKG_VERSION");
        format!(
            "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=viewport content=\"width=device-width, initial-scale=1\">\n\
             <meta name=referrer content=no-referrer>\n<title>{title}</title>\n<link rel=icon href=\"data:,\">\n\
             <style>{UPLOT_STYLE}</style>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <header><div><h1>{title}</h1><p class=sub>{subtitle}</p></div>\
             <button id=theme type=button aria-label=\"Switch between light and dark\">Dark</button></header>\n\
             {body}<footer>Written by Weir {version}. Charts: uPlot 1.6.32, MIT licence, © 2022 Leon Sorokin.</footer>\n</main>\n\
             <script type=\"application/json\" id=charts>{data}</script>\n\
             <script>{UPLOT}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
        )
    }
}

fn hash(script: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(script)))
}

/// Text for markup and attributes between double quotes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for sign in printable(text).chars() {
        match sign {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(sign),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_become_markup() {
        let hostile = "</script><script>alert(1)</script>\"'<img src=x onerror=alert(2)>\u{0}";
        let mut page = Page::new(hostile, hostile);
        page.add_heading(hostile);
        page.verbatim(hostile);
        page.verdict(true, hostile, &[hostile.to_string()]);
        page.tiles(&[(hostile, hostile.to_string())]);
        page.table(hostile, &[hostile], &[Row::of(vec![Cell::Text(hostile.into())])]);
        let line = Series::line(hostile, [1.0]);
        page.chart(Chart::lines("t", Axis::x("x", Unit::Clock, vec![0.0]), Axis::y(Unit::Rate), vec![line]));
        let html = page.finish();
        assert!(!html.contains("<script>alert") && !html.contains("<img"), "as markup");
        assert_eq!(html.matches("</script>").count(), 3, "data, library, script");
        assert!(html.contains("&lt;script&gt;alert(1)"));
    }

    #[test]
    fn scripts_may_stand_in_a_page_and_are_those_the_policy_names() {
        for script in [UPLOT, SCRIPT] {
            assert!(
                !script.contains("</script") && !script.contains('\r'),
                "it would end or change in a page"
            );
        }
        assert!(Page::new("a", "b").finish().contains(&hash(SCRIPT)));
    }
}
