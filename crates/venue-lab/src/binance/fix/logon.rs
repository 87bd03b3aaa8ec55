//! Logon: key, signature, time, and the settings of the session.

use fix::tag::Tag;
use fix::{FixMessage, tag};

use super::link::check_time;
use super::registry::CompIdClaim;
use super::reject::missing;
use super::{BinanceFixState, FixService, VENUE};
use crate::binance::api::error::ApiError;
use crate::binance::api::security;
use crate::exchange::AccountIndex;
use crate::faults::catalogue::Fault;
use crate::keys::{ApiKey, KeyRights};
use crate::sequencer::now_micros;

const MESSAGE_HANDLING: Tag = 25_035;
const RESPONSE_MODE: Tag = 25_036;
const DROP_COPY_FLAG: Tag = 9_406;
const HEARTBEAT_SECONDS: std::ops::RangeInclusive<u64> = 5..=60;
const COMP_ID_LENGTH_MAX: usize = 8;
/// RecvWindow of a Logon that has none.
const WINDOW_MICROS: i64 = 5_000_000;

/// A session that was let in.
pub(super) struct FixLogon {
    pub(super) account: AccountIndex,
    pub(super) rights: KeyRights,
    pub(super) heartbeat_seconds: u64,
    /// Only what its own requests came to is reported.
    pub(super) wants_acks_only: bool,
    pub(super) claim: CompIdClaim,
}

pub(super) fn log_on(
    state: &BinanceFixState,
    service: FixService,
    message: &FixMessage<'_>,
) -> Result<FixLogon, ApiError> {
    if message.msg_type() != b"A" {
        return Err(ApiError::bad_request(-1_180, "Logon<A> must be the first message in the session."));
    }
    let comp_id = check_comp_ids(message)?;
    let heartbeat_seconds = message.number(tag::HEART_BT_INT).ok_or_else(|| missing(tag::HEART_BT_INT))?;
    if !HEARTBEAT_SECONDS.contains(&heartbeat_seconds) {
        return Err(unexpected(tag::HEART_BT_INT));
    }
    check_settings(message, service)?;
    let key = authenticate(state, message, comp_id)?;
    if service == FixService::OrderEntry && !key.rights.may_trade {
        return Err(security::unauthorized());
    }
    let (account, rights) = (key.account, key.rights);
    let heartbeat = i64::try_from(heartbeat_seconds).unwrap_or_default();
    let is_blocked = state.api.faults.strikes(Fault::FixLogonBlocked);
    let claim = state.comp_ids.claim(service, account, comp_id, heartbeat, is_blocked)?;
    let wants_acks_only = message.text(RESPONSE_MODE) == Some("2");
    Ok(FixLogon { account, rights, heartbeat_seconds, wants_acks_only, claim })
}

fn unexpected(tag: Tag) -> ApiError {
    ApiError::bad_request(-1_130, format!("Data sent for tag '{tag}' is not valid."))
}

fn check_comp_ids<'a>(message: &FixMessage<'a>) -> Result<&'a str, ApiError> {
    let comp_id = message.text(tag::SENDER_COMP_ID).ok_or_else(|| missing(tag::SENDER_COMP_ID))?;
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !(1..=COMP_ID_LENGTH_MAX).contains(&comp_id.len()) || !comp_id.bytes().all(is_legal) {
        return Err(unexpected(tag::SENDER_COMP_ID));
    }
    if message.text(tag::TARGET_COMP_ID) != Some(VENUE) {
        return Err(unexpected(tag::TARGET_COMP_ID));
    }
    Ok(comp_id)
}

fn check_settings(message: &FixMessage<'_>, service: FixService) -> Result<(), ApiError> {
    if message.text(tag::ENCRYPT_METHOD) != Some("0") {
        return Err(unexpected(tag::ENCRYPT_METHOD));
    }
    if !message.flag(tag::RESET_SEQ_NUM_FLAG) || message.number(tag::MSG_SEQ_NUM) != Some(1) {
        let text = "Continuation of sequence numbers to new session is currently unsupported. Sequence numbers must be reset \
                    for each new session.";
        return Err(ApiError::bad_request(-1_175, text));
    }
    match message.text(MESSAGE_HANDLING) {
        Some("1" | "2") => {}
        Some(_) => return Err(unexpected(MESSAGE_HANDLING)),
        None => return Err(missing(MESSAGE_HANDLING)),
    }
    if !matches!(message.text(RESPONSE_MODE), None | Some("1" | "2")) {
        return Err(unexpected(RESPONSE_MODE));
    }
    match (service, message.flag(DROP_COPY_FLAG)) {
        (FixService::DropCopy, false) => Err(ApiError::bad_request(
            -1_185,
            "Only DropCopy sessions are supported on this server. Either reconnect to order entry server or send DropCopyFlag \
             (9406) field.",
        )),
        (FixService::OrderEntry | FixService::MarketData, true) => Err(ApiError::bad_request(
            -1_184,
            "DropCopy sessions are not supported on this server. Please reconnect to a drop copy server.",
        )),
        _ => Ok(()),
    }
}

/// The signature covers 35, 49, 56, 34 and 52, with SOH between them.
fn authenticate<'a>(
    state: &'a BinanceFixState,
    message: &FixMessage<'_>,
    comp_id: &str,
) -> Result<&'a ApiKey, ApiError> {
    let api = &state.api;
    let key = security::find_key(&api.keys, message.text(tag::USERNAME))?;
    if !key.verifier.is_ed25519() {
        return Err(ApiError::bad_request(-4_056, "HMAC_SHA256 API key is not supported."));
    }
    check_time(message, Some(WINDOW_MICROS), api.now())?;
    let signature = message.text(tag::RAW_DATA).ok_or_else(|| missing(tag::RAW_DATA))?;
    let text = |tag| message.text(tag).unwrap_or_default();
    let signed = ["A", comp_id, VENUE, text(tag::MSG_SEQ_NUM), text(tag::SENDING_TIME)].join("\x01");
    security::check_signature(key, &signed, signature)?;
    if api.faults.strikes(Fault::KeyRevoked) {
        return Err(security::unauthorized());
    }
    tracing::debug!(account = key.account, comp_id, at = now_micros(), "logged on");
    Ok(key)
}
