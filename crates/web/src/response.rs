//! Successful responses. A GET is streamed (chunked in HTTP/1.1); an empty response has `Content-Length: 0`.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::{IntId, OrderType};

use crate::lists::list_cache::CachedList;
use crate::lists::list_format::ListFormat;
use crate::openapi::operations;

/// Live state is complete up to this sequence; events up to it are included.
pub(crate) const SEQUENCE_HEADER: &str = "rialto-sequence";

/// The key of the last row of a page: `after` with it continues there.
const AFTER_HEADER: &str = "rialto-after";
/// Names the journal that a page is from.
pub(crate) const JOURNAL_HEADER: &str = "rialto-journal";

const ACCEPT: HeaderValue = HeaderValue::from_static("Accept");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

const CSV: HeaderValue = HeaderValue::from_static(wire::csv::MEDIA_TYPE);

/// A list, encoded in chunks while it is sent; `write` appends one item as JSON.
pub(crate) fn list<I: Send + 'static>(
    form: ListFormat,
    items: Vec<I>,
    write: impl Fn(&I, &mut Vec<u8>) + Send + 'static,
) -> Response {
    match form {
        ListFormat::Json => with_media_type(form, streamed(wire::json::list(items, write).map(Bytes::from))),
        ListFormat::Csv(handler) => {
            let table = wire::csv::table(items, &operations::columns(handler), write);
            with_media_type(form, streamed(table.map(Bytes::from)))
        }
    }
}

/// A list that was encoded before.
pub(crate) fn cached_list(form: ListFormat, copy: Arc<CachedList>) -> Response {
    let tag = copy.etag.clone();
    let pieces = (0..copy.pieces.len()).map(move |place| copy.pieces[place].clone());
    let mut response = with_media_type(form, streamed(pieces));
    response.headers_mut().insert(header::ETAG, tag);
    response
}

/// The client has it already.
pub(crate) fn not_modified(copy: &CachedList) -> Response {
    let tag = copy.etag.clone();
    ([(header::ETAG, tag), (header::VARY, ACCEPT)], StatusCode::NOT_MODIFIED).into_response()
}

/// One value, streamed as for every GET.
pub(crate) fn value(json: Vec<u8>) -> Response {
    streamed(std::iter::once(Bytes::from(json)))
}

/// One value as the response of a call that is not a GET.
pub(crate) fn output(json: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, JSON)], json).into_response()
}

/// Success without content.
pub(crate) fn empty() -> Response {
    StatusCode::OK.into_response()
}

/// Success, with the order that was placed.
pub(crate) fn order_placed(int_id: &IntId) -> Response {
    ([(header::LOCATION, location(int_id))], StatusCode::OK).into_response()
}

/// A response that is complete up to `sequence`.
pub(crate) fn with_sequence(sequence: u64, mut response: Response) -> Response {
    response.headers_mut().insert(SEQUENCE_HEADER, HeaderValue::from(sequence));
    response
}

/// A page whose last row has this key.
pub(crate) fn with_after(last: u64, mut response: Response) -> Response {
    response.headers_mut().insert(AFTER_HEADER, HeaderValue::from(last));
    response
}

/// The path of an order. An intId may contain characters with a meaning in a path, or be the name of a path itself.
pub(crate) fn location(int_id: &IntId) -> HeaderValue {
    let is_path = OrderType::ALL.into_iter().any(|order_type| order_type.path() == int_id.as_str());
    let mut path = String::from("/rest/execution/order/");
    for byte in int_id.as_str().bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' if !is_path => {
                path.push(char::from(byte));
            }
            _ => path.push_str(&format!("%{byte:02X}")),
        }
    }
    HeaderValue::try_from(path).expect("only ASCII is left")
}

/// The format depends on `Accept`.
fn with_media_type(form: ListFormat, mut response: Response) -> Response {
    if matches!(form, ListFormat::Csv(_)) {
        response.headers_mut().insert(header::CONTENT_TYPE, CSV);
    }
    response.headers_mut().insert(header::VARY, ACCEPT);
    response
}

fn streamed(pieces: impl Iterator<Item = Bytes> + Send + 'static) -> Response {
    let pieces = futures_util::stream::iter(pieces.map(Ok::<_, Infallible>));
    ([(header::CONTENT_TYPE, JSON)], Body::from_stream(pieces)).into_response()
}
