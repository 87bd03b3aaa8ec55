//! A transaction or a settlement price as a client records it. Absent values stay absent: defaults and the rules of each type
//! are the engine's.

use domain::command::{RecordTransaction, SettlementPrice};
use domain::{
    AccountId, Amount, Currency, Date, Price, Quantity, ReferenceData, SecurityId, StrategyId, Text, TransactionKind,
    Uuid,
};
use serde_json::Value;

use crate::bodies::fields::{BadBody, FieldError, Fields, instant_of, int_id_of};
use crate::bodies::strategy_name::{NamedStrategy, STRATEGY_NAME_LENGTH_MAX};

/// Longest external id and description.
pub const TRANSACTION_TEXT_LENGTH_MAX: usize = 256;

/// The body of a request, with every field parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionBody {
    record: RecordTransaction,
    strategy_name: Option<String>,
}

impl TransactionBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let kinds = TransactionKind::ALL.map(|kind| (kind.name(), kind));
        let kind = fields.choice("type", &kinds);
        let price = fields.decimal("price").map(Price);
        let (kind, price) = (fields.require("type", kind), fields.require("price", price));
        let strategy_name = fields.text("strategyName", STRATEGY_NAME_LENGTH_MAX);
        // Also read where type or price is missing, so that errors in the other fields are reported as well.
        let record = read_rest(&mut fields, kind.unwrap_or(TransactionKind::Credit), price.unwrap_or(Price::ZERO));
        fields.finish(kind.and(price).map(|_| Self { record, strategy_name }))
    }

    pub fn to_record(self, reference: &ReferenceData) -> Result<RecordTransaction, Vec<FieldError>> {
        let named = NamedStrategy { id: self.record.strategy, name: self.strategy_name.as_deref() };
        let strategy = named.find(reference).map_err(|fault| vec![fault])?;
        Ok(RecordTransaction { strategy, ..self.record })
    }
}

fn read_rest(fields: &mut Fields, kind: TransactionKind, price: Price) -> RecordTransaction {
    let text = |fields: &mut Fields, field| fields.text(field, TRANSACTION_TEXT_LENGTH_MAX).map(Text::from);
    RecordTransaction {
        uuid: fields.read("uuid", uuid_of),
        at: fields.read("dateTime", instant_of),
        settlement_date: fields.read("settlementDate", date_of),
        ext_id: text(fields, "extId"),
        int_order_id: fields.read("intOrderId", int_id_of),
        ext_order_id: text(fields, "extOrderId"),
        kind,
        quantity: fields.decimal("quantity").map(Quantity),
        price,
        execution_commission: fields.decimal("executionCommission").map(Amount),
        clearing_commission: fields.decimal("clearingCommission").map(Amount),
        fee: fields.decimal("fee").map(Amount),
        currency: fields.read("currency", currency_of),
        account: fields.id("accountId").map(AccountId),
        security: fields.id("securityId").map(SecurityId),
        strategy: fields.id("strategyId").map(StrategyId),
        description: text(fields, "description"),
    }
}

fn uuid_of(field: &'static str, value: Value) -> Result<Uuid, FieldError> {
    let uuid = value.as_str().and_then(|text| text.parse().ok());
    uuid.ok_or_else(|| FieldError::malformed(field, "must be a UUID such as 123e4567-e89b-42d3-a456-426614174000"))
}

pub(crate) fn date_of(field: &'static str, value: Value) -> Result<Date, FieldError> {
    let date = value.as_str().and_then(|text| text.parse().ok());
    date.ok_or_else(|| FieldError::malformed(field, "must be a date YYYY-MM-DD"))
}

fn currency_of(field: &'static str, value: Value) -> Result<Currency, FieldError> {
    let currency = value.as_str().and_then(|text| text.parse().ok());
    currency.ok_or_else(|| FieldError::malformed(field, "must be a currency such as USD"))
}

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
