//! Takes an answer from a window to the one door for answers.

use crate::address::Query;
use crate::door::PageAnswer;
use crate::problem::PageProblem;
use crate::reply::plain;
use crate::run::context::RunPage;
use crate::site::PageSite;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use remand_ledger::RunId;
use remand_ledger::query::GateRow;
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
}

/// Records an answer, and says in one line what happened.
pub fn submit(site: &PageSite, repository: &str, run: &RunId, command: &str, bytes: &[u8]) -> Response<Body> {
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
    let answer = PageAnswer { option: sent.option, note: sent.note, flags: sent.flags };
    match door.answer(&page.repository.home, &page.reader, &gate, &answer) {
        Ok(()) => plain(StatusCode::OK, "recorded"),
        Err(why) => plain(StatusCode::CONFLICT, &why),
    }
}

fn find<'s>(
    site: &'s PageSite,
    repository: &str,
    run: &RunId,
    command: &str,
) -> Result<(RunPage<'s>, GateRow), PageProblem> {
    let page = RunPage::open(site, repository, run, &Query::default())?;
    let gate = page.gates()?.into_iter().find(|gate| gate.command == command);
    let gate = gate.ok_or_else(|| PageProblem::missing("this run has no such gate"))?;
    Ok((page, gate))
}
