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

type Toolchain = fn(&Path, &Probe<'_>) -> Vec<CheckSpec>;

/// Each gives its checks, or none where its markers are missing.
pub const TOOLCHAINS: [Toolchain; 6] =
    [cargo::checks, python::checks, node::checks, go::checks, cmake::checks, maven::checks];

/// A Makefile often only calls the others, so it is asked where nothing else is found.
pub const LAST: Toolchain = make::checks;
