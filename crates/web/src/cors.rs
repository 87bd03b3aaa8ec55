//! CORS: the account list is public, everything else is for allowed origins.

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::Response;

use crate::endpoints::methods_at;

/// The one path that the specification opens to every origin.
const PUBLIC_PATH: &str = "/rest/account";

/// Origins that may read a response.
pub(crate) struct CorsGrant {
    origin: Option<HeaderValue>,
    /// For a preflight: the methods of that path.
    methods: Option<HeaderValue>,
}

impl CorsGrant {
    pub(crate) fn for_request(request: &Request, allowed: &[String]) -> Self {
        let preflight_of = request.extensions().get::<MatchedPath>().filter(|_| request.method() == Method::OPTIONS);
        let methods = preflight_of.and_then(|path| HeaderValue::try_from(methods_at(path.as_str())).ok());
        Self { origin: allowed_origin(request, allowed), methods }
    }

    pub(crate) fn apply_to(self, mut response: Response) -> Response {
        if let Some(origin) = self.origin {
            set_headers(response.headers_mut(), origin, self.methods);
        }
        response
    }
}

fn allowed_origin(request: &Request, allowed: &[String]) -> Option<HeaderValue> {
    if request.uri().path() == PUBLIC_PATH {
        return Some(HeaderValue::from_static("*"));
    }
    let origin = request.headers().get(header::ORIGIN)?;
    allowed.iter().any(|known| known.as_bytes() == origin.as_bytes()).then(|| origin.clone())
}

fn set_headers(headers: &mut HeaderMap, origin: HeaderValue, methods: Option<HeaderValue>) {
    if origin != "*" {
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    let exposed = HeaderValue::from_static("Location, Rialto-After, Rialto-Sequence, X-Request-Id");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    if let Some(methods) = methods {
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        let named = HeaderValue::from_static("Authorization, Content-Type, Rialto-Source, X-Request-Id");
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, named);
    }
}
