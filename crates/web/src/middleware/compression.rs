//! gzip of GET responses where the client accepts it and it pays. Other responses are short, and their length must not
//! leak secrets.

use std::io::{self, Write};
use std::mem::take;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::StreamExt;
use futures_util::stream;
use http_body_util::BodyExt;
use hyper::body::Frame;
use tokio::task::coop::poll_proceed;

/// Shorter responses are not compressed.
const COMPRESSED_FROM_BYTES: usize = 1024;

/// Coding of a response.
pub(crate) enum ContentCoding {
    /// Not a GET or HEAD: never compressed.
    NotApplicable,
    Identity,
    Gzip,
}

impl ContentCoding {
    pub(crate) fn negotiate(request: &Request) -> Self {
        match *request.method() {
            Method::GET | Method::HEAD if accepts_gzip(request.headers()) => Self::Gzip,
            Method::GET | Method::HEAD => Self::Identity,
            _ => Self::NotApplicable,
        }
    }

    /// The router drops the body of a HEAD after this, so its headers are those of the GET.
    pub(crate) async fn encode_response(self, mut response: Response) -> Response {
        if matches!(self, Self::NotApplicable) || !varies(&response) {
            return response;
        }
        response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        if matches!(self, Self::Gzip) { compressed(response).await } else { response }
    }
}

/// Whether its bytes depend on `Accept-Encoding`; for 304 those of the cached response did.
fn varies(response: &Response) -> bool {
    match response.status() {
        StatusCode::OK => is_compressible(response.headers()),
        status => status == StatusCode::NOT_MODIFIED,
    }
}

/// Whether gzip is accepted, by name or by `*`, with at least the weight of identity.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let named = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let (mut gzip, mut any, mut identity) = (None, None, 0);
    for item in named.flat_map(|value| value.split(',')) {
        let (name, weight) = item.split_once(';').unwrap_or((item, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => gzip = Some(thousandths(weight)),
            "identity" => identity = thousandths(weight),
            "*" => any = Some(thousandths(weight)),
            _ => {}
        }
    }
    gzip.or(any).is_some_and(|liking| liking > 0 && liking >= identity)
}

/// `q=0.5` is 500; absent is 1000, invalid is 0.
fn thousandths(weight: &str) -> u16 {
    let Some(value) = weight.trim().strip_prefix("q=") else { return if weight.trim().is_empty() { 1000 } else { 0 } };
    let (whole, part) = value.split_once('.').unwrap_or((value, ""));
    match (whole, format!("{part:0<3}").parse()) {
        ("1", Ok(0)) => 1000,
        ("0", Ok(part @ 0..=999)) => part,
        _ => 0,
    }
}

fn is_compressible(headers: &HeaderMap) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let is_text = essence.starts_with("text/") && essence != "text/event-stream";
    let compressible = is_text || ["application/json", "application/javascript", "image/svg+xml"].contains(&essence);
    compressible && !headers.contains_key(header::CONTENT_ENCODING)
}

async fn compressed(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let (body, is_long) = worth_compressing(body).await;
    if !is_long {
        return Response::from_parts(parts, body);
    }
    set_headers(&mut parts.headers);
    Response::from_parts(parts, Body::new(Gzip::new(body)))
}

/// The same body, and whether compression pays. A stream is read until that is known, and not further.
async fn worth_compressing(mut body: Body) -> (Body, bool) {
    if let Some(length) = body.size_hint().exact() {
        return (body, length >= COMPRESSED_FROM_BYTES as u64);
    }
    let (mut begun, mut length) = (vec![], 0);
    while length < COMPRESSED_FROM_BYTES {
        let Some(frame) = body.frame().await else { return (Body::from_stream(stream::iter(begun)), false) };
        let data = frame.map(|frame| frame.into_data().unwrap_or_default());
        length += data.as_ref().map_or(COMPRESSED_FROM_BYTES, Bytes::len);
        begun.push(data);
    }
    (Body::from_stream(stream::iter(begun).chain(body.into_data_stream())), true)
}

fn set_headers(headers: &mut HeaderMap) {
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.remove(header::CONTENT_LENGTH);
    // The same content in other bytes: a strong tag would promise equal bytes.
    let strong = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()).filter(|tag| !tag.starts_with("W/"));
    if let Some(weak) = strong.and_then(|tag| HeaderValue::try_from(format!("W/{tag}")).ok()) {
        headers.insert(header::ETAG, weak);
    }
}

struct Gzip {
    body: Body,
    /// `None` once it is finished.
    encoder: Option<GzEncoder<Vec<u8>>>,
    /// Whether the encoder buffers something.
    has_buffered: bool,
}

impl Gzip {
    fn new(body: Body) -> Self {
        Self { body, encoder: Some(GzEncoder::new(vec![], Compression::fast())), has_buffered: false }
    }

    /// Output of the encoder for a step of the body; it may buffer everything.
    fn encode(&mut self, step: BodyStep) -> io::Result<Vec<u8>> {
        let Some(encoder) = &mut self.encoder else { return Ok(vec![]) };
        self.has_buffered = matches!(step, BodyStep::Data(_));
        match step {
            BodyStep::Data(data) => encoder.write_all(&data)?,
            BodyStep::Pause => encoder.flush()?,
            BodyStep::End => return self.encoder.take().map_or(Ok(vec![]), GzEncoder::finish),
        }
        Ok(take(encoder.get_mut()))
    }
}

enum BodyStep {
    Data(Bytes),
    /// Available bytes are not delayed by later ones.
    Pause,
    End,
}

impl HttpBody for Gzip {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        while self.encoder.is_some() {
            // A long list is always ready, and compression takes time: yields to other tasks.
            let turn = ready!(poll_proceed(context));
            let step = match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => BodyStep::Data(frame.into_data().unwrap_or_default()),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => BodyStep::End,
                Poll::Pending if self.has_buffered => BodyStep::Pause,
                Poll::Pending => return Poll::Pending,
            };
            turn.made_progress();
            let encoded = self.encode(step).map_err(axum::Error::new)?;
            if !encoded.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(encoded.into()))));
            }
        }
        Poll::Ready(None)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    fn takes(accepted: &'static str) -> bool {
        accepts_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(accepted))]))
    }

    #[test]
    fn gzip_is_taken_where_it_is_welcome() {
        for accepted in ["gzip", "br, GZIP", "gzip;q=0.5", "x-gzip", "*", "deflate, gzip;q=1.0, *;q=0", "gzip; q=0.001"]
        {
            assert!(takes(accepted), "{accepted}");
        }
        for accepted in ["", "br", "gzip;q=0", "gzip;q=0.0", "*;q=0", "identity, gzip;q=0.5", "gzip;q=0, *", "gzip;q=x"]
        {
            assert!(!takes(accepted), "{accepted}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }

    #[test]
    fn text_is_compressible_and_what_is_compressed_already_is_not() {
        let compressible = |media_type: &'static str| {
            is_compressible(&HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(media_type))]))
        };
        for media_type in ["application/json", "text/csv; charset=utf-8", "text/plain", "image/svg+xml"] {
            assert!(compressible(media_type), "{media_type}");
        }
        for media_type in ["image/png", "application/problem+json", "text/event-stream", ""] {
            assert!(!compressible(media_type), "{media_type}");
        }
    }

    #[test]
    fn a_strong_tag_becomes_weak_and_a_weak_one_stays() {
        for tag in ["\"7\"", "W/\"7\""] {
            let mut headers = HeaderMap::from_iter([(header::ETAG, HeaderValue::from_static(tag))]);
            set_headers(&mut headers);
            assert_eq!(headers[header::ETAG], "W/\"7\"");
        }
    }

    fn decoded(bytes: &[u8]) -> String {
        let mut text = vec![];
        // The rest is missing, which is an error after the available bytes.
        let _ = GzDecoder::new(bytes).read_to_end(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[tokio::test]
    async fn what_is_there_does_not_wait_for_what_is_not() {
        let first = stream::iter([Ok::<_, axum::Error>("first")]);
        let mut body = Gzip::new(Body::from_stream(first.chain(stream::pending())));
        let mut sent = vec![];
        while decoded(&sent) != "first" {
            sent.extend(body.frame().await.unwrap().unwrap().into_data().unwrap());
        }
    }

    #[tokio::test]
    async fn an_answer_that_breaks_does_not_look_whole() {
        let broken = [Ok("first".repeat(500)), Err(axum::Error::new("the disk is gone"))];
        let (body, is_long) = worth_compressing(Body::from_stream(stream::iter(broken))).await;
        assert!(is_long);
        assert!(Gzip::new(body).collect().await.is_err());
        let (body, _) =
            worth_compressing(Body::from_stream(stream::iter([Err::<Bytes, _>(axum::Error::new("at once"))]))).await;
        assert!(Gzip::new(body).collect().await.is_err());
    }
}
