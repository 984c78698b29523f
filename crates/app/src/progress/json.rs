//! One line of JSON on standard output for each committed step.

use remand_engine::host::{CommittedStep, DriveWatch, ResumedRun};
use remand_terminal::Stop;
use remand_terminal::output::print_line;
use remand_views::progress as words;
use serde_json::json;

/// Prints committed steps as JSON, for other tools.
#[derive(Debug)]
pub struct JsonLines {
    stop: Stop,
}

impl JsonLines {
    pub fn new(stop: Stop) -> JsonLines {
        JsonLines { stop }
    }
}

impl DriveWatch for JsonLines {
    fn resumed(&mut self, resumed: &ResumedRun<'_>) {
        let running = words::running(resumed.program, resumed.open);
        let line = json!({
            "run": resumed.run,
            "at": remand_engine::clock::iso(remand_engine::clock::now()),
            "again": running.iter().map(|command| &command.text).collect::<Vec<_>>(),
            "used": resumed.state.used,
        });
        let _ = print_line(&line);
    }

    fn committed(&mut self, committed: &CommittedStep<'_>) {
        let change = words::change(committed);
        let line = json!({
            "run": committed.run,
            "at": remand_engine::clock::iso(change.at),
            "notes": change.notes,
            "rulings": change.rulings,
            "commands": change.commands.iter().map(|command| &command.text).collect::<Vec<_>>(),
            "used": committed.state.used,
        });
        // A closed pipe does not stop the run.
        let _ = print_line(&line);
    }

    fn should_stop(&self) -> bool {
        self.stop.is_set()
    }
}
