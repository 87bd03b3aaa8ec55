//! Request for Positions (AN): of which account.

use domain::rights::TradingRights;
use domain::{AccountId, ReferenceData, SecurityId, StrategyId, Text};
use fix::FixMessage;

use crate::translate::field::{ACCOUNT, POS_REQ_TYPE, SUBSCRIPTION_REQUEST_TYPE};
use crate::translate::field_reader::{MessageReject, text_field};
use crate::translate::resolve;

/// PosReqResult (728).
const INVALID: u64 = 1;
const NOT_AUTHORIZED: u64 = 3;
const NOT_SUPPORTED: u64 = 4;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PositionRequest {
    pub(crate) account: AccountId,
    /// All of the account where absent.
    pub(crate) security: Option<SecurityId>,
    /// The only one that the client trades for.
    pub(crate) strategy: Option<StrategyId>,
}

/// Why it is not answered: PosReqResult (728), and what is in Text (58).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PositionRefusal {
    pub(crate) result: u64,
    pub(crate) reject: MessageReject,
}

impl From<MessageReject> for PositionRefusal {
    fn from(reject: MessageReject) -> Self {
        Self { result: INVALID, reject }
    }
}

impl PositionRequest {
    /// `rights` and `bound_to` are those of the client: it sees the accounts that it may trade, and of them its own strategy where it
    /// is bound to one.
    pub(crate) fn from_message(
        message: &FixMessage<'_>,
        reference: &ReferenceData,
        rights: Option<&TradingRights>,
        bound_to: Option<&Text>,
    ) -> Result<Self, PositionRefusal> {
        check_type(message)?;
        let account = resolve::account(message, reference)?.ok_or_else(|| MessageReject::missing(ACCOUNT))?;
        let accounts = rights.and_then(|rights| rights.accounts.as_ref());
        if accounts.is_some_and(|allowed| !allowed.contains(&account)) {
            let name = text_field(message, ACCOUNT).unwrap_or_default();
            let reject = MessageReject::other("no-right", &format!("you may not trade account {name}"));
            return Err(PositionRefusal { result: NOT_AUTHORIZED, reject });
        }
        let strategy = bound_to.map(|_| resolve::strategy(message, reference, bound_to)).transpose()?.flatten();
        let security = resolve::security(message, reference)?.map(|security| security.id);
        Ok(Self { account, security, strategy })
    }
}

fn check_type(message: &FixMessage<'_>) -> Result<(), PositionRefusal> {
    let is_offered =
        message.get(POS_REQ_TYPE) == Some(b"0") && matches!(message.get(SUBSCRIPTION_REQUEST_TYPE), None | Some(b"0"));
    if is_offered {
        return Ok(());
    }
    let text = "PosReqType (724) is 0 (positions), and SubscriptionRequestType (263) is 0 where it is there";
    Err(PositionRefusal { result: NOT_SUPPORTED, reject: MessageReject::other("not-offered", text) })
}
