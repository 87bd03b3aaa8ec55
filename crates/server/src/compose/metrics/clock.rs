//! The clock: how far what is stamped is from the machine's clock, and how far that was moved since the start.

use std::fmt;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::encoding::{EncodeResult, encode_gauge};

const NANOS_PER_SECOND: f64 = 1e9;

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
