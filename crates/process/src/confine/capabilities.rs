//! The capabilities of root inside the sandbox: only those for files, signals and user ids.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

/// The capabilities that programs need if they run as root.
const KEPT: [CapabilitySet; 7] = [
    CapabilitySet::CHOWN,
    CapabilitySet::DAC_OVERRIDE,
    CapabilitySet::FOWNER,
    CapabilitySet::FSETID,
    CapabilitySet::KILL,
    CapabilitySet::SETGID,
    CapabilitySet::SETUID,
];

/// Removes administrative capabilities from the programs that this thread starts.
pub(super) fn drop_administrative() {
    // These calls fail only for a process without privileges, which has no capabilities to lose.
    let _ = clear_ambient_capability_set();
    for capability in CapabilitySet::all().iter().filter(|capability| !KEPT.contains(capability)) {
        let _ = remove_capability_from_bounding_set(capability);
    }
    if let Ok(sets) = capabilities(None) {
        let _ = set_capabilities(None, CapabilitySets { inheritable: CapabilitySet::empty(), ..sets });
    }
}
