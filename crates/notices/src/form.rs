//! The forms in which receivers on the web expect a notice.

use crate::notice::{NoticeKind, RunNotice};
use serde_json::json;

/// What a receiver expects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoticeForm {
    /// The notice itself.
    #[default]
    Json,
    /// An incoming webhook of Slack.
    Slack,
    /// A topic of ntfy.
    Ntfy,
}

/// The body and headers of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormedNotice {
    pub body: String,
    pub headers: Vec<(&'static str, String)>,
}

impl NoticeForm {
    /// The form with this name in the configuration.
    pub fn by_name(name: &str) -> NoticeForm {
        match name {
            "slack" => NoticeForm::Slack,
            "ntfy" => NoticeForm::Ntfy,
            _ => NoticeForm::Json,
        }
    }

    pub fn of(self, notice: &RunNotice) -> FormedNotice {
        let json = ("Content-Type", "application/json".to_string());
        let id = ("Idempotency-Key", header_text(&notice.id));
        match self {
            NoticeForm::Json => {
                let body = serde_json::to_string(notice).unwrap_or_else(|_| "{}".to_string());
                FormedNotice { body, headers: vec![json, id] }
            }
            NoticeForm::Slack => {
                let text = format!("*{}*\n{}", slack_text(&notice.title), slack_text(&notice.body()));
                FormedNotice { body: json!({ "text": text }).to_string(), headers: vec![json, id] }
            }
            NoticeForm::Ntfy => {
                let priority = match notice.kind {
                    NoticeKind::Gate | NoticeKind::Limit => "high",
                    NoticeKind::Over | NoticeKind::Silent | NoticeKind::Test => "default",
                };
                let headers = vec![
                    ("Content-Type", "text/plain; charset=utf-8".to_string()),
                    ("Title", header_text(&notice.title)),
                    ("Tags", notice.kind.name().to_string()),
                    ("Priority", priority.to_string()),
                    id,
                ];
                FormedNotice { body: notice.body(), headers }
            }
        }
    }
}

/// Slack reads `&`, `<` and `>` as markup.
fn slack_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Headers carry printable ASCII only.
fn header_text(text: &str) -> String {
    text.chars().map(|c| if c == ' ' || c.is_ascii_graphic() { c } else { '?' }).collect()
}
