//! Chance and time that a program takes from the system: on the thread of a world, from its seed and its clock.
//!
//! | seam | whose |
//! |---|---|
//! | `getrandom` | the keys of hash maps, the ids of `uuid`, the seeds of `rand` and of `ahash` |
//! | `clock_gettime` | `SystemTime` and `Instant`, by the time of the world's Tokio runtime |
//! | the seed of `fastrand` | the pauses before retries |
//!
//! This file's functions take the place of the C library's in this binary. Other threads get what the system gives. A
//! world runs on a thread of its own, because a thread keeps its first keys. `ring` asks the kernel itself; what it
//! makes of that is in cursors and tokens only, whose text decides nothing.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{c_int, c_long, c_uint, c_void};
use std::time::Duration;
use tokio::time::Instant;

/// The time that begins a world, in seconds since 1970: 2026-01-01T00:00:00Z.
pub const BEGIN: u64 = 1_767_225_600;

thread_local! {
    /// The state of the world's chance.
    static CHANCE: Cell<Option<u64>> = const { Cell::new(None) };
    /// When the world began, by its runtime's clock.
    static ORIGIN: Cell<Option<Instant>> = const { Cell::new(None) };
    /// By how many milliseconds the clock of whoever runs now is ahead.
    static SKEW: Cell<i64> = const { Cell::new(0) };
}

/// From here on, this thread takes chance from a seed.
pub fn seed(seed: u64) {
    CHANCE.set(Some(seed));
    fastrand::seed(seed);
}

/// From here on, this thread takes time from its Tokio runtime, whose clock is paused.
pub fn begin() {
    ORIGIN.set(Some(Instant::now()));
}

/// The thread's chance and time are the system's again.
pub fn end() {
    CHANCE.set(None);
    ORIGIN.set(None);
}

/// Does something with a clock that is ahead by so many milliseconds, and behind if there are less than none.
pub fn with_skew<T>(milliseconds: i64, work: impl FnOnce() -> T) -> T {
    let before = SKEW.replace(milliseconds);
    let done = work();
    SKEW.set(before);
    done
}

/// How long the world has lasted.
fn lasted() -> Option<Duration> {
    // What this calls may ask for the time itself.
    let origin = ORIGIN.take()?;
    let lasted = Instant::now().saturating_duration_since(origin);
    ORIGIN.set(Some(origin));
    Some(lasted)
}

/// The next number of the generator SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The time of a clock of the C library.
#[repr(C)]
pub struct Timespec {
    seconds: i64,
    nanoseconds: c_long,
}

/// Fills a buffer by chance.
///
/// # Safety
///
/// The buffer has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut c_void, length: usize, flags: c_uint) -> isize {
    let Ok(Some(mut state)) = CHANCE.try_with(Cell::get) else {
        // SAFETY: these are the arguments of the call.
        return unsafe { libc::syscall(libc::SYS_getrandom, buffer, length, flags) as isize };
    };
    if length > 0 {
        // SAFETY: the caller gives a buffer of this length.
        let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), length) };
        bytes.iter_mut().for_each(|byte| *byte = next(&mut state) as u8);
    }
    CHANCE.set(Some(state));
    length as isize
}

/// Asks a clock for the time.
///
/// # Safety
///
/// `time` is a place for the time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int {
    let lasted = ORIGIN.try_with(|_| ()).ok().and_then(|()| lasted());
    let Some(lasted) = lasted else {
        // SAFETY: these are the arguments of the call.
        return unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) as c_int };
    };
    let begin = if clock == libc::CLOCK_REALTIME { Duration::from_secs(BEGIN) } else { Duration::from_secs(1_000_000) };
    let skew = if clock == libc::CLOCK_REALTIME { SKEW.get() } else { 0 };
    let nanoseconds = (begin + lasted).as_nanos() as i128 + i128::from(skew) * 1_000_000;
    let seconds = nanoseconds.div_euclid(1_000_000_000) as i64;
    let now = Timespec { seconds, nanoseconds: nanoseconds.rem_euclid(1_000_000_000) as c_long };
    // SAFETY: the caller gives a place for the time.
    unsafe { time.write(now) };
    0
}
