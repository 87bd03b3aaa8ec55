//! A recording of the venue's messages, read again by the part of the adapter that decodes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use adapter_kit::connection::VenueResponse;
use adapter_kit::recording::{RecordedEvent, RecordedMessage, ReplayTarget, replay};
use adapters::{RecordingSummary, VenueRecording};
use domain::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::protocol::answers::account_answers::{BinanceAccount, BinanceTrade, KeyRestrictions};
use crate::protocol::answers::exchange_info::ExchangeInfo;
use crate::protocol::answers::market_answers::{DepthSnapshot, ServerTime, SymbolTicker};
use crate::protocol::answers::order_answers::BinanceOrder;
use crate::protocol::answers::{CallAnswer, SocketFrame, decode_frame, decode_rest, excerpt};
use crate::protocol::market_events::{MarketEvent, decode_market_event};
use crate::protocol::requests::calls::BinanceCall;
use crate::protocol::user_events::decode_user_event;

/// Names of the connections in a recording.
pub(crate) const REST_LINE: &str = "rest";
pub(crate) const API_LINE: &str = "api";
pub(crate) const STREAMS_LINE: &str = "streams";

/// The recording of a venue of this type.
pub struct BinanceRecording(pub PathBuf);

impl VenueRecording for BinanceRecording {
    fn path(&self) -> &Path {
        &self.0
    }

    fn read_again(&self) -> Result<RecordingSummary, String> {
        let mut reader = TranscriptReader::default();
        replay(&self.0, &mut reader).map_err(|error| error.to_string())?;
        Ok(reader.summary)
    }
}

/// Decodes every message of a recording, and notes what cannot be read.
#[derive(Debug, Default)]
pub struct TranscriptReader {
    pub summary: RecordingSummary,
    /// How often each call was answered with a result, by its name.
    pub answered: BTreeMap<&'static str, usize>,
    /// Calls over REST without an answer, by the number of the recording.
    rest_calls: BTreeMap<u64, BinanceCall>,
    /// Calls over the WebSocket API without an answer, by their own number.
    api_calls: BTreeMap<u64, BinanceCall>,
}

impl ReplayTarget for TranscriptReader {
    fn on_recorded(&mut self, at: Timestamp, message: &RecordedMessage) {
        self.summary.messages += 1;
        let read = match (message.line.as_str(), &message.event) {
            (REST_LINE, RecordedEvent::Request { number, method, path, .. }) => {
                let path = path.split('?').next().unwrap_or_default();
                self.rest_calls.extend(BinanceCall::of_rest(method, path).map(|call| (*number, call)));
                Ok(())
            }
            (REST_LINE, RecordedEvent::Response { number, status, headers, body }) => {
                let (status, headers, body) = (*status, headers.clone(), body.clone().into_bytes());
                let answer = decode_rest(&VenueResponse { status, headers, body }, at);
                let call = self.rest_calls.remove(number);
                self.on_answer(call, &answer)
            }
            (API_LINE, RecordedEvent::Sent { text }) => {
                self.on_api_sent(text);
                Ok(())
            }
            (API_LINE, RecordedEvent::Received { text }) => self.on_api_received(at, text),
            (STREAMS_LINE, RecordedEvent::Received { text }) => match decode_market_event(text) {
                MarketEvent::Unreadable(reason) => Err(reason),
                _ => Ok(()),
            },
            (_, RecordedEvent::ReceivedBinary { .. }) => Err("a binary frame".to_owned()),
            _ => Ok(()),
        };
        if let Err(reason) = read {
            self.summary.not_understood.push(format!("{}: {reason}", message.line));
        }
    }
}

impl TranscriptReader {
    fn on_api_sent(&mut self, text: &str) {
        let Ok(frame) = serde_json::from_str::<Value>(text) else { return };
        let call = frame["method"].as_str().and_then(BinanceCall::of_socket);
        self.api_calls.extend(frame["id"].as_u64().zip(call));
    }

    /// Numbers begin again with each connection; a request of the new one replaces that of the old one.
    fn on_api_received(&mut self, at: Timestamp, text: &str) -> Result<(), String> {
        match decode_frame(text, at) {
            SocketFrame::Answer(number, answer) => {
                let call = self.api_calls.remove(&number);
                self.on_answer(call, &answer)
            }
            SocketFrame::Event(_, event) => decode_user_event(&event).map(drop).map_err(|unreadable| unreadable.0),
            SocketFrame::SessionError(_) => Ok(()),
            SocketFrame::Unreadable(excerpt) => Err(excerpt),
        }
    }

    /// A refusal is an answer too. One without a code is no answer of the API, except where the call is not there.
    fn on_answer(&mut self, call: Option<BinanceCall>, answer: &CallAnswer) -> Result<(), String> {
        match (&answer.outcome, call) {
            (Ok(result), Some(call)) => {
                *self.answered.entry(call.socket()).or_default() += 1;
                read_result(call, result).map_err(|reason| format!("{}: {reason}", call.socket()))
            }
            (Ok(result), None) => Err(format!("an answer to no request: {}", excerpt(&result.to_string()))),
            (Err(_), Some(BinanceCall::KeyRestrictions)) => Ok(()),
            (Err(error), _) if error.code.is_none() => Err(error.message.clone()),
            (Err(_), _) => Ok(()),
        }
    }
}

/// With the type that the adapter reads it with.
fn read_result(call: BinanceCall, result: &Value) -> Result<(), String> {
    fn read<T: for<'de> Deserialize<'de>>(result: &Value) -> Result<(), String> {
        T::deserialize(result).map(drop).map_err(|reason| reason.to_string())
    }
    match call {
        BinanceCall::Time => read::<ServerTime>(result),
        BinanceCall::ExchangeInfo => read::<ExchangeInfo>(result),
        BinanceCall::Depth => read::<DepthSnapshot>(result),
        BinanceCall::Tickers => read::<Vec<SymbolTicker>>(result),
        BinanceCall::OrderStatus => read::<BinanceOrder>(result),
        BinanceCall::OpenOrders | BinanceCall::AllOrders => read::<Vec<BinanceOrder>>(result),
        BinanceCall::MyTrades => read::<Vec<BinanceTrade>>(result),
        BinanceCall::Account => read::<BinanceAccount>(result),
        BinanceCall::KeyRestrictions => read::<KeyRestrictions>(result),
        // Their results are read with the order that they belong to.
        BinanceCall::Place
        | BinanceCall::PlaceTest
        | BinanceCall::Cancel
        | BinanceCall::CancelReplace
        | BinanceCall::Amend
        | BinanceCall::Klines
        | BinanceCall::OrderCount
        | BinanceCall::LogOn
        | BinanceCall::SubscribeUser
        | BinanceCall::SubscribeUserSigned => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[(&str, RecordedEvent)]) -> TranscriptReader {
        let mut reader = TranscriptReader::default();
        for (line, event) in lines {
            let message = RecordedMessage { at: String::new(), line: (*line).to_owned(), event: event.clone() };
            reader.on_recorded(Timestamp(0), &message);
        }
        reader
    }

    fn rest(number: u64, path: &str, status: u16, body: &str) -> [(&'static str, RecordedEvent); 2] {
        let (headers, body) = (Vec::new(), body.to_owned());
        let request = RecordedEvent::Request {
            number,
            method: "GET".to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: String::new(),
        };
        [(REST_LINE, request), (REST_LINE, RecordedEvent::Response { number, status, headers, body })]
    }

    #[test]
    fn what_the_adapter_cannot_read_is_named_and_refusals_are_answers() {
        let received = |line: &'static str, text: &str| (line, RecordedEvent::Received { text: text.to_owned() });
        let mut lines = Vec::new();
        lines.extend(rest(1, "/api/v3/time", 200, r#"{"serverTime":1}"#));
        lines.extend(rest(2, "/api/v3/account?signature=***", 200, r#"{"balances":7}"#));
        lines.extend(rest(3, "/api/v3/openOrders", 400, r#"{"code":-1121,"msg":"Invalid symbol."}"#));
        lines.extend(rest(4, "/sapi/v1/account/apiRestrictions", 404, "<html>not found</html>"));
        lines.push(received(API_LINE, "<html>"));
        lines.push(received(STREAMS_LINE, "[]"));
        let reader = read(&lines);
        assert_eq!(reader.summary.messages, 10);
        let heads: Vec<_> = reader.summary.not_understood.iter().map(|line| &line[..line.len().min(20)]).collect();
        assert_eq!(heads, ["rest: account.status", "api: <html>", "streams: []"]);
        assert_eq!(reader.answered, BTreeMap::from([("time", 1), ("account.status", 1)]));
    }
}
