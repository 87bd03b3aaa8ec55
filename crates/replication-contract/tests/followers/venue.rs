//! A venue that notes what it is sent, and by which member.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use adapters::{
    AdapterHost, MarketFeed, OrderSession, ReportSink, SendLease, SendOutcome, SessionLost, VenueBackoff,
    VenueOrderRules,
};
use bus::inbox::InboxReceiver;
use crossbeam_channel::{Receiver, never};
use domain::order::OrderTerms;
use domain::report::{AdapterCapabilities, ReportKind, VenueSnapshot};
use domain::{AccountId, AdapterName, Instruction, Order, SecurityId, Text, Timestamp};
use storage::replication::ReplicationStatus;

const AT: Timestamp = Timestamp(1_000_000_000_000);

/// Everything that happened, in its order.
pub(crate) type VenueLog = Arc<Mutex<Vec<String>>>;

/// The adapter of one member, on the time that the test gives.
pub(crate) struct MemberAdapter {
    name: &'static str,
    host: AdapterHost,
    lanes: InboxReceiver,
    log: VenueLog,
    now: Arc<Mutex<Instant>>,
}

impl MemberAdapter {
    /// Logs on, where it has the lease.
    pub(crate) fn log_on(name: &'static str, status: &Arc<ReplicationStatus>, lease: Duration, log: &VenueLog) -> Self {
        let now = Arc::new(Mutex::new(Instant::now()));
        let (clock, status) = (now.clone(), status.clone());
        let lease = SendLease::new(move || status.holds_lease(*clock.lock().unwrap(), lease));
        let venue = Box::new(NotingVenue { member: name, log: log.clone() });
        let (inbox, lanes) = bus::inbox::inbox();
        let host = AdapterHost::attach(AdapterName::new("TEST", None), venue, inbox, VenueBackoff::default()).unwrap();
        let mut adapter = Self { name, host: host.with_lease(Some(lease)), lanes, log: log.clone(), now };
        adapter.host.handle(AT, &Instruction::LogOn).unwrap();
        adapter.host.step(AT).unwrap();
        adapter.note_not_sent();
        adapter
    }

    /// The engine's instruction reaches the adapter: the order is durable.
    pub(crate) fn submit(&mut self, order: u64) {
        self.host.handle(AT, &Instruction::Submit(Arc::new(samples::order(order)))).unwrap();
        self.note_not_sent();
    }

    /// The process goes on at this moment: it was paused before.
    pub(crate) fn wake_at(&mut self, moment: Instant) {
        *self.now.lock().unwrap() = moment;
    }

    fn note_not_sent(&self) {
        for report in self.lanes.reports.try_iter() {
            if let ReportKind::NotSent { order, reason } = report.kind {
                self.log.lock().unwrap().push(format!("{} does not send {order}: {reason}", self.name));
            }
        }
    }
}

struct NotingVenue {
    member: &'static str,
    log: VenueLog,
}

impl NotingVenue {
    fn note(&self, what: &str) -> SendOutcome {
        self.log.lock().unwrap().push(format!("{} {what}", self.member));
        SendOutcome::Sent
    }
}

impl OrderSession for NotingVenue {
    fn capabilities(&self) -> AdapterCapabilities {
        AdapterCapabilities::default()
    }

    fn order_rules(&self, _: SecurityId) -> VenueOrderRules {
        VenueOrderRules::default()
    }

    /// What leaves, leaves inside the calls of the host.
    fn set_lease(&mut self, _: SendLease) {}

    fn connect(&mut self, _: Timestamp) -> Result<(), SessionLost> {
        self.note("logs on");
        Ok(())
    }

    fn snapshot(&mut self, _: Timestamp) -> Result<VenueSnapshot, SessionLost> {
        Ok(VenueSnapshot { complete: true, as_of: Some(AT), ..VenueSnapshot::default() })
    }

    fn submit(&mut self, _: Timestamp, order: &Order) -> SendOutcome {
        self.note(&format!("sends {}", order.id))
    }

    fn modify(&mut self, _: Timestamp, order: &Order, _: OrderTerms) -> SendOutcome {
        self.note(&format!("changes {}", order.id))
    }

    fn cancel(&mut self, _: Timestamp, order: &Order) -> SendOutcome {
        self.note(&format!("cancels {}", order.id))
    }

    fn cancel_leg(&mut self, _: Timestamp, order: &Order, _: &Text) -> SendOutcome {
        self.note(&format!("cancels a leg of {}", order.id))
    }

    fn inquire(&mut self, _: Timestamp, _: &Order) -> SendOutcome {
        SendOutcome::Sent
    }

    fn ask_statement(&mut self, _: Timestamp, _: AccountId) -> SendOutcome {
        SendOutcome::Sent
    }

    fn list_open_orders(&mut self, _: Timestamp) -> SendOutcome {
        SendOutcome::Sent
    }

    fn list_fills(&mut self, _: Timestamp, _: Option<SecurityId>, _: Option<&Text>) -> SendOutcome {
        SendOutcome::Sent
    }

    fn deliver(&mut self, _: Timestamp, _: &mut dyn ReportSink) -> Result<(), SessionLost> {
        Ok(())
    }

    fn next_due(&self) -> Option<Timestamp> {
        None
    }

    fn waker(&self) -> Receiver<()> {
        never()
    }

    fn disconnect(&mut self, _: Timestamp) {}
}

impl MarketFeed for NotingVenue {
    fn subscribe(&mut self, _: Timestamp, _: SecurityId) -> SendOutcome {
        SendOutcome::Sent
    }

    fn unsubscribe(&mut self, _: Timestamp, _: SecurityId) -> SendOutcome {
        SendOutcome::Sent
    }
}
