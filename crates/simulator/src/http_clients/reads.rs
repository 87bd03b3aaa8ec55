//! Reads over HTTP: positions and open orders that a trader was shown are those that the journal gives at the sequence of the answer.

use std::collections::{BTreeMap, BTreeSet};

use domain::{Decimal, Event};
use serde_json::Value;
use web::{PlainRequest, PlainResponse};

use super::line::{HttpNews, HttpTicket};
use super::request::code_of;
use crate::error_codes::{JOURNAL_STALLED, StallSeen, UNAVAILABLE, UNEXPECTED_ANSWER, no_server_fault};
use crate::invariants::books::JournalBooks;
use crate::invariants::broken_invariant::{InvariantResult, broken, ensure};

const NOT_THE_STATE: &str = "a read over HTTP is not the state of its sequence";

/// Strategy, account and security by their numbers, and how much is held.
type HeldQuantities = BTreeMap<[u64; 3], Decimal>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadTarget {
    Positions,
    OpenOrders,
}

/// What an answer shows, without positions that are closed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ShownState {
    Positions(HeldQuantities),
    OpenOrders(BTreeSet<String>),
}

/// The reads of a run. They outlive the process: the record against the platform.
#[derive(Default)]
pub(crate) struct HttpReads {
    waiting: Vec<(ReadTarget, HttpTicket)>,
    /// By sequence; not compared yet.
    shown: Vec<(u64, ShownState)>,
    /// How much of the journal is in what follows.
    through: u64,
    held: HeldQuantities,
    open: BTreeSet<String>,
    /// Asked, and compared with the journal.
    pub(crate) counts: [u64; 2],
    /// By code.
    pub(crate) refusals: BTreeMap<String, u64>,
}

impl HttpReads {
    /// What is read at this draw.
    pub(crate) fn request(&mut self, draw: u64, send: impl FnOnce(PlainRequest) -> HttpTicket) {
        let target = if draw.is_multiple_of(2) { ReadTarget::Positions } else { ReadTarget::OpenOrders };
        let path = match target {
            ReadTarget::Positions => "/rest/position",
            ReadTarget::OpenOrders => "/rest/execution/order",
        };
        self.counts[0] += 1;
        self.waiting
            .push((target, send(PlainRequest { method: "GET", path: path.to_owned(), body: vec![], sender: None })));
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// How many were answered with what they asked for, compared by now or not.
    pub(crate) fn answered(&self) -> u64 {
        self.counts[1] + self.shown.len() as u64
    }

    /// Takes answers that have come. A platform that runs owes one to every read; it may refuse, while its disk hangs.
    pub(crate) fn receive(&mut self, is_running: bool, stall: StallSeen) -> InvariantResult {
        for (target, mut ticket) in std::mem::take(&mut self.waiting) {
            match ticket.try_recv() {
                None => self.waiting.push((target, ticket)),
                Some(HttpNews::Dropped) => {
                    ensure(!is_running, "an answer was dropped", || format!("a read of {target:?}"))?;
                }
                // The client asks no more.
                Some(HttpNews::LineLost) => {}
                Some(HttpNews::Answer(response)) if response.status == 200 => {
                    let shown = parse(target, &response);
                    let told = || String::from_utf8_lossy(&response.body).into_owned();
                    self.shown.push(shown.ok_or_else(|| broken(NOT_THE_STATE, told()))?);
                }
                Some(HttpNews::Answer(response)) => self.on_refusal(target, &response, stall)?,
            }
        }
        Ok(())
    }

    /// Nothing else than that the platform cannot answer now is a right answer to a read.
    fn on_refusal(&mut self, target: ReadTarget, response: &PlainResponse, stall: StallSeen) -> InvariantResult {
        let code = code_of(response);
        let told = || format!("a read of {target:?}: {} {code}", response.status);
        no_server_fault(&code, told)?;
        ensure(response.status == UNAVAILABLE && code == JOURNAL_STALLED, UNEXPECTED_ANSWER, told)?;
        stall.excuses(&code, told)?;
        *self.refusals.entry(code).or_default() += 1;
        Ok(())
    }

    /// What was shown is what the journal gives.
    pub(crate) fn check(&mut self, books: &JournalBooks) -> InvariantResult {
        self.shown.sort_by_key(|(sequence, _)| *sequence);
        for (sequence, shown) in std::mem::take(&mut self.shown) {
            self.fold_to(books, sequence);
            let due = match shown {
                ShownState::Positions(_) => ShownState::Positions(self.held.clone()),
                ShownState::OpenOrders(_) => ShownState::OpenOrders(self.open.clone()),
            };
            ensure(shown == due, NOT_THE_STATE, || format!("at {sequence}: {shown:?}, the journal gives {due:?}"))?;
            self.counts[1] += 1;
        }
        Ok(())
    }

    fn fold_to(&mut self, books: &JournalBooks, sequence: u64) {
        let new = books.events.range(self.through + 1..).take_while(|(at, _)| **at <= sequence);
        for (at, events) in new {
            events.iter().for_each(|event| fold(&mut self.held, &mut self.open, event));
            self.through = *at;
        }
    }
}

fn fold(held: &mut HeldQuantities, open: &mut BTreeSet<String>, event: &Event) {
    match event {
        Event::Order(order) if order.is_open() => drop(open.insert(order.int_id.as_str().to_owned())),
        Event::Order(order) => drop(open.remove(order.int_id.as_str())),
        Event::Transaction(transaction) => {
            let Some(security) = transaction.security else { return };
            let place = [transaction.strategy.0, transaction.account.0, security.0];
            let quantity = held.remove(&place).unwrap_or_default() + transaction.quantity.0;
            if !quantity.is_zero() {
                held.insert(place, quantity);
            }
        }
        _ => {}
    }
}

fn parse(target: ReadTarget, response: &PlainResponse) -> Option<(u64, ShownState)> {
    let rows: Vec<Value> = serde_json::from_slice(&response.body).ok()?;
    let number = |row: &Value, name: &str| row[name].as_u64();
    let shown = match target {
        ReadTarget::OpenOrders => {
            let id = |row: &Value| row["intId"].as_str().map(str::to_owned);
            ShownState::OpenOrders(rows.iter().map(id).collect::<Option<_>>()?)
        }
        ReadTarget::Positions => {
            let row = |row: &Value| {
                let place = [number(row, "strategyId")?, number(row, "accountId")?, number(row, "securityId")?];
                Some((place, row["quantity"].to_string().parse::<Decimal>().ok()?))
            };
            let all = rows.iter().map(row).collect::<Option<Vec<_>>>()?;
            ShownState::Positions(all.into_iter().filter(|(_, quantity)| !quantity.is_zero()).collect())
        }
    };
    Some((response.sequence?, shown))
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    /// What becomes of a read that is answered so.
    fn read(status: u16, body: &str, is_stalled: bool) -> Result<HttpReads, String> {
        let (answer, ticket) = oneshot::channel();
        let mut reads = HttpReads::default();
        reads.request(0, |_| HttpTicket::arrived(ticket));
        let response = PlainResponse { status, body: body.as_bytes().to_vec(), ..PlainResponse::default() };
        answer.send(response).unwrap();
        reads.receive(true, StallSeen { is_recent: is_stalled }).map_err(|broken| broken.to_string())?;
        Ok(reads)
    }

    #[test]
    fn a_read_may_be_refused_while_the_platform_cannot_answer_and_not_otherwise() {
        let stalled = r#"{"code":"journal-stalled"}"#;
        assert_eq!(read(503, stalled, true).unwrap().refusals["journal-stalled"], 1);
        assert_eq!(
            read(503, stalled, false).err().unwrap(),
            "a stall was told of a disk that answers: a read of Positions: 503 journal-stalled"
        );
        assert_eq!(
            read(503, r#"{"code":"busy"}"#, true).err().unwrap(),
            "an answer that no client expects: a read of Positions: 503 busy"
        );
        assert_eq!(
            read(500, r#"{"code":"internal"}"#, false).err().unwrap(),
            "a fault of the server: a read of Positions: 500 internal"
        );
        assert_eq!(
            read(404, r#"{"code":"no-such-path"}"#, false).err().unwrap(),
            "an answer that no client expects: a read of Positions: 404 no-such-path"
        );
    }
}
