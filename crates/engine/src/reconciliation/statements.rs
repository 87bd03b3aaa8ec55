//! Statements of venues against our books.
//!
//! A statement may have a fill that has not come to us yet, and may lack one that came since it was asked. So it is compared
//! with every value that our books had in the meantime, and a difference counts when two statements in a row have it. A
//! difference is never booked: it becomes a break.

use std::collections::BTreeSet;

use domain::breaks::{BreakKind, BreakRepair, BreakSide, Difference};
use domain::report::VenueStatement;
use domain::{AccountId, AdapterName, Amount, Instruction, Quantity, SecurityId, SecurityKind, Timestamp};

use super::listings::{StatementListing, SuspectedDifferences};
use super::schedule::{LISTING_RETRY_SECONDS, LISTINGS_AT_ONCE};
use crate::outbox::{Moment, Outbox};
use crate::portfolio::{StatedAsset, StatementWindow, stated_total};
use crate::trading::Trading;

impl Trading {
    /// A session begins: the venue states every account of the adapter.
    pub(crate) fn start_statements(&mut self, moment: Moment, adapter: &AdapterName, out: &mut Outbox) {
        let accounts = self.stated_accounts(adapter);
        let is_compared = self.settings.reconciliation.statements_seconds > 0 && !accounts.is_empty();
        let begin = |account: &AccountId| (*account, StatementListing::starting_at(moment.at));
        self.listings.insert(adapter, |venue| {
            venue.statements = is_compared.then(|| accounts.iter().map(begin).collect());
        });
        for account in accounts {
            self.ask_statement(moment, adapter, account, out);
        }
    }

    fn stated_accounts(&self, adapter: &AdapterName) -> Vec<AccountId> {
        if !self.adapters.gives_statements(adapter) {
            return vec![];
        }
        let accounts = self.reference.data().accounts.values();
        let stated = accounts.filter(|account| account.active && account.adapter() == *adapter);
        stated.map(|account| account.id).collect()
    }

    /// Once a day everything is stated, also of accounts that are new.
    pub(super) fn state_day(&mut self, moment: Moment, adapter: &AdapterName) {
        let accounts = self.stated_accounts(adapter);
        self.listings.change(adapter, |venue| {
            let Some(statements) = venue.statements.as_mut() else { return };
            let is_connected = statements.values().any(|listing| listing.ask_at.is_some());
            statements.retain(|account, _| accounts.contains(account));
            for account in accounts.iter().filter(|_| is_connected) {
                let listing = statements.entry(*account).or_insert_with(|| StatementListing::starting_at(moment.at));
                (listing.ask_at, listing.is_prepared) = (Some(moment.at), false);
            }
        });
    }

    /// Asks for the statements that are due. What the venue answers may lack what was new at the question by its read lag, so
    /// our books are remembered from before it.
    pub(super) fn send_statements(&mut self, moment: Moment, adapter: &AdapterName, out: &mut Outbox) {
        let lag_millis = self.adapters.read_lag_millis(adapter);
        let due = self.listings.get(adapter).map(|venue| venue.due_statements(moment.at)).unwrap_or_default();
        for (place, account) in due.into_iter().enumerate() {
            if place >= LISTINGS_AT_ONCE {
                self.schedule_statement(adapter, account, (moment.at.plus_seconds(1), false));
                continue;
            }
            let is_prepared = self.listings.get(adapter).is_some_and(|venue| venue.is_prepared(account));
            if lag_millis > 0 && !is_prepared {
                self.portfolio.open_window(account, moment.at, self.reference.data());
                self.schedule_statement(adapter, account, (moment.at.plus_millis(lag_millis), true));
            } else {
                self.ask_statement(moment, adapter, account, out);
            }
        }
    }

    fn ask_statement(&mut self, moment: Moment, adapter: &AdapterName, account: AccountId, out: &mut Outbox) {
        out.instruct(adapter, Instruction::AskStatement(account));
        let is_compared = self.listings.get(adapter).is_some_and(|venue| venue.statements.is_some());
        if !is_compared {
            return;
        }
        if !self.listings.get(adapter).is_some_and(|venue| venue.is_prepared(account)) {
            self.portfolio.open_window(account, moment.at, self.reference.data());
        }
        self.schedule_statement(adapter, account, (moment.at.plus_seconds(LISTING_RETRY_SECONDS), false));
    }

    fn schedule_statement(&mut self, adapter: &AdapterName, account: AccountId, (at, is_prepared): (Timestamp, bool)) {
        self.listings.change(adapter, |venue| {
            if let Some(listing) = venue.statement_mut(account) {
                (listing.ask_at, listing.is_prepared) = (Some(at), is_prepared);
            }
        });
    }

    pub(crate) fn on_statement(
        &mut self,
        moment: Moment,
        adapter: &AdapterName,
        statement: &VenueStatement,
        out: &mut Outbox,
    ) {
        let account = self.reference.account(statement.account);
        if !account.is_ok_and(|account| account.adapter() == *adapter) {
            let text =
                format!("{adapter} gives a statement of account {}, which does not trade there", statement.account);
            return out.error("foreign-statement", text);
        }
        if !self.portfolio.keep_statement(statement, out) {
            return;
        }
        let Some(window) = self.portfolio.close_window(statement.account, statement.as_of) else { return };
        let pause_seconds = i64::from(self.settings.reconciliation.statements_seconds);
        let next = moment.at.plus_seconds(pause_seconds);
        let suspected = self.listings.change(adapter, |venue| venue.on_stated(statement, next)).flatten();
        let Some(suspected) = suspected else { return };
        let suspected = self.compare_statement(moment, (adapter, statement), &window, &suspected, out);
        self.listings.change(adapter, |venue| {
            if let Some(listing) = venue.statement_mut(statement.account) {
                listing.suspected = suspected;
            }
        });
    }

    /// The differences that the next statement may confirm.
    fn compare_statement(
        &mut self,
        moment: Moment,
        (adapter, statement): (&AdapterName, &VenueStatement),
        window: &StatementWindow,
        before: &SuspectedDifferences,
        out: &mut Outbox,
    ) -> SuspectedDifferences {
        let mut agreed = BTreeSet::new();
        let mut suspected = SuspectedDifferences::new();
        for asset in self.assets_to_compare(moment, (adapter, statement), window, before) {
            let Some((theirs, found)) = differences(statement, window, asset) else { continue };
            if found.iter().any(|difference| difference.is_zero()) {
                agreed.insert(asset);
                continue;
            }
            if self.is_explained(adapter, statement.account, asset) {
                continue;
            }
            let known = before.get(&asset).map_or(&[][..], Vec::as_slice);
            let again: Vec<Amount> = found.iter().filter(|difference| known.contains(difference)).copied().collect();
            if let Some(confirmed) = again.first() {
                self.note_balance((adapter, statement), asset, theirs, *confirmed);
            }
            suspected.insert(asset, if again.is_empty() { found } else { again });
        }
        self.settle_agreed_balances(moment, (adapter, statement.account), &agreed, out);
        suspected
    }

    /// Everything that one of both sides has or had. What the venue cannot hold, or holds no longer because it has expired,
    /// is left out.
    fn assets_to_compare(
        &self,
        moment: Moment,
        (adapter, statement): (&AdapterName, &VenueStatement),
        window: &StatementWindow,
        before: &SuspectedDifferences,
    ) -> BTreeSet<StatedAsset> {
        let cash = statement.cash.iter().map(|balance| StatedAsset::Cash(balance.currency));
        let positions = statement.positions.iter().map(|position| StatedAsset::Position(position.security));
        let open = self.breaks.open().filter(|found| found.difference.account == Some(statement.account));
        let open = open.filter_map(|found| asset_of(&found.difference));
        let all = window.assets().chain(before.keys().copied()).chain(cash).chain(positions).chain(open);
        all.filter(|asset| self.is_held_at_venue(moment, adapter, *asset)).collect()
    }

    fn is_held_at_venue(&self, moment: Moment, adapter: &AdapterName, asset: StatedAsset) -> bool {
        let StatedAsset::Position(security) = asset else { return true };
        let Ok(security) = self.reference.security(security) else { return false };
        let is_pair = matches!(security.kind, SecurityKind::Forex { .. });
        !is_pair && self.adapters.serves(adapter, security.exchange) && !self.has_expired(security, moment.at)
    }

    /// Whether something that is known to be open would explain a difference: an order in doubt, reports that may be lost, or
    /// an execution on which both sides differ.
    fn is_explained(&self, adapter: &AdapterName, account: AccountId, asset: StatedAsset) -> bool {
        let is_meant = |order: &domain::Order| {
            order.account == account && order.adapter == *adapter && self.is_moved_by(order.security, asset)
        };
        let is_in_doubt = self.orders.open().any(|order| order.in_doubt && is_meant(order));
        let mut asked = self.inquiries.orders().into_iter();
        let is_asked = asked.any(|id| {
            let is_gap = self.inquiries.get(id).is_some_and(|inquiry| inquiry.gap_at.is_some());
            is_gap && self.orders.get(id).is_some_and(|order| is_meant(order))
        });
        let is_break = self.breaks.open().any(|found| {
            let Difference { adapter: venue, account: of, .. } = &found.difference;
            venue == adapter && of.is_none_or(|of| of == account) && self.is_about(&found.difference, asset)
        });
        is_in_doubt || is_asked || is_break
    }

    /// Whether a trade in the security moves the asset.
    fn is_moved_by(&self, security: SecurityId, asset: StatedAsset) -> bool {
        let currency = self.reference.security(security).map(|known| known.currency);
        StatedAsset::held_in(security, self.reference.data()) == asset
            || currency.is_ok_and(|currency| asset == StatedAsset::Cash(currency))
    }

    /// Whether a difference of an execution is also one of the asset.
    fn is_about(&self, difference: &Difference, asset: StatedAsset) -> bool {
        match difference.kind {
            BreakKind::Fill => difference.security.is_some_and(|security| self.is_moved_by(security, asset)),
            BreakKind::Fee => difference.currency.is_some_and(|currency| asset == StatedAsset::Cash(currency)),
            _ => false,
        }
    }

    fn settle_agreed_balances(
        &mut self,
        moment: Moment,
        (adapter, account): (&AdapterName, AccountId),
        agreed: &BTreeSet<StatedAsset>,
        out: &mut Outbox,
    ) {
        for kind in [BreakKind::Cash, BreakKind::Position] {
            let agrees = |_: &Self, difference: &Difference| {
                let is_meant = difference.adapter == *adapter && difference.account == Some(account);
                is_meant && asset_of(difference).is_some_and(|asset| agreed.contains(&asset))
            };
            self.settle_agreed(moment, kind, agrees, out);
        }
    }

    /// Both sides of a balance. It has no id of the venue, so only a person may book the difference.
    fn note_balance(
        &mut self,
        (adapter, statement): (&AdapterName, &VenueStatement),
        asset: StatedAsset,
        theirs: Amount,
        amount: Amount,
    ) {
        let Ok(ours) = theirs.minus(amount) else { return };
        let kind = if matches!(asset, StatedAsset::Cash(_)) { BreakKind::Cash } else { BreakKind::Position };
        let common = Difference {
            account: Some(statement.account),
            amount: Some(amount),
            value: self.value_of(asset, amount),
            ..Difference::new(kind, adapter)
        };
        let (difference, stated) = match asset {
            StatedAsset::Cash(currency) => {
                let locked = statement.balance(currency).map_or(Amount::ZERO, |balance| balance.locked);
                let side = |total: Amount| ("total", total.to_string());
                let difference = Difference {
                    currency: Some(currency),
                    ours: Some(BreakSide::new([side(ours)])),
                    theirs: Some(BreakSide::new([side(theirs), ("locked", locked.to_string())])),
                    repair: Some(BreakRepair::BookCash { amount, currency }),
                    ..common
                };
                (difference, format!("{theirs} {currency}, of which {locked} locked"))
            }
            StatedAsset::Position(security) => {
                let side = |quantity: Amount| BreakSide::new([("quantity", quantity.to_string())]);
                let difference = Difference {
                    security: Some(security),
                    ours: Some(side(ours)),
                    theirs: Some(side(theirs)),
                    repair: Some(BreakRepair::BookPosition { quantity: Quantity(amount.0), security }),
                    ..common
                };
                (difference, format!("{theirs} of security {security}"))
            }
        };
        self.note(difference, format!("statement as of {}: {stated}", statement.as_of));
    }

    /// In base currency, without a sign; absent where a price or a rate is missing.
    fn value_of(&self, asset: StatedAsset, amount: Amount) -> Option<Amount> {
        match asset {
            StatedAsset::Cash(currency) => self.in_base(amount.abs(), currency),
            StatedAsset::Position(id) => {
                let (security, quantity) = (self.reference.security(id).ok()?, Quantity(amount.0));
                let price = self.marks.get(id)?.exit_price(quantity)?;
                let value = quantity.value_at(price, security.contract_size).ok()?;
                self.in_base(value.abs(), security.currency)
            }
        }
    }
}

/// What the venue has, and by how much it differs from each value of ours; none where it does not tell, or where our books
/// changed too often.
fn differences(
    statement: &VenueStatement,
    window: &StatementWindow,
    asset: StatedAsset,
) -> Option<(Amount, Vec<Amount>)> {
    let theirs = stated_total(statement, asset)?;
    let found = window.values(asset)?.into_iter().map(|ours| theirs.minus(ours));
    Some((theirs, found.collect::<Result<_, _>>().ok()?))
}

pub(super) fn asset_of(difference: &Difference) -> Option<StatedAsset> {
    match difference.kind {
        BreakKind::Cash => difference.currency.map(StatedAsset::Cash),
        BreakKind::Position => difference.security.map(StatedAsset::Position),
        _ => None,
    }
}
