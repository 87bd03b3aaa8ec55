//! Stable codes for refusals of the venue. A code stands before the venue's own text, so that programs need not read it.

use super::CallError;
use super::error_codes::{ErrorMeaning, meaning_of};

/// Beginnings of messages that say more than the venue's code. A filter has bounds and a step under one name.
const BY_MESSAGE: [(&str, &str); 17] = [
    ("Filter failure: PRICE_FILTER", "venue-price"),
    ("Filter failure: PERCENT_PRICE", "venue-price"),
    ("Filter failure: LOT_SIZE", "venue-quantity"),
    ("Filter failure: MARKET_LOT_SIZE", "venue-quantity"),
    ("Filter failure: MIN_NOTIONAL", "venue-notional"),
    ("Filter failure: NOTIONAL", "venue-notional"),
    ("Filter failure: ICEBERG_PARTS", "venue-property"),
    ("Filter failure: MAX_POSITION", "venue-position"),
    ("Filter failure: MAX_NUM_", "venue-open-orders"),
    ("Filter failure: EXCHANGE_MAX_NUM_", "venue-open-orders"),
    ("Market is closed.", "venue-halted"),
    ("Invalid symbol.", "venue-unlisted"),
    ("Account has insufficient balance", "venue-balance"),
    ("Order would immediately match and take.", "venue-post-only"),
    ("Stop price would trigger immediately.", "venue-trigger"),
    ("Order would trigger immediately.", "venue-trigger"),
    ("Rest API trading is not enabled.", "venue-key"),
];

/// Refusals after which the venue's list of symbols is looked at again.
const OF_LISTINGS: [&str; 5] = ["venue-price", "venue-quantity", "venue-notional", "venue-halted", "venue-unlisted"];

/// The stable code of a refusal.
pub fn refusal_code(code: Option<i64>, meaning: ErrorMeaning, message: &str) -> &'static str {
    let by_message = BY_MESSAGE.iter().find(|(text, _)| message.starts_with(text)).map(|(_, code)| *code);
    by_message.unwrap_or(match (meaning, code) {
        (_, Some(-1121)) => "venue-unlisted",
        (ErrorMeaning::NoSuchOrder | ErrorMeaning::Archived, _) => "venue-unknown-order",
        (ErrorMeaning::RateLimited, _) => "venue-rate",
        (ErrorMeaning::Clock, _) => "venue-clock",
        (ErrorMeaning::Key, _) => "venue-key",
        _ => "venue-refused",
    })
}

/// Whether the venue may list other filters or another status than we know.
pub fn is_about_listing(code: i64, message: &str) -> bool {
    // The halves of a replace have no status of their own; 400 stands for an error that is not the venue's own.
    OF_LISTINGS.contains(&refusal_code(Some(code), meaning_of(400, code, message), message))
}

impl CallError {
    /// Why a request was refused: a stable code, then the venue's own words.
    pub fn refusal(&self) -> String {
        format!("{}: {}", refusal_code(self.code, self.meaning, &self.message), self.describe())
    }
}
