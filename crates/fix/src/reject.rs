//! Reject reasons and texts of the standard, which engines of peers compare letter by letter.

use crate::codec::{FixMessage, OutgoingMessage};
use crate::tag::{self, Tag};

/// SessionRejectReason (373): the message itself is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionRejectReason {
    InvalidTagNumber,
    RequiredTagMissing,
    TagNotDefinedForMessage,
    TagWithoutValue,
    ValueIncorrect,
    IncorrectDataFormat,
    CompIdProblem,
    SendingTimeAccuracy,
    InvalidMsgType,
    TagAppearsTwice,
    TagOutOfOrder,
    GroupOutOfOrder,
    IncorrectGroupCount,
}

impl SessionRejectReason {
    pub fn code(self) -> u64 {
        self.code_and_text().0
    }

    pub fn text(self) -> &'static str {
        self.code_and_text().1
    }

    fn code_and_text(self) -> (u64, &'static str) {
        match self {
            Self::InvalidTagNumber => (0, "Invalid tag number"),
            Self::RequiredTagMissing => (1, "Required tag missing"),
            Self::TagNotDefinedForMessage => (2, "Tag not defined for this message type"),
            Self::TagWithoutValue => (4, "Tag specified without a value"),
            Self::ValueIncorrect => (5, "Value is incorrect (out of range) for this tag"),
            Self::IncorrectDataFormat => (6, "Incorrect data format for value"),
            Self::CompIdProblem => (9, "CompID problem"),
            Self::SendingTimeAccuracy => (10, "SendingTime accuracy problem"),
            Self::InvalidMsgType => (11, "Invalid MsgType"),
            Self::TagAppearsTwice => (13, "Tag appears more than once"),
            Self::TagOutOfOrder => (14, "Tag specified out of required order"),
            Self::GroupOutOfOrder => (15, "Repeating group fields out of order"),
            Self::IncorrectGroupCount => (16, "Incorrect NumInGroup count for repeating group"),
        }
    }
}

/// An error of a message, with its tag where that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageFault {
    pub reason: SessionRejectReason,
    pub tag: Option<Tag>,
}

impl MessageFault {
    pub fn at(reason: SessionRejectReason, tag: Tag) -> Self {
        Self { reason, tag: Some(tag) }
    }

    pub(crate) fn without_tag(reason: SessionRejectReason) -> Self {
        Self { reason, tag: None }
    }

    /// The Reject (3) for the peer.
    pub fn reject(self, refused: &FixMessage<'_>, out: &mut OutgoingMessage) {
        out.begin("3");
        reverse_route(refused, out);
        write_reference(refused, out);
        out.field(tag::TEXT, self.reason.text());
        if let Some(tag) = self.tag {
            out.field(tag::REF_TAG_ID, tag.to_string());
        }
        out.number(tag::SESSION_REJECT_REASON, self.reason.code());
    }
}

/// BusinessRejectReason (380): the message is well-formed, but the application does not support it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusinessRejectReason {
    Other,
    UnknownId,
    UnknownSecurity,
    UnsupportedMessageType,
    ApplicationNotAvailable,
    ConditionallyRequiredFieldMissing,
    NotAuthorized,
}

impl BusinessRejectReason {
    fn code_and_text(self) -> (u64, &'static str) {
        match self {
            Self::Other => (0, "Other"),
            Self::UnknownId => (1, "Unknown ID"),
            Self::UnknownSecurity => (2, "Unknown Security"),
            Self::UnsupportedMessageType => (3, "Unsupported Message Type"),
            Self::ApplicationNotAvailable => (4, "Application not available"),
            Self::ConditionallyRequiredFieldMissing => (5, "Conditionally Required Field Missing"),
            Self::NotAuthorized => (6, "Not authorized"),
        }
    }

    /// The Business Message Reject (j); `text` replaces the standard text.
    pub fn reject(self, refused: &FixMessage<'_>, text: Option<&str>, out: &mut OutgoingMessage) {
        let (code, standard_text) = self.code_and_text();
        out.begin("j");
        write_reference(refused, out);
        out.field(tag::TEXT, text.unwrap_or(standard_text)).number(tag::BUSINESS_REJECT_REASON, code);
    }
}

fn write_reference(refused: &FixMessage<'_>, out: &mut OutgoingMessage) {
    if let Some(number) = refused.number(tag::MSG_SEQ_NUM) {
        out.number(tag::REF_SEQ_NUM, number);
    }
    if !refused.msg_type().is_empty() {
        out.field(tag::REF_MSG_TYPE, refused.msg_type());
    }
}

/// The answer to a message that was routed through a third party is routed back through it.
fn reverse_route(refused: &FixMessage<'_>, out: &mut OutgoingMessage) {
    const PAIRS: [(Tag, Tag); 3] = [
        (tag::ON_BEHALF_OF_COMP_ID, tag::DELIVER_TO_COMP_ID),
        (tag::ON_BEHALF_OF_SUB_ID, tag::DELIVER_TO_SUB_ID),
        (tag::ON_BEHALF_OF_LOCATION_ID, tag::DELIVER_TO_LOCATION_ID),
    ];
    for (from, to) in PAIRS.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]) {
        if let Some(value) = refused.get(from).filter(|value| !value.is_empty()) {
            out.field(to, value);
        }
    }
}
