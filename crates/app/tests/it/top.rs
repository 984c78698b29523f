//! The terminal view: what it draws, and what it does at a real terminal.

mod drawn;
mod screen;
mod tmux;
