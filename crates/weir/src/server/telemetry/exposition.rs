//! Converts OpenMetrics to the older Prometheus text format 0.0.4.
//!
//! Samples are the same in both. The older format names a counter with its suffix, knows neither units nor the end of the page, and has
//! fewer types. Source: Prometheus, exposition formats; OpenMetrics 1.0.

use std::fmt::Write;

/// Converts `page` from OpenMetrics.
pub(crate) fn prometheus_text(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    let mut help: Option<(&str, &str)> = None;
    for line in page.lines() {
        let Some(comment) = line.strip_prefix("# ") else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let (keyword, rest) = comment.split_once(' ').unwrap_or((comment, ""));
        let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
        match keyword {
            // The name depends on the type, which follows on the next line.
            "HELP" => help = Some((name, text)),
            "TYPE" => {
                let (suffix, kind) = older(text);
                let help = help.take().filter(|it| it.0 == name);
                // `writeln!` to a string cannot fail.
                let _ = help.map(|it| writeln!(out, "# HELP {name}{suffix} {}", it.1));
                let _ = writeln!(out, "# TYPE {name}{suffix} {kind}");
            }
            _ => {}
        }
    }
    out
}

/// Suffix of a metric's name and its type in the older format.
fn older(kind: &str) -> (&str, &str) {
    match kind {
        "counter" => ("_total", "counter"),
        "info" => ("_info", "gauge"),
        "stateset" => ("", "gauge"),
        "gauge" | "histogram" | "summary" => ("", kind),
        _ => ("", "untyped"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_named_with_their_suffix_and_the_end_is_left_out() {
        let page = "\
# HELP weir_a How many.
# TYPE weir_a counter
weir_a_total{door=\"# TYPE\"} 1
# HELP weir_b_seconds Time.
# TYPE weir_b_seconds histogram
# UNIT weir_b_seconds seconds
weir_b_seconds_sum 1.5
# TYPE weir_c info
weir_c_info 1
# TYPE weir_d unknown
weir_d 2
# EOF
";
        let expected = "\
# HELP weir_a_total How many.
# TYPE weir_a_total counter
weir_a_total{door=\"# TYPE\"} 1
# HELP weir_b_seconds Time.
# TYPE weir_b_seconds histogram
weir_b_seconds_sum 1.5
# TYPE weir_c_info gauge
weir_c_info 1
# TYPE weir_d untyped
weir_d 2
";
        assert_eq!(prometheus_text(page), expected);
    }
}
