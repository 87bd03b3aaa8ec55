//! What a turn took, and the turns of all initiators one after the other, so that what else the machine does touches them alike.

use std::error::Error;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::Outcome;
use crate::programs::{Initiator, Programs, StorePlace, Turn};

/// Of each figure the median turn counts.
const TURNS: usize = 5;
const ONE_BY_ONE: Turn = Turn { orders: 2_000, under_way: 1 };
const MANY: Turn = Turn { orders: 30_000, under_way: 1_000 };
/// A sync for each order takes its time.
const MANY_SYNCED: Turn = Turn { orders: 5_000, under_way: 1_000 };
/// Orders a second, ours by QuickFIX's.
const AIM: f64 = 2.0;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    orders: usize,
    seconds: f64,
    /// Microseconds from order to report.
    p50: f64,
    p99: f64,
    /// Microseconds of processor time an order, of all threads of the initiator.
    processor: f64,
}

impl Figures {
    pub(crate) fn new(seconds: f64, mut times: Vec<Duration>, spent: Duration) -> Self {
        times.sort();
        let (orders, micros) = (times.len(), |time: Duration| time.as_secs_f64() * 1e6);
        let [p50, p99] = [50, 99].map(|percent| times.get(orders * percent / 100).copied().map_or(0.0, micros));
        Self { orders, seconds, p50, p99, processor: micros(spent) / orders as f64 }
    }

    fn rate(&self) -> f64 {
        self.orders as f64 / self.seconds
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {} {}", self.orders, self.seconds, self.p50, self.p99, self.processor)
    }
}

/// As both initiators print them.
impl FromStr for Figures {
    type Err = Box<dyn Error>;

    fn from_str(line: &str) -> Outcome<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [orders, seconds, p50, p99, processor] = words[..] else {
            return Err(format!("{line} is no figures").into());
        };
        Ok(Self {
            orders: orders.parse()?,
            seconds: seconds.parse()?,
            p50: p50.parse()?,
            p99: p99.parse()?,
            processor: processor.parse()?,
        })
    }
}

pub(crate) fn print(programs: &Programs) -> Outcome<()> {
    let plain = Initiator::QuickFix { checks: true };
    let unchecked = Initiator::QuickFix { checks: false };
    row(["figure", "ours", "QuickFIX", "reached"].map(str::to_owned));
    compare(programs, "store in memory, QuickFIX as it is", StorePlace::Memory, (plain, ONE_BY_ONE, MANY))?;
    compare(
        programs,
        "store in memory, QuickFIX without its check",
        StorePlace::Memory,
        (unchecked, ONE_BY_ONE, MANY),
    )?;
    compare(
        programs,
        "store on disk, QuickFIX with a sync too",
        StorePlace::Disk,
        (Initiator::SyncedQuickFix, ONE_BY_ONE, MANY_SYNCED),
    )?;
    compare(programs, "store on disk, QuickFIX as it is, no sync", StorePlace::Disk, (plain, ONE_BY_ONE, MANY))
}

fn compare(
    programs: &Programs,
    title: &str,
    place: StorePlace,
    (peer, one_by_one, many): (Initiator, Turn, Turn),
) -> Outcome<()> {
    println!("{title}");
    let (ours, theirs) = in_turns(programs, place, peer, one_by_one)?;
    for (what, of) in [("p50", (|one: &Figures| one.p50) as fn(&Figures) -> f64), ("p99", |one| one.p99)] {
        let (ours, theirs) = (median(&ours, of), median(&theirs, of));
        let reached = format!("{:.2} x", ours / theirs);
        row([format!("  order to report, {what}"), format!("{ours:.0} µs"), format!("{theirs:.0} µs"), reached]);
    }
    let (ours, theirs) = in_turns(programs, place, peer, many)?;
    let rates = [&ours, &theirs].map(|turns| median(turns, Figures::rate));
    let ratio = rates[0] / rates[1];
    let verdict = if ratio >= AIM { "met" } else { "MISSED" };
    let [rate, peer_rate] = rates.map(|rate| format!("{rate:.0}/s"));
    row([
        format!("  orders, {} under way", many.under_way),
        rate,
        peer_rate,
        format!("{ratio:.2} x, aim {AIM} x {verdict}"),
    ]);
    let [spent, peer_spent] = [&ours, &theirs].map(|turns| median(turns, |one| one.processor));
    let reached = format!("{:.2} x", spent / peer_spent);
    row(["  processor time an order".to_owned(), format!("{spent:.1} µs"), format!("{peer_spent:.1} µs"), reached]);
    Ok(())
}

fn in_turns(
    programs: &Programs,
    place: StorePlace,
    peer: Initiator,
    turn: Turn,
) -> Outcome<(Vec<Figures>, Vec<Figures>)> {
    let mut turns = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        turns.0.push(programs.run(Initiator::Ours, place, turn)?);
        turns.1.push(programs.run(peer, place, turn)?);
    }
    Ok(turns)
}

fn median(turns: &[Figures], of: impl Fn(&Figures) -> f64) -> f64 {
    let mut values: Vec<f64> = turns.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

pub(crate) fn row(cells: [String; 4]) {
    println!("{:<46} {:>12} {:>12}  {}", cells[0], cells[1], cells[2], cells[3]);
}
