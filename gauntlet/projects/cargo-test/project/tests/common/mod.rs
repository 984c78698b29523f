use std::fs;

/// Titles, each with the slug that it must have.
pub fn titles() -> Vec<(String, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/titles.txt");
    let text = fs::read_to_string(path).expect("the titles");
    let pairs = text.lines().filter_map(|line| line.split_once('|'));
    pairs.map(|(title, wanted)| (title.to_string(), wanted.to_string())).collect()
}
