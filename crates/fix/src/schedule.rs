//! Session schedule: when a session is open and when its sequence numbers are reset. A session belongs to the period in
//! which its sequence numbers began, and is reset when that period ends.

use crate::codec::UtcTimestamp;
use jiff::Timestamp;
use jiff::civil::{self, Date, Weekday};
use jiff::tz::TimeZone;

/// A period begins at most a week and a day before the given time.
const DAYS_SEARCHED: i64 = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub hours: SessionHours,
    pub zone: TimeZone,
    /// On which days a period of the day begins.
    pub weekdays: Weekdays,
}

/// A set of days of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weekdays([bool; 7]);

impl Weekdays {
    pub const ALL: Self = Self([true; 7]);

    /// Of `MON`, `TUE` and so on.
    pub fn parse<'a>(days: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let days: Self = days.into_iter().map(weekday).collect::<Result<_, _>>()?;
        if days.0.contains(&true) { Ok(days) } else { Err("no day of the week is named".to_owned()) }
    }

    fn contains(self, day: Weekday) -> bool {
        self.0[place(day)]
    }
}

impl FromIterator<Weekday> for Weekdays {
    fn from_iter<I: IntoIterator<Item = Weekday>>(days: I) -> Self {
        let mut set = [false; 7];
        days.into_iter().for_each(|day| set[place(day)] = true);
        Self(set)
    }
}

fn place(day: Weekday) -> usize {
    usize::from(day.to_monday_zero_offset().unsigned_abs())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionHours {
    /// Always open; sequence numbers are reset only on request.
    NonStop,
    /// Round the clock; sequence numbers are reset when the date changes. QuickFIX has the same rule for equal
    /// StartTime and EndTime.
    WholeDays,
    /// From one time of the day to the other, over midnight where the end is earlier.
    Daily { start: civil::Time, end: civil::Time },
    /// From one time in the week to the other; a whole week where both are the same.
    Weekly { start: (Weekday, civil::Time), end: (Weekday, civil::Time) },
}

/// The end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionPeriod {
    pub start: UtcTimestamp,
    pub end: UtcTimestamp,
}

impl SessionPeriod {
    fn contains(self, now: UtcTimestamp) -> bool {
        self.start <= now && now < self.end
    }
}

impl Schedule {
    pub fn non_stop() -> Self {
        Self::new(SessionHours::NonStop, TimeZone::UTC)
    }

    /// Every day.
    pub fn new(hours: SessionHours, zone: TimeZone) -> Self {
        Self { hours, zone, weekdays: Weekdays::ALL }
    }

    /// Periods begin on these days alone, and each ends as before, if need be on a day that is not one of them.
    pub fn on_weekdays(self, weekdays: Weekdays) -> Result<Self, String> {
        match self.hours {
            SessionHours::WholeDays | SessionHours::Daily { .. } => Ok(Self { weekdays, ..self }),
            SessionHours::NonStop | SessionHours::Weekly { .. } => {
                Err("days of the week are for a session of the day".to_owned())
            }
        }
    }

    /// Start and end are times of the day (`08:30:00`) or of the week (`SUN 17:00:00`); equal times of the day are whole days.
    pub fn parse(start: &str, end: &str, zone: &str) -> Result<Self, String> {
        let zone = TimeZone::get(zone).map_err(|_| format!("{zone} is no time zone"))?;
        let hours = match (time_of_week(start)?, time_of_week(end)?) {
            ((None, start), (None, end)) if start == end => SessionHours::WholeDays,
            ((None, start), (None, end)) => SessionHours::Daily { start, end },
            ((Some(first), start), (Some(last), end)) => {
                SessionHours::Weekly { start: (first, start), end: (last, end) }
            }
            _ => return Err("a day of the week belongs to both times or to none".to_owned()),
        };
        Ok(Self::new(hours, zone))
    }

    /// The period that is open at this time, if one is.
    pub fn period(&self, now: UtcTimestamp) -> Option<SessionPeriod> {
        let today = self.date(now);
        (0..=DAYS_SEARCHED).find_map(|back| self.starting_on(day(today, -back)?).filter(|period| period.contains(now)))
    }

    /// When a period next ends or, if none is open, begins.
    pub fn next_change(&self, now: UtcTimestamp) -> UtcTimestamp {
        let today = self.date(now);
        let next_start = || {
            (0..=DAYS_SEARCHED)
                .filter_map(|ahead| self.starting_on(day(today, ahead)?))
                .map(|period| period.start)
                .find(|start| *start > now)
        };
        self.period(now).map(|period| period.end).or_else(next_start).unwrap_or(UtcTimestamp::from_nanos(i64::MAX))
    }

    fn starting_on(&self, date: Date) -> Option<SessionPeriod> {
        if !self.weekdays.contains(date.weekday()) {
            return None;
        }
        let midnight = civil::Time::midnight();
        let (start, end) = match self.hours {
            SessionHours::NonStop => {
                return Some(SessionPeriod {
                    start: UtcTimestamp::from_nanos(i64::MIN),
                    end: UtcTimestamp::from_nanos(i64::MAX),
                });
            }
            SessionHours::WholeDays => ((date, midnight), (day(date, 1)?, midnight)),
            SessionHours::Daily { start, end } => ((date, start), (day(date, i64::from(end <= start))?, end)),
            SessionHours::Weekly { start, .. } if date.weekday() != start.0 => return None,
            SessionHours::Weekly { start, end } => ((date, start.1), (day(date, days_of_week(start, end))?, end.1)),
        };
        Some(SessionPeriod { start: self.instant(start)?, end: self.instant(end)? })
    }

    /// A local time that the clock skips becomes the time after the jump; of one that occurs twice the first is used.
    fn instant(&self, (date, time): (Date, civil::Time)) -> Option<UtcTimestamp> {
        let zoned = date.to_datetime(time).to_zoned(self.zone.clone()).ok()?;
        i64::try_from(zoned.timestamp().as_nanosecond()).ok().map(UtcTimestamp::from_nanos)
    }

    fn date(&self, now: UtcTimestamp) -> Date {
        let timestamp =
            Timestamp::from_nanosecond(i128::from(now.nanos())).expect("every i64 of nanoseconds is a time");
        timestamp.to_zoned(self.zone.clone()).date()
    }
}

fn time_of_week(text: &str) -> Result<(Option<Weekday>, civil::Time), String> {
    let (day, time) = text.split_once(' ').map_or((None, text), |(day, time)| (Some(day), time));
    let weekday = day.map(weekday).transpose()?;
    let time = civil::Time::strptime("%H:%M:%S", time);
    Ok((weekday, time.map_err(|_| format!("{text} is no time such as 08:30:00 or SUN 17:00:00"))?))
}

fn weekday(code: &str) -> Result<Weekday, String> {
    Ok(match code {
        "MON" => Weekday::Monday,
        "TUE" => Weekday::Tuesday,
        "WED" => Weekday::Wednesday,
        "THU" => Weekday::Thursday,
        "FRI" => Weekday::Friday,
        "SAT" => Weekday::Saturday,
        "SUN" => Weekday::Sunday,
        other => return Err(format!("{other} is no day of the week such as MON")),
    })
}

fn day(date: Date, later: i64) -> Option<Date> {
    date.checked_add(jiff::Span::new().try_days(later).ok()?).ok()
}

fn days_of_week(start: (Weekday, civil::Time), end: (Weekday, civil::Time)) -> i64 {
    match i64::from(start.0.until(end.0)) {
        0 if end.1 <= start.1 => 7,
        days => days,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_read_from_texts() {
        let hours = |start, end| Schedule::parse(start, end, "America/New_York").map(|schedule| schedule.hours);
        let (at, to) = (civil::time(8, 30, 0, 0), civil::time(17, 0, 0, 0));
        assert_eq!(hours("08:30:00", "17:00:00"), Ok(SessionHours::Daily { start: at, end: to }));
        assert_eq!(hours("00:00:00", "00:00:00"), Ok(SessionHours::WholeDays));
        let weekly = SessionHours::Weekly { start: (Weekday::Sunday, to), end: (Weekday::Friday, to) };
        assert_eq!(hours("SUN 17:00:00", "FRI 17:00:00"), Ok(weekly));
        assert_eq!(
            hours("SUN 17:00:00", "17:00:00"),
            Err("a day of the week belongs to both times or to none".to_owned())
        );
        assert_eq!(hours("DAY 17:00:00", "17:00:00"), Err("DAY is no day of the week such as MON".to_owned()));
        assert_eq!(hours("5 pm", "17:00:00"), Err("5 is no day of the week such as MON".to_owned()));
        assert_eq!(Schedule::parse("08:30:00", "17:00:00", "Moon").unwrap_err(), "Moon is no time zone");
    }
    use proptest::prelude::*;

    fn at(text: &str) -> UtcTimestamp {
        UtcTimestamp::parse(text.as_bytes()).unwrap()
    }

    fn text(time: UtcTimestamp) -> String {
        let mut out = Vec::new();
        time.write(0, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn time(text: &str) -> civil::Time {
        text.parse().unwrap()
    }

    fn daily(start: &str, end: &str, zone: &str) -> Schedule {
        let hours = SessionHours::Daily { start: time(start), end: time(end) };
        Schedule::new(hours, TimeZone::get(zone).unwrap())
    }

    fn seen(schedule: &Schedule, now: &str) -> String {
        match schedule.period(at(now)) {
            Some(period) => format!("{} to {}", text(period.start), text(period.end)),
            None => format!("closed until {}", text(schedule.next_change(at(now)))),
        }
    }

    #[test]
    fn a_day_session_is_closed_at_night() {
        let day = daily("08:00:00", "17:00:00", "UTC");
        assert_eq!(seen(&day, "20260105-07:59:59"), "closed until 20260105-08:00:00");
        assert_eq!(seen(&day, "20260105-08:00:00"), "20260105-08:00:00 to 20260105-17:00:00");
        assert_eq!(seen(&day, "20260105-17:00:00"), "closed until 20260106-08:00:00");
    }

    #[test]
    fn a_night_session_goes_over_midnight() {
        let night = daily("22:00:00", "06:00:00", "UTC");
        assert_eq!(seen(&night, "20260105-23:00:00"), "20260105-22:00:00 to 20260106-06:00:00");
        assert_eq!(seen(&night, "20260106-05:59:59"), "20260105-22:00:00 to 20260106-06:00:00");
        assert_eq!(seen(&night, "20260106-06:00:00"), "closed until 20260106-22:00:00");
    }

    #[test]
    fn whole_days_change_with_the_date_of_the_zone() {
        let utc = Schedule::new(SessionHours::WholeDays, TimeZone::UTC);
        assert_eq!(seen(&utc, "20260105-23:59:59"), "20260105-00:00:00 to 20260106-00:00:00");
        let tokyo = Schedule::new(SessionHours::WholeDays, TimeZone::get("Asia/Tokyo").unwrap());
        assert_eq!(seen(&tokyo, "20260105-15:00:00"), "20260105-15:00:00 to 20260106-15:00:00");
    }

    #[test]
    fn a_week_may_begin_on_sunday_evening() {
        let week = |start_day, start, end_day, end| {
            let hours = SessionHours::Weekly { start: (start_day, time(start)), end: (end_day, time(end)) };
            Schedule::new(hours, TimeZone::UTC)
        };
        let futures = week(Weekday::Sunday, "18:00:00", Weekday::Friday, "17:00:00");
        assert_eq!(seen(&futures, "20260107-12:00:00"), "20260104-18:00:00 to 20260109-17:00:00");
        assert_eq!(seen(&futures, "20260110-12:00:00"), "closed until 20260111-18:00:00");
        let whole = week(Weekday::Saturday, "22:00:00", Weekday::Saturday, "22:00:00");
        assert_eq!(seen(&whole, "20260107-12:00:00"), "20260103-22:00:00 to 20260110-22:00:00");
    }

    /// 2026-01-05 is a Monday.
    #[test]
    fn a_session_of_some_days_is_closed_on_the_others() {
        let on = |schedule: Schedule, days: &str| schedule.on_weekdays(Weekdays::parse(days.split(' ')).unwrap());
        let work = on(daily("08:00:00", "17:00:00", "UTC"), "MON TUE WED THU FRI").unwrap();
        assert_eq!(seen(&work, "20260109-12:00:00"), "20260109-08:00:00 to 20260109-17:00:00");
        assert_eq!(seen(&work, "20260109-17:00:00"), "closed until 20260112-08:00:00");
        assert_eq!(seen(&work, "20260111-12:00:00"), "closed until 20260112-08:00:00");
        // What begins on a Friday ends on a Saturday.
        let night = on(daily("22:00:00", "06:00:00", "UTC"), "MON FRI").unwrap();
        assert_eq!(seen(&night, "20260110-05:59:59"), "20260109-22:00:00 to 20260110-06:00:00");
        assert_eq!(seen(&night, "20260110-22:30:00"), "closed until 20260112-22:00:00");
        // The days are those of the zone: in Tokyo Monday begins on Sunday.
        let tokyo = Schedule::new(SessionHours::WholeDays, TimeZone::get("Asia/Tokyo").unwrap());
        let monday = on(tokyo, "MON").unwrap();
        assert_eq!(seen(&monday, "20260104-15:00:00"), "20260104-15:00:00 to 20260105-15:00:00");
        assert_eq!(seen(&monday, "20260105-15:00:00"), "closed until 20260111-15:00:00");
        let refused = Err("days of the week are for a session of the day".to_owned());
        assert_eq!(on(Schedule::parse("SUN 17:00:00", "FRI 17:00:00", "UTC").unwrap(), "MON"), refused);
        assert_eq!(on(Schedule::non_stop(), "MON"), refused);
        assert_eq!(Weekdays::parse([]), Err("no day of the week is named".to_owned()));
        assert_eq!(Weekdays::parse(["MON", "Tuesday"]), Err("Tuesday is no day of the week such as MON".to_owned()));
    }

    #[test]
    fn hours_follow_the_clocks_of_the_exchange_when_they_change() {
        let york = daily("09:30:00", "16:00:00", "America/New_York");
        assert_eq!(seen(&york, "20260306-15:00:00"), "20260306-14:30:00 to 20260306-21:00:00");
        assert_eq!(seen(&york, "20260309-15:00:00"), "20260309-13:30:00 to 20260309-20:00:00");
        let night = daily("22:00:00", "06:00:00", "Europe/London");
        assert_eq!(seen(&night, "20260329-03:00:00"), "20260328-22:00:00 to 20260329-05:00:00", "an hour shorter");
        assert_eq!(seen(&night, "20261025-03:00:00"), "20261024-21:00:00 to 20261025-06:00:00", "an hour longer");
        let missing = daily("02:30:00", "02:00:00", "America/New_York");
        assert_eq!(seen(&missing, "20260308-12:00:00"), "20260308-07:30:00 to 20260309-06:00:00", "no 02:30 that day");
    }

    #[test]
    fn a_session_without_stop_has_one_period() {
        assert_eq!(
            Schedule::non_stop().period(at("19700101-00:00:00")),
            Schedule::non_stop().period(at("20991231-00:00:00"))
        );
    }

    fn any_schedule() -> impl Strategy<Value = Schedule> {
        let seconds =
            || (0_i32..86_400).prop_map(|s| civil::Time::midnight().wrapping_add(jiff::Span::new().seconds(s)));
        let weekday = || (0_i8..7).prop_map(|n| Weekday::from_sunday_zero_offset(n).unwrap());
        let hours = prop_oneof![
            Just(SessionHours::WholeDays),
            (seconds(), seconds()).prop_map(|(start, end)| SessionHours::Daily { start, end }),
            (weekday(), seconds(), weekday(), seconds())
                .prop_map(|(d, s, e, t)| SessionHours::Weekly { start: (d, s), end: (e, t) }),
        ];
        let zone =
            prop_oneof![Just("UTC"), Just("America/New_York"), Just("Europe/London"), Just("Australia/Lord_Howe")];
        // At least one day, and those of a week or a session without stop are all.
        let days = proptest::collection::vec(weekday(), 1..=7).prop_map(Weekdays::from_iter);
        (hours, zone, days).prop_map(|(hours, zone, days)| {
            let daily = Schedule::new(hours, TimeZone::get(zone).unwrap());
            daily.clone().on_weekdays(days).unwrap_or(daily)
        })
    }

    proptest! {
        #[test]
        fn periods_follow_each_other_without_overlap(schedule in any_schedule(), seconds in 1_700_000_000_i64..1_900_000_000) {
            let now = UtcTimestamp::from_nanos(0).plus_seconds(seconds);
            let change = schedule.next_change(now);
            prop_assert!(change > now);
            if let Some(period) = schedule.period(now) {
                prop_assert!(period.contains(now) && period.end == change);
                let just_before = UtcTimestamp::from_nanos(change.nanos() - 1);
                prop_assert_eq!(schedule.period(just_before), Some(period));
                prop_assert_ne!(schedule.period(change), Some(period));
            } else {
                prop_assert_eq!(schedule.period(change).map(|period| period.start), Some(change));
            }
        }
    }
}
