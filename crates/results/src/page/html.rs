//! Text of a page: escaping and appending.

use std::fmt::Write;

use domain::Timestamp;

use crate::series::Point;

/// Text that is safe between tags and in attributes.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

pub(super) fn append(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("a string takes everything");
}

pub(super) fn span(points: &[Point]) -> Option<(Timestamp, Timestamp)> {
    Some((points.first()?.at, points.last()?.at))
}
