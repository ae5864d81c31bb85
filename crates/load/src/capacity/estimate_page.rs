//! An estimate as a page with plots, and as a text for terminals.

use super::findings::{findings, operation_lines, sign};
use super::fleet::{Estimate, Step, Term};
use super::queue::{Course, Moment};
use crate::page::figures::{decimal, percent, rate, thousands};
use crate::page::{Axis, Cell, Chart, Page, Row, Series, Unit};

/// One self-contained HTML file.
pub fn page(estimate: &Estimate, title: &str) -> String {
    let inputs = &estimate.inputs;
    let subtitle =
        format!("{} at the peak, machines with {} cores", rate(inputs.rate.value), inputs.cores.value);
    let mut page = Page::new(title, &subtitle);
    let mut tiles = vec![
        ("machines", thousands(estimate.machines as f64)),
        ("CPU per request", crate::page::figures::cpu_time(estimate.cpu)),
        ("CPU in use at the peak", percent(estimate.utilisation)),
    ];
    if inputs.zones.value.lost > 0 {
        tiles.push(("CPU in use without the lost zones", percent(estimate.utilisation_without_zones)));
    }
    if let Some(price) = estimate.price {
        tiles.push(("price per hour", decimal(price)));
    }
    page.tiles(&tiles);
    let said = findings(estimate);
    if let (Some(wanted), Some((_, text))) = (&estimate.at_most, said.iter().find(|it| it.0 == "Wanted")) {
        page.verdict(wanted.holds, &capital(text), &[]);
    }
    page.add_heading("The sum");
    sum(&mut page, estimate);
    page.add_heading("CPU per request");
    operation_lines(estimate).iter().for_each(|it| page.paragraph(it));
    page.chart(size_by_cpu(estimate));
    let sentence = |topic: &str| capital(said.iter().find(|it| it.0 == topic).map_or("", |it| it.1.as_str()));
    dns(&mut page, estimate, &sentence("DNS"));
    burst(&mut page, estimate, &sentence("Burst"));
    cache(&mut page, estimate, &sentence("Cache"));
    zone_loss(&mut page, estimate, &sentence("Zone loss"));
    page.into_html()
}

/// The sum, its inputs and the findings of the simulations.
pub fn text(estimate: &Estimate) -> String {
    let mut page = Page::default();
    sum(&mut page, estimate);
    let operations = &estimate.inputs.operations;
    if operations.len() > 1 || operations.iter().any(|it| it.hit.is_some()) {
        page.add_heading("CPU per request");
        operation_lines(estimate).iter().for_each(|it| page.paragraph(it));
    }
    page.add_heading("Findings");
    findings(estimate).iter().for_each(|(topic, it)| page.paragraph(&format!("{topic}: {it}")));
    page.into_text()
}

fn sum(page: &mut Page, estimate: &Estimate) {
    let row = |it: &Term| Row {
        cells: vec![
            Cell::Text(format!("{} {}", sign(it.step), it.name)),
            Cell::Figure(it.shown.clone()),
            Cell::Text(it.source.clone()),
        ],
        is_sum: it.step == Step::Equals,
    };
    let rows: Vec<Row> = estimate.terms.iter().map(row).collect();
    page.table("The sum", &["term", "figure", "source"], &rows);
}

/// A sentence with a capital at its start.
fn capital(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |it| it.to_uppercase().chain(signs).collect())
}

/// Machines against CPU per request, with the other terms of the sum unchanged.
fn size_by_cpu(estimate: &Estimate) -> Chart {
    let points: Vec<f64> = (0..=60).map(|it| estimate.cpu * f64::from(it) / 30.0).collect();
    let per_cpu = estimate.machines as f64 / estimate.cpu;
    let mut lines = vec![Series::line("machines", points.iter().map(|it| it * per_cpu))];
    if let Some(wanted) = &estimate.at_most {
        lines.push(Series::line("wanted", points.iter().map(|_| wanted.machines as f64)).with_dashes());
    }
    Chart::lines(
        "Machines by CPU per request",
        Axis::x("CPU", Unit::Seconds, points),
        Axis::y(Unit::Number),
        lines,
    )
    .note("all other terms as above; the middle is this fleet")
}

fn dns(page: &mut Page, estimate: &Estimate, sentence: &str) {
    let Some(found) = &estimate.balancing else { return };
    page.add_heading("Weighted DNS");
    page.paragraph(sentence);
    let seconds = (0..found.busiest.len()).map(|it| it as f64 * found.step).collect();
    page.chart(Chart::lines(
        "Busiest balancer over its due share",
        Axis::x("time", Unit::Clock, seconds),
        Axis::y(Unit::Factor),
        vec![
            Series::line("busiest", found.busiest.iter().copied()),
            Series::line("p99", found.busiest.iter().map(|_| found.p99)).with_dashes(),
        ],
    ));
}

fn burst(page: &mut Page, estimate: &Estimate, sentence: &str) {
    let Some(found) = &estimate.scaling else { return };
    page.add_heading("A burst, with autoscaling");
    page.paragraph(sentence);
    let both = |read: fn(&Moment) -> f64| {
        vec![
            Series::line("scales with the load", found.following.moments.iter().map(read)),
            Series::line("there before", found.ahead.moments.iter().map(read)).with_dashes(),
        ]
    };
    let mut load = vec![Series::line("offered", found.following.moments.iter().map(|it| it.offered))];
    load.extend(both(|it| it.capacity));
    page.charts(vec![
        Chart::lines("Offered load and capacity", time(&found.following), Axis::y(Unit::Rate), load),
        Chart::lines("CPU in use", time(&found.following), Axis::y(Unit::Percent), both(|it| it.utilisation)),
        Chart::lines("Wait in the queue", time(&found.following), Axis::y(Unit::Seconds), both(|it| it.wait)),
        Chart::lines("Requests lost", time(&found.following), Axis::y(Unit::Rate), both(|it| it.lost)),
    ]);
}

fn cache(page: &mut Page, estimate: &Estimate, sentence: &str) {
    let (Some(asked), Some(found)) = (&estimate.inputs.caching, &estimate.caching) else { return };
    page.add_heading("Cache");
    page.paragraph(sentence);
    let lifetimes: Vec<f64> = found.by_ttl.iter().map(|it| it.0).collect();
    let mut lines = vec![Series::line("closed form", found.by_ttl.iter().map(|it| it.1))];
    if let Some(simulated) = found.simulated {
        let here = |ttl: &f64| ((ttl / asked.ttl - 1.0).abs() < 1e-9).then_some(simulated);
        let values = lifetimes.iter().map(here).collect();
        lines.push(Series { name: "simulated".into(), values, dashed: false, points: true });
    }
    let x = Axis::x("lifetime", Unit::Seconds, lifetimes).log();
    page.chart(Chart::lines("Hit rate by lifetime", x, Axis::y(Unit::Percent), lines));
}

fn zone_loss(page: &mut Page, estimate: &Estimate, sentence: &str) {
    let Some(found) = &estimate.zone_loss else { return };
    page.add_heading("Loss of a zone");
    page.paragraph(sentence);
    let line =
        |read: fn(&Moment) -> f64, name: &str| vec![Series::line(name, found.moments.iter().map(read))];
    page.charts(vec![
        Chart::lines("Requests lost", time(found), Axis::y(Unit::Rate), line(|it| it.lost, "lost")),
        Chart::lines("CPU in use", time(found), Axis::y(Unit::Percent), line(|it| it.utilisation, "in use")),
    ]);
}

fn time(course: &Course) -> Axis {
    Axis::x("time", Unit::Clock, course.moments.iter().map(|it| it.second).collect())
}
