//! A 64-bit number for the contents of a file or a text: equal contents have equal numbers on every machine and in
//! every version. Not for security: it is easy to construct contents with a given number.

use std::io::Read;

/// Computes a fingerprint of bytes that come piece by piece.
#[derive(Clone, Debug)]
pub(crate) struct Fingerprint {
    lanes: [u64; 2],
    count: u64,
    /// Bytes that do not fill a word yet.
    rest: [u8; 8],
}

/// Odd numbers with well spread bits.
const STEPS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint {
            lanes: STEPS,
            count: 0,
            rest: [0; 8],
        }
    }
}

impl Fingerprint {
    fn add_word(&mut self, word: u64) {
        let [a, b] = &mut self.lanes;
        *a = (*a ^ word).wrapping_mul(STEPS[0]).rotate_left(29);
        *b = (*b ^ word.rotate_left(32))
            .wrapping_mul(STEPS[1])
            .rotate_left(31);
        // Makes each word affect both lanes twice before the word after the next one is added.
        *b = b.wrapping_add(*a);
    }

    /// Adds bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let filled = (self.count % 8) as usize;
        self.count += bytes.len() as u64;
        let (head, bytes) = match filled {
            0 => (&[][..], bytes),
            _ => bytes.split_at(bytes.len().min(8 - filled)),
        };
        self.rest[filled..filled + head.len()].copy_from_slice(head);
        if filled > 0 {
            if filled + head.len() < 8 {
                return;
            }
            self.add_word(u64::from_le_bytes(self.rest));
        }
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.add_word(u64::from_le_bytes(*word));
        }
        self.rest[..rest.len()].copy_from_slice(rest);
    }

    /// Adds a text with its length, so that it cannot be confused with the text after it.
    pub(crate) fn add_text(&mut self, text: &str) {
        self.add(&(text.len() as u64).to_le_bytes());
        self.add(text.as_bytes());
    }

    /// Adds all bytes of the reader.
    ///
    /// # Errors
    /// Errors of the reader.
    pub(crate) fn add_all(&mut self, mut reader: impl Read) -> std::io::Result<()> {
        let mut buffer = vec![0; 1 << 20];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => self.add(&buffer[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the fingerprint of all bytes.
    pub(crate) fn finish(&self) -> u64 {
        let mut last = self.clone();
        let filled = (self.count % 8) as usize;
        let mut rest = [0; 8];
        rest[..filled].copy_from_slice(&self.rest[..filled]);
        last.add_word(u64::from_le_bytes(rest));
        last.add_word(self.count);
        let mut mixed = last.lanes[0] ^ last.lanes[1].rotate_left(17);
        for step in STEPS {
            mixed = (mixed ^ mixed >> 32).wrapping_mul(step);
        }
        mixed ^ mixed >> 29
    }
}

/// Returns a fingerprint as 16 hexadecimal digits.
pub(crate) fn digits(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pieces: &[&[u8]]) -> u64 {
        let mut fingerprint = Fingerprint::default();
        pieces.iter().for_each(|piece| fingerprint.add(piece));
        fingerprint.finish()
    }

    #[test]
    fn pieces_do_not_matter_and_every_byte_does() {
        let bytes: Vec<u8> = (0..100_u8).collect();
        let whole = of(&[&bytes]);
        for cut in 0..=bytes.len() {
            let (a, b) = bytes.split_at(cut);
            assert_eq!(of(&[a, b]), whole, "{cut}");
            let (b, c) = b.split_at(b.len() / 3);
            assert_eq!(of(&[a, b, c]), whole, "{cut}");
        }
        let mut seen = std::collections::BTreeSet::from([whole]);
        for at in 0..bytes.len() {
            assert!(seen.insert(of(&[&bytes[..at]])), "{at}");
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert!(seen.insert(of(&[&other])), "{at}");
            other.swap(at, 0);
            let is_other = other[at] != other[0];
            assert_eq!(seen.insert(of(&[&other])), is_other, "{at}");
        }
        // Data sets store fingerprints: they must not change.
        assert_eq!(digits(of(&[b"threadline"])), "3d85f025e6f28d9c");
    }
}
