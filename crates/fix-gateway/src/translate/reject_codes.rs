//! Reject codes: OrdRejReason, CxlRejReason, MassCancelRejectReason for our refusal codes. Without a better one it is
//! `other`, and Text has the rest.

use domain::refusal::RiskControl;

/// OrdRejReason (103).
pub(crate) const VENUE_REFUSED: u64 = 0;
pub(crate) const UNKNOWN_SYMBOL: u64 = 1;
pub(crate) const UNSUPPORTED: u64 = 11;
pub(crate) const UNKNOWN_ACCOUNT: u64 = 15;
const EXCHANGE_CLOSED: u64 = 2;
const ABOVE_LIMIT: u64 = 3;
pub(crate) const ORD_REJ_UNKNOWN_ORDER: u64 = 5;
pub(crate) const DUPLICATE_ORDER: u64 = 6;
const INCORRECT_QUANTITY: u64 = 13;

/// CxlRejReason (102).
pub(crate) const TOO_LATE: u64 = 0;
pub(crate) const UNKNOWN_ORDER: u64 = 1;
const VENUE_OPTION: u64 = 2;
const ALREADY_PENDING: u64 = 3;
const DUPLICATE_CL_ORD_ID: u64 = 6;

/// MassCancelRejectReason (532).
const MASS_CANCEL_NOT_SUPPORTED: u64 = 0;
const MASS_CANCEL_UNKNOWN_SECURITY: u64 = 1;

/// BusinessRejectReason (380).
pub(crate) const UNANSWERABLE: u64 = 0;
pub(crate) const UNKNOWN_SECURITY: u64 = 2;
pub(crate) const NOT_AVAILABLE: u64 = 4;

/// Of OrdRejReason and CxlRejReason.
pub(crate) const OTHER: u64 = 99;

/// The code of a term that could change an execution and is not supported.
pub(crate) const TERM_NOT_OFFERED: &str = "term-not-offered";

/// OrdRejReason for the code of a refusal.
pub(crate) fn ord_rej_reason(code: &str, text: &str) -> u64 {
    match code {
        "unknown-security" | "security-ambiguous" | "not-tradeable" | "security-expired" | "venue-unlisted"
        | "venue-delisted" => UNKNOWN_SYMBOL,
        "market-closed" | "venue-halted" | "venue-cancel-only" => EXCHANGE_CLOSED,
        "venue-lot" | "venue-quantity" => INCORRECT_QUANTITY,
        "insufficient-cash" | "price-collar" => ABOVE_LIMIT,
        "unknown-order" => ORD_REJ_UNKNOWN_ORDER,
        "duplicate-order" => DUPLICATE_ORDER,
        "no-auction"
        | "order-type-not-offered"
        | "property-not-offered"
        | "property-not-allowed"
        | "field-not-passed"
        | "venue-order-type"
        | "venue-tif"
        | TERM_NOT_OFFERED => UNSUPPORTED,
        "unknown-account" | "account-inactive" | "no-account" => UNKNOWN_ACCOUNT,
        // These concern a quantity or a price, and the text begins with which.
        "not-positive" | "not-a-multiple" | "too-small" | "too-large" if text.starts_with("quantity") => {
            INCORRECT_QUANTITY
        }
        // Here the content of the order is the reason, not its size.
        "duplicate-content" => OTHER,
        _ if RiskControl::ALL.iter().any(|control| control.code() == code) => ABOVE_LIMIT,
        _ => OTHER,
    }
}

/// CxlRejReason for the code of a refusal.
pub(crate) fn cxl_rej_reason(code: &str) -> u64 {
    match code {
        "order-closed" => TOO_LATE,
        "unknown-order" => UNKNOWN_ORDER,
        "adapter-down" | "adapter-reconciling" | "line-down" | "venue-replace" | "venue-tif" | "venue-no-cancel" => {
            VENUE_OPTION
        }
        "cancel-pending" | "replace-pending" | "order-waiting" => ALREADY_PENDING,
        "duplicate-order" => DUPLICATE_CL_ORD_ID,
        _ => OTHER,
    }
}

/// MassCancelRejectReason for a rejection. The field is a single letter, so dictionaries reject the 99 (other) of FIX
/// 4.4, and Text has the rest.
pub(crate) fn mass_cancel_reject_reason(reason: u64) -> u64 {
    match reason {
        UNKNOWN_SYMBOL => MASS_CANCEL_UNKNOWN_SECURITY,
        _ => MASS_CANCEL_NOT_SUPPORTED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/fix.md");

    /// The rows of the table in the documentation: code, 103, 102.
    fn rows() -> Vec<[&'static str; 3]> {
        let (_, rest) = PAGE.split_once("<!-- codes:").unwrap();
        let (table, _) = rest.split_once("<!-- end of codes -->").unwrap();
        let row = |line: &'static str| {
            let mut cells = line.strip_prefix("| `")?.split('|').map(|cell| cell.trim().trim_end_matches('`'));
            Some([cells.next()?, cells.next()?, cells.next()?])
        };
        table.lines().filter_map(row).collect()
    }

    #[test]
    fn the_page_lists_codes_with_their_reasons() {
        let rows = rows();
        assert!(rows.len() > 40, "{} rows", rows.len());
        for [code, of_an_order, of_a_request] in rows {
            let fits = |shown: &str, reason: u64| shown == "-" || shown == reason.to_string();
            assert!(
                fits(of_an_order, ord_rej_reason(code, "quantity")),
                "{code}: 103={}",
                ord_rej_reason(code, "quantity")
            );
            assert!(fits(of_a_request, cxl_rej_reason(code)), "{code}: 102={}", cxl_rej_reason(code));
        }
    }
}
