//! The binary `remand`: reads the command line, runs one subcommand, prints what it returns.

mod agents;
mod beginning;
mod bench;
mod cli;
mod commands;
mod demo;
mod draw;
mod driving;
mod embedded;
mod exit;
mod export;
mod found;
mod gauntlet;
mod load;
mod progress;
mod recording;
mod table;
mod terminal;
mod workplace;

use clap::Parser;
use std::process::ExitCode;

/// Events are many small allocations, and a replay makes them on two threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match commands::run(&cli) {
        Ok(exit) => exit.code(),
        Err(failure) => {
            failure.print();
            if cli.json {
                // Whoever asked for JSON gets it, also of a failure; on a line of its own behind those of a run.
                let _ = exit::print_line(&failure.json());
            }
            failure.exit.code()
        }
    }
}
