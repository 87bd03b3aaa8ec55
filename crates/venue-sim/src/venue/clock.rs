//! Phase changes, auctions, participants.

use domain::{MarketPhase, OrderId, SecurityId, TimeInForce, Timestamp};

use super::trading::Met;
use super::{Output, Venue};
use crate::agenda::Task;
use crate::registry::{Held, Stage};

/// After a gap in time, such as a suspended machine, participants act only for its last minute.
const CATCH_UP_SECONDS: i64 = 60;

impl Venue {
    pub(super) fn change_phase(&mut self, out: &mut Vec<Output>) {
        let before = self.phase;
        self.sessions.roll(self.now);
        self.phase = self.sessions.phase(self.now);
        self.agenda.push(self.sessions.next_change(self.now), Task::Phase);
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
            self.after_trading(security, out);
            self.wake(security);
        }
    }

    fn uncross_all(&mut self, out: &mut Vec<Output>) {
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
            self.touched.insert(market.id());
        }
    }

    fn securities(&self) -> Vec<SecurityId> {
        self.markets.keys().copied().collect()
    }

    fn join_closing_auction(&mut self, out: &mut Vec<Output>) {
        let is_waiting =
            |held: &&Held| held.terms.tif == TimeInForce::Atc && self.markets.contains_key(&held.security());
        let aside = self.registry.at_stage(Stage::Aside);
        let waiting: Vec<OrderId> = aside.into_iter().filter(is_waiting).map(|held| held.submission.order).collect();
        for order in waiting {
            self.activate(order, out);
        }
    }

    /// A halt is over. Orders collected during it trade at one price.
    pub(super) fn go_on(&mut self, security: SecurityId, out: &mut Vec<Output>) {
        if self.phase == MarketPhase::Continuous {
            self.uncross(security, out);
        }
        self.after_trading(security, out);
        self.wake(security);
    }

    /// Schedules the participants of a security, unless they are scheduled or may not act.
    fn wake(&mut self, security: SecurityId) {
        let now = self.now;
        let Some(market) = self.markets.get_mut(&security) else {
            return;
        };
        let may_act = self.phase != MarketPhase::Closed && market.is_alive(now);
        if let Some(pause) = (may_act && market.next_act.is_none()).then(|| market.crowd.pause()).flatten() {
            let at = Timestamp(now.0.saturating_add(pause));
            market.next_act = Some(at);
            self.agenda.push(at, Task::Act(security));
        }
    }

    /// One action of a participant, up to the end of this step of time.
    pub(super) fn let_act(&mut self, security: SecurityId, horizon: Timestamp, out: &mut Vec<Output>) {
        let market = self.markets.get_mut(&security).expect("only listed securities have participants");
        market.next_act = None;
        if self.phase == MarketPhase::Closed || !market.is_alive(self.now) {
            return;
        }
        let earliest = horizon.plus_seconds(-CATCH_UP_SECONDS);
        if self.now < earliest {
            market.next_act = Some(earliest);
            self.agenda.push(earliest, Task::Act(security));
            return;
        }
        self.grant_wishes(security, out);
        self.wake(security);
    }

    fn grant_wishes(&mut self, security: SecurityId, out: &mut Vec<Output>) {
        let market = self.markets.get_mut(&security).expect("only listed securities have participants");
        let wishes = match self.phase {
            MarketPhase::Continuous => market.crowd.act(&market.book),
            _ => market.crowd.act_in_call(),
        };
        market.follow_fair(self.now);
        self.touched.insert(security);
        for wish in wishes {
            let market = self.markets.get_mut(&security).expect("just found");
            let (events, aggressor) = market.grant(wish);
            let mut met = Met::new(security, aggressor);
            met.events = events;
            self.settle(met, out);
        }
        self.after_trading(security, out);
    }
}
