//! Simulation setup and its errors.

use std::collections::BTreeSet;

use domain::report::{AdapterCapabilities, RefusesRepeatedIds, Report, ReportKind, SessionState, VenueSnapshot};
use domain::risk::EngineSettings;
use domain::{Command, OrderProperty, SecurityId, Timestamp};
use storage::price_files::PriceSource;
use venue_sim::replay::FillRule;

use super::Simulation;
use super::bar_aggregator::BarAggregator;
use super::engine_driver::EngineDriver;
use super::last_prices::LastPrices;
use super::observer::Observer;
use super::pending_inputs::PendingInputs;
use super::run_input::{NEVER, SimulationError, SimulationSetup, VenueSetup};
use super::strategy_set::StrategySet;
use super::venues::ReplayVenues;

/// Reads the first row, for the start time, and applies the setup commands.
fn build<'a>(
    setup: SimulationSetup,
    mut source: Box<dyn PriceSource + 'a>,
    observer: &'a mut dyn Observer,
) -> Result<Simulation<'a>, SimulationError> {
    let Some(first) = source.next()? else { return Err(SimulationError::NoData) };
    let now = first.at();
    let floor = build_venues(&setup);
    let securities: BTreeSet<SecurityId> = setup.venues.iter().flat_map(|venue| venue.securities.clone()).collect();
    let mut simulation = Simulation {
        driver: EngineDriver::new(observer),
        last_prices: LastPrices::new(securities.into_iter(), setup.recorded_bars),
        venues: floor,
        strategies: StrategySet::default(),
        pending: PendingInputs::default(),
        aggregator: BarAggregator::default(),
        source,
        lookahead_row: Some(first),
        from: setup.from,
        until: setup.until,
        feed_latency_nanos: setup.feed_latency_nanos,
        valuation_nanos: setup.valuation_nanos,
        on_failure: setup.on_failure,
        opening_cash: setup.opening_cash,
        next_valuation: now,
        day_ends: NEVER,
        has_closed: false,
        closed_at: Timestamp(i64::MIN),
        now,
        progress: setup.progress.clone(),
        next_due: NEVER,
        events: 0,
    };
    simulation.configure_engine(setup.settings, setup.commands)?;
    simulation.open_venues(setup.venues)?;
    simulation.strategies = StrategySet::new(setup.runners, setup.progress);
    Ok(simulation)
}

/// A venue gets the finest recorded prices. The range of a longer bar is known only at its close and would fill orders
/// at prices that were over when they came. Orders for the next bar wait for the shortest one.
fn build_venues(setup: &SimulationSetup) -> ReplayVenues {
    let mut floor = ReplayVenues::default();
    for venue in &setup.venues {
        let waits_for_bars = venue.venue.rule() == FillRule::NextBarOpen;
        for security in &venue.securities {
            let sizes = setup.recorded_bars.iter().filter(|(of, _)| of == security).map(|(_, size)| *size);
            if let Some(shortest) = sizes.min().filter(|_| waits_for_bars || !setup.priced.contains(security)) {
                floor.set_bar_size(*security, shortest);
            }
        }
    }
    floor
}

impl<'a> Simulation<'a> {
    pub fn new(
        setup: SimulationSetup,
        source: Box<dyn PriceSource + 'a>,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, SimulationError> {
        build(setup, source, observer)
    }

    fn configure_engine(&mut self, settings: EngineSettings, commands: Vec<Command>) -> Result<(), SimulationError> {
        for command in std::iter::once(Command::Configure(settings)).chain(commands) {
            self.driver.command(self.now, command, &mut self.strategies, &mut self.venues)?;
        }
        Ok(())
    }

    /// Each venue starts like a live one: attached, reconciled, logged on.
    fn open_venues(&mut self, venues: Vec<VenueSetup>) -> Result<(), SimulationError> {
        for VenueSetup { adapter, exchanges, securities, venue } in venues {
            self.venues.add(adapter.clone(), venue, &securities);
            let profile = AdapterCapabilities {
                exchanges,
                expires_orders: true,
                refuses_repeated_ids: RefusesRepeatedIds::Forever,
                simulated: true,
                order_properties: OrderProperty::ALL.to_vec(),
                ..AdapterCapabilities::default()
            };
            let words = [
                ReportKind::Attached(profile),
                ReportKind::Session(SessionState::Connected),
                ReportKind::Snapshot(VenueSnapshot { complete: true, ..VenueSnapshot::default() }),
                ReportKind::Session(SessionState::LoggedOn),
                ReportKind::Session(SessionState::Subscribed),
            ];
            for said in words {
                let report = Report { adapter: adapter.clone(), ext_at: Some(self.now), kind: said };
                self.driver.on_report(self.now, report, &mut self.strategies, &mut self.venues)?;
            }
        }
        Ok(())
    }
}
