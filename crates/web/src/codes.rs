//! Problem codes, with status and meaning: part of the contract with clients. `docs/errors.md` is this table.

use std::sync::LazyLock;

use axum::http::StatusCode;
use domain::refusal::RiskControl;

#[derive(Debug, Clone, Copy)]
pub struct Code {
    pub code: &'static str,
    pub status: u16,
    pub meaning: &'static str,
}

/// The status that goes with a code.
pub fn status_of(code: &str) -> StatusCode {
    let known = CODES.iter().find(|row| row.code == code);
    known.and_then(|row| StatusCode::from_u16(row.status).ok()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

const fn row(status: u16, code: &'static str, meaning: &'static str) -> Code {
    Code { code, status, meaning }
}

/// Every code, by status. Those of the risk gate's numeric controls follow from their own table.
pub static CODES: LazyLock<Vec<Code>> = LazyLock::new(|| {
    let controls = RiskControl::ALL.iter().map(|control| row(422, control.code(), control.meaning()));
    let mut codes: Vec<_> = ROWS.iter().copied().chain(controls).collect();
    codes.sort_by_key(|row| row.status);
    codes
});

/// By status, then in the order of the checks of a request. An `unknown-` code is 404 where the name or id is in the
/// path or in a parameter.
const ROWS: &[Code] = &[
    row(400, "missing-host", "the request has no Host header, or several"),
    row(400, "malformed-path", "a part of the path cannot be read"),
    row(400, "unknown-parameter", "the path does not take this query parameter"),
    row(400, "malformed-parameter", "a query parameter stands twice, or its value cannot be read"),
    row(400, "ambiguous-parameter", "a name in a query parameter fits several things; give the id"),
    row(400, "missing-parameter", "a required query parameter is missing"),
    row(400, "malformed-search", "the search cannot be understood; the detail says at which character"),
    row(400, "malformed-body", "the body broke off or cannot be read"),
    row(400, "malformed-json", "the body is not the JSON that belongs here; the detail says where"),
    row(400, "malformed-field", "a field has the wrong type or form; `errors` names it"),
    row(401, "login-needed", "the path needs a login, and the request has no credentials"),
    row(401, "unreadable-credentials", "the header `Authorization` is neither Basic nor Bearer, or stands twice"),
    row(401, "wrong-credentials", "the user, the password or the token is wrong, or the token has expired"),
    row(401, "session-ended", "the session has ended; log in again"),
    row(403, "role-too-low", "the caller's role may not do this"),
    row(403, "foreign-strategy", "the caller is bound to one strategy, and this belongs to another"),
    row(403, "account-not-permitted", "the user or token may not trade this account"),
    row(403, "security-not-permitted", "the user or token may not trade this security"),
    row(403, "interface-not-permitted", "the user or token may not trade over this interface"),
    row(403, "foreign-host", "the Host header does not name this server"),
    row(403, "foreign-origin", "a page of another origin tried to change something"),
    row(403, "not-local", "only a caller on the server's own machine may do this"),
    row(404, "no-such-path", "nothing is served at this path"),
    row(404, "unknown-pair", "no such currency pair"),
    row(404, "unknown-session", "no such session"),
    row(404, "future-state", "the point of `at` lies in the future"),
    row(404, "pruned-state", "the records of the point of `at` were deleted from the archive"),
    row(405, "method-not-allowed", "the path does not take this method; `Allow` lists those it takes"),
    row(408, "request-timeout", "the body did not arrive in time"),
    row(409, "duplicate-order", "an order with this intId exists and was not touched; `order` and `Location` show it"),
    row(409, "duplicate-transaction", "a transaction with this uuid is recorded already"),
    row(409, "name-taken", "a user or a token already has this name"),
    row(409, "no-admin-left", "there would be users and no admin; the first user must be an admin"),
    row(409, "order-closed", "the order is finished"),
    row(409, "cancel-pending", "the order is being cancelled already"),
    row(409, "replace-pending", "the order is being replaced; wait for the outcome"),
    row(409, "order-waiting", "the order waits for the cancel of others; it can be cancelled, not changed"),
    row(409, "external-order", "the order was not placed here; it can be cancelled and claimed, not changed"),
    row(409, "not-external", "the order was placed here or is claimed already"),
    row(409, "reduce-only-order-open", "the order would grow beside one that may only reduce the position"),
    row(409, "session-connected", "numbers of a FIX session can't be set while its client is connected"),
    row(409, "break-settled", "the break is settled in another way already"),
    row(409, "nothing-to-repair", "the platform cannot repair this break by itself"),
    row(
        409,
        "break-outdated",
        "something was booked since the venue's statement; repair it when the next one has it still",
    ),
    row(409, "no-dead-man-timer", "no dead-man timer of this scope runs"),
    row(409, "dead-man-configured", "the configuration arms the dead-man timer of the platform, so it cannot be ended"),
    row(409, "position-closed", "the position is closed"),
    row(409, "not-runnable", "the strategy is a record: no code of it runs in this server"),
    row(409, "strategy-runs", "the strategy runs already"),
    row(409, "strategy-stopped", "the strategy does not run"),
    row(409, "strategy-failed", "the strategy failed in one of its phases; the detail and the log have the reason"),
    row(409, "phase-order", "the phases of a strategy's life come in order"),
    row(
        410,
        "changes-forgotten",
        "not all changes of securities after `after` are known any more; load the list again",
    ),
    row(
        410,
        "other-journal",
        "`journal` names another journal than the one of this server, so `after` means nothing here; begin again",
    ),
    row(
        412,
        "settings-changed",
        "`If-Match` names settings that are no longer the newest; `ETag` names those that are",
    ),
    row(413, "body-too-large", "the body is longer than the limit"),
    row(413, "settings-too-large", "the settings of a user are longer than the limit"),
    row(414, "url-too-long", "path and query are longer than the limit"),
    row(415, "unsupported-media-type", "the body is not sent as plain `application/json`"),
    row(422, "missing", "a required field is missing"),
    row(422, "unknown-field", "the body has an unknown key; the reason offers the nearest one"),
    row(422, "not-needed", "a field does not belong to this kind of order or role"),
    row(422, "conflicting-fields", "two fields contradict each other"),
    row(422, "common-password", "the password is one of the most common ones"),
    row(
        422,
        "field-fixed",
        "a modification tries to change what cannot change, or a booking is not in its security's currency",
    ),
    row(422, "tif-fixed", "no venue gives a live order this time in force"),
    row(422, "property-not-allowed", "a property such as `postOnly` does not go with this type or time in force"),
    row(422, "field-not-passed", "the venue does not take a FIX field that was to go on to it"),
    row(422, "property-not-offered", "the venue does not offer a property such as `postOnly`"),
    row(422, "venue-order-type", "the venue has no orders of the type"),
    row(422, "venue-tif", "the venue has no such orders with the time in force"),
    row(422, "venue-no-cancel", "the venue takes no cancels"),
    row(422, "venue-replace", "the venue cannot give the order these terms"),
    row(422, "venue-halted", "the venue takes no orders for the security at present"),
    row(422, "venue-cancel-only", "the venue only cancels orders of the security at present"),
    row(422, "venue-delisted", "the venue does not list the security any more"),
    row(422, "venue-unlisted", "the venue does not list the security"),
    row(422, "venue-tick", "a price is no multiple of the venue's tick"),
    row(422, "venue-lot", "the quantity is no multiple of the venue's lot"),
    row(422, "venue-quantity", "the quantity is too small or too large for the venue"),
    row(422, "venue-notional", "price times quantity is too small or too large for the venue"),
    row(422, "other-order", "a field of the request does not belong to this order"),
    row(422, "not-subscribing", "`subscribe` is false at the path that subscribes"),
    row(422, "bad-reference-data", "the files of reference data cannot be used; the detail has the reason"),
    row(
        422,
        "bad-session-file",
        "the file of FIX sessions cannot be used, and nothing has changed; the detail has the reasons",
    ),
    row(422, "unknown-security", "no such security"),
    row(422, "unknown-security-family", "no such security family"),
    row(422, "unknown-account", "no such account"),
    row(422, "unknown-strategy", "no such strategy"),
    row(422, "reserved-strategy", "the strategy EXTERNAL has only orders that were not placed here"),
    row(422, "unknown-user", "no such user"),
    row(422, "unknown-token", "no such token"),
    row(422, "unknown-exchange", "no such exchange"),
    row(422, "unknown-order", "no such order, neither open nor of today"),
    row(422, "unknown-position", "no such position"),
    row(422, "unknown-break", "no such break"),
    row(422, "unknown-transaction", "no such transaction"),
    row(422, "unknown-zone", "the time zone of an exchange is not known"),
    row(422, "not-tradeable", "the security cannot be traded"),
    row(422, "security-expired", "the security has expired"),
    row(422, "account-inactive", "the account is not active"),
    row(422, "no-account", "no active account reaches the exchange"),
    row(422, "account-ambiguous", "several accounts fit; name one"),
    row(422, "no-route", "the account's adapter does not serve that exchange, or the security is not listed there"),
    row(422, "not-positive", "the value must be more than zero"),
    row(422, "not-a-multiple", "the value is not a multiple of the lot or the tick"),
    row(422, "too-small", "the value is below the minimum"),
    row(422, "too-large", "the value is above the maximum"),
    row(422, "amount-too-large", "a number has more digits than can be kept exactly"),
    row(422, "wrong-sign", "the quantity has the wrong sign for this type"),
    row(422, "not-held", "an EXPIRATION must lower a position that is held, and not beyond zero"),
    row(422, "date-in-the-past", "the good-till date lies in the past"),
    row(422, "no-auction", "the exchange has no such auction"),
    row(422, "market-closed", "the exchange is closed, and the order needs an open market"),
    row(
        422,
        "would-flip",
        "the order may only reduce the position, and is larger than the part that no other order closes yet",
    ),
    row(422, "no-rate", "no exchange rate is known"),
    row(422, "cash-unknown", "the account holds a currency without a rate, so its cash is not known"),
    row(422, "exposure-unknown", "the scope holds a currency without a rate, so its exposure is not known"),
    row(422, "trading-halted", "trading is halted in this scope: only cancels pass"),
    row(422, "trading-reducing", "only orders that lower exposure pass in this scope"),
    row(422, "break-open", "a break is above the limit: only cancels pass, and orders that reduce a position"),
    row(422, "restricted-security", "the security is on a restricted list: only cancels pass"),
    row(422, "price-collar", "the price is too far on the aggressive side of the market"),
    row(422, "no-reference-price", "no price is known to check the order against"),
    row(422, "stale-price", "the newest price is too old to check the order against"),
    row(422, "insufficient-cash", "not enough cash in the account"),
    row(422, "self-trade", "the order would trade with one of the same account"),
    row(429, "too-many-attempts", "too many logins from this address are being held already"),
    row(429, "too-many-requests", "more requests in a second than one peer may send; this one had no effect"),
    row(
        429,
        "too-many-unanswered",
        "too many requests of this user or this address wait for their answer; this one had no effect",
    ),
    row(500, "internal", "a fault of the server"),
    row(503, "too-many-connections", "no more connections are served; try again"),
    row(503, "access-unavailable", "users cannot be looked up at the moment; try again"),
    row(503, "adapter-down", "the adapter of the account is not connected; try again"),
    row(503, "adapter-reconciling", "the adapter is comparing orders with its venue; try again soon"),
    row(503, "line-down", "a line of the adapter is down: only cancels pass, and orders that reduce a position"),
    row(503, "door-closed", "the interface that the request is about is switched off on this server"),
    row(503, "prices-unknown", "the leader's prices have not come to this member of the cluster; try again"),
    row(503, "history-behind", "history has not caught up yet; try again"),
    row(503, "busy", "too many requests wait; this one had no effect, try again"),
    row(503, "journal-stalled", "the journal's disk does not answer: nothing is acknowledged before it does"),
    row(
        503,
        "not-leader",
        "this server follows another one of its cluster, which the detail names; nothing was done here",
    ),
    row(503, "stopping", "the server is stopping; the request had no effect"),
    row(503, "outcome-unknown", "no answer came: look the order up by its intId before sending it again"),
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use expect_test::expect_file;

    use super::*;

    fn page() -> String {
        let mut page = String::from(
            "# Errors\n\n\
             A call that fails returns `application/problem+json` (RFC 9457) with `type`, `title`, `status`, `detail` and a stable \
             `code`. Where\nfields are wrong, `errors` has `field`, `code` and `reason` of each. Programs should use the code; \
             the detail is for people.\n\n\
             - An `unknown-` code is 404 where the name or id is in the path or in a query parameter.\n\
             - A 429, and a 503 other than `outcome-unknown` and `door-closed`, has the header `Retry-After`.\n\
             - Headers over the limit get a 431 without a body.\n\n\
             | Status | Code | Meaning |\n|---|---|---|\n",
        );
        for Code { code, status, meaning } in CODES.iter() {
            page.push_str(&format!("| {status} | `{code}` | {meaning} |\n"));
        }
        page
    }

    #[test]
    fn the_documentation_is_this_table() {
        expect_file!["../../../docs/errors.md"].assert_eq(&page());
    }

    /// The codes are the only texts that stand alone behind an arrow in that file.
    #[test]
    fn every_refusal_of_the_domain_has_a_row() {
        let source = include_str!("../../domain/src/refusal/mod.rs");
        let behind_arrows = source.lines().filter_map(|line| line.split_once("=> \"")?.1.strip_suffix("\","));
        let without_row: Vec<_> = behind_arrows.filter(|code| CODES.iter().all(|row| row.code != *code)).collect();
        assert_eq!(without_row, Vec::<&str>::new());
    }

    /// The files of a folder and of the folders in it.
    fn sources(folder: &Path) -> String {
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        paths.map(|path| if path.is_dir() { sources(&path) } else { std::fs::read_to_string(path).unwrap() }).collect()
    }

    /// The parenthesis is escaped so that this very test is not taken for a problem.
    #[test]
    fn every_problem_code_has_a_row() {
        let source = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
        let named = source
            .split("Problem::new\u{28}")
            .filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
        let without_row: Vec<_> = named.filter(|code| CODES.iter().all(|row| row.code != *code)).collect();
        assert_eq!(without_row, Vec::<&str>::new());
    }

    #[test]
    fn a_code_stands_once() {
        let mut codes: Vec<_> = CODES.iter().map(|row| row.code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), CODES.len());
    }
}
