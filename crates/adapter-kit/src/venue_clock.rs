//! Venue clock: the offset of the venue's clock from ours, by the shortest round trip.
//!
//! The venue read its clock somewhere between our sending and receiving, so the error of a sample is at most half of its
//! round trip. The sample with the smallest error wins; a bound that grows with age lets newer samples replace it.

use std::fmt;

use domain::Timestamp;

/// Clocks of machines drift apart by less than this: 200 microseconds in a second.
const DRIFT_NANOS_PER_SECOND: i64 = 200_000;
const NANOS_PER_MILLI: i64 = 1_000_000;

/// One question for the venue's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockSample {
    pub sent: Timestamp,
    pub received: Timestamp,
    /// The venue's clock.
    pub venue: Timestamp,
}

/// The offset and how wrong it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffset {
    /// Venue time minus our time.
    pub nanos: i64,
    /// The true offset is at most so far away.
    pub error_nanos: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockRefusal {
    /// The venue's time was never asked for.
    NoSample,
    /// The offset may be wrong by more than half of the receive window: the venue would refuse good requests.
    TooUncertain { error_millis: i64, receive_window_millis: i64 },
    /// The answer came before the question: our clock was set meanwhile.
    ClockWasSet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VenueClock {
    receive_window_millis: i64,
    best: Option<(ClockOffset, Timestamp)>,
}

impl VenueClock {
    /// `receive_window_millis`: for so long after its timestamp the venue accepts a request.
    pub fn new(receive_window_millis: i64) -> Self {
        Self { receive_window_millis, best: None }
    }

    /// Keeps the sample where it is better than what is known. A sample that is too slow to be of use is refused.
    pub fn on_sample(&mut self, sample: &ClockSample) -> Result<(), ClockRefusal> {
        let round_trip = sample.received.nanos_since(sample.sent);
        if round_trip < 0 {
            return Err(ClockRefusal::ClockWasSet);
        }
        let error_nanos = (round_trip + 1) / 2;
        let middle = Timestamp(sample.sent.0.saturating_add(round_trip / 2));
        let offset = ClockOffset { nanos: sample.venue.nanos_since(middle), error_nanos };
        self.check(error_nanos)?;
        if self.offset(sample.received).is_none_or(|known| known.error_nanos >= error_nanos) {
            self.best = Some((offset, sample.received));
        }
        Ok(())
    }

    /// Forgets all samples; for a machine whose clock was set, or when the venue refuses our time.
    pub fn reset(&mut self) {
        self.best = None;
    }

    /// What is known now, for a metric: the offset with its bound of error, which grows with age.
    pub fn offset(&self, now: Timestamp) -> Option<ClockOffset> {
        let (offset, at) = self.best?;
        let drift = now.seconds_since(at).max(0).saturating_mul(DRIFT_NANOS_PER_SECOND);
        Some(ClockOffset { nanos: offset.nanos, error_nanos: offset.error_nanos.saturating_add(drift) })
    }

    /// The timestamp of a request: never ahead of the venue's clock, because venues refuse the future more strictly than
    /// the past.
    pub fn request_time(&self, now: Timestamp) -> Result<Timestamp, ClockRefusal> {
        let offset = self.offset(now).ok_or(ClockRefusal::NoSample)?;
        self.check(offset.error_nanos)?;
        Ok(Timestamp(now.0.saturating_add(offset.nanos).saturating_sub(offset.error_nanos)))
    }

    fn check(&self, error_nanos: i64) -> Result<(), ClockRefusal> {
        let error_millis = error_nanos / NANOS_PER_MILLI;
        if error_nanos > self.receive_window_millis.saturating_mul(NANOS_PER_MILLI) / 2 {
            let receive_window_millis = self.receive_window_millis;
            return Err(ClockRefusal::TooUncertain { error_millis, receive_window_millis });
        }
        Ok(())
    }
}

impl ClockRefusal {
    pub fn code(self) -> &'static str {
        match self {
            Self::NoSample => "venue-clock-unknown",
            Self::TooUncertain { .. } => "venue-clock-uncertain",
            Self::ClockWasSet => "venue-clock-set",
        }
    }
}

impl fmt::Display for ClockRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code())?;
        match self {
            Self::NoSample => f.write_str("the venue's time is not known yet"),
            Self::TooUncertain { error_millis, receive_window_millis } => write!(
                f,
                "the venue's time may be wrong by {error_millis} ms, more than half of the receive window of \
                 {receive_window_millis} ms"
            ),
            Self::ClockWasSet => f.write_str("the clock of this machine was set back during the question"),
        }
    }
}

impl std::error::Error for ClockRefusal {}
