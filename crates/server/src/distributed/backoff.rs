//! Reconnect back-off: each pause is twice as long as the one before, so that a restarted server is not overloaded.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(200);
/// Well below `strategies.hangSeconds`: a reconnected strategy must send a heartbeat before it is declared lost.
const LONGEST: Duration = Duration::from_secs(1);

pub(super) struct Backoff(Duration);

impl Backoff {
    pub(super) fn new() -> Self {
        Self(FIRST)
    }

    /// The pause before the next attempt.
    pub(super) fn pause(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(LONGEST);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut backoff = Backoff::new();
        let pauses = [(); 7].map(|()| backoff.pause().as_millis());
        assert_eq!(pauses, [200, 400, 800, 1_000, 1_000, 1_000, 1_000]);
    }
}
