//! `remand brief`: what each role is given, by which route.

use crate::context::CommandContext;
use crate::load;
use remand_drawings::columns;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use remand_workflow::briefs::{EVERYONE, PhaseBrief, briefs, given, markdown, way_cell};
use remand_workflow::diagnostic::suggest;
use remand_workflow::roles::Roles;
use remand_workflow::shipped;

/// The maximum widths of the columns.
const WIDTHS: [usize; 2] = [44, 64];

/// The width of the page in the guide.
const PAGE_WIDTH: usize = 128;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The workflow [default: all shipped ones]
    #[arg(value_name = "FILE|NAME")]
    workflow: Option<String>,
    /// Show only this phase
    #[arg(value_name = "PHASE")]
    phase: Option<String>,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let roles = load::roles(context)?;
    let Some(workflow) = &args.workflow else { return all(context, &roles, args.markdown) };
    let program = load::program(context, workflow, &roles)?;
    let mut shown = briefs(&program);
    if let Some(phase) = &args.phase {
        let known: Vec<String> = shown.iter().map(|brief| brief.phase.clone()).collect();
        shown.retain(|brief| brief.phase == *phase);
        if shown.is_empty() {
            let what = format!("`{}` has no phase `{phase}` with a role", program.name);
            return Err(CommandFailure::user(what, suggest(phase, known.iter().map(String::as_str))));
        }
    }
    if context.json {
        print_json(&serde_json::json!(shown))?;
    } else if args.markdown {
        print(&markdown(&shown))?;
    } else {
        let pages: Vec<String> = shown.iter().map(text).collect();
        print(&format!("{}\n{}", pages.join("\n"), everyone(WIDTHS.iter().sum())))?;
    }
    Ok(ExitCode::Done)
}

/// Shows the briefs of all shipped workflows.
fn all(context: &CommandContext<'_>, roles: &Roles, as_markdown: bool) -> Result<ExitCode, CommandFailure> {
    let mut tables = serde_json::Map::new();
    let mut page = if as_markdown { format!("{PAGE}\n{}", everyone(PAGE_WIDTH)) } else { String::new() };
    for (name, _) in shipped::WORKFLOWS {
        let briefs = briefs(&load::program(context, name, roles)?);
        if briefs.is_empty() {
            continue;
        }
        tables.insert((*name).to_string(), serde_json::json!(briefs));
        if as_markdown {
            page.push_str(&format!("\n## `{name}`\n\n{}\n", markdown(&briefs).trim_end()));
        } else {
            let pages: Vec<String> = briefs.iter().map(text).collect();
            page.push_str(&format!("{name}\n\n{}\n", pages.join("\n")));
        }
    }
    if !as_markdown {
        page.push_str(&everyone(WIDTHS.iter().sum()));
    }
    if context.json {
        print_json(&tables.into())?
    } else {
        print(&page)?
    }
    Ok(ExitCode::Done)
}

/// The head of the page in the guide.
const PAGE: &str = "# Who is given what

`remand brief --markdown` prints this page. [What travels with the work](../explanation/briefs.md) explains the law behind it.
For each way into a phase, the right column says what the role is given in addition to what it reads. A way in is a phase and the
signal that it ended with.
";

/// What every role is given, in lines of this width.
fn everyone(width: usize) -> String {
    columns::wrap(EVERYONE, width).join("\n") + "\n"
}

fn text(brief: &PhaseBrief) -> String {
    let mut text = format!("{} ({})\n", brief.phase, brief.roles.join(", "));
    let mut line = |title: &str, names: &[String]| {
        if !names.is_empty() {
            text.push_str(&format!("  {title}: {}\n", names.join(", ")));
        }
    };
    line("reads", &brief.reads);
    line("reads if they exist", &brief.may_read);
    line("with the reports of", &brief.reports);
    if brief.shows_change {
        text.push_str("  with the change so far and its evidence\n");
    }
    let mut rows = vec![vec!["way in".to_string(), "is also given".to_string()]];
    for way in &brief.ways {
        let left = columns::wrap(&way_cell(way), WIDTHS[0]);
        let right = columns::wrap(&given(way), WIDTHS[1]);
        for at in 0..left.len().max(right.len()) {
            let cell = |lines: &[String]| lines.get(at).cloned().unwrap_or_default();
            rows.push(vec![cell(&left), cell(&right)]);
        }
    }
    text.push_str(&columns::table(&rows, &WIDTHS));
    text
}
