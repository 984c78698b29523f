//! The live page: all repositories and runs of a user in the browser, on the loopback interface.
//!
//! Every page is drawn from the ledgers when it is asked for, at its own address; nothing is kept between two requests
//! but the sessions. A stream tells a window when what it shows has changed, and the window reads its page again. So a
//! lost message or a lost stream can never leave a wrong page behind.

pub mod server;

mod address;
mod assets;
mod frame;
mod home;
pub mod problem;
mod reply;
mod run;
mod words;

pub use run::document;
pub use server::{PageServer, PageStartError};
