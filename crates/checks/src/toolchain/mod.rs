//! Toolchains by their marker files, one per file.

mod cargo;
mod cmake;
mod go;
mod make;
mod maven;
pub mod nix;
mod node;
mod python;

use super::probe::ToolProbe;
use super::spec::CheckSpec;
use std::path::Path;

/// How one toolchain is detected and used.
pub struct Toolchain {
    /// Files that mark their folder as a project.
    pub markers: &'static [&'static str],
    pub below: Below,
    /// Whether the checks of a project cover another project of the same kind below it.
    pub covers: fn(Nested<'_>) -> bool,
    /// The name under which other projects depend on the one in a folder.
    pub name: fn(&Path) -> Option<String>,
    /// What the project in a folder depends on, by its manifest.
    pub leans: fn(&Path) -> Vec<Lean>,
    pub workspace: Workspace,
    /// The checks of the project in a folder; none if it has no markers.
    pub checks: fn(&Path, &ToolProbe<'_>) -> Vec<CheckSpec>,
}

/// Whether the checks of a project can run for some of the projects that they cover.
pub enum Workspace {
    /// They always run for all.
    None,
    Members {
        /// How commands name the project in a folder, given its relative path; none if they cannot.
        name: fn(&Path, &str) -> Option<String>,
        /// Whether the manifest above lists the project below as a member.
        lists: fn(Nested<'_>) -> bool,
        /// Endings of files that may name paths.
        sources: &'static [&'static str],
    },
}

/// Which files the checks of a project look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// Its own, without those of other projects below it.
    Own,
    /// All files below it.
    All,
}

/// A project below another one.
#[derive(Clone, Copy, Debug)]
pub struct Nested<'n> {
    pub above: &'n Path,
    pub folder: &'n Path,
    /// The path from the one above to the one below.
    pub way: &'n str,
}

/// What a project depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lean {
    Name(String),
    /// Relative to the folder of the project.
    Folder(String),
    /// Its manifest cannot be understood, so it may depend on anything.
    Anything,
}

/// All toolchains except Make.
pub const TOOLCHAINS: [Toolchain; 6] =
    [cargo::TOOLCHAIN, python::TOOLCHAIN, node::TOOLCHAIN, go::TOOLCHAIN, cmake::TOOLCHAIN, maven::TOOLCHAIN];

/// A Makefile often only calls the others, so it counts only where none of them is present.
pub const LAST: Toolchain = make::TOOLCHAIN;

fn no_name(_: &Path) -> Option<String> {
    None
}

fn always(_: Nested<'_>) -> bool {
    true
}

/// The text of a file; a manifest that cannot be read counts as absent.
fn read(folder: &Path, file: &str) -> Option<String> {
    std::fs::read_to_string(folder.join(file)).ok()
}

/// A manifest that is not TOML counts as empty: the toolchain itself reports the error.
fn toml_file(folder: &Path, file: &str) -> toml::Table {
    read(folder, file).and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Whether a folder matches a pattern such as `packages/*` or `apps/**`.
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
