//! One decision of a design: an id such as `DD-0079-001`, the parts that it affects, and its rationale.

/// A decision as the document states it; missing fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DesignDecision {
    /// For example `DD-0079-001`.
    pub id: String,
    pub title: String,
    pub affects: String,
    pub rationale: String,
    pub alternatives: String,
    pub trade_offs: String,
    pub status: String,
}

impl DesignDecision {
    pub(super) fn read(id: &str, title: &str, body: &str) -> DesignDecision {
        let mut decision =
            DesignDecision { id: id.to_string(), title: title.to_string(), ..DesignDecision::default() };
        let mut current: Option<&'static str> = None;
        for line in body.lines().take_while(|line| !line.starts_with('#')) {
            let (text, is_field) = match parse_label(line) {
                Some((label, text)) => {
                    current = Some(label);
                    (text, true)
                }
                None => (line.trim(), false),
            };
            if let Some(value) = current.and_then(|label| decision.field_mut(label)) {
                if !value.is_empty() && !text.is_empty() {
                    value.push(' ');
                }
                value.push_str(text);
            }
            if !is_field && line.trim().is_empty() {
                current = None;
            }
        }
        decision
    }

    /// The fields that the decision lacks.
    pub fn missing(&self) -> Vec<&'static str> {
        let fields = [
            ("affects", &self.affects),
            ("rationale", &self.rationale),
            ("alternatives", &self.alternatives),
            ("trade-offs", &self.trade_offs),
            ("status", &self.status),
        ];
        fields.into_iter().filter(|(_, text)| text.trim().is_empty()).map(|(name, _)| name).collect()
    }

    fn field_mut(&mut self, label: &str) -> Option<&mut String> {
        match label {
            "affects" => Some(&mut self.affects),
            "rationale" => Some(&mut self.rationale),
            "alternatives" => Some(&mut self.alternatives),
            "trade-offs" => Some(&mut self.trade_offs),
            "status" => Some(&mut self.status),
            _ => None,
        }
    }
}

/// The id and the title in a heading; `None` if it does not start with the id of a decision.
pub(super) fn parse_heading(title: &str) -> Option<(&str, &str)> {
    let end =
        title.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-')).unwrap_or(title.len());
    let id = title[..end].trim_end_matches('-');
    let number = id.rsplit('-').next().unwrap_or_default();
    let is_id = id.len() > 3
        && id[..3].eq_ignore_ascii_case("DD-")
        && !number.is_empty()
        && number.chars().all(|letter| letter.is_ascii_digit());
    is_id.then(|| (id, title[id.len()..].trim_start_matches([':', '-', '—', '–', ' ']).trim()))
}

/// The label of a line such as `- **Trade-offs**: …`, and the text after it.
fn parse_label(line: &str) -> Option<(&'static str, &str)> {
    let rest = line.trim_start().trim_start_matches(['-', '*', '+', ' ', '_']);
    let (label, text) = rest.split_once(':')?;
    let label = label.trim_matches(['*', '_', ' ']).to_lowercase();
    let name = match label.as_str() {
        "affects" => "affects",
        "rationale" => "rationale",
        "alternatives" | "alternatives considered" => "alternatives",
        "trade-offs" | "tradeoffs" | "trade offs" => "trade-offs",
        "status" => "status",
        _ => return None,
    };
    Some((name, text.trim_start_matches(['*', '_']).trim()))
}
