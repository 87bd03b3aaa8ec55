//! Response headers for browsers and caches: no content sniffing, private responses are not cached, and HSTS over TLS.

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::caller::is_secure;

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

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::body::Body;

    use super::*;
    use crate::caller::ConnectionInfo;

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
