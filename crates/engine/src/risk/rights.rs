//! Trading rights of the caller: they come with every command, from the interface that authenticated it.

use domain::refusal::MissingRight;
use domain::rights::TradingInterface;
use domain::{AccountId, Caller, Refusal, SecurityId};

/// Whether the caller may place or modify an order in this account and security.
pub(crate) fn check_trading_right(caller: &Caller, account: AccountId, security: SecurityId) -> Result<(), Refusal> {
    let Some(rights) = &caller.rights else { return Ok(()) };
    let interface = TradingInterface::from_source(&caller.source);
    if let Some(interface) = interface.filter(|interface| !rights.allows_interface(*interface)) {
        return Err(Refusal::NotPermitted(MissingRight::Interface(interface)));
    }
    check_account_right(caller, account)?;
    match rights.allows_security(security) {
        true => Ok(()),
        false => Err(Refusal::NotPermitted(MissingRight::Security(security))),
    }
}

/// Whether the caller may cancel an order of this account. Cancels lower risk, so neither the security nor the interface
/// matters.
pub(crate) fn check_account_right(caller: &Caller, account: AccountId) -> Result<(), Refusal> {
    match caller.rights.as_ref().is_none_or(|rights| rights.allows_account(account)) {
        true => Ok(()),
        false => Err(Refusal::NotPermitted(MissingRight::Account(account))),
    }
}
