//! Requests to bytes: stamped, signed and written for REST or for the WebSocket API.

use std::fmt;

use adapter_kit::connection::VenueRequest;
use domain::Timestamp;
use serde_json::{Map, Value};

use super::BinanceRequest;
use super::calls::CallSecurity;
use super::parameters::{Parameters, percent_encode};
use super::signing::{RequestSigner, SigningKeyError};
use crate::protocol::wire_values::millis_of;

/// The header that has the API key.
pub const KEY_HEADER: &str = "X-MBX-APIKEY";

/// When a request was made, by the venue's clock, and for how long it may be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestStamp {
    pub at: Timestamp,
    pub receive_window_millis: u32,
}

/// How a request of the WebSocket API is authorized.
#[derive(Debug, Clone, Copy)]
pub enum SocketAuthority<'a> {
    /// With its own signature.
    Signature(&'a RequestSigner),
    /// By the session, which is logged on.
    Session,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodingError {
    /// REST does not have the call.
    SocketOnly,
    /// It needs a key, and there is none.
    NotPublic,
    Key(SigningKeyError),
}

/// For REST. Everything stands in the query string, so what is signed is exactly what is sent.
pub fn encode_rest(
    request: &BinanceRequest,
    signer: &RequestSigner,
    stamp: RequestStamp,
) -> Result<VenueRequest, EncodingError> {
    let (method, path) = request.call.rest().ok_or(EncodingError::SocketOnly)?;
    let mut headers = Vec::new();
    let query = match request.call.security() {
        CallSecurity::Public => request.parameters.encoded(),
        CallSecurity::Signed | CallSecurity::Session => {
            headers.push((KEY_HEADER.to_owned(), signer.api_key().to_owned()));
            signed_query(&stamped(request.parameters.clone(), stamp), signer)?
        }
    };
    Ok(rest_request(method, path, &query, headers))
}

/// For REST, without a key.
pub fn encode_public(request: &BinanceRequest) -> Result<VenueRequest, EncodingError> {
    let (method, path) = request.call.rest().ok_or(EncodingError::SocketOnly)?;
    if request.call.security() != CallSecurity::Public {
        return Err(EncodingError::NotPublic);
    }
    Ok(rest_request(method, path, &request.parameters.encoded(), Vec::new()))
}

fn rest_request(method: &'static str, path: &str, query: &str, headers: Vec<(String, String)>) -> VenueRequest {
    let path = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
    VenueRequest { method, path, headers, body: String::new() }
}

/// The signature is made of the encoded text; its own Base64 is encoded after that.
fn signed_query(parameters: &Parameters, signer: &RequestSigner) -> Result<String, EncodingError> {
    let mut query = parameters.encoded();
    let signature = signer.sign(&query).map_err(EncodingError::Key)?;
    query.push_str("&signature=");
    percent_encode(&signature, &mut query);
    Ok(query)
}

/// For the WebSocket API, as the text of one frame.
pub fn encode_socket(
    id: u64,
    request: &BinanceRequest,
    authority: SocketAuthority<'_>,
    stamp: RequestStamp,
) -> Result<String, EncodingError> {
    let params = match (request.call.security(), authority) {
        (CallSecurity::Public | CallSecurity::Session, _) => request.parameters.json(),
        (CallSecurity::Signed, SocketAuthority::Session) => stamped(request.parameters.clone(), stamp).json(),
        (CallSecurity::Signed, SocketAuthority::Signature(signer)) => {
            let parameters = stamped(request.parameters.clone(), stamp).text("apiKey", signer.api_key());
            let signature = signer.sign(&parameters.sorted()).map_err(EncodingError::Key)?;
            parameters.text("signature", signature).json()
        }
    };
    Ok(frame(id, request.call.socket(), params))
}

/// Numbered requests come back with their number.
fn frame(id: u64, method: &str, params: Map<String, Value>) -> String {
    let mut frame = Map::new();
    frame.insert("id".to_owned(), Value::from(id));
    frame.insert("method".to_owned(), Value::from(method));
    if !params.is_empty() {
        frame.insert("params".to_owned(), Value::Object(params));
    }
    Value::Object(frame).to_string()
}

fn stamped(parameters: Parameters, stamp: RequestStamp) -> Parameters {
    parameters.integer("recvWindow", stamp.receive_window_millis.into()).integer("timestamp", millis_of(stamp.at))
}

/// A command to a market stream connection.
pub fn encode_stream_command(id: u64, is_subscribe: bool, streams: &[String]) -> String {
    let method = if is_subscribe { "SUBSCRIBE" } else { "UNSUBSCRIBE" };
    serde_json::json!({ "id": id, "method": method, "params": streams }).to_string()
}

/// Streams are named by symbols in small letters; letters without a small form stay.
pub fn stream_name(symbol: &str, stream: &str) -> String {
    format!("{}@{stream}", symbol.to_lowercase())
}

impl fmt::Display for EncodingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPublic => f.write_str("the call needs a key, and there is none"),
            Self::SocketOnly => f.write_str("the call exists over the WebSocket API only"),
            Self::Key(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for EncodingError {}
