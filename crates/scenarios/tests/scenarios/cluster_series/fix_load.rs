//! Orders over FIX at a steady rate, by a QuickFIX client that knows the addresses of all members.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::cluster_fix::client_settings;
use crate::quickfix::client::{Client, Fields, fields_of};

/// Answers to what was sent come after the last takeover.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the client knows at the end.
#[derive(Default)]
pub(crate) struct FixLog {
    pub(crate) sent: usize,
    pub(crate) accepted: BTreeSet<String>,
    pub(crate) rejected: BTreeMap<String, String>,
    pub(crate) logons: usize,
    pub(crate) possible_duplicates: usize,
    exec_ids: BTreeSet<String>,
    /// Of the next message of the server.
    pub(crate) next_number: u64,
    /// Messages that came before their number was due; QuickFIX does not hand them over again.
    early: BTreeSet<u64>,
}

pub(crate) struct FixLoad {
    stop: Arc<AtomicBool>,
    client: JoinHandle<FixLog>,
}

impl FixLoad {
    pub(crate) fn begin(ports: &[u16], rate: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let client = Client::start(&client_settings(ports), &["all"]);
        let interval = Duration::from_secs(1) / u32::try_from(rate.max(1)).expect("it is small");
        let flag = stop.clone();
        Self { client: thread::spawn(move || run(client, interval, &flag)), stop }
    }

    /// No new orders; every one that was sent is answered.
    pub(crate) fn end(self) -> FixLog {
        self.stop.store(true, Ordering::Relaxed);
        self.client.join().expect("every order is answered, and no number is missing")
    }
}

fn run(mut client: Client, interval: Duration, stop: &AtomicBool) -> FixLog {
    let mut log = FixLog::of_no_client();
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(interval);
        client.say(&format!("35=D|11=fix-{}|48=1|54=1|60=20261116-12:00:00|38=0.001|40=2|44=20000|59=3", log.sent));
        log.sent += 1;
        log.note_all(&client);
    }
    let begun = Instant::now();
    while log.unanswered() > 0 {
        assert!(begun.elapsed() < PATIENCE, "{} orders over FIX were never answered", log.unanswered());
        thread::sleep(interval);
        log.note_all(&client);
    }
    client.leave().iter().for_each(|line| log.note(line));
    log
}

impl FixLog {
    /// Of one that has said and heard nothing.
    pub(crate) fn of_no_client() -> Self {
        Self { next_number: 1, ..Self::default() }
    }

    fn unanswered(&self) -> usize {
        self.sent - self.accepted.len() - self.rejected.len()
    }

    fn note_all(&mut self, client: &Client) {
        while let Some(line) = client.hear_now() {
            self.note(&line);
        }
    }

    fn note(&mut self, line: &str) {
        self.logons += usize::from(line == "logged on");
        if !line.starts_with("8=") {
            return;
        }
        let fields = fields_of(line);
        self.note_number(&fields, line);
        if fields[&35] == "8" {
            self.note_report(&fields, line);
        }
    }

    /// QuickFIX hands over a message when its number is due, but a Logon, a Resend Request and a Logout at once: what is missing before them is
    /// asked for.
    fn note_number(&mut self, fields: &Fields, line: &str) {
        let is_repeated = fields.get(&43).is_some_and(|flag| flag == "Y");
        let number: u64 = fields[&34].parse().unwrap();
        self.possible_duplicates += usize::from(is_repeated && fields[&35] == "8");
        match number {
            _ if number == self.next_number && fields[&35] == "4" => self.next_number = fields[&36].parse().unwrap(),
            _ if number == self.next_number => self.next_number += 1,
            _ if number > self.next_number => {
                assert!(["A", "2", "5"].contains(&fields[&35].as_str()), "{} was due: {line}", self.next_number);
                self.early.insert(number);
            }
            _ => assert!(is_repeated, "{} was due: {line}", self.next_number),
        }
        while self.early.remove(&self.next_number) {
            self.next_number += 1;
        }
    }

    fn note_report(&mut self, fields: &Fields, line: &str) {
        assert!(self.exec_ids.insert(fields[&17].clone()), "an ExecID came twice: {line}");
        let id = fields[&11].clone();
        match fields[&150].as_str() {
            "A" => assert!(self.accepted.insert(id), "an order was accepted twice: {line}"),
            "8" if !self.accepted.contains(&id) => {
                self.rejected.insert(id, fields.get(&58).cloned().unwrap_or_default());
            }
            _ => {}
        }
    }
}
