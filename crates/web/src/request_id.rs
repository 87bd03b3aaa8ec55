//! Request id (`X-Request-Id`): the caller's or a generated one; returned and logged.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::response::Response;
use tracing::{Level, enabled};

const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// A longer id is replaced by a generated one.
const LENGTH_MAX: usize = 128;

static LAST_GENERATED: AtomicU64 = AtomicU64::new(0);

/// A request with its id.
pub(crate) struct RequestId {
    id: HeaderValue,
    /// For the log, where it is enabled.
    logged: Option<(Method, String)>,
}

impl RequestId {
    pub(crate) fn from_request(request: &Request) -> Self {
        let asked = || (request.method().clone(), request.uri().path().to_owned());
        Self { id: from_header(request).unwrap_or_else(generate), logged: enabled!(Level::DEBUG).then(asked) }
    }

    pub(crate) fn apply_to(self, mut response: Response) -> Response {
        if let Some((method, path)) = self.logged {
            tracing::debug!(request = ?self.id, %method, path, status = response.status().as_u16());
        }
        response.headers_mut().insert(HEADER, self.id);
        response
    }
}

fn from_header(request: &Request) -> Option<HeaderValue> {
    let id = request.headers().get(HEADER)?;
    let fits = (1..=LENGTH_MAX).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic);
    fits.then(|| id.clone())
}

fn generate() -> HeaderValue {
    HeaderValue::from(LAST_GENERATED.fetch_add(1, Ordering::Relaxed) + 1)
}
