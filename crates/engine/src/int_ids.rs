//! Generation of intIds for orders whose client gave none.

use domain::{AccountId, IntId};

use crate::trading::Trading;

impl Trading {
    /// `<sessionQualifier>-<n>`; ids that clients chose are skipped.
    pub(crate) fn mint_int_id(&mut self, account: AccountId) -> IntId {
        let account = self.reference.account(account).ok();
        let qualifier = account.and_then(|account| account.session_qualifier.as_deref());
        let prefix = qualifier.filter(|qualifier| is_valid_prefix(qualifier)).unwrap_or("R");
        let last = self.ids.last_number(prefix);
        loop {
            *last += 1;
            let id = int_id(prefix, *last);
            if !self.orders.contains_id(&id) {
                return id;
            }
        }
    }
}

/// What follows the prefix: a dash and up to twenty digits.
const NUMBER_LENGTH_MAX: usize = 21;

/// A qualifier that cannot be part of an id is replaced by a plain one with its own sequence of numbers.
fn is_valid_prefix(qualifier: &str) -> bool {
    qualifier.len() + NUMBER_LENGTH_MAX <= IntId::LENGTH_MAX && qualifier.bytes().all(|byte| byte.is_ascii_graphic())
}

fn int_id(prefix: &str, number: u64) -> IntId {
    IntId::numbered(&[prefix, "-"], number).expect("the prefix is short and printable")
}
