//! What the schedule makes happen: requests of clients, and faults.

use domain::report::LineKind;
use venue_sim::{Faults, ReplaceHalf, TradeRevision};

use super::SimulatedRun;
use crate::faulty_lines::VenueLine;
use crate::invariants::broken_invariant::InvariantResult;
use crate::market::seed_traits::VENUE_COUNT;
use crate::schedule::{DAY, Fault, SECOND, StepKind, VenueLineFault};

impl SimulatedRun {
    pub(super) fn execute(&mut self, what: &StepKind) -> InvariantResult {
        match what {
            StepKind::Client { client, draw } => {
                let (intent, envelope) = self.clients[*client].decide(*draw);
                self.send(*client, intent, envelope);
                Ok(())
            }
            StepKind::FixClient { client, draw } => {
                self.act_over_fix(*client, *draw);
                Ok(())
            }
            StepKind::StompClient { client, draw } => {
                self.act_over_stomp(*client, *draw);
                Ok(())
            }
            StepKind::Strategy { draw } => {
                self.machine.strategy.draw(*draw);
                Ok(())
            }
            StepKind::Administrator { draw } => {
                self.administer_users(*draw);
                Ok(())
            }
            StepKind::UserClient { client, draw } => {
                self.act_as_user(*client, *draw);
                Ok(())
            }
            StepKind::HttpRead { draw } => {
                self.read_over_http(*draw);
                Ok(())
            }
            StepKind::Fault(fault) => {
                self.trace.line(format_args!("FAULT {fault}"));
                if !fault.waits_on_the_disk() {
                    self.coverage.fault(fault.kind());
                }
                self.inject(*fault)?;
                self.check_running()
            }
        }
    }

    fn inject(&mut self, fault: Fault) -> InvariantResult {
        let now = self.now();
        match fault {
            Fault::Kill => return self.end_process("killed", false),
            Fault::OrderlyStop => return self.stop(),
            Fault::DaysPass { days } => {
                self.stop()?;
                self.machine.clock.set_wall_by(days * DAY);
            }
            Fault::PowerCut { operation } | Fault::KillAtDisk { file: None, operation } => {
                self.machine.disk.end_at(operation, fault);
            }
            Fault::PowerCutAtName { file, operation } | Fault::KillAtDisk { file: Some(file), operation } => {
                self.machine.disk.end_at_name(file, operation, fault);
            }
            Fault::PowerCutAtLedger { operation } => self.machine.disk.end_at_ledger(operation, fault),
            Fault::SyncFails => self.machine.disk.fail_next_sync(),
            Fault::WriteFails => self.machine.disk.fail_next_write(),
            Fault::DiskFull { seconds } => {
                self.machine.disk.set_full(true);
                self.full_until = now + seconds * SECOND;
            }
            Fault::SlowDisk { seconds } => self.slow_until = now + seconds * SECOND,
            Fault::HangingDisk { seconds } => self.hanging_until = now + seconds * SECOND,
            Fault::ClockSet { seconds } => self.machine.clock.set_wall_by(seconds * SECOND),
            Fault::ClockDrifts { parts_per_million, seconds } => {
                self.machine.clock.drift(parts_per_million, seconds * SECOND);
            }
            Fault::ReadModelRolledBack { draw } => {
                self.roll_back_read_model(self.machine.read_model.applied() / 4 * draw);
                return self.end_process("killed, and the read model is older", false);
            }
            Fault::ReadModelBadRow { draw, seconds } => {
                self.end_process("killed, and a row of its read model is bad", false)?;
                self.damage_row(draw, now + seconds * SECOND);
            }
            Fault::Venue { venue, fault, seconds } => {
                self.venue_lines[venue] =
                    VenueLine { faulty_until: now + seconds * SECOND, faults: faults_of(fault, self.machine.seed) };
                self.apply_venue_faults();
            }
            Fault::LabLine { .. } | Fault::Lab { .. } | Fault::LabKilled { .. } => return self.inject_into_lab(fault),
            Fault::TradeRevised { venue, draw, is_correction: false } => self.revise(venue, TradeRevision::Bust(draw)),
            Fault::TradeRevised { venue, draw, is_correction: true } => {
                self.revise(venue, TradeRevision::Correct(draw));
            }
            Fault::Link { client, fault, seconds } => self.links.set_fault(client, fault, now + seconds * SECOND),
            Fault::HttpLink { caller, fault, seconds } => {
                self.http_lines.set_fault(caller, fault, now + seconds * SECOND);
            }
            Fault::FixLink { client, fault, seconds } => {
                self.fix_clients[client].network.set_fault(fault, now + seconds * SECOND);
            }
            Fault::StompLink { client, fault, seconds } => {
                self.stomp.clients[client].network.set_fault(fault, now + seconds * SECOND);
            }
            Fault::StompPortHangs { seconds } => self.stomp.hanging_until = now + seconds * SECOND,
            Fault::BitFlip { file, place, is_read_model_lost } => {
                self.end_process("killed, and a bit of its files flips", false)?;
                if is_read_model_lost {
                    self.trace.line("the read model is lost");
                    self.roll_back_read_model(0);
                }
                return self.flip_bit(file, place);
            }
        }
        Ok(())
    }

    pub(super) fn apply_venue_faults(&mut self) {
        let Some(platform) = &self.platform else { return };
        for (venue, line) in self.venue_lines.iter().enumerate() {
            if let Some(controls) = platform.controls(venue) {
                controls.set_faults(line.faults);
                self.venue_at = self.machine.clock.steady();
            }
        }
    }

    /// Where the platform does not run, nobody asks the venue for it.
    fn revise(&mut self, venue: usize, revision: TradeRevision) {
        if let Some(controls) = self.platform.as_ref().and_then(|platform| platform.controls(venue)) {
            controls.revise(revision);
            self.venue_at = self.machine.clock.steady();
        }
    }

    /// What a venue told of busts and corrections may have been lost: it tells everything once more, as people do who clear trades.
    pub(super) fn repeat_revisions(&mut self) {
        if self.machine.traits.has_revisions {
            (0..VENUE_COUNT).for_each(|venue| self.revise(venue, TradeRevision::Repeat));
        }
    }

    pub(super) fn end_faults(&mut self) -> InvariantResult {
        let now = self.now();
        if self.bad_row_until != 0 && now >= self.bad_row_until {
            self.delete_read_model()?;
        }
        if self.full_until != 0 && now >= self.full_until {
            self.full_until = 0;
            self.machine.disk.set_full(false);
            self.trace.line("the disk has room again");
        }
        for venue in 0..VENUE_COUNT {
            let line = &mut self.venue_lines[venue];
            if line.faulty_until != 0 && now >= line.faulty_until {
                *line = VenueLine::working(self.machine.seed);
                self.trace.line(format_args!("{} works again", self.machine.market.adapter(venue)));
                self.apply_venue_faults();
            }
        }
        Ok(())
    }

    /// Nothing goes wrong at any venue from now on.
    pub(super) fn end_venue_faults(&mut self) {
        self.venue_lines = std::array::from_fn(|_| VenueLine::working(self.machine.seed));
        self.apply_venue_faults();
    }
}

fn faults_of(fault: VenueLineFault, seed: u64) -> Faults {
    let none = Faults { seed, ..Faults::default() };
    match fault {
        VenueLineFault::Reject => Faults { reject_every: 3, ..none },
        VenueLineFault::Delay => Faults { delay_nanos: 3 * SECOND, ..none },
        VenueLineFault::Duplicate => Faults { duplicate_one_in: 2, ..none },
        VenueLineFault::Drop => Faults { drop_one_in: 3, ..none },
        VenueLineFault::Reorder => Faults { reorder_one_in: 3, ..none },
        VenueLineFault::Disconnect => Faults { disconnected: true, ..none },
        VenueLineFault::Mute => Faults { muted: true, ..none },
        VenueLineFault::Lose => Faults { lose_one_in: 2, ..none },
        VenueLineFault::Late => Faults { late_one_in: 2, ..none },
        VenueLineFault::HalfCanceled => Faults { replace_half: Some(ReplaceHalf::Canceled), ..none },
        VenueLineFault::HalfPlaced => Faults { replace_half: Some(ReplaceHalf::Placed), ..none },
        VenueLineFault::HalfNothing => Faults { replace_half: Some(ReplaceHalf::Neither), ..none },
        VenueLineFault::NoTrading => Faults { lines_down: none.lines_down.with(LineKind::Trading), ..none },
        VenueLineFault::NoPrivate => Faults { lines_down: none.lines_down.with(LineKind::Private), ..none },
        VenueLineFault::NoPrices => Faults { lines_down: none.lines_down.with(LineKind::Prices), ..none },
    }
}
