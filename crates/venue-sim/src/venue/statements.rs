//! What the venue tells a client that asks, from its own ledger: what it holds for an account, its open orders page by page,
//! and its fills by cursor.

use std::collections::BTreeMap;

use domain::report::{
    ExternalOrder, FillsPage, ListingScope, OpenOrdersPage, ReportKind, VenueBalance, VenuePosition, VenueStatement,
};
use domain::{AccountId, Amount, Currency, Quantity, Security, SecurityKind, Side, Text, Timestamp};

use super::{VenueOutput, VenueSimulator};
use crate::accounts::account::VenueAccount;
use crate::client_orders::client_order::ClientOrder;
use crate::config::UnitCosts;
use crate::record::{SettledAsset, TradeSettlement, VenueRecord};
use crate::task_queue::VenueTask;

impl VenueSimulator {
    /// Opens the accounts with their deposits: the first record of a new ledger.
    pub fn open_accounts(&mut self, at: Timestamp, out: &mut Vec<VenueOutput>) {
        let deposits = self.config.deposits.clone();
        self.record(VenueRecord::Opened { at, deposits }, out);
    }

    /// Asks what the venue holds for an account. The question takes the way of all requests.
    pub fn ask_statement(&mut self, at: Timestamp, account: AccountId, out: &mut Vec<VenueOutput>) {
        if self.start_request(at, out) && !self.reports.loses_request() {
            let arrives = Timestamp(self.now.0.saturating_add(self.config.latency_nanos));
            self.tasks.push(arrives, VenueTask::Statement(account, self.now));
            self.advance(at, out);
        }
    }

    pub(super) fn answer_statement(&mut self, account: AccountId, as_of: Timestamp, out: &mut Vec<VenueOutput>) {
        let statement = self.statement(account, as_of);
        let leaves = self.reports.answer_time(self.now);
        self.schedule_report(ReportKind::Statement(statement), leaves, out);
    }

    fn statement(&self, account: AccountId, as_of: Timestamp) -> VenueStatement {
        let nothing = VenueStatement {
            as_of,
            account,
            cash: vec![],
            positions: vec![],
            cash_complete: false,
            positions_complete: false,
        };
        let Some(held) = self.accounts.get(account) else { return nothing };
        let positions = held.positions().filter(|(security, _)| !self.is_expired(*security));
        let positions = positions.map(|(security, quantity)| VenuePosition { security, quantity }).collect();
        let with_positions = VenueStatement { positions, positions_complete: true, ..nothing };
        // What expired was settled by somebody else, for an amount that is not known here.
        if held.positions().any(|(security, _)| self.is_expired(security)) {
            return with_positions;
        }
        match self.balances(account, &held) {
            Some(cash) => VenueStatement { cash, cash_complete: true, ..with_positions },
            None => with_positions,
        }
    }

    fn is_expired(&self, security: domain::SecurityId) -> bool {
        self.markets.get(&security).is_none_or(|market| market.ends.is_some_and(|end| end <= self.now))
    }

    /// None where a sum does not fit.
    fn balances(&self, account: AccountId, held: &VenueAccount) -> Option<Vec<VenueBalance>> {
        let mut locked: BTreeMap<Currency, Amount> = BTreeMap::new();
        for order in self.orders.unfinished().filter(|order| order.submission.account == account) {
            if let Some((currency, amount)) = self.locked_by(order) {
                let sum = locked.entry(currency).or_default();
                *sum = sum.plus(amount).ok()?;
            }
        }
        let mut totals: BTreeMap<Currency, Amount> = locked.keys().map(|currency| (*currency, Amount::ZERO)).collect();
        totals.extend(held.cash());
        let balance = |(currency, total)| {
            let locked = locked.get(&currency).copied().unwrap_or_default();
            VenueBalance { currency, total, locked }
        };
        Some(totals.into_iter().map(balance).collect())
    }

    /// A buy locks what it may cost at its limit, a sale of a currency what it sells. Orders without a price lock nothing.
    fn locked_by(&self, order: &ClientOrder) -> Option<(Currency, Amount)> {
        let security = &*self.markets.get(&order.security())?.security;
        if security.is_margined() {
            return None;
        }
        let remaining = order.remaining();
        match order.submission.side {
            Side::Buy => {
                let price = order.terms.kind.own_price()?;
                Some((security.currency, remaining.value_at(price, security.contract_size).ok()?))
            }
            Side::Sell => {
                let (base, _) = pair(security)?;
                Some((base, Amount(remaining.times(security.contract_size).ok()?.0)))
            }
        }
    }
}

fn pair(security: &Security) -> Option<(Currency, Currency)> {
    match security.kind {
        SecurityKind::Forex { base, transaction } => Some((base, transaction)),
        _ => None,
    }
}

/// How a client's side of a trade is settled; none where its value does not fit.
pub(super) fn settlement(
    (account, side): (AccountId, Side),
    security: &Security,
    (quantity, price): (Quantity, domain::Price),
    costs: Amount,
) -> Option<TradeSettlement> {
    let quantity = side.signed(quantity);
    let asset = match pair(security) {
        Some((base, _)) => {
            SettledAsset::Currency { base, amount: Amount(quantity.times(security.contract_size).ok()?.0) }
        }
        None if security.is_margined() => SettledAsset::Margined,
        None => SettledAsset::Security,
    };
    let value = quantity.value_at(price, security.contract_size).ok()?;
    let currency = pair(security).map_or(security.currency, |(_, transaction)| transaction);
    Some(TradeSettlement { account, quantity, currency, value, costs, asset })
}

/// Commissions, and the fee that the venue reported, else the usual one.
pub(super) fn costs(unit: UnitCosts, quantity: Quantity, fee: Option<Amount>) -> Option<Amount> {
    let commission = unit.commission.times(quantity.0).ok()?;
    let fee = match fee {
        Some(fee) => fee,
        None => unit.fee.times(quantity.0).ok()?,
    };
    commission.plus(fee).ok()
}

/// Orders on one page.
pub const OPEN_ORDERS_PER_PAGE: usize = 100;
/// Fills on one page.
pub const FILLS_PER_PAGE: usize = 500;

impl VenueSimulator {
    /// Asks for all open orders.
    pub fn list_open_orders(&mut self, at: Timestamp, out: &mut Vec<VenueOutput>) {
        self.ask(at, VenueTask::ListOpenOrders, out);
    }

    /// Asks for the fills after a cursor: the number of the last one that was listed.
    pub fn list_fills(&mut self, at: Timestamp, cursor: Option<&Text>, out: &mut Vec<VenueOutput>) {
        match cursor.map(|cursor| cursor.parse()).transpose() {
            Ok(after) => self.ask(at, |now| VenueTask::ListFills(now, after), out),
            Err(_) => {
                let reason = Text::from("the cursor is not a number");
                let said = ReportKind::ListingFailed { scope: ListingScope::Fills(None), reason };
                self.schedule_report(said, self.now, out);
            }
        }
    }

    /// Orders of somebody else come as reports of their own, before the client's.
    pub(super) fn answer_open_orders(&mut self, as_of: Timestamp, out: &mut Vec<VenueOutput>) {
        self.tell_externals(self.orders.open_externals(), out);
        let orders = self.orders.list_open();
        let pages: Vec<_> =
            if orders.is_empty() { vec![&[][..]] } else { orders.chunks(OPEN_ORDERS_PER_PAGE).collect() };
        for (page, orders) in pages.iter().enumerate() {
            let leaves = self.reports.answer_time(self.now);
            let last = page + 1 == pages.len();
            let page = u32::try_from(page).unwrap_or(u32::MAX);
            let said = OpenOrdersPage { as_of, dead_after: None, page, last, orders: orders.to_vec() };
            self.schedule_report(ReportKind::OpenOrders(said), leaves, out);
        }
    }

    fn tell_externals(&mut self, externals: Vec<ExternalOrder>, out: &mut Vec<VenueOutput>) {
        for external in externals {
            let leaves = self.reports.answer_time(self.now);
            self.schedule_report(ReportKind::External(Box::new(external)), leaves, out);
        }
    }

    /// From the oldest fill that is kept, where the cursor is older.
    pub(super) fn answer_fills(&mut self, as_of: Timestamp, after: Option<u64>, out: &mut Vec<VenueOutput>) {
        let listed = self.orders.list_fills(after, FILLS_PER_PAGE);
        let from = after.filter(|_| !listed.is_cut).map(|number| number.to_string().into());
        self.tell_externals(listed.externals, out);
        let next_cursor = Some(listed.end.to_string().into());
        let page = FillsPage { security: None, from, fills: listed.fills, next_cursor, last: listed.is_last, as_of };
        let leaves = self.reports.answer_time(self.now);
        self.schedule_report(ReportKind::Fills(page), leaves, out);
    }
}
