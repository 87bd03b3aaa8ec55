//! Exact decimals from digits: a number that does not fit is rejected, never rounded.

use domain::Decimal;

/// Why digits are not a valid decimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadNumber {
    NotANumber,
    /// More digits than a decimal holds.
    TooLong,
}

/// A number as JSON writes it: sign, digits, fraction, exponent; no spaces, no plus, no separators.
pub fn decimal(text: &str) -> Result<Decimal, BadNumber> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (digits, exponent) = split_exponent(unsigned)?;
    let (whole, fraction) = split_fraction(digits)?;
    // Trailing zeros have no meaning, and without them more numbers fit.
    let fraction = fraction.trim_end_matches('0');
    let mantissa = mantissa(whole, fraction)?;
    let scale = i64::try_from(fraction.len()).map_err(|_| BadNumber::TooLong)? - exponent;
    let magnitude = scaled(mantissa, scale)?;
    Ok(if negative && !magnitude.is_zero() { -magnitude } else { magnitude })
}

fn split_exponent(text: &str) -> Result<(&str, i64), BadNumber> {
    let Some((digits, exponent)) = text.split_once(['e', 'E']) else {
        return Ok((text, 0));
    };
    let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    require_digits(unsigned)?;
    let size: i64 = unsigned.parse::<u32>().map_err(|_| BadNumber::TooLong)?.into();
    Ok((digits, if exponent.starts_with('-') { -size } else { size }))
}

fn split_fraction(digits: &str) -> Result<(&str, &str), BadNumber> {
    let Some((whole, fraction)) = digits.split_once('.') else {
        require_digits(digits)?;
        return Ok((digits, ""));
    };
    require_digits(whole)?;
    require_digits(fraction)?;
    Ok((whole, fraction))
}

fn require_digits(text: &str) -> Result<(), BadNumber> {
    let all_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then_some(()).ok_or(BadNumber::NotANumber)
}

fn mantissa(whole: &str, fraction: &str) -> Result<i128, BadNumber> {
    whole.bytes().chain(fraction.bytes()).try_fold(0_i128, |sum, digit| {
        let shifted = sum.checked_mul(10).ok_or(BadNumber::TooLong)?;
        shifted.checked_add(i128::from(digit - b'0')).ok_or(BadNumber::TooLong)
    })
}

/// mantissa × 10^-scale.
fn scaled(mantissa: i128, scale: i64) -> Result<Decimal, BadNumber> {
    if mantissa == 0 {
        return Ok(Decimal::ZERO);
    }
    let too_long = BadNumber::TooLong;
    let (mantissa, scale) = match u32::try_from(scale) {
        Ok(scale) => without_zeros(mantissa, scale),
        Err(_) => {
            let zeros = u32::try_from(-scale).map_err(|_| too_long)?;
            let factor = 10_i128.checked_pow(zeros).ok_or(too_long)?;
            (mantissa.checked_mul(factor).ok_or(too_long)?, 0)
        }
    };
    Decimal::try_from_i128_with_scale(mantissa, scale).map_err(|_| too_long)
}

/// `1000e-30` is a number that fits without its zeros.
fn without_zeros(mut mantissa: i128, mut scale: u32) -> (i128, u32) {
    while scale > 0 && mantissa % 10 == 0 {
        (mantissa, scale) = (mantissa / 10, scale - 1);
    }
    (mantissa, scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_kept_exactly() {
        let cases = [
            ("0", "0"),
            ("-0", "0"),
            ("10.50", "10.5"),
            ("-12.25", "-12.25"),
            ("1e2", "100"),
            ("1.5E-3", "0.0015"),
            ("2500e-2", "25"),
            ("0e999999999", "0"),
            ("1000e-30", "0.000000000000000000000000001"),
            ("1.00000000000000000000000000000000000", "1"),
            ("79228162514264337593543950335", "79228162514264337593543950335"),
        ];
        for (text, expected) in cases {
            assert_eq!(decimal(text).map(|number| number.to_string()), Ok(expected.into()), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in
            ["", "-", "+1", " 1", "1 ", ".5", "5.", "1,000", "1_000", "0x10", "NaN", "1e", "1e+", "--1", "1e1.5"]
        {
            assert_eq!(decimal(text), Err(BadNumber::NotANumber), "{text:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_and_never_rounded() {
        let fifty_nines = "9".repeat(50);
        let cases = ["79228162514264337593543950336", "1e29", "1e-29", "1e99999999999", "1e400", &fifty_nines];
        for text in cases {
            assert_eq!(decimal(text), Err(BadNumber::TooLong), "{text}");
        }
    }
}
