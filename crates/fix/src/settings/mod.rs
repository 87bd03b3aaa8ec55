//! Session file in QuickFIX's format: `[DEFAULT]` and any number of `[SESSION]`, `Name=value` a line. It is parsed
//! first, then checked; all errors are reported at once, each with its line.

mod session_settings;
mod names;
mod raw;
mod parse;

pub use raw::SettingsError;
pub use session_settings::{
    CancelOnDisconnect, ConnectionType, DictionaryChoice, DropCopyRule, FixCredentials, FixSettings, GatewaySettings,
    MarketDataLimits, SessionId, SessionSettings,
};

impl FixSettings {
    pub fn parse(text: &str) -> Result<Self, Vec<SettingsError>> {
        parse::settings(&raw::read(text)?)
    }
}
