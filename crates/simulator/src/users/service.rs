//! Users and authentication of a running process, as the server composes them, with seeded secrets and cheap hashes.

use std::sync::{Arc, Mutex, PoisonError};

use access::{
    Access, AccessEnvironment, AccessSettings, AccessWork, AdminLog, AdminLogError, AnonymousPolicy, PasswordCost,
    RandomError, UserRole, UserStore,
};
use bus::{InboxError, JournalStatus};
use domain::SeededRng;
use domain::admin::{AdminRecord, AdminState};
use storage::JournalLedger;

use super::stepped_work::{SteppedWork, WorkQueue, WorkTurns};
use crate::clock::SimulatedClock;

/// The least that Argon2 allows: hashes are real, and what they cost is not the subject here.
const PASSWORD_COST: PasswordCost = PasswordCost { memory_kib: 8, passes: 1 };

/// Random bytes of a machine. A restart does not begin them anew: no secret is given twice.
#[derive(Clone)]
pub(crate) struct SeededSecrets(Arc<Mutex<SeededRng>>);

impl SeededSecrets {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(SeededRng::new(seed, 950))))
    }

    fn fill(&self, bytes: &mut [u8]) {
        let mut rng = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&rng.next_u64().to_le_bytes()[..part.len()]);
        }
    }
}

pub(crate) struct UserService {
    /// Ends before what it works for.
    work: SteppedWork,
    pub(crate) access: Arc<Access>,
}

impl UserService {
    pub(crate) fn open(
        ledger: Arc<JournalLedger>,
        journal: Arc<dyn JournalStatus>,
        secrets: SeededSecrets,
        clock: &SimulatedClock,
    ) -> Result<Self, String> {
        let queue = Arc::new(WorkQueue::default());
        let (work, turns) = SteppedWork::start(queue.clone())?;
        let log = Arc::new(SimulatedAdminLog { ledger, journal, turns });
        let users = UserStore::new(log, None).with_environment(Arc::new(SimulatedEnvironment { secrets, queue }));
        // Traders without credentials are on the machine itself; users come from elsewhere.
        let settings = AccessSettings { anonymous: AnonymousPolicy::As(UserRole::Admin), ..AccessSettings::default() };
        let access = Access::open(Arc::new(users), settings, clock.shared()).map_err(|error| error.to_string())?;
        Ok(Self { work, access: Arc::new(access) })
    }

    /// Whether anything ended that others wait for.
    pub(crate) fn step(&mut self) -> bool {
        self.work.step()
    }
}

struct SimulatedEnvironment {
    secrets: SeededSecrets,
    queue: Arc<WorkQueue>,
}

impl AccessEnvironment for SimulatedEnvironment {
    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        self.secrets.fill(bytes);
        Ok(())
    }

    fn password_cost(&self) -> PasswordCost {
        PASSWORD_COST
    }

    fn compute(&self, work: AccessWork) {
        work();
    }

    fn block(&self, work: AccessWork) {
        self.queue.push(work);
    }

    fn has_audit_thread(&self) -> bool {
        false
    }
}

/// As the server's, but it hands the turn back instead of waiting.
struct SimulatedAdminLog {
    ledger: Arc<JournalLedger>,
    journal: Arc<dyn JournalStatus>,
    turns: Arc<WorkTurns>,
}

impl SimulatedAdminLog {
    fn pause(&self) -> Result<(), AdminLogError> {
        if self.turns.pause() { Ok(()) } else { Err(AdminLogError("the engine has stopped".to_owned())) }
    }
}

impl AdminLog for SimulatedAdminLog {
    fn state(&self) -> Arc<AdminState> {
        self.ledger.admin()
    }

    fn append(&self, record: AdminRecord) -> Result<u64, AdminLogError> {
        let mut ticket = loop {
            match self.ledger.append_admin(record.clone()) {
                Ok(ticket) => break ticket,
                Err(InboxError::Busy) => self.pause()?,
                Err(InboxError::Stopped) => return Err(AdminLogError("the engine has stopped".to_owned())),
            }
        };
        loop {
            match ticket.try_recv() {
                Some(Ok(reply)) => {
                    let outcome = reply.outcome.map(|_| reply.sequence);
                    return outcome.map_err(|refusal| AdminLogError(refusal.to_string()));
                }
                Some(Err(_)) => return Err(AdminLogError("the engine has stopped".to_owned())),
                None => self.pause()?,
            }
        }
    }

    fn is_stalled(&self) -> bool {
        self.journal.is_stalled()
    }
}
