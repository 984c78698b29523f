//! Amounts as people write them: durations, money, and counts with `k`, `M` or `G`.

use std::time::Duration;

const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 24 * 3_600_000)];
const MULTIPLES: [(char, u64); 3] = [('k', 1_000), ('M', 1_000_000), ('G', 1_000_000_000)];
const MICRO_DIGITS: usize = 6;

/// Reads `90s`, `2h` or `1h30m`: whole numbers, each with its unit.
pub fn duration(text: &str) -> Result<Duration, String> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err("the duration is empty".to_string());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, next) = after.split_at(letters);
        if number.is_empty() {
            return Err(format!("`{text}` is not a duration"));
        }
        if unit.is_empty() {
            return Err(format!("`{text}` has a number without a unit"));
        }
        let Some((_, size)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(format!("`{unit}` is not a unit of time"));
        };
        total = number
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(*size))
            .and_then(|part| total.checked_add(part))
            .ok_or_else(|| format!("`{text}` is too long"))?;
        rest = next.trim_start();
    }
    if total == 0 { Err(format!("`{text}` is zero")) } else { Ok(Duration::from_millis(total)) }
}

/// Writes a duration in the format that `duration` reads.
pub fn duration_text(duration: Duration) -> String {
    let mut rest = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut text = String::new();
    for (unit, size) in UNITS.iter().rev() {
        if rest >= *size {
            text.push_str(&format!("{}{unit}", rest / size));
            rest %= size;
        }
    }
    if text.is_empty() { "0s".to_string() } else { text }
}

/// The currency of every amount: agents report US dollars, and the list prices are in US dollars.
pub const CURRENCY: &str = "USD";

/// Millionths of a dollar as `$1.25`. An amount below one cent keeps all its digits, so that it does not read as zero.
pub fn dollars(micro: u64) -> String {
    if micro > 0 && micro < 10_000 {
        return format!("$0.{micro:06}").trim_end_matches('0').to_string();
    }
    let cents = micro.saturating_add(5_000) / 10_000;
    format!("${}.{:02}", grouped(cents / 100), cents % 100)
}

/// A whole number with thousands separators.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Reads `12`, `$12.5` or `0.000001` as millionths of a dollar, exactly.
pub fn money(text: &str) -> Result<u64, String> {
    let invalid = || format!("`{text}` is not an amount of money");
    let digits = text.strip_prefix('$').unwrap_or(text);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(part) {
        return Err(invalid());
    }
    if part.len() > MICRO_DIGITS {
        return Err(format!("`{text}` has more than {MICRO_DIGITS} digits after the decimal point"));
    }
    format!("{whole}{part:0<MICRO_DIGITS$}").parse().map_err(|_| format!("`{text}` is too large"))
}

/// Writes micro-units in the format that `money` reads.
pub fn money_text(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_string() }
}

/// Reads `200000`, `200k` or `2M`.
pub fn count(text: &str) -> Result<u64, String> {
    let plain = text.trim();
    let (digits, size) = MULTIPLES
        .iter()
        .find_map(|(letter, size)| plain.strip_suffix(*letter).map(|digits| (digits, *size)))
        .unwrap_or((plain, 1));
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("`{text}` is not a count"));
    }
    digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(size))
        .ok_or_else(|| format!("`{text}` is too large"))
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    // CORE-11
    #[test]
    fn amounts_are_exact_and_survive_a_round_trip_through_text() {
        for (text, micros) in
            [("0.000001", 1), ("12", 12_000_000), ("0.1", 100_000), ("18446744073709.551615", u64::MAX)]
        {
            assert_eq!(money(text), Ok(micros));
            assert_eq!(money(&money_text(micros)), Ok(micros));
        }
        assert!(money("18446744073709.551616").is_err());
        assert!(money("1e3").is_err() && money("1_0").is_err() && money(".5").is_err());
        for (text, millis) in [("90s", 90_000), ("1h30m", 5_400_000), ("1d 2ms", 86_400_002)] {
            let time = duration(text).expect("a duration");
            assert_eq!(time, Duration::from_millis(millis));
            assert_eq!(duration(&duration_text(time)), Ok(time));
        }
        for text in ["", "h", "2 h", "2w", "0s", "1h-3m", "99999999999999999999d"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!((count("200k"), count("2M")), (Ok(200_000), Ok(2_000_000)));
        assert!(count("k").is_err() && count("99999999999G").is_err());
    }
}
