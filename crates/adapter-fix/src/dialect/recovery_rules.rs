//! The recovery rules of a dialect file: how the venue is asked about orders and executions.

use super::model::{Dialect, ExecIdRule, FixVersion, OrderQuery, RecoveryRules, SessionRules};
use super::section::{Problems, Section, TAG_MAX};

const RECOVERY_KEYS: &[&str] = &[
    "resend",
    "orders",
    "trades",
    "positions",
    "snapshot",
    "openOrders",
    "fills",
    "fillsLimitTag",
    "endedOrdersTag",
    "requestLifeSeconds",
    "readLagMillis",
];

pub(super) fn recovery(
    section: &Section<'_>,
    version: FixVersion,
    session: &SessionRules,
    problems: &mut Problems<'_>,
) -> RecoveryRules {
    section.check_keys(RECOVERY_KEYS, problems);
    let queries = [
        ("status", OrderQuery::Status),
        ("mass-status", OrderQuery::MassStatus),
        ("adapter", OrderQuery::Adapter),
        ("none", OrderQuery::None),
    ];
    let ways = [("none", (false, false)), ("capture", (true, false)), ("inferred", (false, true))];
    let (trades, infers_fills) = section.choice("trades", &ways, problems).unwrap_or_default();
    let rules = RecoveryRules {
        resend: section.flag("resend", !session.reset_on_logon, problems),
        orders: section.choice("orders", &queries, problems).unwrap_or(OrderQuery::None),
        trades,
        infers_fills,
        positions: section.choice("positions", &[("none", false), ("request", true)], problems).unwrap_or(false),
        snapshot: section.flag("snapshot", false, problems),
        open_orders: section.flag("openOrders", false, problems),
        fills: section.flag("fills", false, problems),
        fills_limit_tag: section.whole("fillsLimitTag", 1..=TAG_MAX, problems),
        ended_orders_tag: section.whole("endedOrdersTag", 1..=TAG_MAX, problems),
        request_life_seconds: section.whole("requestLifeSeconds", 1..=86_400, problems),
        read_lag_millis: section.whole("readLagMillis", 0..=600_000, problems).unwrap_or(0),
    };
    if rules.resend && session.reset_on_logon {
        let reason = "numbers that begin at 1 at each log-on leave nothing to send again (session.resetOnLogon)";
        section.refuse::<()>("resend", reason, problems);
    }
    if !rules.resend && rules.orders == OrderQuery::None {
        section.refuse::<()>(
            "orders",
            "without resends the venue must be asked: status, mass-status or adapter",
            problems,
        );
    }
    if rules.orders == OrderQuery::MassStatus && version == FixVersion::Fix42 {
        section.refuse::<()>("orders", "FIX.4.2 has no Order Mass Status Request", problems);
    }
    check_account_questions(section, version, &rules, problems);
    rules
}

fn check_account_questions(
    section: &Section<'_>,
    version: FixVersion,
    rules: &RecoveryRules,
    problems: &mut Problems<'_>,
) {
    let is_old = version == FixVersion::Fix42;
    let asked = [("trades", rules.trades), ("positions", rules.positions), ("openOrders", rules.open_orders)];
    for (key, _) in asked.iter().filter(|(_, set)| *set && is_old) {
        section.refuse::<()>(key, "FIX.4.2 has no such request", problems);
    }
    if rules.snapshot && !rules.trades {
        section.refuse::<()>(
            "snapshot",
            "orders without their executions are none: trades = \"capture\" is needed",
            problems,
        );
    }
    if rules.fills && !rules.trades {
        section.refuse::<()>("fills", "executions are listed by AD: trades = \"capture\" is needed", problems);
    }
    if rules.fills_limit_tag.is_some() && !rules.fills {
        section.refuse::<()>("fillsLimitTag", "no executions are listed: fills = true is needed", problems);
    }
    let needs_answers = rules.trades || rules.infers_fills;
    if needs_answers && matches!(rules.orders, OrderQuery::Adapter | OrderQuery::None) {
        section.refuse::<()>(
            "trades",
            "executions are part of the answer about an order: orders is status or mass-status",
            problems,
        );
    }
}

/// How lost executions come back must fit how they are told.
pub(super) fn check_lost_executions(dialect: &Dialect, section: &Section<'_>, problems: &mut Problems<'_>) {
    let (recovery, executions) = (&dialect.recovery, &dialect.executions);
    if recovery.trades && executions.exec_ids == ExecIdRule::Repeat {
        let reason = "ids that begin at 1 again need CumQty (14), which a Trade Capture Report does not have";
        section.refuse::<()>("trades", reason, problems);
    }
    if recovery.infers_fills && executions.fill_group {
        let reason = "a status report has the executions itself (executions.fillGroup), so none may be inferred";
        section.refuse::<()>("trades", reason, problems);
    }
}
