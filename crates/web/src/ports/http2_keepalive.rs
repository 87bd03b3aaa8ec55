//! HTTP/2 keep-alive: closes connections without requests or progress, since hyper has no header time-out there and a
//! peer could hold a connection with pings alone.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, sleep_until};

use crate::settings::HttpLimits;

#[derive(Debug, Clone)]
pub(crate) struct Http2Activity(Arc<Mutex<ActivityState>>);

#[derive(Debug)]
struct ActivityState {
    /// Requests whose response has not begun.
    pending: usize,
    /// Responses that are being sent.
    sending: usize,
    /// Time of the last progress.
    last: Instant,
}

impl Http2Activity {
    pub(crate) fn start() -> Self {
        Self(Arc::new(Mutex::new(ActivityState { pending: 0, sending: 0, last: Instant::now() })))
    }

    /// A request has begun.
    pub(crate) fn on_request(&self) -> PendingResponse {
        self.record(|beat| beat.pending += 1);
        PendingResponse(self.clone())
    }

    /// The peer receives a GOAWAY and has the whole time once more for requests in progress.
    pub(crate) fn begin_shutdown(&self) {
        self.record(|_| {});
    }

    /// Returns when there was no progress for too long.
    pub(crate) async fn wait_until_idle(&self, limits: &HttpLimits) {
        loop {
            let deadline = self.deadline(limits);
            if deadline <= Instant::now() {
                return;
            }
            sleep_until(deadline).await;
        }
    }

    fn deadline(&self, limits: &HttpLimits) -> Instant {
        let beat = self.lock();
        let patience = match (beat.pending, beat.sending) {
            (0, 0) => limits.header_timeout,
            (0, _) => limits.write_timeout,
            // The body and the reply have a time-out each.
            _ => limits.request_timeout * 2,
        };
        beat.last + patience
    }

    /// Records progress.
    fn record(&self, change: impl FnOnce(&mut ActivityState)) {
        let mut beat = self.lock();
        change(&mut beat);
        beat.last = Instant::now();
    }

    fn lock(&self) -> MutexGuard<'_, ActivityState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request whose response has not begun.
#[derive(Debug)]
pub(crate) struct PendingResponse(Http2Activity);

impl PendingResponse {
    /// The body of the response, observed while it is sent.
    pub(crate) fn with_body(self, body: Body) -> Body {
        self.0.record(|beat| beat.sending += 1);
        Body::new(TrackedBody { body, activity: self.0.clone() })
    }
}

impl Drop for PendingResponse {
    fn drop(&mut self) {
        self.0.record(|beat| beat.pending -= 1);
    }
}

struct TrackedBody {
    body: Body,
    activity: Http2Activity,
}

impl Drop for TrackedBody {
    fn drop(&mut self) {
        self.activity.record(|beat| beat.sending -= 1);
    }
}

impl hyper::body::Body for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if frame.is_ready() {
            self.activity.record(|_| {});
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

    fn limits() -> HttpLimits {
        let seconds = Duration::from_secs;
        HttpLimits {
            header_timeout: seconds(1),
            request_timeout: seconds(10),
            write_timeout: seconds(5),
            ..HttpLimits::default()
        }
    }

    async fn seconds_until_stopped(pulse: &Http2Activity) -> u64 {
        let begun = Instant::now();
        pulse.wait_until_idle(&limits()).await;
        begun.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_requests_has_the_header_timeout() {
        assert_eq!(seconds_until_stopped(&Http2Activity::start()).await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_has_time_for_its_body_and_its_reply_and_an_answer_time_to_be_taken() {
        let pulse = Http2Activity::start();
        let request = pulse.on_request();
        assert_eq!(seconds_until_stopped(&pulse).await, 20);
        let answer = request.with_body(Body::from("answer"));
        assert_eq!(seconds_until_stopped(&pulse).await, 5);
        drop(answer);
        assert_eq!(seconds_until_stopped(&pulse).await, 1);
    }
}
