//! A small reader of the wire format of protocol buffers.

/// A field of a message.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct ReadField {
    /// Its number.
    pub field: u32,
    value: ReadValue,
}

#[derive(Clone, Debug, PartialEq)]
enum ReadValue {
    Number(u64),
    Bytes(Vec<u8>),
}

impl ReadField {
    /// Its number; panics if it is bytes.
    pub(crate) fn number(&self) -> u64 {
        match &self.value {
            ReadValue::Number(number) => *number,
            ReadValue::Bytes(_) => panic!("field {} is bytes", self.field),
        }
    }

    /// Its bytes; panics if it is a number.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.value {
            ReadValue::Bytes(bytes) => bytes,
            ReadValue::Number(_) => panic!("field {} is a number", self.field),
        }
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        if shift < 64 {
            value |= u64::from(byte & 0x7f) << shift;
        }
        if byte & 0x80 == 0 {
            return value;
        }
    }
    panic!("a varint of more than ten bytes");
}

/// Reads the fields of a message; panics if it is not one.
pub(in super::super) fn fields_of(mut bytes: &[u8]) -> Vec<ReadField> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = match key & 7 {
            0 => ReadValue::Number(varint(&mut bytes)),
            1 => {
                let (number, rest) = bytes.split_at(8);
                bytes = rest;
                ReadValue::Number(u64::from_le_bytes(number.try_into().unwrap()))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (payload, rest) = bytes.split_at(length);
                bytes = rest;
                ReadValue::Bytes(payload.to_vec())
            }
            other => panic!("wire type {other}"),
        };
        fields.push(ReadField {
            field: (key >> 3) as u32,
            value,
        });
    }
    fields
}

/// Returns the first field with this number.
pub(in super::super) fn first(fields: &[ReadField], field: u32) -> Option<&ReadField> {
    fields.iter().find(|it| it.field == field)
}

/// Returns the number in the first field with this number; panics if there is none.
pub(in super::super) fn number(fields: &[ReadField], field: u32) -> u64 {
    first(fields, field).unwrap().number()
}

/// Returns the text in the first field with this number; panics if there is none.
pub(in super::super) fn text(fields: &[ReadField], field: u32) -> String {
    String::from_utf8(first(fields, field).unwrap().bytes().to_vec()).unwrap()
}
