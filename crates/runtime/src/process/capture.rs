//! Reads one output stream of a job and keeps its head and its tail.

use super::ended::Captured;
use super::run::News;
use std::collections::VecDeque;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Which of its two streams a job wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// Sees each line without its end as it comes, called from a thread per stream, and says what may follow.
pub type Watch = Arc<dyn Fn(Stream, &[u8]) -> Next + Send + Sync>;

/// What may follow a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// More output, within the silence that the job is allowed.
    Output,
    /// Silence for as long as it takes: something is at work that says nothing.
    Silence,
    /// Nothing but the end.
    End,
}

/// A line longer than this is handed to the watch in pieces.
const LONGEST_LINE: usize = 8 * 1024 * 1024;

/// The moment of the last output of a job, of either stream.
#[derive(Debug)]
pub(super) struct Pulse {
    start: Instant,
    millis: AtomicU64,
    /// Whether silence is what the job said would follow.
    is_quiet: AtomicBool,
    /// Whether the end is.
    is_ending: AtomicBool,
}

impl Pulse {
    pub fn new(start: Instant) -> Pulse {
        Pulse {
            start,
            millis: AtomicU64::new(0),
            is_quiet: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
        }
    }

    /// Tells whether silence means nothing at the moment.
    pub fn is_quiet(&self) -> bool {
        self.is_quiet.load(Ordering::Relaxed)
    }

    /// Tells whether the job has said its last.
    pub fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    fn expect(&self, next: Next) {
        self.is_quiet.store(next == Next::Silence, Ordering::Relaxed);
        self.is_ending.store(next == Next::End, Ordering::Relaxed);
    }

    pub fn last(&self) -> Instant {
        self.start + std::time::Duration::from_millis(self.millis.load(Ordering::Relaxed))
    }

    fn beat(&self) {
        let millis = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.millis.fetch_max(millis, Ordering::Relaxed);
    }
}

/// What one stream brought so far; read while its thread may still be at work.
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
        let room = (self.limit - self.limit / 2).saturating_sub(self.head.len());
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        let keep = self.limit / 2;
        let rest = &rest[rest.len().saturating_sub(keep)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(keep);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    pub fn finish(&self) -> Captured {
        let kept = self.head.len() + self.tail.len();
        let dropped = self.total - kept as u64;
        let mut bytes = self.head.clone();
        if dropped > 0 {
            bytes.extend_from_slice(format!("\n[remand: {dropped} bytes left out]\n").as_bytes());
        }
        bytes.extend(&self.tail);
        Captured { bytes, truncated: dropped > 0, total: self.total }
    }
}

/// One stream's reader: where it puts what it reads, and whom it tells.
pub(super) struct Reader {
    pub stream: Stream,
    pub capture: Arc<Mutex<Capture>>,
    pub pulse: Arc<Pulse>,
    pub watch: Option<Watch>,
    pub news: Sender<News>,
}

impl Reader {
    /// Reads to the end; the news of the end is sent even when the watch panics.
    pub fn read(self, mut pipe: impl Read) {
        let _closed = Closed(self.stream, self.news);
        let mut lines = Lines::default();
        let mut chunk = [0_u8; 16 * 1024];
        loop {
            let bytes = match pipe.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => &chunk[..count],
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            self.pulse.beat();
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

struct Closed(Stream, Sender<News>);

impl Drop for Closed {
    fn drop(&mut self) {
        // Nobody listens when the job was given up as unkillable.
        let _ = self.1.send(News::Closed(self.0));
    }
}

/// Cuts chunks into lines.
#[derive(Default)]
struct Lines {
    open: Vec<u8>,
}

impl Lines {
    fn push(&mut self, bytes: &[u8], mut see: impl FnMut(&[u8])) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.open.extend_from_slice(piece);
            if self.open.ends_with(b"\n") || self.open.len() >= LONGEST_LINE {
                self.finish(&mut see);
            }
        }
    }

    fn finish(&mut self, mut see: impl FnMut(&[u8])) {
        if self.open.is_empty() {
            return;
        }
        let line = self.open.strip_suffix(b"\n").unwrap_or(&self.open);
        see(line.strip_suffix(b"\r").unwrap_or(line));
        self.open.clear();
    }
}
