//! A run in one file, for a pull request or an archive: no script, no server, nothing to load.

use super::context::RunPage;
use super::{agents, artifacts, changes, costs, evidence, findings, overview, rulings, timeline, workflow};
use crate::address::Query;
use crate::assets;
use crate::problem::PageProblem;
use crate::words;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use remand_ledger::{Reader, RunId};
use remand_views::{RepositoryState, RunSite};

/// Draws everything about a run as one HTML file.
pub fn document(
    site: &RunSite,
    repository: RepositoryState,
    reader: Reader,
    run: &RunId,
) -> Result<String, PageProblem> {
    let mut page = RunPage::of(site, repository, reader, run, Query::default())?;
    page.is_document = true;
    let views: [(&str, &str, Markup); 9] = [
        ("timeline", "Timeline", timeline::body(&page)?),
        ("findings", "Findings", findings::body(&page)?),
        ("evidence", "Evidence", html! { (evidence::body(&page)?) (evidence::outputs(&page)?) }),
        ("changes", "Changes", changes::body(&page)?),
        ("rulings", "Rulings", rulings::body(&page)?),
        ("agents", "Agents", agents::body(&page)?),
        ("artifacts", "Artifacts", artifacts::body(&page)?),
        ("costs", "Costs", costs::body(&page)?),
        ("workflow", "Workflow", workflow::body(&page)?),
    ];
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // Whoever gets this file needs no trust in what agents wrote.
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (words::title(&page.view.row.request)) " · remand" }
                style { (PreEscaped(assets::STYLE)) }
            }
            body {
                header.top {
                    nav.trail aria-label="Parts" {
                        a.brand href="#main" { span.turn aria-hidden="true" { "↩" } "remand" }
                        @for (id, name, _) in &views { a href={ "#" (id) } { (name) } }
                    }
                }
                main id="main" {
                    (page.head())
                    (overview::body(&page)?)
                    @for (id, name, body) in &views { section.view id=(id) aria-label=(name) { h2.part { (name) } (body) } }
                }
            }
        }
    }
    .into_string())
}
