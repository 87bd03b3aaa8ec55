//! One row for each figure: ours, the peer's where there is one, and what we aim at.

use std::time::Duration;

pub(crate) struct Row {
    what: &'static str,
    ours: String,
    peer: String,
    aim: String,
    verdict: String,
}

impl Row {
    /// Less is better; the aim is a time.
    pub(crate) fn nanoseconds(what: &'static str, ours: f64, aim: Option<f64>) -> Self {
        let (aim, verdict) = match aim {
            Some(aim) => (format!("< {aim:.0} ns"), verdict(aim / ours)),
            None => ("–".to_owned(), "to compare".to_owned()),
        };
        Self { what, ours: format!("{ours:.0} ns"), peer: "–".to_owned(), aim, verdict }
    }

    /// Less is better; the aim is the peer's time.
    pub(crate) fn round_trip(what: &'static str, ours: f64, peer: f64) -> Self {
        Self {
            what,
            ours: format!("{ours:.1} µs"),
            peer: format!("{peer:.1} µs"),
            aim: "≤ 1.0 x".to_owned(),
            verdict: format!("{:.2} x {}", ours / peer, met(ours <= peer)),
        }
    }

    /// More is better; the aim is so many times the peer's rate.
    pub(crate) fn rate(what: &'static str, ours: f64, peer: f64, aim: f64) -> Self {
        Self {
            what,
            ours: format!("{ours:.0}/s"),
            peer: format!("{peer:.0}/s"),
            aim: format!("≥ {aim:.1} x"),
            verdict: format!("{:.2} x {}", ours / peer, met(ours >= aim * peer)),
        }
    }

    /// More is better; below the floor it is no use, and the aim is beyond.
    pub(crate) fn aimed(what: &'static str, ours: f64, floor: f64, aim: f64) -> Self {
        Self {
            what,
            ours: format!("{ours:.0}/s"),
            peer: "–".to_owned(),
            aim: format!("{aim:.0}/s"),
            verdict: format!(
                "{}; {:.2} x the floor of {floor:.0}/s {}",
                verdict(ours / aim),
                ours / floor,
                met(ours >= floor)
            ),
        }
    }

    /// Less is better; the aim is about the second.
    pub(crate) fn percentiles(what: &'static str, p50: Duration, p99: Duration, aim: Duration) -> Self {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        Self {
            what,
            ours: format!("{:.1} / {:.1} ms", milliseconds(p50), milliseconds(p99)),
            peer: "–".to_owned(),
            aim: format!("< {:.0} ms", milliseconds(aim)),
            verdict: met(p99 < aim).to_owned(),
        }
    }

    /// What stands beside a figure.
    pub(crate) fn beside(what: &'static str, measured: String) -> Self {
        Self { what, ours: measured, peer: "–".to_owned(), aim: "–".to_owned(), verdict: "to compare".to_owned() }
    }
}

fn verdict(reached: f64) -> String {
    format!("{reached:.2} x {}", met(reached >= 1.0))
}

fn met(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}

pub(crate) fn print(rows: &[Row]) {
    let line = |cells: [&str; 5]| {
        println!("{:<44} {:>12} {:>12} {:>10}  {}", cells[0], cells[1], cells[2], cells[3], cells[4]);
    };
    line(["figure", "ours", "QuickFIX", "aim", "reached"]);
    for row in rows {
        line([row.what, &row.ours, &row.peer, &row.aim, &row.verdict]);
    }
}
