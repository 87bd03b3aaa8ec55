//! A FIX client of the platform in front: it trades, logs on again after each kill, and in the end has been told everything once.

use std::collections::{BTreeMap, BTreeSet};

use domain::Decimal;
use scenarios::http::HttpClient;
use scenarios::server::RunningServer;

use crate::evidence::JournalEvidence;
use crate::fix_orders::client::{FixClient, Message};
use crate::test_platform::TraderClient;

/// No heartbeats: it reads only at the end of each round.
const LOGON: &str = "98=0|108=0";

pub(super) struct ChainClient {
    client: FixClient,
    /// ClOrdIDs of its orders.
    sent: Vec<String>,
}

impl ChainClient {
    pub(super) fn log_on(front: &RunningServer) -> Self {
        let mut client = FixClient::new("STEADY");
        client.seconds_ahead = 0;
        let mut trader = Self { client, sent: Vec::new() };
        trader.log_on_again(front);
        trader
    }

    /// Its numbers go on; what the platform did not get is sent again.
    pub(super) fn log_on_again(&mut self, front: &RunningServer) {
        self.client.disconnect();
        self.client.log_on_with(front.port_address("fix"), LOGON);
    }

    /// One order that trades, one that rests, and a cancel of the one before.
    pub(super) fn trade(&mut self, round: u64) {
        let side = if round.is_multiple_of(2) { "2" } else { "1" };
        self.order(&format!("fix-trades-{round}"), &format!("54={side}|38=1|40=1"));
        self.order(&format!("fix-rests-{round}"), "54=1|38=5|40=2|44=98|59=1");
        if let Some(before) = round.checked_sub(1) {
            self.client.send(&format!("35=F|11=fix-gone-{round}|41=fix-rests-{before}|1=BACK|54=1|48=1"));
        }
    }

    fn order(&mut self, id: &str, terms: &str) {
        self.client.send(&format!("35=D|11={id}|1=BACK|{terms}|48=1"));
        self.sent.push(id.to_owned());
    }

    /// Each order is taken or refused.
    pub(super) fn wait_for_answers(&mut self) {
        let sent: BTreeSet<String> = self.sent.iter().cloned().collect();
        self.client.receive_until("an answer to each order", |client| {
            let answered = of_type(client, "A").chain(of_type(client, "8")).filter_map(|report| report.get(11));
            answered.filter(|id| sent.contains(*id)).collect::<BTreeSet<_>>().len() == sent.len()
        });
    }

    /// How many orders were taken.
    pub(super) fn accepted(&self) -> usize {
        of_type(&self.client, "A").count()
    }

    /// The platform has nothing more to tell.
    pub(super) fn log_out_when_told(&mut self, front: &mut HttpClient) {
        let mut filled = BTreeMap::new();
        for report in of_type(&self.client, "A") {
            let id = report.get(11).expect("it has one");
            let quantity: Decimal = front.order(id)["filledQuantity"].to_string().parse().expect("a quantity");
            filled.insert(id.to_owned(), quantity.normalize());
        }
        filled.retain(|_, quantity| !quantity.is_zero());
        self.client.receive_until("each fill", |client| told_fills(client) == filled);
        self.client.log_out();
    }

    /// An order is taken once, or refused because the venue is away; and a fill is told once.
    pub(super) fn compare(&self, journal: &JournalEvidence) {
        for id in &self.sent {
            let of_order = |exec_type| of_type(&self.client, exec_type).filter(|report| report.get(11) == Some(id));
            let (taken, rejected): (Vec<_>, Vec<_>) = (of_order("A").collect(), of_order("8").collect());
            assert!(taken.len() <= 1 && rejected.len() <= 1, "{id}: {taken:?} {rejected:?}");
            assert_eq!(journal.order(id).len(), taken.len(), "{id}: {rejected:?}");
            let is_line_down = |report: &&Message| report.get(58).is_some_and(|text| text.contains("adapter-down"));
            assert!(!taken.is_empty() || rejected.iter().any(is_line_down), "{id}: {rejected:?}");
        }
        let fills: Vec<_> = of_type(&self.client, "F").filter_map(|report| report.get(17)).collect();
        assert_eq!(fills.iter().collect::<BTreeSet<_>>().len(), fills.len(), "an execution is told once: {fills:?}");
        let is_ours = |order: &domain::Order| self.sent.iter().any(|id| *id == order.int_id.as_str());
        let booked = journal.fills.values().filter(|fill| is_ours(&journal.placed[&fill.order])).count();
        assert_eq!(fills.len(), booked, "each fill that is booked is told");
    }
}

/// Reports with that ExecType (150).
fn of_type<'a>(client: &'a FixClient, exec_type: &'a str) -> impl Iterator<Item = &'a Message> {
    client.received.iter().filter(move |report| report.get(150) == Some(exec_type))
}

/// Quantity by order.
fn told_fills(client: &FixClient) -> BTreeMap<String, Decimal> {
    let mut told: BTreeMap<String, Decimal> = BTreeMap::new();
    for report in of_type(client, "F") {
        let id = report.get(11).expect("it has one").to_owned();
        *told.entry(id).or_default() +=
            report.get(32).and_then(|text| text.parse::<Decimal>().ok()).expect("a quantity");
    }
    told.into_iter().map(|(id, quantity)| (id, quantity.normalize())).collect()
}
