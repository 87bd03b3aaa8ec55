//! Retired orders and the index on disk: what goes there, and what an input needs back. The engine itself reads no file; the
//! runtime looks into the index and journals what it found (decision 0040).

use domain::command::{CancelOrder, MassCancelRequest, ModifyOrder, PlaceOrder};
use domain::report::{ExternalOrder, InquiryResult, ReportKind, VenueFill};
use domain::{
    AccountId, AdapterName, Caller, Command, CommandEnvelope, OrderId, Query, RecalledKeys, Report, RetiredOrdersInput,
    Text,
};

use super::retired_keys::{RetiredKeyLookup, account_key};
use crate::orders::external::external_key;
use crate::orders::fills::execution_id;
use crate::orders::fills::executions::{ExecutionId, retired_keys, taken_back_key};
use crate::trading::Trading;

impl Trading {
    pub(crate) fn on_retired_orders(&mut self, told: &RetiredOrdersInput) {
        match told {
            RetiredOrdersInput::Begin => self.orders.begin_index(),
            RetiredOrdersInput::Stored(through) => {
                if let Some(numbers) = self.orders.forget(*through) {
                    self.ids.skip_numbers(&numbers);
                }
            }
            RetiredOrdersInput::Recalled(keys) => self.orders.recall(keys),
        }
    }

    pub(crate) fn recall_for_command(
        &self,
        asked: &CommandEnvelope,
        index: &dyn RetiredKeyLookup,
        found: &mut RecalledKeys,
    ) {
        let name = match &asked.command {
            Command::Place(ask) => return self.recall_for_order(&asked.caller, ask, index, found),
            Command::Modify(ModifyOrder { cl_ord_id, .. })
            | Command::Cancel(CancelOrder { cl_ord_id, .. })
            | Command::MassCancel(MassCancelRequest { cl_ord_id, .. }) => cl_ord_id.as_ref(),
            _ => None,
        };
        self.recall_name(&asked.caller, name, index, found);
    }

    pub(crate) fn recall_for_query(&self, query: &Query, index: &dyn RetiredKeyLookup, found: &mut RecalledKeys) {
        if let Query::CheckOrder(ask, caller) = query {
            self.recall_for_order(caller, ask, index, found);
        }
    }

    /// The id that the client chose, or its ClOrdID, which becomes the id where it is free.
    fn recall_for_order(
        &self,
        caller: &Caller,
        ask: &PlaceOrder,
        index: &dyn RetiredKeyLookup,
        found: &mut RecalledKeys,
    ) {
        let id = ask.int_id.as_ref().map(domain::IntId::as_str).or(ask.cl_ord_id.as_deref());
        let key = id.and_then(|id| self.orders.unknown_id_key(id));
        found.ids.0.extend(key.filter(|key| index.has_id(*key)));
        self.recall_name(caller, ask.cl_ord_id.as_ref(), index, found);
    }

    /// Decision 0012: only with PossResend are ClOrdIDs of earlier days searched.
    fn recall_name(
        &self,
        caller: &Caller,
        name: Option<&Text>,
        index: &dyn RetiredKeyLookup,
        found: &mut RecalledKeys,
    ) {
        let is_searched = caller.origin.as_ref().is_some_and(|origin| origin.poss_resend);
        let key = name.filter(|_| is_searched).and_then(|name| self.orders.session_name_key(&caller.source, name));
        found.names.0.extend(key.filter(|key| index.has_name(*key)));
    }

    /// Fills of orders that are forgotten: the account of the order, and whether the fill is booked.
    pub(crate) fn recall_for_report(&self, report: &Report, index: &dyn RetiredKeyLookup, found: &mut RecalledKeys) {
        let adapter = &report.adapter;
        match &report.kind {
            ReportKind::Filled(fill) | ReportKind::Corrected { by: fill, .. } => {
                self.recall_fill(adapter, fill, index, found);
            }
            ReportKind::Fills(page) => self.recall_fills(adapter, &page.fills, index, found),
            ReportKind::Inquiry(answer) => {
                if let InquiryResult::Found(_, fills) = &answer.result {
                    self.recall_fills(adapter, fills, index, found);
                }
            }
            ReportKind::Snapshot(snapshot) => {
                self.recall_fills(adapter, &snapshot.fills, index, found);
                snapshot.external.iter().for_each(|seen| self.recall_external(adapter, seen, index, found));
            }
            ReportKind::External(seen) => self.recall_external(adapter, seen, index, found),
            ReportKind::TakenBack { order, exec_id, by, .. } => {
                self.recall_taken_back(adapter, (*order, exec_id), by.as_deref(), index, found);
            }
            _ => {}
        }
    }

    fn recall_external(
        &self,
        adapter: &AdapterName,
        seen: &ExternalOrder,
        index: &dyn RetiredKeyLookup,
        found: &mut RecalledKeys,
    ) {
        let is_forgotten = |order: &OrderId| self.orders.is_forgotten(*order);
        if let Some(order) = self.orders.external(external_key(adapter, seen)).filter(is_forgotten) {
            self.recall_fills(adapter, &seen.under(order).1, index, found);
        }
    }

    fn recall_fills(
        &self,
        adapter: &AdapterName,
        fills: &[VenueFill],
        index: &dyn RetiredKeyLookup,
        found: &mut RecalledKeys,
    ) {
        fills.iter().for_each(|fill| self.recall_fill(adapter, fill, index, found));
    }

    fn recall_fill(
        &self,
        adapter: &AdapterName,
        fill: &VenueFill,
        index: &dyn RetiredKeyLookup,
        found: &mut RecalledKeys,
    ) {
        let Some(account) = self.recall_account(fill.order, index, found) else { return };
        let keys = retired_keys(&execution_id(adapter, account, fill), fill);
        found.executions.0.extend(keys.into_iter().filter(|key| index.has_fill(*key)));
    }

    /// Whether it was taken back, or is booked as it counts now.
    fn recall_taken_back(
        &self,
        adapter: &AdapterName,
        (order, exec_id): (OrderId, &Text),
        by: Option<&VenueFill>,
        index: &dyn RetiredKeyLookup,
        found: &mut RecalledKeys,
    ) {
        let Some(account) = self.recall_account(order, index, found) else { return };
        let taken_back = taken_back_key(ExecutionId::new(adapter, account, order, None, exec_id).key());
        let counts = by.into_iter().flat_map(|by| retired_keys(&execution_id(adapter, account, by), by));
        let keys = counts.chain([taken_back]);
        found.executions.0.extend(keys.filter(|key| index.has_fill(*key)));
    }

    /// That of an order that is forgotten.
    fn recall_account(
        &self,
        order: OrderId,
        index: &dyn RetiredKeyLookup,
        found: &mut RecalledKeys,
    ) -> Option<AccountId> {
        if !self.orders.is_forgotten(order) {
            return None;
        }
        let is_owner = |account: &AccountId| index.has_fill(account_key(order, *account));
        // The account may have moved to another venue since.
        let account = self.reference.data().accounts.keys().copied().find(is_owner)?;
        found.accounts.push((order, account));
        Some(account)
    }
}
