//! Orders: New Order Single (D), Cancel (F), Cancel/Replace (G), Status (H) and Mass Status (AF) Requests.

use std::sync::Arc;

use fix::FixMessage;

use super::fields::{self, FieldError, wrong};
use super::reports::{RejectedCancel, RejectedRequest};
use super::scope::SessionScope;
use super::tags;
use crate::exchange::{
    CancelRequest, NewSpotOrder, OrderReference, PreventionMode, ReplaceRequest, SpotCommand, SpotExchange, SpotOrder,
    SpotOrderType, SpotSide, SpotTimeInForce,
};
use crate::faults::catalogue::Fault;
use crate::sequencer::{CommandResult, Unavailable};

/// ExecInst (18): participate, don't initiate.
const POST_ONLY: &str = "6";
/// MassStatusReqType (585).
const OF_A_SECURITY: &str = "1";
const OF_ALL: &str = "7";

impl SessionScope {
    pub(super) fn new_order(self: &Arc<Self>, message: &FixMessage<'_>) -> Result<(), Unavailable> {
        self.faults.count_request(true);
        let request = RejectedRequest { echoed: echoed(message), is_status: false };
        let order = match self.read_order(message) {
            Ok(_) if self.faults.strikes(Fault::CancelOnly) => {
                return self.reject_order(&request, (self.report.version.other_order_reason(), "Market is closed."));
            }
            Ok(order) => order,
            Err(error) => return self.reject_order(&request, (self.report.version.other_order_reason(), &error.text)),
        };
        let (scope, pending) = (self.clone(), self.begin_command());
        let then = move |applied: CommandResult| {
            drop(pending);
            // What became of an order that was taken is told by the events.
            if let Err(reject) = applied {
                // The session is told, or gone.
                let _ = scope.reject_order(&request, (scope.report.order_reason(&reject), &reject.text));
            }
        };
        self.exchange.command_then(SpotCommand::Place(order), None, then)
    }

    fn reject_order(&self, request: &RejectedRequest, reason: (u64, &str)) -> Result<(), Unavailable> {
        self.inbox.send(self.report.rejected(request, &self.next_reject_id(), reason));
        Ok(())
    }

    fn read_order(&self, message: &FixMessage<'_>) -> Result<NewSpotOrder, FieldError> {
        self.check_account(message)?;
        let kind = read_type(message)?;
        let is_market = kind == SpotOrderType::Market;
        let quantity = fields::amount(message, "OrderQty", tags::ORDER_QTY)?;
        let quote_quantity = fields::amount(message, "CashOrderQty", tags::CASH_ORDER_QTY)?;
        match (quantity, quote_quantity) {
            (None, None) => return Err(wrong("OrderQty", tags::ORDER_QTY, "missing")),
            (Some(_), Some(_)) => return Err(wrong("CashOrderQty", tags::CASH_ORDER_QTY, "beside OrderQty (38)")),
            (None, Some(_)) if !is_market => {
                return Err(wrong("CashOrderQty", tags::CASH_ORDER_QTY, "only for a market order"));
            }
            _ => {}
        }
        Ok(NewSpotOrder {
            account: self.account,
            symbol: fields::text(message, "Symbol", tags::SYMBOL)?.to_owned(),
            side: read_side(message)?,
            kind,
            time_in_force: read_time_in_force(message)?,
            quantity,
            quote_quantity,
            price: fields::amount_if(message, "Price", tags::PRICE, kind.has_limit())?,
            stop_price: fields::amount_if(message, "StopPx", tags::STOP_PX, kind.is_triggered())?,
            client_id: Some(fields::client_id(message, "ClOrdID", tags::CL_ORD_ID)?),
            prevention: PreventionMode::None,
            strategy_id: None,
            strategy_type: None,
            has_unique_id: true,
        })
    }

    fn check_account(&self, message: &FixMessage<'_>) -> Result<(), FieldError> {
        match message.text(tags::ACCOUNT) {
            Some(account) if account != self.report.account => {
                Err(wrong("Account", tags::ACCOUNT, format!("this session is for {}", self.report.account)))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn cancel_order(self: &Arc<Self>, message: &FixMessage<'_>) -> Result<(), Unavailable> {
        self.faults.count_request(false);
        let request = rejected_cancel(message, false);
        let cancel = self.read_reference(message, tags::ORIG_CL_ORD_ID).and_then(|order| {
            let cancel_id = Some(fields::client_id(message, "ClOrdID", tags::CL_ORD_ID)?);
            Ok(CancelRequest { order, cancel_id, restriction: None })
        });
        match cancel {
            Ok(cancel) if self.faults.strikes(Fault::FillAfterCancel) => self.fill_instead(request, cancel),
            Ok(cancel) => self.change(request, cancel.order.clone(), SpotCommand::Cancel(cancel)),
            Err(error) => self.refuse_change(&request, &error),
        }
    }

    pub(super) fn replace_order(self: &Arc<Self>, message: &FixMessage<'_>) -> Result<(), Unavailable> {
        self.faults.count_request(false);
        let request = rejected_cancel(message, true);
        match self.read_replace(message) {
            Ok(replace) => self.change(request, replace.order.clone(), SpotCommand::Replace(replace)),
            Err(error) => self.refuse_change(&request, &error),
        }
    }

    fn read_replace(&self, message: &FixMessage<'_>) -> Result<ReplaceRequest, FieldError> {
        self.check_account(message)?;
        let quantity = fields::amount(message, "OrderQty", tags::ORDER_QTY)?;
        Ok(ReplaceRequest {
            order: self.read_reference(message, tags::ORIG_CL_ORD_ID)?,
            quantity: quantity.ok_or_else(|| wrong("OrderQty", tags::ORDER_QTY, "missing"))?,
            price: fields::amount(message, "Price", tags::PRICE)?,
            stop_price: fields::amount(message, "StopPx", tags::STOP_PX)?,
            new_client_id: fields::client_id(message, "ClOrdID", tags::CL_ORD_ID)?,
        })
    }

    /// The order that a request names by the client's id, and by the venue's where that is there too.
    fn read_reference(&self, message: &FixMessage<'_>, id_tag: fix::tag::Tag) -> Result<OrderReference, FieldError> {
        let order_id = match message.text(tags::ORDER_ID) {
            None => None,
            Some(id) => Some(id.parse().map_err(|_| wrong("OrderID", tags::ORDER_ID, "not an id of this venue"))?),
        };
        Ok(OrderReference {
            account: self.account,
            symbol: fields::text(message, "Symbol", tags::SYMBOL)?.to_owned(),
            order_id,
            client_id: message.text(id_tag).map(ToOwned::to_owned),
        })
    }

    /// Executes a cancel or a replace; where it is rejected, the answer has the status of the order that was meant.
    pub(super) fn change(
        self: &Arc<Self>,
        request: RejectedCancel,
        order: OrderReference,
        command: SpotCommand,
    ) -> Result<(), Unavailable> {
        let (scope, pending) = (self.clone(), self.begin_command());
        let then = move |applied: CommandResult| {
            drop(pending);
            let Err(reject) = applied else { return };
            let asked = scope.clone();
            let find = move |exchange: &SpotExchange| find(exchange, &order);
            let answered = scope.exchange.query_then(find, move |order| {
                let reason = asked.report.cancel_reason(&reject, order.as_ref());
                asked.inbox.send(asked.report.cancel_rejected(&request, order.as_ref(), (reason, &reject.text)));
            });
            if answered.is_err() {
                tracing::warn!("the exchange is too busy for the answer to a rejected cancel");
            }
        };
        self.exchange.command_then(command, None, then)
    }

    fn refuse_change(&self, request: &RejectedCancel, error: &FieldError) -> Result<(), Unavailable> {
        let reason = (self.report.version.other_cancel_reason(), error.text.as_str());
        self.inbox.send(self.report.cancel_rejected(request, None, reason));
        Ok(())
    }

    pub(super) fn order_status(self: &Arc<Self>, message: &FixMessage<'_>) -> Result<(), Unavailable> {
        self.faults.count_request(false);
        let request = RejectedRequest { echoed: echoed(message), is_status: true };
        let order = match self.read_reference(message, tags::CL_ORD_ID) {
            Ok(order) => order,
            Err(error) => return self.reject_order(&request, (self.report.version.other_order_reason(), &error.text)),
        };
        let request_id = message.get(tags::ORD_STATUS_REQ_ID).map(<[u8]>::to_vec);
        let scope = self.clone();
        let find = move |exchange: &SpotExchange| find(exchange, &order);
        self.exchange.query_then(find, move |order| {
            let mut answer = match order {
                Some(order) => scope.report.status(&order),
                None => scope.report.unknown_order(&request),
            };
            if let Some(id) = request_id {
                answer.field(tags::ORD_STATUS_REQ_ID, id);
            }
            scope.inbox.send(answer);
        })
    }

    pub(super) fn mass_status(self: &Arc<Self>, message: &FixMessage<'_>) -> Result<(), Unavailable> {
        self.faults.count_request(false);
        let id = message.get(tags::MASS_STATUS_REQ_ID).unwrap_or_default().to_vec();
        let symbol = message.text(tags::SYMBOL).map(ToOwned::to_owned);
        let kind = message.text(tags::MASS_STATUS_REQ_TYPE).unwrap_or_default();
        let is_known = kind == OF_ALL || (kind == OF_A_SECURITY && symbol.is_some());
        let account = self.account;
        let find = move |exchange: &SpotExchange| -> Vec<SpotOrder> {
            let markets =
                exchange.markets.iter().filter(|market| symbol.as_ref().is_none_or(|s| *s == market.rules.name));
            markets.flat_map(|market| market.open_orders(account)).cloned().collect()
        };
        let scope = self.clone();
        if !is_known {
            let reason = wrong("MassStatusReqType", tags::MASS_STATUS_REQ_TYPE, "not 7, or 1 with a Symbol (55)");
            scope.send_mass_status(&id, &[], &reason.text);
            return Ok(());
        }
        self.exchange.query_then(find, move |orders| scope.send_mass_status(&id, &orders, "no order is open"))
    }

    fn send_mass_status(&self, id: &[u8], orders: &[SpotOrder], none: &str) {
        let total = orders.len() as u64;
        for (order, number) in orders.iter().zip(1..) {
            let mut report = self.report.status(order);
            report.field(tags::MASS_STATUS_REQ_ID, id).number(tags::TOT_NUM_REPORTS, total);
            report.field(tags::LAST_RPT_REQUESTED, if number == total { "Y" } else { "N" });
            self.inbox.send(report);
        }
        if orders.is_empty() {
            let request = RejectedRequest { echoed: vec![(tags::SIDE, b"1".to_vec())], is_status: true };
            let mut report = self.report.rejected(&request, "0", (self.report.version.other_order_reason(), none));
            report.field(tags::MASS_STATUS_REQ_ID, id).number(tags::TOT_NUM_REPORTS, 0);
            report.field(tags::LAST_RPT_REQUESTED, "Y");
            self.inbox.send(report);
        }
    }
}

/// Ended orders too; by the newest with the client's id.
pub(super) fn find(exchange: &SpotExchange, wanted: &OrderReference) -> Option<SpotOrder> {
    let market = exchange.market(&wanted.symbol).ok()?;
    market.find_order(wanted.account, wanted.order_id, wanted.client_id.as_deref()).cloned()
}

fn echoed(message: &FixMessage<'_>) -> Vec<(fix::tag::Tag, Vec<u8>)> {
    let repeated = [tags::CL_ORD_ID, tags::SYMBOL, tags::SIDE, tags::ORDER_QTY, tags::ORD_TYPE, tags::PRICE];
    repeated.iter().filter_map(|tag| Some((*tag, message.get(*tag)?.to_vec()))).collect()
}

fn rejected_cancel(message: &FixMessage<'_>, is_replace: bool) -> RejectedCancel {
    let id = |tag| message.text(tag).unwrap_or_default().to_owned();
    RejectedCancel { id: id(tags::CL_ORD_ID), original_id: id(tags::ORIG_CL_ORD_ID), is_replace }
}

fn read_side(message: &FixMessage<'_>) -> Result<SpotSide, FieldError> {
    match fields::text(message, "Side", tags::SIDE)? {
        "1" => Ok(SpotSide::Buy),
        "2" => Ok(SpotSide::Sell),
        _ => Err(wrong("Side", tags::SIDE, "not 1 or 2")),
    }
}

fn read_type(message: &FixMessage<'_>) -> Result<SpotOrderType, FieldError> {
    let is_post_only = match message.text(tags::EXEC_INST) {
        None => false,
        Some(POST_ONLY) => true,
        Some(_) => return Err(wrong("ExecInst", tags::EXEC_INST, "not 6 (participate, don't initiate)")),
    };
    let kind = match fields::text(message, "OrdType", tags::ORD_TYPE)? {
        "1" => SpotOrderType::Market,
        "2" if is_post_only => SpotOrderType::LimitMaker,
        "2" => SpotOrderType::Limit,
        "3" => SpotOrderType::StopLoss,
        "4" => SpotOrderType::StopLossLimit,
        "J" => SpotOrderType::TakeProfit,
        _ => return Err(wrong("OrdType", tags::ORD_TYPE, "not 1, 2, 3, 4 or J")),
    };
    if is_post_only && kind != SpotOrderType::LimitMaker {
        return Err(wrong("ExecInst", tags::EXEC_INST, "only for a limit order"));
    }
    Ok(kind)
}

fn read_time_in_force(message: &FixMessage<'_>) -> Result<SpotTimeInForce, FieldError> {
    match message.text(tags::TIME_IN_FORCE) {
        // The venue never closes, so that there is no day.
        None | Some("1") => Ok(SpotTimeInForce::Gtc),
        Some("3") => Ok(SpotTimeInForce::Ioc),
        Some("4") => Ok(SpotTimeInForce::Fok),
        Some(_) => Err(wrong("TimeInForce", tags::TIME_IN_FORCE, "not 1, 3 or 4")),
    }
}
