//! Reconnect back-off: each pause is twice as long as the one before, so that a restarted server is not overloaded.

use std::time::Duration;

const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Well below `strategies.hangSeconds`: a reconnected strategy must send a heartbeat before it is declared lost.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

pub(super) struct ReconnectBackoff(Duration);

impl ReconnectBackoff {
    pub(super) fn new() -> Self {
        Self(FIRST_PAUSE)
    }

    /// The pause before the next attempt.
    pub(super) fn next_pause(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(LONGEST_PAUSE);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut backoff = ReconnectBackoff::new();
        let pauses = [(); 7].map(|()| backoff.next_pause().as_millis());
        assert_eq!(pauses, [200, 400, 800, 1_000, 1_000, 1_000, 1_000]);
    }
}
