//! Pauses between tries: each twice as long as the one before, so that a server that is away is not knocked down when it
//! comes back.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(200);
/// Well below `strategies.hangSeconds`: a strategy whose connection is back must be heard before it is given up.
const LONGEST: Duration = Duration::from_secs(1);

pub(super) struct Backoff(Duration);

impl Backoff {
    pub(super) fn new() -> Self {
        Self(FIRST)
    }

    /// The pause before the next try.
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
