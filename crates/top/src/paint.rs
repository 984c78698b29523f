//! Text with its meaning as lines of the screen.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use remand_terminal::{Ink, Tone, line};

/// How tones look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint(pub Ink);

impl Paint {
    pub fn style(self, tone: Tone) -> Style {
        let style = match tone {
            Tone::Plain => Style::new(),
            Tone::Strong => Style::new().add_modifier(Modifier::BOLD),
            Tone::Faint => Style::new().add_modifier(Modifier::DIM),
            Tone::Good => Style::new().fg(Color::Green),
            Tone::Doubtful => Style::new().fg(Color::Yellow),
            Tone::Bad => Style::new().fg(Color::Red),
        };
        match self.0 {
            Ink::Coloured => style,
            Ink::Plain => Style { fg: None, ..style },
        }
    }

    /// A part of a line, without control characters.
    pub fn part(self, tone: Tone, text: &str) -> Span<'static> {
        Span::styled(line::clean(text).replace(['\n', '\t'], " "), self.style(tone))
    }

    /// A text as one line, cut to a width.
    pub fn cut(self, tone: Tone, text: &str, width: usize) -> Line<'static> {
        Line::from(self.part(tone, &line::cut(text, width)))
    }

    /// A text, wrapped at words; the lines after the first are indented.
    pub fn wrapped(self, tone: Tone, text: &str, hang: usize, width: usize) -> Vec<Line<'static>> {
        let lines = line::hanging(text, hang, width);
        lines.iter().map(|part| Line::from(self.part(tone, part))).collect()
    }

    /// Two texts at the ends of a line; the left one is cut if both do not fit.
    pub fn ends(self, left: (Tone, &str), right: (Tone, &str), width: usize) -> Line<'static> {
        let end = line::cut(right.1, width);
        let room = width.saturating_sub(line::width(&end) + usize::from(!end.is_empty()));
        let start = line::cut(left.1, room);
        let gap = width.saturating_sub(line::width(&start) + line::width(&end));
        Line::from(vec![self.part(left.0, &start), Span::raw(" ".repeat(gap)), self.part(right.0, &end)])
    }
}
