//! The part of the sandbox that seccomp enforces: sockets that Landlock does not cover, and privileged system calls.
//!
//! A denied call fails with an ordinary error; the program is not killed.

use super::isolation::Isolation;
use super::policy::Policy;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};
use std::collections::BTreeMap;

/// The filter could not be installed, because the architecture or the kernel does not support it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FilterUnavailable;

/// Whether one process may trace another. Landlock limits tracing to the sandbox, where debuggers and leak detectors
/// need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tracing {
    WithinSandbox,
    Denied,
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Bits to set in the number of a system call: x86-64 has two numbers for each call.
#[cfg(target_arch = "x86_64")]
const ALIASES: [i64; 2] = [0, 0x4000_0000];
#[cfg(not(target_arch = "x86_64"))]
const ALIASES: [i64; 1] = [0];

/// The numbers of calls that only programs with 32-bit pointers use on x86-64, such as tracing and sending. The filter
/// cannot look into their arguments.
#[cfg(target_arch = "x86_64")]
const X32: std::ops::Range<i64> = 512..548;
#[cfg(not(target_arch = "x86_64"))]
const X32: std::ops::Range<i64> = 0..0;

/// Calls that are always denied: mounts, namespaces, modules, clocks, keys, and other privileged kernel interfaces.
const DENIED: &[i64] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
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
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
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

const OPEN_TREE_ATTR: i64 = 467;

const TRACING: &[i64] =
    &[libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev, libc::SYS_pidfd_getfd];

/// Calls that are reported as not implemented, so that programs fall back: a filter can inspect neither the flags of
/// `clone3` nor requests through `io_uring`.
const NOT_IMPLEMENTED: &[i64] =
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

const NEW_TIME_NAMESPACE: libc::c_int = 0x80;

/// Calls on other processes, with the argument that names the process; zero is the caller itself. Without namespaces, the
/// other processes of the user have to be protected.
const ON_PROCESSES: &[(i64, u8)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_migrate_pages, 0),
    (libc::SYS_move_pages, 0),
];

/// Calls that use what all programs of the user share: System V and POSIX queues, semaphores and memory.
const SHARED_BY_USER: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Calls that change the attributes of files, which Landlock does not see.
const ON_ATTRIBUTES: &[i64] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const FILE_SETATTR: i64 = 469;

/// Requests that change something about a file although it is open only for reading: its flags, its version, or whether
/// it can be changed at all.
const ON_OPEN_FILES: [libc::c_int; 6] = [
    0x4008_6602, // FS_IOC_SETFLAGS
    0x4004_6602, // FS_IOC32_SETFLAGS
    0x4008_7602, // FS_IOC_SETVERSION
    0x4008_6604, // EXT4_IOC_SETVERSION
    0x401c_5820, // FS_IOC_FSSETXATTR
    0x4080_6685, // FS_IOC_ENABLE_VERITY
];

/// Requests of Btrfs share a group with those that clone files, which everybody may use.
const BTRFS: (u64, libc::c_int) = (0xff00, 0x9400);
const CLONING: [libc::c_int; 3] = [0x4004_9409, 0x4020_940d, 0xc018_9436_u32.cast_signed()];

/// Calls that change the mode of a file, with the argument that contains the mode.
#[cfg(target_arch = "x86_64")]
const ON_MODES: &[(i64, u8)] =
    &[(libc::SYS_chmod, 1), (libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (libc::SYS_fchmodat2, 2)];
#[cfg(not(target_arch = "x86_64"))]
const ON_MODES: &[(i64, u8)] = &[(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (libc::SYS_fchmodat2, 2)];

/// Restricts the calling thread and every process that it starts.
pub(super) fn enter(
    policy: &Policy,
    isolation: Isolation,
    tracing: Tracing,
) -> Result<(), FilterUnavailable> {
    for program in compile_all(policy, isolation, tracing).ok_or(FilterUnavailable)? {
        apply_filter(&program).map_err(|_| FilterUnavailable)?;
    }
    Ok(())
}

fn compile_all(policy: &Policy, isolation: Isolation, tracing: Tracing) -> Option<Vec<BpfProgram>> {
    let mut denied = unconditional(DENIED);
    if tracing == Tracing::Denied {
        denied.extend(unconditional(TRACING));
    }
    let namespaces =
        || NAMESPACES.iter().map(|namespace| rule(&[has_flag(0, *namespace)])).collect::<Option<Vec<_>>>();
    denied.insert(libc::SYS_clone, namespaces()?);
    // In `clone`, this bit belongs to the number of a signal.
    let time = rule(&[has_flag(0, NEW_TIME_NAMESPACE)]);
    denied.insert(libc::SYS_unshare, namespaces()?.into_iter().chain(time).collect());
    denied.insert(libc::SYS_ioctl, terminal_rules()?);
    // The owner of a file can delay everybody who opens it, although it is open only for reading.
    denied.insert(libc::SYS_fcntl, vec![rule(&[equals(1, libc::F_SETLEASE)])?]);
    let mut sockets = Rules::from([(libc::SYS_socket, socket_rules(policy)?)]);
    if !policy.network {
        sockets.extend(fast_open_rules()?);
        // Without an address, a socket listens on a random port, which Landlock does not see.
        if policy.listens.is_empty() && !policy.sockets {
            sockets.insert(libc::SYS_listen, Vec::new());
        }
    }
    if policy.programs.is_some() {
        // A file in memory could be started, whatever it contains.
        const NO_START: u64 = 8;
        sockets.insert(libc::SYS_memfd_create, vec![rule(&[masked(1, NO_START, 0)])?]);
    }
    let mut not_implemented = unconditional(NOT_IMPLEMENTED);
    not_implemented.extend(X32.map(|call| (call, Vec::new())));
    let mut not_supported = Rules::new();
    if isolation == Isolation::Shared {
        for (call, argument) in ON_PROCESSES {
            denied.insert(*call, vec![rule(&[differs(*argument, 0)])?]);
        }
        for call in [libc::SYS_setpriority, libc::SYS_ioprio_set] {
            denied.entry(call).or_default().push(rule(&[is_all_of_user(call)])?);
        }
        for (call, argument) in ON_MODES {
            let bits = [libc::S_ISUID, libc::S_ISGID];
            let rules = bits.map(|bit| rule(&[has_flag(*argument, bit.cast_signed())]));
            denied.insert(*call, rules.into_iter().collect::<Option<Vec<_>>>()?);
        }
        denied.entry(libc::SYS_ioctl).or_default().extend(file_rules()?);
        not_supported.extend(unconditional(ON_ATTRIBUTES));
        if !policy.shared_memory {
            not_implemented.extend(unconditional(SHARED_BY_USER));
        }
    }
    let mut programs = vec![
        compile(denied, libc::EPERM)?,
        compile(not_implemented, libc::ENOSYS)?,
        compile(sockets, libc::EACCES)?,
    ];
    if !not_supported.is_empty() {
        programs.push(compile(not_supported, libc::ENOTSUP)?);
    }
    Some(programs)
}

/// Requests to write into the input of a terminal, whoever else uses it.
fn terminal_rules() -> Option<Vec<SeccompRule>> {
    const TIOCSTI: libc::c_int = 0x5412;
    const TIOCLINUX: libc::c_int = 0x541c;
    [TIOCSTI, TIOCLINUX].map(|request| rule(&[equals(1, request)])).into_iter().collect()
}

/// Requests that change files which are open only for reading.
fn file_rules() -> Option<Vec<SeccompRule>> {
    let (mask, group) = BTRFS;
    let of_btrfs = [&[masked(1, mask, group)][..], &CLONING.map(|request| differs(1, request))].concat();
    let others = ON_OPEN_FILES.map(|request| rule(&[equals(1, request)]));
    others.into_iter().chain([rule(&of_btrfs)]).collect()
}

/// The condition that a call is about all processes of a user.
fn is_all_of_user(call: i64) -> Condition {
    const IOPRIO_WHO_USER: libc::c_int = 3;
    let kind = if call == libc::SYS_ioprio_set { IOPRIO_WHO_USER } else { libc::PRIO_USER as libc::c_int };
    equals(0, kind)
}

/// The rules for sockets that are denied. Without network, TCP is the only internet protocol that is allowed, because
/// Landlock controls its ports; a program that has to find its services in a shared network also needs UDP.
fn socket_rules(policy: &Policy) -> Option<Vec<SeccompRule>> {
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let mut rules = vec![rule(&families.map(|family| differs(0, family)))?];
    rules.push(rule(&[equals(0, libc::AF_NETLINK), differs(2, libc::NETLINK_ROUTE)])?);
    if !policy.sockets {
        rules.push(rule(&[equals(0, libc::AF_UNIX)])?);
    }
    if !policy.network {
        let has_services = !policy.services.is_empty();
        for family in [libc::AF_INET, libc::AF_INET6] {
            let datagram_protocol = if has_services { libc::IPPROTO_UDP } else { 0 };
            let protocols = [0, libc::IPPROTO_TCP, datagram_protocol].map(|protocol| differs(2, protocol));
            rules.push(rule(&[&[equals(0, family)][..], &protocols].concat())?);
            let is_allowed =
                |kind: i32| kind == libc::SOCK_STREAM || has_services && kind == libc::SOCK_DGRAM;
            let kinds = (0..16).filter(|kind| !is_allowed(*kind));
            for kind in kinds {
                rules.push(rule(&[equals(0, family), masked(1, 0xf, kind)])?);
            }
        }
    }
    Some(rules)
}

/// The rules against connecting while sending, which Landlock does not see.
fn fast_open_rules() -> Option<Rules> {
    let sends = |argument: u8| Some(vec![rule(&[has_flag(argument, libc::MSG_FASTOPEN)])?]);
    let option = [equals(1, libc::IPPROTO_TCP), equals(2, libc::TCP_FASTOPEN_CONNECT)];
    Some(Rules::from([
        (libc::SYS_sendto, sends(3)?),
        (libc::SYS_sendmsg, sends(2)?),
        (libc::SYS_sendmmsg, sends(3)?),
        (libc::SYS_setsockopt, vec![rule(&option)?]),
    ]))
}

fn unconditional(calls: &[i64]) -> Rules {
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

fn has_flag(argument: u8, bit: libc::c_int) -> Condition {
    masked(argument, u64::from(bit.cast_unsigned()), bit)
}

fn rule(conditions: &[Condition]) -> Option<SeccompRule> {
    let conditions = conditions.iter().map(|(argument, operator, value)| {
        let value = u64::from(value.cast_unsigned());
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), value).ok()
    });
    SeccompRule::new(conditions.collect::<Option<Vec<_>>>()?).ok()
}

fn compile(rules: Rules, errno: libc::c_int) -> Option<BpfProgram> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    let rules = rules
        .into_iter()
        .flat_map(|(call, rules)| ALIASES.map(|alias| (call | alias, rules.clone())))
        .collect();
    let refusal = SeccompAction::Errno(errno.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refusal, architecture).ok()?;
    filter.try_into().ok()
}
