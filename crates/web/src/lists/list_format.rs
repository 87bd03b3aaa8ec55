//! List format: JSON or CSV by `Accept`, and `If-None-Match`.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, MatchedPath};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use crate::endpoints::endpoint;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ListFormat {
    Json,
    /// With the handler of the list: a table has its columns also when it is empty.
    Csv(&'static str),
}

impl ListFormat {
    /// CSV for clients that prefer it to JSON.
    fn negotiate(headers: &HeaderMap, handler: &'static str) -> Self {
        let ranges: Vec<_> = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
        let ranges: Vec<_> = ranges.iter().flat_map(|value| value.split(',')).map(media_range).collect();
        let weight = |names: [&str; 3]| {
            // The most specific media range decides.
            let given = names.iter().find_map(|name| ranges.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)));
            given.map_or(0, |(_, weight)| *weight)
        };
        let csv = weight(["text/csv", "text/*", "*/*"]);
        if csv > weight(["application/json", "application/*", "*/*"]) { Self::Csv(handler) } else { Self::Json }
    }
}

/// A media range with its weight in thousandths.
fn media_range(text: &str) -> (&str, u32) {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(Some(1.0), |weight| weight.parse::<f32>().ok());
    (name, thousandths(weight.unwrap_or(0.0)))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just before")]
fn thousandths(weight: f32) -> u32 {
    (weight.clamp(0.0, 1.0) * 1_000.0).round() as u32
}

impl<S: Sync> FromRequestParts<S> for ListFormat {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let path = parts.extensions.get::<MatchedPath>();
        let row = path.and_then(|path| endpoint(&parts.method, path.as_str()));
        Ok(Self::negotiate(&parts.headers, row.map_or("", |row| row.handler)))
    }
}

/// The tags in `If-None-Match`.
pub(crate) struct IfNoneMatch(String);

impl IfNoneMatch {
    /// Weak comparison, as allowed for a GET.
    pub(crate) fn matches(&self, tag: &str) -> bool {
        let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        self.0.split(',').any(|known| known.trim() == "*" || bare(known) == bare(tag))
    }
}

impl<S: Sync> FromRequestParts<S> for IfNoneMatch {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let given = parts.headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        Ok(Self(given.collect::<Vec<_>>().join(",")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDLER: &str = "account::list";

    #[test]
    fn csv_is_sent_to_clients_that_prefer_it() {
        let cases = [
            ("", ListFormat::Json),
            ("*/*", ListFormat::Json),
            ("text/csv", ListFormat::Csv(HANDLER)),
            ("Text/CSV; charset=utf-8", ListFormat::Csv(HANDLER)),
            ("text/*", ListFormat::Csv(HANDLER)),
            ("text/csv, */*;q=0.1", ListFormat::Csv(HANDLER)),
            ("text/csv;q=0.5, application/json", ListFormat::Json),
            ("text/csv, application/json", ListFormat::Json),
            ("application/json;q=0.4, text/csv;q=0.5", ListFormat::Csv(HANDLER)),
            ("text/csv;q=0, */*", ListFormat::Json),
            ("text/csv;q=nonsense", ListFormat::Json),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", ListFormat::Json),
        ];
        for (accept, form) in cases {
            let headers = HeaderMap::from_iter([(header::ACCEPT, accept.parse().unwrap())]);
            assert_eq!(ListFormat::negotiate(&headers, HANDLER), form, "{accept}");
        }
    }

    #[test]
    fn a_tag_is_known_by_itself_or_by_the_star() {
        let known = |tags: &str| IfNoneMatch(tags.into()).matches("W/\"12\"");
        assert!(known("W/\"12\"") && known("\"12\"") && known("\"7\", W/\"12\"") && known("*"));
        assert!(!known("") && !known("W/\"1\"") && !known("12"));
    }
}
