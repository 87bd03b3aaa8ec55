//! Types of configuration values. The type of a key defines how its text is parsed, printed and described.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use domain::risk::{BurstLimit, SelfTradePrevention};
use domain::{Amount, Currency, Decimal, Quantity, SecurityId, Text, Timestamp};
use storage::journal::SyncMode;

/// The form of a value in a TOML file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Literal {
    /// A number or a switch, without quotes.
    Bare,
    Quoted,
    List,
}

pub trait Setting: Sized {
    const LITERAL: Literal;
    /// A secret is printed as `***`.
    const SECRET: bool = false;

    /// The expected form: `a whole number`.
    fn shape() -> String;

    fn parse(text: &str) -> Result<Self, String>;

    /// The value as it would be written.
    fn show(&self) -> String;
}

/// The default reason of a rejected value.
fn mismatch<T: Setting>(text: &str) -> String {
    format!("'{text}' is not {}", T::shape())
}

/// Types that are parsed and printed by their own texts.
macro_rules! plain {
    ($($kind:ty: $shape:literal),+ $(,)?) => { $(
        impl Setting for $kind {
            const LITERAL: Literal = Literal::Bare;

            fn shape() -> String {
                $shape.to_owned()
            }

            fn parse(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_| mismatch::<Self>(text))
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )+ };
}

plain!(
    u16: "a whole number from 0 to 65535",
    u32: "a whole number",
    u64: "a whole number",
    bool: "true or false",
);

/// A whole number between two limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whole<const MIN: i64, const MAX: i64>(pub i64);

impl<const MIN: i64, const MAX: i64> Setting for Whole<MIN, MAX> {
    const LITERAL: Literal = Literal::Bare;

    fn shape() -> String {
        format!("a whole number from {MIN} to {MAX}")
    }

    fn parse(text: &str) -> Result<Self, String> {
        let number = text.parse().ok().filter(|number| (MIN..=MAX).contains(number));
        number.map(Self).ok_or_else(|| mismatch::<Self>(text))
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

impl<const MIN: i64, const MAX: i64> Whole<MIN, MAX> {
    /// As a number of items in memory.
    pub fn size(self) -> usize {
        usize::try_from(self.0).unwrap_or_default()
    }
}

/// The id of a security.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecurityNumber(pub SecurityId);

impl Setting for SecurityNumber {
    const LITERAL: Literal = Literal::Bare;

    fn shape() -> String {
        "the id of a security".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let id = text.parse().ok().filter(|id| *id > 0);
        id.map(|id| Self(SecurityId(id))).ok_or_else(|| mismatch::<Self>(text))
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// A decimal between two whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction<const MIN: i64, const MAX: i64>(pub Decimal);

impl<const MIN: i64, const MAX: i64> Setting for Fraction<MIN, MAX> {
    const LITERAL: Literal = Literal::Bare;

    fn shape() -> String {
        format!("a decimal from {MIN} to {MAX}")
    }

    fn parse(text: &str) -> Result<Self, String> {
        let number = Decimal::from_str_exact(text).ok();
        let within = number.filter(|number| (Decimal::from(MIN)..=Decimal::from(MAX)).contains(number));
        within.map(Self).ok_or_else(|| mismatch::<Self>(text))
    }

    fn show(&self) -> String {
        self.0.normalize().to_string()
    }
}

macro_rules! positive {
    ($($kind:ident),+) => { $(
        impl Setting for $kind {
            const LITERAL: Literal = Literal::Bare;

            fn shape() -> String {
                "a decimal above 0".to_owned()
            }

            fn parse(text: &str) -> Result<Self, String> {
                let number = text.parse::<Self>().ok().filter(|number| number.is_positive());
                number.ok_or_else(|| mismatch::<Self>(text))
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )+ };
}

positive!(Quantity, Amount);

/// An enumeration of names.
macro_rules! choice {
    ($kind:ty { $($value:path = $name:literal),+ $(,)? }) => {
        impl Setting for $kind {
            const LITERAL: Literal = Literal::Quoted;

            fn shape() -> String {
                format!("one of {}", [$($name),+].join(", "))
            }

            fn parse(text: &str) -> Result<Self, String> {
                match text {
                    $($name => Ok($value),)+
                    _ => Err(mismatch::<Self>(text)),
                }
            }

            fn show(&self) -> String {
                match *self {
                    $($value => $name.to_owned(),)+
                }
            }
        }
    };
}

/// Which ticks are journalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalTicks {
    None,
    All,
}
choice!(JournalTicks { JournalTicks::None = "none", JournalTicks::All = "all" });

/// Activity of the participants of a simulated market.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarketActivity {
    /// Only the opening quotes, no activity afterwards.
    Off,
    Calm,
    Busy,
}
choice!(MarketActivity { MarketActivity::Off = "off", MarketActivity::Calm = "calm", MarketActivity::Busy = "busy" });

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Human,
    Json,
}
choice!(LogFormat { LogFormat::Human = "human", LogFormat::Json = "json" });

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}
choice!(LogLevel {
    LogLevel::Error = "error",
    LogLevel::Warn = "warn",
    LogLevel::Info = "info",
    LogLevel::Debug = "debug",
    LogLevel::Trace = "trace",
});

/// Role of a caller on this machine without credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnonymousRole {
    /// Callers without credentials are rejected.
    Nobody,
    Viewer,
    Trader,
    Admin,
}
choice!(AnonymousRole {
    AnonymousRole::Nobody = "nobody",
    AnonymousRole::Viewer = "viewer",
    AnonymousRole::Trader = "trader",
    AnonymousRole::Admin = "admin",
});

choice!(SelfTradePrevention {
    SelfTradePrevention::RejectNewest = "refuse-newest",
    SelfTradePrevention::CancelResting = "cancel-resting",
    SelfTradePrevention::CancelBoth = "cancel-both",
    SelfTradePrevention::Allow = "allow",
});

impl Setting for BurstLimit {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "a count in a time, such as '3 in 1000ms'".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let parts = text.strip_suffix("ms").and_then(|text| text.split_once(" in "));
        let numbers = parts.and_then(|(count, millis)| Some((count.parse().ok()?, millis.parse().ok()?)));
        match numbers {
            Some((count @ 1.., millis @ 1..)) => Ok(Self { count, millis }),
            _ => Err(mismatch::<Self>(text)),
        }
    }

    fn show(&self) -> String {
        format!("{} in {}ms", self.count, self.millis)
    }
}

impl Setting for SyncMode {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "one of always, interval:<ms>, os".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| mismatch::<Self>(text))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting for Currency {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "a currency code, such as USD".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| mismatch::<Self>(text))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// The name of a time zone that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeZoneName(pub Text);

impl Setting for TimeZoneName {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "a time zone, such as UTC or Europe/Zurich".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let known = domain::calendar::date_in(text, Timestamp(0)).is_ok();
        known.then(|| Self(text.into())).ok_or_else(|| mismatch::<Self>(text))
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

impl Setting for PathBuf {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "a folder".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err(mismatch::<Self>(text)) } else { Ok(Self::from(text)) }
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

/// The source of reference data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReferencePath {
    /// The built-in demo reference data.
    Demo,
    Folder(PathBuf),
}

impl Setting for ReferencePath {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "a folder, or 'demo' for the desk that is built in".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "demo" => Ok(Self::Demo),
            _ => PathBuf::parse(text).map(Self::Folder),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Demo => "demo".to_owned(),
            Self::Folder(path) => path.show(),
        }
    }
}

/// An address of this machine. Whether other machines may reach it is decided at the start, when users are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenAddress(pub IpAddr);

impl Setting for ListenAddress {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "an IP address, such as 127.0.0.1, ::1 or 0.0.0.0".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text == "localhost" {
            return Ok(Self(Ipv4Addr::LOCALHOST.into()));
        }
        text.parse().map(Self).map_err(|_| mismatch::<Self>(text))
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// A value that may be left blank.
impl<T: Setting> Setting for Option<T> {
    const LITERAL: Literal = T::LITERAL;
    const SECRET: bool = T::SECRET;

    fn shape() -> String {
        format!("{}, or blank for none", T::shape())
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Ok(None) } else { T::parse(text).map(Some) }
    }

    fn show(&self) -> String {
        self.as_ref().map(T::show).unwrap_or_default()
    }
}

pub use adapters::venue_type::BETWEEN_ITEMS;

impl<T: Setting> Setting for Vec<T> {
    const LITERAL: Literal = Literal::List;

    fn shape() -> String {
        format!("a list, each {}", T::shape())
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.split(BETWEEN_ITEMS).map(str::trim).filter(|item| !item.is_empty()).map(T::parse).collect()
    }

    fn show(&self) -> String {
        self.iter().map(T::show).collect::<Vec<_>>().join(",")
    }
}
