//! Headers of every response. For browsers and caches: no content sniffing, private responses are not cached, HSTS over
//! TLS. Request id (`X-Request-Id`): the caller's or a generated one; returned and logged.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use tracing::{Level, enabled};

use crate::middleware::caller::is_secure;

const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NOT_KEPT: HeaderValue = HeaderValue::from_static("no-store");
/// A response with a tag may be cached by its client, and is revalidated each time.
const ASKED_AGAIN: HeaderValue = HeaderValue::from_static("private, no-cache");
/// A year, as is usual.
const ONLY_TLS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The headers, as far as the request decides them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manners {
    only_tls: bool,
}

impl Manners {
    /// A browser would apply HSTS to all ports of a host, so the names of this machine are excluded: other programs
    /// listen there.
    pub(crate) fn of(request: &Request) -> Self {
        Self { only_tls: is_secure(request) && !is_this_machine(request) }
    }

    pub(crate) fn put_on(self, mut response: Response) -> Response {
        let is_tagged = response.headers().contains_key(header::ETAG) || response.status() == StatusCode::NOT_MODIFIED;
        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        if !headers.contains_key(header::CACHE_CONTROL) {
            headers.insert(header::CACHE_CONTROL, if is_tagged { ASKED_AGAIN } else { NOT_KEPT });
        }
        if self.only_tls {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, ONLY_TLS);
        }
        response
    }
}

fn is_this_machine(request: &Request) -> bool {
    let named = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let host = request.uri().authority().map(axum::http::uri::Authority::as_str).or(named).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// A longer id is replaced by a generated one.
const REQUEST_ID_LENGTH_MAX: usize = 128;

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
        Self { id: id_of_client(request).unwrap_or_else(generate_id), logged: enabled!(Level::DEBUG).then(asked) }
    }

    pub(crate) fn apply_to(self, mut response: Response) -> Response {
        if let Some((method, path)) = self.logged {
            tracing::debug!(request = ?self.id, %method, path, status = response.status().as_u16());
        }
        response.headers_mut().insert(REQUEST_ID, self.id);
        response
    }
}

fn id_of_client(request: &Request) -> Option<HeaderValue> {
    let id = request.headers().get(REQUEST_ID)?;
    let fits = (1..=REQUEST_ID_LENGTH_MAX).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic);
    fits.then(|| id.clone())
}

fn generate_id() -> HeaderValue {
    HeaderValue::from(LAST_GENERATED.fetch_add(1, Ordering::Relaxed) + 1)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::body::Body;

    use super::*;
    use crate::middleware::caller::ConnectionInfo;

    fn told(host: &str, secure: bool, response: Response) -> Vec<String> {
        let mut request = Request::builder().header(header::HOST, host).body(Body::empty()).unwrap();
        let at = SocketAddr::from(([127, 0, 0, 1], 443));
        request.extensions_mut().insert(ConnectionInfo { local: at, peer: at, secure });
        let response = Manners::of(&request).put_on(response);
        response.headers().iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect()
    }

    #[test]
    fn answers_are_neither_guessed_at_nor_kept() {
        let usual = ["x-content-type-options: nosniff", "cache-control: no-store"];
        assert_eq!(told("desk.example", false, Response::default()), usual);
        let tagged = Response::builder().header(header::ETAG, "1").body(Body::empty()).unwrap();
        let kept = ["etag: 1", "x-content-type-options: nosniff", "cache-control: private, no-cache"];
        assert_eq!(told("desk.example", false, tagged), kept);
        let decided = Response::builder().header(header::CACHE_CONTROL, "max-age=5").body(Body::empty()).unwrap();
        assert_eq!(
            told("desk.example", false, decided),
            ["cache-control: max-age=5", "x-content-type-options: nosniff"]
        );
    }

    #[test]
    fn over_tls_a_host_is_held_to_it_but_not_this_machine() {
        let strict = "strict-transport-security: max-age=31536000".to_owned();
        assert!(told("desk.example:9443", true, Response::default()).contains(&strict));
        for host in ["localhost:9443", "desk.localhost", "LOCALHOST"] {
            assert!(!told(host, true, Response::default()).contains(&strict), "{host}");
        }
    }
}
