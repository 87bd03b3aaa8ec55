//! HTTP/2 keep-alive: closes connections without requests or progress, since hyper has no header time-out there and a
//! peer could hold a connection with pings alone.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, sleep_until};

use crate::limits::Limits;

#[derive(Debug, Clone)]
pub(crate) struct Pulse(Arc<Mutex<Beat>>);

#[derive(Debug)]
struct Beat {
    /// Requests whose response has not begun.
    pending: usize,
    /// Responses that are being sent.
    sending: usize,
    /// Time of the last progress.
    at: Instant,
}

impl Pulse {
    pub(crate) fn start() -> Self {
        Self(Arc::new(Mutex::new(Beat { pending: 0, sending: 0, at: Instant::now() })))
    }

    /// A request has begun.
    pub(crate) fn request(&self) -> Pending {
        self.beat(|beat| beat.pending += 1);
        Pending(self.clone())
    }

    /// The peer receives a GOAWAY and has the whole time once more for requests in progress.
    pub(crate) fn begin_farewell(&self) {
        self.beat(|_| {});
    }

    /// Returns when there was no progress for too long.
    pub(crate) async fn stopped(&self, limits: &Limits) {
        loop {
            let deadline = self.deadline(limits);
            if deadline <= Instant::now() {
                return;
            }
            sleep_until(deadline).await;
        }
    }

    fn deadline(&self, limits: &Limits) -> Instant {
        let beat = self.beat_now();
        let patience = match (beat.pending, beat.sending) {
            (0, 0) => limits.header_timeout,
            (0, _) => limits.write_timeout,
            // The body and the reply have a time-out each.
            _ => limits.request_timeout * 2,
        };
        beat.at + patience
    }

    /// Records progress.
    fn beat(&self, change: impl FnOnce(&mut Beat)) {
        let mut beat = self.beat_now();
        change(&mut beat);
        beat.at = Instant::now();
    }

    fn beat_now(&self) -> MutexGuard<'_, Beat> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request whose response has not begun.
#[derive(Debug)]
pub(crate) struct Pending(Pulse);

impl Pending {
    /// The body of the response, observed while it is sent.
    pub(crate) fn answered_by(self, body: Body) -> Body {
        self.0.beat(|beat| beat.sending += 1);
        Body::new(Watched { body, pulse: self.0.clone() })
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.beat(|beat| beat.pending -= 1);
    }
}

struct Watched {
    body: Body,
    pulse: Pulse,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.pulse.beat(|beat| beat.sending -= 1);
    }
}

impl hyper::body::Body for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if frame.is_ready() {
            self.pulse.beat(|_| {});
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn limits() -> Limits {
        let seconds = Duration::from_secs;
        Limits {
            header_timeout: seconds(1),
            request_timeout: seconds(10),
            write_timeout: seconds(5),
            ..Limits::default()
        }
    }

    async fn seconds_until_stopped(pulse: &Pulse) -> u64 {
        let begun = Instant::now();
        pulse.stopped(&limits()).await;
        begun.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_requests_has_the_header_timeout() {
        assert_eq!(seconds_until_stopped(&Pulse::start()).await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_has_time_for_its_body_and_its_reply_and_an_answer_time_to_be_taken() {
        let pulse = Pulse::start();
        let request = pulse.request();
        assert_eq!(seconds_until_stopped(&pulse).await, 20);
        let answer = request.answered_by(Body::from("answer"));
        assert_eq!(seconds_until_stopped(&pulse).await, 5);
        drop(answer);
        assert_eq!(seconds_until_stopped(&pulse).await, 1);
    }
}
