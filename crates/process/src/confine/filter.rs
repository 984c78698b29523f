//! The part of the sandbox that seccomp enforces: sockets that Landlock does not cover, and privileged system calls.
//!
//! A denied call fails with an ordinary error; the program is not killed.

use super::policy::{Enforcement, EnforcementLevel, Policy, TCP};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};
use std::collections::BTreeMap;

/// The filter could not be installed: the architecture or the kernel does not support it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unfiltered;

/// Whether one process may trace another. Landlock limits that to the sandbox, where debuggers and leak detectors need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tracing {
    InsideTheSandbox,
    Denied,
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Offsets at which the same system calls have a second number on this architecture.
#[cfg(target_arch = "x86_64")]
const ALIASES: [i64; 2] = [0, 0x4000_0000];
#[cfg(not(target_arch = "x86_64"))]
const ALIASES: [i64; 1] = [0];

/// Mounts, namespaces, modules, clocks, keys, and other privileged kernel interfaces.
const DENIED: &[i64] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_open_by_handle_at,
    libc::SYS_syslog,
    libc::SYS_vhangup,
];

const TRACING: &[i64] =
    &[libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev, libc::SYS_pidfd_getfd];

/// Reported as not implemented, so that programs fall back: a filter can inspect neither the flags of `clone3` nor
/// requests through `io_uring`.
const ABSENT: &[i64] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Restricts the calling thread and every process that it starts.
pub(super) fn enter(policy: &Policy, tracing: Tracing) -> Result<(), Unfiltered> {
    for program in programs(policy, tracing).ok_or(Unfiltered)? {
        apply_filter(&program).map_err(|_| Unfiltered)?;
    }
    Ok(())
}

impl Enforcement {
    /// Adds what seccomp enforces, or the gaps if it could not be installed.
    pub(super) fn filtered_by(&mut self, filtered: Result<(), Unfiltered>, policy: &Policy) {
        if filtered.is_ok() {
            let whole = !self.gaps.iter().any(|gap| gap == TCP);
            if self.network == EnforcementLevel::Partial && whole {
                self.network = EnforcementLevel::Full;
            }
            return;
        }
        if !policy.network && policy.ports.is_empty() {
            self.gaps.push("UDP and other traffic that is not TCP".to_string());
        }
        if !policy.sockets {
            self.gaps.push("Unix sockets by path".to_string());
        }
        self.gaps.push("namespaces, mounts and keys of the kernel".to_string());
    }
}

fn programs(policy: &Policy, tracing: Tracing) -> Option<Vec<BpfProgram>> {
    let mut denied = always(DENIED);
    if tracing == Tracing::Denied {
        denied.extend(always(TRACING));
    }
    let spaces = || NAMESPACES.iter().map(|space| rule(&[flag(0, *space)])).collect::<Option<Vec<_>>>();
    denied.insert(libc::SYS_clone, spaces()?);
    denied.insert(libc::SYS_unshare, spaces()?);
    let sockets = Rules::from([(libc::SYS_socket, sockets(policy)?)]);
    Some(vec![
        compiled(denied, libc::EPERM)?,
        compiled(always(ABSENT), libc::ENOSYS)?,
        compiled(sockets, libc::EACCES)?,
    ])
}

/// The sockets that are denied. Of the internet protocols only TCP is allowed, whose ports Landlock controls. It does not
/// control other stream protocols, so they are denied here.
fn sockets(policy: &Policy) -> Option<Vec<SeccompRule>> {
    let known = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let mut rules = vec![rule(&known.map(|family| differs(0, family)))?];
    rules.push(rule(&[equals(0, libc::AF_NETLINK), differs(2, libc::NETLINK_ROUTE)])?);
    if !policy.sockets {
        rules.push(rule(&[equals(0, libc::AF_UNIX)])?);
    }
    if !policy.network && policy.ports.is_empty() {
        for family in [libc::AF_INET, libc::AF_INET6] {
            rules.push(rule(&[equals(0, family), differs(2, 0), differs(2, libc::IPPROTO_TCP)])?);
            let kinds = (0..16).filter(|kind| *kind != libc::SOCK_STREAM);
            for kind in kinds {
                rules.push(rule(&[equals(0, family), masked(1, 0xf, kind)])?);
            }
        }
    }
    Some(rules)
}

fn always(calls: &[i64]) -> Rules {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

type Condition = (u8, SeccompCmpOp, libc::c_int);

fn equals(argument: u8, value: libc::c_int) -> Condition {
    (argument, SeccompCmpOp::Eq, value)
}

fn differs(argument: u8, value: libc::c_int) -> Condition {
    (argument, SeccompCmpOp::Ne, value)
}

fn masked(argument: u8, mask: u64, value: libc::c_int) -> Condition {
    (argument, SeccompCmpOp::MaskedEq(mask), value)
}

fn flag(argument: u8, bit: libc::c_int) -> Condition {
    masked(argument, u64::from(bit.cast_unsigned()), bit)
}

fn rule(conditions: &[Condition]) -> Option<SeccompRule> {
    let conditions = conditions.iter().map(|(argument, operator, value)| {
        let value = u64::from(value.cast_unsigned());
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), value).ok()
    });
    SeccompRule::new(conditions.collect::<Option<Vec<_>>>()?).ok()
}

fn compiled(rules: Rules, errno: libc::c_int) -> Option<BpfProgram> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    let rules = rules
        .into_iter()
        .flat_map(|(call, rules)| ALIASES.map(|alias| (call | alias, rules.clone())))
        .collect();
    let refusal = SeccompAction::Errno(errno.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refusal, architecture).ok()?;
    filter.try_into().ok()
}
