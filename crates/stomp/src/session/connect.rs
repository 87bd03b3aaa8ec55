//! CONNECT and CONNECTED.

use super::action::ConnectCredentials;
use super::protocol_error::ProtocolError;
use crate::frame::{StompCommand, StompFrame};
use crate::version::StompVersion;

/// Values of CONNECT that CONNECTED repeats.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ConnectRequest {
    pub(crate) version: StompVersion,
    /// `request-id` and `receipt`, which ActiveMQ answers although no version requires it.
    request: Option<String>,
    receipt: Option<String>,
}

impl ConnectRequest {
    /// Any `host` is accepted: clients send the name by which they connected.
    pub(crate) fn parse(frame: &StompFrame) -> Result<(Self, ConnectCredentials), ProtocolError> {
        if !matches!(frame.command, StompCommand::Connect | StompCommand::Stomp) {
            return Err(ProtocolError::NotConnected);
        }
        let version =
            StompVersion::highest_common(frame.headers.get("accept-version")).ok_or(ProtocolError::NoCommonVersion)?;
        // The decoder could not know yet that this is 1.0, which trims.
        let trimmed =
            |value: &str| if version == StompVersion::V10 { value.trim().to_owned() } else { value.to_owned() };
        let value = |name| frame.headers.get(name).map(trimmed);
        let credentials =
            ConnectCredentials { login: value("login"), passcode: value("passcode"), host: value("host") };
        Ok((Self { version, request: value("request-id"), receipt: value("receipt") }, credentials))
    }

    /// A client of 1.0 receives version and heart-beat too, as from ActiveMQ.
    pub(crate) fn connected(&self, session: &str, server: &str, heart_beat: &str) -> StompFrame {
        let mut frame = StompFrame::new(StompCommand::Connected)
            .with("version", self.version.name())
            .with("heart-beat", heart_beat)
            .with("session", session)
            .with("server", server);
        self.request.iter().for_each(|request| frame.headers.push("response-id", request));
        self.receipt.iter().for_each(|receipt| frame.headers.push("receipt-id", receipt));
        frame
    }
}
