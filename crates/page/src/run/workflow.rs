//! The workflow file that the run is pinned to, line by line, so that rulings can point into it.

use super::context::RunPage;
use crate::problem::PageProblem;
use crate::words;
use maud::{Markup, html};

pub fn body(page: &RunPage<'_>) -> Result<Markup, PageProblem> {
    let pinned = page
        .pinned()
        .ok_or_else(|| PageProblem::missing("this version cannot read the workflow of the run"))?;
    Ok(html! {
        section.panel aria-labelledby="workflow-heading" {
            h2 id="workflow-heading" { (words::text(&pinned.workflow.name)) " as it was when the run started" }
            ol.source tabindex="0" {
                @for (number, line) in (1..).zip(pinned.workflow.text.lines()) {
                    li id={ "L" (number) } { a.num href={ "#L" (number) } { (number) } code { (words::text(line)) } }
                }
            }
        }
    })
}
