//! The pages of one run, as it is or as it was after an earlier event.

mod answer;
mod context;
mod drawing;
mod gates;
mod overview;
mod rulings;
mod workflow;

pub use answer::submit;

use crate::address::Query;
use crate::frame::{Drawn, Shown};
use crate::problem::PageProblem;
use crate::site::Site;
use context::RunPage;
use maud::Markup;
use remand_ledger::RunId;

/// The views of a run: the last part of the address, and the name.
const TABS: [(&str, &str); 2] = [("", "Overview"), ("rulings", "Rulings")];

/// Draws the view of a run that an address names.
pub fn page(
    site: &Site,
    repository: &str,
    run: &str,
    rest: &[&str],
    query: &Query,
) -> Result<Shown, PageProblem> {
    let page = RunPage::open(site, repository, &RunId(run.to_string()), query)?;
    let (tab, name, body): (&str, String, Markup) = match rest {
        [] => ("", String::new(), overview::body(&page)?),
        ["rulings"] => ("rulings", "Rulings".to_string(), rulings::body(&page)?),
        ["gates", command] => ("", "Gate".to_string(), gates::body(&page, command)?),
        ["workflow"] => ("", "Workflow".to_string(), workflow::body(&page)?),
        _ => return Err(PageProblem::missing("a run has no such page")),
    };
    Ok(Shown::Page(Drawn {
        title: page.title(&name),
        trail: page.trail(),
        body: page.around(tab, &body).into_string(),
        ..Drawn::default()
    }))
}
