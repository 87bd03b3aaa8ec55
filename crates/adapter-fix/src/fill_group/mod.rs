//! Executions in the group of Fills (1362) of a report: id (1363), price (1364), quantity (1365) and role (1443). At some venues every
//! report has those that are new, also a status.

use domain::report::{ReportKind, VenueFill};
use domain::{Decimal, Liquidity, OrderId, Price, Quantity};
use fix::FixMessage;

use crate::dialect::OrdState;
use crate::execution::ExecutionFields;
use crate::order_chains::ReportedFill;
use crate::reports::{FixTranslator, InboundMeaning};

/// An entry as it stands in the report.
#[derive(Default)]
struct FillEntry<'a> {
    exec_id: &'a str,
    price: Option<Price>,
    quantity: Option<Quantity>,
    liquidity: Option<Liquidity>,
}

impl FixTranslator {
    /// Nothing where the dialect has no such group. An execution that was told before is not told again.
    pub(crate) fn on_fill_group(
        &mut self,
        message: &FixMessage<'_>,
        order: OrderId,
        fields: &ExecutionFields<'_>,
    ) -> Vec<InboundMeaning> {
        if !self.dialect.executions.fill_group {
            return Vec::new();
        }
        let known = self.chains.get(order).and_then(|chain| chain.cum_qty);
        let (mut meanings, mut added) = (Vec::new(), Quantity::ZERO);
        for entry in entries_of(message) {
            let Some(fill) = self.group_fill(message, order, fields, &entry) else {
                let reason = format!("an execution of the group that cannot be read: {}", entry.exec_id);
                meanings.push(InboundMeaning::Unclear { order: Some(order), reason });
                continue;
            };
            if self.chains.chain(order).add_fill(reported(&entry, &fill)) {
                added = added.plus(fill.quantity).unwrap_or(added);
                meanings.push(InboundMeaning::Report(ReportKind::Filled(fill)));
            }
        }
        meanings.extend(self.missing_of_group(order, (known, added), fields));
        let chain = self.chains.chain(order);
        chain.cum_qty = chain.cum_qty.max(fields.condition.cum_qty);
        if fields.condition.state == OrdState::Filled {
            self.chains.end(order);
        }
        meanings
    }

    /// CumQty (14) has more than what was reported and came now.
    fn missing_of_group(
        &self,
        order: OrderId,
        (known, added): (Option<Quantity>, Quantity),
        fields: &ExecutionFields<'_>,
    ) -> Option<InboundMeaning> {
        let (known, shown) = (known?.plus(added).ok()?, fields.condition.cum_qty?);
        let reason = || format!("the venue has filled {shown}, but only {known} were reported");
        (shown > known).then(|| InboundMeaning::Unclear { order: Some(order), reason: reason() })
    }

    fn group_fill(
        &self,
        message: &FixMessage<'_>,
        order: OrderId,
        fields: &ExecutionFields<'_>,
        entry: &FillEntry<'_>,
    ) -> Option<VenueFill> {
        Some(VenueFill {
            order,
            exec_id: self.scoped(message, Some(entry.exec_id).filter(|id| !id.is_empty())?)?.as_ref().into(),
            quantity: entry.quantity.filter(|quantity| quantity.is_positive())?,
            price: entry.price?,
            at: fields.at,
            fee: None,
            charges: Vec::new(),
            ext_order: None,
            liquidity: entry.liquidity,
        })
    }
}

fn reported(entry: &FillEntry<'_>, fill: &VenueFill) -> ReportedFill {
    ReportedFill {
        exec_id: entry.exec_id.to_owned(),
        reported: fill.exec_id.to_string(),
        quantity: fill.quantity,
        at: fill.at,
        is_void: false,
        replaced_by: None,
        in_snapshot: false,
    }
}

/// An entry begins with its id.
fn entries_of<'a>(message: &FixMessage<'a>) -> Vec<FillEntry<'a>> {
    let mut entries: Vec<FillEntry<'a>> = Vec::new();
    for field in message.fields() {
        let text = std::str::from_utf8(field.value).unwrap_or_default();
        if field.tag == 1363 {
            entries.push(FillEntry { exec_id: text, ..FillEntry::default() });
        }
        let Some(entry) = entries.last_mut() else { continue };
        match field.tag {
            1364 => entry.price = Decimal::from_str_exact(text).ok().map(Price),
            1365 => entry.quantity = Decimal::from_str_exact(text).ok().map(Quantity),
            1443 => entry.liquidity = role(text),
            _ => {}
        }
    }
    entries
}

/// FillLiquidityInd (1443) has the codes of LastLiquidityInd (851).
fn role(code: &str) -> Option<Liquidity> {
    match code {
        "1" => Some(Liquidity::Maker),
        "2" => Some(Liquidity::Taker),
        _ => None,
    }
}
