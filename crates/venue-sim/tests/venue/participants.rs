use domain::Timestamp;
use domain::command::MarketData;
use venue_sim::{ParticipantActivity, VenueConfig, VenueOutput, VenueSimulator};

use crate::venue_client::{INDEX, SECOND, STOCK, VenueClient, at, quiet, round_the_clock};

fn lively(activity: ParticipantActivity, seed: u64) -> VenueConfig {
    VenueConfig { activity, seed, ..round_the_clock() }
}

/// All market data of some minutes, a step a second.
fn watch(config: VenueConfig, minutes: i64) -> Vec<MarketData> {
    let mut venue = VenueSimulator::new(config, at("10:00")).unwrap();
    let mut out = Vec::new();
    venue.subscribe(STOCK, &mut out);
    venue.subscribe(INDEX, &mut out);
    for second in 0..minutes * 60 {
        venue.advance(Timestamp(at("10:00").0 + second * SECOND), &mut out);
    }
    out.into_iter()
        .filter_map(|output| if let VenueOutput::Market(data) = output { Some(data) } else { None })
        .collect()
}

fn trades(data: &[MarketData]) -> usize {
    data.iter().filter(|data| matches!(data, MarketData::Trade(_))).count()
}

#[test]
fn off_means_that_no_participant_acts() {
    let mut venue = VenueSimulator::new(quiet(), at("10:00")).unwrap();
    let mut out = Vec::new();
    venue.subscribe(STOCK, &mut out);
    let at_first = out.len();
    venue.advance(at("16:00"), &mut out);
    assert_eq!(out.len(), at_first);
    assert_eq!(venue.next_due(), Some(at("16:55")));
}

#[test]
fn a_calm_market_trades_now_and_then_and_a_busy_one_all_the_time() {
    let (calm, busy) =
        (watch(lively(ParticipantActivity::Calm, 1), 10), watch(lively(ParticipantActivity::Busy, 1), 10));
    assert!((100..600).contains(&trades(&calm)), "{} trades in ten calm minutes", trades(&calm));
    assert!((2_500..6_500).contains(&trades(&busy)), "{} trades in ten busy minutes", trades(&busy));
}

#[test]
fn quotes_stand_on_ten_levels_and_never_cross_and_prices_move() {
    let data = watch(lively(ParticipantActivity::Busy, 7), 10);
    let mut mids = Vec::new();
    for book in data.iter().filter_map(|data| if let MarketData::Book(book) = data { Some(book) } else { None }) {
        let (Some(bid), Some(ask)) = (book.bids.first(), book.asks.first()) else {
            assert_eq!(book.security, INDEX, "a book with an empty side: {book:?}");
            continue;
        };
        assert!(bid.price < ask.price, "{book:?}");
        assert!(book.bids.is_sorted_by(|better, worse| better.price > worse.price), "{book:?}");
        assert!(book.bids.len() >= 7 && book.asks.len() >= 7, "{book:?}");
        mids.push(bid.price);
    }
    mids.dedup();
    assert!(mids.len() > 50, "the best bid had {} prices in ten minutes", mids.len());
}

#[test]
fn an_index_moves_without_a_market() {
    let data = watch(lively(ParticipantActivity::Calm, 1), 10);
    let mut lasts: Vec<_> = data
        .iter()
        .filter_map(|data| match data {
            MarketData::Tick(tick) if tick.security == INDEX => tick.last,
            _ => None,
        })
        .collect();
    lasts.dedup();
    assert!(lasts.len() > 100, "the index had {} prices in ten minutes", lasts.len());
}

#[test]
fn the_same_seed_gives_the_same_market_and_another_seed_another() {
    let market = |seed| watch(lively(ParticipantActivity::Calm, seed), 5);
    assert_eq!(market(1), market(1));
    assert_ne!(market(1), market(2));
}

#[test]
fn the_steps_in_which_time_comes_in_change_nothing_but_the_conflation() {
    let after = |steps: i64| {
        let mut venue = VenueSimulator::new(lively(ParticipantActivity::Busy, 3), at("10:00")).unwrap();
        let mut out = Vec::new();
        for step in 1..=steps {
            venue.advance(Timestamp(at("10:00").0 + 60 * SECOND * step / steps), &mut out);
        }
        venue.subscribe(STOCK, &mut out);
        out
    };
    assert_eq!(after(1), after(777));
}

#[test]
fn a_clients_order_rests_among_them_and_is_traded_in_the_end() {
    let mut desk = VenueClient::new(lively(ParticipantActivity::Busy, 5), at("10:00"));
    desk.run("10:00 submit 1 buy 1000 STOCK limit 10 GTC");
    let mut out = Vec::new();
    desk.venue.advance(at("10:59"), &mut out);
    let told = desk.report_lines(out);
    assert!(told.iter().all(|line| line.starts_with("filled 1 ")), "{told:?}");
    let bought: domain::Decimal = desk.venue.snapshot().fills.iter().map(|fill| fill.quantity.0).sum();
    assert_eq!(bought, 1_000.into());
}

#[test]
fn participants_bring_orders_to_the_auctions_and_sleep_at_night() {
    let config = VenueConfig { activity: ParticipantActivity::Calm, ..quiet() };
    let mut venue = VenueSimulator::new(config, at("08:00")).unwrap();
    let mut out = Vec::new();
    venue.subscribe(STOCK, &mut out);
    venue.advance(at("08:49"), &mut out);
    out.clear();
    // In small steps, because after a gap participants act for its last minute only.
    for second in 0..=(11 * 60) {
        venue.advance(Timestamp(at("08:49").0 + second * SECOND), &mut out);
    }
    let auction: Vec<_> = out
        .iter()
        .filter_map(|output| match output {
            VenueOutput::Market(MarketData::Trade(trade)) if trade.at == at("09:00") => Some(trade.price),
            _ => None,
        })
        .collect();
    assert!(auction.len() > 5, "{} trades at the open", auction.len());
    assert!(auction.windows(2).all(|pair| pair[0] == pair[1]), "{auction:?}");
}

#[test]
fn after_a_gap_they_act_for_its_last_minute_only() {
    let mut venue = VenueSimulator::new(lively(ParticipantActivity::Busy, 5), at("10:00")).unwrap();
    let mut out = Vec::new();
    venue.subscribe(STOCK, &mut out);
    venue.advance(Timestamp(at("10:00").0 + 3_600 * SECOND), &mut out);
    let earliest = out.iter().filter_map(|output| match output {
        VenueOutput::Market(MarketData::Trade(trade)) => Some(trade.at),
        _ => None,
    });
    assert!(earliest.min().unwrap() >= at("10:59"));
}
