//! What root may do inside the sandbox: no more than any other user does to files of its own.

use rustix::thread::{CapabilitySet, clear_ambient_capability_set, remove_capability_from_bounding_set};

/// Without these, programs that run as root stumble over ordinary files.
const KEPT: [CapabilitySet; 7] = [
    CapabilitySet::CHOWN,
    CapabilitySet::DAC_OVERRIDE,
    CapabilitySet::FOWNER,
    CapabilitySet::FSETID,
    CapabilitySet::KILL,
    CapabilitySet::SETGID,
    CapabilitySet::SETUID,
];

/// Takes from the programs that this thread starts what only an administrator needs.
pub(super) fn drop_dangerous() {
    // Whoever has none to give away has none to use either.
    let _ = clear_ambient_capability_set();
    for capability in CapabilitySet::all().iter().filter(|capability| !KEPT.contains(capability)) {
        let _ = remove_capability_from_bounding_set(capability);
    }
}
