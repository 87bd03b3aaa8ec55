//! What a dialect says of the prices of its venue.

use super::added_fields::{ExtraField, texts_on};
use super::model::{BookUpdates, MarketDataRules};
use super::section::{Problems, Section};

const KEYS: &[&str] = &["depth", "updates", "trades", "aggregated", "resetOnLogon", "ownSession", "staleCondition"];

pub(super) fn market_data(
    section: &Section<'_>,
    added: &[ExtraField],
    problems: &mut Problems<'_>,
) -> Option<MarketDataRules> {
    section.check_keys(KEYS, problems);
    let updates = [("full", BookUpdates::Full), ("incremental", BookUpdates::Incremental)];
    let aggregated = section.keys().iter().any(|(key, _)| key == "aggregated");
    section.is_present().then(|| MarketDataRules {
        depth: section.whole("depth", 0..=10_000, problems).unwrap_or(0),
        updates: section.choice("updates", &updates, problems).unwrap_or(BookUpdates::Incremental),
        trades: section.flag("trades", true, problems),
        aggregated: aggregated.then(|| section.flag("aggregated", true, problems)),
        reset_on_logon: section.flag("resetOnLogon", true, problems),
        own_session: section.flag("ownSession", false, problems),
        stale_condition: section.text("staleCondition", problems),
        fields: texts_on("V", added),
    })
}
