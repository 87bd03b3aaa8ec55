//! Fixed-meaning decimals: price, quantity, money. Arithmetic is checked: a result that does not fit is an
//! [`Overflow`], never a wrong number.

pub(crate) mod decimal_math;
pub(crate) mod currency;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use minicbor::{Decode, Decoder, Encode, Encoder};
use rust_decimal::{Decimal, RoundingStrategy};

use currency::Currency;
pub use decimal_math::Overflow;
use decimal_math::{add, compare, divide_evenly, is_multiple, multiply};

/// Divisions keep this many decimals, rounded half to even.
pub const DIVISION_DECIMALS: u32 = 12;

macro_rules! amount {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default)]
        pub struct $name(pub Decimal);

        impl $name {
            /// Nothing; also the default.
            pub const ZERO: Self = Self(Decimal::ZERO);

            /// Whether it is exactly zero, with any number of decimals.
            #[inline]
            pub fn is_zero(self) -> bool {
                self.0.is_zero()
            }

            /// Whether it is more than zero; zero itself is not.
            #[inline]
            pub fn is_positive(self) -> bool {
                self.0.is_sign_positive() && !self.0.is_zero()
            }

            /// Whether it is less than zero; a zero with a minus sign is not.
            #[inline]
            pub fn is_negative(self) -> bool {
                self.0.is_sign_negative() && !self.0.is_zero()
            }

            /// The same size without the sign.
            #[inline]
            pub fn abs(self) -> Self {
                Self(self.0.abs())
            }

            /// The same size with the opposite sign.
            #[inline]
            pub fn negated(self) -> Self {
                Self(-self.0)
            }

            /// The exact sum; an error where digits would be lost.
            #[inline]
            pub fn plus(self, other: Self) -> Result<Self, Overflow> {
                add(self.0, other.0).map(Self)
            }

            /// The exact difference; an error where digits would be lost.
            #[inline]
            pub fn minus(self, other: Self) -> Result<Self, Overflow> {
                add(self.0, -other.0).map(Self)
            }

            /// The exact product.
            #[inline]
            pub fn times(self, factor: Decimal) -> Result<Self, Overflow> {
                multiply(self.0, factor).map(Self)
            }

            /// The product, rounded like a division.
            #[inline]
            pub fn scaled(self, factor: Decimal) -> Result<Self, Overflow> {
                match multiply(self.0, factor) {
                    Ok(exact) => Ok(Self(rounded(exact))),
                    // Digits were lost, as in rounding.
                    Err(Overflow) => self.0.checked_mul(factor).map(rounded).map(Self).ok_or(Overflow),
                }
            }

            /// The quotient, rounded half to even at [`DIVISION_DECIMALS`]; an error where the divisor is zero or the
            /// result does not fit.
            #[inline]
            pub fn over(self, divisor: Decimal) -> Result<Self, Overflow> {
                divide(self.0, divisor).map(Self)
            }

            /// Whether this is a whole number of `step`; a step of zero means no restriction.
            #[inline]
            pub fn is_multiple_of(self, step: Decimal) -> bool {
                let divides = || self.0.checked_rem(step).is_some_and(|rest| rest.is_zero());
                step.is_zero() || is_multiple(self.0, step).unwrap_or_else(divides)
            }
        }

        impl PartialEq for $name {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                compare(self.0, other.0).is_eq()
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            #[inline]
            fn cmp(&self, other: &Self) -> Ordering {
                compare(self.0, other.0)
            }
        }

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.hash(state);
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.normalize().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.normalize().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = rust_decimal::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Decimal::from_str_exact(text).map(Self)
            }
        }

        impl From<i64> for $name {
            fn from(whole: i64) -> Self {
                Self(Decimal::from(whole))
            }
        }

        impl<C> Encode<C> for $name {
            fn encode<W: minicbor::encode::Write>(
                &self,
                e: &mut Encoder<W>,
                _: &mut C,
            ) -> Result<(), minicbor::encode::Error<W::Error>> {
                encode_decimal(self.0, e)
            }
        }

        impl<'b, C> Decode<'b, C> for $name {
            fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, minicbor::decode::Error> {
                decode_decimal(d).map(Self)
            }
        }
    };
}

amount!(
    /// The price of one unit.
    Price
);
amount!(
    /// How many; signed where it is a position or its change.
    Quantity
);
amount!(
    /// An amount of money whose currency is given by the context.
    Amount
);

impl Quantity {
    /// quantity × price × contract size.
    pub fn value_at(self, price: Price, contract_size: Decimal) -> Result<Amount, Overflow> {
        // Most contracts are for one unit.
        let units =
            if compare(contract_size, Decimal::ONE).is_eq() { self.0 } else { multiply(self.0, contract_size)? };
        multiply(units, price.0).map(Amount)
    }
}

/// An amount in a currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Money {
    /// How much; the sign is that of the booking or balance.
    #[n(0)]
    pub amount: Amount,
    /// The currency that the amount is in.
    #[n(1)]
    pub currency: Currency,
}

/// Division, rounded half to even at [`DIVISION_DECIMALS`].
pub fn divide(dividend: Decimal, divisor: Decimal) -> Result<Decimal, Overflow> {
    divide_evenly(dividend, divisor).or_else(|| dividend.checked_div(divisor)).map(rounded).ok_or(Overflow)
}

#[inline]
fn rounded(decimal: Decimal) -> Decimal {
    if decimal.scale() <= DIVISION_DECIMALS {
        return decimal;
    }
    decimal.round_dp_with_strategy(DIVISION_DECIMALS, RoundingStrategy::MidpointNearestEven)
}

/// A decimal on disk: its 96-bit integer and its scale, as `[mantissa, scale]` where the mantissa fits 64 bits, else 16
/// bytes.
pub fn encode_decimal<W: minicbor::encode::Write>(
    decimal: Decimal,
    e: &mut Encoder<W>,
) -> Result<(), minicbor::encode::Error<W::Error>> {
    // Equal amounts have equal bytes, so that equal states have equal digests.
    let decimal = decimal.normalize();
    match i64::try_from(decimal.mantissa()) {
        Ok(mantissa) => e.array(2)?.i64(mantissa)?.u32(decimal.scale())?.ok(),
        Err(_) => e.bytes(&decimal.serialize())?.ok(),
    }
}

/// Reads what [`encode_decimal`] wrote; an error where the scale is above 28 or the bytes are not 16.
pub fn decode_decimal(d: &mut Decoder<'_>) -> Result<Decimal, minicbor::decode::Error> {
    if d.datatype()? == minicbor::data::Type::Bytes {
        let bytes =
            <[u8; 16]>::try_from(d.bytes()?).map_err(|_| minicbor::decode::Error::message("a decimal has 16 bytes"))?;
        return Ok(Decimal::deserialize(bytes));
    }
    d.array()?;
    let (mantissa, scale) = (d.i64()?, d.u32()?);
    Decimal::try_from_i128_with_scale(mantissa.into(), scale)
        .map_err(|_| minicbor::decode::Error::message("the scale of a decimal is at most 28"))
}

/// A bare decimal as a field of a derived type: `#[cbor(with = "crate::amount::decimal")]`.
pub mod decimal {
    use super::{Decimal, Decoder, Encoder, decode_decimal, encode_decimal};

    /// Writes the decimal as [`encode_decimal`] does.
    pub fn encode<C, W: minicbor::encode::Write>(
        decimal: &Decimal,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        encode_decimal(*decimal, e)
    }

    /// Reads the decimal as [`decode_decimal`] does.
    pub fn decode<C>(d: &mut Decoder<'_>, _: &mut C) -> Result<Decimal, minicbor::decode::Error> {
        decode_decimal(d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(text: &str) -> String {
        let bytes = minicbor::to_vec(text.parse::<Price>().unwrap()).unwrap();
        minicbor::decode::<Price>(&bytes).unwrap().to_string()
    }

    #[test]
    fn every_digit_survives_the_disk() {
        for text in ["0", "-1.5", "1234567.000001", "79228162514264337593543950335", "0.0000000000000000000000000001"] {
            assert_eq!(round_trip(text), text);
        }
    }

    #[test]
    fn equal_amounts_have_equal_bytes() {
        let [short, long] = ["1.5", "1.500"].map(|text| minicbor::to_vec(text.parse::<Price>().unwrap()).unwrap());
        assert_eq!(short, long);
    }

    #[test]
    fn division_rounds_half_to_even_at_twelve_decimals() {
        let third = Amount::from(1).over(Decimal::from(3)).unwrap();
        assert_eq!(third.to_string(), "0.333333333333");
        let half = Amount("0.0000000000025".parse().unwrap()).over(Decimal::ONE).unwrap();
        assert_eq!(half.to_string(), "0.000000000002");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let huge = Quantity(Decimal::MAX);
        assert_eq!(huge.value_at(Price::from(2), Decimal::ONE), Err(Overflow));
        assert_eq!(huge.plus(huge), Err(Overflow));
    }

    #[test]
    fn digits_are_never_dropped_in_silence() {
        let (tiny, large) = (Amount(Decimal::new(1, 28)), Amount(Decimal::from(10_i64.pow(12))));
        assert_eq!(large.plus(tiny), Err(Overflow));
        assert_eq!(tiny.times(Decimal::new(5, 1)), Err(Overflow));
        let padded = Amount(Decimal::from_str_exact("1.50000000000000000000").unwrap());
        assert_eq!(padded.times(Decimal::from_str_exact("2.000000000000").unwrap()), Ok(Amount::from(3)));
        assert_eq!(tiny.scaled(Decimal::ONE), Ok(Amount::ZERO));
    }

    #[test]
    fn a_step_of_zero_binds_nothing() {
        let price: Price = "10.05".parse().unwrap();
        assert!(price.is_multiple_of(Decimal::ZERO));
        assert!(price.is_multiple_of("0.05".parse().unwrap()));
        assert!(!price.is_multiple_of("0.1".parse().unwrap()));
    }
}
