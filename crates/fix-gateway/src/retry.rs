//! Retry while the engine's inbox is full, up to a time limit.

use std::time::Duration;

use bus::InboxError;
use tokio::time::{Instant, sleep};

use crate::limits::{BUSY_MILLISECONDS_MAX, BUSY_PAUSE_MILLISECONDS};

/// Retries while the engine's inbox is full.
pub(crate) async fn retry_while_busy<T>(mut attempt: impl FnMut() -> Result<T, InboxError>) -> Result<T, InboxError> {
    let patience = Instant::now() + Duration::from_millis(BUSY_MILLISECONDS_MAX);
    loop {
        match attempt() {
            Err(InboxError::Busy) if Instant::now() < patience => {
                sleep(Duration::from_millis(BUSY_PAUSE_MILLISECONDS)).await;
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_busy_engine_is_waited_for_and_a_stopped_one_is_not() {
        let mut tries = 0;
        let third_time_lucky = || {
            tries += 1;
            if tries < 3 { Err(InboxError::Busy) } else { Ok(tries) }
        };
        assert_eq!(retry_while_busy(third_time_lucky).await, Ok(3));
        assert_eq!(retry_while_busy(|| Err::<(), _>(InboxError::Busy)).await, Err(InboxError::Busy));
        let mut tries = 0;
        let stopped = || {
            tries += 1;
            Err::<(), _>(InboxError::Stopped)
        };
        assert_eq!(retry_while_busy(stopped).await, Err(InboxError::Stopped));
        assert_eq!(tries, 1);
    }
}
