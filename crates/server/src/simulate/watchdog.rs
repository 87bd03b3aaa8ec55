//! Watchdog of a run, on a thread of its own: names a strategy whose call-back does not return; cleans up on interrupt.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use domain::{Text, Timestamp};
use runtime::simulation::{RunProgress, SimulationSetup};
use tracing::{error, warn};

use super::results_folder::TemporaryFiles;
use crate::exit_failure::Exit;
use crate::logging;
use crate::signals;

const CHECK_EVERY: Duration = Duration::from_secs(1);
/// A call-back that takes this long is logged.
const BUSY_SECONDS: u64 = 10;
/// And again after each of these.
const BUSY_AGAIN_SECONDS: u64 = 60;

/// The running call-back and its strategy.
#[derive(Clone)]
pub(super) struct WatchedRun {
    pulse: Arc<RunProgress>,
    strategies: Vec<Text>,
}

impl WatchedRun {
    pub(super) fn of(setup: &SimulationSetup) -> Self {
        let strategies = setup.runners.iter().map(|seat| seat.identity().name.clone()).collect();
        Self { pulse: setup.progress.clone(), strategies }
    }

    fn active_strategy(&self) -> Option<&Text> {
        self.pulse.strategy_index().and_then(|place| self.strategies.get(place))
    }
}

/// Stops with the run.
pub(super) struct RunWatchdog {
    _run: Sender<()>,
}

impl RunWatchdog {
    pub(super) fn start(watched: WatchedRun) -> io::Result<Self> {
        let (run, is_over) = mpsc::channel::<()>();
        let look = move || {
            let mut vigil = BusyCheck::default();
            while is_over.recv_timeout(CHECK_EVERY) == Err(RecvTimeoutError::Timeout) {
                if let Some(told) = vigil.check(watched.pulse.at(), watched.active_strategy()) {
                    warn!("{told}");
                }
            }
        };
        thread::Builder::new().name("watch".to_owned()).spawn(look)?;
        Ok(Self { _run: run })
    }
}

/// An interrupted run leaves no files, whether or not its strategies return.
pub(super) fn on_interrupt(watched: WatchedRun, traces: Arc<TemporaryFiles>) -> io::Result<()> {
    signals::on_stop(move || {
        traces.remove(|| {
            let whose =
                watched.active_strategy().map_or(String::new(), |name| format!(", while strategy {name} was called"));
            error!("interrupted {}{whose}; no results were written", when(watched.pulse.at()));
            logging::finish();
            std::process::exit(Exit::Forced as i32)
        });
    })
}

/// Virtual time, which is at its origin until the first price.
fn when(at: Timestamp) -> String {
    if at == Timestamp::default() { "before the first price".to_owned() } else { format!("at {at}") }
}

/// The last observation, and for how long it has not changed.
#[derive(Default)]
struct BusyCheck {
    busy: Option<(Timestamp, Text)>,
    seconds: u64,
}

impl BusyCheck {
    /// Called once a second.
    fn check(&mut self, at: Timestamp, called: Option<&Text>) -> Option<String> {
        let now = called.map(|name| (at, name.clone()));
        self.seconds = if now.is_some() && now == self.busy { self.seconds + 1 } else { 0 };
        self.busy = now;
        let is_told =
            self.seconds == BUSY_SECONDS || self.seconds > 0 && self.seconds.is_multiple_of(BUSY_AGAIN_SECONDS);
        let (at, name) = self.busy.as_ref().filter(|_| is_told)?;
        let seconds = self.seconds;
        Some(format!("strategy {name} has been busy for {seconds} s with what happened at {at}; Ctrl-C ends the run"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_that_does_not_return_is_named_after_ten_seconds_and_then_every_minute() {
        let (mut vigil, name, at) = (BusyCheck::default(), Text::from("HANGER"), Timestamp(1_735_689_600_000_000_000));
        let told: Vec<_> = (0..=120).filter_map(|second| Some((second, vigil.check(at, Some(&name))?))).collect();
        let seconds: Vec<u32> = told.iter().map(|(second, _)| *second).collect();
        assert_eq!(seconds, [10, 60, 120]);
        let text =
            "strategy HANGER has been busy for 10 s with what happened at 2025-01-01T00:00:00Z; Ctrl-C ends the run";
        assert_eq!(told[0].1, text);
    }

    #[test]
    fn a_run_that_goes_on_is_no_news() {
        let (mut vigil, name) = (BusyCheck::default(), Text::from("SLOW"));
        let told = (0..100).filter_map(|second| vigil.check(Timestamp(second), Some(&name))).count();
        let idle = (0..100).filter_map(|_| vigil.check(Timestamp(0), None)).count();
        assert_eq!((told, idle), (0, 0));
    }
}
