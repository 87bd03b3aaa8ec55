//! API description, and a page that shows it. The page loads nothing from elsewhere.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::{openapi, response};

/// Swagger UI sets styles on its elements; scripts come from our own files only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) async fn document() -> Response {
    response::value(openapi::text().to_vec())
}

pub(crate) async fn page() -> Response {
    file("text/html; charset=utf-8", include_str!("../../pages/docs.html"))
}

/// Browsers request it on their own. It is the UI's icon, also where the UI was not built in.
pub(crate) async fn icon() -> Response {
    file("image/svg+xml", include_str!("../../../../ui/public/rialto.svg"))
}

pub(crate) async fn start() -> Response {
    file("text/javascript; charset=utf-8", include_str!("../../pages/docs.js"))
}

pub(crate) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!(concat!(env!("OUT_DIR"), "/swagger-ui.css")))
}

pub(crate) async fn program() -> Response {
    file("text/javascript; charset=utf-8", include_str!(concat!(env!("OUT_DIR"), "/swagger-ui-bundle.js")))
}

/// For clients that validate their messages.
pub(crate) async fn fix_dictionary() -> Response {
    file("text/xml; charset=utf-8", include_str!("../../../../docs/fix/FIX44.xml"))
}

pub(super) fn file(media_type: &'static str, text: &'static str) -> Response {
    let headers: [(HeaderName, HeaderValue); 4] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (headers, text).into_response()
}
