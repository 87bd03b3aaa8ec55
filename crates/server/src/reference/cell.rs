//! Cell types of CSV files.

use std::str::FromStr;

use domain::characters::is_symbol;
use domain::time::TimeOfDay;
use domain::{Amount, Currency, Date, Decimal, Price, Quantity, Settlement, Text, Timestamp};

/// Ids are exact in every client: JSON numbers are whole up to here.
const ID_MAX: u64 = (1 << 53) - 1;
/// Characters of a text; a longer one is an error of the export.
const TEXT_MAX: usize = 250;
const MINUTES_OF_A_DAY: u16 = 1440;

pub(super) trait Cell: Sized {
    /// The expected form: `a date`.
    const SHAPE: &'static str;

    fn read(text: &str) -> Option<Self>;
}

/// The number by which other rows refer to this one.
pub(super) struct Id(pub u64);

impl Cell for Id {
    const SHAPE: &'static str = "a whole number from 1";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().filter(|id| (1..=ID_MAX).contains(id)).map(Self)
    }
}

impl Cell for Text {
    const SHAPE: &'static str = "a text of at most 250 characters without control characters";

    fn read(text: &str) -> Option<Self> {
        let good = text.chars().count() <= TEXT_MAX && !text.chars().any(char::is_control);
        good.then(|| Self::from(text))
    }
}

/// The symbol of a security.
pub(super) struct Symbol(pub Text);

impl Cell for Symbol {
    const SHAPE: &'static str = "a symbol of at most 64 visible characters";

    fn read(text: &str) -> Option<Self> {
        is_symbol(text).then(|| Self(text.into()))
    }
}

impl Cell for Decimal {
    const SHAPE: &'static str = "a decimal, such as 0.005";

    fn read(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let plain = digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.ends_with(|c: char| c.is_ascii_digit())
            && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if plain { Self::from_str_exact(text).ok() } else { None }
    }
}

/// A decimal above 0.
pub(super) struct Positive(pub Decimal);

impl Cell for Positive {
    const SHAPE: &'static str = "a decimal above 0";

    fn read(text: &str) -> Option<Self> {
        Decimal::read(text).filter(|decimal| *decimal > Decimal::ZERO).map(Self)
    }
}

/// A decimal from 0.
pub(super) struct NotNegative(pub Decimal);

impl Cell for NotNegative {
    const SHAPE: &'static str = "a decimal from 0";

    fn read(text: &str) -> Option<Self> {
        Decimal::read(text).filter(|decimal| *decimal >= Decimal::ZERO).map(Self)
    }
}

macro_rules! amounts {
    ($($kind:ident),+) => { $(
        impl Cell for $kind {
            const SHAPE: &'static str = Decimal::SHAPE;

            fn read(text: &str) -> Option<Self> {
                Decimal::read(text).map(Self)
            }
        }
    )+ };
}

amounts!(Price, Quantity, Amount);

macro_rules! parsed {
    ($($kind:ident: $shape:literal),+ $(,)?) => { $(
        impl Cell for $kind {
            const SHAPE: &'static str = $shape;

            fn read(text: &str) -> Option<Self> {
                Self::from_str(text).ok()
            }
        }
    )+ };
}

parsed!(
    bool: "true or false",
    u8: "a whole number from 0 to 255",
    u32: "a whole number",
    Currency: "a currency code, such as USD",
    Date: "a date, such as 2027-03-19",
    TimeOfDay: "a time from 00:00 to 24:00",
);

impl Cell for Settlement {
    const SHAPE: &'static str = "CASH or PHYSICAL";

    fn read(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|settlement| settlement.name() == text)
    }
}

/// The length of an auction.
pub(super) struct Minutes(pub u16);

impl Cell for Minutes {
    const SHAPE: &'static str = "minutes from 0 to 1440";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().filter(|minutes| *minutes <= MINUTES_OF_A_DAY).map(Self)
    }
}

/// Days of the week, Monday = 1, ascending.
pub(super) struct Days(pub Vec<u8>);

impl Cell for Days {
    const SHAPE: &'static str = "days from MON to SUN with blanks between";

    fn read(text: &str) -> Option<Self> {
        let number = |day: &str| (1..).zip(WEEK).find(|(_, name)| *name == day).map(|(number, _)| number);
        let mut days = text.split_whitespace().map(number).collect::<Option<Vec<u8>>>()?;
        days.sort_unstable();
        days.dedup();
        Some(Self(days))
    }
}

const WEEK: [&str; 7] = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];

/// A time zone that exists.
pub(super) struct ZoneName(pub Text);

impl Cell for ZoneName {
    const SHAPE: &'static str = "the name of a time zone, such as Europe/Zurich";

    fn read(text: &str) -> Option<Self> {
        domain::calendar::date_in(text, Timestamp(0)).ok().map(|_| Self(text.into()))
    }
}

/// A market identifier code.
pub(super) struct Mic(pub Text);

impl Cell for Mic {
    const SHAPE: &'static str = "four upper-case letters or digits";

    fn read(text: &str) -> Option<Self> {
        let good = text.len() == 4 && text.bytes().all(is_code_letter);
        good.then(|| Self(text.into()))
    }
}

/// An international securities identification number.
pub(super) struct Isin(pub Text);

impl Cell for Isin {
    const SHAPE: &'static str = "an ISIN with a correct check digit";

    fn read(text: &str) -> Option<Self> {
        let good = text.len() == 12 && text.bytes().all(is_code_letter) && luhn(text);
        good.then(|| Self(text.into()))
    }
}

/// `YYYYMM`.
pub(super) struct MonthYear(pub Text);

impl Cell for MonthYear {
    const SHAPE: &'static str = "a year and a month, such as 202703";

    fn read(text: &str) -> Option<Self> {
        let month = text.get(4..).filter(|month| text.len() == 6 && text.is_ascii() && ("01"..="12").contains(month));
        month.filter(|_| text.bytes().all(|byte| byte.is_ascii_digit())).map(|_| Self(text.into()))
    }
}

fn is_code_letter(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

/// Letters count as two digits (A = 10), every second digit from the right is doubled, the sum must end in 0.
fn luhn(code: &str) -> bool {
    let digits: Option<Vec<u32>> = code
        .chars()
        .map(|request| request.to_digit(36))
        .flat_map(|value| match value {
            Some(value @ 10..) => vec![Some(value / 10), Some(value % 10)],
            single => vec![single],
        })
        .collect();
    let weighed = |(place, digit): (usize, &u32)| if place % 2 == 1 { digit * 2 / 10 + digit * 2 % 10 } else { *digit };
    digits.is_some_and(|digits| digits.iter().rev().enumerate().map(weighed).sum::<u32>() % 10 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_written_plainly() {
        for good in ["0", "-1.5", "0.005", "1000000"] {
            assert_eq!(Decimal::read(good).map(|decimal| decimal.to_string()), Some(good.to_owned()));
        }
        for bad in ["", ".5", "5.", "5e-3", "1,000", "1_000", "+1", "--1", "1.2.3", "NaN"] {
            assert_eq!(Decimal::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_isin_has_a_check_digit() {
        for good in ["US0378331005", "DE0007164600", "GB00BP6MXD84"] {
            assert!(Isin::read(good).is_some(), "{good}");
        }
        for bad in ["US0378331006", "US037833100", "us0378331005", "US03783310é"] {
            assert!(Isin::read(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn days_are_sorted_and_known() {
        assert_eq!(Days::read("SUN MON MON").map(|days| days.0), Some(vec![1, 7]));
        assert_eq!(Days::read("MON,TUE").map(|days| days.0), None);
    }

    #[test]
    fn a_contract_month_exists() {
        for (text, good) in [("202703", true), ("202713", false), ("202700", false), ("27-03", false), ("2027é", false)]
        {
            assert_eq!(MonthYear::read(text).is_some(), good, "{text}");
        }
    }
}
