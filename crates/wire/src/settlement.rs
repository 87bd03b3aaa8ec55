//! Settlement price of a security on a day, as a request.

use domain::command::SettlementPrice;
use domain::{Price, SecurityId};

use crate::fields::{BadBody, Fields};
use crate::transaction_body::date_of;

pub struct SettlementBody;

impl SettlementBody {
    /// Without a date it is for the exchange's present day. A price may be below zero, as that of oil was.
    pub fn parse(body: &[u8]) -> Result<SettlementPrice, BadBody> {
        let mut fields = Fields::parse(body)?;
        let (security, price) = (fields.id("securityId").map(SecurityId), fields.decimal("price").map(Price));
        let date = fields.read("date", date_of);
        let (security, price) = (fields.require("securityId", security), fields.require("price", price));
        fields.finish_strict(security.zip(price).map(|(security, price)| SettlementPrice { security, price, date }))
    }
}
