//! Heart-beats in both directions: negotiation, sending, silence.

use std::time::Duration;

use super::breach::Breach;
use crate::time::Time;

/// The shortest negotiated heart-beat interval, so that clients cannot load the server with heart-beats.
pub const HEART_BEAT_FLOOR: Duration = Duration::from_millis(500);
/// The longest heart-beat interval; a longer one counts as none.
pub const HEART_BEAT_CAP: Duration = Duration::from_secs(3_600);

/// The heart-beats of one connection.
#[derive(Debug)]
pub(crate) struct Heart {
    /// Our sending interval.
    send: Option<Duration>,
    /// The client's sending interval.
    expect: Option<Duration>,
    /// Intervals of silence before the connection is closed.
    grace: u32,
    last_sent: Time,
    last_heard: Time,
}

impl Heart {
    pub(crate) fn still(now: Time, grace: u32) -> Self {
        Self { send: None, expect: None, grace, last_sent: now, last_heard: now }
    }

    /// Negotiates the intervals from the client's `heart-beat` header. We mirror it, so that the larger of both values
    /// is the client's own unless it is below the minimum.
    pub(crate) fn agree(&mut self, header: Option<&str>) -> Result<(), Breach> {
        let Some(header) = header else {
            return Ok(());
        };
        let (can, wants) = header.split_once(',').ok_or(Breach::BadHeartBeat)?;
        self.expect = interval(can)?;
        self.send = interval(wants)?;
        Ok(())
    }

    /// Our own `heart-beat` header.
    pub(crate) fn header(&self) -> String {
        let millis = |interval: Option<Duration>| interval.map_or(0, |interval| interval.as_millis());
        format!("{},{}", millis(self.send), millis(self.expect))
    }

    pub(crate) fn sent(&mut self, now: Time) {
        self.last_sent = now;
    }

    pub(crate) fn heard(&mut self, now: Time) {
        self.last_heard = now;
    }

    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.send_at() <= now
    }

    pub(crate) fn silence(&self, now: Time) -> Option<Breach> {
        let millis = || now.since(self.last_heard).as_millis();
        (self.silent_at() <= now).then(|| Breach::NoHeartBeat { millis: millis() })
    }

    pub(crate) fn deadline(&self) -> Time {
        self.send_at().min(self.silent_at())
    }

    /// A fifth of the interval early, because of the network latency.
    fn send_at(&self) -> Time {
        self.send.map_or(Time::NEVER, |interval| self.last_sent.after(interval * 4 / 5))
    }

    fn silent_at(&self) -> Time {
        self.expect.map_or(Time::NEVER, |interval| self.last_heard.after(interval * self.grace))
    }
}

fn interval(text: &str) -> Result<Option<Duration>, Breach> {
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Breach::BadHeartBeat);
    }
    // A number too long for 64 bits exceeds the maximum as well.
    let wanted = text.parse().map_or(Duration::MAX, Duration::from_millis);
    let agreed = !wanted.is_zero() && wanted <= HEART_BEAT_CAP;
    Ok(agreed.then(|| wanted.max(HEART_BEAT_FLOOR)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(header: Option<&str>) -> Result<String, Breach> {
        let mut heart = Heart::still(Time(0), 2);
        heart.agree(header)?;
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
            assert_eq!(answer(Some(nonsense)), Err(Breach::BadHeartBeat), "{nonsense:?}");
        }
    }

    #[test]
    fn beats_are_sent_early_and_awaited_late() {
        let mut heart = Heart::still(Time(0), 2);
        heart.agree(Some("1000,2000")).unwrap();
        assert_eq!(heart.deadline(), Time::from_millis(1_600));
        heart.sent(Time::from_millis(1_000));
        assert_eq!(heart.deadline(), Time::from_millis(2_000));
        assert_eq!(heart.silence(Time::from_millis(1_999)), None);
        assert_eq!(heart.silence(Time::from_millis(2_000)), Some(Breach::NoHeartBeat { millis: 2_000 }));
        heart.heard(Time::from_millis(2_000));
        assert_eq!(heart.silence(Time::from_millis(3_999)), None);
    }
}
