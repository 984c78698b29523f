//! The drawing of the workflow with the marks of the run.

use super::context::RunPage;
use crate::problem::PageProblem;
use maud::{Markup, PreEscaped, html};
use remand_drawings::marks::RunMarks;
use remand_views::run_marks;

pub fn panel(page: &RunPage<'_>) -> Result<Markup, PageProblem> {
    let Some(program) = page.program() else {
        return Ok(html! { p.empty { "This version cannot read the workflow of the run." } });
    };
    let marks = run_marks(program, page.position(), page.rulings()?, page.budgets());
    let marks = RunMarks { file: page.link("workflow"), ..marks };
    Ok(html! {
        div.drawing id="drawing" tabindex="0" role="region" aria-label="Workflow, with where the run is" {
            // The drawing escapes every name itself.
            (PreEscaped(remand_drawings::run_svg(program, &marks)))
        }
    })
}
