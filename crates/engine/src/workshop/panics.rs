//! Catches panics of commands, with their message and location.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Where the last panic of this thread happened.
    static LOCATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs something, and describes its panic: the message and the source location.
pub(super) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    note_locations();
    LOCATION.take();
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let message = message(&*payload);
        match LOCATION.take() {
            Some(location) => format!("{message}, at {location}"),
            None => message.to_string(),
        }
    })
}

/// The payload of a panic has no location; only the hook sees it.
fn note_locations() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let earlier = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            let location = info.location().map(ToString::to_string);
            LOCATION.with(|last| *last.borrow_mut() = location);
            earlier(info);
        }));
    });
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_described_by_its_message_and_location() {
        assert_eq!(catch(|| 7), Ok(7));
        let described = catch(|| panic!("index {} is missing", 3)).unwrap_or_else(|text: String| text);
        assert!(described.starts_with("index 3 is missing, at "), "{described}");
        assert!(described.contains("workshop/panics.rs:"), "{described}");
    }
}
