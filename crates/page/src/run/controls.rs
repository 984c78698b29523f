//! What a person may ask of a whole run: to end it, or to continue it.

use super::context::RunPage;
use crate::address::Query;
use crate::reply::plain;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use maud::{Markup, html};
use remand_ledger::RunId;
use remand_ledger::query::RunStage;
use remand_views::RunSite;

/// A request to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunRequest {
    Cancel,
    Resume,
}

impl RunRequest {
    /// The request that an address ends with.
    pub fn by_name(name: &str) -> Option<RunRequest> {
        match name {
            "cancel" => Some(RunRequest::Cancel),
            "resume" => Some(RunRequest::Resume),
            _ => None,
        }
    }
}

/// The buttons for a run that is not over; nothing on a page that only shows.
pub fn controls(page: &RunPage<'_>) -> Markup {
    let row = &page.view.row;
    if page.site.door.is_none() || page.past.is_some() || row.stage.is_over() {
        return html! {};
    }
    let can_resume = !page.repository.is_driven(&page.run)
        && match row.stage {
            RunStage::Interrupted | RunStage::Paused | RunStage::Running => true,
            RunStage::Waiting => page.view.requests > 0,
            RunStage::Committed | RunStage::LeftToYou | RunStage::Failed | RunStage::Stopped => false,
        };
    html! {
        section.controls aria-label="This run" {
            @if can_resume {
                form method="post" action=(page.address("resume")) data-ask="" {
                    button.main type="submit" { "Continue the run" }
                    p.outcome role="status" {}
                }
            }
            details.ask {
                summary { "Cancel the run" }
                form method="post" action=(page.address("cancel")) data-ask="" {
                    p { "Its agents are stopped, and the run ends without a commit." }
                    button.stop type="submit" { "Cancel it now" }
                    p.outcome role="status" {}
                }
            }
        }
    }
}

/// Passes a request to the door, and says in one line what happened.
pub fn ask(site: &RunSite, repository: &str, run: &RunId, request: RunRequest) -> Response<Body> {
    let Some(door) = &site.door else {
        return plain(StatusCode::FORBIDDEN, "this page only shows: it was started with --read-only");
    };
    let page = match RunPage::open(site, repository, run, &Query::default()) {
        Ok(page) => page,
        Err(problem) => return plain(StatusCode::NOT_FOUND, &problem.to_string()),
    };
    let asked = match request {
        RunRequest::Cancel => door.cancel(&page.repository, &page.view.row),
        RunRequest::Resume => door.resume(&page.repository, &page.view.row),
    };
    match asked {
        Ok(()) => plain(StatusCode::OK, "recorded"),
        Err(why) => plain(StatusCode::CONFLICT, &why),
    }
}
