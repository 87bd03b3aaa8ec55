//! Statements of venues: what they hold for the accounts. They are kept beside our books and never booked.

use domain::report::VenueStatement;
use domain::{AdapterName, Instruction};

use crate::outbox::Outbox;
use crate::trading::Trading;

impl Trading {
    /// Asks for the statement of every account of the adapter, where its venue gives statements.
    pub(crate) fn ask_statements(&self, adapter: &AdapterName, out: &mut Outbox) {
        if !self.adapters.gives_statements(adapter) {
            return;
        }
        let accounts = self.reference.data().accounts.values();
        for account in accounts.filter(|account| account.active && account.adapter() == *adapter) {
            out.instruct(adapter, Instruction::AskStatement(account.id));
        }
    }

    pub(crate) fn on_statement(&mut self, adapter: &AdapterName, statement: &VenueStatement, out: &mut Outbox) {
        let account = self.reference.account(statement.account);
        if account.is_ok_and(|account| account.adapter() == *adapter) {
            return self.portfolio.keep_statement(statement, out);
        }
        let text = format!("{adapter} gives a statement of account {}, which does not trade there", statement.account);
        out.error("foreign-statement", text);
    }
}
