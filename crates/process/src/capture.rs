//! Reads one output stream of a job and keeps its head and its tail.

use super::ended::CapturedOutput;
use super::message::JobMessage;
use super::watch::{AfterLine, LineWatch, Stream};
use std::collections::VecDeque;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The watch receives a line that is longer than this in pieces.
const MAX_LINE_LENGTH: usize = 8 * 1024 * 1024;

/// When a job last wrote to either stream, and what its watch expects next.
#[derive(Debug)]
pub(super) struct Pulse {
    start: Instant,
    /// Milliseconds from `start` to the last output.
    millis: AtomicU64,
    expects_silence: AtomicBool,
    expects_end: AtomicBool,
}

impl Pulse {
    pub fn new(start: Instant) -> Pulse {
        Pulse {
            start,
            millis: AtomicU64::new(0),
            expects_silence: AtomicBool::new(false),
            expects_end: AtomicBool::new(false),
        }
    }

    /// Returns whether the watch expects silence.
    pub fn expects_silence(&self) -> bool {
        self.expects_silence.load(Ordering::Relaxed)
    }

    /// Returns whether the watch expects the job to end.
    pub fn expects_end(&self) -> bool {
        self.expects_end.load(Ordering::Relaxed)
    }

    fn expect(&self, next: AfterLine) {
        self.expects_silence.store(next == AfterLine::Silence, Ordering::Relaxed);
        self.expects_end.store(next == AfterLine::End, Ordering::Relaxed);
    }

    /// When the job last wrote.
    pub fn last_output(&self) -> Instant {
        self.start + std::time::Duration::from_millis(self.millis.load(Ordering::Relaxed))
    }

    fn record_output(&self) {
        let millis = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.millis.fetch_max(millis, Ordering::Relaxed);
    }
}

/// The output of one stream so far. It can be read while the stream is still open.
#[derive(Debug)]
pub(super) struct Capture {
    limit: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Capture {
    pub fn new(limit: usize) -> Capture {
        Capture { limit, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let head_room = (self.limit - self.limit / 2).saturating_sub(self.head.len());
        let (head, rest) = bytes.split_at(head_room.min(bytes.len()));
        self.head.extend_from_slice(head);
        let tail_limit = self.limit / 2;
        let rest = &rest[rest.len().saturating_sub(tail_limit)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(tail_limit);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    pub fn finish(&self) -> CapturedOutput {
        let kept = self.head.len() + self.tail.len();
        let dropped = self.total - kept as u64;
        let mut bytes = self.head.clone();
        if dropped > 0 {
            bytes.extend_from_slice(format!("\n[remand: {dropped} bytes left out]\n").as_bytes());
        }
        bytes.extend(&self.tail);
        CapturedOutput { bytes, truncated: dropped > 0, total: self.total }
    }
}

/// Reads one stream: stores its bytes and passes its lines to the watch.
pub(super) struct Reader {
    pub stream: Stream,
    pub capture: Arc<Mutex<Capture>>,
    pub pulse: Arc<Pulse>,
    pub watch: Option<LineWatch>,
    pub messages: Sender<JobMessage>,
}

impl Reader {
    /// Reads to the end. `Closed` is sent even if the watch panics.
    pub fn read(self, mut pipe: impl Read) {
        let _closed = SendClosed(self.stream, self.messages);
        let mut lines = Lines::default();
        let mut chunk = [0_u8; 16 * 1024];
        loop {
            let bytes = match pipe.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => &chunk[..count],
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                // A pipe that cannot be read counts as closed; the output so far is kept.
                Err(_) => break,
            };
            self.pulse.record_output();
            self.capture.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
            if let Some(watch) = &self.watch {
                lines.push(bytes, |line| self.pulse.expect(watch(self.stream, line)));
            }
        }
        if let Some(watch) = &self.watch {
            lines.finish(|line| self.pulse.expect(watch(self.stream, line)));
        }
    }
}

/// Sends `Closed` when it is dropped.
struct SendClosed(Stream, Sender<JobMessage>);

impl Drop for SendClosed {
    fn drop(&mut self) {
        // The receiver is gone if the job was given up as unkillable.
        let _ = self.1.send(JobMessage::Closed(self.0));
    }
}

/// Splits chunks into lines.
#[derive(Default)]
struct Lines {
    /// The start of a line that is not complete yet.
    partial: Vec<u8>,
}

impl Lines {
    fn push(&mut self, bytes: &[u8], mut visit: impl FnMut(&[u8])) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if self.partial.ends_with(b"\n") || self.partial.len() >= MAX_LINE_LENGTH {
                self.finish(&mut visit);
            }
        }
    }

    fn finish(&mut self, mut visit: impl FnMut(&[u8])) {
        if self.partial.is_empty() {
            return;
        }
        let line = self.partial.strip_suffix(b"\n").unwrap_or(&self.partial);
        visit(line.strip_suffix(b"\r").unwrap_or(line));
        self.partial.clear();
    }
}
