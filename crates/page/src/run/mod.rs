//! The pages of one run, as it is or as it was after an earlier event.

mod agents;
mod answer;
mod artifacts;
mod changes;
mod context;
mod controls;
mod costs;
mod diff;
mod document;
mod drawing;
mod evidence;
mod findings;
mod gates;
mod overview;
mod rulings;
mod tabs;
mod timeline;
mod workflow;

pub use answer::submit;
pub use controls::{RunRequest, ask};
pub use document::document;

use crate::address::Query;
use crate::frame::{Drawn, Shown};
use crate::problem::PageProblem;
use context::RunPage;
use maud::Markup;
use remand_ledger::RunId;
use remand_views::RunSite;

/// Draws the view of a run that an address names.
pub fn page(
    site: &RunSite,
    repository: &str,
    run: &str,
    rest: &[&str],
    query: &Query,
) -> Result<Shown, PageProblem> {
    let page = RunPage::open(site, repository, &RunId(run.to_string()), query)?;
    let (tab, name, body): (&str, &str, Markup) = match rest {
        [] => ("", "", overview::body(&page)?),
        ["timeline"] => ("timeline", "Timeline", timeline::body(&page)?),
        ["rulings"] => ("rulings", "Rulings", rulings::body(&page)?),
        ["findings"] => ("findings", "Findings", findings::body(&page)?),
        ["evidence"] => ("evidence", "Evidence", evidence::body(&page)?),
        ["evidence", number] => ("evidence", "Check", evidence::one(&page, number)?),
        ["evidence", number, "output"] => return Ok(Shown::Text(evidence::whole_output(&page, number)?)),
        ["evidence", number, "history"] => ("evidence", "Test", evidence::history(&page, number)?),
        ["artifacts"] => ("artifacts", "Artifacts", artifacts::body(&page)?),
        ["artifacts", name] if page.query.get("plain").is_some() => {
            return Ok(Shown::Text(artifacts::plain(&page, name)?));
        }
        ["artifacts", name] => ("artifacts", "Artifact", artifacts::one(&page, name)?),
        ["changes"] => ("changes", "Changes", changes::body(&page)?),
        ["changes", number] => ("changes", "Change", changes::one(&page, number)?),
        ["agents"] => ("agents", "Agents", agents::body(&page)?),
        ["agents", command] => ("agents", "Agent", agents::one(&page, command)?),
        ["agents", command, "transcript"] => return Ok(Shown::Text(agents::transcript(&page, command)?)),
        ["costs"] => ("costs", "Costs", costs::body(&page)?),
        ["gates", command] => ("", "Gate", gates::body(&page, command)?),
        ["workflow"] => ("", "Workflow", workflow::body(&page)?),
        _ => return Err(PageProblem::missing("a run has no such page")),
    };
    Ok(Shown::Page(Drawn {
        title: page.title(name),
        trail: page.trail(),
        body: page.around(tab, &body).into_string(),
        ..Drawn::default()
    }))
}
