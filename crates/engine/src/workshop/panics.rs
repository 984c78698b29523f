//! Catches panics of commands, with their message and location.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

thread_local! {
    /// The source location of the last panic of this thread.
    static LOCATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work`. The error describes its panic: message and source location.
pub(super) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    record_locations();
    LOCATION.take();
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let message = message(&*payload);
        match LOCATION.take() {
            Some(location) => format!("{message}, at {location}"),
            None => message.to_string(),
        }
    })
}

/// Installs a panic hook, because only the hook gets the location of a panic.
fn record_locations() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            let location = info.location().map(ToString::to_string);
            LOCATION.with(|last| *last.borrow_mut() = location);
            previous(info);
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
