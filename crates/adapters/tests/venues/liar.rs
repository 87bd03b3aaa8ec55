//! Faulty adapters, each with one fault, around a correct one.

use std::collections::BTreeSet;

use adapters::{Broken, MarketFeed, Sending, Simulated, Sink, Trading};
use crossbeam_channel::Receiver;
use domain::command::MarketData;
use domain::order::Terms;
use domain::report::{Picture, Profile, Said};
use domain::{Order, OrderId, SecurityId, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lie {
    /// Reports requests as sent that it did not send.
    Pretends,
    /// Its snapshot has no fills.
    ForgetsFills,
    /// Never reports that an order was canceled.
    SwallowsCancels,
    /// Treats a known order as a new one.
    Doubles,
    /// Reports an order as accepted before the venue has it.
    SpeaksTooSoon,
    /// Does not notice that the connection is cut.
    HidesLostSessions,
    /// Keeps all prices to itself.
    WithholdsPrices,
    /// All fills have one id.
    ReusesIds,
}

pub(crate) struct Liar {
    honest: Simulated,
    lie: Lie,
    known: BTreeSet<OrderId>,
    /// Orders that `SpeaksTooSoon` has not sent yet.
    held: Vec<(Timestamp, Order)>,
}

/// The copy of an order that `Doubles` makes has its id plus this.
const SECOND: u64 = 1_000_000;

impl Liar {
    pub(crate) fn new(honest: Simulated, lie: Lie) -> Self {
        Self { honest, lie, known: BTreeSet::new(), held: Vec::new() }
    }

    fn send_held(&mut self, at: Timestamp, sink: &mut dyn Sink) {
        for (sent_at, order) in std::mem::take(&mut self.held) {
            sink.report(Some(at), Said::Accepted { order: order.id, ext_id: None });
            self.honest.submit(sent_at, &order);
        }
    }
}

impl Trading for Liar {
    fn profile(&self) -> Profile {
        self.honest.profile()
    }

    fn connect(&mut self, at: Timestamp) -> Result<(), Broken> {
        let connected = self.honest.connect(at);
        if self.lie == Lie::HidesLostSessions { Ok(()) } else { connected }
    }

    fn picture(&mut self, at: Timestamp) -> Result<Picture, Broken> {
        let mut picture = self.honest.picture(at)?;
        match self.lie {
            Lie::ForgetsFills => picture.fills.clear(),
            Lie::ReusesIds => picture.fills.iter_mut().for_each(|fill| fill.exec_id = "1".into()),
            _ => {}
        }
        Ok(picture)
    }

    fn submit(&mut self, at: Timestamp, order: &Order) -> Sending {
        let is_new = self.known.insert(order.id);
        match self.lie {
            Lie::Doubles if !is_new => {
                self.honest.submit(at, &Order { id: OrderId(order.id.0 + SECOND), ..order.clone() })
            }
            Lie::SpeaksTooSoon if is_new && self.honest.picture(at).is_ok() => {
                self.held.push((at, order.clone()));
                Sending::Sent
            }
            Lie::Pretends => {
                self.honest.submit(at, order);
                Sending::Sent
            }
            _ => self.honest.submit(at, order),
        }
    }

    fn modify(&mut self, at: Timestamp, order: &Order, terms: Terms) -> Sending {
        self.honest.modify(at, order, terms)
    }

    fn cancel(&mut self, at: Timestamp, order: &Order) -> Sending {
        self.honest.cancel(at, order)
    }

    fn deliver(&mut self, at: Timestamp, sink: &mut dyn Sink) -> Result<(), Broken> {
        self.send_held(at, sink);
        let delivered = self.honest.deliver(at, &mut Twist { lie: self.lie, sink });
        if self.lie == Lie::HidesLostSessions { Ok(()) } else { delivered }
    }

    fn due(&self) -> Option<Timestamp> {
        self.honest.due()
    }

    fn bell(&self) -> Receiver<()> {
        self.honest.bell()
    }

    fn disconnect(&mut self, at: Timestamp) {
        self.honest.disconnect(at);
    }
}

impl MarketFeed for Liar {
    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> Sending {
        self.honest.subscribe(at, security)
    }

    fn unsubscribe(&mut self, at: Timestamp, security: SecurityId) -> Sending {
        self.honest.unsubscribe(at, security)
    }
}

/// The venue's reports, changed by the fault.
struct Twist<'a> {
    lie: Lie,
    sink: &'a mut dyn Sink,
}

impl Sink for Twist<'_> {
    fn report(&mut self, at: Option<Timestamp>, mut said: Said) {
        match (self.lie, &mut said) {
            (Lie::SwallowsCancels, Said::Canceled { .. }) | (Lie::SpeaksTooSoon, Said::Accepted { .. }) => return,
            (Lie::Doubles, Said::Accepted { order, .. }) => order.0 %= SECOND,
            (Lie::Doubles, Said::Filled(fill)) => fill.order.0 %= SECOND,
            (Lie::ReusesIds, Said::Filled(fill)) => fill.exec_id = "1".into(),
            _ => {}
        }
        self.sink.report(at, said);
    }

    fn price(&mut self, data: MarketData) {
        if self.lie != Lie::WithholdsPrices {
            self.sink.price(data);
        }
    }
}
