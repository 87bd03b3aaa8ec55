//! Fields that describe the security: they must match it, or the order is rejected.

use domain::reference::OptionRight;
use domain::{Date, Security, SecurityKind};
use fix::tag::Tag;

use super::super::field::security_type;
use super::super::field_reader::parse_decimal;

/// Whether a field matches the security.
pub(in crate::translate) fn matches_security(tag: Tag, value: &[u8], security: &Security) -> bool {
    let Ok(value) = std::str::from_utf8(value) else { return false };
    match tag {
        15 | 120 | 947 => security.currency.to_string() == value,
        167 => security_type(&security.kind) == Some(value),
        200 => is_month(value, &security.kind),
        201 => right(&security.kind).is_some_and(|right| value == put_or_call(right)),
        202 => matches!(security.kind, SecurityKind::Option { strike, .. } if parse_decimal(value) == Some(strike.0)),
        231 => parse_decimal(value) == Some(security.contract_size),
        460 => product(&security.kind) == Some(value),
        461 => is_cfi_code(value, &security.kind),
        541 => expiry_date(&security.kind).is_some_and(|end| digits(end) == value),
        854 => value == "0" || (value == "1" && counts_contracts(&security.kind)),
        _ => false,
    }
}

/// `YYYYMM`, or `YYYYMMDD` for the day on which it ends.
fn is_month(value: &str, kind: &SecurityKind) -> bool {
    let month = match kind {
        SecurityKind::Future { month_year, .. } => Some(month_year.to_string()),
        _ => expiry_date(kind).map(|end| digits(end)[..6].to_owned()),
    };
    month.is_some_and(|month| month == value) || expiry_date(kind).is_some_and(|end| digits(end) == value)
}

fn expiry_date(kind: &SecurityKind) -> Option<Date> {
    match kind {
        SecurityKind::Future { expiration, .. } | SecurityKind::Option { expiration, .. } => Some(*expiration),
        SecurityKind::Bond { maturity, .. } => Some(*maturity),
        _ => None,
    }
}

/// The last day of a contract or a bond: `20261218`.
pub(in crate::translate) fn expiry_digits(kind: &SecurityKind) -> Option<String> {
    expiry_date(kind).map(digits)
}

fn digits(date: Date) -> String {
    date.to_string().replace('-', "")
}

fn right(kind: &SecurityKind) -> Option<OptionRight> {
    match kind {
        SecurityKind::Option { right, .. } => Some(*right),
        _ => None,
    }
}

fn put_or_call(right: OptionRight) -> &'static str {
    match right {
        OptionRight::Put => "0",
        OptionRight::Call => "1",
    }
}

/// Product (460) as far as it describes the security and not its underlying.
fn product(kind: &SecurityKind) -> Option<&'static str> {
    match kind {
        SecurityKind::Stock => Some("5"),
        SecurityKind::Forex { .. } => Some("4"),
        SecurityKind::Commodity => Some("2"),
        SecurityKind::Index => Some("7"),
        _ => None,
    }
}

/// CFICode (461) by its first letter, of options by the first two.
fn is_cfi_code(value: &str, kind: &SecurityKind) -> bool {
    let opening = match (kind, right(kind)) {
        (_, Some(OptionRight::Call)) => "OC",
        (_, Some(OptionRight::Put)) => "OP",
        (SecurityKind::Stock, _) => "E",
        (SecurityKind::Future { .. }, _) => "F",
        (SecurityKind::Bond { .. }, _) => "D",
        _ => return false,
    };
    value.starts_with(opening)
}

/// QtyType (854) 1: the quantity counts contracts.
fn counts_contracts(kind: &SecurityKind) -> bool {
    matches!(kind, SecurityKind::Future { .. } | SecurityKind::Option { .. } | SecurityKind::PerpetualSwap)
}

#[cfg(test)]
mod tests {
    use domain::Decimal;

    use super::*;

    fn security(kind: SecurityKind, contract_size: i64) -> Security {
        Security { kind, contract_size: Decimal::from(contract_size), ..samples::stock(1, "AAPL") }
    }

    /// What of the list fits, and what does not.
    fn check(security: &Security, fitting: &[(Tag, &str)], other: &[(Tag, &str)]) {
        for (tag, value) in fitting {
            assert!(matches_security(*tag, value.as_bytes(), security), "{tag}={value}");
        }
        for (tag, value) in other {
            assert!(!matches_security(*tag, value.as_bytes(), security), "{tag}={value}");
        }
    }

    #[test]
    fn a_stock_is_described_as_a_stock() {
        let fitting = [(15, "USD"), (120, "USD"), (167, "CS"), (460, "5"), (461, "ESVUFR"), (231, "1.0"), (854, "0")];
        let other = [
            (15, "EUR"),
            (120, "CHF"),
            (167, "OPT"),
            (460, "4"),
            (461, "OCASPS"),
            (200, "202612"),
            (201, "1"),
            (202, "10"),
            (231, "100"),
            (541, "20261218"),
            (854, "1"),
            (15, "\u{e9}"),
        ];
        check(&security(SecurityKind::Stock, 1), &fitting, &other);
    }

    #[test]
    fn an_option_is_described_by_month_right_and_strike() {
        let expiration = "2026-12-18".parse().unwrap();
        let kind = SecurityKind::Option { expiration, strike: domain::Price::from(10), right: OptionRight::Call };
        let fitting = [
            (167, "OPT"),
            (461, "OCASPS"),
            (200, "202612"),
            (200, "20261218"),
            (201, "1"),
            (202, "10.00"),
            (231, "100"),
            (541, "20261218"),
            (854, "1"),
        ];
        let other = [(461, "OPASPS"), (200, "202701"), (201, "0"), (202, "11"), (541, "20261219"), (460, "5")];
        check(&security(kind, 100), &fitting, &other);
    }

    #[test]
    fn a_future_and_a_bond_end_on_their_day() {
        let expiration = "2026-12-18".parse().unwrap();
        let future = SecurityKind::Future { expiration, month_year: "202612".into(), first_notice: None };
        check(
            &security(future, 50),
            &[(200, "202612"), (541, "20261218"), (461, "FXXXXX"), (854, "1")],
            &[(200, "202603"), (202, "1")],
        );
        let bond = SecurityKind::Bond { maturity: expiration, coupon: Decimal::ONE, coupon_frequency: 2 };
        check(&security(bond, 1), &[(541, "20261218"), (461, "DBXXXX")], &[(854, "1"), (460, "5")]);
    }
}
