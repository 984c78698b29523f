//! Drawings of a program: routing matrix, terminal text, Mermaid, Graphviz and SVG, all from the same edges.
//!
//! Pure: a program in, text out, the same text each time. Nothing here decides what a route means; that is
//! `remand_kernel::resolve`.

mod columns;
pub mod phrase;

pub mod edges;
mod label;
mod shared;

pub mod matrix;
mod text;

mod dot;
mod mermaid;
mod nodes;

mod card;
mod lanes;
mod layout;
mod leaders;
mod legend;
mod measure;
mod stroke;
mod svg;

#[cfg(test)]
mod sample;

pub use dot::dot;
pub use mermaid::mermaid;
pub use svg::svg;
pub use text::text;
