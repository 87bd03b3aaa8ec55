//! FIX clients of the kill test. Their sessions keep their numbers over every crash: what was sent into a dying server is sent
//! again when it asks for it, so in the end every order was taken or refused once.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use super::flow::Random;
use crate::evidence::JournalEvidence;
use crate::fix_orders::client::{FixClient, Message};

/// Sessions of the kill test; they keep their numbers.
pub(crate) const SESSIONS: [&str; 2] = ["KILL-A", "KILL-B"];
/// Orders that are on their way at the same time, at the most.
const BURST_MAX: u64 = 4;

pub(crate) fn session_file() -> String {
    let common = "[DEFAULT]\nConnectionType=acceptor\nBeginString=FIX.4.4\nStartTime=00:00:00\nEndTime=00:00:00\n\
        NonStopSession=Y\nValidateIncomingMessage=N\nSocketAcceptPort=0\nFileLogPath=log\nMaxOrdersPerSecond=0\n";
    let session = |name: &&str| format!("[SESSION]\nSenderCompID=RIALTO\nTargetCompID={name}\n");
    common.to_owned() + &SESSIONS.iter().map(session).collect::<String>()
}

pub(crate) struct FixFlow {
    client: FixClient,
    name: &'static str,
    random: Random,
    sent: usize,
    /// Sent, and not answered yet.
    waiting: BTreeSet<String>,
    /// Accepted and not yet looked for in the journal.
    accepted: Vec<String>,
    exec_ids: BTreeSet<String>,
    pub(crate) accepted_count: usize,
    pub(crate) resent_count: usize,
}

impl FixFlow {
    pub(crate) fn new(name: &'static str, random: &mut Random) -> Self {
        Self {
            client: FixClient::new(name),
            name,
            random: Random::new(random.next()),
            sent: 0,
            waiting: BTreeSet::new(),
            accepted: vec![],
            exec_ids: BTreeSet::new(),
            accepted_count: 0,
            resent_count: 0,
        }
    }

    /// Logs on with the numbers that it has, and waits until every order it ever sent is answered.
    pub(crate) fn reconnect(&mut self, address: SocketAddr) {
        self.resent_count += self.waiting.len();
        self.client.log_on(address);
        while !self.waiting.is_empty() {
            assert!(self.receive(), "{}: the line ended before answers to {:?}", self.name, self.waiting);
        }
    }

    /// Sends orders until the server is gone.
    pub(crate) fn begin(mut self, acknowledged: Arc<AtomicU64>) -> JoinHandle<Self> {
        thread::spawn(move || {
            loop {
                for _ in 0..self.random.between((1, BURST_MAX)) {
                    self.send_order();
                }
                let before = self.waiting.len();
                while !self.waiting.is_empty() {
                    if !self.receive() {
                        return self;
                    }
                }
                acknowledged.fetch_add(before as u64, Ordering::Relaxed);
            }
        })
    }

    fn send_order(&mut self) {
        let id = format!("{}-{}", self.name, self.sent);
        self.sent += 1;
        let order = match self.random.between((0, 3)) {
            0 => format!("35=D|11={id}|54=1|38=1|40=2|44=150|48=3|59=1"),
            1 => format!("35=D|11={id}|54=1|38=1|40=1|48=1"),
            2 => format!("35=D|11={id}|54=2|38=1|40=1|48=1"),
            // Half a share is refused.
            _ => format!("35=D|11={id}|54=1|38=0.5|40=1|48=1"),
        };
        self.waiting.insert(id);
        self.client.send(&order);
    }

    /// False where the line has ended.
    fn receive(&mut self) -> bool {
        let is_open = self.client.receive().is_some();
        for message in std::mem::take(&mut self.client.received) {
            self.note(&message);
        }
        is_open
    }

    fn note(&mut self, message: &Message) {
        assert_eq!(message.kind(), "8", "{}: {message:?}", self.name);
        let (id, exec_id) = (message.get(11).unwrap_or_default(), message.get(17).unwrap_or_default());
        assert!(self.exec_ids.insert(exec_id.to_owned()), "an ExecID came twice: {message:?}");
        match message.get(150) {
            Some("A") => {
                assert!(self.waiting.remove(id), "an order was accepted twice: {message:?}");
                self.accepted.push(id.to_owned());
                self.accepted_count += 1;
            }
            Some("8") => {
                self.waiting.remove(id);
            }
            _ => {}
        }
    }

    /// What was accepted since is in the journal, once.
    pub(crate) fn compare(&mut self, journal: &JournalEvidence) {
        for id in self.accepted.drain(..) {
            let found = journal.order(&id);
            assert_eq!(found.len(), 1, "accepted over FIX, but not in the journal once: {id} {found:?}");
        }
    }
}
