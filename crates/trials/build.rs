//! Embeds the files of the demonstrations and the gauntlet into the binary, so that adding one needs no code.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The folders, and the names of their file lists in `src/embedded.rs`.
const FOLDERS: [(&str, &str); 2] = [("DEMO", "demo"), ("GAUNTLET", "gauntlet")];

/// Folders that toolchains leave behind when somebody runs a project in place.
const LITTER: [&str; 3] = ["__pycache__", "node_modules", "target"];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    let mut code = String::new();
    for (name, folder) in FOLDERS {
        let folder = root.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files = Vec::new();
        collect(&folder, &mut files)?;
        files.sort();
        writeln!(code, "pub static {name}: &[EmbeddedFile] = &[")?;
        for file in files {
            let path = file.strip_prefix(&folder)?.to_str().ok_or("a path is not UTF-8")?;
            writeln!(code, "    EmbeddedFile {{ path: {path:?}, text: include_str!({file:?}) }},")?;
        }
        writeln!(code, "];")?;
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("embedded.rs"), code)?;
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if LITTER.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => collect(&entry.path(), files)?,
            false => files.push(entry.path()),
        }
    }
    Ok(())
}
