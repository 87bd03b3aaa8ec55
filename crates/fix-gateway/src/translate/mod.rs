//! Translation between FIX messages and domain commands and events; pure.

pub(crate) mod field;
mod field_reader;
mod resolve;
mod messages;
mod scope;
mod terms;
mod inbound;
mod request_echo;
mod reject_codes;
mod report;
mod rejects;
mod exec_id;
mod account;
mod market_data;

#[cfg(test)]
mod tests;

pub(crate) use account::{
    CapturedTrade, HeldPosition, PositionAnswer, PositionRefusal, PositionRequest, ReportPlace, TradeRefusal,
    TradeRequest, captured_trades, held_positions, position_report, positions_ack, trade_report, trades_ack,
};
pub(crate) use exec_id::ExecIds;
pub(crate) use field_reader::{MessageReject, text_field};
pub(crate) use inbound::{SessionTerms, command, decline};
pub(crate) use market_data::{
    MarketDataRefusal, MarketDataRequest, NewestTrade, PriceEntry, PriceView, PricedSecurity, SecurityListRequest,
    SecurityStatusRequest, SubscriptionKind, changes_between, entries_of, is_market_data_request, market_data_refused,
    price_refresh, price_snapshot, security_list_part, security_list_refused, security_status, trading_status,
};
pub(crate) use messages::{CommandClass, MessageRow, RequestMeaning, StatusClass};
pub(crate) use rejects::{
    ReplyContext, application_not_available, command_rejected, locally_rejected, mass_cancel_accepted, refer_to,
    status_request_rejected, unknown_order,
};
pub(crate) use report::{
    ExecTypeProfile, ReportIds, copy_of_report, mark_copy, order_state_report, order_status_report, report,
};
pub(crate) use request_echo::RequestEcho;
pub(crate) use scope::{RequestScope, wants_ended_orders};
pub(crate) use terms::not_passable;
