//! Names of fields in texts for people.

use fix::tag::Tag;

use super::field::{
    ACCOUNT, CL_ORD_ID, EX_DESTINATION, EXCHANGE_ORDER, EXPIRE_DATE, EXPIRE_TIME, MASS_CANCEL_REQUEST_TYPE,
    MASS_STATUS_REQ_ID, MASS_STATUS_REQ_TYPE, ORD_STATUS_REQ_ID, ORD_TYPE, ORDER_ID, ORDER_QTY, ORIG_CL_ORD_ID, PRICE,
    SECURITY_EXCHANGE, SECURITY_ID, SECURITY_ID_SOURCE, SIDE, STOP_PX, STRATEGY_ID, STRATEGY_NAME, SYMBOL,
    TIME_IN_FORCE, TRANSACT_TIME,
};
use super::terms::table::field_name;

const NAMES: [(Tag, &str); 25] = [
    (ACCOUNT, "Account"),
    (CL_ORD_ID, "ClOrdID"),
    (SECURITY_ID_SOURCE, "SecurityIDSource"),
    (ORDER_QTY, "OrderQty"),
    (ORD_TYPE, "OrdType"),
    (ORIG_CL_ORD_ID, "OrigClOrdID"),
    (PRICE, "Price"),
    (SECURITY_ID, "SecurityID"),
    (SIDE, "Side"),
    (SYMBOL, "Symbol"),
    (TIME_IN_FORCE, "TimeInForce"),
    (TRANSACT_TIME, "TransactTime"),
    (STOP_PX, "StopPx"),
    (EX_DESTINATION, "ExDestination"),
    (EXPIRE_TIME, "ExpireTime"),
    (SECURITY_EXCHANGE, "SecurityExchange"),
    (EXPIRE_DATE, "ExpireDate"),
    (MASS_CANCEL_REQUEST_TYPE, "MassCancelRequestType"),
    (MASS_STATUS_REQ_ID, "MassStatusReqID"),
    (MASS_STATUS_REQ_TYPE, "MassStatusReqType"),
    (STRATEGY_ID, "StrategyID"),
    (STRATEGY_NAME, "StrategyName"),
    (EXCHANGE_ORDER, "ExchangeOrder"),
    (ORDER_ID, "OrderID"),
    (ORD_STATUS_REQ_ID, "OrdStatusReqID"),
];

/// `OrdType (40)`.
pub(crate) fn tag_with_name(tag: Tag) -> String {
    let name = NAMES.iter().find(|(known, _)| *known == tag).map(|(_, name)| *name);
    let name = name.or_else(|| field_name(tag));
    name.map_or_else(|| format!("tag {tag}"), |name| format!("{name} ({tag})"))
}
