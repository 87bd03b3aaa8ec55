//! Answers that went well. A GET streams, so HTTP/1.1 sends it chunked; what has no output says `Content-Length: 0`.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::IntId;

/// Live state is true up to this sequence; events up to it are in the picture already.
pub(crate) const SEQUENCE_HEADER: &str = "rialto-sequence";

/// Orders are placed at these paths, beside those of the orders themselves.
const NAMES_OF_PATHS: [&str; 4] = ["market", "limit", "stop", "stoplimit"];

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A list, encoded piece by piece while it is sent.
pub(crate) fn list<I: Send + 'static>(items: Vec<I>, write: impl Fn(&I, &mut Vec<u8>) + Send + 'static) -> Response {
    streamed(wire::json::list(items, write))
}

/// One value, streamed as a GET has it.
pub(crate) fn value(json: Vec<u8>) -> Response {
    streamed(std::iter::once(json))
}

/// One value as the output of a call that is not a GET.
pub(crate) fn output(json: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, JSON)], json).into_response()
}

/// Done, with nothing to say.
pub(crate) fn done() -> Response {
    StatusCode::OK.into_response()
}

/// Done, and this is the order that came of it.
pub(crate) fn placed(int_id: &IntId) -> Response {
    ([(header::LOCATION, location(int_id))], StatusCode::OK).into_response()
}

/// An answer that is true up to `sequence`.
pub(crate) fn as_of(sequence: u64, mut response: Response) -> Response {
    response.headers_mut().insert(SEQUENCE_HEADER, HeaderValue::from(sequence));
    response
}

/// Where an order is found. An intId may contain what has a meaning in a path, or be the name of a path itself.
pub(crate) fn location(int_id: &IntId) -> HeaderValue {
    let is_path = NAMES_OF_PATHS.contains(&int_id.as_str());
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

fn streamed(pieces: impl Iterator<Item = Vec<u8>> + Send + 'static) -> Response {
    let pieces = futures_util::stream::iter(pieces.map(|piece| Ok::<_, Infallible>(Bytes::from(piece))));
    ([(header::CONTENT_TYPE, JSON)], Body::from_stream(pieces)).into_response()
}
