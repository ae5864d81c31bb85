//! Draws a profile as a flame graph in SVG: one row per stack depth, one box per function, as wide as its share of time.
//!
//! **Invariant:** names are escaped; nothing in the picture runs.
//!
//! **Cost:** boxes narrower than a thousandth of the picture are left out, so its size is bounded by the depth of the stacks.

use pprof::Report;
use std::collections::BTreeMap;
use std::fmt::Write;

const WIDTH: f64 = 1200.0;
const ROW: usize = 17;
const TOP: usize = 24;
/// Narrowest box, and width of a letter.
const NARROWEST: f64 = WIDTH / 1000.0;
const LETTER: f64 = 6.5;

/// Samples of a function with one call stack.
#[derive(Debug, Default)]
struct Frame {
    samples: u64,
    below: BTreeMap<String, Frame>,
}

/// The flame graph of `report`. Threads with equal names are merged.
pub(super) fn picture(report: &Report) -> String {
    let mut root = Frame::default();
    for (stack, count) in &report.data {
        let thread = std::iter::once(stack.thread_name_or_id());
        let frames = stack.frames.iter().rev().flat_map(|it| it.iter().rev()).map(|it| it.name());
        root.add(thread.chain(frames), u64::try_from(*count).unwrap_or(0));
    }
    draw_flame_graph(&root)
}

impl Frame {
    fn add(&mut self, stack: impl Iterator<Item = String>, samples: u64) {
        self.samples += samples;
        let mut at = self;
        for name in stack {
            at = at.below.entry(name).or_default();
            at.samples += samples;
        }
    }
}

/// A box to draw.
struct Placed<'f> {
    name: &'f str,
    frame: &'f Frame,
    left: f64,
    depth: usize,
}

fn draw_flame_graph(root: &Frame) -> String {
    let scale = if root.samples == 0 { 0.0 } else { WIDTH / root.samples as f64 };
    let mut boxes = String::new();
    let mut deepest = 0;
    let mut open = vec![Placed { name: "all", frame: root, left: 0.0, depth: 0 }];
    while let Some(Placed { name, frame, left, depth }) = open.pop() {
        let width = frame.samples as f64 * scale;
        if width < NARROWEST {
            continue;
        }
        deepest = deepest.max(depth);
        let share = 100.0 * frame.samples as f64 / root.samples.max(1) as f64;
        draw(&mut boxes, &FlameBox { name, depth, left, width, samples: frame.samples, share });
        let mut left = left;
        for (name, frame) in &frame.below {
            open.push(Placed { name, frame, left, depth: depth + 1 });
            left += frame.samples as f64 * scale;
        }
    }
    let height = TOP + (deepest + 1) * ROW + 8;
    let told = match root.samples {
        0 => "No CPU time was used.".to_owned(),
        samples => format!("{samples} samples of CPU time; point at a box for its name and share"),
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"11\"><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\
         <text x=\"8\" y=\"16\">{told}</text>{boxes}</svg>"
    )
}

/// A function in the picture.
struct FlameBox<'f> {
    name: &'f str,
    /// Row, from the top.
    depth: usize,
    left: f64,
    width: f64,
    samples: u64,
    /// Percentage of all samples.
    share: f64,
}

fn draw(out: &mut String, flame_box: &FlameBox<'_>) {
    let &FlameBox { name, depth, left, width, samples, share } = flame_box;
    let y = TOP + depth * ROW;
    // The colour depends only on the function's name.
    let hue = name.bytes().fold(7_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into())) % 50;
    let letters = ((width - 4.0) / LETTER) as usize;
    let shown: String = match letters {
        0..3 => String::new(),
        _ if name.chars().count() <= letters => name.to_owned(),
        _ => name.chars().take(letters - 1).chain(['…']).collect(),
    };
    // `write!` to a string cannot fail.
    let _ = write!(
        out,
        "<g><title>{} ({samples} samples, {share:.1} %)</title>\
         <rect x=\"{left:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{}\" rx=\"1\" fill=\"hsl({hue} 85% 70%)\"/>\
         <text x=\"{:.1}\" y=\"{}\">{}</text></g>",
        escape_xml(name),
        ROW - 1,
        left + 3.0,
        y + 12,
        escape_xml(&shown)
    );
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_as_wide_as_their_share() {
        let mut root = Frame::default();
        for (stack, samples) in
            [("weir-0;run;a<T>", 750), ("weir-0;run;b", 249), ("weir-1;c", 1), ("weir-0;run", 0)]
        {
            root.add(stack.split(';').map(String::from), samples);
        }
        let picture = draw_flame_graph(&root);
        for part in [
            "<title>all (1000 samples, 100.0 %)</title><rect x=\"0.0\" y=\"24\" width=\"1200.0\"",
            "<title>run (999 samples, 99.9 %)</title><rect x=\"0.0\" y=\"58\" width=\"1198.8\"",
            "<title>a&lt;T&gt; (750 samples, 75.0 %)</title><rect x=\"0.0\" y=\"75\" width=\"900.0\"",
            "<title>b (249 samples, 24.9 %)</title><rect x=\"900.0\" y=\"75\" width=\"298.8\"",
        ] {
            assert!(picture.contains(part), "{part} is not in {picture}");
        }
        assert!(!picture.contains("<T>"));
    }

    #[test]
    fn a_process_that_did_nothing_has_a_picture() {
        assert!(draw_flame_graph(&Frame::default()).contains("No CPU time was used."));
    }
}
