//! HTTP client of a venue: bounded answers, one time limit, and failures that say whether the request may have arrived.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use adapters::{NO_LEASE, SendLease};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::HOST;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

use super::{DialError, Dialer, RequestFailure, VenueRequest, VenueResponse, VenueUrl};
use crate::recording::LineRecorder;

/// The least that hyper takes.
const HEADER_BYTES_MIN: usize = 8 * 1_024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VenueHttpLimits {
    /// From the sending of a request to the end of its answer.
    pub answer_timeout: Duration,
    pub body_bytes_max: usize,
    pub header_bytes_max: usize,
    /// Connections that are kept for the next request, and for how long.
    pub idle_max: usize,
    pub idle_timeout: Duration,
}

impl Default for VenueHttpLimits {
    fn default() -> Self {
        Self {
            answer_timeout: Duration::from_secs(15),
            body_bytes_max: 32 * 1_024 * 1_024,
            header_bytes_max: 64 * 1_024,
            idle_max: 4,
            idle_timeout: Duration::from_secs(20),
        }
    }
}

/// Client for one address of a venue. Connections are kept and used again.
#[derive(Debug)]
pub struct VenueHttp {
    url: VenueUrl,
    dialer: Dialer,
    limits: VenueHttpLimits,
    idle: Mutex<Vec<(SendRequest<Full<Bytes>>, Instant)>>,
    recorder: Option<LineRecorder>,
}

impl VenueHttp {
    pub fn new(url: VenueUrl, dialer: Dialer, limits: VenueHttpLimits) -> Self {
        Self { url, dialer, limits, idle: Mutex::new(Vec::new()), recorder: None }
    }

    /// Records every request and answer.
    pub fn recorded(self, recorder: LineRecorder) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    /// Sends the request once. It is sent again only where it certainly did not leave on a kept connection that the venue
    /// had closed. Redirects are answers like others.
    pub async fn send(&self, request: &VenueRequest) -> Result<VenueResponse, RequestFailure> {
        self.send_while(None, request).await
    }

    /// Sends the request as `send` does, and only while the lease is held: it is asked for when a connection is open, right before the
    /// request is written.
    pub async fn send_while(
        &self,
        lease: Option<&SendLease>,
        request: &VenueRequest,
    ) -> Result<VenueResponse, RequestFailure> {
        let number = self.recorder.as_ref().map(|recorder| recorder.on_request(request));
        let outcome = self.send_once(lease, request).await;
        if let (Some(recorder), Some(number)) = (&self.recorder, number) {
            recorder.on_response(number, &outcome);
        }
        outcome
    }

    async fn send_once(
        &self,
        lease: Option<&SendLease>,
        request: &VenueRequest,
    ) -> Result<VenueResponse, RequestFailure> {
        let mut message = self.message(request)?;
        while let Some(connection) = self.take_idle() {
            match self.exchange(connection, lease, message).await {
                Err((failure, None)) => return Err(failure),
                Err((_, Some(unsent))) => message = *unsent,
                Ok(response) => return Ok(response),
            }
        }
        let connection = self.connect().await.map_err(|reason| RequestFailure::NotSent(reason.to_string()))?;
        self.exchange(connection, lease, message).await.map_err(|(failure, _)| failure)
    }

    fn message(&self, request: &VenueRequest) -> Result<Request<Full<Bytes>>, RequestFailure> {
        let mut builder =
            Request::builder().method(request.method).uri(&request.path).header(HOST, self.url.authority());
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        let body = Full::new(Bytes::from(request.body.clone()));
        // The reason is not repeated: a header may have the key in it.
        builder.body(body).map_err(|_| RequestFailure::NotSent("method, path or a header is malformed".to_owned()))
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, DialError> {
        let stream = self.dialer.dial(&self.url).await?;
        let unusable = |reason: hyper::Error| DialError::Unreachable(std::io::Error::other(reason));
        let mut builder = http1::Builder::new();
        builder.max_buf_size(self.limits.header_bytes_max.max(HEADER_BYTES_MIN));
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(unusable)?;
        tokio::spawn(async move {
            // Its end is seen by the request that it cuts off, or by the next one.
            let _ = connection.await;
        });
        Ok(sender)
    }

    /// An exchange that did not begin gives the request back.
    async fn exchange(
        &self,
        mut connection: SendRequest<Full<Bytes>>,
        lease: Option<&SendLease>,
        message: Request<Full<Bytes>>,
    ) -> Result<VenueResponse, (RequestFailure, Option<Box<Request<Full<Bytes>>>>)> {
        if let Err(reason) = connection.ready().await {
            return Err((RequestFailure::NotSent(reason.to_string()), Some(Box::new(message))));
        }
        if lease.is_some_and(|lease| !lease.is_held()) {
            return Err((RequestFailure::NotSent(NO_LEASE.to_owned()), None));
        }
        let answer = async {
            let response = connection.try_send_request(message).await.map_err(|mut error| {
                let unsent = error.take_message().map(Box::new);
                let reason = describe(error.error());
                (
                    if unsent.is_some() { RequestFailure::NotSent(reason) } else { RequestFailure::Unknown(reason) },
                    unsent,
                )
            })?;
            self.collect(response).await.map_err(|failure| (failure, None))
        };
        let seconds = self.limits.answer_timeout.as_secs_f32();
        let late = |_| (RequestFailure::Unknown(format!("no answer within {seconds} s")), None);
        let response = tokio::time::timeout(self.limits.answer_timeout, answer).await.map_err(late)??;
        self.keep(connection);
        Ok(response)
    }

    async fn collect(&self, response: Response<Incoming>) -> Result<VenueResponse, RequestFailure> {
        let (parts, body) = response.into_parts();
        let collected = Limited::new(body, self.limits.body_bytes_max).collect().await.map_err(|reason| {
            let is_long = reason.downcast_ref::<LengthLimitError>().is_some();
            let long = format!("the answer ({}) is longer than {} bytes", parts.status, self.limits.body_bytes_max);
            RequestFailure::Unknown(if is_long { long } else { format!("the answer broke off: {reason}") })
        })?;
        let text = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        let headers = parts.headers.iter().filter_map(text).collect();
        Ok(VenueResponse { status: parts.status.as_u16(), headers, body: collected.to_bytes().to_vec() })
    }

    fn take_idle(&self) -> Option<SendRequest<Full<Bytes>>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(connection, since)| !connection.is_closed() && since.elapsed() < self.limits.idle_timeout);
        idle.pop().map(|(connection, _)| connection)
    }

    fn keep(&self, connection: SendRequest<Full<Bytes>>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < self.limits.idle_max {
            idle.push((connection, Instant::now()));
        }
    }
}

fn describe(error: &hyper::Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}
