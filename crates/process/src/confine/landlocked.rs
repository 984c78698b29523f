//! The part of the sandbox that Landlock enforces: files, programs, TCP, signals.

use crate::confine::mounting::refer_to;
use crate::confine::policy::{ConfineError, Policy};
use crate::confine::readable::readable;
use crate::confine::upstream::shared_ports;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, NetPort, PathBeneath, RestrictSelf, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope, make_bitflags,
};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The newest Landlock version that we request; older kernels enforce the part that they support.
const ABI: ABI = ABI::V9;

/// Devices that programs can write to without changing the machine.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

const SHARED_MEMORY: &str = "/dev/shm";

const DEVICE_ACCESS: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate | IoctlDev});

/// The folders that programs must read to start, if reading is limited.
const SYSTEM_FOLDERS: [&str; 13] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/proc", "/sys",
    "/dev",
];

/// Restricts the calling thread and every process that it becomes or starts. Returns the version of Landlock.
pub fn enter(policy: &Policy) -> Result<u32, ConfineError> {
    let mut handled = match (policy.read_only.is_empty(), policy.hidden.is_empty()) {
        (true, true) => AccessFs::from_write(ABI),
        (true, false) => AccessFs::from_write(ABI) | AccessFs::ReadFile | AccessFs::ReadDir,
        (false, _) => AccessFs::from_all(ABI),
    };
    let execute = match policy.programs {
        Some(_) => AccessFs::Execute.into(),
        None => BitFlags::<AccessFs>::empty(),
    };
    handled |= execute;
    let mut ruleset = Ruleset::default().handle_access(handled).map_err(kernel_error)?;
    ruleset = ruleset.scope(Scope::Signal).map_err(kernel_error)?;
    if !policy.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI)).map_err(kernel_error)?;
        ruleset = ruleset.scope(Scope::AbstractUnixSocket).map_err(kernel_error)?;
    }
    let mut created = ruleset.create().map_err(kernel_error)?;
    for port in shared_ports(policy).iter().filter(|_| !policy.network) {
        created = created.add_rule(NetPort::new(*port, AccessNet::ConnectTcp)).map_err(kernel_error)?;
    }
    for port in policy.listens.iter().filter(|_| !policy.network) {
        let bind_and_connect = AccessNet::BindTcp | AccessNet::ConnectTcp;
        created = created.add_rule(NetPort::new(*port, bind_and_connect)).map_err(kernel_error)?;
    }
    for path in &policy.read_write {
        created = allow(created, path, handled & !execute)?;
    }
    for path in &policy.read_only {
        created = allow(created, path, AccessFs::from_read(ABI) & !execute)?;
    }
    if policy.read_only.is_empty() && !policy.hidden.is_empty() {
        let hidden = [policy.hidden.clone(), disks()].concat();
        for path in readable(&hidden, &policy.shown) {
            // A path that has disappeared or cannot be opened needs no permission.
            if let (Ok(opened), Ok(metadata)) = (refer_to(&path), path.symlink_metadata()) {
                let read = match metadata.is_dir() {
                    true => AccessFs::ReadFile | AccessFs::ReadDir,
                    false => AccessFs::ReadFile.into(),
                };
                created = created.add_rule(PathBeneath::new(opened, read)).map_err(kernel_error)?;
            }
        }
    }
    for program in policy.programs.iter().flatten() {
        created = allow(created, program, handled & (AccessFs::Execute | AccessFs::ReadFile))?;
    }
    if let (true, Ok(opened)) = (policy.shared_memory, refer_to(Path::new(SHARED_MEMORY))) {
        let access = handled & !execute & !(AccessFs::MakeSock | AccessFs::MakeFifo | AccessFs::MakeDir);
        created = created.add_rule(PathBeneath::new(opened, access)).map_err(kernel_error)?;
    }
    for path in DEVICES.iter().map(PathBuf::from).filter(|path| path.exists()) {
        created = allow(created, &path, handled & DEVICE_ACCESS)?;
    }
    if !policy.read_only.is_empty() {
        for path in SYSTEM_FOLDERS.iter().map(PathBuf::from).filter(|path| path.exists()) {
            created = allow(created, &path, AccessFs::from_read(ABI) & !execute)?;
        }
    }
    let status = created.restrict_self().map_err(kernel_error)?;
    Ok(version_of(&status.landlock))
}

/// The version of Landlock that `enter` would enforce; zero without it.
pub fn version() -> u32 {
    match RestrictSelf::default().no_new_privs(false).apply() {
        Ok(status) => version_of(&status.landlock),
        // A kernel that refuses the call has no Landlock.
        Err(_) => 0,
    }
}

fn version_of(status: &LandlockStatus) -> u32 {
    match status {
        LandlockStatus::Available { effective_abi, .. } => *effective_abi as u32,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
    }
}

/// Devices through which root could read everything that is hidden.
fn disks() -> Vec<PathBuf> {
    let memory = ["/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg"].map(PathBuf::from);
    let entries = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let disks = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_block_device()));
    disks.map(|entry| entry.path()).chain(memory).filter(|path| path.exists()).collect()
}

fn allow(
    created: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, ConfineError> {
    let missing = |source| ConfineError::Missing { path: path.into(), source };
    let metadata = path.metadata().map_err(missing)?;
    let access = if metadata.is_dir() { access } else { access & AccessFs::from_file(ABI) };
    let opened = refer_to(path).map_err(missing)?;
    created.add_rule(PathBeneath::new(opened, access)).map_err(kernel_error)
}

fn kernel_error(error: RulesetError) -> ConfineError {
    ConfineError::Kernel { why: error.to_string() }
}
