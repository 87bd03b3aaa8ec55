//! Request echo: the fields that the answer repeats. It travels with the command and comes back with a rejection, after
//! a crash too.

use fix::FixMessage;
use fix::tag::{self, Tag};

use super::field::{
    ACCOUNT, CL_ORD_ID, MASS_CANCEL_REQUEST_TYPE, MASS_STATUS_REQ_ID, MASS_STATUS_REQ_TYPE, ORD_STATUS_REQ_ID,
    ORDER_ID, ORDER_QTY, ORIG_CL_ORD_ID, POSS_RESEND, SECURITY_ID, SIDE, SYMBOL, TIME_IN_FORCE,
};

const ECHOED_TAGS: [Tag; 15] = [
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
];

/// Field separator; it cannot occur in a field.
const FIELD_END: char = '\u{1}';

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RequestEcho(Vec<(Tag, String)>);

impl RequestEcho {
    pub(crate) fn from_message(message: &FixMessage<'_>) -> Self {
        // A value that is not text cannot be repeated exactly.
        let value = |tag: Tag| std::str::from_utf8(message.get(tag)?).ok().filter(|value| !value.is_empty());
        Self(ECHOED_TAGS.into_iter().filter_map(|tag| Some((tag, value(tag)?.to_owned()))).collect())
    }

    pub(crate) fn encode(&self) -> String {
        self.0.iter().map(|(tag, value)| format!("{tag}={value}{FIELD_END}")).collect()
    }

    pub(crate) fn decode(text: &str) -> Self {
        let field = |field: &str| {
            let (tag, value) = field.split_once('=')?;
            Some((tag.parse().ok()?, value.to_owned()))
        };
        Self(text.split(FIELD_END).filter_map(field).collect())
    }

    pub(crate) fn get(&self, tag: Tag) -> Option<&str> {
        self.0.iter().find(|(kept, _)| *kept == tag).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_new_order(&self) -> bool {
        self.get(tag::MSG_TYPE) == Some("D")
    }

    /// Of a request on one order.
    pub(crate) fn is_request(&self) -> bool {
        matches!(self.get(tag::MSG_TYPE), Some("F" | "G"))
    }

    pub(crate) fn is_replace(&self) -> bool {
        self.get(tag::MSG_TYPE) == Some("G")
    }

    pub(crate) fn is_mass_cancel(&self) -> bool {
        self.get(tag::MSG_TYPE) == Some("q")
    }

    /// The id of the order of a request.
    pub(crate) fn target_order(&self) -> Option<&str> {
        self.get(ORIG_CL_ORD_ID).or(self.get(ORDER_ID))
    }

    /// PossResend: the message may have been sent before. A request cannot have been accepted under the id of its
    /// order.
    pub(crate) fn may_be_resent(&self) -> bool {
        let is_distinct = self.is_new_order() || self.get(CL_ORD_ID) != self.target_order();
        self.get(POSS_RESEND) == Some("Y") && is_distinct
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let echo = RequestEcho(vec![(35, "D".into()), (11, "a=b".into()), (97, "Y".into())]);
        assert_eq!(RequestEcho::decode(&echo.encode()), echo);
        assert!(echo.is_new_order() && echo.may_be_resent() && !echo.is_replace());
        assert_eq!(RequestEcho::decode("rubbish"), RequestEcho::default());
    }
}
