//! Toolchains, detected by their marker files; one toolchain per source file.

pub mod cargo;
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
    pub files: FilesBelow,
    /// Whether the checks of a project cover another project of the same kind below it.
    pub covers: fn(Nested<'_>) -> bool,
    /// The name under which other projects depend on the one in a folder.
    pub name: fn(&Path) -> Option<String>,
    /// The dependencies of the project in a folder, from its manifest.
    pub dependencies: fn(&Path) -> Vec<Dependency>,
    pub workspace: Workspace,
    /// The checks of the project in a folder; empty if it has no markers.
    pub checks: fn(&Path, &ToolProbe<'_>) -> Vec<CheckSpec>,
}

/// Whether the checks of a project can run for some of the projects that they cover.
pub enum Workspace {
    /// The checks always run for all of them.
    None,
    Members {
        /// The name of a project in commands, by its folder and its relative path; `None` if commands cannot name it.
        name: fn(&Path, &str) -> Option<String>,
        /// Whether the manifest above lists the project below as a member.
        lists: fn(Nested<'_>) -> bool,
        /// Extensions of source files that may name paths.
        sources: &'static [&'static str],
    },
}

/// Which files the checks of a project look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesBelow {
    /// The files of the project, without those of other projects below it.
    Own,
    /// All files below the project's folder.
    All,
}

/// A project below another one.
#[derive(Clone, Copy, Debug)]
pub struct Nested<'n> {
    pub above: &'n Path,
    pub folder: &'n Path,
    /// The path of the project below, relative to the one above.
    pub relative: &'n str,
}

/// A dependency of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dependency {
    Name(String),
    /// Relative to the folder of the project.
    Folder(String),
    /// The manifest cannot be understood, so the project may depend on anything.
    Anything,
}

/// All toolchains except Make.
pub const TOOLCHAINS: [Toolchain; 6] =
    [cargo::TOOLCHAIN, python::TOOLCHAIN, node::TOOLCHAIN, go::TOOLCHAIN, cmake::TOOLCHAIN, maven::TOOLCHAIN];

/// A Makefile often only calls the other tools, so it counts only if no other toolchain is near it.
pub const FALLBACK: Toolchain = make::TOOLCHAIN;

fn no_name(_: &Path) -> Option<String> {
    None
}

fn always(_: Nested<'_>) -> bool {
    true
}

/// The content of a manifest; one that cannot be read counts as absent.
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
            pattern.len() == folder.len()
                && pattern.iter().zip(&folder).all(|(part, name)| matches_name(part, name))
        }
    }
}

fn matches_name(part: &str, name: &str) -> bool {
    match part.split_once('*') {
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
        None => part == name,
    }
}
