//! Reads one output stream of a job and keeps its head and its tail.

use super::ended::CapturedOutput;
use super::news::News;
use super::watch::{AfterLine, LineWatch, Stream};
use std::collections::VecDeque;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A line longer than this is handed to the watch in pieces.
const LONGEST_LINE: usize = 8 * 1024 * 1024;

/// When a job last wrote to either stream, and what its watch expects next.
#[derive(Debug)]
pub(super) struct Pulse {
    start: Instant,
    millis: AtomicU64,
    /// Whether the watch expects silence.
    is_quiet: AtomicBool,
    /// Whether the watch expects the job to end.
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

    /// Returns whether silence is expected at the moment.
    pub fn is_quiet(&self) -> bool {
        self.is_quiet.load(Ordering::Relaxed)
    }

    /// Returns whether the job has written its last line.
    pub fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    fn expect(&self, next: AfterLine) {
        self.is_quiet.store(next == AfterLine::Silence, Ordering::Relaxed);
        self.is_ending.store(next == AfterLine::End, Ordering::Relaxed);
    }

    pub fn last(&self) -> Instant {
        self.start + std::time::Duration::from_millis(self.millis.load(Ordering::Relaxed))
    }

    fn beat(&self) {
        let millis = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.millis.fetch_max(millis, Ordering::Relaxed);
    }
}

/// What one stream has written so far; can be read while its thread is still running.
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
    pub news: Sender<News>,
}

impl Reader {
    /// Reads to the end; `Closed` is sent even when the watch panics.
    pub fn read(self, mut pipe: impl Read) {
        let _closed = Closed(self.stream, self.news);
        let mut lines = Lines::default();
        let mut chunk = [0_u8; 16 * 1024];
        loop {
            let bytes = match pipe.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => &chunk[..count],
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                // A pipe that cannot be read is as good as closed; what was read so far counts.
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
        // The receiver is gone if the job was given up as unkillable.
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
