//! SVG charts: lines, areas and marks over time, with the colours of the page.

use domain::Timestamp;

use super::html::{append, escaped, span};
use super::time_axis;
use crate::series::Point;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 240.0;
/// Margins for the labels at the left and below.
const LEFT: f64 = 90.0;
const BELOW: f64 = 24.0;
const ABOVE: f64 = 8.0;
const GRID_LINES: u32 = 4;
/// Half of the widest label below.
const EDGE: f64 = 32.0;

/// Range of the vertical axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    Fitted,
    WithZero,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Up,
    Down,
}

pub(super) struct Chart<'a> {
    points: &'a [Point],
    from: Timestamp,
    to: Timestamp,
    low: f64,
    high: f64,
    /// Between two lines of the grid.
    step: f64,
    label: fn(f64) -> String,
    body: String,
}

impl<'a> Chart<'a> {
    pub(super) fn new(points: &'a [Point], scale: Scale) -> Self {
        let (from, to) = span(points).unwrap_or_default();
        let values = || points.iter().map(|point| point.value);
        let zero = (scale == Scale::WithZero).then_some(0.0);
        let low = values().chain(zero).reduce(f64::min).unwrap_or(0.0);
        let high = values().chain(zero).reduce(f64::max).unwrap_or(1.0);
        // A flat line is drawn in the middle.
        let (low, high) = if low < high { (low, high) } else { (low - 1.0, high + 1.0) };
        let step = round_step((high - low) / f64::from(GRID_LINES));
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        Self { points, from, to, low, high, step, label: |value| value.to_string(), body: String::new() }
    }

    pub(super) fn labelled(mut self, label: fn(f64) -> String) -> Self {
        self.label = label;
        self
    }

    pub(super) fn line(mut self, class: &str) -> Self {
        let path = self.path();
        append(&mut self.body, format_args!("<path class=\"line {class}\" d=\"{path}\"/>"));
        self
    }

    /// The line, and the area between it and zero or the lower bound.
    pub(super) fn area(mut self, class: &str) -> Self {
        let path = self.path();
        let floor = self.y(0.0_f64.clamp(self.low, self.high));
        let (first, last) = (self.x(self.from), self.x(self.to));
        append(
            &mut self.body,
            format_args!("<path class=\"plane {class}\" d=\"{path}L{last:.1} {floor:.1}L{first:.1} {floor:.1}Z\"/>"),
        );
        self.line(class)
    }

    /// A dashed reference line.
    pub(super) fn level(mut self, value: f64) -> Self {
        if (self.low..=self.high).contains(&value) {
            let y = self.y(value);
            append(&mut self.body, format_args!("<path class=\"level\" d=\"M{LEFT} {y:.1}H{WIDTH}\"/>"));
        }
        self
    }

    /// A triangle that points up for a buy and down for a sell; `told` is its tooltip.
    pub(super) fn mark(mut self, at: Timestamp, value: f64, sign: Sign, told: &str) -> Self {
        let (x, y) = (self.x(at), self.y(value.clamp(self.low, self.high)));
        let (class, tip) = match sign {
            Sign::Up => ("buy", 8.0),
            Sign::Down => ("sell", -8.0),
        };
        append(
            &mut self.body,
            format_args!(
                "<path class=\"{class}\" d=\"M{x:.1} {y:.1}l-4 {tip}h8Z\"><title>{}</title></path>",
                escaped(told)
            ),
        );
        self
    }

    pub(super) fn finish(self, title: &str) -> String {
        let title = escaped(title);
        if self.points.is_empty() {
            return "<p class=\"note\">There is nothing to draw.</p>".into();
        }
        let mut svg =
            format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>");
        self.grid(&mut svg);
        svg.push_str(&self.body);
        svg.push_str("</svg>");
        svg
    }

    fn grid(&self, svg: &mut String) {
        let values = (0..).map(|number| self.low + self.step * f64::from(number));
        for value in values.take_while(|value| *value < self.high + self.step / 2.0) {
            let y = self.y(value);
            let label = (self.label)(value);
            append(
                svg,
                format_args!(
                    "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{WIDTH}\"/><text class=\"left\" x=\"{}\" y=\"{:.1}\">{label}</text>",
                    LEFT - 6.0,
                    y + 4.0
                ),
            );
        }
        for (at, label) in time_axis::axis_labels(self.from, self.to) {
            self.date(svg, at, &label);
        }
    }

    /// A label of the time axis; labels at the edges stay within the chart.
    fn date(&self, svg: &mut String, at: Timestamp, label: &str) {
        let (x, floor) = (self.x(at), HEIGHT - BELOW);
        let anchor = if x > WIDTH - EDGE { "end" } else { "middle" };
        append(
            svg,
            format_args!(
                "<path class=\"grid\" d=\"M{x:.1} {ABOVE}V{floor}\"/>\
                 <text text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{}\">{label}</text>",
                HEIGHT - 6.0
            ),
        );
    }

    /// Steps: a value holds until the next one; a slope would show values that never existed.
    fn path(&self) -> String {
        let mut path = String::with_capacity(self.points.len() * 14);
        for (place, point) in self.points.iter().enumerate() {
            let (x, y) = (self.x(point.at), self.y(point.value));
            let step = if place == 0 { format!("M{x:.1} {y:.1}") } else { format!("H{x:.1}V{y:.1}") };
            path.push_str(&step);
        }
        path
    }

    fn x(&self, at: Timestamp) -> f64 {
        let whole = self.to.nanos_since(self.from).max(1) as f64;
        LEFT + (WIDTH - LEFT - 4.0) * (at.nanos_since(self.from) as f64 / whole).clamp(0.0, 1.0)
    }

    fn y(&self, value: f64) -> f64 {
        let part = (value - self.low) / (self.high - self.low);
        ABOVE + (HEIGHT - ABOVE - BELOW) * (1.0 - part)
    }
}

/// The next of 1, 2, 2.5, 5 and their tenfold that is not less: round numbers.
fn round_step(least: f64) -> f64 {
    let magnitude = 10_f64.powf(least.log10().floor());
    let wanted =
        [1.0, 2.0, 2.5, 5.0].into_iter().map(|step| step * magnitude).find(|step| *step >= least * (1.0 - 1e-9));
    wanted.unwrap_or(10.0 * magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_holds_until_the_next_the_lowest_at_the_floor_and_the_highest_at_the_ceiling() {
        let points = [(0, 10.0), (50, 20.0), (100, 15.0)].map(|(at, value)| Point { at: Timestamp(at), value });
        let svg = Chart::new(&points, Scale::Fitted).line("price").finish("a <b>");
        assert!(svg.contains("d=\"M90.0 216.0H523.0V8.0H956.0V112.0\""), "{svg}");
        assert!(svg.contains("a &lt;b&gt;"));
    }

    #[test]
    fn the_grid_has_round_numbers() {
        let steps = [0.9, 1.0, 1.2, 2.3, 3.0, 7.0, 20_339.75, 0.0002].map(round_step);
        assert_eq!(steps, [1.0, 1.0, 2.0, 2.5, 5.0, 10.0, 25_000.0, 0.0002]);
    }

    #[test]
    fn a_flat_line_and_no_line_can_be_drawn_too() {
        let flat = [Point { at: Timestamp(0), value: 5.0 }];
        assert!(Chart::new(&flat, Scale::Fitted).area("equity").finish("flat").starts_with("<svg"));
        assert_eq!(
            Chart::new(&[], Scale::WithZero).area("x").finish("none"),
            "<p class=\"note\">There is nothing to draw.</p>"
        );
    }
}
