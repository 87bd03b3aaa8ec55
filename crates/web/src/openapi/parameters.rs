//! Path and query parameters.

use domain::breaks::BreakState;
use serde_json::{Value, json};
use wire::fields::ID_LIMIT;
use wire::schema::{CURRENCY_PATTERN, SCOPE_PATTERN};

use crate::endpoints::Endpoint;
use crate::lists::pagination::PAGE_LIMIT_MAX;

pub(super) fn of(row: &Endpoint) -> Vec<Value> {
    let in_path = row.path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let in_path = in_path.map(|name| describe(name, "path", true, in_path_of(row, name)));
    let in_query =
        row.parameters.iter().map(|name| describe(name, "query", is_needed(row, name), in_query_of(row, name)));
    in_path.chain(in_query).chain(in_headers(row)).collect()
}

/// A writer of settings may send the revision that it has read.
fn in_headers(row: &Endpoint) -> Option<Value> {
    let says = "the `ETag` of the settings that the caller has read; where others were kept meanwhile nothing is done";
    let schema = json!({ "type": "string", "examples": ["\"3\""] });
    (row.handler == "settings::write").then(|| describe("If-Match", "header", false, (says, schema)))
}

/// Whether a parameter names a resource that may not exist.
pub(super) fn may_be_unknown(row: &Endpoint) -> bool {
    let by_name = ["strategy", "account", "security"];
    row.path.contains('{') || row.parameters.iter().any(|name| by_name.contains(name))
}

fn describe(name: &str, place: &str, is_needed: bool, (says, schema): (&str, Value)) -> Value {
    json!({ "name": name, "in": place, "required": is_needed, "description": says, "schema": schema })
}

fn is_needed(row: &Endpoint, name: &str) -> bool {
    match name {
        "baseCurrency" | "transactionCurrency" => true,
        "security" => ["marketdata::bars", "marketdata::book"].contains(&row.handler),
        _ => false,
    }
}

fn in_path_of(row: &Endpoint, name: &str) -> (&'static str, Value) {
    let text = || json!({ "type": "string", "minLength": 1 });
    match name {
        "id" if row.handler.starts_with("fix::") => ("the session's id", text()),
        "id" if row.handler.starts_with("breaks::") => {
            ("the break's id", json!({ "type": "string", "pattern": "^B[0-9]{1,19}$", "examples": ["B17"] }))
        }
        "id" => ("its id", json!({ "type": "integer", "minimum": 1, "maximum": ID_LIMIT - 1 })),
        "intId" => ("the order's intId", text()),
        "scope" => (
            "PLATFORM, ACCOUNT-, STRATEGY- or SECURITY- with an id",
            json!({ "type": "string", "pattern": SCOPE_PATTERN }),
        ),
        _ => ("its name", text()),
    }
}

fn in_query_of(row: &Endpoint, name: &str) -> (&'static str, Value) {
    let text = || json!({ "type": "string" });
    match name {
        "strategy" => ("only of this strategy, by id or name", text()),
        "account" => ("only of this account, by id or name", text()),
        "security" if row.handler.starts_with("marketdata::") => (
            "of this security, by id or symbol, or of several, separated by commas",
            json!({ "type": "string", "examples": ["1,2,3"] }),
        ),
        "security" => ("only of this security, by id or symbol", text()),
        "text" if row.handler == "history::transactions" => (
            "a part of uuid, extId, intOrderId, extOrderId or description, or of the security's symbol, in whatever case",
            search_text(),
        ),
        "text" => (
            "a part of intId, extId, clOrdId or reference, or of the security's symbol, in whatever case",
            search_text(),
        ),
        "source" => (
            "only from these, separated by commas: REST, UI, STRATEGY, PLATFORM, FIX, FIX:<CompID>",
            json!({ "type": "string", "pattern": SOURCES, "examples": ["UI,FIX"] }),
        ),
        "withoutStrategies" => {
            ("true leaves out what strategies have placed", json!({ "type": "boolean", "default": false }))
        }
        "state" => ("in this state, or all of them", json!({ "type": "string", "enum": states(), "default": "OPEN" })),
        "status" => (
            "only with one of these, separated by commas",
            json!({ "type": "string", "pattern": statuses(), "examples": ["EXECUTED,CANCELED"] }),
        ),
        "period" => ("what a row stands for", json!({ "type": "string", "enum": periods(), "default": "sample" })),
        "from" if row.handler == "portfolio::history" => {
            ("only what was sampled at these epoch milliseconds or later; here the list begins", instant())
        }
        "to" if row.handler == "portfolio::history" => {
            ("only what was sampled before these epoch milliseconds; later than `from`", instant())
        }
        "from" => ("only what was placed at these epoch milliseconds or later", instant()),
        "to" => ("only what was placed before these epoch milliseconds", instant()),
        "at" => (
            "as it was answered at a point in the past: `seq:` and a `Rialto-Sequence`, epoch milliseconds, or an instant",
            json!({ "type": "string", "pattern": PAST_POINT, "examples": ["seq:1087", "2026-11-16T09:30:00Z"] }),
        ),
        "query" => ("words, `field:value`, comparisons, AND, OR, NOT, parentheses; without it, all", text()),
        "baseCurrency" => ("the currency that is bought", currency()),
        "transactionCurrency" => ("the currency that it is paid in", currency()),
        "barSize" => ("how long a bar is", json!({ "type": "string", "enum": bar_sizes(), "default": "MIN_1" })),
        "sort" => ("what comes first", json!({ "type": "string", "enum": ["OLDEST", "NEWEST"], "default": "OLDEST" })),
        "level" => (
            "this level and the more important ones",
            json!({ "type": "string", "enum": crate::rest::operations::log::LEVELS }),
        ),
        "after" => after(row),
        "journal" => (
            "the `Rialto-Journal` of the answer that `after` is from: where it is not the journal of this server, 410",
            json!({ "type": "string", "pattern": "^[0-9a-f]{32}$" }),
        ),
        _ => limit(row),
    }
}

fn search_text() -> Value {
    let longest = crate::rest::trading::order_search::SEARCH_TEXT_MAX;
    json!({ "type": "string", "minLength": 1, "maxLength": longest, "pattern": "[^\\s]" })
}

/// A sequence, epoch milliseconds of which the nanoseconds fit into 64 bits, or an instant.
const PAST_POINT: &str = "^(seq:[0-9]{1,18}|[0-9]{1,12}|[1-8][0-9]{12}|2[01][0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])\
    T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)$";

/// A list of sources.
const SOURCES: &str =
    "^(REST|UI|STRATEGY|PLATFORM|FIX(:[!-+\\--~]+)?)(,(REST|UI|STRATEGY|PLATFORM|FIX(:[!-+\\--~]+)?))*$";

fn states() -> Vec<&'static str> {
    BreakState::ALL.iter().map(|state| state.name()).chain(["ALL"]).collect()
}

fn statuses() -> String {
    let names = domain::order::OrdStatus::ALL.map(domain::order::OrdStatus::name).join("|");
    format!("^({names})(,({names}))*$")
}

/// Nanoseconds in 64 bits end here.
fn instant() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX / 1_000_000 })
}

fn currency() -> Value {
    json!({ "type": "string", "pattern": CURRENCY_PATTERN, "examples": ["EUR"] })
}

fn periods() -> [&'static str; domain::ValuePeriod::ALL.len()] {
    domain::ValuePeriod::ALL.map(domain::ValuePeriod::name)
}

fn bar_sizes() -> [&'static str; domain::BarSize::ALL.len()] {
    domain::BarSize::ALL.map(domain::BarSize::name)
}

/// `after` is a key in history, an instant for prices, a line number in the log.
fn after(row: &Endpoint) -> (&'static str, Value) {
    let (says, maximum) = match row.handler {
        "marketdata::bars" => ("only what is later than these epoch milliseconds", i64::MAX.unsigned_abs()),
        "log::lines" => ("only what came after the answer with this `Rialto-After`", ID_LIMIT - 1),
        "security::changes" => ("only what changed after this sequence; without it, all", ID_LIMIT - 1),
        "history::events" | "history::order_events" | "portfolio::history" => {
            ("only what has a higher sequence", ID_LIMIT - 1)
        }
        _ if row.parameters.contains(&"sort") => {
            ("only what has a higher id; where the newest come first, a lower one", ID_LIMIT - 1)
        }
        _ => ("only what has a higher id", ID_LIMIT - 1),
    };
    (says, json!({ "type": "integer", "minimum": 0, "maximum": maximum }))
}

fn limit(row: &Endpoint) -> (&'static str, Value) {
    if row.handler == "transaction::daily" {
        return ("at most so many; without it, all", json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX }));
    }
    if row.handler.starts_with("security::") && row.handler != "security::changes" {
        let schema = json!({ "type": "integer", "minimum": 1, "maximum": PAGE_LIMIT_MAX });
        return ("at most so many; without it and `after`, all", schema);
    }
    let schema = json!({ "type": "integer", "minimum": 1, "maximum": PAGE_LIMIT_MAX, "default": 100 });
    ("at most so many", schema)
}
