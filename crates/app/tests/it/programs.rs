//! The engine drives real agent programs with a stand-in for the model: the script says what the model asks the
//! program to do.

/// One test per program, with its expectations.
macro_rules! each {
    ($test:ident: $($name:ident = $program:expr $(, $expected:expr)*;)+) => {$(
        #[test]
        fn $name() {
            $test($program $(, $expected)*);
        }
    )+};
}

mod briefed;
mod cancelled;
pub mod desk;
mod failing;
mod greeting;
mod mixed;
mod named;
mod own;
mod patient;
mod protocol;
mod reading;
mod remembering;
mod serving;
mod signed_in;
mod stopping;
mod telling;
mod working;
