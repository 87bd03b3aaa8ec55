//! Trading methods: new orders, tests, cancels, cancel-replace, amendments.

use serde_json::{Value, json};

use super::ApiCall;
use super::api::encode::{self, ResponseType, text};
use super::api::error::ApiError;
use super::api::params::Params;
use crate::exchange::{
    Applied, BNB_DISCOUNT, CancelRequest, CancelRestriction, NewSpotOrder, OrderReference, PreventionMode, SpotCommand,
    SpotOrderType, SpotSide, SpotTimeInForce, Units,
};
use crate::faults::catalogue::Fault;
use crate::sequencer::now_micros;

/// The reject of the new order under the fault `replace-half`.
const TOO_MANY_ORDERS: &str = "Too many new orders.";
const STRATEGY_TYPE_MIN: i64 = 1_000_000;

impl ApiCall<'_> {
    pub(super) async fn place_order(&self) -> Result<Value, ApiError> {
        let (order, response) = self.new_order()?;
        refuse_replace_parameters(self.params)?;
        let (rates, now) = (&self.state.rates, now_micros());
        rates.check_orders(self.account, now)?;
        match self.command(self.place_command(order)).await? {
            Applied::Placed(placed) => {
                rates.add_order(self.account, now);
                if !placed.fills.is_empty() {
                    rates.remove_order(self.account, now);
                }
                Ok(encode::placed(&placed, response, self.unit))
            }
            other => Err(unexpected(&other)),
        }
    }

    pub(super) async fn test_order(&self) -> Result<Value, ApiError> {
        let (order, _) = self.new_order()?;
        let account = order.account;
        let checked = self.state.exchange.query(move |exchange| {
            let checked = exchange.check_new(&order, exchange.now_micros);
            checked.map(|_| exchange.accounts[account as usize].rules.clone())
        });
        let rules = checked.await??;
        if !self.params.boolean("computeCommissionRates")? {
            return Ok(json!({}));
        }
        let none = json!({ "maker": text(Units::ZERO), "taker": text(Units::ZERO) });
        Ok(json!({
            "standardCommissionForOrder": { "maker": text(rules.maker_rate), "taker": text(rules.taker_rate) },
            "specialCommissionForOrder": none,
            "taxCommissionForOrder": none,
            "discount": discount(rules.pays_in_bnb),
        }))
    }

    pub(super) async fn cancel_order(&self) -> Result<Value, ApiError> {
        let cancel = CancelRequest {
            order: self.order_reference("orderId", "origClientOrderId")?,
            cancel_id: self.params.client_id("newClientOrderId")?,
            restriction: self.restriction()?,
        };
        if let Some(confirmed) = self.fill_instead(&cancel).await? {
            return Ok(confirmed);
        }
        match self.command(SpotCommand::Cancel(cancel)).await? {
            Applied::Canceled(canceled) => match canceled.first() {
                Some(canceled) => Ok(encode::canceled(canceled, self.unit)),
                None => Err(unexpected(&Applied::Canceled(canceled))),
            },
            other => Err(unexpected(&other)),
        }
    }

    pub(super) async fn cancel_all(&self) -> Result<Value, ApiError> {
        let command = SpotCommand::CancelAll { account: self.account, symbol: self.symbol()? };
        match self.command(command).await? {
            Applied::Canceled(canceled) => {
                Ok(canceled.iter().map(|canceled| encode::canceled(canceled, self.unit)).collect())
            }
            other => Err(unexpected(&other)),
        }
    }

    pub(super) async fn cancel_replace(&self) -> Result<Value, ApiError> {
        let stops_on_failure = match self.params.required("cancelReplaceMode")? {
            "STOP_ON_FAILURE" => true,
            "ALLOW_FAILURE" => false,
            _ => return Err(ApiError::invalid("cancelReplaceMode")),
        };
        let cancels_over_limit = match self.params.text("orderRateLimitExceededMode")? {
            None | Some("DO_NOTHING") => false,
            Some("CANCEL_ONLY") => true,
            Some(_) => return Err(ApiError::invalid("orderRateLimitExceededMode")),
        };
        let cancel = CancelRequest {
            order: self.order_reference("cancelOrderId", "cancelOrigClientOrderId")?,
            cancel_id: self.params.client_id("cancelNewClientOrderId")?,
            restriction: self.restriction()?,
        };
        let (order, response) = self.new_order()?;
        let now = now_micros();
        let over_limit = match self.state.rates.check_orders(self.account, now) {
            Ok(()) => None,
            Err(error) if cancels_over_limit => Some(error.text),
            Err(error) => return Err(error),
        };
        let is_over_limit = over_limit.is_some();
        let faults = &self.state.faults;
        if faults.strikes(Fault::ReplaceCut) {
            self.command(SpotCommand::Place(order)).await?;
            return Err(ApiError::cut());
        }
        let over_limit = over_limit.or_else(|| faults.strikes(Fault::ReplaceHalf).then(|| TOO_MANY_ORDERS.to_owned()));
        let applied = self.command(SpotCommand::CancelReplace { cancel, order, stops_on_failure, over_limit }).await?;
        if !is_over_limit {
            self.state.rates.add_order(self.account, now);
        }
        self.replaced(&applied, response, is_over_limit)
    }

    /// The answer about both halves: 200 where both succeeded, 409 where one did, 400 where none did.
    fn replaced(&self, applied: &Applied, response: ResponseType, is_over_limit: bool) -> Result<Value, ApiError> {
        let Applied::Replaced { cancel, order } = applied else { return Err(unexpected(applied)) };
        let name = |is_ok: bool| if is_ok { "SUCCESS" } else { "FAILURE" };
        let cancel_body = match cancel.as_ref() {
            Ok(canceled) => encode::canceled(canceled, self.unit),
            Err(reject) => ApiError::from(reject.clone()).body(),
        };
        let (order_result, order_body) = match order.as_deref() {
            None => ("NOT_ATTEMPTED", Value::Null),
            Some(Ok(placed)) => ("SUCCESS", encode::placed(placed, response, self.unit)),
            Some(Err(reject)) => ("FAILURE", ApiError::from(reject.clone()).body()),
        };
        let data = json!({
            "cancelResult": name(cancel.is_ok()),
            "newOrderResult": order_result,
            "cancelResponse": cancel_body,
            "newOrderResponse": order_body,
        });
        let mut error = match (cancel.is_ok(), order_result) {
            (true, "SUCCESS") => return Ok(data),
            (false, "FAILURE" | "NOT_ATTEMPTED") => ApiError::new(400, -2022, "Order cancel-replace failed."),
            _ => ApiError::new(409, -2021, "Order cancel-replace partially failed."),
        };
        if is_over_limit {
            error.status = 429;
        }
        error.data = Some(data);
        Err(error)
    }

    pub(super) async fn amend_order(&self) -> Result<Value, ApiError> {
        let order = self.order_reference("orderId", "origClientOrderId")?;
        self.params.required("newQty")?;
        let quantity = self.params.units("newQty")?.filter(|quantity| quantity.is_positive());
        let quantity = quantity.ok_or_else(|| ApiError::invalid("newQty"))?;
        let new_client_id = self.params.client_id("newClientOrderId")?;
        match self.command(SpotCommand::Amend { order, quantity, new_client_id }).await? {
            Applied::Amended { order, execution_id } => Ok(encode::amended(&order, execution_id, self.unit)),
            other => Err(unexpected(&other)),
        }
    }

    pub(super) async fn command(&self, command: SpotCommand) -> Result<Applied, ApiError> {
        Ok(self.state.exchange.command(command, self.deadline_micros).await??)
    }

    /// The order that a request names by the venue's id, the client's id or both.
    pub(super) fn order_reference(&self, by_id: &str, by_client: &str) -> Result<OrderReference, ApiError> {
        let symbol = self.symbol()?;
        let (order_id, client_id) = (self.params.id(by_id)?, self.params.text(by_client)?);
        if order_id.is_none() && client_id.is_none() {
            let text = format!("Param '{by_client}' or '{by_id}' must be sent, but both were empty/null!");
            return Err(ApiError::bad_request(-1102, text));
        }
        Ok(OrderReference { account: self.account, symbol, order_id, client_id: client_id.map(ToOwned::to_owned) })
    }

    fn restriction(&self) -> Result<Option<CancelRestriction>, ApiError> {
        self.params.choice("cancelRestrictions", (-1145, "Invalid cancelRestrictions"))
    }

    fn new_order(&self) -> Result<(NewSpotOrder, ResponseType), ApiError> {
        let params = self.params;
        let symbol = self.symbol()?;
        params.required("side")?;
        params.required("type")?;
        let side: SpotSide = params.choice("side", (-1117, "Invalid side."))?.unwrap_or(SpotSide::Buy);
        let kind: SpotOrderType = params.choice("type", (-1116, "Invalid orderType."))?.unwrap_or(SpotOrderType::Limit);
        refuse_unsupported(params)?;
        check_combination(params, kind)?;
        let prevention = params.choice("selfTradePreventionMode", (-1130, "Invalid selfTradePreventionMode."))?;
        let order = NewSpotOrder {
            account: self.account,
            symbol,
            side,
            kind,
            time_in_force: params
                .choice("timeInForce", (-1115, "Invalid timeInForce."))?
                .unwrap_or(SpotTimeInForce::Gtc),
            quantity: positive(params, "quantity")?,
            quote_quantity: positive(params, "quoteOrderQty")?,
            price: params.units("price")?,
            stop_price: params.units("stopPrice")?,
            client_id: params.client_id("newClientOrderId")?,
            prevention: prevention.unwrap_or(PreventionMode::None),
            strategy_id: params.integer("strategyId")?,
            strategy_type: strategy_type(params)?,
            has_unique_id: false,
        };
        Ok((order, response_type(params, kind)?))
    }
}

/// What the symbols of the lab do not allow; `exchangeInfo` says so too.
fn refuse_unsupported(params: &Params) -> Result<(), ApiError> {
    let unsupported = [
        ("trailingDelta", "Trailing stop orders are not supported for this symbol."),
        ("icebergQty", "Iceberg orders are not supported for this symbol."),
        ("pegPriceType", "Pegged orders are not supported for this symbol."),
        ("pegOffsetType", "Pegged orders are not supported for this symbol."),
        ("pegOffsetValue", "Pegged orders are not supported for this symbol."),
    ];
    match unsupported.iter().find(|(name, _)| params.has(name)) {
        Some((_, text)) => Err(ApiError::bad_request(-2010, *text)),
        None => Ok(()),
    }
}

fn refuse_replace_parameters(params: &Params) -> Result<(), ApiError> {
    let foreign = [
        "cancelReplaceMode",
        "cancelNewClientOrderId",
        "cancelOrigClientOrderId",
        "cancelOrderId",
        "cancelRestrictions",
        "orderRateLimitExceededMode",
        "computeCommissionRates",
    ];
    match foreign.iter().find(|name| params.has(name)) {
        Some(name) => Err(ApiError::not_required(name)),
        None => Ok(()),
    }
}

/// Which parameters an order type needs, and which it does not take.
fn check_combination(params: &Params, kind: SpotOrderType) -> Result<(), ApiError> {
    let has_price = kind.has_limit();
    if has_price {
        params.required("price")?;
    } else if params.has("price") {
        return Err(ApiError::not_required("price"));
    }
    match (has_price && kind != SpotOrderType::LimitMaker, params.has("timeInForce")) {
        (true, false) => return Err(ApiError::missing("timeInForce")),
        (false, true) => return Err(ApiError::bad_request(-1114, "TimeInForce parameter sent when not required.")),
        _ => {}
    }
    if kind.is_triggered() {
        params.required("stopPrice")?;
    } else if params.has("stopPrice") {
        return Err(ApiError::not_required("stopPrice"));
    }
    match (kind, params.has("quantity"), params.has("quoteOrderQty")) {
        (SpotOrderType::Market, false, false) => Err(ApiError::bad_request(
            -1102,
            "Param 'quantity' or 'quoteOrderQty' must be sent, but both were empty/null!",
        )),
        (SpotOrderType::Market, true, true) => {
            Err(ApiError::bad_request(-1128, "Combination of optional parameters invalid."))
        }
        (SpotOrderType::Market, ..) => Ok(()),
        (_, _, true) => Err(ApiError::not_required("quoteOrderQty")),
        _ => params.required("quantity").map(drop),
    }
}

fn positive(params: &Params, name: &str) -> Result<Option<Units>, ApiError> {
    match params.units(name)? {
        Some(amount) if !amount.is_positive() => Err(ApiError::bad_request(-1013, format!("Invalid {name}."))),
        other => Ok(other),
    }
}

fn strategy_type(params: &Params) -> Result<Option<i32>, ApiError> {
    let Some(value) = params.integer("strategyType")? else { return Ok(None) };
    if value < STRATEGY_TYPE_MIN {
        return Err(ApiError::bad_request(-1134, "strategyType was less than 1000000."));
    }
    i32::try_from(value).map(Some).map_err(|_| ApiError::bad_request(-1108, "Parameter 'strategyType' overflowed."))
}

fn response_type(params: &Params, kind: SpotOrderType) -> Result<ResponseType, ApiError> {
    match params.text("newOrderRespType")? {
        None => Ok(ResponseType::usual(kind)),
        Some("ACK") => Ok(ResponseType::Ack),
        Some("RESULT") => Ok(ResponseType::Result),
        Some("FULL") => Ok(ResponseType::Full),
        Some(_) => Err(ApiError::invalid("newOrderRespType")),
    }
}

pub(super) fn discount(is_enabled: bool) -> Value {
    json!({
        "enabledForAccount": is_enabled,
        "enabledForSymbol": true,
        "discountAsset": "BNB",
        "discount": text(BNB_DISCOUNT),
    })
}

fn unexpected(applied: &Applied) -> ApiError {
    tracing::error!(?applied, "the exchange gave an answer of another kind than the command has");
    ApiError::new(500, -1000, "An unknown error occurred while processing the request.")
}
