//! The prompt of a role file: the part that all modes share, and one section per mode.

use crate::source::{Span, Spanned};

/// The start of the heading of a section for one mode.
const MODE_HEADING: &str = "## Mode:";

/// The parsed body of a role file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prompt {
    common: String,
    sections: Vec<Section>,
}

#[derive(Clone, Debug)]
struct Section {
    mode: Spanned<String>,
    text: String,
}

impl Prompt {
    /// Parses a body that starts at this offset of its source.
    pub(crate) fn read(body: &str, offset: usize) -> Prompt {
        let mut prompt = Prompt::default();
        let mut in_mode = false;
        let mut in_code_block = false;
        let mut line_start = offset;
        for line in body.split_inclusive('\n') {
            if line.starts_with("```") {
                in_code_block = !in_code_block;
            }
            if !in_code_block && (line.starts_with("# ") || line.starts_with("## ")) {
                let mode = line.strip_prefix(MODE_HEADING).map(|name| name.trim().to_string());
                in_mode = mode.is_some();
                if let Some(mode) = mode {
                    let span = Span::new(line_start, line_start + line.trim_end().len());
                    prompt.sections.push(Section { mode: Spanned::new(mode, span), text: String::new() });
                }
            }
            match prompt.sections.last_mut() {
                Some(section) if in_mode => section.text.push_str(line),
                Some(_) | None => prompt.common.push_str(line),
            }
            line_start += line.len();
        }
        prompt
    }

    /// The modes that have a section, in file order.
    pub(crate) fn modes(&self) -> impl Iterator<Item = &Spanned<String>> {
        self.sections.iter().map(|section| &section.mode)
    }

    /// The prompt of the plain role, without the sections of modes.
    pub(crate) fn plain(&self) -> String {
        format!("{}\n", self.common.trim())
    }

    /// The section of a mode, including its heading.
    pub(crate) fn mode_section(&self, mode: &str) -> Option<&str> {
        self.sections.iter().find(|section| section.mode.value == mode).map(|section| section.text.trim())
    }

    /// The prompt of a mode: the common part, then the mode's section if it has one.
    pub(crate) fn for_mode(&self, mode: &str) -> String {
        match self.sections.iter().find(|section| section.mode.value == mode) {
            Some(section) => format!("{}\n\n{}\n", self.common.trim(), section.text.trim()),
            None => self.plain(),
        }
    }
}

/// The section below a second-level heading, without the heading; `None` if there is no such heading.
pub(crate) fn section(text: &str, heading: &str) -> Option<String> {
    let mut found: Option<String> = None;
    let mut in_code_block = false;
    for line in text.split_inclusive('\n') {
        if line.starts_with("```") {
            in_code_block = !in_code_block;
        }
        if !in_code_block && (line.starts_with("# ") || line.starts_with("## ")) {
            if found.is_some() {
                break;
            }
            if line.strip_prefix("## ").is_some_and(|name| name.trim() == heading) {
                found = Some(String::new());
            }
            continue;
        }
        if let Some(found) = &mut found {
            found.push_str(line);
        }
    }
    found.map(|text| text.trim().to_string())
}
