//! The number of a request: the caller's own where it brought one, else minted; it comes back with every answer and
//! stands in the log.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::Request;
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::Response;

const HEADER: &str = "x-request-id";
/// A longer number is replaced by one of ours.
const LENGTH_MAX: usize = 128;

static MINTED: AtomicU64 = AtomicU64::new(0);

pub(crate) async fn request_id(request: Request, next: Next) -> Response {
    let id = brought(&request).unwrap_or_else(mint);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = next.run(request).await;
    tracing::debug!(request = ?id, %method, path, status = response.status().as_u16());
    response.headers_mut().insert(HEADER, id);
    response
}

fn brought(request: &Request) -> Option<HeaderValue> {
    let id = request.headers().get(HEADER)?;
    let fits = (1..=LENGTH_MAX).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic);
    fits.then(|| id.clone())
}

fn mint() -> HeaderValue {
    HeaderValue::from(MINTED.fetch_add(1, Ordering::Relaxed) + 1)
}
