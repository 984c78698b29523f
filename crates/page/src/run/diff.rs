//! Differences line by line: of two versions of an artifact, or of a file as git shows it.

use crate::words;
use maud::{Markup, html};
use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Lines that do not differ are shown this far around those that do.
const AROUND: usize = 3;

/// Lines of a difference that are shown at once; more would freeze a tab.
pub const LINES: usize = 1_000;

/// Very different texts are compared roughly after this time.
const PATIENCE: Duration = Duration::from_secs(1);

/// One line of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    pub kind: LineKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    Added,
    Removed,
    Same,
    /// A line about the place, such as `@@ -1,4 +1,5 @@`.
    Place,
}

/// The difference of two texts.
pub fn compare(before: &str, after: &str) -> Vec<DiffLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let patience = Instant::now().checked_add(PATIENCE);
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, patience);
    let mut lines = Vec::new();
    let push = |lines: &mut Vec<DiffLine>, kind, from: &[&str], range: Range<usize>| {
        let texts = from.get(range).unwrap_or_default();
        lines.extend(texts.iter().map(|text| DiffLine { kind, text: (*text).to_string() }));
    };
    for (at, op) in ops.iter().enumerate() {
        let (tag, was, is) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            let last = at + 1 == ops.len();
            let (head, tail) = (if at == 0 { 0 } else { AROUND }, if last { 0 } else { AROUND });
            if was.len() > head + tail + 1 {
                push(&mut lines, LineKind::Same, &old, was.start..was.start + head);
                let (line, kind) = (is.end - tail + 1, LineKind::Place);
                if !last {
                    lines.push(DiffLine { kind, text: format!("line {line}") });
                }
                push(&mut lines, LineKind::Same, &old, was.end - tail..was.end);
            } else {
                push(&mut lines, LineKind::Same, &old, was);
            }
            continue;
        }
        push(&mut lines, LineKind::Removed, &old, was);
        push(&mut lines, LineKind::Added, &new, is);
    }
    lines
}

/// The lines of a patch, by their first characters.
pub fn of_patch(patch: &str) -> Vec<DiffLine> {
    let mut is_head = true;
    patch
        .lines()
        .map(|text| {
            is_head &= !text.starts_with("@@");
            let kind = match text.chars().next() {
                _ if is_head => LineKind::Place,
                Some('+') => LineKind::Added,
                Some('-') => LineKind::Removed,
                Some('@') => LineKind::Place,
                Some(_) | None => LineKind::Same,
            };
            is_head |= text.starts_with("diff --git ");
            let text = match kind {
                LineKind::Added | LineKind::Removed | LineKind::Same => text.get(1..).unwrap_or_default(),
                LineKind::Place => text,
            };
            DiffLine { kind, text: text.to_string() }
        })
        .collect()
}

/// All these lines.
pub fn whole(lines: &[DiffLine]) -> Markup {
    html! {
        div.diff tabindex="0" role="region" aria-label="Difference" {
            @for line in lines {
                @match line.kind {
                    LineKind::Added => ins { (words::text(&line.text)) "\n" },
                    LineKind::Removed => del { (words::text(&line.text)) "\n" },
                    LineKind::Same => span { (words::text(&line.text)) "\n" },
                    LineKind::Place => span.place { (words::text(&line.text)) "\n" },
                }
            }
        }
    }
}

/// The lines from one on, with a place for more.
pub fn show(lines: &[DiffLine], from: usize, more: impl Fn(usize) -> String) -> Markup {
    let end = lines.len().min(from.saturating_add(LINES));
    html! {
        div.fragment {
            (whole(lines.get(from..end).unwrap_or_default()))
            @if end < lines.len() {
                details data-src=(more(end)) { summary { (lines.len() - end) " more lines" } div.lazy { "Reading…" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(lines: &[DiffLine]) -> String {
        lines
            .iter()
            .map(|line| match line.kind {
                LineKind::Added => '+',
                LineKind::Removed => '-',
                LineKind::Same => '=',
                LineKind::Place => '@',
            })
            .collect()
    }

    #[test]
    fn a_difference_shows_the_changed_lines_and_a_few_around_them() {
        let before: Vec<String> = (1..=30).map(|line| line.to_string()).collect();
        let mut after = before.clone();
        after[14] = "changed".to_string();
        let lines = compare(&before.join("\n"), &after.join("\n"));
        assert_eq!(marks(&lines), "@===-+===");
        assert_eq!((lines[0].text.as_str(), lines[5].text.as_str()), ("line 12", "changed"));
        assert_eq!(marks(&compare("a\nb\n", "a\nb\n")), "", "nothing differs");
        assert_eq!(marks(&compare("", "a\n")), "+");
    }

    #[test]
    fn lines_of_a_patch_that_look_like_its_head_are_changes() {
        let patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- gone\n+++ new\n";
        assert_eq!(marks(&of_patch(patch)), "@@@@=-+");
    }

    #[test]
    fn a_long_difference_is_shown_in_parts() {
        let lines = vec![DiffLine { kind: LineKind::Added, text: "x".to_string() }; LINES + 5];
        let html = show(&lines, 0, |from| format!("?from={from}")).into_string();
        assert_eq!(html.matches("<ins>").count(), LINES);
        assert!(html.contains("?from=1000") && html.contains("5 more lines"));
        assert!(!show(&lines, LINES, |from| from.to_string()).into_string().contains("more lines"));
    }
}
