//! Rules before real money: which keys are refused, when `allowLive` is needed, and the size of orders on the first day.

use std::fmt;
use std::io;
use std::net::IpAddr;

use domain::{Amount, Timestamp};

use crate::kept_text::KeptText;

/// What the venue says that a key may do; `None` where the venue does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyPermissions {
    pub may_trade: Option<bool>,
    pub may_withdraw: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyRefusal {
    MayWithdraw {
        venue: String,
    },
    MayNotTrade {
        venue: String,
    },
    /// With real money, what is not known is not allowed.
    RightsUnknown {
        venue: String,
    },
}

/// A key that may withdraw is refused unless the setting `allowWithdraw` names this venue: a setting that was copied from
/// another venue allows nothing. A venue that is only looked at (paper mode) needs no right to trade.
pub fn check_permissions(
    venue: &str,
    permissions: KeyPermissions,
    allow_withdraw: Option<&str>,
    trades: bool,
) -> Result<(), KeyRefusal> {
    if permissions.may_withdraw == Some(true) && allow_withdraw != Some(venue) {
        return Err(KeyRefusal::MayWithdraw { venue: venue.to_owned() });
    }
    if permissions.may_trade == Some(false) && trades {
        return Err(KeyRefusal::MayNotTrade { venue: venue.to_owned() });
    }
    Ok(())
}

/// Where real money is at stake, a key of which nobody knows whether it may withdraw needs the same leave.
pub fn check_known_rights(
    venue: &str,
    permissions: KeyPermissions,
    allow_withdraw: Option<&str>,
    is_real_money: bool,
) -> Result<(), KeyRefusal> {
    if is_real_money && permissions.may_withdraw.is_none() && allow_withdraw != Some(venue) {
        return Err(KeyRefusal::RightsUnknown { venue: venue.to_owned() });
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VenueEnvironment {
    Live,
    Testnet,
    Demo,
}

/// What decides whether orders could cost real money.
#[derive(Debug, Clone, Copy)]
pub struct LiveTarget<'a> {
    pub venue: &'a str,
    pub environment: VenueEnvironment,
    pub paper: bool,
    /// Hosts of all addresses in use, without ports.
    pub hosts: &'a [&'a str],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveRefusal {
    pub venue: String,
}

/// `allowLive = true` is needed unless the venue is a testnet, a demo, paper, or on loopback addresses alone.
pub fn check_live(target: &LiveTarget<'_>, allow_live: bool) -> Result<(), LiveRefusal> {
    let is_loopback = !target.hosts.is_empty() && target.hosts.iter().all(|host| is_loopback(host));
    let is_harmless = target.environment != VenueEnvironment::Live || target.paper || is_loopback;
    if is_harmless || allow_live { Ok(()) } else { Err(LiveRefusal { venue: target.venue.to_owned() }) }
}

/// A name is not resolved: it may mean something else tomorrow.
fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The first day has so many seconds from the first live log-on.
pub const FIRST_DAY_SECONDS: i64 = 24 * 3_600;

/// Limit of the size of an order on the first day at a live venue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstDayLimit {
    first_live_at: Timestamp,
    /// In the currency of the security's price.
    notional_max: Amount,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstDayRefusal {
    TooLarge {
        notional: Amount,
        notional_max: Amount,
        until: Timestamp,
    },
    /// Without a price the size is not known.
    Unpriced {
        until: Timestamp,
    },
}

impl FirstDayLimit {
    pub fn new(first_live_at: Timestamp, notional_max: Amount) -> Self {
        Self { first_live_at, notional_max }
    }

    /// Whether an order of this size may leave. Orders that only reduce a position are not asked about.
    pub fn check(&self, now: Timestamp, notional: Option<Amount>) -> Result<(), FirstDayRefusal> {
        let until = self.first_live_at.plus_seconds(FIRST_DAY_SECONDS);
        match notional {
            _ if now >= until => Ok(()),
            None => Err(FirstDayRefusal::Unpriced { until }),
            Some(notional) if notional.abs() > self.notional_max => {
                Err(FirstDayRefusal::TooLarge { notional, notional_max: self.notional_max, until })
            }
            Some(_) => Ok(()),
        }
    }
}

/// Remembers when a venue was live for the first time.
pub struct FirstDayFile(KeptText);

impl FirstDayFile {
    pub fn new(text: KeptText) -> Self {
        Self(text)
    }

    /// The first live log-on; this one where there was none. A text that says no instant begins a new first day, because
    /// that is the careful way.
    pub fn first_live_at(&self, now: Timestamp) -> io::Result<Timestamp> {
        let known = self.0.read()?.and_then(|text| text.trim().parse().ok());
        // A first day in the future would never end.
        if let Some(known) = known.filter(|known| *known <= now) {
            return Ok(known);
        }
        self.0.write(&now.to_string())?;
        Ok(now)
    }
}

impl KeyRefusal {
    pub fn code(&self) -> &'static str {
        match self {
            Self::MayWithdraw { .. } => "venue-key-may-withdraw",
            Self::MayNotTrade { .. } => "venue-key-may-not-trade",
            Self::RightsUnknown { .. } => "venue-key-rights-unknown",
        }
    }
}

impl fmt::Display for KeyRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code())?;
        match self {
            Self::MayWithdraw { venue } => write!(
                f,
                "the key of {venue} may withdraw; make one without that right, or set allowWithdraw = \"{venue}\""
            ),
            Self::MayNotTrade { venue } => {
                write!(f, "the key of {venue} may not trade; give it the right, or use paper mode")
            }
            Self::RightsUnknown { venue } => write!(
                f,
                "the venue does not tell whether the key of {venue} may withdraw; set allowWithdraw = \"{venue}\" to use it \
                 all the same"
            ),
        }
    }
}

impl fmt::Display for LiveRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "venue-not-allowed-live: {0} trades with real money; set venues.{0}.allowLive = true to allow it",
            self.venue
        )
    }
}

impl fmt::Display for FirstDayRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { notional, notional_max, until } => {
                write!(
                    f,
                    "venue-first-day: {notional} is above the first day's limit of {notional_max}; it ends at {until}"
                )
            }
            Self::Unpriced { until } => {
                write!(
                    f,
                    "venue-first-day: the order has no price to compare with the first day's limit; it ends at {until}"
                )
            }
        }
    }
}

impl std::error::Error for KeyRefusal {}
impl std::error::Error for LiveRefusal {}
impl std::error::Error for FirstDayRefusal {}
