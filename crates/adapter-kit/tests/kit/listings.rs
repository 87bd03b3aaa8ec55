//! Listings of a venue, while they change.

use adapter_kit::listings::{ListedOrder, Listing, ListingChange, ListingStatus, Listings};
use domain::Decimal;

fn listing(symbol: &str) -> Listing {
    Listing {
        symbol: symbol.to_owned(),
        status: ListingStatus::Trading,
        tick: Some(Decimal::new(1, 2)),
        lot: Some(Decimal::new(1, 3)),
        quantity_min: Some("0.01".parse().unwrap()),
        quantity_max: Some("1000".parse().unwrap()),
        notional_min: Some("5".parse().unwrap()),
        notional_max: Some("100000".parse().unwrap()),
    }
}

fn order(symbol: &str, quantity: &str, price: Option<&str>) -> ListedOrder {
    let price = price.map(|price| price.parse().unwrap());
    ListedOrder { symbol: symbol.to_owned(), quantity: quantity.parse().unwrap(), price }
}

fn listings(fresh: Vec<Listing>) -> Listings {
    let mut listings = Listings::default();
    listings.apply(fresh).unwrap();
    listings
}

/// Changes as text: the symbol with the status before and after.
fn told(changes: &[ListingChange]) -> Vec<String> {
    let text = |change: &ListingChange| match change {
        ListingChange::New(listing) => format!("new {} {}", listing.symbol, listing.status.name()),
        ListingChange::Changed { before, after } => {
            format!("{} {} > {}", after.symbol, before.status.name(), after.status.name())
        }
    };
    changes.iter().map(text).collect()
}

#[test]
fn a_list_gives_what_changed() {
    let mut listings = Listings::default();
    let first = vec![listing("AB"), listing("币安人生USDT"), listing("EF")];
    assert_eq!(
        told(&listings.apply(first.clone()).unwrap()),
        ["new AB trading", "new EF trading", "new 币安人生USDT trading"]
    );
    assert_eq!(told(&listings.apply(first).unwrap()), [""; 0]);

    let halted = Listing { status: ListingStatus::Halted, ..listing("AB") };
    let finer = Listing { tick: Some(Decimal::new(1, 3)), ..listing("EF") };
    let changes = listings.apply(vec![halted, finer.clone(), listing("GH")]).unwrap();
    assert_eq!(
        told(&changes),
        ["AB trading > halted", "EF trading > trading", "new GH trading", "币安人生USDT trading > delisted"]
    );
    assert_eq!(listings.get("EF"), Some(&finer));

    let back = vec![listing("AB"), finer, listing("GH"), listing("币安人生USDT")];
    assert_eq!(told(&listings.apply(back).unwrap()), ["AB halted > trading", "币安人生USDT delisted > trading"]);
}

#[test]
fn a_list_that_cannot_be_whole_changes_nothing() {
    let mut known = listings(vec![listing("AB")]);
    let before = known.clone();
    let no_step = Listing { lot: Some(Decimal::ZERO), ..listing("CD") };
    let many = (0..100_001).map(|number| listing(&number.to_string())).collect();
    let refused: Vec<_> = [vec![], vec![listing("CD"), listing("CD")], vec![no_step], many]
        .map(|fresh| known.apply(fresh).unwrap_err().to_string())
        .to_vec();
    assert_eq!(
        refused,
        [
            "the venue's list of symbols is empty; the list before it stays",
            "the venue's list has CD twice; the list before it stays",
            "the venue's list has a step of zero or less for CD; the list before it stays",
            "the venue's list has more than 100000 symbols; the list before it stays",
        ]
    );
    assert_eq!(known, before);
}

#[test]
fn an_order_that_does_not_fit_is_refused_with_a_stable_code() {
    let halted = Listing { status: ListingStatus::Halted, ..listing("HALTED") };
    let cancel_only = Listing { status: ListingStatus::CancelOnly, ..listing("OLD") };
    let listings = listings(vec![listing("AB"), halted, cancel_only]);
    let check = |symbol, quantity, price| {
        listings.check(&order(symbol, quantity, price)).map_err(|refusal| refusal.to_string())
    };
    let refused = |symbol, quantity, price| check(symbol, quantity, price).unwrap_err();
    assert_eq!(check("AB", "1.000", Some("10.50")), Ok(()));
    assert_eq!(check("AB", "1000", Some("100")), Ok(()));
    assert_eq!(check("AB", "0.01", None), Ok(()), "a market order has no price to check");
    assert_eq!(refused("AB", "1", Some("10.505")), "venue-tick: the price 10.505 is no multiple of 0.01");
    assert_eq!(refused("AB", "1.0005", Some("10")), "venue-lot: the quantity 1.0005 is no multiple of 0.001");
    assert_eq!(refused("AB", "0.009", Some("1000")), "venue-quantity: the quantity 0.009 is not from 0.01 to 1000");
    assert_eq!(refused("AB", "1001", None), "venue-quantity: the quantity 1001 is not from 0.01 to 1000");
    assert_eq!(refused("AB", "0.01", Some("499.99")), "venue-notional: price times quantity is not from 5 to 100000");
    assert_eq!(refused("AB", "1000", Some("100.01")), "venue-notional: price times quantity is not from 5 to 100000");
    assert_eq!(refused("HALTED", "1", Some("10")), "venue-halted: the symbol is halted");
    assert_eq!(refused("OLD", "1", Some("10")), "venue-cancel-only: the symbol is cancel-only");
    assert_eq!(refused("XY", "1", Some("10")), "venue-unlisted: the venue does not list the symbol");
}

#[test]
fn open_orders_are_checked_again_after_a_change() {
    let mut listings = listings(vec![listing("AB"), listing("CD")]);
    let open = [order("AB", "1", Some("10.55")), order("CD", "1", Some("10.5")), order("AB", "1", Some("10.5"))];
    let recheck = |listings: &Listings| -> Vec<_> {
        let refused = listings.recheck((1..).zip(&open));
        refused.into_iter().map(|(number, refusal)| (number, refusal.code())).collect()
    };
    assert_eq!(recheck(&listings), []);
    listings.apply(vec![Listing { tick: Some(Decimal::new(1, 1)), ..listing("AB") }]).unwrap();
    assert_eq!(recheck(&listings), [(1, "venue-tick"), (2, "venue-delisted")]);
}
