//! The only unsafe code of this crate: fixed-size stores into a buffer's spare room, without a check per byte.
//! A key is one 32-byte store of which only `len` bytes count; text is stored sixteen bytes at a time and kept up to the first byte that
//! needs an escape. `Vec`'s safe methods check and copy by length.
//!
//! **Invariant:** every safe function here reserves the most it can write before it writes (`begin`), and sets the length to a pointer that
//! lies in that room (`finish`), with every byte below it written. Reads stay inside the slices given: the end of a text is loaded as its
//! last whole block, never from beyond it.
//!
//! **Cost:** one capacity check per call.
#![allow(unsafe_code)]

use crate::answer::output_plan::ResponseKey;
use weir_language::string_value::JSON_ESCAPES;

/// The bytes one padded store writes.
const PAD: usize = 32;
/// The most digits of an `i64`, with its sign.
const INT_MAX: usize = 20;
/// Text is escaped in parts of this size, so that the room kept for the worst case stays small.
const PART: usize = 4096;
/// Room for one part of escaped text: six bytes per byte, two quotes, one block stored past the end, and the comma.
const fn text_room(len: usize) -> usize {
    6 * len + 2 + 16 + 1
}

/// Makes sure of `room` bytes and gives the place behind the last byte.
#[inline(always)]
fn begin(bytes: &mut Vec<u8>, room: usize) -> *mut u8 {
    bytes.reserve(room);
    // SAFETY: `len` is at most the capacity, so the place is inside the allocation or one past its end.
    unsafe { bytes.as_mut_ptr().add(bytes.len()) }
}

/// # Safety
/// `at` came from `begin` on `bytes` and was advanced within the room asked for; all bytes below it are written.
#[inline(always)]
unsafe fn finish(bytes: &mut Vec<u8>, at: *mut u8) {
    // SAFETY: by the contract `at` is in the same allocation, not below its start, and the bytes before it are written.
    unsafe {
        let len = at.offset_from(bytes.as_ptr()) as usize;
        debug_assert!(len <= bytes.capacity());
        bytes.set_len(len);
    }
}

/// Writes `key` and makes sure of `room` bytes after it.
#[inline(always)]
fn begin_member(bytes: &mut Vec<u8>, key: &ResponseKey, room: usize) -> *mut u8 {
    let len = key.len as usize;
    if len > PAD {
        bytes.extend_from_slice(key.bytes());
        return begin(bytes, room);
    }
    let at = begin(bytes, PAD + room);
    // SAFETY: `begin` made room for 32 bytes; `head` has exactly 32, and `len <= 32` of them are kept.
    unsafe {
        std::ptr::copy_nonoverlapping(key.head.as_ptr(), at, PAD);
        at.add(len)
    }
}

/// Appends `key`.
#[inline(always)]
pub(super) fn key(bytes: &mut Vec<u8>, key: &ResponseKey) {
    let at = begin_member(bytes, key, 0);
    // SAFETY: `begin_member` gives the end of what it wrote.
    unsafe { finish(bytes, at) }
}

/// Appends `key` and the first `len` bytes of `word`.
#[inline(always)]
pub(super) fn member_word(bytes: &mut Vec<u8>, key: &ResponseKey, word: &[u8; 8], len: usize) {
    let at = begin_member(bytes, key, 8);
    // SAFETY: room for 8 bytes was made; 8 are stored, at most 8 are kept.
    unsafe {
        std::ptr::copy_nonoverlapping(word.as_ptr(), at, 8);
        finish(bytes, at.add(len.min(8)));
    }
}

/// Appends the first `len` bytes of `word`.
#[inline(always)]
pub(super) fn word(bytes: &mut Vec<u8>, word: &[u8; 8], len: usize) {
    let at = begin(bytes, 8);
    // SAFETY: as in `member_word`.
    unsafe {
        std::ptr::copy_nonoverlapping(word.as_ptr(), at, 8);
        finish(bytes, at.add(len.min(8)));
    }
}

/// Appends `key`, the digits of `value` and a comma.
#[inline(always)]
pub(super) fn member_int(bytes: &mut Vec<u8>, key: &ResponseKey, value: i64) {
    let at = begin_member(bytes, key, INT_MAX + 1);
    // SAFETY: room for the longest integer and one byte was made.
    unsafe {
        let at = put_int(at, value);
        at.write(b',');
        finish(bytes, at.add(1));
    }
}

/// Appends the digits of `value`.
#[inline(always)]
pub(super) fn int(bytes: &mut Vec<u8>, value: i64) {
    let at = begin(bytes, INT_MAX);
    // SAFETY: room for the longest integer was made.
    unsafe {
        let at = put_int(at, value);
        finish(bytes, at);
    }
}

/// Appends `key`, the shortest digits of `value`, which is finite, and a comma.
#[inline(always)]
pub(super) fn member_float(bytes: &mut Vec<u8>, key: &ResponseKey, value: f64) {
    let at = begin_member(bytes, key, FLOAT_MAX + 1);
    // SAFETY: room for the longest number and one byte was made.
    unsafe {
        let at = put_float(at, value);
        at.write(b',');
        finish(bytes, at.add(1));
    }
}

/// Appends the shortest digits of `value`, which is finite.
#[inline(always)]
pub(super) fn float(bytes: &mut Vec<u8>, value: f64) {
    let at = begin(bytes, FLOAT_MAX);
    // SAFETY: room for the longest number was made.
    unsafe {
        let at = put_float(at, value);
        finish(bytes, at);
    }
}

/// Appends `key`, `text` as a JSON string and a comma.
#[inline(always)]
pub(super) fn member_text(bytes: &mut Vec<u8>, key: &ResponseKey, text: &[u8]) {
    if text.len() > PART {
        self::key(bytes, key);
        long_text(bytes, text);
        return bytes.push(b',');
    }
    let at = begin_member(bytes, key, text_room(text.len()));
    // SAFETY: room for the escaped text, its quotes, one block and a comma was made.
    unsafe {
        at.write(b'"');
        let at = put_escaped(at.add(1), text, |_| {});
        at.write(b'"');
        at.add(1).write(b',');
        finish(bytes, at.add(2));
    }
}

/// Appends `key`, `text` as a JSON string and a comma if `text` is UTF-8; otherwise appends nothing and gives `false`. The pass that
/// escapes finds out if it is ASCII, as most texts are.
#[inline(always)]
pub(super) fn member_unchecked(bytes: &mut Vec<u8>, key: &ResponseKey, text: &[u8]) -> bool {
    let mark = bytes.len();
    let mut other_bytes = 0;
    if text.len() > PART {
        other_bytes = 1;
        member_text(bytes, key, text);
    } else {
        let at = begin_member(bytes, key, text_room(text.len()));
        // SAFETY: as in `member_text`.
        unsafe {
            at.write(b'"');
            let at = put_escaped(at.add(1), text, |bits| other_bytes |= bits);
            at.write(b'"');
            at.add(1).write(b',');
            finish(bytes, at.add(2));
        }
    }
    if other_bytes == 0 || std::str::from_utf8(text).is_ok() {
        return true;
    }
    bytes.truncate(mark);
    false
}

/// Appends `text` as a JSON string.
#[inline(always)]
pub(super) fn text(bytes: &mut Vec<u8>, text: &[u8]) {
    if text.len() > PART {
        return long_text(bytes, text);
    }
    let at = begin(bytes, text_room(text.len()));
    // SAFETY: room for the escaped text, its quotes and one block was made.
    unsafe {
        at.write(b'"');
        let at = put_escaped(at.add(1), text, |_| {});
        at.write(b'"');
        finish(bytes, at.add(1));
    }
}

#[cold]
#[inline(never)]
fn long_text(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.push(b'"');
    for part in text.chunks(PART) {
        let at = begin(bytes, text_room(part.len()));
        // SAFETY: room for the escaped part and one block was made.
        unsafe {
            let at = put_escaped(at, part, |_| {});
            finish(bytes, at);
        }
    }
    bytes.push(b'"');
}

/// Appends `key`, `source[start..end]` between quotes, and a comma.
#[inline(always)]
pub(super) fn member_plain(bytes: &mut Vec<u8>, key: &ResponseKey, source: &[u8], start: usize, end: usize) {
    let len = end.wrapping_sub(start);
    match source.get(start..).and_then(|rest| rest.first_chunk::<PAD>()) {
        Some(block) if len <= PAD => {
            let at = begin_member(bytes, key, 1 + PAD + 2);
            // SAFETY: room for a quote, 32 bytes, a quote and a comma was made; `block` has 32 bytes, of which
            // `len <= 32` are kept.
            unsafe {
                at.write(b'"');
                std::ptr::copy_nonoverlapping(block.as_ptr(), at.add(1), PAD);
                at.add(len + 1).write(b'"');
                at.add(len + 2).write(b',');
                finish(bytes, at.add(len + 3));
            }
        }
        Some(_) | None => {
            self::key(bytes, key);
            bytes.push(b'"');
            bytes.extend_from_slice(&source[start..end]);
            bytes.extend_from_slice(b"\",");
        }
    }
}

/// Appends `source[start..end]`, by one padded store where it is short and not at the source's end.
#[inline(always)]
pub(super) fn span(bytes: &mut Vec<u8>, source: &[u8], start: usize, end: usize) {
    let len = end.wrapping_sub(start);
    match source.get(start..).and_then(|rest| rest.first_chunk::<PAD>()) {
        Some(block) if len <= PAD => {
            let at = begin(bytes, PAD);
            // SAFETY: `begin` made room for 32 bytes; `block` has 32, of which `len <= 32` are kept.
            unsafe {
                std::ptr::copy_nonoverlapping(block.as_ptr(), at, PAD);
                finish(bytes, at.add(len));
            }
        }
        Some(_) | None => bytes.extend_from_slice(&source[start..end]),
    }
}

/// The most bytes `zmij` writes, and the size of its buffer.
const FLOAT_MAX: usize = 24;
const _: () = assert!(size_of::<zmij::Buffer>() == FLOAT_MAX);

/// Numbers below this have at most 15 digits with two behind the point.
const CENTS_BELOW: f64 = 1e13;

/// Added and taken away again, it rounds a number below 2 to the 51st to the nearest integer.
const TO_INTEGER: f64 = 1.5 * (1_u64 << 52) as f64;

/// The number of hundredths that `value` is, if its shortest digits have at most two behind the point, as prices and ratings do.
///
/// A number of at most 15 digits is the only one of so few digits that reads as its `f64`, and a correctly rounded quotient by 100 is how
/// such digits are read. So where the quotient is `value`, the digits of the hundredths are its shortest.
/// Source: Clinger, "How to read floating point numbers accurately" (1990).
#[inline(always)]
fn hundredths(value: f64) -> Option<u64> {
    let size = value.abs();
    // Zero has a sign to be kept, and what is no number is not below anything.
    if !(size > 0.0 && size < CENTS_BELOW) {
        return None;
    }
    let scaled = size * 100.0;
    let count = (scaled + TO_INTEGER) - TO_INTEGER;
    // Most other numbers are told from these without the division.
    if (scaled - count).abs() > scaled * f64::EPSILON || count / 100.0 != size {
        return None;
    }
    // SAFETY: an integer of at most 10 to the 15th.
    Some(unsafe { count.to_int_unchecked() })
}

/// # Safety
/// `at` has room for [`FLOAT_MAX`] bytes; `value` may be anything.
#[inline(always)]
unsafe fn put_float(at: *mut u8, value: f64) -> *mut u8 {
    let Some(count) = hundredths(value) else {
        // SAFETY: by the contract.
        return unsafe { put_any_float(at, value) };
    };
    let pair = PAIRS[(count % 100) as usize];
    // SAFETY: at most 13 digits and a sign stand before the point, and three bytes from it on.
    unsafe {
        at.write(b'-');
        let at = put_digits(at.add(usize::from(value < 0.0)), count / 100);
        at.write(b'.');
        std::ptr::copy_nonoverlapping(pair.as_ptr(), at.add(1), 2);
        match pair {
            [b'0', b'0'] => at,
            [_, b'0'] => at.add(2),
            _ => at.add(3),
        }
    }
}

/// # Safety
/// `at` has room for [`FLOAT_MAX`] bytes; `value` may be anything.
#[inline(always)]
unsafe fn put_any_float(at: *mut u8, value: f64) -> *mut u8 {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(value);
    let start = text.as_ptr();
    let len = text.len() - 2 * usize::from(text.ends_with(".0")); // `9.0` is `9`.
    let whole = (&raw const buffer).cast::<u8>();
    // SAFETY: the buffer is as large as the room. Bytes after the text may be unwritten; they are copied untyped and lie past the end that
    // is returned. Where the text is not in front (`NaN`), it alone is copied; it is shorter than the room.
    unsafe {
        if std::ptr::eq(start, whole) {
            std::ptr::copy_nonoverlapping(whole, at, FLOAT_MAX);
        } else {
            std::ptr::copy_nonoverlapping(start, at, len);
        }
        at.add(len)
    }
}

/// Two digits each of 0 to 99.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut at = 0;
    while at < 100 {
        pairs[at] = [b'0' + (at / 10) as u8, b'0' + (at % 10) as u8];
        at += 1;
    }
    pairs
};

/// The number of decimal digits of `value`.
#[inline(always)]
fn digits(value: u64) -> usize {
    const POWERS: [u64; 20] = {
        let mut powers = [0; 20];
        let mut at = 1;
        let mut power = 10_u64;
        while at < 20 {
            powers[at] = power;
            power = power.wrapping_mul(10);
            at += 1;
        }
        powers
    };
    // 1233 / 4096 is just above log10(2): the guess is exact or one too small.
    let guess = ((64 - (value | 1).leading_zeros() as usize) * 1233) >> 12;
    guess + usize::from(value >= POWERS[guess])
}

/// # Safety
/// `at` has room for [`INT_MAX`] bytes.
#[inline(always)]
unsafe fn put_int(at: *mut u8, value: i64) -> *mut u8 {
    // SAFETY: a sign and at most 19 digits are 20 bytes.
    unsafe {
        at.write(b'-');
        put_digits(at.add(usize::from(value < 0)), value.unsigned_abs())
    }
}

/// # Safety
/// `at` has room for the digits of `left`, which is below 10 to the 19th.
#[inline(always)]
unsafe fn put_digits(at: *mut u8, mut left: u64) -> *mut u8 {
    let count = digits(left);
    // SAFETY: `place` starts behind the last digit and goes down by one or two per step, `count` in all, so it ends at the first digit.
    unsafe {
        let end = at.add(count);
        let mut place = end;
        while left >= 100 {
            place = place.sub(2);
            let pair = PAIRS[(left % 100) as usize];
            left /= 100;
            std::ptr::copy_nonoverlapping(pair.as_ptr(), place, 2);
        }
        if left >= 10 {
            std::ptr::copy_nonoverlapping(PAIRS[left as usize].as_ptr(), place.sub(2), 2);
        } else {
            place.sub(1).write(b'0' + left as u8);
        }
        end
    }
}

/// Puts `text` with its escapes; `note` is told a bit for each byte that is no ASCII, or for several together.
/// # Safety
/// `at` has room for `6 * text.len() + 16` bytes.
#[inline(always)]
unsafe fn put_escaped(mut at: *mut u8, text: &[u8], mut note: impl FnMut(u32)) -> *mut u8 {
    let mut rest = text;
    // SAFETY (whole function): each block stores 16 bytes of which as many are kept as were consumed, each escape stores at most 6 for one
    // byte consumed; so `at` never goes beyond 6 bytes per byte consumed, and a store reaches at most 16 further.
    while let Some(block) = rest.first_chunk::<16>() {
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(block.as_ptr(), at, 16) };
        let (clean, other_bytes) = scan(*block);
        note(other_bytes);
        if clean == 16 {
            // SAFETY: as above.
            at = unsafe { at.add(16) };
            rest = &rest[16..];
        } else {
            // SAFETY: as above.
            at = unsafe { put_escape(at.add(clean), block[clean]) };
            rest = &rest[clean + 1..];
        }
    }
    // SAFETY: what is not in `rest` was put in front of `at`.
    match unsafe { put_clean_end(at, text, rest.len(), &mut note) } {
        Some(end) => end,
        None => {
            note(u32::from(!rest.is_ascii()));
            // SAFETY: as above.
            unsafe { put_end(at, rest) }
        }
    }
}

/// Puts the last `left < 16` bytes of `text` by overlapping stores if its last 16 need no escape, as is usual.
/// # Safety
/// `at` has room for `left` bytes; the bytes before them were put in front of `at` by [`put_escaped`].
#[inline(always)]
unsafe fn put_clean_end(
    at: *mut u8,
    text: &[u8],
    left: usize,
    note: &mut impl FnMut(u32),
) -> Option<*mut u8> {
    let Some(last) = text.last_chunk::<16>() else {
        // SAFETY: shorter than a block, so that nothing was put yet and `left` is the whole length.
        return unsafe {
            match text.len() {
                0 => Some(at),
                1 => put_ends::<1>(at, text, note),
                2..4 => put_ends::<2>(at, text, note),
                4..8 => put_ends::<4>(at, text, note),
                _ => put_ends::<8>(at, text, note),
            }
        };
    };
    let (clean, other_bytes) = scan(*last);
    note(other_bytes);
    if clean != 16 {
        return None;
    }
    // SAFETY: of the last 16 bytes those before the last `left` stand in front of `at` as they are, so that the store
    // begins inside what was put and ends at the end.
    unsafe {
        let end = at.add(left);
        std::ptr::copy_nonoverlapping(last.as_ptr(), end.sub(16), 16);
        Some(end)
    }
}

/// Puts a text of `N` to `2 * N` bytes, `N` at most 8, by its two ends, if nothing in it needs an escape.
/// # Safety
/// `at` has room for `text`.
#[inline(always)]
unsafe fn put_ends<const N: usize>(at: *mut u8, text: &[u8], note: &mut impl FnMut(u32)) -> Option<*mut u8> {
    let first = text.first_chunk::<N>()?;
    let last = text.last_chunk::<N>()?;
    let mut both = [b' '; 16];
    both[..N].copy_from_slice(first);
    both[N..2 * N].copy_from_slice(last);
    let (clean, other_bytes) = scan(both);
    note(other_bytes);
    if clean != 16 {
        return None;
    }
    // SAFETY: both stores lie inside the length of `text`, which is at least `N`.
    unsafe {
        let end = at.add(text.len());
        std::ptr::copy_nonoverlapping(first.as_ptr(), at, N);
        std::ptr::copy_nonoverlapping(last.as_ptr(), end.sub(N), N);
        Some(end)
    }
}

/// Puts a few bytes one by one.
/// # Safety
/// `at` has room for six bytes per byte of `rest`.
unsafe fn put_end(mut at: *mut u8, rest: &[u8]) -> *mut u8 {
    for &byte in rest {
        // SAFETY: each byte takes one to six.
        at = unsafe {
            if byte < 0x20 || byte == b'"' || byte == b'\\' {
                put_escape(at, byte)
            } else {
                at.write(byte);
                at.add(1)
            }
        };
    }
    at
}

/// The place of the first byte that JSON escapes (below 0x20, `"`, `\`), 16 if there is none; and bits that are 0 if all bytes are ASCII.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
fn scan(block: [u8; 16]) -> (usize, u32) {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8,
    };
    // SAFETY: SSE2 is there by the condition above; the load reads the 16 bytes of `block`.
    let (escaped, other_bytes) = unsafe {
        let block = _mm_loadu_si128(block.as_ptr().cast::<__m128i>());
        let control = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)), block);
        let quote = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'"' as i8));
        let slash = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'\\' as i8));
        let escaped = _mm_or_si128(_mm_or_si128(control, quote), slash);
        (_mm_movemask_epi8(escaped), _mm_movemask_epi8(block))
    };
    ((escaped as u32 | 1 << 16).trailing_zeros() as usize, other_bytes as u32)
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
use portable::scan;

/// Portable version of the search, by words of eight bytes. Tests compare both versions.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
mod portable {
    const ONES: u64 = u64::MAX / 255;

    /// Bit 7 of the first special byte is the lowest bit set; bits above it may lie.
    fn specials(word: u64) -> u64 {
        let zero = |word: u64| word.wrapping_sub(ONES) & !word;
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        (control | zero(word ^ (ONES * u64::from(b'"'))) | zero(word ^ (ONES * u64::from(b'\\'))))
            & (ONES << 7)
    }

    pub(super) fn scan(block: [u8; 16]) -> (usize, u32) {
        let whole = u128::from_le_bytes(block);
        let low = specials(whole as u64);
        let high = specials((whole >> 64) as u64);
        let first = if low != 0 { low.trailing_zeros() / 8 } else { 8 + high.trailing_zeros() / 8 };
        (first as usize, u32::from(!block.is_ascii()))
    }
}

/// # Safety
/// `at` has room for six bytes.
#[inline(always)]
unsafe fn put_escape(at: *mut u8, byte: u8) -> *mut u8 {
    let (escape, len) = JSON_ESCAPES[usize::from(byte & 0x7f)];
    // SAFETY: six bytes are stored, `len` is 2 or 6.
    unsafe {
        std::ptr::copy_nonoverlapping(escape.as_ptr(), at, 6);
        at.add(usize::from(len))
    }
}

#[cfg(test)]
mod tests;
