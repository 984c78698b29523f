//! Amounts in human-readable form.

pub use remand_notation::amount::{CURRENCY, dollars as money, duration, grouped};

/// The cost of dispatches. `unpriced` counts those with an unknown cost, which is never shown as zero.
pub fn cost(micro: u64, unpriced: u64) -> String {
    match (micro, unpriced) {
        (_, 0) => money(micro),
        (0, _) => "unknown cost".to_string(),
        (_, _) => format!("{}, some cost unknown", money(micro)),
    }
}

/// A sum over `all` parts: `unknown` if no part is known, `≥` if some part is unknown.
pub fn sum_or_unknown(sum: String, unknown: u64, all: u64) -> String {
    match unknown {
        0 => sum,
        _ if unknown >= all => "unknown".to_string(),
        _ => format!("≥ {sum}"),
    }
}

/// The tokens of dispatches. `unreported` counts the dispatches with an unknown token count.
pub fn tokens(number: u64, unreported: u64) -> String {
    match (number, unreported) {
        (_, 0) => format!("{} tokens", grouped(number)),
        (0, _) => "unknown tokens".to_string(),
        (_, _) => format!("{} tokens, others unknown", grouped(number)),
    }
}

/// A number with its noun: `1 finding` or `2 findings`.
pub fn counted(number: u64, noun: &str) -> String {
    let suffix = match number {
        1 => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {noun}{suffix}", grouped(number))
}

/// Milliseconds as `350 ms`, `4.2 s`, `1 m 05 s`, `2 h 03 m` or `3 d 04 h`.
pub fn time(ms: u64) -> String {
    let seconds = ms / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{seconds}.{} s", ms % 1000 / 100),
        60_000..3_600_000 => format!("{minutes} m {:02} s", seconds % 60),
        3_600_000..86_400_000 => format!("{hours} h {:02} m", minutes % 60),
        _ => format!("{days} d {:02} h", hours % 24),
    }
}

/// The time since `at`, in its largest unit.
pub fn age(now: i64, at: i64) -> String {
    let seconds = u64::try_from(now.saturating_sub(at)).unwrap_or(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} m", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A number of bytes in binary units, such as `1.5 KiB`.
pub fn bytes(number: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut unit = "B";
    let (mut whole, mut tenth) = (number, 0);
    for next in units {
        if whole < 1024 {
            break;
        }
        tenth = whole % 1024 * 10 / 1024;
        whole /= 1024;
        unit = next;
    }
    if unit == "B" { format!("{whole} B") } else { format!("{whole}.{tenth} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_readable() {
        assert_eq!([money(0), money(4_200), money(1_250_000)], ["$0.00", "$0.0042", "$1.25"]);
        assert_eq!([money(18_000), money(14_999), money(999_999)], ["$0.02", "$0.01", "$1.00"]);
        let costs = [cost(10_000, 0), cost(0, 2), cost(10_000, 2)];
        assert_eq!(costs, ["$0.01", "unknown cost", "$0.01, some cost unknown"]);
        assert_eq!([grouped(999), grouped(1_000), grouped(1_234_567)], ["999", "1,000", "1,234,567"]);
        assert_eq!([counted(1, "dispatch"), counted(2, "dispatch")], ["1 dispatch", "2 dispatches"]);
        assert_eq!([time(350), time(4_210), time(65_000)], ["350 ms", "4.2 s", "1 m 05 s"]);
        assert_eq!([time(7_380_000), time(273_600_000)], ["2 h 03 m", "3 d 04 h"]);
        assert_eq!([age(90_000, 0), age(0, 5)], ["1 m", "0 s"]);
        assert_eq!([bytes(1023), bytes(1536), bytes(3 << 30)], ["1023 B", "1.5 KiB", "3.0 GiB"]);
    }
}
