//! FIX messages in the words of the trade, for the trace and for failures.

use std::fmt;

use super::message::{
    BEGIN_SEQ_NO, CL_ORD_ID, CUM_QTY, ClientMessage, END_SEQ_NO, EXEC_ID, EXEC_TYPE, LAST_PX, LAST_QTY, NEW_SEQ_NO,
    NO_ORDER, ORD_STATUS, ORDER_ID, ORDER_QTY, ORIG_CL_ORD_ID, PRICE, PlatformMessage, REF_SEQ_NUM, SIDE, SYMBOL, TEXT,
};

impl fmt::Display for ClientMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = |tag| self.get(tag).unwrap_or_default();
        let [id, of, symbol, quantity, price] = [CL_ORD_ID, ORIG_CL_ORD_ID, SYMBOL, ORDER_QTY, PRICE].map(field);
        match self.msg_type {
            "D" => {
                write!(f, "{id}: {} {quantity} of {symbol} at {price}", if field(SIDE) == "1" { "buy" } else { "sell" })
            }
            "F" => write!(f, "{id}: cancel {of}"),
            "G" => write!(f, "{id}: replace {of}, quantity {quantity}"),
            "A" => f.write_str("a log-on"),
            "5" => f.write_str("a log-out"),
            "0" => f.write_str("a heart-beat"),
            "1" => f.write_str("a question whether the platform is there"),
            "2" if field(END_SEQ_NO) == "0" => write!(f, "a request for all from {} on", field(BEGIN_SEQ_NO)),
            "2" => write!(f, "a request for {} to {}", field(BEGIN_SEQ_NO), field(END_SEQ_NO)),
            "4" => write!(f, "that there is nothing before {}", field(NEW_SEQ_NO)),
            other => write!(f, "a message of type {other}"),
        }
    }
}

impl fmt::Display for PlatformMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.msg_type.as_str() {
            "8" => self.write_report(f)?,
            "9" => write!(f, "{} is refused, {} is {}", self.field(CL_ORD_ID), self.order(), self.status())?,
            "3" | "j" => write!(f, "message {} is rejected", self.field(REF_SEQ_NUM))?,
            "4" => write!(f, "there is nothing before {}", self.field(NEW_SEQ_NO))?,
            "5" => f.write_str("log-out")?,
            other => write!(f, "a message of type {other}")?,
        }
        self.get(TEXT).map_or(Ok(()), |text| write!(f, " ({text})"))
    }
}

impl PlatformMessage {
    /// With all fields as they were received, for what is not of the trade.
    pub(super) fn tags(&self) -> String {
        let fields = self.fields.iter().filter(|(tag, _)| *tag != 35);
        fields.fold(self.msg_type.clone(), |text, (tag, value)| format!("{text} {tag}={value}"))
    }

    fn field(&self, tag: i32) -> &str {
        self.get(tag).unwrap_or_default()
    }

    /// By the id that it was given first; an order that is not there by what the client called it.
    fn order(&self) -> &str {
        self.get(ORDER_ID).filter(|id| *id != NO_ORDER).unwrap_or_else(|| self.field(CL_ORD_ID))
    }

    fn write_report(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [quantity, price] = [LAST_QTY, LAST_PX].map(|tag| self.field(tag));
        write!(f, "{} ", self.order())?;
        match self.field(EXEC_TYPE) {
            "F" | "1" | "2" => write!(f, "trades {quantity} at {price}, execution {}", self.field(EXEC_ID))?,
            "G" => write!(f, "has a trade corrected to {quantity} at {price}")?,
            "H" => write!(f, "has a trade of {quantity} at {price} taken back")?,
            "A" => f.write_str("is accepted")?,
            "0" => f.write_str("is at its venue")?,
            "4" => f.write_str("is canceled")?,
            "5" => f.write_str("is replaced")?,
            "6" => f.write_str("is to be canceled")?,
            "8" => f.write_str("is rejected")?,
            "C" => f.write_str("has expired")?,
            "E" => f.write_str("is to be replaced")?,
            other => write!(f, "has ExecType {other}")?,
        }
        write!(f, ": {}, {} filled", self.status(), self.field(CUM_QTY))?;
        let current = self.field(CL_ORD_ID);
        if current == self.order() { Ok(()) } else { write!(f, ", by {current}") }
    }

    fn status(&self) -> String {
        let words = match self.field(ORD_STATUS) {
            "A" => "open",
            "0" => "submitted",
            "1" => "partially filled",
            "2" => "filled",
            "4" => "canceled",
            "6" => "pending cancel",
            "8" => "rejected",
            "C" => "expired",
            "E" => "pending replace",
            other => return format!("OrdStatus {other}"),
        };
        words.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use fix::FixDecoder;

    use super::super::message::{Sending, encode};
    use super::*;

    /// As the platform would send it.
    fn told(msg_type: &'static str, fields: &[(i32, &str)]) -> String {
        let message =
            fields.iter().fold(ClientMessage::new(msg_type), |message, (tag, value)| message.with(*tag, value));
        let sending = Sending { comp_id: "RIALTO", number: 7, wall: 0, first_sent: None };
        let bytes = encode(&message, &sending);
        PlatformMessage::of(&FixDecoder::new().decode(&bytes).unwrap()).to_string()
    }

    #[test]
    fn reports_are_told_in_the_words_of_the_trade() {
        let order = [(37, "F1-3"), (11, "F1-3"), (14, "50")];
        let report = |fields: &[(i32, &str)]| told("8", &[&order[..], fields].concat());
        let lines = [
            report(&[(150, "A"), (39, "A")]),
            report(&[(150, "F"), (39, "1"), (32, "20"), (31, "10.01"), (17, "X9")]),
            report(&[(150, "H"), (39, "0"), (32, "20"), (31, "10.01")]),
            told("8", &[(37, "F1-3"), (11, "F1-9"), (150, "5"), (39, "0"), (14, "50")]),
            told("8", &[(37, "NONE"), (11, "F1-4"), (150, "8"), (39, "8"), (14, "0"), (58, "too-large: 5000")]),
            told("9", &[(37, "F1-3"), (11, "F1-8"), (39, "2"), (58, "order-closed")]),
            told("3", &[(45, "12"), (58, "no such tag")]),
        ];
        expect![[r#"
            F1-3 is accepted: open, 50 filled
            F1-3 trades 20 at 10.01, execution X9: partially filled, 50 filled
            F1-3 has a trade of 20 at 10.01 taken back: submitted, 50 filled
            F1-3 is replaced: submitted, 50 filled, by F1-9
            F1-4 is rejected: rejected, 0 filled (too-large: 5000)
            F1-8 is refused, F1-3 is filled (order-closed)
            message 12 is rejected (no such tag)"#]]
        .assert_eq(&lines.join("\n"));
    }

    #[test]
    fn what_a_client_sends_is_told_in_words_too() {
        let order = ClientMessage::new("D").with(11, "F2-1").with(54, 2).with(38, 7).with(55, "ABC").with(44, "9.5");
        assert_eq!(order.to_string(), "F2-1: sell 7 of ABC at 9.5");
        assert_eq!(ClientMessage::new("2").with(7, 4).with(16, 0).to_string(), "a request for all from 4 on");
        assert_eq!(ClientMessage::new("4").with(123, "Y").with(36, 9).to_string(), "that there is nothing before 9");
    }
}
