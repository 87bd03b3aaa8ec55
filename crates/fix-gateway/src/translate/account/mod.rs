//! What an account has done and holds: Trade Capture Reports (AD, AQ, AE) and positions (AN, AO, AP).

mod position_report;
mod position_request;
mod trade_report;
mod trade_request;

use domain::{ReferenceData, SecurityId, Timestamp};
use fix::{OutgoingMessage, UtcTimestamp};

use super::field;

pub(crate) use position_report::{HeldPosition, PositionAnswer, held_positions, position_report, positions_ack};
pub(crate) use position_request::{PositionRefusal, PositionRequest};
pub(crate) use trade_report::{CapturedTrade, ReportPlace, captured_trades, trade_report, trades_ack};
pub(crate) use trade_request::{TradeRefusal, TradeRequest};

/// Digits of a date: `20260105`.
const DATE_DIGITS: usize = 8;

/// The day in UTC.
fn utc_date(at: Timestamp) -> String {
    let mut time = Vec::new();
    UtcTimestamp::from_nanos(at.0).write(0, &mut time);
    String::from_utf8_lossy(&time[..time.len().min(DATE_DIGITS)]).into_owned()
}

fn write_security(security: SecurityId, reference: &ReferenceData, report: &mut OutgoingMessage) {
    report.number(field::SECURITY_ID, security.0);
    let known = reference.securities.get(&security);
    report.field(field::SYMBOL, known.map_or(field::NONE, |security| &security.symbol));
    if let Some(kind) = known.and_then(|security| field::security_type(&security.kind)) {
        report.field(field::SECURITY_TYPE, kind);
    }
}
