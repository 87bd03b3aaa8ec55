//! Trades that sessions have reported, for a program that must know which reports a client can still have: a report is kept with its
//! number until numbers begin anew, and is never sent again then.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fix::{SOH, SeqNum};

/// A trade by its ExecID (17), and the number of the message that reported it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedTrade {
    pub number: SeqNum,
    pub exec_id: String,
}

/// Shared by the sessions and the program that asks.
#[derive(Clone, Default)]
pub(crate) struct ReportedTrades(Arc<Mutex<TradeReports>>);

#[derive(Default)]
struct TradeReports {
    /// By session: what a client can ask for again.
    kept: BTreeMap<String, Vec<ReportedTrade>>,
    /// What it cannot any more.
    dropped: Vec<ReportedTrade>,
}

impl ReportedTrades {
    /// What the session has sent; other messages than reports of trades are left out.
    pub(super) fn add(&self, session: &str, number: SeqNum, message: &[u8]) {
        let Some(exec_id) = traded_exec_id(message) else { return };
        let mut reports = self.lock();
        reports.kept.entry(session.to_owned()).or_default().push(ReportedTrade { number, exec_id });
    }

    /// The session's numbers begin anew.
    pub(super) fn drop_all(&self, session: &str) {
        let mut reports = self.lock();
        let dropped = reports.kept.remove(session).unwrap_or_default();
        reports.dropped.extend(dropped);
    }

    pub(crate) fn kept(&self) -> Vec<ReportedTrade> {
        self.lock().kept.values().flatten().cloned().collect()
    }

    /// Dropped since this was asked last.
    pub(crate) fn take_dropped(&self) -> Vec<ReportedTrade> {
        std::mem::take(&mut self.lock().dropped)
    }

    fn lock(&self) -> MutexGuard<'_, TradeReports> {
        // Each change is one statement.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The ExecID (17) of a report with ExecType (150) F and a quantity.
fn traded_exec_id(message: &[u8]) -> Option<String> {
    let value = |tag: &[u8]| {
        let field = message.split(|byte| *byte == SOH).find_map(|field| field.strip_prefix(tag));
        field.and_then(|value| std::str::from_utf8(value).ok())
    };
    // Under the fault `odd-fills` a report with the same ExecID has none.
    let has_quantity = value(b"32=")?.bytes().any(|digit| (b'1'..=b'9').contains(&digit));
    let is_trade = value(b"35=") == Some("8") && value(b"150=") == Some("F") && has_quantity;
    value(b"17=").filter(|_| is_trade).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trades_are_kept_until_the_numbers_of_their_session_begin_anew() {
        let report = |fields: &str| format!("8=FIX.4.4|35=8|{fields}|10=000|").replace('|', "\x01").into_bytes();
        let reports = ReportedTrades::default();
        reports.add("A", 2, &report("17=BTC-5|150=F|32=0.5"));
        reports.add("A", 3, &report("17=BTC-6|150=0|32=0"));
        reports.add("A", 4, &report("17=BTC-7|150=F|32=0"));
        reports.add("B", 2, &report("17=BTC-5|150=F|32=0.5"));
        let trade = ReportedTrade { number: 2, exec_id: "BTC-5".to_owned() };
        assert_eq!((reports.kept(), reports.take_dropped()), (vec![trade.clone(), trade.clone()], vec![]));
        reports.drop_all("A");
        assert_eq!((reports.kept(), reports.take_dropped()), (vec![trade.clone()], vec![trade]));
        assert_eq!(reports.take_dropped(), vec![], "once");
    }
}
