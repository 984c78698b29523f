//! Small charts on one line of text.

/// The width of a full bar.
const WIDTH: usize = 6;

/// From empty to full, in eighths.
const PARTS: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// From low to high.
const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The number of values drawn, counted from the newest.
const SHOWN: usize = 8;

/// A share between 0 and 1 as a bar.
pub fn bar(share: f64) -> String {
    let eighths = rounded(share.clamp(0.0, 1.0) * 8.0 * WIDTH as f64);
    let mut text: String = std::iter::repeat_n(PARTS[8], eighths / 8).collect();
    if !eighths.is_multiple_of(8) {
        text.push(PARTS[eighths % 8]);
    }
    text
}

/// Values between 0 and 1, one column each, the newest last.
pub fn sparkline(values: &[f64]) -> String {
    let shown = &values[values.len().saturating_sub(SHOWN)..];
    let step = |value: &f64| STEPS[rounded(value.clamp(0.0, 1.0) * 7.0).min(7)];
    shown.iter().map(step).collect()
}

pub fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 80")]
fn rounded(value: f64) -> usize {
    value.round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    // PF-10
    #[test]
    fn bars_and_lines_show_shares() {
        assert_eq!([bar(0.0), bar(0.5), bar(1.0)], ["", "███", "██████"]);
        assert_eq!(bar(0.35), "██▏");
        assert_eq!(sparkline(&[0.0, 0.5, 1.0]), "▁▅█");
        assert_eq!(sparkline(&[0.0; 50]).chars().count(), SHOWN);
        assert_eq!(percent(0.456), "46%");
    }
}
