//! `remand serve`: the live page, for all repositories of the user.

use crate::context::CommandContext;
use crate::watching::{self, Access};
use remand_page::{PageServer, PageStartError, server};
use remand_terminal::amount;
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::{CommandFailure, ExitCode, Stop};
use serde_json::json;
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The port on 127.0.0.1; 0 takes any free one
    #[arg(long, default_value_t = server::PORT, value_name = "PORT")]
    pub port: u16,
    /// Only show: no gate can be answered on the page, and no run cancelled or resumed
    #[arg(long)]
    pub read_only: bool,
    /// End once no window has been open for so long, such as 30m
    #[arg(long, value_name = "TIME", value_parser = amount::duration)]
    pub idle: Option<Duration>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let access = if args.read_only { Access::ReadOnly } else { Access::Everything };
    let site = watching::site(context, "on the page", access)?;
    let state = site.state.clone();
    let bound = PageServer::bind(site, args.port);
    let page = match bound {
        Err(PageStartError::Port { port, source }) => {
            // The user may only have lost the window of a server that still runs.
            if let Some(link) = server::link_of_running(&state, port) {
                return say(context, &link, "is served already; this link opens another window");
            }
            let failure = PageStartError::Port { port, source };
            return Err(CommandFailure::user(
                failure.to_string(),
                "choose another port with --port; 0 selects a free one",
            )
            .with_sources(&failure));
        }
        Err(failure) => {
            return Err(CommandFailure::internal_error(failure.to_string(), &failure));
        }
        Ok(page) => page,
    };
    let link =
        page.link().map_err(|error| CommandFailure::internal_error("the login link is lost", &error))?;
    let signal = Stop::listen();
    say(context, &link, "opens in your browser, once; it is served until you press Ctrl-C")?;
    page.serve(args.idle, move || signal.is_set())
        .map_err(|failure| CommandFailure::internal_error(failure.to_string(), &failure))?;
    Ok(ExitCode::Done)
}

fn say(context: &CommandContext<'_>, link: &str, what: &str) -> Result<ExitCode, CommandFailure> {
    if context.json {
        print_json(&json!({ "link": link }))?;
    } else {
        print(link)?;
        tell(&format!("the page of all your runs {what}"));
    }
    Ok(ExitCode::Done)
}
