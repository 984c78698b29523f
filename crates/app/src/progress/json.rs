//! One JSON object a line on standard output for each committed step.

use super::{Stop, words};
use crate::exit::print_line;
use remand_kernel::view;
use remand_runtime::host::{News, TakenUp, Watch};
use serde_json::json;

/// Prints what was committed, for programs.
#[derive(Debug)]
pub struct JsonLines {
    stop: Stop,
}

impl JsonLines {
    pub fn new(stop: Stop) -> JsonLines {
        JsonLines { stop }
    }
}

impl Watch for JsonLines {
    fn taken_up(&mut self, taken: &TakenUp<'_>) {
        let under_way =
            taken.open.iter().filter(|command| words::under_way(taken.program, command).is_some());
        let line = json!({
            "run": taken.run,
            "at": remand_runtime::clock::iso(remand_runtime::clock::now()),
            "again": under_way.map(|command| view::command(taken.program, command)).collect::<Vec<_>>(),
            "used": taken.state.used,
        });
        let _ = print_line(&line);
    }

    fn published(&mut self, news: &News<'_>) {
        let rulings: Vec<_> =
            news.step.rulings.iter().map(|ruling| view::ruling(news.program, news.state, ruling)).collect();
        let commands: Vec<String> =
            news.step.commands.iter().map(|command| view::command(news.program, command)).collect();
        let line = json!({
            "run": news.run,
            "at": remand_runtime::clock::iso(news.at),
            "notes": news.facts.notes,
            "rulings": rulings,
            "commands": commands,
            "used": news.state.used,
        });
        // A reader that went away does not stop the run.
        let _ = print_line(&line);
    }

    fn told_to_stop(&self) -> bool {
        self.stop.is_set()
    }
}
