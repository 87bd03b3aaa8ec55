//! Phase changes, auctions, participants.

use domain::{MarketPhase, OrderId, SecurityId, TimeInForce, Timestamp};

use super::trading::MatchResult;
use super::{VenueOutput, VenueSimulator};
use crate::client_orders::client_order::{ClientOrder, OrderStage};
use crate::task_queue::VenueTask;

/// After a gap in time, such as a suspended machine, participants act only for its last minute.
const CATCH_UP_SECONDS: i64 = 60;

impl VenueSimulator {
    pub(super) fn change_phase(&mut self, out: &mut Vec<VenueOutput>) {
        let before = self.phase;
        self.sessions.roll(self.now);
        self.phase = self.sessions.phase(self.now);
        self.tasks.push(self.sessions.next_change(self.now), VenueTask::Phase);
        if before == MarketPhase::ClosingCall {
            self.uncross_all(out);
        }
        self.begin_day();
        match self.phase {
            // Orders collected while the market was closed trade at the open like those of a call.
            MarketPhase::Continuous if before != MarketPhase::Continuous => self.uncross_all(out),
            MarketPhase::ClosingCall => self.join_closing_auction(out),
            MarketPhase::Continuous | MarketPhase::OpeningCall | MarketPhase::Closed => {}
        }
        for security in self.securities() {
            self.show_followed(security, out);
            self.trigger_stops(security, out);
            self.schedule_participants(security);
        }
    }

    fn uncross_all(&mut self, out: &mut Vec<VenueOutput>) {
        self.securities().into_iter().for_each(|security| self.uncross(security, out));
    }

    /// A day begins with its opening call, so the volume of the day before shows until then.
    fn begin_day(&mut self) {
        if self.phase == MarketPhase::Closed || self.sessions.day() == self.day {
            return;
        }
        self.day = self.sessions.day();
        for market in self.markets.values_mut() {
            market.volume = Some(0);
            self.changed_markets.insert(market.id());
        }
    }

    fn securities(&self) -> Vec<SecurityId> {
        self.markets.keys().copied().collect()
    }

    fn join_closing_auction(&mut self, out: &mut Vec<VenueOutput>) {
        let is_waiting =
            |held: &&ClientOrder| held.terms.tif == TimeInForce::Atc && self.markets.contains_key(&held.security());
        let aside = self.orders.at_stage(OrderStage::OutsideBook);
        let waiting: Vec<OrderId> = aside.into_iter().filter(is_waiting).map(|held| held.submission.order).collect();
        for order in waiting {
            self.activate(order, out);
        }
    }

    /// A halt is over. Orders collected during it trade at one price.
    pub(super) fn resume_trading(&mut self, security: SecurityId, out: &mut Vec<VenueOutput>) {
        if self.phase == MarketPhase::Continuous {
            self.uncross(security, out);
        }
        self.show_followed(security, out);
        self.trigger_stops(security, out);
        self.schedule_participants(security);
    }

    /// Schedules the participants of a security, unless they are scheduled or may not act.
    fn schedule_participants(&mut self, security: SecurityId) {
        let now = self.now;
        let Some(market) = self.markets.get_mut(&security) else {
            return;
        };
        let may_act = self.phase != MarketPhase::Closed && market.is_trading(now);
        if let Some(pause) =
            (may_act && market.next_action_at.is_none()).then(|| market.participants.next_delay_nanos()).flatten()
        {
            let at = Timestamp(now.0.saturating_add(pause));
            market.next_action_at = Some(at);
            self.tasks.push(at, VenueTask::Participate(security));
        }
    }

    /// One action of a participant, up to the end of this step of time.
    pub(super) fn run_participants(&mut self, security: SecurityId, horizon: Timestamp, out: &mut Vec<VenueOutput>) {
        let market = self.markets.get_mut(&security).expect("only listed securities have participants");
        market.next_action_at = None;
        if self.phase == MarketPhase::Closed || !market.is_trading(self.now) {
            return;
        }
        let earliest = horizon.plus_seconds(-CATCH_UP_SECONDS);
        if self.now < earliest {
            market.next_action_at = Some(earliest);
            self.tasks.push(earliest, VenueTask::Participate(security));
            return;
        }
        self.apply_participant_actions(security, out);
        self.schedule_participants(security);
    }

    fn apply_participant_actions(&mut self, security: SecurityId, out: &mut Vec<VenueOutput>) {
        let market = self.markets.get_mut(&security).expect("only listed securities have participants");
        let wishes = match self.phase {
            MarketPhase::Continuous => market.participants.next_actions(&market.book),
            _ => market.participants.next_call_actions(),
        };
        market.update_index(self.now);
        self.changed_markets.insert(security);
        for wish in wishes {
            let market = self.markets.get_mut(&security).expect("just found");
            let (events, aggressor) = market.apply_action(wish);
            let mut met = MatchResult::new(security, aggressor);
            met.events = events;
            self.apply_match(met, out);
        }
        self.trigger_stops(security, out);
    }
}
