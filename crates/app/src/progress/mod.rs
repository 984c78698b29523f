//! What the user sees while a run is driven: a live view on a terminal, plain lines elsewhere, JSON on request.

mod json;
mod live;
mod plain;

use remand_engine::activity::ActivityBoard;
use remand_engine::host::DriveWatch;
use remand_terminal::Stop;
use remand_terminal::ink::is_capable;

pub use json::JsonLines;
pub use live::Live;
pub use plain::Plain;

/// The view for this output.
pub fn view(json: bool, stop: &Stop, activity: ActivityBoard) -> Box<dyn DriveWatch> {
    if json {
        Box::new(JsonLines::new(stop.clone()))
    } else if is_capable(&std::io::stderr()) {
        Box::new(Live::new(stop.clone(), activity))
    } else {
        Box::new(Plain::new(stop.clone(), activity))
    }
}
