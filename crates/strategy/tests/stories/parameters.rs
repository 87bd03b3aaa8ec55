use std::collections::BTreeMap;

use expect_test::expect;
use strategy::samples;

use crate::script::reference;

fn refusal(sample: &str, settings: &[(&str, &str)]) -> String {
    let written: BTreeMap<_, _> = settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    match samples::registry().build(sample, &written, &reference()) {
        Ok(_) => "taken".to_owned(),
        Err(problem) => problem.to_string(),
    }
}

#[test]
fn a_bad_setting_is_refused_with_its_name_and_the_reason() {
    let one = ("security", "ONE");
    let refusals = [
        refusal("moving-average-cross", &[one]),
        refusal("moving-average", &[one]),
        refusal("moving-average-cross", &[]),
        refusal("moving-average-cross", &[one, ("speed", "3")]),
        refusal("moving-average-cross", &[one, ("fast", "1")]),
        refusal("moving-average-cross", &[one, ("fast", "ten")]),
        refusal("moving-average-cross", &[one, ("fast", "20")]),
        refusal("moving-average-cross", &[one, ("quantity", "-1")]),
        refusal("moving-average-cross", &[one, ("quantity", "much")]),
        refusal("moving-average-cross", &[one, ("prices", "QUOTES")]),
        refusal("moving-average-cross", &[("security", "NONE")]),
        refusal("moving-average-cross", &[("security", "TWIN")]),
        refusal("moving-average-cross", &[("security", "4")]),
        refusal("breakout", &[one, ("bars", "MIN_2")]),
        refusal("breakout", &[one, ("short", "perhaps")]),
        refusal("pairs", &[("first", "ONE"), ("second", "1")]),
    ];
    expect![[r#"
        taken
        no strategy is called moving-average; there are breakout, market-making, moving-average-cross, pairs
        strategy moving-average-cross, parameter security: is missing and has no default
        strategy moving-average-cross, parameter speed: is not known; there are security, fast, slow, quantity, prices
        strategy moving-average-cross, parameter fast: 1 is not from 2 to 10000
        strategy moving-average-cross, parameter fast: 'ten' is not a whole number
        strategy moving-average-cross, parameter fast: 20 is not less than slow, which is 20
        strategy moving-average-cross, parameter quantity: -1 is not from 0.00000001 to 1000000000
        strategy moving-average-cross, parameter quantity: 'much' is not a decimal number
        strategy moving-average-cross, parameter prices: 'QUOTES' is not one of TICKS, SEC_1, MIN_1, MIN_5, MIN_15, HOUR_1, DAY_1
        strategy moving-average-cross, parameter security: 'NONE' is not the symbol or the id of a security
        strategy moving-average-cross, parameter security: 'TWIN' is the symbol of several securities; say which by id: 3, 4
        taken
        strategy breakout, parameter bars: 'MIN_2' is not one of SEC_1, MIN_1, MIN_5, MIN_15, HOUR_1, DAY_1
        strategy breakout, parameter short: 'perhaps' is not true or false
        strategy pairs, parameter second: is the same security as first"#]].assert_eq(&refusals.join("\n"));
}
