//! The binary `remand`: reads the command line, runs one subcommand, and reports its failure.

mod context;
mod environment;
mod workplace;

mod installed_agents;

mod agents;
mod load;
mod project_checks;
mod proof;

mod request_text;

mod attestation;
mod base_settings;
mod given;
mod hook;

mod beginning;
mod host;
mod outlook;

mod finding_counts;
mod forge;
mod gate;

mod answering;
mod browsing;
mod detaching;
mod granting;
mod prompt;
mod watching;

mod notifying;
mod posting;

mod closing;
mod driving;
mod progress;
mod vetting;

mod landing;
mod requests;
mod retrying;

mod export;
mod recording;

mod groups;

mod cli;
mod commands;

use remand_engine::logging;
use remand_terminal::CommandFailure;
use remand_terminal::output::{print_failure, print_line};

/// Faster than the default allocator for a replay, which makes many small allocations on two threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    let cli = cli::RemandCli::read();
    match start_log(&cli).and_then(|()| cli.run()) {
        Ok(exit) => exit.code(),
        Err(failure) => {
            print_failure(&failure);
            if cli.json {
                // The failure is one more line of JSON, after the lines of the run.
                let _ = print_line(&failure.json());
            }
            failure.exit.code()
        }
    }
}

fn start_log(cli: &cli::RemandCli) -> Result<(), CommandFailure> {
    let filter = std::env::var(logging::VARIABLE).ok();
    logging::start(cli.verbose, filter.as_deref()).map_err(|error| {
        CommandFailure::user(
            error.to_string(),
            "set it to a level such as `debug`, or to `remand_engine::host=debug`",
        )
    })
}
