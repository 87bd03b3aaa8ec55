//! What the key may do, before a session is opened with it.
//!
//! The key's own rights count. What an account may do (`canWithdraw`) says nothing about the key. Testnet and demo do not tell
//! them: there they are unknown, which is no harm where no real money is at stake.

use adapter_kit::RequestLane;
use adapter_kit::credentials::{KeyPermissions, KeyRefusal};
use serde::Deserialize;

use super::state::BinanceAdapter;
use crate::protocol::answers::CallError;
use crate::protocol::error_codes::ErrorMeaning;
use crate::protocol::key_restrictions::KeyRestrictions;
use crate::protocol::requests::BinanceRequest;

impl BinanceAdapter {
    /// Whether the key may be used. A new key that may not gives way to the one before it.
    pub(super) fn check_key(&mut self) -> Result<(), String> {
        let rights = self.key_rights()?;
        let Err(refusal) = self.setup.network.check_key(rights) else { return Ok(()) };
        if !matches!(refusal, KeyRefusal::RightsUnknown { .. }) {
            self.on_key_refused();
        }
        Err(refusal.to_string())
    }

    /// None where the venue does not tell. A key that the venue does not accept at all is refused by the log-on too, so that
    /// counts here only where nothing may be risked.
    fn key_rights(&mut self) -> Result<KeyPermissions, String> {
        let request = BinanceRequest::key_restrictions();
        let reason = match self.call(RequestLane::Inquiry, &request).map(|answer| answer.outcome) {
            Ok(Ok(result)) => match KeyRestrictions::deserialize(&result) {
                Ok(told) => return Ok(told.permissions()),
                Err(unreadable) => unreadable.to_string(),
            },
            Ok(Err(error)) if self.is_of_key(&error) => {
                self.on_key_refused();
                return Err(format!("the venue does not accept the key: {}", error.describe()));
            }
            Ok(Err(error)) => error.describe(),
            Err(reason) => reason,
        };
        if !std::mem::replace(&mut self.is_unknown_told, true) {
            let adapter = &self.setup.adapter;
            tracing::warn!(%adapter, reason, "the venue does not tell what the key may do, whether it may withdraw too");
        }
        Ok(KeyPermissions::default())
    }

    fn is_of_key(&self, error: &CallError) -> bool {
        error.meaning == ErrorMeaning::Key && self.setup.network.is_real_money()
    }
}
