//! `spec`: a specification refined in rounds until no gap is open.

mod ends;
mod rollback;
mod rounds;
