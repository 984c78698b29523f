//! Takes an answer from a window to the one door for answers.

use crate::address::Query;
use crate::problem::PageProblem;
use crate::reply::plain;
use crate::run::context::RunPage;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use remand_ledger::RunId;
use remand_ledger::query::GateRow;
use remand_views::{GivenAnswer, RunSite};
use serde::Deserialize;

/// An answer as the script sends it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SentAnswer {
    option: String,
    #[serde(default)]
    note: String,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    grant: String,
}

/// Records an answer, and says in one line what happened.
pub fn submit(site: &RunSite, repository: &str, run: &RunId, command: &str, bytes: &[u8]) -> Response<Body> {
    let Some(door) = &site.door else {
        return plain(StatusCode::FORBIDDEN, "this page only shows: it was started with --read-only");
    };
    let Ok(sent) = serde_json::from_slice::<SentAnswer>(bytes) else {
        return plain(StatusCode::BAD_REQUEST, "this is no answer");
    };
    let found = find(site, repository, run, command);
    let (page, gate) = match found {
        Ok(found) => found,
        Err(problem) => return plain(StatusCode::NOT_FOUND, &problem.to_string()),
    };
    if !gate.is_open() {
        return plain(StatusCode::CONFLICT, "this gate is no longer open");
    }
    let answer = GivenAnswer {
        option: sent.option,
        note: sent.note,
        flags: sent.flags,
        grant: sent.grant.trim().to_string(),
    };
    match door.answer(&page.repository, &page.reader, &gate, &answer) {
        Ok(()) => plain(StatusCode::OK, "recorded"),
        Err(why) => plain(StatusCode::CONFLICT, &why),
    }
}

fn find<'s>(
    site: &'s RunSite,
    repository: &str,
    run: &RunId,
    command: &str,
) -> Result<(RunPage<'s>, GateRow), PageProblem> {
    let page = RunPage::open(site, repository, run, &Query::default())?;
    let gate = page.gates()?.into_iter().find(|gate| gate.command == command);
    let gate = gate.ok_or_else(|| PageProblem::missing("this run has no such gate"))?;
    Ok((page, gate))
}
