//! Where a failure is, as far as an output tells.

use regex::Regex;
use remand_kernel::finding::Place;
use std::path::Path;
use std::sync::LazyLock;

static PLACES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"File "([^"]+)", line (\d+)|(?:file://)?([\w./@+-]*[\w@+-]\.\w+)(?::(\d+)|\((\d+),\d+\))"#)
        .ok()
});

/// How far behind its name the place of a test is looked for, and how often the name is looked for.
const REACH: usize = 2000;
const MOST: usize = 100;

/// The first place in a text whose file is in the work tree; empty where there is none.
pub fn place(text: &str, tree: &Path) -> Place {
    first(text, tree).map_or_else(Place::default, |(_, place)| place)
}

/// The place that stands closest behind a name; runners list names before they tell where each one failed.
pub fn place_of(name: &str, text: &str, tree: &Path) -> Place {
    let near = text.match_indices(name).take(MOST).filter_map(|(at, _)| {
        let end = text.len().min(at + name.len() + REACH);
        let end = (at + name.len()..=end).rev().find(|end| text.is_char_boundary(*end))?;
        first(&text[at + name.len()..end], tree)
    });
    near.min_by_key(|(distance, _)| *distance).map_or_else(Place::default, |(_, place)| place)
}

fn first(text: &str, tree: &Path) -> Option<(usize, Place)> {
    PLACES.as_ref()?.captures_iter(text).find_map(|found| {
        let file = found.get(1).or_else(|| found.get(3))?;
        let line = found.get(2).or_else(|| found.get(4)).or_else(|| found.get(5))?.as_str();
        let path = Path::new(file.as_str());
        let inside = path.strip_prefix(tree).unwrap_or(path);
        let is_there = !inside.is_absolute() && tree.join(inside).is_file();
        let place = || Place {
            file: inside.to_string_lossy().trim_start_matches("./").to_string(),
            symbol: String::new(),
            line: line.parse().unwrap_or(0),
        };
        is_there.then(|| (file.start(), place()))
    })
}
