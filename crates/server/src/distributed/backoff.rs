//! Pauses between tries: each twice as long as the one before, so that a server that is away is not knocked down when it
//! comes back.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(5);

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
        assert_eq!(pauses, [200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    }
}
