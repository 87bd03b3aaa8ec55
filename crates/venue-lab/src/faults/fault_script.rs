//! Scripts of faults, one in a line: `at order 7: taken-unknown`, `for 20 s: stream-mute`, `at request 3, 2 times: late-query`.

use crate::faults::fault_request::FaultRequest;

/// When a line of a script is armed. Requests are counted since the lab was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Now,
    Order(u64),
    Request(u64),
}

#[derive(Debug, Clone)]
pub(crate) struct ScriptLine {
    pub(crate) text: String,
    pub(crate) moment: Moment,
    pub(crate) request: FaultRequest,
}

/// Reads a script; empty lines and those that begin with `#` are left out. The error names the line.
pub(crate) fn parse(script: &str) -> Result<Vec<ScriptLine>, String> {
    let lines = script.lines().zip(1..).map(|(line, number)| (line.trim(), number));
    let lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(line, number)| parse_line(line).map_err(|reason| format!("line {number}: {reason}"))).collect()
}

fn parse_line(line: &str) -> Result<ScriptLine, String> {
    let (when, fault) = line.split_once(':').ok_or("no colon before the name of the fault")?;
    let fault = fault.trim().to_owned();
    let mut parsed = ScriptLine {
        text: line.to_owned(),
        moment: Moment::Now,
        request: FaultRequest { fault, from: 1, face: None, count: None, seconds: None, seed: None },
    };
    let mut words = when.split([' ', ',']).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        match word {
            "at" => parsed.moment = moment(words.next(), words.next())?,
            "for" => {
                parsed.request.seconds = Some(number("for", words.next())?);
                if words.next() != Some("s") {
                    return Err("after `for` comes a number of seconds and `s`".to_owned());
                }
            }
            "seed" => parsed.request.seed = Some(number("seed", words.next())?),
            count => {
                parsed.request.count = Some(number("times", Some(count))?);
                if words.next() != Some("times") {
                    return Err(format!("{count}: not `at`, `for`, `seed`, or a number with `times`"));
                }
            }
        }
    }
    Ok(parsed)
}

fn moment(what: Option<&str>, count: Option<&str>) -> Result<Moment, String> {
    match what {
        Some("order") => Ok(Moment::Order(number("order", count)?)),
        Some("request") => Ok(Moment::Request(number("request", count)?)),
        other => Err(format!("{}: not `order` or `request`", other.unwrap_or_default())),
    }
}

fn number<T: std::str::FromStr>(what: &str, text: Option<&str>) -> Result<T, String> {
    let text = text.unwrap_or_default();
    text.parse().map_err(|_| format!("{what}: {text} is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_when_how_often_and_what() {
        let lines =
            parse("at order 7: taken-unknown\n\n# no fault\nfor 20 s: stream-mute\nat request 3, 2 times: late-query")
                .unwrap();
        let seen: Vec<_> = lines
            .iter()
            .map(|line| (line.moment, line.request.fault.as_str(), line.request.count, line.request.seconds))
            .collect();
        assert_eq!(
            seen,
            [
                (Moment::Order(7), "taken-unknown", None, None),
                (Moment::Now, "stream-mute", None, Some(20)),
                (Moment::Request(3), "late-query", Some(2), None),
            ]
        );
    }

    #[test]
    fn what_is_no_script_is_refused_with_its_line() {
        let refused = |text: &str| parse(text).unwrap_err();
        assert_eq!(refused("\nat order 7 taken-unknown"), "line 2: no colon before the name of the fault");
        assert_eq!(refused("at night: x"), "line 1: night: not `order` or `request`");
        assert_eq!(refused("at order seven: x"), "line 1: order: seven is no number");
        assert_eq!(refused("for 20: x"), "line 1: after `for` comes a number of seconds and `s`");
        assert_eq!(refused("often: x"), "line 1: times: often is no number");
    }
}
