//! The channel between a supervisor and the init of its program: a socket that is not passed to the program.

use super::ended::ProgramEnd;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// The variable that makes the first process of a namespace an init.
pub(super) const INIT_ROLE: &str = "REMAND_INIT";

/// What an init reports to its supervisor, one message per line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum InitMessage {
    Started,
    /// Something of the program could not be made private; the program has not started.
    NotPrivate {
        what: String,
        why: String,
    },
    /// The program has not started.
    Failed {
        why: String,
    },
    Ended(ProgramEnd),
}

/// What an init gets from its supervisor.
pub(super) struct InitFiles {
    pub stdin: OwnedFd,
    pub report: Option<OwnedFd>,
}

/// Sends the files of the program.
pub(super) fn send_files(
    channel: &UnixStream,
    stdin: BorrowedFd<'_>,
    report: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let files: Vec<BorrowedFd<'_>> = [Some(stdin), report].into_iter().flatten().collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&files));
    sendmsg(channel, &[IoSlice::new(b"f")], &mut ancillary, SendFlags::empty())?;
    Ok(())
}

/// Receives the files of the program.
pub(super) fn receive_files(channel: &UnixStream) -> io::Result<InitFiles> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(channel.as_fd(), &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let mut files = ancillary.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => files.collect::<Vec<OwnedFd>>(),
        _ => Vec::new(),
    });
    let stdin = files.next().ok_or_else(|| io::Error::other("the supervisor sent no files"))?;
    Ok(InitFiles { stdin, report: files.next() })
}

/// Sends a message to the supervisor.
pub(super) fn send(mut channel: &UnixStream, message: &InitMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(message).map_err(io::Error::other)?;
    line.push(b'\n');
    channel.write_all(&line)
}

/// The messages of an init, until it ends.
pub(super) struct InitMessages(BufReader<UnixStream>);

impl InitMessages {
    pub fn new(channel: UnixStream) -> InitMessages {
        InitMessages(BufReader::new(channel))
    }
}

impl Iterator for InitMessages {
    type Item = InitMessage;

    fn next(&mut self) -> Option<InitMessage> {
        let mut line = String::new();
        self.0.read_line(&mut line).ok().filter(|length| *length > 0)?;
        serde_json::from_str(&line).ok()
    }
}
