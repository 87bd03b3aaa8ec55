//! Log ring: the newest lines of the log, kept for `GET /rest/log`.

use std::collections::VecDeque;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use bus::operations::LogLine;
use domain::Timestamp;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// The target of alarms: topics have them already, so they are not sent there as lines of the log.
pub const ALARM_TARGET: &str = "alarm";

/// Lines that are kept; of more the oldest are forgotten, standard error had them.
pub const LOG_LINES_KEPT: usize = 1_000;
/// What is kept of a text; the rest of a longer one stands on standard error only.
pub const LOG_TEXT_BYTES_MAX: usize = 4_096;

/// Lines that wait for whoever listens; of more only standard error and the ring have them.
pub const LOG_LINES_WAITING_MAX: usize = 4_096;

const NANOS_PER_MICRO: i64 = 1_000;

/// Shared by the subscriber, which fills it, and the interfaces.
#[derive(Clone, Default)]
pub(super) struct LogRing(Arc<Mutex<LogRingState>>);

#[derive(Default)]
struct LogRingState {
    lines: VecDeque<(u64, LogLine)>,
    listener: Option<Sender<LogLine>>,
}

impl LogRing {
    /// Oldest first, each with its number.
    pub(super) fn lines(&self) -> Vec<(u64, LogLine)> {
        self.lock().lines.iter().cloned().collect()
    }

    /// The lines from now on; whoever listened before hears no more.
    pub(super) fn subscribe(&self) -> Receiver<LogLine> {
        let (listener, lines) = channel(LOG_LINES_WAITING_MAX);
        self.lock().listener = Some(listener);
        lines
    }

    fn push(&self, line: LogLine) {
        let mut kept = self.lock();
        // Topics have the alarm itself.
        if let Some(listener) = kept.listener.as_ref().filter(|_| line.logger != ALARM_TARGET) {
            // Nobody who logs waits for whoever listens.
            let _ = listener.try_send(line.clone());
        }
        if kept.lines.len() == LOG_LINES_KEPT {
            kept.lines.pop_front();
        }
        let number = number(kept.lines.back().map(|(last, _)| *last), line.at);
        kept.lines.push_back((number, line));
    }

    fn lock(&self) -> MutexGuard<'_, LogRingState> {
        // A line is put in whole or not at all.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Its microsecond, or the next one that is free: so numbers rise over a restart too, and nobody who reads on by them
/// misses a line.
fn number(last: Option<u64>, at: Timestamp) -> u64 {
    let micros = u64::try_from(at.0 / NANOS_PER_MICRO).unwrap_or(0);
    last.map_or(micros, |last| micros.max(last + 1))
}

impl<S: Subscriber> Layer<S> for LogRing {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut words = EventFields::default();
        event.record(&mut words);
        self.push(LogLine {
            at: now(),
            level: level_name(*event.metadata().level()),
            logger: event.metadata().target().to_owned(),
            message: truncate(words.message + &words.fields),
            error: words.error.map(truncate),
        });
    }
}

/// What an event says: its message, then its fields as `name=value`; an error stands apart.
#[derive(Default)]
struct EventFields {
    message: String,
    fields: String,
    error: Option<String>,
}

impl Visit for EventFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            "error" | "problem" => self.error = Some(format!("{value:?}")),
            name => write!(self.fields, " {name}={value:?}").expect("a text takes everything"),
        }
    }
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::ERROR => "ERROR",
        Level::WARN => "WARN",
        Level::INFO => "INFO",
        Level::DEBUG => "DEBUG",
        Level::TRACE => "TRACE",
    }
}

fn truncate(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(LOG_TEXT_BYTES_MAX));
    text
}

/// Lines bear the wall clock, like those on standard error.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    fn lines_of(story: impl FnOnce()) -> Vec<(u64, LogLine)> {
        let ring = LogRing::default();
        tracing::subscriber::with_default(tracing_subscriber::registry().with(ring.clone()), story);
        ring.lines()
    }

    #[test]
    fn a_line_is_kept_with_its_fields_and_its_error_apart() {
        let lines = lines_of(|| {
            tracing::error!(target: "storage", error = %"no space left", sequence = 7, "the disk is full");
            tracing::info!(target: "adapters", "connected");
        });
        let told: Vec<_> = lines
            .iter()
            .map(|(_, line)| (line.level, line.logger.as_str(), line.message.as_str(), line.error.as_deref()))
            .collect();
        let expected = [
            ("ERROR", "storage", "the disk is full sequence=7", Some("no space left")),
            ("INFO", "adapters", "connected", None),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_line_s_number_is_its_microsecond_or_the_next_that_is_free() {
        let at = Timestamp(1_794_839_400_000_000_123);
        let micros = 1_794_839_400_000_000;
        let numbers = [None, Some(7), Some(micros), Some(micros + 9)].map(|last| number(last, at));
        assert_eq!(numbers, [micros, micros, micros + 1, micros + 10]);
        assert!(numbers[3] < 1 << 53);
    }

    #[test]
    fn only_the_newest_lines_are_kept_and_no_line_without_end() {
        let lines = lines_of(|| {
            (0..=LOG_LINES_KEPT).for_each(|number| tracing::info!("line {number}"));
            tracing::warn!("{}", "ä".repeat(LOG_TEXT_BYTES_MAX));
        });
        assert_eq!((lines.len(), lines[0].1.message.as_str()), (LOG_LINES_KEPT, "line 2"));
        assert!(lines.is_sorted_by(|(first, _), (second, _)| first < second), "no two lines have the same number");
        assert_eq!(lines[LOG_LINES_KEPT - 1].1.message, "ä".repeat(LOG_TEXT_BYTES_MAX / 2));
    }
}
