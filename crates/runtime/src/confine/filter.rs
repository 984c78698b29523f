//! The part of the sandbox that seccomp enforces: sockets that Landlock does not know, and calls that only widen reach.
//!
//! A refused call fails with an error that programs know; none is killed for trying.

use super::policy::Policy;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};
use std::collections::BTreeMap;

/// The filter could not be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unfiltered;

/// Whether one process may look into another. Landlock keeps that inside the sandbox, where debuggers and leak
/// detectors need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tracing {
    InsideTheSandbox,
    Denied,
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// On this machine the same calls can be made by other numbers.
#[cfg(target_arch = "x86_64")]
const ALIASES: [i64; 2] = [0, 0x4000_0000];
#[cfg(not(target_arch = "x86_64"))]
const ALIASES: [i64; 1] = [0];

/// Mounts, namespaces, modules, clocks, keys, and windows into the kernel.
const REFUSED: &[i64] = &[
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

/// Said not to exist, so that programs fall back: the flags of `clone3` cannot be looked at, and what goes through a
/// ring is seen by no filter.
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

/// Restricts the calling thread, and every process that it starts.
pub(super) fn enter(policy: &Policy, tracing: Tracing) -> Result<(), Unfiltered> {
    for program in programs(policy, tracing).ok_or(Unfiltered)? {
        apply_filter(&program).map_err(|_| Unfiltered)?;
    }
    Ok(())
}

fn programs(policy: &Policy, tracing: Tracing) -> Option<Vec<BpfProgram>> {
    let mut refused = always(REFUSED);
    if tracing == Tracing::Denied {
        refused.extend(always(TRACING));
    }
    let spaces = || NAMESPACES.iter().map(|space| rule(&[flag(0, *space)])).collect::<Option<Vec<_>>>();
    refused.insert(libc::SYS_clone, spaces()?);
    refused.insert(libc::SYS_unshare, spaces()?);
    let sockets = Rules::from([(libc::SYS_socket, sockets(policy)?)]);
    Some(vec![
        compiled(refused, libc::EPERM)?,
        compiled(always(ABSENT), libc::ENOSYS)?,
        compiled(sockets, libc::EACCES)?,
    ])
}

/// Which sockets are refused. Of the internet only TCP is left, which Landlock rules by port; other protocols of the
/// same shape are not its business and would slip through.
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
