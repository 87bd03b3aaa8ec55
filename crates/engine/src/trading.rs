//! Trading half of the engine: journalled, replayed, part of the digest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::command::{Mode, ReferenceChange, StrategyFailure, StrategyPhase};
use domain::encoding::encode_to_vec;
use domain::risk::EngineSettings;
use domain::{AccountId, IntId, Mark, OrderId, SecurityId, StrategyId, StrategyRecord, Timestamp};
use minicbor::{Decode, Encode};

use crate::adapters::adapter_states::{AdapterStates, VenueListings};
use crate::id_generator::IdGenerator;
use crate::marks::{Expirations, Marks};
use crate::orders::OrderRegistry;
use crate::orders::expiry_cancels::ExpiryCancels;
use crate::orders::inquiries::inquiry_queue::{InquiryQueue, VenueTimeouts};
use crate::orders::requests::mass_cancel_results::MassCancels;
use crate::orders::waiting_orders::wait_queue::WaitingOrders;
use crate::outbox::{Moment, Outbox};
use crate::portfolio::booked_ids::EntryStore;
use crate::portfolio::{Portfolio, Valuer};
use crate::reconciliation::breaks::Breaks;
use crate::reconciliation::listings::Listings;
use crate::reference_index::ReferenceIndex;
use crate::risk::Risk;
use crate::shared::shared_set::SharedSet;
use crate::strategies::process_runs::ProcessRuns;
use crate::strategies::subscription_set::MarketDataSubscriptions;

#[derive(Debug, Encode, Decode)]
pub(crate) struct Trading {
    #[n(0)]
    pub(crate) settings: EngineSettings,
    #[n(1)]
    pub(crate) reference: ReferenceIndex,
    #[n(2)]
    pub(crate) adapters: AdapterStates,
    #[n(3)]
    pub(crate) orders: OrderRegistry,
    #[n(4)]
    pub(crate) portfolio: Portfolio,
    #[n(5)]
    pub(crate) marks: Marks,
    #[n(6)]
    pub(crate) risk: Risk,
    #[n(7)]
    pub(crate) subscriptions: MarketDataSubscriptions,
    #[n(8)]
    pub(crate) phases: BTreeMap<StrategyId, (Mode, StrategyPhase)>,
    #[n(9)]
    pub(crate) ids: IdGenerator,
    /// The end of the platform day; absent before the first input.
    #[n(10)]
    pub(crate) day_ends: Option<Timestamp>,
    /// When the engine itself must cancel an order whose venue has no expiry.
    #[n(11)]
    pub(crate) expiries: SharedSet<(Timestamp, OrderId)>,
    #[n(12)]
    pub(crate) venue_timeouts: VenueTimeouts,
    /// Why strategies were stopped that have not begun again.
    #[n(13)]
    #[cbor(default)]
    pub(crate) failures: BTreeMap<StrategyId, StrategyFailure>,
    #[n(14)]
    #[cbor(default)]
    pub(crate) mass_cancels: MassCancels,
    #[n(15)]
    #[cbor(default)]
    pub(crate) expirations: Expirations,
    #[n(16)]
    #[cbor(default)]
    pub(crate) waiting_orders: WaitingOrders,
    /// Orders that venues spoke of and that are not known here: each halts its account once.
    #[n(17)]
    #[cbor(default)]
    pub(crate) unknown_orders: BTreeSet<OrderId>,
    #[n(18)]
    #[cbor(default)]
    pub(crate) inquiries: InquiryQueue,
    /// Entries of venues that are booked.
    #[n(23)]
    #[cbor(default)]
    pub(crate) entries: EntryStore,
    #[n(19)]
    #[cbor(default)]
    pub(crate) listings: Listings,
    #[n(20)]
    #[cbor(default)]
    pub(crate) breaks: Breaks,
    /// What venues take of securities.
    #[n(28)]
    #[cbor(default)]
    pub(crate) venue_listings: VenueListings,
    #[n(29)]
    #[cbor(default)]
    pub(crate) expiry_cancels: ExpiryCancels,
    #[n(30)]
    #[cbor(default)]
    pub(crate) process_runs: ProcessRuns,
}

impl Default for Trading {
    /// Empty except for the strategy `SERVER`, the owner of everything without a strategy.
    fn default() -> Self {
        let server = StrategyRecord { id: StrategyId::SERVER, name: "SERVER".into(), auto_activate: true };
        let mut directory = ReferenceIndex::default();
        directory.apply_changes(0, &[ReferenceChange::Strategy(server)], |_| false);
        Self {
            settings: EngineSettings::default(),
            reference: directory,
            adapters: AdapterStates::default(),
            orders: OrderRegistry::default(),
            portfolio: Portfolio::default(),
            marks: Marks::default(),
            risk: Risk::default(),
            subscriptions: MarketDataSubscriptions::default(),
            phases: BTreeMap::new(),
            ids: IdGenerator::default(),
            day_ends: None,
            expiries: SharedSet::default(),
            venue_timeouts: VenueTimeouts::default(),
            failures: BTreeMap::new(),
            mass_cancels: MassCancels::default(),
            expirations: Expirations::default(),
            waiting_orders: WaitingOrders::default(),
            unknown_orders: BTreeSet::new(),
            inquiries: InquiryQueue::default(),
            entries: EntryStore::default(),
            listings: Listings::default(),
            breaks: Breaks::default(),
            venue_listings: VenueListings::default(),
            expiry_cancels: ExpiryCancels::default(),
            process_runs: ProcessRuns::default(),
        }
    }
}

impl Trading {
    pub(crate) fn encode_state(&self) -> Vec<u8> {
        encode_to_vec(self, 0)
    }

    /// What is written to disk, without what is made from it.
    pub(crate) fn copy_for_disk(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            reference: self.reference.copy_for_disk(),
            adapters: self.adapters.clone(),
            orders: self.orders.copy_for_disk(),
            portfolio: self.portfolio.copy_for_disk(),
            marks: self.marks.copy_for_disk(),
            risk: self.risk.copy_for_disk(),
            subscriptions: self.subscriptions.clone(),
            phases: self.phases.clone(),
            ids: self.ids.clone(),
            day_ends: self.day_ends,
            expiries: self.expiries.clone(),
            venue_timeouts: self.venue_timeouts.clone(),
            failures: self.failures.clone(),
            mass_cancels: self.mass_cancels.clone(),
            expirations: self.expirations.clone(),
            waiting_orders: self.waiting_orders.clone(),
            unknown_orders: self.unknown_orders.clone(),
            inquiries: self.inquiries.copy_for_disk(),
            entries: self.entries.clone(),
            listings: self.listings.clone(),
            breaks: self.breaks.clone(),
            venue_listings: self.venue_listings.clone(),
            expiry_cancels: self.expiry_cancels.clone(),
            process_runs: self.process_runs.clone(),
        }
    }

    /// Moves sessions and the platform day to the instant of an input, before the input is applied.
    pub(crate) fn advance_to(&mut self, moment: Moment) -> &mut Self {
        self.reference.advance(moment.at);
        self.ensure_day(moment.at);
        self
    }

    /// The id of an order whose client gave none.
    pub(crate) fn mint_int_id(&mut self, account: AccountId) -> IntId {
        let account = self.reference.account(account).ok();
        let qualifier = account.and_then(|account| account.session_qualifier.as_deref());
        self.ids.mint_int_id(qualifier, |id| self.orders.contains_id(id))
    }

    /// New prices: values positions and checks the loss limits.
    pub(crate) fn on_marks(&mut self, moment: Moment, marks: &[Mark], out: &mut Outbox) {
        self.marks.update(marks);
        let valuer = valuer(&self.marks, &self.reference, &self.settings, moment.at);
        self.portfolio.revalue(marks, &valuer, out);
        self.check_losses(moment, out);
    }

    pub(crate) fn valuer(&self, at: Timestamp) -> Valuer<'_> {
        valuer(&self.marks, &self.reference, &self.settings, at)
    }

    /// Whether prices of the security are part of the trading state.
    pub(crate) fn needs_mark(&self, security: SecurityId) -> bool {
        let is_held = |id: &SecurityId| self.portfolio.holds(*id);
        self.marks.is_pair(security)
            || is_held(&security)
            || self.orders.has_open(security)
            // The settlement value of an option depends on its underlying alone.
            || self.reference.options_on(security).iter().any(is_held)
    }

    /// Rebuilds what is derived from reference data and settings.
    pub(crate) fn reindex(&mut self, at: Timestamp) {
        self.marks.index_pairs(self.reference.data());
        self.marks.set_rules(&self.settings);
        self.portfolio.refresh(&valuer(&self.marks, &self.reference, &self.settings, at));
    }

    /// Rebuilds the indexes that are not on disk, after a snapshot was read.
    pub(crate) fn rebuild_indexes(&mut self) {
        self.reindex(Timestamp::default());
        let open: Vec<_> = self.orders.open().cloned().collect();
        self.risk.rebuild(open.iter().map(Arc::as_ref));
    }
}

/// A free function beside [`Trading::valuer`], so that the portfolio can be changed while it is borrowed.
pub(crate) fn valuer<'a>(
    marks: &'a Marks,
    directory: &'a ReferenceIndex,
    settings: &EngineSettings,
    at: Timestamp,
) -> Valuer<'a> {
    Valuer { marks, reference: directory.data(), base: settings.base_currency, at }
}
