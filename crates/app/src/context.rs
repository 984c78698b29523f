//! The global command-line options.

use std::path::Path;

/// The options that every subcommand accepts.
pub struct CommandContext<'c> {
    pub json: bool,
    pub roles: Option<&'c Path>,
    /// The folder to work in, if not the current one.
    pub directory: Option<&'c Path>,
    /// The state directory, if not the default one.
    pub state: Option<&'c Path>,
}
