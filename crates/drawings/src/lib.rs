//! Drawings of a program: routing matrix, terminal text, Mermaid, Graphviz and SVG, all from the same edges.
//!
//! The crate is pure: it turns a program into text, the same text each time. It does not decide what a route means;
//! `remand_kernel::resolve` does.

pub mod columns;
pub mod phrase;

pub mod edges;
mod label;
mod shared;

pub mod matrix;
mod text;

mod dot;
mod mermaid;
mod nodes;

mod asides;
mod card;
mod lanes;
mod layout;
mod legend;
pub mod marks;
mod measure;
mod outline;
mod stroke;
mod svg;

#[cfg(test)]
mod sample;

pub use dot::dot;
pub use mermaid::mermaid;
pub use outline::{OutlineRow, WayBack, outline};
pub use svg::{run_svg, svg};
pub use text::text;
