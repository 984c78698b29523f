//! The prompt of a role file: the part that all modes share, and a section for each mode.

use crate::source::{At, Span};

/// What a section for one mode begins with.
const MODE: &str = "## Mode:";

/// The body of a role file, taken apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prompt {
    common: String,
    sections: Vec<Section>,
}

#[derive(Clone, Debug)]
struct Section {
    mode: At<String>,
    text: String,
}

impl Prompt {
    /// Reads a body that begins at this offset of its source.
    pub(crate) fn read(body: &str, offset: usize) -> Prompt {
        let mut prompt = Prompt::default();
        let mut in_mode = false;
        let mut fenced = false;
        let mut at = offset;
        for line in body.split_inclusive('\n') {
            if line.starts_with("```") {
                fenced = !fenced;
            }
            if !fenced && (line.starts_with("# ") || line.starts_with("## ")) {
                let mode = line.strip_prefix(MODE).map(|name| name.trim().to_string());
                in_mode = mode.is_some();
                if let Some(mode) = mode {
                    let span = Span::new(at, at + line.trim_end().len());
                    prompt.sections.push(Section { mode: At::new(mode, span), text: String::new() });
                }
            }
            match prompt.sections.last_mut() {
                Some(section) if in_mode => section.text.push_str(line),
                Some(_) | None => prompt.common.push_str(line),
            }
            at += line.len();
        }
        prompt
    }

    /// The modes that have a section, in the order of the file.
    pub(crate) fn modes(&self) -> impl Iterator<Item = &At<String>> {
        self.sections.iter().map(|section| &section.mode)
    }

    /// The prompt of the plain role: no mode's section is in it.
    pub(crate) fn plain(&self) -> String {
        format!("{}\n", self.common.trim())
    }

    /// The section of a mode, heading and all.
    pub(crate) fn mode_section(&self, mode: &str) -> Option<&str> {
        self.sections.iter().find(|section| section.mode.it == mode).map(|section| section.text.trim())
    }

    /// The prompt of a mode: what is common, then the mode's own section if it has one.
    pub(crate) fn for_mode(&self, mode: &str) -> String {
        match self.sections.iter().find(|section| section.mode.it == mode) {
            Some(section) => format!("{}\n\n{}\n", self.common.trim(), section.text.trim()),
            None => self.plain(),
        }
    }
}

/// The section below a heading of the second level, without the heading; `None` when there is none.
pub(crate) fn section(text: &str, heading: &str) -> Option<String> {
    let mut found: Option<String> = None;
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        if !fenced && (line.starts_with("# ") || line.starts_with("## ")) {
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
