//! Trading rights of a user or a token: which accounts and securities it may trade, and through which interfaces.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use minicbor::{Decode, Encode};

use crate::ids::{AccountId, SecurityId};
use crate::order::Source;

/// An absent list allows everything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct TradingRights {
    /// The accounts that may be traded; an empty list allows none.
    #[n(0)]
    pub accounts: Option<BTreeSet<AccountId>>,
    /// The securities that may be traded; an empty list allows none.
    #[n(1)]
    pub securities: Option<BTreeSet<SecurityId>>,
    /// The interfaces that orders may come through; an empty list allows none.
    #[n(2)]
    pub interfaces: Option<BTreeSet<TradingInterface>>,
}

/// An interface that orders come through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum TradingInterface {
    /// The trading screen is a client of it.
    #[n(0)]
    Rest,
    /// FIX sessions.
    #[n(1)]
    Fix,
    /// Strategies in their own processes.
    #[n(2)]
    Stomp,
}

impl TradingInterface {
    /// All interfaces, in the order of the enum.
    pub const ALL: [Self; 3] = [Self::Rest, Self::Fix, Self::Stomp];

    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rest => "REST",
            Self::Fix => "FIX",
            Self::Stomp => "STOMP",
        }
    }

    /// The platform itself uses none.
    pub fn from_source(source: &Source) -> Option<Self> {
        match source {
            Source::Rest | Source::Ui => Some(Self::Rest),
            Source::Fix(_) => Some(Self::Fix),
            Source::Strategy => Some(Self::Stomp),
            Source::Platform | Source::External => None,
        }
    }
}

impl TradingRights {
    /// Whether orders for the account are permitted.
    pub fn allows_account(&self, account: AccountId) -> bool {
        self.accounts.as_ref().is_none_or(|accounts| accounts.contains(&account))
    }

    /// Whether orders in the security are permitted.
    pub fn allows_security(&self, security: SecurityId) -> bool {
        self.securities.as_ref().is_none_or(|securities| securities.contains(&security))
    }

    /// Whether orders over the interface are permitted.
    pub fn allows_interface(&self, interface: TradingInterface) -> bool {
        self.interfaces.as_ref().is_none_or(|interfaces| interfaces.contains(&interface))
    }

    /// Whether there is nothing that they do not allow.
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }
}

const ACCOUNTS: &str = "accounts";
const SECURITIES: &str = "securities";
const INTERFACES: &str = "interfaces";

/// `accounts 1,2; interfaces REST`; `everything` where nothing is limited. An empty list allows nothing: `accounts none`.
impl fmt::Display for TradingRights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let accounts = self.accounts.as_ref().map(|ids| part(ACCOUNTS, ids.iter().map(ToString::to_string)));
        let securities = self.securities.as_ref().map(|ids| part(SECURITIES, ids.iter().map(ToString::to_string)));
        let names = |set: &BTreeSet<TradingInterface>| part(INTERFACES, set.iter().map(|one| one.name().to_owned()));
        let interfaces = self.interfaces.as_ref().map(names);
        let parts: Vec<_> = [accounts, securities, interfaces].into_iter().flatten().collect();
        f.write_str(if parts.is_empty() { "everything".to_owned() } else { parts.join("; ") }.as_str())
    }
}

fn part(name: &str, items: impl Iterator<Item = String>) -> String {
    let items: Vec<_> = items.collect();
    format!("{name} {}", if items.is_empty() { "none".to_owned() } else { items.join(",") })
}

/// A text that does not describe rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidRights;

impl fmt::Display for InvalidRights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the trading rights cannot be read")
    }
}

impl std::error::Error for InvalidRights {}

impl FromStr for TradingRights {
    type Err = InvalidRights;

    /// The text that `Display` writes.
    fn from_str(text: &str) -> Result<Self, InvalidRights> {
        let mut rights = Self::default();
        for part in text.split("; ").filter(|part| *part != "everything") {
            match part.split_once(' ') {
                Some((ACCOUNTS, items)) => {
                    rights.accounts = Some(items_of(items, |id| id.parse().ok().map(AccountId))?);
                }
                Some((SECURITIES, items)) => {
                    rights.securities = Some(items_of(items, |id| id.parse().ok().map(SecurityId))?);
                }
                Some((INTERFACES, items)) => rights.interfaces = Some(items_of(items, interface_named)?),
                _ => return Err(InvalidRights),
            }
        }
        Ok(rights)
    }
}

fn interface_named(name: &str) -> Option<TradingInterface> {
    TradingInterface::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(name))
}

/// Items between commas; `none` is the empty list.
pub fn items_of<T: Ord>(text: &str, item: impl Fn(&str) -> Option<T>) -> Result<BTreeSet<T>, InvalidRights> {
    if text == "none" {
        return Ok(BTreeSet::new());
    }
    text.split(',').map(|one| item(one.trim()).ok_or(InvalidRights)).collect()
}

/// What a user or token may not trade, or not through this interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingRight {
    /// Orders for this account are not permitted.
    Account(AccountId),
    /// Orders in this security are not permitted.
    Security(SecurityId),
    /// Orders over this interface are not permitted.
    Interface(TradingInterface),
}

impl MissingRight {
    /// The code of the refusal.
    pub fn code(self) -> &'static str {
        match self {
            Self::Account(_) => "account-not-permitted",
            Self::Security(_) => "security-not-permitted",
            Self::Interface(_) => "interface-not-permitted",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_rights_gives_the_same_rights() {
        let all = TradingRights::default();
        let some = TradingRights {
            accounts: Some([AccountId(1), AccountId(2)].into()),
            securities: Some(BTreeSet::new()),
            interfaces: Some([TradingInterface::Rest, TradingInterface::Stomp].into()),
        };
        for (rights, text) in [(&all, "everything"), (&some, "accounts 1,2; securities none; interfaces REST,STOMP")] {
            assert_eq!(rights.to_string(), text);
            assert_eq!(text.parse().as_ref(), Ok(rights));
        }
        for text in ["", "accounts", "accounts x", "interfaces TELEX", "colour red"] {
            assert_eq!(text.parse::<TradingRights>(), Err(InvalidRights), "{text}");
        }
    }

    #[test]
    fn an_absent_list_allows_everything_and_an_empty_one_nothing() {
        let none = TradingRights { accounts: Some(BTreeSet::new()), ..TradingRights::default() };
        assert!(!none.allows_account(AccountId(1)) && none.allows_security(SecurityId(1)));
        assert!(none.allows_interface(TradingInterface::Fix) && !none.is_unlimited());
        assert!(TradingRights::default().is_unlimited());
    }
}
