//! Simulated venue as an adapter. It runs in our process but is treated like an external venue: its own ledger,
//! reconciliation after every connect.

mod controls;
mod market;

use std::collections::BTreeSet;
use std::path::PathBuf;

use crossbeam_channel::Receiver;
use domain::order::Terms;
use domain::report::{Picture, Profile};
use domain::{Order, SecurityId, Timestamp};
use storage::StorageError;
use venue_sim::{Output, Venue, VenueConfig};

use crate::venue::{Broken, MarketFeed, Sending, Sink, Trading};
use controls::Change;
pub use controls::Controls;
use market::Market;
pub use market::{OpenError, newest_order};

/// Settings of one simulated venue.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The venue's ledger file; it is created where it is missing.
    pub ledger: PathBuf,
    pub venue: VenueConfig,
}

pub struct Simulated {
    settings: Settings,
    controls: Controls,
    /// None after its ledger failed: the next connect restarts it from the ledger.
    market: Option<Market>,
    session: Option<Session>,
}

/// Ends with the connection, and with it all subscriptions.
#[derive(Default)]
struct Session {
    subscribed: BTreeSet<SecurityId>,
}

impl Simulated {
    /// Starts the venue from its ledger.
    pub fn open(settings: Settings, at: Timestamp) -> Result<Self, OpenError> {
        let controls = Controls::new(settings.venue.faults);
        let market = Market::open(&settings.ledger, settings.venue.clone(), at)?;
        Ok(Self { settings, controls, market: Some(market), session: None })
    }

    pub fn controls(&self) -> Controls {
        self.controls.clone()
    }

    /// The venue with the current controls applied.
    fn running(&mut self) -> Result<&mut Market, Broken> {
        let market = self.market.as_mut().ok_or_else(|| Broken("the venue's ledger failed".into()))?;
        let Change { faults, listings } = self.controls.take_change();
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
    fn restart(&mut self, at: Timestamp) -> Result<(), Broken> {
        if self.market.is_none() {
            let venue = VenueConfig { faults: self.controls.faults(), ..self.settings.venue.clone() };
            let market = Market::open(&self.settings.ledger, venue, at);
            self.market = Some(market.map_err(|error| Broken(error.to_string().into()))?);
        }
        Ok(())
    }

    fn reachable(&mut self) -> Result<&mut Market, Broken> {
        let market = self.running()?;
        if market.is_cut() { Err(Broken("the connection is cut".into())) } else { Ok(market) }
    }

    /// The venue, within a session only.
    fn connected(&mut self) -> Result<&mut Market, Broken> {
        match self.session {
            Some(_) => self.reachable(),
            None => Err(Broken("not connected".into())),
        }
    }

    fn send(&mut self, request: impl FnOnce(&mut Venue, &mut Vec<Output>)) -> Sending {
        let market = match self.connected() {
            Ok(market) => market,
            Err(Broken(reason)) => return Sending::NotSent(reason),
        };
        match market.act(request) {
            Ok(()) => Sending::Sent,
            // The record may have reached the file, and then the order exists.
            Err(error) => Sending::Unknown(self.fail(&error).0),
        }
    }

    /// A venue that cannot write its ledger stops.
    fn fail(&mut self, error: &StorageError) -> Broken {
        self.market = None;
        Broken(format!("the venue's ledger failed: {error}").into())
    }
}

impl Trading for Simulated {
    fn profile(&self) -> Profile {
        let exchanges = vec![self.settings.venue.exchange.id];
        Profile { exchanges, expires_orders: true, refuses_duplicates: true, simulated: true }
    }

    fn connect(&mut self, at: Timestamp) -> Result<(), Broken> {
        self.disconnect(at);
        self.restart(at)?;
        let caught_up = self.running()?.catch_up(at);
        caught_up.map_err(|error| self.fail(&error))?;
        self.reachable()?;
        self.session = Some(Session::default());
        Ok(())
    }

    fn picture(&mut self, _: Timestamp) -> Result<Picture, Broken> {
        let picture = self.connected()?.picture();
        picture.map_err(|error| self.fail(&error))
    }

    fn submit(&mut self, at: Timestamp, order: &Order) -> Sending {
        self.send(|venue, out| venue.submit(at, order, out))
    }

    fn modify(&mut self, at: Timestamp, order: &Order, terms: Terms) -> Sending {
        self.send(|venue, out| venue.replace(at, order, terms, out))
    }

    fn cancel(&mut self, at: Timestamp, order: &Order) -> Sending {
        self.send(|venue, out| venue.cancel(at, order.id, out))
    }

    fn deliver(&mut self, at: Timestamp, sink: &mut dyn Sink) -> Result<(), Broken> {
        let delivered = self.connected()?.speak(at, sink);
        delivered.map_err(|error| self.fail(&error))
    }

    fn due(&self) -> Option<Timestamp> {
        self.market.as_ref().and_then(Market::due)
    }

    fn bell(&self) -> Receiver<()> {
        self.controls.bell()
    }

    fn disconnect(&mut self, _: Timestamp) {
        let (Some(session), Some(market)) = (self.session.take(), self.market.as_mut()) else { return };
        for security in session.subscribed {
            market.unsubscribe(security);
        }
        market.forget_words();
    }
}

impl MarketFeed for Simulated {
    fn subscribe(&mut self, _: Timestamp, security: SecurityId) -> Sending {
        let mut is_listed = false;
        let sending = self.send(|venue, out| is_listed = venue.subscribe(security, out));
        match (&sending, &mut self.session) {
            (Sending::Sent, _) if !is_listed => Sending::NotSent("not listed here".into()),
            (Sending::Sent, Some(session)) => {
                session.subscribed.insert(security);
                sending
            }
            _ => sending,
        }
    }

    fn unsubscribe(&mut self, _: Timestamp, security: SecurityId) -> Sending {
        let sending = self.send(|venue, _| venue.unsubscribe(security));
        if let (Sending::Sent, Some(session)) = (&sending, &mut self.session) {
            session.subscribed.remove(&security);
        }
        sending
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use domain::command::MarketData;
    use domain::report::Said;

    use super::market::Ledger;
    use super::*;
    use crate::desk::order;
    use crate::market::{START, venue};

    /// A disk that is full on write, or on sync.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Full {
        AtWrite,
        AtSync,
    }

    impl Ledger for Full {
        fn append(&mut self, _: &[u8]) -> Result<(), StorageError> {
            if *self == Self::AtWrite { Err(full()) } else { Ok(()) }
        }

        fn sync(&mut self) -> Result<(), StorageError> {
            Err(full())
        }
    }

    fn full() -> StorageError {
        StorageError::Io { doing: "write", path: "venue.log".into(), error: io::ErrorKind::StorageFull.into() }
    }

    #[derive(Default)]
    struct Heard(Vec<Said>);

    impl Sink for Heard {
        fn report(&mut self, _: Option<Timestamp>, said: Said) {
            self.0.push(said);
        }

        fn price(&mut self, _: MarketData) {}
    }

    /// Connected, with an order in the book, when the disk fills up.
    fn on_a_full_disk(full: Full) -> (tempfile::TempDir, Simulated) {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { ledger: folder.path().join("venue.log"), venue: venue() };
        let mut simulated = Simulated::open(settings, START).unwrap();
        simulated.connect(START).unwrap();
        assert_eq!(simulated.submit(START, &order(1, "9")), Sending::Sent);
        simulated.deliver(START.plus_seconds(1), &mut Heard::default()).unwrap();
        simulated.market.as_mut().unwrap().replace_ledger(Box::new(full));
        (folder, simulated)
    }

    #[test]
    fn an_order_that_a_venue_cannot_write_down_is_in_doubt() {
        let (_folder, mut simulated) = on_a_full_disk(Full::AtWrite);
        let at = START.plus_seconds(2);
        assert!(matches!(simulated.submit(at, &order(2, "9")), Sending::Unknown(_)));
        assert!(matches!(simulated.submit(at, &order(3, "9")), Sending::NotSent(_)));
        assert!(simulated.deliver(at, &mut Heard::default()).is_err());
        assert_starts_again(simulated);
    }

    #[test]
    fn nothing_is_reported_that_a_power_cut_could_undo() {
        let (_folder, mut simulated) = on_a_full_disk(Full::AtSync);
        assert_eq!(simulated.submit(START.plus_seconds(2), &order(2, "9")), Sending::Sent);
        let mut heard = Heard::default();
        assert!(simulated.deliver(START.plus_seconds(3), &mut heard).is_err());
        assert_eq!(heard.0, []);
        assert_starts_again(simulated);
    }

    /// The next session is with a venue restored from its file.
    fn assert_starts_again(mut simulated: Simulated) {
        let at = START.plus_seconds(4);
        simulated.disconnect(at);
        simulated.connect(at).unwrap();
        let known: Vec<_> = simulated.picture(at).unwrap().orders.iter().map(|known| known.order.0).collect();
        assert_eq!(known, [1]);
    }
}
