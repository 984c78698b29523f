//! Small charts on one line of text.

/// The width of a full bar.
const WIDTH: usize = 6;

/// The last character of a bar, from empty to full, in eighths.
const EIGHTHS: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// The characters of a sparkline, from low to high.
const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The maximum number of values in a sparkline; older ones are left out.
const MAX_VALUES: usize = 8;

/// Draws a share between 0 and 1 as a bar.
pub fn bar(share: f64) -> String {
    let eighths = rounded(share.clamp(0.0, 1.0) * 8.0 * WIDTH as f64);
    let mut text: String = std::iter::repeat_n(EIGHTHS[8], eighths / 8).collect();
    if !eighths.is_multiple_of(8) {
        text.push(EIGHTHS[eighths % 8]);
    }
    text
}

/// Draws values between 0 and 1, one column each, the newest last.
pub fn sparkline(values: &[f64]) -> String {
    let shown = &values[values.len().saturating_sub(MAX_VALUES)..];
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
    fn bars_and_sparklines_show_shares() {
        assert_eq!([bar(0.0), bar(0.5), bar(1.0)], ["", "███", "██████"]);
        assert_eq!(bar(0.35), "██▏");
        assert_eq!(sparkline(&[0.0, 0.5, 1.0]), "▁▅█");
        assert_eq!(sparkline(&[0.0; 50]).chars().count(), MAX_VALUES);
        assert_eq!(percent(0.456), "46%");
    }
}
