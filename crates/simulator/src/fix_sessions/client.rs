//! Seeded FIX clients: they log on, place, replace and cancel orders, ask for resends, repeat themselves, hang up, and come back with
//! their numbers after every cut and restart.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::{AccountId, SeededRng};

use super::message::{
    CL_ORD_ID, ClientMessage, EXEC_ID, ORD_STATUS, ORDER_ID, ORIG_CL_ORD_ID, POSS_RESEND, PlatformMessage, REF_SEQ_NUM,
    utc,
};
use super::session::{ClientPhase, ClientSession, Moment};
use crate::error_codes::UNEXPECTED_ANSWER;
use crate::invariants::broken_invariant::{BrokenInvariant, InvariantResult, broken};
use crate::market::{Market, Stock, cents};
use crate::network::{ClientInput, ClientNetwork};
use crate::schedule::FIX_CLIENTS;

/// The clients, by their CompIDs: see `SESSION_SETTINGS`.
pub(crate) const COMP_IDS: [&str; FIX_CLIENTS] = ["FIX1", "FIX2"];
/// The client whose orders are cancelled when it is disconnected, in some runs.
pub(crate) const CANCELED_ON_DISCONNECT: usize = 0;

pub(crate) struct FixClient {
    pub(crate) session: ClientSession,
    pub(crate) network: ClientNetwork,
    number: usize,
    market: Arc<Market>,
    account: AccountId,
    named: u64,
    /// By OrderID (37), which is the ClOrdID of the first message.
    orders: BTreeMap<String, ClientOrderView>,
    /// Requests without an answer: number by ClOrdID.
    unanswered: BTreeMap<String, u64>,
    exec_ids: BTreeSet<String>,
    /// It does not connect before then.
    away_until: i64,
}

/// An order as its client knows it.
#[derive(Debug, Clone)]
struct ClientOrderView {
    /// Side, symbol, account, price and so on: what a replace repeats.
    terms: Vec<(i32, String)>,
    /// The ClOrdID (11) that counts.
    current: String,
    is_open: bool,
}

impl FixClient {
    pub(crate) fn new(number: usize, seed: u64, market: Arc<Market>) -> Self {
        Self {
            session: ClientSession::new(COMP_IDS[number]),
            network: ClientNetwork::new(SeededRng::new(seed, 20 + number as u64)),
            number,
            account: market.account_of(number),
            market,
            named: 0,
            orders: BTreeMap::new(),
            unanswered: BTreeMap::new(),
            exec_ids: BTreeSet::new(),
            away_until: 0,
        }
    }

    pub(super) fn market(&self) -> &Market {
        &self.market
    }

    /// Whether it wants a connection now.
    pub(crate) fn wants_connection(&self, now: i64) -> bool {
        self.session.phase == ClientPhase::Away && now >= self.session.retry_at.max(self.away_until)
    }

    /// The first request that was never answered.
    pub(crate) fn unanswered(&self) -> Option<(&String, &u64)> {
        self.unanswered.iter().next()
    }

    /// What has arrived is handled, and what time makes due.
    pub(crate) fn step(&mut self, at: Moment) -> InvariantResult {
        for input in self.network.receive(at.now) {
            match input {
                ClientInput::Closed => self.hang_up(at),
                ClientInput::Bytes(bytes) => {
                    for message in self.session.receive(at, &bytes)? {
                        self.on_message(&message)?;
                    }
                }
            }
        }
        if !self.session.tick(at) {
            self.hang_up(at);
        }
        self.flush(at);
        Ok(())
    }

    fn flush(&mut self, at: Moment) {
        for bytes in self.session.take_outgoing() {
            self.network.send(at.now, bytes);
        }
    }

    fn hang_up(&mut self, at: Moment) {
        self.network.close();
        self.session.on_closed(at);
    }

    /// It hangs up and does not come back before then.
    pub(crate) fn stay_away(&mut self, at: Moment, until: i64) {
        self.away_until = until;
        self.hang_up(at);
    }

    /// What the client does at this draw.
    pub(crate) fn act(&mut self, at: Moment, draw: u64) {
        if !self.session.is_logged_on() {
            return;
        }
        let mut rng = SeededRng::new(draw, 8);
        let open: Vec<String> = self.open_orders();
        match (rng.below(24), rng.pick(&open).cloned()) {
            (0..=3, Some(order)) => self.cancel(at, &order),
            (4..=6, Some(order)) => self.replace(at, &mut rng, &order),
            (7, _) => self.session.request_again(at, rng.below(1 << 20), rng.below(6)),
            (8, _) => self.session.send_last_again(at),
            (9, _) => self.place_again(at),
            (10, _) => self.session.log_out(at),
            (11, _) => self.hang_up(at),
            _ => self.place(at, &mut rng),
        }
        self.flush(at);
    }

    /// A cancel of everything that is open.
    pub(crate) fn cancel_all(&mut self, at: Moment) {
        for order in self.open_orders() {
            self.cancel(at, &order);
        }
        self.flush(at);
    }

    fn open_orders(&self) -> Vec<String> {
        self.orders.iter().filter(|(_, order)| order.is_open).map(|(id, _)| id.clone()).collect()
    }

    fn next_id(&mut self) -> String {
        self.named += 1;
        format!("F{}-{}", self.number + 1, self.named)
    }

    fn request(&mut self, at: Moment, message: ClientMessage) {
        let id = message.get(CL_ORD_ID).unwrap_or_default().to_owned();
        let number = self.session.send(at, message);
        self.unanswered.insert(id, number);
    }

    fn place(&mut self, at: Moment, rng: &mut SeededRng) {
        let id = self.next_id();
        let Stock { security, opening } = self.market.draw_stock(rng);
        let symbol = &security.symbol;
        let is_buy = rng.one_in(2);
        let away = rng.between(-3, 12) * opening / 1_000;
        let price = cents(if is_buy { opening - away } else { opening + away });
        let side = if is_buy { 1 } else { 2 };
        let tif = if rng.one_in(3) { 0 } else { 1 };
        // One in sixteen is larger than the platform allows.
        let quantity = if rng.one_in(16) { 5_000 } else { rng.between(1, 150) };
        let order = ClientMessage::new("D").with(1, self.account).with(CL_ORD_ID, &id).with(38, quantity);
        let order = order.with(40, 2).with(44, price).with(54, side).with(55, symbol).with(59, tif);
        let terms = order.fields.iter().filter(|(tag, _)| !matches!(tag, &CL_ORD_ID | 38)).cloned().collect();
        self.orders.insert(id.clone(), ClientOrderView { terms, current: id, is_open: false });
        self.request(at, order.with(60, utc(at.wall)));
    }

    /// The newest order in a new message, as a client does that was not answered.
    fn place_again(&mut self, at: Moment) {
        let newest = self.session.sent.values().rev().find(|(message, _)| message.msg_type == "D");
        let Some((order, _)) = newest.cloned() else { return };
        let order = if order.get(POSS_RESEND).is_some() { order } else { order.with(POSS_RESEND, "Y") };
        self.session.send(at, order);
    }

    fn cancel(&mut self, at: Moment, order: &str) {
        let id = self.next_id();
        let Some(known) = self.orders.get(order) else { return };
        let mut cancel = ClientMessage::new("F").with(CL_ORD_ID, id).with(ORIG_CL_ORD_ID, &known.current);
        cancel.fields.extend(known.terms.iter().filter(|(tag, _)| matches!(tag, 54 | 55)).cloned());
        self.request(at, cancel.with(60, utc(at.wall)));
    }

    fn replace(&mut self, at: Moment, rng: &mut SeededRng, order: &str) {
        let id = self.next_id();
        let Some(known) = self.orders.get(order) else { return };
        let mut replace = ClientMessage::new("G").with(CL_ORD_ID, id).with(ORIG_CL_ORD_ID, &known.current);
        replace.fields.extend(known.terms.iter().cloned());
        self.request(at, replace.with(38, rng.between(1, 200)).with(60, utc(at.wall)));
    }

    fn on_message(&mut self, message: &PlatformMessage) -> InvariantResult {
        if let Some(id) = message.get(CL_ORD_ID) {
            self.unanswered.remove(id);
        }
        match message.msg_type.as_str() {
            "8" => self.on_report(message),
            "3" => {
                let refused = message.get(REF_SEQ_NUM).and_then(|number| number.parse::<u64>().ok());
                self.unanswered.retain(|_, number| Some(*number) != refused);
                Ok(())
            }
            // The answer to questions, of which these clients have none.
            "j" => Err(self.broken(UNEXPECTED_ANSWER, message.tags())),
            _ => Ok(()),
        }
    }

    fn on_report(&mut self, report: &PlatformMessage) -> InvariantResult {
        let exec_id = report.get(EXEC_ID).unwrap_or_default().to_owned();
        if !self.exec_ids.insert(exec_id.clone()) {
            return Err(self.broken("an ExecID was given twice", format!("{exec_id}: {report}")));
        }
        let order = report.get(ORDER_ID).and_then(|id| self.orders.get_mut(id));
        if let (Some(order), Some(status)) = (order, report.get(ORD_STATUS)) {
            order.is_open = matches!(status, "0" | "1" | "5" | "6" | "A" | "E");
            let counts = if matches!(status, "6" | "E") { ORIG_CL_ORD_ID } else { CL_ORD_ID };
            order.current = report.get(counts).unwrap_or(&order.current).to_owned();
        }
        Ok(())
    }

    fn broken(&self, invariant: &'static str, detail: String) -> BrokenInvariant {
        broken(invariant, format!("{}: {detail}", self.session.comp_id))
    }
}
