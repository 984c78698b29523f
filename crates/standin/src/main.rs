//! `standin`: plays a script as a model, for manual use.

use clap::Parser;
use remand_agents::rehearsal::Script;
use remand_standin::{Options, Standin};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Plays a rehearsal as a model on the loopback interface
#[derive(Debug, Parser)]
struct Args {
    /// The rehearsal
    script: PathBuf,
    /// The port [default: any free one]
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// The log file, with one line of JSON for each request
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut cause = error.source();
            while let Some(error) = cause {
                eprintln!("caused by: {error}");
                cause = error.source();
            }
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> Result<(), Box<dyn Error>> {
    let script = Script::load(&args.script)?;
    let standin = Standin::start_with(script, Options { port: args.port, log: args.log })?;
    println!("{}", standin.url());
    standin.wait();
    Ok(())
}
