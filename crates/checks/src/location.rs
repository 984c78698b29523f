//! Reads the file and line of a failure from an output.

use regex::Regex;
use remand_kernel::finding::Location;
use std::path::Path;
use std::sync::LazyLock;

// The pattern is constant, so it cannot fail to compile.
static LOCATIONS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"File "([^"]+)", line (\d+)|(?:file://)?([\w./@+-]*[\w@+-]\.\w+)(?::(\d+)|\((\d+),\d+\))"#)
        .ok()
});

/// The number of bytes after a name that are searched for a location.
const MAX_DISTANCE: usize = 2000;
/// The number of occurrences of a name that are considered.
const MAX_OCCURRENCES: usize = 100;

/// The first location in a text whose file is in the work tree; empty if there is none.
pub fn location(text: &str, tree: &Path) -> Location {
    first(text, tree).map_or_else(Location::default, |(_, location)| location)
}

/// The location that follows most closely after a name. Runners also list names without locations.
pub fn location_of(name: &str, text: &str, tree: &Path) -> Location {
    let following = text.match_indices(name).take(MAX_OCCURRENCES).filter_map(|(at, _)| {
        let end = text.len().min(at + name.len() + MAX_DISTANCE);
        let end = (at + name.len()..=end).rev().find(|end| text.is_char_boundary(*end))?;
        first(&text[at + name.len()..end], tree)
    });
    following.min_by_key(|(distance, _)| *distance).map_or_else(Location::default, |(_, location)| location)
}

fn first(text: &str, tree: &Path) -> Option<(usize, Location)> {
    LOCATIONS.as_ref()?.captures_iter(text).find_map(|found| {
        let file = found.get(1).or_else(|| found.get(3))?;
        let line = found.get(2).or_else(|| found.get(4)).or_else(|| found.get(5))?.as_str();
        let path = Path::new(file.as_str());
        let inside = path.strip_prefix(tree).unwrap_or(path);
        let exists = !inside.is_absolute() && tree.join(inside).is_file();
        let location = || Location {
            file: inside.to_string_lossy().trim_start_matches("./").to_string(),
            symbol: String::new(),
            line: line.parse().unwrap_or(0),
        };
        exists.then(|| (file.start(), location()))
    })
}
