//! Heart-beats in both directions: negotiation, sending, silence.

use std::time::Duration;

use super::protocol_error::ProtocolError;
use crate::monotonic_time::MonotonicTime;

/// The shortest negotiated heart-beat interval, so that clients cannot load the server with heart-beats.
pub const HEART_BEAT_MIN: Duration = Duration::from_millis(500);
/// The longest heart-beat interval; a longer one counts as none.
pub const HEART_BEAT_MAX: Duration = Duration::from_secs(3_600);

/// The heart-beats of one connection.
#[derive(Debug)]
pub(crate) struct HeartBeats {
    /// Our sending interval.
    send: Option<Duration>,
    /// The client's sending interval.
    expect: Option<Duration>,
    /// Intervals of silence before the connection is closed.
    grace: u32,
    last_sent: MonotonicTime,
    last_received: MonotonicTime,
}

impl HeartBeats {
    pub(crate) fn disabled(now: MonotonicTime, grace: u32) -> Self {
        Self { send: None, expect: None, grace, last_sent: now, last_received: now }
    }

    /// Negotiates the intervals from the client's `heart-beat` header. We mirror it, so that the larger of both values
    /// is the client's own unless it is below the minimum.
    pub(crate) fn negotiate(&mut self, header: Option<&str>) -> Result<(), ProtocolError> {
        let Some(header) = header else {
            return Ok(());
        };
        let (can, wants) = header.split_once(',').ok_or(ProtocolError::BadHeartBeat)?;
        self.expect = interval(can)?;
        self.send = interval(wants)?;
        Ok(())
    }

    /// Our own `heart-beat` header.
    pub(crate) fn header(&self) -> String {
        let millis = |interval: Option<Duration>| interval.map_or(0, |interval| interval.as_millis());
        format!("{},{}", millis(self.send), millis(self.expect))
    }

    pub(crate) fn on_sent(&mut self, now: MonotonicTime) {
        self.last_sent = now;
    }

    pub(crate) fn on_received(&mut self, now: MonotonicTime) {
        self.last_received = now;
    }

    pub(crate) fn is_due(&self, now: MonotonicTime) -> bool {
        self.send_at() <= now
    }

    pub(crate) fn check_silence(&self, now: MonotonicTime) -> Option<ProtocolError> {
        let millis = || now.since(self.last_received).as_millis();
        (self.silent_at() <= now).then(|| ProtocolError::NoHeartBeat { millis: millis() })
    }

    pub(crate) fn deadline(&self) -> MonotonicTime {
        self.send_at().min(self.silent_at())
    }

    /// A fifth of the interval early, because of the network latency.
    fn send_at(&self) -> MonotonicTime {
        self.send.map_or(MonotonicTime::NEVER, |interval| self.last_sent.after(interval * 4 / 5))
    }

    fn silent_at(&self) -> MonotonicTime {
        self.expect.map_or(MonotonicTime::NEVER, |interval| self.last_received.after(interval * self.grace))
    }
}

fn interval(text: &str) -> Result<Option<Duration>, ProtocolError> {
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ProtocolError::BadHeartBeat);
    }
    // A number too long for 64 bits exceeds the maximum as well.
    let wanted = text.parse().map_or(Duration::MAX, Duration::from_millis);
    let agreed = !wanted.is_zero() && wanted <= HEART_BEAT_MAX;
    Ok(agreed.then(|| wanted.max(HEART_BEAT_MIN)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(header: Option<&str>) -> Result<String, ProtocolError> {
        let mut heart = HeartBeats::disabled(MonotonicTime(0), 2);
        heart.negotiate(header)?;
        Ok(heart.header())
    }

    #[test]
    fn the_answer_mirrors_the_client() {
        assert_eq!(answer(None).unwrap(), "0,0");
        assert_eq!(answer(Some("0,0")).unwrap(), "0,0");
        assert_eq!(answer(Some("0,1000")).unwrap(), "1000,0");
        assert_eq!(answer(Some("4000, 2500")).unwrap(), "2500,4000");
        assert_eq!(answer(Some("1,20")).unwrap(), "500,500");
        assert_eq!(answer(Some("3600001,99999999999999999999")).unwrap(), "0,0");
        for nonsense in ["", "1", "a,b", "-1,0", "1,2,3", "1.5,0"] {
            assert_eq!(answer(Some(nonsense)), Err(ProtocolError::BadHeartBeat), "{nonsense:?}");
        }
    }

    #[test]
    fn beats_are_sent_early_and_awaited_late() {
        let mut heart = HeartBeats::disabled(MonotonicTime(0), 2);
        heart.negotiate(Some("1000,2000")).unwrap();
        assert_eq!(heart.deadline(), MonotonicTime::from_millis(1_600));
        heart.on_sent(MonotonicTime::from_millis(1_000));
        assert_eq!(heart.deadline(), MonotonicTime::from_millis(2_000));
        assert_eq!(heart.check_silence(MonotonicTime::from_millis(1_999)), None);
        assert_eq!(
            heart.check_silence(MonotonicTime::from_millis(2_000)),
            Some(ProtocolError::NoHeartBeat { millis: 2_000 })
        );
        heart.on_received(MonotonicTime::from_millis(2_000));
        assert_eq!(heart.check_silence(MonotonicTime::from_millis(3_999)), None);
    }
}
