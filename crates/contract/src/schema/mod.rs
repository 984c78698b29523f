//! The schemas of results: Rust types from which the JSON Schema and the outline are generated.
//!
//! All payloads share `words.rs` and `header.rs`. Each kind of payload has its own file.

pub mod decision;
pub mod design;
pub mod diagnosis;
pub mod document;
pub mod failure;
pub mod finding;
pub mod gaps;
pub mod header;
pub mod implementation;
pub mod knowledge;
pub mod plan;
pub mod research;
pub mod review;
pub mod spec;
pub mod verification;
pub mod words;

mod catalogue;

pub use catalogue::{MAJOR, Schema, SchemaId, VERSION, schema, schemas};
