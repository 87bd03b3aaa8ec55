//! Exponential average that starts with its first price, so that it has a value from the first event on. The arithmetic
//! is TA-Lib's.

use ta_lib::{Core, EmaStream, RetCode};

/// The longest useful average.
pub(crate) const PERIOD_MAX: i64 = 10_000;

#[derive(Debug, Clone)]
pub(crate) struct Average {
    period: i32,
    stream: Option<EmaStream>,
}

impl Average {
    /// `period` is from 2 to [`PERIOD_MAX`], by the range of the parameter.
    pub(crate) fn new(period: i64) -> Self {
        Self { period: i32::try_from(period.clamp(2, PERIOD_MAX)).unwrap_or(2), stream: None }
    }

    /// The average including this price; none for a price that is not a number.
    pub(crate) fn update(&mut self, price: f64) -> Option<f64> {
        match &mut self.stream {
            Some(stream) => stream.update(price).ok(),
            None => self.open(price).ok(),
        }
    }

    /// TA-Lib begins with the mean of a first period: a period of equal first prices makes the average start there.
    fn open(&mut self, price: f64) -> Result<f64, RetCode> {
        let flat = vec![price; usize::try_from(self.period).unwrap_or(0)];
        let (stream, value) = Core::new().ema_open(&flat, self.period)?;
        self.stream = Some(stream);
        Ok(value)
    }
}
