//! Generated prices, for simulations without recorded ones.

use std::fs::File;
use std::io::{BufWriter, Write};

use domain::Decimal;
use storage::price_files::synthetic::{self, SyntheticPlan};

use super::arguments::GenerateArgs;
use crate::exit_failure::{Exit, ExitFailure};

const NANOS_PER_MILLI: i64 = 1_000_000;

pub(super) fn write(wish: &GenerateArgs) -> Result<String, ExitFailure> {
    let plan = checked(wish)?;
    let failed = |error: std::io::Error| ExitFailure::io("write", &wish.file, &error);
    let mut file = BufWriter::new(File::create(&wish.file).map_err(failed)?);
    synthetic::write(&plan, &mut file).and_then(|()| file.flush()).map_err(failed)?;
    Ok(format!("{} rows written to {}\n", plan.rows, wish.file.display()))
}

fn checked(wish: &GenerateArgs) -> Result<SyntheticPlan, ExitFailure> {
    let refused = |text: &str| Err(ExitFailure::new(Exit::Refused, text));
    if wish.rows == 0 {
        return refused("--rows must be above 0: a file without prices is none that a simulation could play");
    }
    if wish.tick <= Decimal::ZERO || wish.price <= Decimal::ZERO {
        return refused("--price and --tick must be above 0");
    }
    let Some(every_nanos) = wish.every.checked_mul(NANOS_PER_MILLI).filter(|nanos| *nanos > 0) else {
        return refused("--every must be above 0");
    };
    let plan = SyntheticPlan {
        kind: wish.kind,
        rows: wish.rows,
        seed: wish.seed,
        from: wish.from,
        every_nanos,
        price: wish.price,
        tick_size: wish.tick,
        step_ticks: wish.step,
    };
    match plan.check_range() {
        Ok(()) => Ok(plan),
        Err(reason) => refused(&format!("--rows {}: the last row cannot be: {reason}", plan.rows)),
    }
}
