//! The process: memory and open files where the operating system tells them, its clock, and lines of its log that were
//! dropped.

use std::fmt;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::encoding::{EncodeResult, encode_counter, encode_gauge};
use crate::logging;

/// The kernel counts memory in pages of this size.
const PAGE_BYTES: u64 = 4_096;

#[derive(Debug)]
pub(super) struct ProcessCollector;

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> EncodeResult {
        if let Some(bytes) = resident_bytes() {
            encode_gauge(&mut encoder, "process_resident_memory_bytes", "Memory in use", bytes)?;
        }
        if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
            encode_gauge(&mut encoder, "process_open_fds", "Open files and sockets", open.count() as u64)?;
        }
        Ok(())
    }
}

fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(PAGE_BYTES)
}

const NANOS_PER_SECOND: f64 = 1e9;

/// How far what is stamped is from the machine's clock, and how far that was moved since the start.
pub(super) struct ClockCollector {
    clock: runtime::EngineClock,
    /// The machine's clock and the steady one, at the start.
    wall: f64,
    steady: Instant,
}

impl ClockCollector {
    pub(super) fn start(clock: runtime::EngineClock) -> Self {
        Self { clock, wall: wall_seconds(), steady: Instant::now() }
    }

    #[allow(clippy::cast_precision_loss, reason = "microseconds are left, and nobody looks closer")]
    fn offset(&self) -> f64 {
        (self.clock)().0 as f64 / NANOS_PER_SECOND - wall_seconds()
    }

    fn clock_shift(&self) -> f64 {
        wall_seconds() - self.wall - self.steady.elapsed().as_secs_f64()
    }
}

fn wall_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

impl fmt::Debug for ClockCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> EncodeResult {
        f.write_str("Hands")
    }
}

impl Collector for ClockCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> EncodeResult {
        let help = "How far the platform's clock is ahead of the machine's";
        encode_gauge(&mut encoder, "clock_offset_seconds", help, self.offset())?;
        let help = "How far the machine's clock was moved since the start, against its steady one";
        encode_gauge(&mut encoder, "clock_moved_seconds", help, self.clock_shift())
    }
}

#[derive(Debug)]
pub(super) struct LogCollector;

impl Collector for LogCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> EncodeResult {
        let help = "Lines of the log that standard error was too slow for";
        encode_counter(&mut encoder, "log_lines_dropped", help, logging::dropped())
    }
}
