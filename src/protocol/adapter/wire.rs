//! The encoding of messages on a pipe: as a line of JSON, or as a frame, which is MessagePack with the same names and
//! values. This is where one message ends and the next begins.
//!
//! A frame has the elements of tensors as they are, and is quicker to read and to write. An adapter that can read frames
//! says so in its hello; no other adapter receives one.

use std::io::{self, Read};

use serde::{Deserialize, Serialize};

/// The first byte of a frame; no line of JSON begins with it.
const FRAME: u8 = 0;

/// The first byte, and the length of what follows: four bytes, little-endian.
const HEADER: usize = 5;

/// The encoding of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// A line of JSON, which every adapter understands.
    #[default]
    Json,
    /// A frame of MessagePack.
    MessagePack,
}

impl Encoding {
    /// Returns the encoding of a message that was read.
    pub fn of(message: &[u8]) -> Encoding {
        if message.first() == Some(&FRAME) { Encoding::MessagePack } else { Encoding::Json }
    }

    /// Adds a message to what is to be sent. Each type of message has a function of its own for it, so that no other crate
    /// compiles it again.
    pub(super) fn write(self, message: &impl Serialize, to: &mut Vec<u8>) {
        match self {
            Encoding::Json => {
                serde_json::to_writer(&mut *to, message).expect("messages have only text for keys");
                to.push(b'\n');
            }
            Encoding::MessagePack => {
                let start = to.len();
                to.extend([FRAME, 0, 0, 0, 0]);
                rmp_serde::encode::write_named(to, message).expect("memory does not break");
                let length = to.len() - start - HEADER;
                let length = u32::try_from(length).expect("a message of less than 4 GiB");
                to[start + 1..start + HEADER].copy_from_slice(&length.to_le_bytes());
            }
        }
    }
}

/// Parses a message, or returns why it cannot; `what` it should be is for the text.
///
/// # Errors
/// When the message is not well-formed, or is something else.
pub(super) fn parse<'a, T: Deserialize<'a>>(message: &'a [u8], what: &str) -> Result<T, String> {
    use rmp_serde::decode::Error;
    match Encoding::of(message) {
        Encoding::Json => serde_json::from_slice(message).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => format!("JSON, but no {what}: {error}"),
            _ => format!("not JSON: {error}"),
        }),
        Encoding::MessagePack => {
            let content = message.get(HEADER..).unwrap_or_default();
            rmp_serde::from_slice(content).map_err(|error| match error {
                Error::InvalidMarkerRead(_) | Error::InvalidDataRead(_) => format!("not MessagePack: {error}"),
                error => format!("MessagePack, but no {what}: {error}"),
            })
        }
    }
}

/// The first piece of the bytes that were received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A message: a line without its end, or a frame.
    Message(&'a [u8]),
    /// The beginning of a message that is longer than allowed.
    TooLong(&'a [u8]),
    /// A message without its end, or nothing.
    Rest(&'a [u8]),
}

/// Takes messages out of a stream.
#[derive(Debug)]
pub struct Inbox {
    /// Bytes that have come and were not taken are those from `start` to `end`.
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// The number of them that have been searched, and have no line end.
    searched: usize,
    /// The most bytes that a message may have.
    limit: usize,
}

/// The number of bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// The number of bytes of room kept for large messages.
const KEPT: usize = 16 << 20;

impl Inbox {
    /// Nothing has come yet; a message may have so many bytes.
    pub fn new(limit: usize) -> Inbox {
        Inbox { bytes: vec![0; CHUNK], start: 0, end: 0, searched: 0, limit }
    }

    /// Reads once, and says how many bytes came: none at the end of the stream.
    pub fn fill(&mut self, input: &mut (impl Read + ?Sized)) -> io::Result<usize> {
        self.make_room();
        loop {
            match input.read(&mut self.bytes[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes the next message. What is too long, or has no end yet, stays.
    pub fn take(&mut self) -> Piece<'_> {
        let there = &self.bytes[self.start..self.end];
        // Of the message, as far as it is known, and whether it has come; and of what ends it.
        let (length, whole, end) = match there.first() {
            Some(&FRAME) => {
                let length = frame_length(there).unwrap_or(HEADER);
                (length, length <= there.len(), 0)
            }
            _ => match memchr::memchr(b'\n', &there[self.searched..]) {
                Some(at) => (self.searched + at, true, 1),
                None => (there.len(), false, 1),
            },
        };
        if length > self.limit {
            return Piece::TooLong(&there[..self.limit.min(there.len())]);
        }
        if !whole {
            self.searched = there.len();
            return Piece::Rest(there);
        }
        let message = self.start..self.start + length;
        self.start += length + end;
        self.searched = 0;
        Piece::Message(&self.bytes[message])
    }

    /// Returns whether a whole message is there.
    pub fn has_message(&self) -> bool {
        let there = &self.bytes[self.start..self.end];
        match there.first() {
            Some(&FRAME) => frame_length(there).is_some_and(|length| length <= there.len()),
            _ => memchr::memchr(b'\n', &there[self.searched..]).is_some(),
        }
    }

    /// Moves what is left to the front where that makes room for more, and gets more where a message is known to need it.
    fn make_room(&mut self) {
        if self.start > 0 && (self.start == self.end || self.bytes.len() - self.end < CHUNK) {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == 0 && self.bytes.len() > KEPT {
            self.bytes = vec![0; CHUNK];
        }
        let there = &self.bytes[self.start..self.end];
        let whole = if there.first() == Some(&FRAME) { frame_length(there) } else { None };
        // A length is only what it says: no more than what has come is taken on trust.
        let wanted = whole.unwrap_or(0).min(self.limit).min(2 * there.len().max(KEPT / 2));
        let needed = (self.start + wanted).max(self.end + CHUNK);
        if self.bytes.len() < needed {
            self.bytes.resize(needed.max(2 * self.bytes.len()), 0);
        }
    }
}

/// The length of a frame with its header, as that says.
fn frame_length(frame: &[u8]) -> Option<usize> {
    let bytes = frame.get(1..HEADER)?.try_into().ok()?;
    Some(HEADER + u32::from_le_bytes(bytes) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Encoding; 2] = [Encoding::Json, Encoding::MessagePack];

    /// All messages in bytes of which so many come at a time, and what is left.
    fn pieces(mut bytes: &[u8], at_a_time: usize, limit: usize) -> (Vec<Vec<u8>>, Option<Vec<u8>>) {
        let mut inbox = Inbox::new(limit);
        let mut messages = Vec::new();
        loop {
            let has_message = inbox.has_message();
            let came = match inbox.take() {
                Piece::Message(message) => {
                    assert!(has_message);
                    messages.push(message.to_vec());
                    continue;
                }
                Piece::TooLong(_) => return (messages, None),
                Piece::Rest(rest) => rest.to_vec(),
            };
            assert!(!has_message);
            if inbox.fill(&mut (&mut bytes).take(at_a_time as u64)).unwrap() == 0 {
                return (messages, Some(came));
            }
        }
    }

    #[test]
    fn messages_come_back_in_whatever_pieces_they_arrive() {
        let sent = ["", "short", "with a \n in it and \0", &"long".repeat(1000)].map(str::to_owned);
        for second in BOTH {
            let mut bytes = Vec::new();
            for (at, text) in sent.iter().enumerate() {
                BOTH[at % 2].write(text, &mut bytes);
                second.write(text, &mut bytes);
            }
            for at_a_time in [1, 3, 7, 64, 1 << 16] {
                let (messages, rest) = pieces(&bytes, at_a_time, usize::MAX);
                assert_eq!(rest, Some(Vec::new()));
                let texts: Vec<String> = messages.iter().map(|message| parse(message, "text").unwrap()).collect();
                let twice: Vec<String> = sent.iter().flat_map(|text| [text.clone(), text.clone()]).collect();
                assert_eq!(texts, twice);
            }
        }
    }

    #[test]
    fn a_message_without_its_end_is_a_rest_and_a_long_one_is_not_waited_for() {
        for encoding in BOTH {
            let mut whole = Vec::new();
            encoding.write(&"x".repeat(100), &mut whole);
            for at_a_time in [2, 1 << 10] {
                for length in 0..whole.len() {
                    let rest = whole[..length].to_vec();
                    assert_eq!(pieces(&rest, at_a_time, usize::MAX), (Vec::new(), Some(rest)), "{encoding:?} {length}");
                }
                assert_eq!(pieces(&whole, at_a_time, 50), (Vec::new(), None), "{encoding:?}");
                assert_eq!(pieces(&whole, at_a_time, whole.len()).0.len(), 1, "{encoding:?}");
            }
        }
    }

    #[test]
    fn a_large_message_comes_in_one_piece_and_leaves_no_room_behind_that_is_larger_than_what_is_kept() {
        for encoding in BOTH {
            let (large, small) = ("x".repeat(40 << 20), "small".to_owned());
            let mut bytes = Vec::new();
            encoding.write(&large, &mut bytes);
            encoding.write(&small, &mut bytes);
            let (mut inbox, mut input) = (Inbox::new(usize::MAX), &bytes[..]);
            for wanted in [large, small] {
                while !inbox.has_message() {
                    assert!(inbox.fill(&mut input).unwrap() > 0);
                }
                let Piece::Message(message) = inbox.take() else { panic!("there is one") };
                assert!(parse::<String>(message, "text").unwrap() == wanted, "{encoding:?}");
            }
            assert_eq!(inbox.fill(&mut input).unwrap(), 0);
            assert_eq!(inbox.take(), Piece::Rest(&[]));
            assert_eq!(inbox.bytes.len(), CHUNK);
        }
    }

    #[test]
    fn malformed_messages_differ_from_unexpected_ones() {
        let told = |message: &[u8]| parse::<String>(message, "text").unwrap_err();
        assert!(told(b"7").starts_with("JSON, but no text: "), "{}", told(b"7"));
        assert!(told(b"\"open").starts_with("not JSON: "));
        assert!(told(&[0, 1, 0, 0, 0, 7]).starts_with("MessagePack, but no text: "));
        // Text of five bytes, of which there is one.
        assert!(told(&[0, 2, 0, 0, 0, 0xa5, b'x']).starts_with("not MessagePack: "));
        assert!(told(&[0]).starts_with("not MessagePack: "));
    }
}
