//! Requests: fields as the parameters of the API's methods, so that all interfaces have one set of rules.

use fix::tag::Tag;
use fix::{FixMessage, OutgoingMessage};
use serde_json::Value;

use super::reject::{ERROR_CODE, FIELDS, in_fields, is_unreadable, missing, reject};
use super::reports;
use crate::binance::api::error::ApiError;
use crate::binance::api::methods::ApiMethod;
use crate::binance::api::params::Params;

const CL_ORD_ID: Tag = 11;
const SIDE: Tag = 54;
const SYMBOL: Tag = 55;
const TEXT: Tag = 58;
const ORDER_TERMS: [&str; 8] =
    ["symbol", "quantity", "quoteOrderQty", "price", "newClientOrderId", "strategyId", "strategyType", "icebergQty"];

/// A request to execute.
#[derive(Debug)]
pub(super) struct FixRequest {
    pub(super) kind: RequestKind,
    pub(super) params: Params,
    /// Fields that an answer repeats.
    echoed: Vec<(Tag, Vec<u8>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestKind {
    Order,
    Cancel,
    CancelAndOrder,
    MassCancel,
    Amend,
}

impl RequestKind {
    pub(super) fn of(msg_type: &[u8]) -> Option<Self> {
        match msg_type {
            b"D" => Some(Self::Order),
            b"F" => Some(Self::Cancel),
            b"XCN" => Some(Self::CancelAndOrder),
            b"q" => Some(Self::MassCancel),
            b"XAK" => Some(Self::Amend),
            _ => None,
        }
    }

    pub(super) fn method(self) -> ApiMethod {
        match self {
            Self::Order => ApiMethod::OrderPlace,
            Self::Cancel => ApiMethod::OrderCancel,
            Self::CancelAndOrder => ApiMethod::CancelReplace,
            Self::MassCancel => ApiMethod::CancelAll,
            Self::Amend => ApiMethod::Amend,
        }
    }
}

/// The parameters of a request under construction.
struct ParamsBuilder<'a, 'b> {
    message: &'b FixMessage<'a>,
    pairs: Vec<(String, String)>,
}

impl ParamsBuilder<'_, '_> {
    fn add(&mut self, name: &str, value: &str) {
        self.pairs.push((name.to_owned(), value.to_owned()));
    }

    /// Fields under the names of parameters, as they are.
    fn copy(&mut self, names: &[&str]) {
        for (name, tag) in FIELDS.iter().filter(|(name, _)| names.contains(name)) {
            if let Some(value) = self.message.text(*tag) {
                self.add(name, value);
            }
        }
    }

    /// A field whose values have other names among the parameters; one that is not among them is passed on, to be refused.
    fn choose(&mut self, name: &str, tag: Tag, names: &[(&str, &str)]) {
        if let Some(value) = self.message.text(tag) {
            let known = names.iter().find(|(code, _)| *code == value);
            self.add(name, known.map_or(value, |(_, name)| name));
        }
    }

    fn add_order(&mut self) -> Result<(), ApiError> {
        self.copy(&ORDER_TERMS);
        self.choose("side", SIDE, &[("1", "BUY"), ("2", "SELL")]);
        self.choose("timeInForce", 59, &[("1", "GTC"), ("3", "IOC"), ("4", "FOK")]);
        let modes =
            [("1", "NONE"), ("2", "EXPIRE_TAKER"), ("3", "EXPIRE_MAKER"), ("4", "EXPIRE_BOTH"), ("5", "DECREMENT")];
        self.choose("selfTradePreventionMode", 25_001, &modes);
        self.choose("trailingDelta", 25_009, &[]);
        self.choose("pegPriceType", 1_094, &[]);
        if let Some(kind) = self.order_type()? {
            self.add("type", kind);
        }
        Ok(())
    }

    fn order_type(&mut self) -> Result<Option<&'static str>, ApiError> {
        let has_limit = match self.message.text(40) {
            None => return Ok(None),
            Some("1") => return Ok(Some("MARKET")),
            Some("2") if self.message.text(18) == Some("6") => return Ok(Some("LIMIT_MAKER")),
            Some("2") => return Ok(Some("LIMIT")),
            Some("3") => false,
            Some("4") => true,
            // Pegged orders among them.
            Some(_) => return Err(ApiError::bad_request(-1_116, "Invalid orderType.")),
        };
        for (tag, value) in [(1_100, "4"), (1_101, "1"), (1_107, "2")] {
            match self.message.text(tag) {
                None => return Err(missing(tag)),
                Some(sent) if sent != value => return Err(ApiError::invalid(&tag.to_string())),
                Some(_) => {}
            }
        }
        self.copy(&["stopPrice"]);
        let is_loss = match (self.message.text(SIDE), self.message.text(1_109)) {
            (Some("1"), Some("U")) | (Some("2"), Some("D")) => true,
            (_, Some("U" | "D")) => false,
            (_, Some(_)) => return Err(ApiError::invalid("1109")),
            (_, None) => return Err(missing(1_109)),
        };
        Ok(Some(match (is_loss, has_limit) {
            (true, false) => "STOP_LOSS",
            (true, true) => "STOP_LOSS_LIMIT",
            (false, false) => "TAKE_PROFIT",
            (false, true) => "TAKE_PROFIT_LIMIT",
        }))
    }

    fn add_restriction(&mut self) {
        self.choose("cancelRestrictions", 25_002, &[("1", "ONLY_NEW"), ("2", "ONLY_PARTIALLY_FILLED")]);
    }
}

impl FixRequest {
    pub(super) fn read(kind: RequestKind, message: &FixMessage<'_>) -> Result<Self, ApiError> {
        for tag in [CL_ORD_ID, SYMBOL] {
            message.get(tag).ok_or_else(|| missing(tag))?;
        }
        let mut params = ParamsBuilder { message, pairs: Vec::new() };
        match kind {
            RequestKind::Order => params.add_order()?,
            RequestKind::Cancel => {
                params.copy(&["symbol", "orderId", "origClientOrderId", "newClientOrderId"]);
                params.add_restriction();
            }
            RequestKind::CancelAndOrder => {
                params.add_order()?;
                params.copy(&["cancelOrderId", "cancelOrigClientOrderId", "cancelNewClientOrderId"]);
                params.add_restriction();
                params.choose("cancelReplaceMode", 25_033, &[("1", "STOP_ON_FAILURE"), ("2", "ALLOW_FAILURE")]);
                params.choose("orderRateLimitExceededMode", 25_038, &[("1", "DO_NOTHING"), ("2", "CANCEL_ONLY")]);
            }
            RequestKind::MassCancel => match message.text(530) {
                Some("1") => params.copy(&["symbol"]),
                Some(_) => return Err(ApiError::invalid("530")),
                None => return Err(missing(530)),
            },
            RequestKind::Amend => {
                params.copy(&["symbol", "newQty", "orderId", "origClientOrderId", "newClientOrderId"]);
            }
        }
        let repeated = [CL_ORD_ID, 37, 38, 40, 41, 44, SIDE, SYMBOL, 59, 530, 25_002];
        let echoed = repeated.iter().filter_map(|tag| Some((*tag, message.get(*tag)?.to_vec()))).collect();
        Ok(Self { kind, params: Params::new(params.pairs), echoed })
    }

    /// The client's id of the request.
    pub(super) fn id(&self) -> String {
        let id = self.echoed.iter().find(|(tag, _)| *tag == CL_ORD_ID);
        id.map(|(_, id)| String::from_utf8_lossy(id).into_owned()).unwrap_or_default()
    }

    fn echo(&self, tags: &[Tag], out: &mut OutgoingMessage) {
        for (tag, value) in self.echoed.iter().filter(|(tag, _)| tags.contains(tag)) {
            out.field(*tag, value);
        }
    }

    /// What is answered beside the reports: rejects, and the report of a mass cancel.
    pub(super) fn answers(&self, message: &FixMessage<'_>, result: Result<Value, ApiError>) -> Vec<OutgoingMessage> {
        match (result, self.kind) {
            (Ok(canceled), RequestKind::MassCancel) => {
                let mut out = self.begin("r", &[CL_ORD_ID, SYMBOL, 530]);
                out.field(531, "1").number(533, canceled.as_array().map_or(0, Vec::len) as u64);
                vec![out]
            }
            (Ok(_), _) => Vec::new(),
            (Err(error), _) if is_unreadable(&error) => vec![reject(Some(message), error)],
            (Err(error), RequestKind::CancelAndOrder) if error.data.is_some() => self.halves(&error),
            (Err(error), RequestKind::Order | RequestKind::CancelAndOrder) => vec![self.order_rejected(&error)],
            (Err(error), RequestKind::Cancel) => vec![self.cancel_rejected(&error)],
            (Err(error), RequestKind::MassCancel) => {
                let mut out = self.begin("r", &[CL_ORD_ID, SYMBOL, 530]);
                out.field(531, "0").field(532, "99");
                vec![with_error(out, &error)]
            }
            (Err(error), RequestKind::Amend) => {
                vec![with_error(self.begin("XAR", &[CL_ORD_ID, 41, 37, SYMBOL, 38]), &error)]
            }
        }
    }

    fn begin(&self, msg_type: &str, tags: &[Tag]) -> OutgoingMessage {
        let mut out = OutgoingMessage::new(msg_type);
        self.echo(tags, &mut out);
        out
    }

    /// What became of the cancel and of the new order, where either failed.
    fn halves(&self, error: &ApiError) -> Vec<OutgoingMessage> {
        let data = error.data.as_ref().unwrap_or(&Value::Null);
        let failed = |result: &str, response: &str| {
            let body = (data[result] == "FAILURE").then(|| &data[response])?;
            let code = body["code"].as_i64().and_then(|code| i32::try_from(code).ok()).unwrap_or(-1_000);
            Some(ApiError::bad_request(code, body["msg"].as_str().unwrap_or_default()))
        };
        let cancel = failed("cancelResult", "cancelResponse").map(|error| self.cancel_rejected(&error));
        let order = match data["newOrderResult"] == "NOT_ATTEMPTED" {
            true => Some(ApiError::bad_request(-2_022, "Order cancel-replace failed.")),
            false => failed("newOrderResult", "newOrderResponse"),
        };
        cancel.into_iter().chain(order.map(|error| self.order_rejected(&error))).collect()
    }

    fn order_rejected(&self, error: &ApiError) -> OutgoingMessage {
        let mut out = self.begin("8", &[CL_ORD_ID, 38, 40, 44, SIDE, SYMBOL, 59]);
        reports::add_rejected(&mut out);
        with_error(out, error)
    }

    fn cancel_rejected(&self, error: &ApiError) -> OutgoingMessage {
        let mut out = self.begin("9", &[CL_ORD_ID, 41, 37, SYMBOL, 25_002]);
        out.field(434, "1");
        with_error(out, error)
    }
}

fn with_error(mut out: OutgoingMessage, error: &ApiError) -> OutgoingMessage {
    let (error, _) = in_fields(error.clone());
    out.display(ERROR_CODE, error.code).field(TEXT, error.text);
    out
}
