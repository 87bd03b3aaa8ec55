//! Orders over REST, at a steady rate, at any member: a follower forwards them. Each has an id of its own, so one whose outcome is not known is
//! sent again.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use scenarios::http::{HttpClient, HttpFailure};
use serde_json::{Value, json};

use crate::binance::{BITCOIN, order_of};
use crate::kill::flow::Random;
use crate::test_platform::{limit, path_of, with_id};

/// A client waits for its answer before it places the next order: by the rate an answer may take a quarter of a second.
const ORDERS_PER_CLIENT: u64 = 4;
const CLIENTS_MIN: u64 = 4;
const CLIENTS_MAX: u64 = 128;
/// Orders that were due while no member led are placed afterwards, as fast as they are answered; those of an earlier time never.
const CATCH_UP_MAX: Duration = Duration::from_secs(10);
/// Between two attempts to place the same order.
const PAUSE: Duration = Duration::from_millis(100);
/// An order that nobody takes for so long is given up.
const PATIENCE: Duration = Duration::from_secs(120);
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// What clients know at the end.
#[derive(Default)]
pub(crate) struct RestLog {
    pub(crate) acknowledged: Vec<String>,
    pub(crate) refused: Vec<(String, String)>,
    /// Sent at least once, and never answered.
    pub(crate) unknown: Vec<String>,
    /// Orders that were placed, whatever became of them.
    pub(crate) offered: u64,
    /// Orders that were due and never placed, because too many were due before them.
    pub(crate) skipped: u64,
    /// Orders whose first outcome was not known.
    pub(crate) sent_again: u64,
    /// From the first order to the last answer.
    pub(crate) seconds: u64,
}

pub(crate) struct RestLoad {
    begun: Instant,
    acknowledged: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<RestLog>>,
}

impl RestLoad {
    /// At members with these addresses, over these lines.
    pub(crate) fn begin(members: &[(SocketAddr, SocketAddr)], rate: u64, seed: u64) -> Self {
        let (acknowledged, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let reach =
            |(member, line): &(SocketAddr, SocketAddr)| HttpClient::new(*member).over(*line).with_timeout(ANSWER_WAIT);
        let client = |number| RestClient {
            name: format!("rest-{number}"),
            members: members.iter().map(reach).collect(),
            random: Random::new(seed + number),
            acknowledged: acknowledged.clone(),
            log: RestLog::default(),
        };
        let clients = (rate / ORDERS_PER_CLIENT).clamp(CLIENTS_MIN, CLIENTS_MAX);
        let pause = Duration::from_secs(1) / u32::try_from(rate.max(1)).expect("it is small");
        let interval = pause * u32::try_from(clients).expect("it is small");
        let begun = Instant::now();
        let start = |number: u64| {
            let (client, stop) = (client(number), stop.clone());
            // One after the other, so that their orders do not come in bursts.
            let due = begun + pause * u32::try_from(number).expect("it is small");
            thread::spawn(move || client.run(Slots { due, interval }, &stop))
        };
        Self { begun, clients: (0..clients).map(start).collect(), acknowledged, stop }
    }

    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Relaxed)
    }

    /// No new orders; those that were begun are brought to an end.
    pub(crate) fn end(self) -> RestLog {
        self.stop.store(true, Ordering::Relaxed);
        let mut log = RestLog::default();
        for client in self.clients {
            let told = client.join().expect("a client does not panic");
            log.acknowledged.extend(told.acknowledged);
            log.refused.extend(told.refused);
            log.unknown.extend(told.unknown);
            log.offered += told.offered;
            log.skipped += told.skipped;
            log.sent_again += told.sent_again;
        }
        log.seconds = self.begun.elapsed().as_secs();
        log
    }
}

struct RestClient {
    name: String,
    members: Vec<HttpClient>,
    random: Random,
    acknowledged: Arc<AtomicU64>,
    log: RestLog,
}

/// What one attempt has shown.
enum Attempt {
    Acknowledged,
    Refused(String),
    /// It had no effect.
    NotTaken,
    Unknown,
}

impl RestClient {
    fn run(mut self, mut slots: Slots, stop: &AtomicBool) -> RestLog {
        for number in 0_u64.. {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            self.log.skipped += slots.skip_old(Instant::now());
            thread::sleep(slots.next().saturating_duration_since(Instant::now()));
            let id = format!("{}-{number}", self.name);
            self.log.offered += 1;
            self.place(&order(number, &id), id);
        }
        self.log
    }

    fn place(&mut self, order: &Value, id: String) {
        let (begun, mut may_be_there) = (Instant::now(), false);
        while begun.elapsed() < PATIENCE {
            match self.attempt(order, may_be_there) {
                Attempt::Acknowledged => {
                    self.acknowledged.fetch_add(1, Ordering::Relaxed);
                    self.log.sent_again += u64::from(may_be_there);
                    return self.log.acknowledged.push(id);
                }
                Attempt::Refused(code) => return self.log.refused.push((id, code)),
                Attempt::NotTaken => {}
                Attempt::Unknown => may_be_there = true,
            }
            thread::sleep(PAUSE);
        }
        if may_be_there {
            self.log.unknown.push(id);
        }
    }

    fn attempt(&mut self, order: &Value, may_be_there: bool) -> Attempt {
        let member = usize::try_from(self.random.between((0, self.members.len() as u64 - 1))).expect("it is small");
        let answer = match self.members[member].post(path_of(order), &order.to_string()) {
            Ok(answer) => answer,
            Err(HttpFailure::NotSent(_)) => return Attempt::NotTaken,
            Err(HttpFailure::Unanswered(_)) => return Attempt::Unknown,
        };
        let problem: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        let code = problem["code"].as_str().unwrap_or_default().to_owned();
        match (answer.status, code.as_str()) {
            (200, _) => Attempt::Acknowledged,
            (409, "duplicate-order") if may_be_there => Attempt::Acknowledged,
            (503, "outcome-unknown" | "journal-stalled") => Attempt::Unknown,
            (503 | 429, _) => Attempt::NotTaken,
            // The prices of a new leader come a moment after its log-on.
            (422, "cash-unknown" | "no-reference-price" | "stale-price") => Attempt::NotTaken,
            _ => Attempt::Refused(code),
        }
    }
}

/// When the orders of one client are due.
struct Slots {
    due: Instant,
    interval: Duration,
}

impl Slots {
    fn next(&mut self) -> Instant {
        let due = self.due;
        self.due += self.interval;
        due
    }

    /// Those that are due for too long.
    fn skip_old(&mut self, now: Instant) -> u64 {
        let mut skipped = 0;
        while now.saturating_duration_since(self.due) > CATCH_UP_MAX {
            self.due += self.interval;
            skipped += 1;
        }
        skipped
    }
}

/// Most never trade and are gone at once; some trade.
fn order(number: u64, id: &str) -> Value {
    let side = if number.is_multiple_of(20) { "BUY" } else { "SELL" };
    if number.is_multiple_of(10) {
        return with_id(order_of(BITCOIN, side, "0.001"), id);
    }
    let mut order = with_id(limit(BITCOIN, "BUY", 1, "20000"), id);
    (order["quantity"], order["tif"]) = (json!("0.001"), json!("IOC"));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_that_were_due_are_caught_up_with_and_those_of_too_long_ago_are_counted() {
        let (begin, interval) = (Instant::now(), Duration::from_millis(500));
        let mut slots = Slots { due: begin, interval };
        // An answer took 3 s: the orders of that time are due at once.
        let late = begin + Duration::from_secs(3);
        assert_eq!(slots.skip_old(late), 0);
        let due: Vec<_> = (0..8).map(|_| slots.next()).collect();
        assert_eq!((due[0], due.iter().filter(|due| **due <= late).count()), (begin, 7));
        // And one took a minute.
        assert_eq!(slots.skip_old(due[7] + Duration::from_secs(60)), 99);
        assert_eq!(slots.next(), due[7] + Duration::from_secs(50));
    }
}
