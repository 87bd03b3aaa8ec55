//! Texts of refusals, for people: each names the field or the record and the numbers behind the refusal.

use std::fmt;

use crate::ids::AccountId;
use crate::phase::StrategyPhase;
use crate::refusal::{MissingRight, Refusal};

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownSecurity(id) => write!(f, "security {id} is not known"),
            Self::UnknownAccount(name) => write!(f, "account {name} is not known"),
            Self::UnknownStrategy(name) => write!(f, "strategy {name} is not known"),
            Self::UnknownExchange(id) => write!(f, "exchange {id} is not known"),
            Self::UnknownOrder(id) => write!(f, "order {id} is neither open nor of today or yesterday"),
            Self::UnknownPosition(id) => write!(f, "position {id} is not known"),
            Self::UnknownTransaction(id) => write!(f, "transaction {id} is not known"),
            Self::UnknownBreak(id) => write!(f, "break {id} is not known"),
            Self::BreakSettled { id, state } => write!(f, "break {id} is {}", state.name()),
            Self::NothingToRepair(id) => {
                write!(f, "break {id} cannot be repaired by the platform: record the correction and accept it")
            }
            Self::BreakOutdated(id) => {
                write!(f, "break {id}: the books have changed since the venue's statement; wait for the next one")
            }
            Self::NotTradeable(id) => write!(f, "security {id} cannot be traded"),
            Self::Expired(id) => write!(f, "security {id} has expired"),
            Self::AccountInactive(id) => write!(f, "account {id} is not active"),
            Self::NoAccount(id) => write!(f, "no active account reaches exchange {id}"),
            Self::AccountAmbiguous(ids) => {
                write!(f, "several accounts reach the exchange, choose one of {}", list(ids))
            }
            Self::BookingAccountAmbiguous(ids) => {
                write!(f, "several accounts are active, choose one of {}", list(ids))
            }
            Self::NoRoute { account, exchange } => write!(f, "account {account} has no route to exchange {exchange}"),
            Self::NotListed { security, exchange, listed_on } => {
                write!(f, "security {security} is not listed on exchange {exchange}, but on exchange {listed_on}")
            }
            Self::NotPositive { field, value } => write!(f, "{field} {} must be more than zero", value.normalize()),
            Self::NotAMultiple { field, value, step } => {
                write!(f, "{field} {} is not a multiple of {}", value.normalize(), step.normalize())
            }
            Self::TooSmall { field, value, limit } => {
                write!(f, "{field} {} is below the minimum of {}", value.normalize(), limit.normalize())
            }
            Self::TooLarge { field, value, limit } => {
                write!(f, "{field} {} is above the maximum of {}", value.normalize(), limit.normalize())
            }
            Self::DateInThePast => write!(f, "the good-till date lies in the past"),
            Self::NoAuction { tif } => write!(f, "the exchange has no auction for {tif}"),
            Self::MarketClosed(id) => write!(f, "exchange {id} is closed, and this order needs an open market"),
            Self::AdapterDown(name) => write!(f, "the adapter {name} is not connected, try again later"),
            Self::AdapterReconciling(name) => {
                write!(f, "the adapter {name} is comparing orders with its venue, try again soon")
            }
            Self::LineDown { adapter, line } => {
                write!(f, "the {} line of {adapter} is down: only orders that reduce a position pass", line.name())
            }
            Self::BreakOpen { id, scope, limit } => {
                write!(
                    f,
                    "break {id} is above the limit of {} for {scope}: only orders that reduce a position pass",
                    limit.0.normalize()
                )
            }
            Self::DuplicateOrder(known) => {
                write!(f, "an order with the id {} exists already and was not touched", known.int_id)
            }
            Self::ClOrdIdUsed(id) => write!(f, "the ClOrdID {id} was used before, and nothing was done"),
            Self::DuplicateTransaction(uuid) => write!(f, "transaction {uuid} is recorded already"),
            Self::OrderClosed(id) => write!(f, "order {id} is finished"),
            Self::CancelPending(id) => write!(f, "order {id} is being cancelled already"),
            Self::ReplacePending(id) => write!(f, "order {id} is being replaced already"),
            Self::OrderWaiting(id) => {
                write!(
                    f,
                    "order {id} waits for the cancel of others and is not at the venue yet; it can only be cancelled"
                )
            }
            Self::ExternalOrder(id) => {
                write!(f, "order {id} was not placed here: it can be cancelled and claimed, not changed")
            }
            Self::NotExternal(id) => write!(f, "order {id} belongs to a strategy already"),
            Self::ReservedStrategy => {
                write!(
                    f,
                    "the strategy EXTERNAL has only orders that were not placed here; claim them to close a position"
                )
            }
            Self::FieldFixed(field) => write!(f, "{field} of an order cannot be changed"),
            Self::TifFixed { now, wanted } => {
                write!(f, "tif of a live order changes among DAY, GTC and GTD only, not from {now} to {wanted}")
            }
            Self::BookingCurrency { security, currency } => {
                write!(f, "currency of a booking of security {security} must be {currency}, that of the security")
            }
            Self::OtherOrder { int_id, field } => write!(f, "{field} is not that of order {int_id}"),
            Self::NotNeeded { field } => write!(f, "{field} does not belong to this kind of order"),
            Self::Missing { field } => write!(f, "{field} is needed"),
            Self::PropertyNotAllowed { property, with } => write!(f, "{property} is not possible with {with}"),
            Self::PropertyNotOffered { property, adapter } => {
                write!(f, "the venue of {adapter} does not offer {property}")
            }
            Self::FieldNotPassed { tag, adapter } => write!(f, "the venue of {adapter} does not take tag {tag}"),
            Self::Listing { adapter, refusal } => {
                write!(f, "the venue of {adapter} would refuse it: {}", refusal.reason())
            }
            Self::ReduceOnlyOrderOpen(id) => {
                write!(f, "order {id} may only reduce the position: cancel or reduce it first")
            }
            Self::PositionClosed(id) => write!(f, "position {id} is closed"),
            Self::NotHeld { held, change } => {
                write!(f, "an EXPIRATION of {change} must lower the position, and {held} are held")
            }
            Self::WrongSign { field, value } => {
                write!(f, "{field} {} has the wrong sign for this type", value.normalize())
            }
            Self::NoRate { from, to } => write!(f, "no rate from {from} to {to} is known"),
            Self::CashUnknown(id) => write!(f, "account {id} holds a currency without a rate, its cash is not known"),
            Self::ExposureUnknown(scope) => {
                write!(f, "{scope} holds a currency without a rate, its exposure is not known")
            }
            Self::TradingState { scope, state } => write!(f, "trading is {} for {scope}", state.name()),
            Self::Limit { scope, value, limit, .. } => {
                write!(f, "{scope}: {} is above the limit of {}", value.normalize(), limit.normalize())
            }
            Self::NotPermitted(MissingRight::Account(id)) => write!(f, "this user may not trade account {id}"),
            Self::NotPermitted(MissingRight::Security(id)) => write!(f, "this user may not trade security {id}"),
            Self::NotPermitted(MissingRight::Interface(interface)) => {
                write!(f, "this user may not trade over {}", interface.name())
            }
            Self::Restricted { scope, security } => {
                write!(f, "security {security} is on the restricted list of {scope}: only cancels are allowed")
            }
            Self::NoDeadMan(scope) => write!(f, "no dead-man timer of {scope} runs; name the seconds to arm one"),
            Self::DeadManConfigured => {
                write!(f, "the configuration (risk.deadManSeconds) arms the dead-man timer of PLATFORM")
            }
            Self::PriceCollar { price, reference, percent } => {
                write!(f, "price {price} is more than {} % through the reference of {reference}", percent.normalize())
            }
            Self::NoReferencePrice(id) => write!(f, "no price of security {id} is known"),
            Self::PricesUnknown(id) => {
                write!(f, "the leader's prices of security {id} have not come to this member; try again")
            }
            Self::StalePrice { security, age_seconds, limit_seconds } => {
                write!(f, "the newest price of security {security} is {age_seconds} s old, more than {limit_seconds} s")
            }
            Self::PriceGap { security, cause } => {
                write!(f, "the price of security {security} is stale: {}", cause.text())
            }
            Self::InsufficientCash { needed, available, currency } => {
                write!(f, "needs {} {currency}, available are {} {currency}", needed.normalize(), available.normalize())
            }
            Self::SelfTrade(id) => write!(f, "would trade with the account's own order {id}"),
            Self::WouldFlip { open } => {
                write!(f, "may only reduce the position, of which {open} can be closed beside orders on their way")
            }
            Self::AmountTooLarge => write!(f, "an amount does not fit into 28 digits"),
            Self::UnknownZone(zone) => write!(f, "time zone {zone} is not known"),
            Self::PhaseOrder { strategy, now, wanted } => {
                let now = now.map_or("not started", StrategyPhase::name);
                write!(f, "strategy {strategy} is {now} and cannot enter {}", wanted.name())
            }
        }
    }
}

fn list(ids: &[AccountId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
