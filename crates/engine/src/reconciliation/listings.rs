//! What each venue is asked to list, when next, and what it has listed so far.

use std::collections::BTreeMap;

use domain::query::ReconciliationLag;
use domain::report::{VenueOrder, VenueStatement};
use domain::{AccountId, AdapterName, Amount, SecurityId, Text, Timestamp};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::portfolio::StatedAsset;

/// The listings of all adapters that list something.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listings {
    venues: BTreeMap<AdapterName, VenueListings>,
    /// Derived: when the next one is due.
    next_due: Option<Timestamp>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct VenueListings {
    #[n(0)]
    pub(crate) open_orders: Option<OpenOrdersListing>,
    /// By security, or one for all of them.
    #[n(1)]
    pub(crate) fills: BTreeMap<Option<SecurityId>, FillsListing>,
    /// By account; absent where statements are not compared.
    #[n(2)]
    pub(crate) statements: Option<BTreeMap<AccountId, StatementListing>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct OpenOrdersListing {
    /// Absent while the line is down.
    #[n(0)]
    pub(crate) ask_at: Option<Timestamp>,
    /// The pages that came so far.
    #[n(1)]
    pub(crate) pages: Option<ListedPages>,
    /// As of when the last whole list was.
    #[n(2)]
    pub(crate) done_as_of: Option<Timestamp>,
}

/// The pages of a list of which the last one has not come yet.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct ListedPages {
    #[n(0)]
    pub(crate) as_of: Timestamp,
    /// The latest of all pages; absent where one of them had none.
    #[n(1)]
    pub(crate) dead_after: Option<Timestamp>,
    #[n(2)]
    pub(crate) next_page: u32,
    #[n(3)]
    pub(crate) orders: Vec<VenueOrder>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct FillsListing {
    /// Absent while the line is down.
    #[n(0)]
    pub(crate) ask_at: Option<Timestamp>,
    /// Everything before it was compared.
    #[n(1)]
    pub(crate) cursor: Option<Text>,
    /// Where the platform day began: once a day its fills are compared again.
    #[n(2)]
    pub(crate) day_cursor: Option<Text>,
    /// As of when the list was last read to its end.
    #[n(3)]
    pub(crate) done_as_of: Option<Timestamp>,
}

/// Differences of the last statement, by those of our newest values first.
pub(crate) type SuspectedDifferences = BTreeMap<StatedAsset, Vec<Amount>>;

#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct StatementListing {
    /// Absent while the line is down.
    #[n(0)]
    pub(crate) ask_at: Option<Timestamp>,
    /// Our books are being remembered, and the question follows.
    #[n(1)]
    pub(crate) is_prepared: bool,
    /// As of when the last statement was that was compared.
    #[n(2)]
    pub(crate) done_as_of: Option<Timestamp>,
    /// Differences of the last statement; the next one confirms them.
    #[n(3)]
    pub(crate) suspected: SuspectedDifferences,
}

impl StatementListing {
    pub(crate) fn starting_at(at: Timestamp) -> Self {
        Self { ask_at: Some(at), done_as_of: Some(at), ..Self::default() }
    }
}

impl VenueListings {
    pub(crate) fn statement_mut(&mut self, account: AccountId) -> Option<&mut StatementListing> {
        self.statements.as_mut()?.get_mut(&account)
    }

    pub(crate) fn is_prepared(&self, account: AccountId) -> bool {
        let listing = self.statements.as_ref().and_then(|statements| statements.get(&account));
        listing.is_some_and(|listing| listing.is_prepared)
    }

    pub(crate) fn due_statements(&self, at: Timestamp) -> Vec<AccountId> {
        let is_due = |listing: &StatementListing| listing.ask_at.is_some_and(|ask_at| ask_at <= at);
        self.statements.iter().flatten().filter(|(_, listing)| is_due(listing)).map(|(account, _)| *account).collect()
    }

    /// A statement came: the differences of the one before, unless the line is down or nobody compares.
    pub(crate) fn on_stated(&mut self, statement: &VenueStatement, next: Timestamp) -> Option<SuspectedDifferences> {
        let listing = self.statement_mut(statement.account).filter(|listing| listing.ask_at.is_some())?;
        (listing.ask_at, listing.done_as_of) = (Some(next), Some(statement.as_of));
        Some(std::mem::take(&mut listing.suspected))
    }

    fn next_due(&self) -> Option<Timestamp> {
        let open_orders = self.open_orders.as_ref().and_then(|listing| listing.ask_at);
        let statements = self.statements.iter().flatten().filter_map(|(_, listing)| listing.ask_at);
        self.fills.values().filter_map(|listing| listing.ask_at).chain(open_orders).chain(statements).min()
    }

    /// Nothing is asked while the line is down, and half a list counts for nothing.
    pub(crate) fn stop(&mut self) {
        if let Some(listing) = &mut self.open_orders {
            (listing.ask_at, listing.pages) = (None, None);
        }
        self.fills.values_mut().for_each(|listing| listing.ask_at = None);
        for listing in self.statements.iter_mut().flat_map(|statements| statements.values_mut()) {
            (listing.ask_at, listing.is_prepared) = (None, false);
        }
    }

    /// Nothing is asked before that instant.
    pub(crate) fn postpone(&mut self, until: Timestamp) {
        let open_orders = self.open_orders.iter_mut().map(|listing| &mut listing.ask_at);
        let fills = self.fills.values_mut().map(|listing| &mut listing.ask_at);
        let statements = self.statements.iter_mut().flat_map(|statements| statements.values_mut());
        let statements = statements.map(|listing| &mut listing.ask_at);
        open_orders.chain(fills).chain(statements).for_each(|ask_at| *ask_at = ask_at.map(|at| at.max(until)));
    }

    /// As of when each scope was compared last; of several lists the oldest.
    fn compared(&self) -> impl Iterator<Item = (&'static str, Timestamp)> {
        let open_orders = self.open_orders.as_ref().and_then(|listing| listing.done_as_of);
        let fills = self.fills.values().filter_map(|listing| listing.done_as_of).min();
        let statements = self.statements.iter().flatten().filter_map(|(_, listing)| listing.done_as_of).min();
        let scopes = [("open-orders", open_orders), ("fills", fills), ("statements", statements)];
        scopes.into_iter().filter_map(|(scope, at)| Some((scope, at?)))
    }
}

impl Listings {
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.next_due
    }

    pub(crate) fn get(&self, adapter: &AdapterName) -> Option<&VenueListings> {
        self.venues.get(adapter)
    }

    /// How far the comparison with each venue lags behind.
    pub(crate) fn lags(&self, now: Timestamp) -> Vec<ReconciliationLag> {
        let of_venue = |(adapter, venue): (&AdapterName, &VenueListings)| -> Vec<_> {
            let lag = |(scope, at): (_, Timestamp)| ReconciliationLag {
                adapter: adapter.clone(),
                scope,
                seconds: now.seconds_since(at),
            };
            venue.compared().map(lag).collect()
        };
        self.venues.iter().flat_map(of_venue).collect()
    }

    /// Adapters with something to ask by then.
    pub(crate) fn due_by(&self, at: Timestamp) -> Vec<AdapterName> {
        let is_due = |listings: &VenueListings| listings.next_due().is_some_and(|due| due <= at);
        self.venues.iter().filter(|(_, listings)| is_due(listings)).map(|(adapter, _)| adapter.clone()).collect()
    }

    pub(crate) fn adapters(&self) -> Vec<AdapterName> {
        self.venues.keys().cloned().collect()
    }

    /// Changes the listings of an adapter that has some.
    pub(crate) fn change<R>(&mut self, adapter: &AdapterName, edit: impl FnOnce(&mut VenueListings) -> R) -> Option<R> {
        let changed = self.venues.get_mut(adapter).map(edit);
        self.update_due();
        changed
    }

    /// Begins or ends listings of an adapter.
    pub(crate) fn insert(&mut self, adapter: &AdapterName, edit: impl FnOnce(&mut VenueListings)) {
        let listings = self.venues.entry(adapter.clone()).or_default();
        edit(listings);
        if *listings == VenueListings::default() {
            self.venues.remove(adapter);
        }
        self.update_due();
    }

    pub(crate) fn change_all(&mut self, edit: impl Fn(&AdapterName, &mut VenueListings)) {
        self.venues.iter_mut().for_each(|(adapter, listings)| edit(adapter, listings));
        self.update_due();
    }

    fn update_due(&mut self) {
        self.next_due = self.venues.values().filter_map(VenueListings::next_due).min();
    }
}

/// Written only where a venue lists something, so that the state of other engines is what earlier builds wrote.
impl<C> Encode<C> for Listings {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        self.venues.encode(e, ctx)
    }

    fn is_nil(&self) -> bool {
        self.venues.is_empty()
    }
}

impl<'b, C> Decode<'b, C> for Listings {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        let mut listings = Self { venues: BTreeMap::decode(d, ctx)?, next_due: None };
        listings.update_due();
        Ok(listings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_are_due_by_the_earliest_and_read_back_from_disk() {
        let mut listings = Listings::default();
        assert!(Encode::<()>::is_nil(&listings));
        let adapter = AdapterName("SIM-A".into());
        listings.insert(&adapter, |venue| {
            venue.open_orders = Some(OpenOrdersListing { ask_at: Some(Timestamp(30)), ..Default::default() });
            let fills = FillsListing { ask_at: Some(Timestamp(20)), cursor: Some("7".into()), ..Default::default() };
            venue.fills.insert(None, fills);
        });
        assert_eq!((listings.next_due(), listings.due_by(Timestamp(19))), (Some(Timestamp(20)), vec![]));
        let read: Listings = minicbor::decode(&minicbor::to_vec(&listings).unwrap()).unwrap();
        assert_eq!((&read.venues, read.next_due), (&listings.venues, listings.next_due));
        listings.change(&adapter, VenueListings::stop);
        assert_eq!((listings.next_due(), listings.due_by(Timestamp(99))), (None, vec![]));
    }
}
