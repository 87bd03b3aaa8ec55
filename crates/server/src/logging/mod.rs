//! Logging on standard error, as text or JSON lines. A thread of its own writes the lines, so that no caller waits for the
//! reader. The newest lines are kept for `GET /rest/log`.

/// The newest lines.
mod ring;

use std::io::{self, IsTerminal};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

use bus::operations::LogLine;
use tokio::sync::mpsc::Receiver;
use tracing::{Level, Subscriber};
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, fmt, registry};

use crate::config::{Config, LogFormat, LogLevel};
use ring::LogRing;

pub use ring::{ALARM_TARGET, LOG_LINES_KEPT, LOG_LINES_WAITING_MAX, LOG_TEXT_BYTES_MAX};

/// Libraries whose smaller talk is about themselves.
const QUIET_TARGETS: [&str; 4] = ["hyper", "hyper_util", "tower", "mio"];

/// Lines that may wait for standard error; of more the newest are dropped and counted.
pub const LOG_LINES_QUEUED_MAX: usize = 16_384;

/// A process has one log.
static RING: LazyLock<LogRing> = LazyLock::new(LogRing::default);
static DROPPED: OnceLock<ErrorCounter> = OnceLock::new();
/// While it is held, lines are written.
static WRITER: Mutex<Option<WorkerGuard>> = Mutex::new(None);

/// The newest lines with their numbers, oldest first.
pub fn recent_lines() -> Vec<(u64, LogLine)> {
    RING.lines()
}

/// The lines from now on.
pub fn subscribe() -> Receiver<LogLine> {
    RING.subscribe()
}

/// Begins to log; the first caller in a process decides.
pub fn start(config: &Config) {
    let colours = io::stderr().is_terminal();
    let kept = RING.clone();
    let queue = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(LOG_LINES_QUEUED_MAX);
    let (queue, writer) = queue.thread_name("log").finish(io::stderr());
    let dropped = queue.error_counter();
    let subscriber = subscriber(config.log_format, config.log_level, colours, SystemTime, queue, kept);
    // A second start in one process, as tests do, keeps the first one's lines.
    if tracing::subscriber::set_global_default(subscriber).is_ok() {
        let _ = DROPPED.set(dropped);
        *WRITER.lock().unwrap_or_else(PoisonError::into_inner) = Some(writer);
    }
}

/// Lines that standard error was too slow for.
pub fn dropped() -> u64 {
    DROPPED.get().map_or(0, |counter| u64::try_from(counter.dropped_lines()).unwrap_or(u64::MAX))
}

/// Before the program ends: what waits is written, unless nobody reads it within a second. Nothing is logged afterwards.
pub fn finish() {
    drop(WRITER.lock().unwrap_or_else(PoisonError::into_inner).take());
}

fn subscriber<T, W>(
    format: LogFormat,
    level: LogLevel,
    colours: bool,
    timer: T,
    writer: W,
    kept: LogRing,
) -> Box<dyn Subscriber + Send + Sync>
where
    T: FormatTime + Send + Sync + 'static,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = fmt::layer().with_timer(timer).with_writer(writer).with_ansi(colours);
    let registry = registry().with(kept.with_filter(filter(level)));
    match format {
        LogFormat::Human => Box::new(registry.with(lines.with_filter(filter(level)))),
        LogFormat::Json => Box::new(registry.with(lines.json().flatten_event(true).with_filter(filter(level)))),
    }
}

fn filter(level: LogLevel) -> Targets {
    let level = match level {
        LogLevel::Error => Level::ERROR,
        LogLevel::Warn => Level::WARN,
        LogLevel::Info => Level::INFO,
        LogLevel::Debug => Level::DEBUG,
        LogLevel::Trace => Level::TRACE,
    };
    let quieter = QUIET_TARGETS.map(|library| (library, level.min(Level::WARN)));
    Targets::new().with_default(level).with_targets(quieter)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use expect_test::{Expect, expect};
    use tracing_subscriber::fmt::format::Writer;

    use super::*;

    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Noon;

    impl FormatTime for Noon {
        fn format_time(&self, w: &mut Writer<'_>) -> std::fmt::Result {
            w.write_str("2026-11-15T12:00:00.000000Z")
        }
    }

    fn check(format: LogFormat, level: LogLevel, expected: &Expect) {
        let page = Page::default();
        let writer = page.clone();
        let subscriber = subscriber(format, level, false, Noon, move || writer.clone(), LogRing::default());
        tracing::subscriber::with_default(subscriber, || {
            tracing::error!(target: "storage", sequence = 7, "the disk is full");
            tracing::info!(target: "adapters", adapter = "SIMULATED-ALPHA", "connected");
            tracing::debug!(target: "runtime", "a batch of 3");
            tracing::info!(target: "hyper::server", "small talk");
        });
        let bytes = page.0.lock().unwrap();
        expected.assert_eq(std::str::from_utf8(&bytes).unwrap());
    }

    #[test]
    fn people_read_lines() {
        check(
            LogFormat::Human,
            LogLevel::Info,
            &expect![[r#"
            2026-11-15T12:00:00.000000Z ERROR storage: the disk is full sequence=7
            2026-11-15T12:00:00.000000Z  INFO adapters: connected adapter="SIMULATED-ALPHA"
        "#]],
        );
    }

    #[test]
    fn machines_read_json() {
        check(
            LogFormat::Json,
            LogLevel::Info,
            &expect![[r#"
            {"timestamp":"2026-11-15T12:00:00.000000Z","level":"ERROR","message":"the disk is full","sequence":7,"target":"storage"}
            {"timestamp":"2026-11-15T12:00:00.000000Z","level":"INFO","message":"connected","adapter":"SIMULATED-ALPHA","target":"adapters"}
        "#]],
        );
    }

    #[test]
    fn the_level_bounds_what_is_written() {
        check(
            LogFormat::Human,
            LogLevel::Error,
            &expect![[r#"
            2026-11-15T12:00:00.000000Z ERROR storage: the disk is full sequence=7
        "#]],
        );
        check(
            LogFormat::Human,
            LogLevel::Debug,
            &expect![[r#"
            2026-11-15T12:00:00.000000Z ERROR storage: the disk is full sequence=7
            2026-11-15T12:00:00.000000Z  INFO adapters: connected adapter="SIMULATED-ALPHA"
            2026-11-15T12:00:00.000000Z DEBUG runtime: a batch of 3
        "#]],
        );
    }
}
