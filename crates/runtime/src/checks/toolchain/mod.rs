//! Toolchains by their marker files, one per file (OT-23).

mod cargo;
mod cmake;
mod go;
mod make;
mod maven;
pub mod nix;
mod node;
mod python;

use super::detect::Probe;
use super::spec::CheckSpec;
use std::path::Path;

/// What is known of one toolchain.
pub struct Toolchain {
    /// Files that tell of a project in the folder that they are in.
    pub markers: &'static [&'static str],
    pub below: Below,
    /// Whether the checks of a project see to another one of the same kind below it.
    pub covers: fn(Nested<'_>) -> bool,
    /// The name by which other projects lean on the one in a folder.
    pub name: fn(&Path) -> Option<String>,
    /// What the project in a folder leans on, by its manifest.
    pub leans: fn(&Path) -> Vec<Lean>,
    pub workspace: Workspace,
    /// The checks of the project in a folder; none where it has no markers.
    pub checks: fn(&Path, &Probe<'_>) -> Vec<CheckSpec>,
}

/// How the checks of a project tell the projects apart that they see to as well.
pub enum Workspace {
    /// They do not.
    None,
    Members {
        /// How commands name the one in a folder, by the way to it; none where they cannot.
        name: fn(&Path, &str) -> Option<String>,
        /// Whether the manifest above says that one below belongs to it.
        lists: fn(Nested<'_>) -> bool,
        /// Endings of files in which one may name paths.
        sources: &'static [&'static str],
    },
}

/// Whose files the checks of a project at the root look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// Its own: other projects below it are nothing to it.
    Own,
    /// All that are below it.
    All,
}

/// A project below another one.
#[derive(Clone, Copy, Debug)]
pub struct Nested<'n> {
    pub above: &'n Path,
    pub folder: &'n Path,
    /// From the one above to the other.
    pub way: &'n str,
}

/// What a project leans on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lean {
    Name(String),
    /// Relative to the folder of the project.
    Folder(String),
    /// What its manifest says is not understood, so that it may be anything.
    Anything,
}

/// All toolchains but Make.
pub const TOOLCHAINS: [Toolchain; 6] =
    [cargo::TOOLCHAIN, python::TOOLCHAIN, node::TOOLCHAIN, go::TOOLCHAIN, cmake::TOOLCHAIN, maven::TOOLCHAIN];

/// A Makefile often only calls the others, so it is asked where there is none of them.
pub const LAST: Toolchain = make::TOOLCHAIN;

fn no_name(_: &Path) -> Option<String> {
    None
}

fn always(_: Nested<'_>) -> bool {
    true
}

fn read(folder: &Path, file: &str) -> Option<String> {
    std::fs::read_to_string(folder.join(file)).ok()
}

fn toml_file(folder: &Path, file: &str) -> toml::Table {
    read(folder, file).and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Whether a folder is one of a pattern such as `packages/*` or `apps/**`.
fn matches(pattern: &str, folder: &str) -> bool {
    let pattern: Vec<&str> = pattern.trim_start_matches("./").trim_end_matches('/').split('/').collect();
    let folder: Vec<&str> = folder.split('/').collect();
    match pattern.iter().position(|part| *part == "**") {
        Some(at) => folder.len() >= at && pattern[..at] == folder[..at],
        None => {
            pattern.len() == folder.len() && pattern.iter().zip(&folder).all(|(part, name)| fits(part, name))
        }
    }
}

fn fits(part: &str, name: &str) -> bool {
    match part.split_once('*') {
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
        None => part == name,
    }
}
