//! Ids and short shared strings.

pub(crate) mod wire_id;

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use minicbor::{Decode, Decoder, Encode, Encoder};

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
        #[cbor(transparent)]
        pub struct $name(#[n(0)] pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )* };
}

id!(
    /// The number of a security, chosen in the reference data.
    SecurityId,
    /// The number of a security family, chosen in the reference data.
    FamilyId,
    /// The number of an exchange, chosen in the reference data.
    ExchangeId,
    /// The number of an account, chosen in the reference data.
    AccountId,
    /// The number of a strategy, chosen in the reference data.
    StrategyId,
    /// The number of an order, given by the engine; clients use its [`IntId`].
    OrderId,
    /// The number of a position, given by the engine for each strategy, security and account.
    PositionId,
    /// The number of a booking, given by the engine.
    TransactionId,
    /// The number of a cash balance, given by the engine for each strategy, account and currency.
    BalanceId,
);

impl StrategyId {
    /// The server itself, which always exists.
    pub const SERVER: Self = Self(1);
    /// The owner of orders that nobody placed here; it exists from the first of them on. Reference data never has this id.
    pub const EXTERNAL: Self = Self(999_999_999_999_999);
}

/// A short shared text.
#[derive(Clone, Eq, PartialOrd, Ord)]
pub struct Text(Arc<str>);

impl PartialEq for Text {
    /// Equal texts usually share one allocation; then the bytes need not be compared.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || *self.0 == *other.0
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// Longer names need an allocation of their own while they are built.
const NUMBERED_LENGTH_MAX: usize = 64;

impl Text {
    /// The parts of a name, followed by a number. Every order has three such names, so they are built without the
    /// formatting machinery.
    pub fn numbered(parts: &[&str], number: u64) -> Self {
        let before = parts.iter().map(|part| part.len()).sum::<usize>();
        let length = before + number.checked_ilog10().unwrap_or(0) as usize + 1;
        let mut short = [0; NUMBERED_LENGTH_MAX];
        let mut long = Vec::new();
        let name = short.get_mut(..length).unwrap_or_else(|| {
            long.resize(length, 0);
            &mut long
        });
        let mut rest = &mut *name;
        for part in parts {
            let (place, behind) = rest.split_at_mut(part.len());
            place.copy_from_slice(part.as_bytes());
            rest = behind;
        }
        write_digits(number, rest);
        Self::from(std::str::from_utf8(name).expect("whole texts one after the other"))
    }
}

/// Fills a slice of exactly as many digits.
fn write_digits(mut number: u64, digits: &mut [u8]) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).expect("a digit");
        number /= 10;
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<C> Encode<C> for Text {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.str(&self.0)?.ok()
    }
}

impl<'b, C> Decode<'b, C> for Text {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, minicbor::decode::Error> {
        d.str().map(Self::from)
    }
}

/// The id of an order for clients: 1 to 64 printable ASCII characters, but neither `.` nor `..`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(transparent)]
pub struct IntId(#[n(0)] Text);

/// A text that cannot be an order's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidIntId;

impl IntId {
    /// In characters, which are bytes here.
    pub const LENGTH_MAX: usize = 64;

    /// As [`Text::numbered`].
    pub fn numbered(parts: &[&str], number: u64) -> Result<Self, InvalidIntId> {
        let text = Text::numbered(parts, number);
        check_int_id(&text)?;
        Ok(Self(text))
    }

    /// The id as clients write it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for IntId {
    type Err = InvalidIntId;

    fn from_str(text: &str) -> Result<Self, InvalidIntId> {
        check_int_id(text)?;
        Ok(Self(text.into()))
    }
}

fn check_int_id(text: &str) -> Result<(), InvalidIntId> {
    let printable = text.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    // An order's URL ends with its id, and these two segments are removed from every URL.
    let is_step = matches!(text, "." | "..");
    if text.is_empty() || text.len() > IntId::LENGTH_MAX || !printable || is_step { Err(InvalidIntId) } else { Ok(()) }
}

impl Borrow<str> for IntId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IntId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for IntId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The adapter that an account trades through: `<adapterType>` or `<adapterType>-<sessionQualifier>`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(transparent)]
pub struct AdapterName(#[n(0)] pub Text);

impl AdapterName {
    /// The name of an adapter; the qualifier tells several adapters of one type apart.
    pub fn new(adapter_type: &str, qualifier: Option<&str>) -> Self {
        match qualifier {
            Some(qualifier) => Self(format!("{adapter_type}-{qualifier}").into()),
            None => Self(adapter_type.into()),
        }
    }
}

impl fmt::Display for AdapterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for AdapterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A universally unique id. Ours are generated from the instance and a counter, so that a replay repeats them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub u128);

impl Uuid {
    /// The `counter`-th id of an instance, in the custom form of RFC 9562 (version 8).
    pub fn mint(instance: u64, counter: u64) -> Self {
        Self::from_bits(u128::from(instance) << 64 | u128::from(counter))
    }

    /// The same form with bits given by the caller; six of them are overwritten by the form.
    pub fn from_bits(bits: u128) -> Self {
        Self(uuid::Builder::from_custom_bytes(bits.to_be_bytes()).into_uuid().as_u128())
    }
}

impl FromStr for Uuid {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        uuid::Uuid::try_parse(text).map(|uuid| Self(uuid.as_u128()))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        uuid::Uuid::from_u128(self.0).hyphenated().fmt(f)
    }
}

impl<C> Encode<C> for Uuid {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.bytes(&self.0.to_be_bytes())?.ok()
    }
}

impl<'b, C> Decode<'b, C> for Uuid {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, minicbor::decode::Error> {
        let bytes =
            <[u8; 16]>::try_from(d.bytes()?).map_err(|_| minicbor::decode::Error::message("a uuid has 16 bytes"))?;
        Ok(Self(u128::from_be_bytes(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_id_is_printable_and_short() {
        assert!("ALPHA-17".parse::<IntId>().is_ok());
        for bad in ["", "two words", "tab\t", "naïve", &"x".repeat(65)] {
            assert_eq!(bad.parse::<IntId>(), Err(InvalidIntId), "{bad:?}");
        }
    }

    #[test]
    fn a_numbered_name_is_its_parts_and_the_number() {
        assert_eq!(&*Text::numbered(&["ALPHA", "-O"], 0), "ALPHA-O0");
        assert_eq!(&*Text::numbered(&[], u64::MAX), "18446744073709551615");
        let long = "é".repeat(40);
        assert_eq!(&*Text::numbered(&[&long, "-"], 17), format!("{long}-17"));
        assert_eq!(IntId::numbered(&["R", "-"], 7), "R-7".parse());
        assert_eq!(IntId::numbered(&["two words-"], 7), Err(InvalidIntId));
        assert_eq!(IntId::numbered(&["x".repeat(64).as_str()], 7), Err(InvalidIntId));
    }

    #[test]
    fn minted_uuids_differ_by_counter_and_by_instance() {
        let ids = [Uuid::mint(1, 1), Uuid::mint(1, 2), Uuid::mint(2, 1)];
        assert_eq!(ids[0].to_string(), "00000000-0000-8001-8000-000000000001");
        assert!(ids[0] != ids[1] && ids[0] != ids[2] && ids[1] != ids[2]);
    }
}
