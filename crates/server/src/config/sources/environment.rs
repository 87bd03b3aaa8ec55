//! Environment variables that begin with `RIALTO_`.

use crate::config::keys::all_keys;
use crate::config::keys::key::{Key, upper_snake};
use crate::venues::venue_types;
use wire::nearest::nearest;

pub const PREFIX: &str = "RIALTO_";
/// `RIALTO_VENUES_MAIN_LATENCY_MICROS` is `venues.MAIN.latencyMicros`.
const VENUES_PREFIX: &str = "RIALTO_VENUES_";

/// Where users are configured, this variable holds the token of command line clients.
pub const TOKEN_VARIABLE: &str = "RIALTO_TOKEN";

/// Variables of the Makefile and the tests, the token of the command line, and the password of a proxy to venues.
const OF_OUR_TOOLS: [&str; 3] = ["RIALTO_BIN", TOKEN_VARIABLE, "RIALTO_PROXY_AUTHORIZATION"];

#[derive(Debug)]
pub enum VariableMeaning {
    /// A key, or a setting of a venue.
    Name(String),
    /// So similar to this variable that it is probably misspelt.
    Misspelt(String),
    /// Container platforms set `RIALTO_SERVICE_HOST` and the like for a service of that name: these are not rejected.
    Foreign,
    OfOurTools,
}

pub fn meaning(variable: &str) -> VariableMeaning {
    if OF_OUR_TOOLS.contains(&variable) {
        return VariableMeaning::OfOurTools;
    }
    if let Some((venue, setting)) = variable.strip_prefix(VENUES_PREFIX).and_then(|rest| rest.split_once('_')) {
        return meaning_at_venue(venue, setting);
    }
    if let Some(key) = all_keys().find(|key| key.variable() == variable) {
        return VariableMeaning::Name(key.name.to_owned());
    }
    let known: Vec<String> = all_keys().map(Key::variable).collect();
    // The common prefix does not count for similarity.
    let rest = |name| str::strip_prefix(name, PREFIX).unwrap_or(name);
    match nearest(rest(variable), known.iter().map(|name| rest(name))) {
        Some(right) => VariableMeaning::Misspelt(format!("{PREFIX}{right}")),
        None => VariableMeaning::Foreign,
    }
}

/// The name of a venue has no underscore, so the rest is the setting. Whether the venue's type has it is checked later.
fn meaning_at_venue(venue: &str, setting: &str) -> VariableMeaning {
    let known: Vec<(String, &str)> =
        venue_types::all_settings().map(|setting| (upper_snake(setting.key), setting.key)).collect();
    if let Some((_, key)) = known.iter().find(|(variable, _)| variable == setting) {
        return VariableMeaning::Name(format!("venues.{venue}.{key}"));
    }
    match nearest(setting, known.iter().map(|(variable, _)| variable.as_str())) {
        Some(right) => VariableMeaning::Misspelt(format!("{VENUES_PREFIX}{venue}_{right}")),
        None => VariableMeaning::Foreign,
    }
}

/// All variables of the process.
pub fn variables() -> Vec<(String, String)> {
    let readable = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let all = std::env::vars_os().map(|(name, value)| (readable(name), readable(value)));
    let mut ours: Vec<_> = all.filter(|(name, _)| name.starts_with(PREFIX)).collect();
    ours.sort();
    ours
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_distinguished_from_foreign_variables() {
        let of = |variable| match meaning(variable) {
            VariableMeaning::Name(name) => name,
            VariableMeaning::Misspelt(right) => format!("{right}?"),
            VariableMeaning::Foreign => "foreign".to_owned(),
            VariableMeaning::OfOurTools => "our tools".to_owned(),
        };
        for (variable, expected) in [
            ("RIALTO_HTTP_PORT", "http.port"),
            ("RIALTO_PORTFOLIO_BASE_CURRENCY", "portfolio.baseCurrency"),
            ("RIALTO_HTP_PORT", "RIALTO_HTTP_PORT?"),
            ("RIALTO_PORTFOLIO_BASECURRENCY", "RIALTO_PORTFOLIO_BASE_CURRENCY?"),
            ("RIALTO_VENUES_MAIN_LATENCY_MICROS", "venues.MAIN.latencyMicros"),
            ("RIALTO_VENUES_MAIN_TYPE", "venues.MAIN.type"),
            ("RIALTO_VENUES_MAIN_LATENCYMICROS", "RIALTO_VENUES_MAIN_LATENCY_MICROS?"),
            ("RIALTO_VENUES_PORT_9090_TCP_ADDR", "foreign"),
            ("RIALTO_SERVICE_HOST", "foreign"),
            ("RIALTO_PORT_9090_TCP_ADDR", "foreign"),
            ("RIALTO_BIN", "our tools"),
            ("RIALTO_TOKEN", "our tools"),
        ] {
            assert_eq!(of(variable), expected, "{variable}");
        }
    }
}
