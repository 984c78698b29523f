//! Joins the kernel with a panic handler and a heap of our own, so that nothing is left for `std` to bring.
//!
//! Built by `tools/layering`, never run.
#![no_std]

extern crate remand_kernel;

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

struct NoHeap;

// SAFETY: an allocator may always refuse, and what it never gave out never comes back.
unsafe impl GlobalAlloc for NoHeap {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static HEAP: NoHeap = NoHeap;

// `std` defines the same lang item: one `extern crate std` anywhere below the kernel is error E0152 here.
#[panic_handler]
fn halt(_: &PanicInfo) -> ! {
    loop {}
}
