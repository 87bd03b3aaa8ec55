//! Outbound gate: the scopes of kills that wait for a disk that does not answer. Orders in them that have not been sent are
//! held back, whatever the disk does first when it answers again.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{Order, RiskScope};

/// Shared by the interfaces, which shut it, and the engine's loop, which opens it when the kill itself is released.
#[derive(Debug, Clone, Default)]
pub struct OutboundGate(Arc<ShutScopes>);

#[derive(Debug, Default)]
struct ShutScopes {
    /// Read for every instruction, so that an open gate costs no lock.
    is_shut: AtomicBool,
    scopes: Mutex<BTreeSet<RiskScope>>,
}

impl OutboundGate {
    /// At once, without the engine and without the disk.
    pub fn shut(&self, scope: RiskScope) {
        let mut scopes = self.scopes();
        scopes.insert(scope);
        self.0.is_shut.store(true, Ordering::SeqCst);
    }

    /// The kill of this scope is durable: the engine refuses what comes after it.
    pub fn open(&self, scope: RiskScope) {
        let mut scopes = self.scopes();
        scopes.remove(&scope);
        self.0.is_shut.store(!scopes.is_empty(), Ordering::SeqCst);
    }

    /// Whether this order may not be sent.
    pub fn holds(&self, order: &Order) -> bool {
        self.0.is_shut.load(Ordering::SeqCst) && self.scopes().iter().any(|scope| is_in(*scope, order))
    }

    fn scopes(&self) -> MutexGuard<'_, BTreeSet<RiskScope>> {
        // A set is consistent whenever the lock is free.
        self.0.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_in(scope: RiskScope, order: &Order) -> bool {
    match scope {
        RiskScope::Platform => true,
        RiskScope::Account(id) => order.account == id,
        RiskScope::Strategy(id) => order.strategy == id,
        RiskScope::Security(id) => order.security == id,
    }
}

#[cfg(test)]
mod tests {
    use domain::{AccountId, SecurityId};

    use super::*;

    #[test]
    fn a_shut_gate_holds_the_orders_of_its_scopes_until_each_kill_is_durable() {
        let (gate, order) = (OutboundGate::default(), samples::order(1));
        let account = RiskScope::Account(order.account);
        assert!(!gate.holds(&order));
        gate.shut(account);
        gate.shut(RiskScope::Security(SecurityId(order.security.0 + 1)));
        assert!(gate.holds(&order));
        assert!(!gate.holds(&Order { account: AccountId(order.account.0 + 1), ..order.clone() }));
        gate.open(account);
        assert!(!gate.holds(&order));
        gate.shut(RiskScope::Platform);
        assert!(gate.clone().holds(&order), "both sides see the same gate");
    }
}
