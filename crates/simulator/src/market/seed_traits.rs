//! What differs from seed to seed beside the schedule.

use domain::SeededRng;
use domain::report::ReplaceKind;

/// Traders of every run.
pub const TRADERS: usize = 3;
/// The client behind them.
pub const OPERATOR: usize = TRADERS;
/// Venues of every run, one for each account.
pub(crate) const VENUE_COUNT: usize = 2;

/// In one of so many runs values are sampled; the pause between two samples.
const SAMPLES_ONE_IN: u32 = 3;
const SAMPLE_SECONDS: u32 = 30;
/// In one of so many runs a given venue cancels and places anew for a replace.
const CANCEL_REPLACE_ONE_IN: u64 = 6;
/// In one of so many runs days pass while the platform is stopped.
const DAYS_OFF_ONE_IN: u32 = 4;
/// In one of so many runs the data folder is one of an earlier release.
const UPGRADE_ONE_IN: u32 = 8;
/// In one of so many runs a trader uses HTTP.
const HTTP_ONE_IN: u32 = 4;
/// In one of so many runs the power goes while a venue's ledger is written.
const LEDGER_CUTS_ONE_IN: u32 = 4;
/// In one of so many runs the orders of the first FIX client are cancelled when it is disconnected.
const CANCEL_ON_DISCONNECT_ONE_IN: u32 = 4;
/// In one of so many runs there are users and an administrator.
pub(crate) const USERS_ONE_IN: u32 = 3;
/// In one of so many of the runs in which they can, venues bust and correct trades.
const REVISIONS_ONE_IN: u32 = 2;
/// In one of so many of the runs in which it can, a venue is the lab behind the FIX adapter.
const LAB_ONE_IN: u32 = 4;
/// In one of so many of the runs with the lab it begins its sequence numbers anew at times.
const NUMBER_RESETS_ONE_IN: u32 = 2;
/// In one of so many runs requests to the simulated venues are lost or late. The recorded seeds of planted bugs are none of them.
const LATE_REQUESTS_ONE_IN: u32 = 8;
/// In one of so many runs the wall clock drifts. The recorded seeds of planted bugs are none of them.
const DRIFT_ONE_IN: u32 = 4;
/// In one of so many of the runs that begin with an empty folder clients ask for what is wrong. The recorded seeds of planted bugs are none
/// of them.
const ODD_REQUESTS_ONE_IN: u32 = 5;
/// In one of so many runs a day ends, so many seconds after the beginning.
const DAY_END_ONE_IN: u32 = 5;
const DAY_END_SECONDS: [i64; 2] = [40, 150];

/// Each trait has a generator of its own, so that what is added here leaves the draws of the others alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeedTraits {
    /// By venue.
    pub(crate) replace: [ReplaceKind; VENUE_COUNT],
    pub(crate) sample_seconds: Option<u32>,
    /// The machine is switched off for days, once. Orders that had ended are retired then, to an index on the disk.
    pub(crate) has_days_off: bool,
    /// The earlier release whose data folder the run begins with.
    pub(crate) upgrade: Option<UpgradeTrait>,
    /// The trader that sends its requests over HTTP; the others use the inbox as HTTP does.
    pub(crate) http_trader: Option<usize>,
    /// The first midnight comes so many seconds after the beginning, while the platform runs.
    pub(crate) day_ends_in: Option<i64>,
    pub(crate) has_ledger_cuts: bool,
    /// Of the first FIX client.
    pub(crate) cancels_on_disconnect: bool,
    /// Venues bust and correct trades.
    pub(crate) has_revisions: bool,
    /// The venue that is the lab, behind the FIX adapter; the others are simulated.
    pub(crate) lab_venue: Option<usize>,
    /// The lab begins its sequence numbers anew at times, and reports are lost for good then.
    pub(crate) has_number_resets: bool,
    /// Users log in over HTTP, and an administrator changes them.
    pub(crate) has_users: bool,
    /// Requests to the simulated venues may be lost, or take effect seconds after they were sent.
    pub(crate) has_late_requests: bool,
    /// The wall clock goes faster or slower than it should, for a while.
    pub(crate) has_drift: bool,
    /// Lines of a venue's session fail one by one.
    pub(crate) has_single_lines: bool,
    /// Traders send requests of which something is wrong, and the operator sets tight limits.
    pub(crate) has_odd_requests: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct UpgradeTrait {
    /// Which one.
    pub(crate) release: u64,
    /// Whether the read model is as the release left it, so that its snapshots count; else it is made again from the first record on.
    pub(crate) keeps_read_model: bool,
    /// The power goes while this build opens the folder for the first time, at this operation of the disk.
    pub(crate) power_cut: Option<u32>,
}

impl SeedTraits {
    pub(crate) fn of_seed(seed: u64) -> Self {
        let drawn = SeededRng::new(seed, 924).below(CANCEL_REPLACE_ONE_IN);
        let is_replacing = |venue: usize| drawn == venue as u64;
        let kind = |venue| if is_replacing(venue) { ReplaceKind::CancelReplace } else { ReplaceKind::InPlace };
        let is_sampling = SeededRng::new(seed, 905).one_in(SAMPLES_ONE_IN);
        let upgrade = UpgradeTrait::of_seed(seed);
        let (mut days, mut http) = (SeededRng::new(seed, 931), SeededRng::new(seed, 932));
        let has_odd_requests = upgrade.is_none() && SeededRng::new(seed, 1_546).one_in(ODD_REQUESTS_ONE_IN);
        let traits = Self {
            replace: std::array::from_fn(kind),
            // Samples are checked in one currency, and the folders of releases have two.
            sample_seconds: (is_sampling && upgrade.is_none()).then_some(SAMPLE_SECONDS),
            has_days_off: SeededRng::new(seed, 912).one_in(DAYS_OFF_ONE_IN),
            upgrade,
            http_trader: http.one_in(HTTP_ONE_IN).then(|| usize::try_from(http.below(TRADERS as u64)).unwrap_or(0)),
            day_ends_in: days.one_in(DAY_END_ONE_IN).then(|| days.between(DAY_END_SECONDS[0], DAY_END_SECONDS[1])),
            has_ledger_cuts: SeededRng::new(seed, 944).one_in(LEDGER_CUTS_ONE_IN),
            cancels_on_disconnect: SeededRng::new(seed, 942).one_in(CANCEL_ON_DISCONNECT_ONE_IN),
            has_revisions: false,
            lab_venue: None,
            has_number_resets: SeededRng::new(seed, 984).one_in(NUMBER_RESETS_ONE_IN),
            has_users: SeededRng::new(seed, 903).one_in(USERS_ONE_IN),
            has_late_requests: SeededRng::new(seed, 970).one_in(LATE_REQUESTS_ONE_IN),
            has_drift: SeededRng::new(seed, 1_418).one_in(DRIFT_ONE_IN),
            // Of the runs with odd requests one half: none of the recorded seeds of planted bugs is one of them.
            has_single_lines: has_odd_requests && SeededRng::new(seed, 1_601).one_in(2),
            has_odd_requests,
        };
        let has_revisions = traits.may_revise() && SeededRng::new(seed, 972).one_in(REVISIONS_ONE_IN);
        Self { has_revisions, lab_venue: traits.draw_lab(seed).filter(|_| !has_revisions), ..traits }
    }

    /// Not in an upgrade, whose accounts are at simulated venues, and not in the place of a venue that cancels and places anew.
    fn draw_lab(&self, seed: u64) -> Option<usize> {
        let mut rng = SeededRng::new(seed, 1_073);
        let venue = usize::try_from(rng.below(VENUE_COUNT as u64)).unwrap_or(0);
        let takes_part = rng.one_in(LAB_ONE_IN) && self.upgrade.is_none();
        takes_part.then_some(if self.replacing_venue() == Some(venue) { 1 - venue } else { venue })
    }

    /// Not where orders are retired, whose trades are recorded by hand, nor where an order must have ended at an instant: a bust opens a
    /// filled order again until its cancel arrives, which a venue may report late or not at all.
    fn may_revise(&self) -> bool {
        self.upgrade.is_none() && !self.has_days_off && self.day_ends_in.is_none() && !self.cancels_on_disconnect
    }

    /// Whether anything comes over HTTP.
    pub(crate) fn has_http(&self) -> bool {
        self.http_trader.is_some() || self.has_users
    }

    /// The venue that cancels and places anew for a replace.
    pub(crate) fn replacing_venue(&self) -> Option<usize> {
        self.replace.iter().position(|kind| *kind == ReplaceKind::CancelReplace)
    }
}

impl UpgradeTrait {
    fn of_seed(seed: u64) -> Option<Self> {
        let mut rng = SeededRng::new(seed, 930);
        rng.one_in(UPGRADE_ONE_IN).then(|| Self {
            release: rng.next_u64(),
            keeps_read_model: !rng.one_in(3),
            power_cut: rng.one_in(2).then(|| u32::try_from(rng.between(1, 40)).unwrap_or(1)),
        })
    }
}
