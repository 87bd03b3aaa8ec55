//! How far a long work is: a bar on a terminal, a log line every tenth elsewhere.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};

pub struct ProgressReporter {
    what: &'static str,
    display: Display,
}

enum Display {
    Bar(ProgressBar),
    /// The tenths that were told.
    Lines(u64),
}

/// Works with fewer steps are over before anybody could read about them.
const REPORTED_STEPS_MIN: u64 = 10_000_000;

impl ProgressReporter {
    /// `what` is done, in words: `replaying the journal`.
    pub fn new_for(what: &'static str) -> Self {
        let display = if io::stderr().is_terminal() { Display::Bar(bar(what)) } else { Display::Lines(0) };
        Self { what, display }
    }

    pub fn show(&mut self, done: u64, total: u64) {
        match &mut self.display {
            Display::Bar(bar) => {
                bar.set_length(total);
                bar.set_position(done);
            }
            Display::Lines(told) => {
                if let Some(percent) = next_percent(told, done, total) {
                    tracing::info!("{}: {percent} %", self.what);
                }
            }
        }
    }
}

impl Drop for ProgressReporter {
    fn drop(&mut self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {percent} % {eta}").expect("a template of known words");
    ProgressBar::new(0).with_style(style).with_message(what)
}

/// The percentage to tell, at most once for each tenth.
fn next_percent(told: &mut u64, done: u64, total: u64) -> Option<u64> {
    if total < REPORTED_STEPS_MIN {
        return None;
    }
    let tenths = u64::try_from(u128::from(done.min(total)) * 10 / u128::from(total)).expect("at most ten");
    let news = tenths > *told;
    *told = tenths.max(*told);
    news.then_some(tenths * 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tenth_is_told_once_and_short_works_not_at_all() {
        let told = |total: u64, steps: &[u64]| -> Vec<u64> {
            let mut tenths = 0;
            steps.iter().filter_map(|done| next_percent(&mut tenths, *done, total)).collect()
        };
        assert_eq!(
            told(100_000_000, &[1, 10_000_000, 10_000_001, 55_000_000, 54_000_000, 100_000_000, 100_000_000]),
            [10, 50, 100]
        );
        assert_eq!(told(9_999_999, &[5_000, 9_999_999]), [0; 0]);
        assert_eq!(told(u64::MAX, &[u64::MAX]), [100]);
    }
}
