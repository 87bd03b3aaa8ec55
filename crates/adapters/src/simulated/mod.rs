//! Simulated venue as an adapter. It runs in our process but is treated like an external venue: its own ledger,
//! reconciliation after every connect.

mod controls;
mod lines;
mod persistent_venue;

use std::collections::BTreeSet;
use std::sync::Arc;

use crossbeam_channel::Receiver;
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{
    AdapterCapabilities, CancelKind, FillsScope, LineKind, ListingCapabilities, RefusesRepeatedIds, RequestTiming,
    VenueSnapshot,
};
use domain::{AccountId, Order, OrderId, OrderProperty, SecurityId, Source, Text, Timestamp};
use storage::{FileSystem, OsFileSystem, StorageError};
use venue_sim::{LinesDown, VenueConfig, VenueOutput, VenueSimulator};

use crate::send_lease::SendLease;
use crate::told_listings::ToldListings;
use crate::venue::{MarketFeed, OrderSession, ReportSink, SendOutcome, SessionLost, VenueOrderRules};
use controls::ControlChange;
pub use controls::{LEDGER_COMPACT_BYTES, SimulatedVenueSettings, VenueControls};
use lines::{OpenLines, SWITCHED_OFF};
use persistent_venue::PersistentVenue;
pub use persistent_venue::{OpenError, copy_ledger_up_to, newest_order};

const NANOS_PER_MILLI: i64 = 1_000_000;

/// Adapter of a simulated venue in this process.
pub struct SimulatedAdapter {
    settings: SimulatedVenueSettings,
    disk: Arc<dyn FileSystem>,
    controls: VenueControls,
    /// None after its ledger failed: the next connect restarts it from the ledger.
    venue: Option<PersistentVenue>,
    session: Option<SimulatedSession>,
    told_listings: ToldListings,
}

/// Ends with the connection, and with it all subscriptions.
#[derive(Default)]
struct SimulatedSession {
    subscribed: BTreeSet<SecurityId>,
    /// As the client was told.
    lines_down: LinesDown,
}

impl SimulatedAdapter {
    /// Starts the venue from its ledger.
    pub fn open(settings: SimulatedVenueSettings, at: Timestamp) -> Result<Self, OpenError> {
        Self::open_on(Arc::new(OsFileSystem), settings, at)
    }

    /// As [`Self::open`], with its ledger on another file system.
    pub fn open_on(
        disk: Arc<dyn FileSystem>,
        settings: SimulatedVenueSettings,
        at: Timestamp,
    ) -> Result<Self, OpenError> {
        let controls = VenueControls::new(settings.venue.faults);
        let market = PersistentVenue::open(&disk, &settings, at)?;
        let told_listings = ToldListings::default();
        Ok(Self { settings, disk, controls, venue: Some(market), session: None, told_listings })
    }

    /// Controls of the venue.
    pub fn controls(&self) -> VenueControls {
        self.controls.clone()
    }

    /// A price of the venue that this one follows. What it does to orders comes out of `deliver`.
    pub(crate) fn follow(&mut self, at: Timestamp, data: &MarketData) -> Result<(), SessionLost> {
        let followed = self.connected()?.apply(|venue, out| venue.follow(at, data, out));
        followed.map_err(|error| self.fail(&error))
    }

    /// Prices of the venue that this one follows are not known any more.
    pub(crate) fn forget_prices(&mut self) {
        if let Some(market) = &mut self.venue {
            market.forget_prices();
        }
    }

    /// Whether the venue has ever received the order.
    pub(crate) fn knows(&self, order: OrderId) -> bool {
        self.venue.as_ref().is_some_and(|market| market.knows(order))
    }

    /// The venue with the current controls applied.
    fn running(&mut self) -> Result<&mut PersistentVenue, SessionLost> {
        let market = self.venue.as_mut().ok_or_else(|| SessionLost("the venue's ledger failed".into()))?;
        let ControlChange { faults, listings } = self.controls.take_change();
        if let Some(faults) = faults {
            market.set_faults(faults);
        }
        for listing in listings {
            if market.list(&listing) {
                // Listed again when the venue restarts.
                self.settings.venue.listings.push(listing);
            }
        }
        Ok(market)
    }

    /// Restarts a failed venue, with the faults that are on.
    fn restart(&mut self, at: Timestamp) -> Result<(), SessionLost> {
        if self.venue.is_none() {
            let venue = VenueConfig { faults: self.controls.faults(), ..self.settings.venue.clone() };
            let market =
                PersistentVenue::open(&self.disk, &SimulatedVenueSettings { venue, ..self.settings.clone() }, at);
            self.venue = Some(market.map_err(|error| SessionLost(error.to_string().into()))?);
        }
        Ok(())
    }

    fn reachable(&mut self) -> Result<&mut PersistentVenue, SessionLost> {
        let market = self.running()?;
        if market.is_disconnected() { Err(SessionLost("the connection is cut".into())) } else { Ok(market) }
    }

    /// The venue, within a session only.
    fn connected(&mut self) -> Result<&mut PersistentVenue, SessionLost> {
        match self.session {
            Some(_) => self.reachable(),
            None => Err(SessionLost("not connected".into())),
        }
    }

    /// A request on the trading line.
    fn request(&mut self, request: impl FnOnce(&mut VenueSimulator, &mut Vec<VenueOutput>)) -> SendOutcome {
        if self.controls.faults().lines_down.trading {
            return SendOutcome::NotSent(SWITCHED_OFF.into());
        }
        self.send(request)
    }

    fn send(&mut self, request: impl FnOnce(&mut VenueSimulator, &mut Vec<VenueOutput>)) -> SendOutcome {
        let market = match self.connected() {
            Ok(market) => market,
            Err(SessionLost(reason)) => return SendOutcome::NotSent(reason),
        };
        match market.apply(request) {
            Ok(()) => SendOutcome::Sent,
            // The record may have reached the file, and then the order exists.
            Err(error) => SendOutcome::Unknown { reason: self.fail(&error).0, dead_after: None },
        }
    }

    /// Which lines are down. A feed that is back begins with all prices.
    fn tell_lines(&mut self, sink: &mut dyn ReportSink) -> LinesDown {
        let down = self.controls.faults().lines_down;
        let Some(session) = &mut self.session else { return down };
        let is_back = lines::tell_lines(&mut session.lines_down, down, sink).contains(&LineKind::Prices);
        for security in session.subscribed.clone().into_iter().filter(|_| is_back) {
            drop(self.send(|venue, out| {
                venue.subscribe(security, out);
            }));
        }
        down
    }

    /// Only a venue whose requests may come late needs to say how late.
    fn request_timing(&self) -> Option<RequestTiming> {
        let life_nanos = self.settings.venue.request_life_nanos;
        let life_millis = u32::try_from(life_nanos / NANOS_PER_MILLI + 1).ok();
        (life_nanos > 0).then_some(RequestTiming { life_millis, read_lag_millis: 0 })
    }

    /// A venue that cannot write its ledger stops.
    fn fail(&mut self, error: &StorageError) -> SessionLost {
        self.venue = None;
        SessionLost(format!("the venue's ledger failed: {error}").into())
    }
}

impl OrderSession for SimulatedAdapter {
    fn capabilities(&self) -> AdapterCapabilities {
        let exchanges = vec![self.settings.venue.exchange.id];
        AdapterCapabilities {
            exchanges,
            expires_orders: true,
            refuses_repeated_ids: RefusesRepeatedIds::Forever,
            request_timing: self.request_timing(),
            simulated: true,
            order_properties: OrderProperty::ALL.to_vec(),
            lines: LineKind::ALL.to_vec(),
            lists: ListingCapabilities { open_orders: true, fills: Some(FillsScope::All), statement: true },
            replace: self.settings.venue.replace,
            pass_through: None,
            order_types: None,
            cancel: CancelKind::WhileOpen,
        }
    }

    /// Its rules are those of the reference data.
    fn order_rules(&self, _: SecurityId) -> VenueOrderRules {
        VenueOrderRules::default()
    }

    /// What leaves, leaves inside the calls of the host.
    fn set_lease(&mut self, _: SendLease) {}

    fn connect(&mut self, at: Timestamp) -> Result<(), SessionLost> {
        self.disconnect(at);
        self.restart(at)?;
        let caught_up = self.running()?.catch_up(at);
        caught_up.map_err(|error| self.fail(&error))?;
        self.reachable()?;
        self.session = Some(SimulatedSession::default());
        Ok(())
    }

    fn snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, SessionLost> {
        let snapshot = self.connected()?.snapshot();
        let snapshot = snapshot.map_err(|error| self.fail(&error))?;
        Ok(VenueSnapshot { as_of: Some(at), ..snapshot })
    }

    fn submit(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.request(|venue, out| venue.submit(at, order, out))
    }

    fn inquire(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.request(|venue, out| match order.source {
            Source::External => venue.inquire_external(at, order, out),
            _ => venue.inquire(at, order.id, out),
        })
    }

    fn ask_statement(&mut self, at: Timestamp, account: AccountId) -> SendOutcome {
        self.request(|venue, out| venue.ask_statement(at, account, out))
    }

    fn list_open_orders(&mut self, at: Timestamp) -> SendOutcome {
        self.request(|venue, out| venue.list_open_orders(at, out))
    }

    fn list_fills(&mut self, at: Timestamp, security: Option<SecurityId>, cursor: Option<&Text>) -> SendOutcome {
        match security {
            None => self.request(|venue, out| venue.list_fills(at, cursor, out)),
            Some(_) => SendOutcome::NotSent("fills are listed for all securities together".into()),
        }
    }

    fn modify(&mut self, at: Timestamp, order: &Order, terms: OrderTerms) -> SendOutcome {
        self.request(|venue, out| venue.replace(at, order, terms, out))
    }

    fn cancel(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.request(|venue, out| match order.source {
            Source::External => venue.cancel_external(at, order, out),
            _ => venue.cancel(at, order.id, out),
        })
    }

    fn cancel_leg(&mut self, at: Timestamp, order: &Order, leg: &Text) -> SendOutcome {
        self.request(|venue, out| venue.cancel_leg(at, order.id, leg, out))
    }

    fn deliver(&mut self, at: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost> {
        self.connected()?;
        let down = self.tell_lines(sink);
        for said in self.told_listings.changes(self.controls.announced()) {
            sink.on_report(Some(at), said);
        }
        for revision in self.controls.take_revisions() {
            let revised = self.connected()?.apply(|venue, out| venue.revise(at, revision, out));
            revised.map_err(|error| self.fail(&error))?;
        }
        let delivered = self.connected()?.deliver(at, &mut OpenLines { down, sink });
        delivered.map_err(|error| self.fail(&error))
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.venue.as_ref().and_then(PersistentVenue::due)
    }

    fn waker(&self) -> Receiver<()> {
        self.controls.waker()
    }

    fn disconnect(&mut self, _: Timestamp) {
        let (Some(session), Some(market)) = (self.session.take(), self.venue.as_mut()) else { return };
        for security in session.subscribed {
            market.unsubscribe(security);
        }
        market.clear_outputs();
    }
}

impl MarketFeed for SimulatedAdapter {
    fn subscribe(&mut self, _: Timestamp, security: SecurityId) -> SendOutcome {
        let mut is_listed = false;
        let sending = self.send(|venue, out| is_listed = venue.subscribe(security, out));
        match (&sending, &mut self.session) {
            (SendOutcome::Sent, _) if !is_listed => SendOutcome::NotSent("not listed here".into()),
            (SendOutcome::Sent, Some(session)) => {
                session.subscribed.insert(security);
                sending
            }
            _ => sending,
        }
    }

    fn unsubscribe(&mut self, _: Timestamp, security: SecurityId) -> SendOutcome {
        let sending = self.send(|venue, _| venue.unsubscribe(security));
        if let (SendOutcome::Sent, Some(session)) = (&sending, &mut self.session) {
            session.subscribed.remove(&security);
        }
        sending
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use domain::report::ReportKind;

    use super::persistent_venue::VenueLedger;
    use super::*;
    use crate::fixture::order;
    use crate::market::{START, venue};

    /// A disk that is full on write, or on sync.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Full {
        AtWrite,
        AtSync,
    }

    impl VenueLedger for Full {
        fn append(&mut self, _: &[u8]) -> Result<(), StorageError> {
            if *self == Self::AtWrite { Err(full()) } else { Ok(()) }
        }

        fn sync(&mut self) -> Result<(), StorageError> {
            Err(full())
        }

        fn bytes(&self) -> u64 {
            0
        }
    }

    fn full() -> StorageError {
        StorageError::Io { doing: "write", path: "venue.log".into(), error: io::ErrorKind::StorageFull.into() }
    }

    #[derive(Default)]
    struct Heard(Vec<ReportKind>);

    impl ReportSink for Heard {
        fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
            self.0.push(said);
        }

        fn on_market_data(&mut self, _: MarketData) {}
    }

    /// Connected, with an order in the book, when the disk fills up.
    fn on_a_full_disk(full: Full) -> (tempfile::TempDir, SimulatedAdapter) {
        let folder = tempfile::tempdir().unwrap();
        let settings = SimulatedVenueSettings {
            ledger: folder.path().join("venue.log"),
            venue: venue(),
            compact_at_bytes: LEDGER_COMPACT_BYTES,
        };
        let mut simulated = SimulatedAdapter::open(settings, START).unwrap();
        simulated.connect(START).unwrap();
        assert_eq!(simulated.submit(START, &order(1, "9")), SendOutcome::Sent);
        simulated.deliver(START.plus_seconds(1), &mut Heard::default()).unwrap();
        simulated.venue.as_mut().unwrap().replace_ledger(Box::new(full));
        (folder, simulated)
    }

    #[test]
    fn nothing_is_reported_that_a_venue_cannot_write_down_or_that_a_power_cut_could_undo() {
        for full in [Full::AtWrite, Full::AtSync] {
            let (_folder, mut simulated) = on_a_full_disk(full);
            assert_eq!(simulated.submit(START.plus_seconds(2), &order(2, "9")), SendOutcome::Sent);
            let (at, mut heard) = (START.plus_seconds(3), Heard::default());
            assert!(simulated.deliver(at, &mut heard).is_err());
            assert_eq!(heard.0, []);
            assert!(matches!(simulated.submit(at, &order(3, "9")), SendOutcome::NotSent(_)));
            assert_starts_again(simulated);
        }
    }

    /// The next session is with a venue restored from its file.
    fn assert_starts_again(mut simulated: SimulatedAdapter) {
        let at = START.plus_seconds(4);
        simulated.disconnect(at);
        simulated.connect(at).unwrap();
        let known: Vec<_> = simulated.snapshot(at).unwrap().orders.iter().map(|known| known.order.0).collect();
        assert_eq!(known, [1]);
    }
}
