//! The machine that the platform runs on: what outlives a process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use access::{Access, AccessSettings, UserStore};
use domain::Timestamp;
use fix_gateway::FixSessionFile;
use storage::journal::InstanceId;

use crate::clock::{NOON, SimulatedClock};
use crate::disk::SimulatedDisk;
use crate::fix_sessions::session_settings;
use crate::lab_venue::LabListener;
use crate::market::Market;
use crate::market::seed_traits::SeedTraits;
use crate::read_model::SimulatedReadModel;
use crate::releases::{EarlierFolder, RELEASES};
use crate::schedule::DAY;
use crate::strategies::StrategyLog;
use crate::users::SeededSecrets;

/// How long an upgrade takes.
const UPGRADE_SECONDS: i64 = 3_600;

const INSTANCE: InstanceId = InstanceId(*b"simulated system");

/// What outlives a process: the data folder on its disk, the clocks of the machine, the read model.
#[derive(Clone)]
pub(crate) struct Machine {
    pub(crate) folder: PathBuf,
    pub(crate) disk: SimulatedDisk,
    pub(crate) clock: SimulatedClock,
    pub(crate) read_model: SimulatedReadModel,
    /// Of runs without users.
    pub(crate) access: Arc<Access>,
    pub(crate) secrets: SeededSecrets,
    pub(crate) fix_sessions: Arc<FixSessionFile>,
    pub(crate) strategy: StrategyLog,
    pub(crate) market: Arc<Market>,
    pub(crate) instance: InstanceId,
    /// What it began with, where that is no empty folder.
    pub(crate) earlier: Option<Arc<EarlierFolder>>,
    /// The midnight that comes while the run goes on, where there is one.
    pub(crate) day_end: Option<Timestamp>,
    pub(crate) seed: u64,
    pub(crate) traits: SeedTraits,
    /// Where calls of the FIX adapter arrive.
    pub(crate) lab_listener: LabListener,
    pub(crate) has_late_requests: bool,
    pub(crate) segment_bytes: u64,
}

impl Machine {
    /// A new machine whose data folder is empty, or one of an earlier release.
    pub(crate) fn new(plan: &MachinePlan, beside: &Path) -> Result<Self, String> {
        let traits = SeedTraits::of_seed(plan.seed);
        let release = |draw: u64| &RELEASES[usize::try_from(draw % RELEASES.len() as u64).unwrap_or(0)];
        let earlier = traits.upgrade.map(|upgrade| EarlierFolder::open(release(upgrade.release), beside));
        let earlier = earlier.transpose()?.map(Arc::new);
        let instance = earlier.as_ref().map_or(INSTANCE, |earlier| earlier.instance);
        let market = earlier.as_ref().map_or_else(
            || Arc::new(Market::small_world(traits.lab_venue, traits.has_odd_requests)),
            |earlier| earlier.market.clone(),
        );
        let (start, day_end) = beginning(earlier.as_deref(), &traits);
        let clock = SimulatedClock::new(start);
        let users = UserStore::in_memory(beside).map_err(|error| error.to_string())?;
        let access = Access::open(Arc::new(users), AccessSettings::default(), clock.shared());
        let settings = beside.join("sessions.cfg");
        std::fs::write(&settings, session_settings(traits.cancels_on_disconnect)).map_err(|error| error.to_string())?;
        let sessions = FixSessionFile::read(&settings).map_err(|problems| problems.join("; "))?;
        let machine = Self {
            folder: beside.join("data"),
            disk: SimulatedDisk::new(plan.seed),
            clock,
            read_model: SimulatedReadModel::default(),
            access: Arc::new(access.map_err(|error| error.to_string())?),
            secrets: SeededSecrets::new(plan.seed),
            fix_sessions: Arc::new(sessions),
            strategy: StrategyLog::new(market.clone()),
            market,
            instance,
            earlier,
            day_end,
            seed: plan.seed,
            traits,
            lab_listener: LabListener::default(),
            has_late_requests: plan.has_late_requests,
            segment_bytes: plan.segment_bytes,
        };
        machine.take_over_folder()?;
        Ok(machine)
    }

    /// The files of an earlier release are on the disk, and where it is kept the read model has all events.
    fn take_over_folder(&self) -> Result<(), String> {
        let (Some(earlier), Some(upgrade)) = (&self.earlier, self.traits.upgrade) else { return Ok(()) };
        for (path, bytes) in &earlier.files {
            self.disk.put(&self.folder.join(path), bytes).map_err(|error| error.to_string())?;
        }
        if upgrade.keeps_read_model {
            earlier.events.iter().for_each(|(sequence, events)| self.read_model.catch_up(*sequence, events));
            self.read_model.catch_up(earlier.end(), &[]);
        }
        Ok(())
    }

    pub(crate) fn ledger(&self, venue: usize) -> PathBuf {
        self.folder.join("venues").join(self.market.ledger_name(venue))
    }

    /// An error without the name of the folder, which differs from run to run.
    pub(crate) fn text(&self, error: &dyn std::fmt::Display) -> String {
        let folder = self.folder.display().to_string();
        error.to_string().replace(&format!("{folder}/"), "").replace(&folder, "the data folder")
    }
}

/// When a run begins: an hour after an earlier release ended, else at noon; or shortly before the midnight behind that, which is the
/// second.
fn beginning(earlier: Option<&EarlierFolder>, traits: &SeedTraits) -> (Timestamp, Option<Timestamp>) {
    let earliest = earlier.map_or(NOON, |earlier| earlier.at.plus_seconds(UPGRADE_SECONDS));
    match traits.day_ends_in {
        None => (earliest, None),
        Some(seconds) => {
            let midnight = Timestamp((earliest.0 / DAY + 1) * DAY);
            (midnight.plus_seconds(-seconds), Some(midnight))
        }
    }
}

/// What a machine is made for.
pub(crate) struct MachinePlan {
    pub(crate) seed: u64,
    pub(crate) has_late_requests: bool,
    pub(crate) segment_bytes: u64,
}
