//! Pages with two writers: a self-contained HTML file with charts, whose styles, scripts and data load nothing, and plain text for
//! terminals without the charts.
//!
//! **Invariant:** every text is escaped when it is added, so a text from a server cannot become markup or steer a terminal; and the
//! page's own policy runs no script but the two whose hashes it names.
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

/// Longest text of a cell that other cells follow, in a terminal.
const CELL_MAX: usize = 60;

/// A cell of a table.
pub(crate) enum Cell {
    /// Left-aligned, wrapped.
    Text(String),
    /// Right-aligned.
    Figure(String),
    /// A figure that signals a problem.
    Bad(String),
}

impl Cell {
    fn text(&self) -> &str {
        match self {
            Self::Text(it) | Self::Figure(it) | Self::Bad(it) => it,
        }
    }
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

/// A page while it is written, in both forms.
#[derive(Default)]
pub(crate) struct Page {
    title: String,
    subtitle: String,
    body: String,
    text: String,
    charts: Vec<Chart>,
}

impl Page {
    pub(crate) fn new(title: &str, subtitle: &str) -> Self {
        Self { title: escape(title), subtitle: escape(subtitle), ..Self::default() }
    }

    pub(crate) fn add_heading(&mut self, text: &str) {
        let gap = if self.text.is_empty() { "" } else { "\n" };
        self.push(&format!("<h2>{}</h2>", escape(text)), &format!("{gap}{text}\n"));
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        self.push(&format!("<p>{}</p>", escape(text)), &format!("{text}\n"));
    }

    pub(crate) fn note(&mut self, text: &str) {
        self.push(&format!("<p class=note>{}</p>", escape(text)), &format!("{text}\n"));
    }

    /// A text as it came, from anywhere.
    pub(crate) fn verbatim(&mut self, text: &str) {
        self.push(&format!("<pre>{}</pre>", escape(text)), &format!("{text}\n"));
    }

    /// A box with the result, and reasons.
    pub(crate) fn verdict(&mut self, is_good: bool, text: &str, reasons: &[String]) {
        let class = if is_good { "good" } else { "bad" };
        let items: String = reasons.iter().map(|it| format!("<li>{}</li>", escape(it))).collect();
        let list = if items.is_empty() { String::new() } else { format!("<ul>{items}</ul>") };
        let lines: String = reasons.iter().map(|it| format!("- {it}\n")).collect();
        self.push(
            &format!("<div class=\"verdict {class}\"><p><b>{}</b></p>{list}</div>", escape(text)),
            &format!("{text}\n{lines}"),
        );
    }

    /// Large figures with names.
    pub(crate) fn tiles(&mut self, tiles: &[(&str, String)]) {
        let items: String = tiles
            .iter()
            .map(|(name, figure)| format!("<li><b>{}</b><span>{}</span></li>", escape(figure), escape(name)))
            .collect();
        let lines: String = tiles.iter().map(|(name, figure)| format!("{name}: {figure}\n")).collect();
        self.push(&format!("<ul class=tiles>{items}</ul>"), &lines);
    }

    pub(crate) fn table(&mut self, name: &str, head: &[&str], rows: &[Row]) {
        let mut text = format!(
            "<div class=scroll tabindex=0 role=region aria-label=\"{}\"><table><thead><tr>",
            escape(name)
        );
        for (column, title) in head.iter().enumerate() {
            let class = if is_text_column(rows, column) { " class=text" } else { "" };
            text.push_str(&format!("<th{class} scope=col>{}</th>", escape(title)));
        }
        text.push_str("</tr></thead><tbody>");
        for row in rows {
            text.push_str(if row.is_sum { "<tr class=sum>" } else { "<tr>" });
            for cell in &row.cells {
                let class = match cell {
                    Cell::Text(_) => " class=text",
                    Cell::Figure(_) => "",
                    Cell::Bad(_) => " class=bad",
                };
                text.push_str(&format!("<td{class}>{}</td>", escape(cell.text())));
            }
            text.push_str("</tr>");
        }
        text.push_str("</tbody></table></div>");
        self.push(&text, &text_table(head, rows));
    }

    /// Charts side by side where there is room.
    pub(crate) fn charts(&mut self, charts: Vec<Chart>) {
        self.push("<div class=grid>", "");
        charts.into_iter().for_each(|it| self.chart(it));
        self.push("</div>", "");
    }

    pub(crate) fn chart(&mut self, chart: Chart) {
        let index = self.charts.len();
        let title = escape(chart.title);
        let note = escape(&chart.note);
        let html = format!(
            "<figure><figcaption><b>{title}</b> {note}</figcaption>\
             <div class=chart data-chart={index} role=img aria-label=\"{title}\"></div></figure>"
        );
        self.push(&html, "");
        self.charts.push(chart);
    }

    fn push(&mut self, html: &str, text: &str) {
        self.body.push_str(html);
        self.body.push('\n');
        self.text.push_str(&printable(text));
    }

    /// The text for terminals: no title, no charts.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// The HTML file.
    pub(crate) fn into_html(self) -> String {
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

/// True if the column's first cell is a text.
fn is_text_column(rows: &[Row], column: usize) -> bool {
    matches!(rows.first().and_then(|it| it.cells.get(column)), Some(Cell::Text(_)))
}

/// A table for terminals. Columns are as wide as their cells; figures are aligned to the right.
fn text_table(head: &[&str], rows: &[Row]) -> String {
    let last = head.len().saturating_sub(1);
    let shorten = |(column, text): (usize, &str)| -> String {
        let most = if column == last { usize::MAX } else { CELL_MAX };
        text.replace(['\n', '\r', '\t'], " ").chars().take(most).collect()
    };
    let mut lines: Vec<Vec<String>> = vec![head.iter().copied().enumerate().map(shorten).collect()];
    lines.extend(rows.iter().map(|it| it.cells.iter().map(Cell::text).enumerate().map(shorten).collect()));
    let width = |column: usize| {
        lines.iter().filter_map(|it| it.get(column)).map(|it| it.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let padded = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            _ if !is_text_column(rows, column) => format!("{cell:>width$}"),
            _ if column == last => cell.clone(),
            _ => format!("{cell:<width$}"),
        });
        text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
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
        let html = page.into_html();
        assert!(!html.contains("<script>alert") && !html.contains("<img"), "as markup");
        assert_eq!(html.matches("</script>").count(), 3, "data, library, script");
        assert!(html.contains("&lt;script&gt;alert(1)"));
    }

    #[test]
    fn a_text_has_aligned_tables_and_steers_no_terminal() {
        let mut page = Page::new("title", "subtitle");
        page.add_heading("Sizes");
        let cells = |name: &str, size: &str, note: &str| {
            Row::of(vec![Cell::Text(name.into()), Cell::Figure(size.into()), Cell::Text(note.into())])
        };
        page.table(
            "sizes",
            &["name", "size", ""],
            &[cells("a\nb\u{1b}[2J", "7", ""), cells("c", "1,000", "most")],
        );
        page.verdict(false, "Void.", &["late".into()]);
        let line = Series::line("a", [1.0]);
        page.chart(Chart::lines("t", Axis::x("x", Unit::Clock, vec![0.0]), Axis::y(Unit::Rate), vec![line]));
        let expected = "Sizes\nname      size\na b\u{fffd}[2J      7\nc        1,000  most\nVoid.\n- late\n";
        assert_eq!(page.into_text(), expected);
    }

    #[test]
    fn scripts_may_stand_in_a_page_and_are_those_the_policy_names() {
        for script in [UPLOT, SCRIPT] {
            assert!(
                !script.contains("</script") && !script.contains('\r'),
                "it would end or change in a page"
            );
        }
        assert!(Page::new("a", "b").into_html().contains(&hash(SCRIPT)));
    }
}
