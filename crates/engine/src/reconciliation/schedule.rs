//! When venues are asked for lists: at the start of a session, then again after the configured pauses, after a gap, after an
//! order ended with less than its quantity, and once a day.

use domain::order::BaseState;
use domain::report::{FillsScope, ListingScope, ReportKind, SessionState};
use domain::{AdapterName, Instruction, SecurityId, Text, Timestamp};

use super::listings::{FillsListing, OpenOrdersListing, VenueListings};
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

/// A list that failed, or of which nothing came, is asked for again after this time.
pub(crate) const LISTING_RETRY_SECONDS: i64 = 10;
/// Fills of orders that ended are listed together, after this time.
pub(crate) const FILLS_AFTER_END_SECONDS: i64 = 5;
/// Questions for lists to one adapter at one instant; the others follow a second later.
pub(crate) const LISTINGS_AT_ONCE: usize = 10;

impl Trading {
    /// A session begins: everything is listed at once, and what the venue no longer offers is forgotten.
    pub(crate) fn start_listings(&mut self, moment: Moment, adapter: &AdapterName) {
        let Some(offered) = self.adapters.lists(adapter) else { return };
        let settings = self.settings.reconciliation;
        let has_open_orders = offered.open_orders && settings.open_orders_seconds > 0;
        let scope = offered.fills.filter(|_| settings.fills_seconds > 0);
        let mut new = self.securities_to_list(adapter, scope);
        new.retain(|security| self.listings.get(adapter).is_none_or(|venue| !venue.fills.contains_key(security)));
        // The snapshot of the log-on was complete, so nothing lags behind yet.
        let now = Some(moment.at);
        self.listings.insert(adapter, |venue| {
            venue.open_orders = has_open_orders.then(|| venue.open_orders.take().unwrap_or_default());
            if let Some(listing) = &mut venue.open_orders {
                *listing = OpenOrdersListing { ask_at: now, pages: None, done_as_of: now };
            }
            let is_offered = |security: &Option<SecurityId>| scope.is_some_and(|scope| is_listed_so(scope, *security));
            venue.fills.retain(|security, _| is_offered(security));
            venue.fills.extend(new.iter().map(|security| (*security, FillsListing::default())));
            venue.fills.values_mut().for_each(|listing| (listing.ask_at, listing.done_as_of) = (now, now));
        });
    }

    pub(crate) fn stop_listings(&mut self, adapter: &AdapterName) {
        self.listings.change(adapter, VenueListings::stop);
        let statements = self.listings.get(adapter).and_then(|venue| venue.statements.as_ref());
        for account in statements.into_iter().flat_map(|statements| statements.keys()) {
            self.portfolio.drop_window(*account);
        }
    }

    /// One list for all securities, or one for each with an open order.
    fn securities_to_list(&self, adapter: &AdapterName, scope: Option<FillsScope>) -> Vec<Option<SecurityId>> {
        match scope {
            None => vec![],
            Some(FillsScope::All) => vec![None],
            Some(FillsScope::PerSecurity) => {
                let of_adapter = self.orders.open().filter(|order| order.adapter == *adapter);
                of_adapter.map(|order| Some(order.security)).collect()
            }
        }
    }

    /// Asks what is due, so much at once.
    pub(crate) fn send_listings(&mut self, moment: Moment, out: &mut Outbox) {
        if self.listings.next_due().is_none_or(|due| due > moment.at) {
            return;
        }
        for adapter in self.listings.due_by(moment.at) {
            if self.adapters.session(&adapter) < SessionState::LoggedOn {
                self.stop_listings(&adapter);
                continue;
            }
            if self.adapters.is_trading_line_down(&adapter) {
                self.listings.change(&adapter, |venue| venue.postpone(moment.at.plus_seconds(LISTING_RETRY_SECONDS)));
                continue;
            }
            let questions = self.listings.change(&adapter, |venue| due_questions(venue, moment.at));
            for question in questions.into_iter().flatten() {
                out.instruct(&adapter, question);
            }
            self.send_statements(moment, &adapter, out);
        }
    }

    /// A list failed or was cut: nothing follows from it, and it is asked for again.
    pub(crate) fn on_listing_failed(
        &mut self,
        moment: Moment,
        adapter: &AdapterName,
        scope: ListingScope,
        reason: &Text,
        out: &mut Outbox,
    ) {
        let again = Some(moment.at.plus_seconds(LISTING_RETRY_SECONDS));
        self.listings.change(adapter, |venue| match scope {
            ListingScope::OpenOrders => {
                if let Some(listing) = venue.open_orders.as_mut().filter(|listing| listing.ask_at.is_some()) {
                    (listing.ask_at, listing.pages) = (again, None);
                }
            }
            ListingScope::Fills(security) => {
                if let Some(listing) = venue.fills.get_mut(&security).filter(|listing| listing.ask_at.is_some()) {
                    listing.ask_at = again;
                }
            }
            ListingScope::Statement(account) => {
                if let Some(listing) = venue.statement_mut(account).filter(|listing| listing.ask_at.is_some()) {
                    (listing.ask_at, listing.is_prepared) = (again, false);
                }
            }
        });
        out.warn("listing-failed", format!("{adapter}: {}: {reason}", scope_name(scope)));
    }

    /// A venue that lists fills by security is asked for each that is traded, from the first report on. Orders that were
    /// placed elsewhere trade too.
    pub(crate) fn list_fills_of_traded(&mut self, moment: Moment, adapter: &AdapterName, said: &ReportKind) {
        let scope = self.adapters.lists(adapter).and_then(|lists| lists.fills);
        let is_by_security = scope == Some(FillsScope::PerSecurity) && self.settings.reconciliation.fills_seconds > 0;
        if !is_by_security || self.adapters.session(adapter) < SessionState::LoggedOn {
            return;
        }
        let traded = match said {
            ReportKind::External(seen) => Some(seen.security),
            other => other.order().and_then(|order| self.orders.get(order)).map(|order| order.security),
        };
        let Some(security) = traded.filter(|security| self.reference.security(*security).is_ok()) else { return };
        if self.listings.get(adapter).is_none_or(|venue| !venue.fills.contains_key(&Some(security))) {
            let ask_at = Some(moment.at.plus_seconds(FILLS_AFTER_END_SECONDS));
            let listing = FillsListing { ask_at, done_as_of: Some(moment.at), ..FillsListing::default() };
            self.listings.insert(adapter, |venue| drop(venue.fills.insert(Some(security), listing)));
        }
    }

    /// An order that ended with less than its quantity may have a fill that was lost before its end.
    pub(crate) fn list_fills_of_ended(&mut self, moment: Moment, adapter: &AdapterName, said: &ReportKind) {
        let (ReportKind::Canceled { order, .. } | ReportKind::Expired { order, .. }) = said else { return };
        let ended = self.orders.get(*order).filter(|order| order.state == BaseState::Canceled);
        let Some(security) = ended.map(|order| order.security) else { return };
        let at = moment.at.plus_seconds(FILLS_AFTER_END_SECONDS);
        let is_later = |listing: &FillsListing| listing.ask_at.is_some_and(|ask_at| ask_at > at);
        let fills = self.listings.get(adapter).map(|venue| &venue.fills);
        let scope = [None, Some(security)];
        let later = scope.iter().find(|key| fills.and_then(|fills| fills.get(key)).is_some_and(is_later));
        if let Some(key) = later {
            self.list_fills(adapter, *key, at);
        }
    }

    /// Reports may be lost: what they said is in the list.
    pub(crate) fn list_fills_after_gap(&mut self, moment: Moment, adapter: &AdapterName) {
        self.listings.change(adapter, |venue| {
            for listing in venue.fills.values_mut().filter(|listing| listing.ask_at.is_some()) {
                listing.ask_at = Some(moment.at);
            }
        });
    }

    fn list_fills(&mut self, adapter: &AdapterName, key: Option<SecurityId>, at: Timestamp) {
        self.listings.change(adapter, |venue| {
            if let Some(listing) = venue.fills.get_mut(&key) {
                listing.ask_at = Some(at);
            }
        });
    }

    /// Once a day everything is listed, and the fills of the whole day that ended.
    pub(crate) fn list_day(&mut self, moment: Moment) {
        self.listings.change_all(|_, venue| {
            let connected = venue.open_orders.as_mut().filter(|listing| listing.ask_at.is_some());
            connected.into_iter().for_each(|listing| listing.ask_at = Some(moment.at));
            for listing in venue.fills.values_mut() {
                std::mem::swap(&mut listing.cursor, &mut listing.day_cursor);
                listing.ask_at = listing.ask_at.map(|_| moment.at);
            }
        });
        for adapter in self.listings.adapters() {
            self.state_day(moment, &adapter);
        }
    }
}

fn is_listed_so(scope: FillsScope, security: Option<SecurityId>) -> bool {
    (scope == FillsScope::All) == security.is_none()
}

/// The questions that are due; an unanswered one is asked again.
fn due_questions(venue: &mut VenueListings, at: Timestamp) -> Vec<Instruction> {
    let (again, later) = (Some(at.plus_seconds(LISTING_RETRY_SECONDS)), Some(at.plus_seconds(1)));
    let mut questions = Vec::new();
    if let Some(listing) = venue.open_orders.as_mut().filter(|listing| is_due(listing.ask_at, at)) {
        (listing.ask_at, listing.pages) = (again, None);
        questions.push(Instruction::ListOpenOrders);
    }
    for (security, listing) in venue.fills.iter_mut().filter(|(_, listing)| is_due(listing.ask_at, at)) {
        if questions.len() >= LISTINGS_AT_ONCE {
            listing.ask_at = later;
            continue;
        }
        listing.ask_at = again;
        questions.push(Instruction::ListFills { security: *security, cursor: listing.cursor.clone() });
    }
    questions
}

fn is_due(ask_at: Option<Timestamp>, at: Timestamp) -> bool {
    ask_at.is_some_and(|ask_at| ask_at <= at)
}

fn scope_name(scope: ListingScope) -> String {
    match scope {
        ListingScope::OpenOrders => "open orders".to_owned(),
        ListingScope::Fills(None) => "fills".to_owned(),
        ListingScope::Fills(Some(security)) => format!("fills of security {security}"),
        ListingScope::Statement(account) => format!("statement of account {account}"),
    }
}
