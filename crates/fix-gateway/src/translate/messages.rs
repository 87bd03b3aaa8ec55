//! The application messages of clients, one table: type, required fields, what the message becomes, and how it is
//! answered where it is refused.

use fix::tag::{self, Tag};
use fix::{FixMessage, MessageFault, SessionRejectReason};

use super::field::{
    ACCOUNT, ACCOUNT_TYPE, CL_ORD_ID, CLEARING_BUSINESS_DATE, MASS_CANCEL_REQUEST_TYPE, MASS_STATUS_REQ_ID,
    MASS_STATUS_REQ_TYPE, ORD_STATUS_REQ_ID, ORDER_ID, ORDER_QTY, ORIG_CL_ORD_ID, POS_REQ_ID, POS_REQ_TYPE,
    POSS_RESEND, SECURITY_ID, SIDE, SYMBOL, TIME_IN_FORCE, TRADE_REQUEST_ID, TRADE_REQUEST_TYPE,
};

/// One row of the table.
pub(crate) struct MessageRow {
    pub(crate) msg_type: &'static str,
    /// Offered with `ExtendedMessages=Y` only.
    pub(crate) is_extended: bool,
    /// Without these there is no answer at application level: Reject (3), in this order.
    fields: &'static [MessageFieldRule],
    pub(crate) becomes: RequestMeaning,
    pub(crate) refused_with: RefusalForm,
    /// The field that says which orders a mass request is about.
    pub(crate) scope: Option<Tag>,
}

/// What a message becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestMeaning {
    Command(CommandClass),
    Status(StatusClass),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandClass {
    Place,
    Modify,
    Cancel,
    MassCancel,
}

/// What a status request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatusClass {
    OneOrder,
    OpenOrders,
    Trades,
    Positions,
}

/// The message that tells a client of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalForm {
    /// Execution Report (8) of a rejected order.
    RejectedOrder,
    /// Order Cancel Reject (9), with CxlRejResponseTo (434).
    CancelReject(u64),
    /// Order Mass Cancel Report (r).
    MassCancelReport,
    /// Business Message Reject (j).
    BusinessReject,
}

/// A rule for a field without which a message cannot be answered.
enum MessageFieldRule {
    Required(Tag),
    /// The first may be absent where the second is given.
    OneOf(Tag, Tag),
    /// Where given, it is text: other bytes could not be repeated in a report.
    Text(Tag),
    /// One letter, from the first to the last.
    Range(Tag, u8, u8),
}

use MessageFieldRule::{OneOf, Range, Required, Text};

const MESSAGES: [MessageRow; 8] = [
    MessageRow {
        msg_type: "D",
        is_extended: false,
        fields: &[Text(CL_ORD_ID)],
        becomes: RequestMeaning::Command(CommandClass::Place),
        refused_with: RefusalForm::RejectedOrder,
        scope: None,
    },
    MessageRow {
        msg_type: "G",
        is_extended: false,
        fields: &[Text(CL_ORD_ID)],
        becomes: RequestMeaning::Command(CommandClass::Modify),
        refused_with: RefusalForm::CancelReject(2),
        scope: None,
    },
    MessageRow {
        msg_type: "F",
        is_extended: false,
        fields: &[Text(CL_ORD_ID)],
        becomes: RequestMeaning::Command(CommandClass::Cancel),
        refused_with: RefusalForm::CancelReject(1),
        scope: None,
    },
    MessageRow {
        msg_type: "H",
        is_extended: true,
        fields: &[OneOf(CL_ORD_ID, ORDER_ID), Text(CL_ORD_ID)],
        becomes: RequestMeaning::Status(StatusClass::OneOrder),
        refused_with: RefusalForm::BusinessReject,
        scope: None,
    },
    MessageRow {
        msg_type: "AF",
        is_extended: true,
        fields: &[
            Required(MASS_STATUS_REQ_ID),
            Text(MASS_STATUS_REQ_ID),
            Required(MASS_STATUS_REQ_TYPE),
            Range(MASS_STATUS_REQ_TYPE, b'1', b'8'),
        ],
        becomes: RequestMeaning::Status(StatusClass::OpenOrders),
        refused_with: RefusalForm::BusinessReject,
        scope: Some(MASS_STATUS_REQ_TYPE),
    },
    MessageRow {
        msg_type: "q",
        is_extended: true,
        fields: &[
            Required(CL_ORD_ID),
            Text(CL_ORD_ID),
            Required(MASS_CANCEL_REQUEST_TYPE),
            Range(MASS_CANCEL_REQUEST_TYPE, b'1', b'7'),
        ],
        becomes: RequestMeaning::Command(CommandClass::MassCancel),
        refused_with: RefusalForm::MassCancelReport,
        scope: Some(MASS_CANCEL_REQUEST_TYPE),
    },
    MessageRow {
        msg_type: "AD",
        is_extended: true,
        fields: &[
            Required(TRADE_REQUEST_ID),
            Text(TRADE_REQUEST_ID),
            Required(TRADE_REQUEST_TYPE),
            Range(TRADE_REQUEST_TYPE, b'0', b'4'),
            Text(CL_ORD_ID),
        ],
        becomes: RequestMeaning::Status(StatusClass::Trades),
        refused_with: RefusalForm::BusinessReject,
        scope: None,
    },
    MessageRow {
        msg_type: "AN",
        is_extended: true,
        fields: &[
            Required(POS_REQ_ID),
            Text(POS_REQ_ID),
            Required(POS_REQ_TYPE),
            Range(POS_REQ_TYPE, b'0', b'3'),
            Required(ACCOUNT),
            Text(ACCOUNT),
        ],
        becomes: RequestMeaning::Status(StatusClass::Positions),
        refused_with: RefusalForm::BusinessReject,
        scope: None,
    },
];

/// Fields of requests that answers repeat.
pub(super) const ECHOED_TAGS: [Tag; 21] = [
    tag::MSG_TYPE,
    ACCOUNT,
    CL_ORD_ID,
    ORDER_ID,
    ORDER_QTY,
    ORIG_CL_ORD_ID,
    SECURITY_ID,
    SIDE,
    SYMBOL,
    TIME_IN_FORCE,
    POSS_RESEND,
    MASS_CANCEL_REQUEST_TYPE,
    MASS_STATUS_REQ_ID,
    MASS_STATUS_REQ_TYPE,
    ORD_STATUS_REQ_ID,
    TRADE_REQUEST_ID,
    TRADE_REQUEST_TYPE,
    POS_REQ_ID,
    POS_REQ_TYPE,
    ACCOUNT_TYPE,
    CLEARING_BUSINESS_DATE,
];

impl MessageRow {
    /// `None` for a type that no session offers.
    pub(crate) fn by_type(msg_type: &[u8]) -> Option<&'static Self> {
        MESSAGES.iter().find(|row| row.msg_type.as_bytes() == msg_type)
    }

    /// Whether the engine cannot answer it without ClOrdID (11).
    pub(crate) fn needs_cl_ord_id(&self) -> bool {
        matches!(self.refused_with, RefusalForm::RejectedOrder | RefusalForm::CancelReject(_))
    }

    /// The error of a message that cannot be answered, also where messages are not validated.
    pub(crate) fn fault_in(&self, message: &FixMessage<'_>) -> Option<MessageFault> {
        self.fields.iter().find_map(|rule| rule.fault_in(message))
    }
}

impl MessageFieldRule {
    fn fault_in(&self, message: &FixMessage<'_>) -> Option<MessageFault> {
        let is_given = |tag| message.get(tag).is_some_and(|value: &[u8]| !value.is_empty());
        let (is_kept, reason, tag) = match *self {
            Required(tag) => (is_given(tag), SessionRejectReason::RequiredTagMissing, tag),
            OneOf(tag, other) => {
                (message.get(tag).is_some() || is_given(other), SessionRejectReason::RequiredTagMissing, tag)
            }
            Text(tag) => {
                let is_text = message.get(tag).is_none_or(|value| std::str::from_utf8(value).is_ok());
                (is_text, SessionRejectReason::IncorrectDataFormat, tag)
            }
            Range(tag, first, last) => {
                let is_within = matches!(message.get(tag), Some([value]) if (first..=last).contains(value));
                (is_within, SessionRejectReason::ValueIncorrect, tag)
            }
        };
        (!is_kept).then(|| MessageFault::at(reason, tag))
    }
}
