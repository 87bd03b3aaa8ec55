//! Request echo: the fields that the answer repeats. It travels with the command and comes back with a rejection, after
//! a crash too.

use fix::FixMessage;
use fix::tag::{self, Tag};

use super::field::{CL_ORD_ID, ORDER_ID, ORIG_CL_ORD_ID, POSS_RESEND};
use super::messages::{ECHOED_TAGS, MessageRow, RefusalForm, RequestMeaning};
use crate::limits::ECHO_BYTES_MAX;

/// Field separator; it cannot occur in a field.
const FIELD_END: char = '\u{1}';

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RequestEcho(Vec<(Tag, String)>);

impl RequestEcho {
    pub(crate) fn from_message(message: &FixMessage<'_>) -> Self {
        // A value that is not text cannot be repeated exactly.
        let is_repeated = |value: &&str| !value.is_empty() && value.len() <= ECHO_BYTES_MAX;
        let value = |tag: Tag| std::str::from_utf8(message.get(tag)?).ok().filter(is_repeated);
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

    fn row(&self) -> Option<&'static MessageRow> {
        MessageRow::by_type(self.get(tag::MSG_TYPE)?.as_bytes())
    }

    /// What the message became; `None` where its type is not known.
    pub(crate) fn becomes(&self) -> Option<RequestMeaning> {
        self.row().map(|row| row.becomes)
    }

    pub(crate) fn refused_with(&self) -> RefusalForm {
        self.row().map_or(RefusalForm::BusinessReject, |row| row.refused_with)
    }

    /// The id of the order of a request.
    pub(crate) fn target_order(&self) -> Option<&str> {
        self.get(ORIG_CL_ORD_ID).or(self.get(ORDER_ID))
    }

    /// PossResend: the message may have been sent before. A request cannot have been accepted under the id of its
    /// order.
    pub(crate) fn may_be_resent(&self) -> bool {
        let is_distinct =
            self.refused_with() == RefusalForm::RejectedOrder || self.get(CL_ORD_ID) != self.target_order();
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
        assert!(echo.refused_with() == RefusalForm::RejectedOrder && echo.may_be_resent());
        assert_eq!(RequestEcho::decode("rubbish"), RequestEcho::default());
    }
}
