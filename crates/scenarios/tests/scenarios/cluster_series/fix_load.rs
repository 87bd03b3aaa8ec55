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
    let mut log = FixLog::new();
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
    /// Nothing was sent or received yet.
    fn new() -> Self {
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
            _ if number > self.next_number => {
                assert!(["A", "2", "5"].contains(&fields[&35].as_str()), "{} was due: {line}", self.next_number);
                self.early.insert(number);
            }
            _ if fields[&35] == "4" => self.note_gap_fill(fields),
            _ if number == self.next_number => self.next_number += 1,
            _ => assert!(is_repeated, "{} was due: {line}", self.next_number),
        }
        while self.early.remove(&self.next_number) {
            self.next_number += 1;
        }
    }

    /// It may begin before the next number: a Resend Request that came early is counted here, but QuickFIX asks for it once more.
    fn note_gap_fill(&mut self, fields: &Fields) {
        self.next_number = self.next_number.max(fields[&36].parse().unwrap());
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What QuickFIX hands over when a leader stops in order while a report is on its way, and the client goes on at the next one.
    const HAND_OVER: [&str; 7] = [
        // The old leader: a report, and the Logout; the report behind it (3) finds no reader.
        "8=FIX.4.4|35=8|34=1|11=a|17=e1|150=A|",
        "8=FIX.4.4|35=5|34=2|58=the server stops|",
        // The new one: its Logon, and its request for what was sent meanwhile, are handed over before the report.
        "8=FIX.4.4|35=A|34=4|",
        "8=FIX.4.4|35=2|34=5|7=3|16=0|",
        "8=FIX.4.4|35=8|34=3|43=Y|11=a|17=e2|150=0|",
        // QuickFIX has not counted the request, so it asks again, and a Test Request (6) came meanwhile.
        "8=FIX.4.4|35=4|34=5|43=Y|123=Y|36=7|",
        "8=FIX.4.4|35=8|34=7|11=b|17=e3|150=A|",
    ];

    #[test]
    fn a_gap_fill_that_begins_at_a_number_that_came_early_counts_to_its_end() {
        let mut log = FixLog::new();
        HAND_OVER.iter().for_each(|line| log.note(line));
        assert_eq!((log.next_number, log.accepted.len(), log.possible_duplicates), (8, 2, 1));
    }

    #[test]
    #[should_panic(expected = "3 was due")]
    fn a_number_that_never_comes_is_missed() {
        let mut log = FixLog::new();
        let without = HAND_OVER.iter().filter(|line| !line.contains("|34=3|") && !line.contains("|34=5|"));
        without.for_each(|line| log.note(line));
    }
}
