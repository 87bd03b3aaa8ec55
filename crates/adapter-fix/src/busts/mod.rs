//! Executions that are taken back: busts (150=H) and corrections (150=G).

use domain::report::ReportKind;
use domain::{OrderId, Quantity, Text};
use fix::FixMessage;
use fix::tag::Tag;

use crate::dialect::ExecIdRule;
use crate::execution::ExecutionFields;
use crate::reports::{FixTranslator, InboundMeaning, report, reported, unclear};

/// ExecID (17).
const EXEC_ID: Tag = 17;

impl FixTranslator {
    pub(crate) fn on_bust(
        &mut self,
        message: &FixMessage<'_>,
        order: OrderId,
        fields: &ExecutionFields<'_>,
    ) -> Vec<InboundMeaning> {
        let Some(exec_id) = self.referred_fill(message, order, fields, Quantity::ZERO) else {
            return unclear(
                Some(order),
                "an execution is busted, and which of the reported ones is not certain".to_owned(),
            );
        };
        self.take_out(order, &exec_id, fields);
        let meanings = report(ReportKind::Busted { order, exec_id, reason: fields.text.map(Text::from) });
        self.with_end(meanings, order, fields)
    }

    pub(crate) fn on_correction(
        &mut self,
        message: &FixMessage<'_>,
        order: OrderId,
        fields: &ExecutionFields<'_>,
    ) -> Vec<InboundMeaning> {
        let by = self.fill(message, order, fields);
        let referred = by.as_ref().and_then(|by| self.referred_fill(message, order, fields, by.quantity));
        let (Some(exec_id), Some(by)) = (referred, by) else {
            return unclear(
                Some(order),
                "an execution is corrected, and which of the reported ones is not certain".to_owned(),
            );
        };
        let newest = self.chains.chain(order).newest(&exec_id, &by.exec_id);
        let exec_id = newest.map_or(exec_id, Text::from);
        self.take_out(order, &exec_id, fields);
        let chain = self.chains.chain(order);
        chain.note_correction(&exec_id, &by.exec_id);
        chain.add_fill(reported(fields, &by));
        self.with_end(report(ReportKind::Corrected { exec_id, by }), order, fields)
    }

    /// The execution does not count any more. What was taken back before says nothing new; otherwise an order that had ended by it works again,
    /// unless the same report says that it ends.
    fn take_out(&mut self, order: OrderId, exec_id: &str, fields: &ExecutionFields<'_>) {
        let chain = self.chains.chain(order);
        let is_told = chain.fills.iter().any(|fill| fill.is_void && fill.reported == exec_id);
        chain.make_void(exec_id);
        chain.cum_qty = fields.condition.cum_qty;
        if !is_told {
            self.chains.reopen(order);
        }
    }

    /// ExecRefID (19) as it was reported, where it is now worth `by`. Unique ids need no memory. Where ids repeat, the quantity that
    /// CumQty (14) lost tells which one is meant. It refers to an ExecID (17), so where another field names executions it names none.
    fn referred_fill(
        &self,
        message: &FixMessage<'_>,
        order: OrderId,
        fields: &ExecutionFields<'_>,
        by: Quantity,
    ) -> Option<Text> {
        let exec_id = fields.exec_ref_id.filter(|_| self.dialect.executions.exec_id_tag == EXEC_ID)?;
        if self.dialect.executions.exec_ids == ExecIdRule::Unique {
            return Some(self.scoped(message, exec_id)?.as_ref().into());
        }
        let chain = self.chains.get(order)?;
        let quantity = match (chain.cum_qty, fields.condition.cum_qty) {
            (Some(known), Some(shown)) => Some(known.plus(by).ok()?.minus(shown).ok()?),
            _ => None,
        };
        chain.reported_fill(exec_id, quantity).map(Text::from)
    }
}
